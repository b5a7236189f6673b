"""``excite``: a periodic motion that makes identification well conditioned."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.excitation.fourier import Fourier, at_rest
from geared_dynamics.analysis.identification.columns import base_columns, columns
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

SAMPLED = 25  # samples per harmonic in which the motion is judged
CHECKED = 10  # times as many in which its limits are checked
STEP = 0.5  # size of the first change of the coefficients, of their own size
PATIENCE = 12  # changes in vain before they are made smaller
WITHIN = 0.95  # of the limits that is used
NO_LIMIT = 1e6


class Limits(NamedTuple):
    """Limits of each joint (n,): position, speed, acceleration, torque."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    torque: Array


class Excitation(NamedTuple):
    """A motion and its condition number; that of the first random motion for comparison."""

    motion: Fourier
    condition: float
    at_first: float


def limits_of(model: GearedModel, acceleration: float) -> Limits:
    """Limits from the URDF; accelerations are not in it.

    Raises:
        ModelError: If a joint has no limit of position or speed.
    """
    joints = {joint.name: joint for joint in model.robot.joints}
    lower, upper, speed, torque = [], [], [], []
    for name in model.joint_names:
        given = joints[name].limit
        low = None if given is None else given.lower
        high = None if given is None else given.upper
        bounded = low is not None and high is not None and 0.0 < high - low < NO_LIMIT
        if joints[name].kind == "continuous" and not bounded:
            low, high = -np.pi, np.pi
            bounded = True
        if not bounded or given is None or not given.velocity or given.velocity > NO_LIMIT:
            remedy = "add <limit lower= upper= velocity=> to the URDF"
            place = f"{model.robot.source}, joint {name!r}"
            raise ModelError(place, "has no limits of position and velocity", remedy)
        lower.append(low)
        upper.append(high)
        speed.append(given.velocity)
        effort = given.effort
        torque.append(effort if effort and effort < NO_LIMIT else np.inf)
    return Limits(
        np.array(lower, float),
        np.array(upper, float),
        np.array(speed, float),
        np.full(model.n, acceleration),
        np.array(torque, float),
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
        harmonics: K.
        acceleration: Largest acceleration of each joint [rad/s^2 or m/s^2].
        starts: Random motions.
        changes: Changes of the best one.
        seed: Of the random numbers.
        progress: Called with what is done and all there is to do.
    """
    limits, random = limits_of(model, acceleration), np.random.default_rng(seed)
    judge = judge_of(model, limits, duration, harmonics, random)
    work = starts + changes
    best, lowest, at_first = None, np.inf, np.inf
    shape = (2, model.n, harmonics)
    for k in range(starts):
        tried = random.normal(size=shape) / np.arange(1, harmonics + 1)
        motion = within(model, limits, duration, tried)
        condition = judge(motion)
        if k == 0:
            at_first = condition
        if condition < lowest:
            best, lowest = tried, condition
        if progress is not None:
            progress(k + 1, work)
    if best is None:
        remedy = "give a longer --duration, or more of the joints' range"
        raise ModelError("excite", "no motion was found within the limits", remedy)
    step, vain = STEP, 0
    for k in range(changes):
        tried = best + step * random.normal(size=shape) / np.arange(1, harmonics + 1)
        condition = judge(within(model, limits, duration, tried))
        if condition < lowest:
            best, lowest, vain = tried, condition, 0
        else:
            vain += 1
            step, vain = (step * 0.7, 0) if vain >= PATIENCE else (step, vain)
        if progress is not None:
            progress(starts + k + 1, work)
    return Excitation(within(model, limits, duration, best), lowest, at_first)


def judge_of(
    model: GearedModel,
    limits: Limits,
    duration: float,
    harmonics: int,
    random: np.random.Generator,
) -> Callable[[Fourier], float]:
    """Return the function that gives a motion's condition number."""
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

    def judge(motion: Fourier) -> float:
        found = columns(model, *motion.at(times))[..., selection] * scale
        return float(np.linalg.cond((weight[:, None] * found).reshape(-1, len(selection))))

    return judge


def within(model: GearedModel, limits: Limits, duration: float, tried: Array) -> Fourier:
    """Scale a motion to the limits, joint by joint, and centre it in the range."""
    sines, cosines = at_rest(*tried)
    n, K = sines.shape
    times = duration * np.arange(CHECKED * SAMPLED * K) / (CHECKED * SAMPLED * K)
    q, v, a = Fourier(np.zeros(n), sines, cosines, duration).at(times)
    reach = np.ptp(q, axis=0)
    room = WITHIN * (limits.upper - limits.lower)
    ratios = [room / reach, WITHIN * limits.speed / np.abs(v).max(0)]
    ratios.append(WITHIN * limits.acceleration / np.abs(a).max(0))
    scale = np.min(ratios, axis=0)
    middle = 0.5 * (limits.lower + limits.upper)
    for _ in range(20):  # torques depend on all joints: all are made smaller together
        centre = middle - 0.5 * scale * (q.max(axis=0) + q.min(axis=0))
        motion = Fourier(centre, scale[:, None] * sines, scale[:, None] * cosines, duration)
        tau = np.abs(inverse_dynamics(model, *motion.at(times))).max(axis=0)
        if np.all(tau <= WITHIN * limits.torque):
            return motion
        scale = 0.8 * scale
    return motion
