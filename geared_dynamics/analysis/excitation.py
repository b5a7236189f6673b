"""``excite``: periodic motions within limits that make identification well conditioned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from geared_dynamics.analysis.analysis_files import refuse_existing
from geared_dynamics.analysis.parameter_columns import base_columns, column_names, columns
from geared_dynamics.analysis.span_comparison import predicted
from geared_dynamics.arrays import Array
from geared_dynamics.description.yaml_files import flow
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import ModelError, extra
from geared_dynamics.files import new_files
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.bag_writer import Bag

# -- Periodic motions: finite Fourier series that start and end at rest ---------------------------
#
#     q_j(t) = q0_j + sum_k  s_jk sin(k w t) + c_jk (cos(k w t) - 1),    w = 2 pi / T
#
# With v(0) = a(0) = 0: sum_k k s_jk = 0 and sum_k k^2 c_jk = 0. Being periodic, such a motion can
# be repeated, and its derivatives are exact (Swevers et al. 1997).


class Fourier(NamedTuple):
    """A motion.

    Attributes:
        centre: Position at the start (n,) [rad or m].
        sines: s (n, K).
        cosines: c (n, K).
        duration: T [s].
    """

    centre: Array
    sines: Array
    cosines: Array
    duration: float

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at times (k,): (k, n) each."""
        order = np.arange(1, self.sines.shape[1] + 1)
        w = 2.0 * np.pi / self.duration * order
        angle = np.outer(times, w)
        s, c = np.sin(angle), np.cos(angle)
        q = self.centre + s @ self.sines.T + (c - 1.0) @ self.cosines.T
        v = (c * w) @ self.sines.T - (s * w) @ self.cosines.T
        a = -(s * w**2) @ self.sines.T - (c * w**2) @ self.cosines.T
        return q, v, a


def at_rest(sines: Array, cosines: Array) -> tuple[Array, Array]:
    """Nearest coefficients with no velocity and acceleration at the start (n, K)."""
    order = np.arange(1, sines.shape[1] + 1, dtype=float)
    return without(sines, order), without(cosines, order**2)


def without(values: Array, along: Array) -> Array:
    """Take off the component along a vector, row by row."""
    return values - np.outer(values @ along, along) / (along @ along)


# -- ``excite``: a periodic motion that makes identification well conditioned ---------------------


SAMPLED = 25  # samples per harmonic in which the motion is judged
CHECKED = 10  # times as many in which its limits are checked
STEP = 0.5  # size of the first change of the coefficients, of their own size
PATIENCE = 12  # changes in vain before they are made smaller
WITHIN = 0.95  # of the limits that is used
SHRUNK = 20  # times that a motion is made smaller until its torques are within the limits
GOOD = 100.0  # below it, each parameter comes out of torques with usual noise
POOR = 1e3  # condition number above which some parameters stay uncertain
USELESS = 1e6  # above it torques that are a thousandth of a percent off make other parameters
LEAST, LARGE_PART = 3, 0.3  # columns that are named, and their least part of the combination
FEWEST = 2  # harmonics of a motion that starts and ends at rest


BETTER = "give a longer --duration, more --acceleration, more --changes or wider limits"


class MotionBounds(NamedTuple):
    """Limits of each joint (n,): position, speed, acceleration, torque."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    torque: Array


class Excitation(NamedTuple):
    """A motion and its condition number; that of the first random motion for comparison.

    Attributes:
        motion: The motion.
        condition: Of the columns along it.
        at_first: Of those along the first random motion.
        weakest: Columns in the combination that the motion determines least, with their parts.
    """

    motion: Fourier
    condition: float
    at_first: float
    weakest: tuple[tuple[str, float], ...] = ()

    @property
    def grade(self) -> Literal["good", "usable", "poor"]:
        """What the condition number says of the motion."""
        return "good" if self.condition < GOOD else "usable" if self.condition <= POOR else "poor"

    @property
    def verdict(self) -> str:
        """Whether to record the motion, and why; first line of the command."""
        number = f"condition number {self.condition:.3g}"
        if self.grade == "good":
            return f"Record this motion: {number} is good (below {GOOD:g})."
        names = ", ".join(name for name, _ in self.weakest)
        least = f"; determined least: {names}" if names else ""
        if self.grade == "usable":
            return (
                f"Record this motion: {number} is usable (good: below {GOOD:g}){least}. To "
                f"improve it, {BETTER}."
            )
        return (
            f"Do not record this motion: {number} is poor (above {POOR:g}), and some parameters "
            f"will stay uncertain{least}. To improve it, {BETTER}."
        )


def limits_of(model: GearedModel, acceleration: float) -> MotionBounds:
    """Limits from the URDF; accelerations are not in it.

    Raises:
        ModelError: If a joint has no limit of position or speed.
    """
    given, turning = model.limits, model.continuous
    missing = ~(given.bounded | turning) | np.isinf(given.velocity)
    if missing.any():
        remedy = "add <limit lower= upper= velocity=> to the URDF"
        place = f"{model.source}, joint {model.joint_names[int(np.argmax(missing))]!r}"
        raise ModelError(place, "has no limits of position and velocity", remedy)
    return MotionBounds(
        np.where(turning, -np.pi, given.lower),
        np.where(turning, np.pi, given.upper),
        given.velocity,
        np.full(model.n, acceleration),
        given.effort,
    )


def excite(
    model: GearedModel,
    *,
    duration: float = 20.0,
    harmonics: int = 5,
    acceleration: float = 5.0,
    starts: int = 20,
    changes: int = 200,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Excitation:
    """Find a motion within the limits with a small condition number.

    The columns of the base parameters (friction included) along the motion, each divided by
    its length over random states within the limits, make a matrix; its condition number is
    what errors of the torques are magnified by. Random motions first, the best of them then
    changed at random as long as it gets better.

    Args:
        model: Geared model, with limits.
        duration: Period T [s].
        harmonics: K, at least 2.
        acceleration: Largest acceleration of each joint [rad/s^2 or m/s^2].
        starts: Random motions.
        changes: Changes of the best one.
        seed: Of the random numbers.
        progress: Called with what is done and all there is to do.

    Raises:
        ModelError: If no motion within the limits tells the parameters apart.
    """
    refuse_senseless(duration, harmonics, acceleration, starts)
    limits, random = limits_of(model, acceleration), np.random.default_rng(seed)
    matrix = scaled_columns(model, limits, duration, harmonics, random)

    def judge(motion: Fourier) -> float:
        return float(np.linalg.cond(matrix(motion)))

    work = starts + changes
    best, lowest, at_first, effort = None, np.inf, np.inf, np.zeros(model.n)
    shape = (2, model.n, harmonics)
    for k in range(starts):
        tried = random.normal(size=shape) / np.arange(1, harmonics + 1)
        motion, needed = within(model, limits, duration, tried)
        condition = judge(motion) if np.all(needed <= limits.torque) else np.inf
        if k == 0:
            at_first = condition
        if best is None or condition < lowest:
            best, lowest, effort = tried, condition, needed
        if progress is not None:
            progress(k + 1, work)
    if best is None or np.any(effort > limits.torque):
        raise too_weak(model, effort, limits.torque)
    step, vain = STEP, 0
    for k in range(changes):
        tried = best + step * random.normal(size=shape) / np.arange(1, harmonics + 1)
        motion, needed = within(model, limits, duration, tried)
        condition = judge(motion) if np.all(needed <= limits.torque) else np.inf
        if condition < lowest:
            best, lowest, vain = tried, condition, 0
        else:
            vain += 1
            step, vain = (step * 0.7, 0) if vain >= PATIENCE else (step, vain)
        if progress is not None:
            progress(starts + k + 1, work)
    if not lowest <= USELESS:
        finding = f"the best motion has a condition number of {lowest:.3g}: it determines nothing"
        raise ModelError("excite", finding, BETTER)
    motion = within(model, limits, duration, best)[0]
    return Excitation(motion, lowest, at_first, weakest_of(model, matrix(motion)))


def weakest_of(model: GearedModel, found: Array) -> tuple[tuple[str, float], ...]:
    """Columns with the largest parts in the combination that a motion determines least.

    Args:
        model: Geared model.
        found: Scaled columns along the motion (k n, b).
    """
    part = np.linalg.svd(found, full_matrices=False)[2][-1]
    names = column_names(model)
    order = np.argsort(-np.abs(part))[:LEAST]
    selection = base_columns(model).selection
    return tuple((names[selection[k]], float(part[k])) for k in order if abs(part[k]) > LARGE_PART)


def refuse_senseless(duration: float, harmonics: int, acceleration: float, starts: int) -> None:
    """Raise if no motion can come of it."""
    for name, value in (("duration", duration), ("acceleration", acceleration)):
        if not 0.0 < value < np.inf:
            raise ModelError("excite", f"{name} is {value}", "give a positive number")
    if harmonics < FEWEST:
        finding = f"{harmonics} harmonic: a motion that starts and ends at rest has two or more"
        raise ModelError("excite", finding, f"give --harmonics {FEWEST} or more; 5 are usual")
    if starts < 1:
        raise ModelError("excite", f"{starts} random motions", "give --starts 1 or more")


def too_weak(model: GearedModel, needed: Array, allowed: Array) -> ModelError:
    """Say at which joint even a small motion needs more than the effort limit."""
    j = int(np.argmax(needed / allowed))
    name = model.joint_names[j]
    unit = model.force_units[j]
    finding = (
        f"the effort limit is {allowed[j]:.4g} {unit}, and even a small motion around the middle "
        f"of the joints' ranges needs {needed[j]:.4g} {unit} there, with friction, springs and a "
        "margin of 5 %"
    )
    remedy = "correct <limit effort=>, the ranges or the masses in the URDF, or the friction"
    return ModelError(f"{model.source}, joint {name!r}", finding, remedy)


def scaled_columns(
    model: GearedModel,
    limits: MotionBounds,
    duration: float,
    harmonics: int,
    random: np.random.Generator,
) -> Callable[[Fourier], Array]:
    """Return the function that gives a motion's columns, scaled, all joints below each other."""
    selection = list(base_columns(model).selection)
    count = 20 * len(selection)
    q = random.uniform(limits.lower, limits.upper, (count, model.n))
    v = random.uniform(-limits.speed, limits.speed, (count, model.n))
    a = random.uniform(-limits.acceleration, limits.acceleration, (count, model.n))
    Y = columns(model, q, v, a)[..., selection]
    tau = np.sqrt(np.mean(inverse_dynamics(model, q, v, a) ** 2, axis=0))
    weight = 1.0 / np.maximum(tau, 1e-9 * tau.max())
    lengths = np.sqrt(np.mean((weight[:, None] * Y) ** 2, axis=(0, 1)))
    scale = 1.0 / np.maximum(lengths, 1e-12 * lengths.max())
    times = duration * np.arange(SAMPLED * harmonics) / (SAMPLED * harmonics)

    def along(motion: Fourier) -> Array:
        found = columns(model, *motion.at(times))[..., selection] * scale
        return np.asarray((weight[:, None] * found).reshape(-1, len(selection)))

    return along


def within(
    model: GearedModel, limits: MotionBounds, duration: float, tried: Array
) -> tuple[Fourier, Array]:
    """Scale a motion to the limits, joint by joint, and centre it in the range.

    Returns:
        The motion, and the torque that it needs (n,) with friction and springs and a margin:
        beyond the limit if no smaller motion was found that keeps to it.
    """
    sines, cosines = at_rest(*tried)
    n, K = sines.shape
    times = duration * np.arange(CHECKED * SAMPLED * K) / (CHECKED * SAMPLED * K)
    q, v, a = Fourier(np.zeros(n), sines, cosines, duration).at(times)
    reach = np.ptp(q, axis=0)
    room = WITHIN * (limits.upper - limits.lower)
    ratios = [room / reach, WITHIN * limits.speed / np.abs(v).max(0)]
    ratios.append(WITHIN * limits.acceleration / np.abs(a).max(0))
    scale = np.min(ratios, axis=0)
    middle, whole = 0.5 * (limits.lower + limits.upper), model.with_coupling("complete")
    for _ in range(SHRUNK):  # torques depend on all joints: all are made smaller together
        centre = middle - 0.5 * scale * (q.max(axis=0) + q.min(axis=0))
        motion = Fourier(centre, scale[:, None] * sines, scale[:, None] * cosines, duration)
        tau = np.abs(predicted(whole, *motion.at(times)).models[-1]).max(axis=0)
        if np.all(tau <= WITHIN * limits.torque):
            break
        scale = 0.8 * scale
    return motion, tau / WITHIN


# -- A motion as ``trajectory_msgs/msg/JointTrajectory`` ------------------------------------------


TYPE = "trajectory_msgs/msg/JointTrajectory"
DIGITS = 9


def trajectory_yaml(
    joints: Sequence[str], times: Array, q: Array, v: Array, a: Array, comment: str
) -> str:
    """Write it as ``ros2 topic pub`` reads it; times (k,) [s], motion (k, n)."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"joint_names: {flow(list(joints))}", "points:"]
    for t, *rows in zip(nanoseconds(times).tolist(), q, v, a, strict=True):
        start = "  - "
        for name, row in zip(("positions", "velocities", "accelerations"), rows, strict=True):
            numbers = ", ".join(f"{value:.{DIGITS}f}" for value in row)
            lines.append(f"{start}{name}: [{numbers}]")
            start = "    "
        lines.append(f"    time_from_start: {{sec: {t // 10**9}, nanosec: {t % 10**9}}}")
    return "\n".join(lines) + "\n"


def write_trajectory_bag(
    path: Path,
    topic: str,
    joints: Sequence[str],
    times: Array,
    motion: tuple[Array, Array, Array],
    *,
    replace: bool = False,
) -> None:
    """Write a bag with one message, for ``ros2 bag play``.

    Raises:
        RecordingError: If the folder is there already, and ``replace`` is not given.
    """
    typesys = extra("rosbags.typesys", "bag")
    if not replace:
        refuse_existing(path)
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    message = trajectory_message(store.types, joints, times, motion)
    with new_files(path, parents=True) as (draft,), Bag(draft, {topic: TYPE}) as bag:
        bag.write(topic, 0, bytes(store.serialize_cdr(message, TYPE)))


def trajectory_message(
    types: Any, joints: Sequence[str], times: Array, motion: tuple[Array, Array, Array]
) -> Any:
    """Build the message of a type store."""
    time, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    duration = types["builtin_interfaces/msg/Duration"]
    point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    points = [
        point(q, v, a, np.empty(0), duration(t // 10**9, t % 10**9))
        for t, q, v, a in zip(nanoseconds(times).tolist(), *motion, strict=True)
    ]
    return types[TYPE](header(time(0, 0), ""), list(joints), points)


def nanoseconds(times: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Times [s] as whole nanoseconds."""
    return np.rint(times * 1e9).astype(np.int64)
