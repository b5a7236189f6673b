"""Motions in joint space from recordings, and what their numbers mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import EFFORTS, CommandType, is_of_motors, torque_map
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.errors import RecordingError, extra
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.samples import Stretch
from geared_dynamics.recordings.signals import derivative, shortest, zero_phase

# -- From stretches of samples to motions: filtered positions, their derivatives, efforts ---------
#
# Stretches whose stamps are uneven by more than JITTER are resampled to an even grid, filtered
# there, and read off again at their own stamps. The grid's points are whole multiples of the
# period, so a stretch that is read in pieces meets the same grid.


JITTER = 0.02  # rms deviation of the time between samples, in periods
DRIFT = 0.25  # deviation of a stamp from even ones, in periods
Velocity = Literal["position", "recorded"]


class JointMotion(NamedTuple):
    """A motion at the samples' own stamps.

    Attributes:
        stamp: (k,) [ns].
        q: Filtered position (k, n).
        v: Velocity (k, n).
        a: Acceleration (k, n).
        effort: Filtered effort (k, n), of motors also in the columns of frozen joints.
        raw: Effort as recorded, the same columns.
        core: Samples that are counted (k,).
    """

    stamp: IntArray
    q: Array
    v: Array
    a: Array
    effort: Array
    raw: Array
    core: BoolArray

    def counted(self) -> JointMotion:
        """Return the core only; one that has no gap is not copied."""
        at = np.flatnonzero(self.core)
        whole = bool(at.size) and at[-1] - at[0] + 1 == at.size
        return self.rows(slice(at[0], at[-1] + 1) if whole else self.core)

    def rows(self, which: slice | BoolArray | IntArray) -> JointMotion:
        """Return some of the samples."""
        parts = (self.q, self.v, self.a, self.effort, self.raw)
        q, v, a, effort, raw = (part[which] for part in parts)
        return JointMotion(self.stamp[which], q, v, a, effort, raw, self.core[which])


def filtered_motion(
    stretch: Stretch, period: int, cutoff: float, *, velocity: Velocity = "position"
) -> JointMotion | None:
    """Filter and differentiate a stretch; None if it is too short.

    Args:
        stretch: Samples in order, without gaps.
        period: Usual time between samples [ns].
        cutoff: Of the filter [Hz].
        velocity: ``recorded`` differentiates the recorded velocity once, ``position`` the
            position twice. Efforts may be NaN as a whole, where they are not used.
    """
    samples = stretch.samples
    if len(samples.stamp) < shortest(cutoff, 1e9 / period):
        return None
    n = samples.position.shape[1]
    both = n + samples.effort.shape[1]
    own, blank = velocity == "recorded", bool(np.isnan(samples.effort).all())
    effort = np.zeros(samples.effort.shape) if blank else samples.effort
    parts = [samples.position, effort, *([samples.velocity] if own else [])]
    signals = np.hstack(parts)
    even = is_even(samples.stamp, period)
    if even:
        step = np.diff(samples.stamp[[0, -1]])[0] / (len(samples.stamp) - 1)
        rate = 1e9 / (period if abs(step / period - 1.0) < 1e-6 else step)
        table = signals
    else:
        rate = 1e9 / period
        first, last = -(-samples.stamp[0] // period), samples.stamp[-1] // period
        grid = np.arange(first, last + 1) * period
        if len(grid) < shortest(cutoff, rate):
            return None
        table = interpolated(samples.stamp, signals, grid)
    smooth = zero_phase(table, cutoff, rate)
    q, effort = (np.ascontiguousarray(part) for part in (smooth[:, :n], smooth[:, n:both]))
    v = np.ascontiguousarray(smooth[:, both:]) if own else derivative(q, rate)
    a = derivative(v, rate)
    if not even:
        inside = np.clip(samples.stamp, grid[0], grid[-1])
        filtered = interpolated(grid, np.hstack([q, effort, v, a]), inside)
        q, effort, v, a = (x.copy() for x in np.split(filtered, [n, both, both + n], axis=1))
    effort = samples.effort if blank else effort
    return JointMotion(samples.stamp, q, v, a, effort, samples.effort, stretch.core)


def is_even(stamp: IntArray, period: int) -> bool:
    """Whether the samples are evenly spaced, and none is missing."""
    steps = np.diff(stamp)
    mean = (stamp[-1] - stamp[0]) / len(steps)
    if np.sqrt(np.mean((steps / mean - 1.0) ** 2)) > JITTER:
        return False
    off = stamp - stamp[0] - mean * np.arange(len(stamp))
    return bool(np.abs(off).max() <= DRIFT * period)


def interpolated(at: IntArray, values: Array, times: IntArray) -> Array:
    """Cubic spline through values (k, c) at stamps [ns], read at other stamps.

    A sample a dozen places away does not count any more, so pieces meet.
    """
    splines = extra("scipy.interpolate", "resampling")
    zero = at[0]
    return np.asarray(
        splines.CubicSpline((at - zero) * 1e-9, values, axis=0)((times - zero) * 1e-9)
    )


# -- What a recording's numbers mean, and how joint torques follow from them ----------------------


Side = Literal["joint", "motor"]


@dataclass(frozen=True)
class Meaning:
    """What positions and efforts are.

    Attributes:
        effort: ``joint_torque`` [N m or N]; ``gravity_compensated``, the same less gravity;
            ``motor_current`` [A], joint torque = A k i with the drive gains k; or
            ``motor_torque`` [N m], joint torque = A tau_m.
        position: ``joint``, or ``motor``: the motors' angles [rad], q = A'^-1 (phi - phi(0)).
        gains: Drive gains k by motor [N m/A] (m,), or by joint if the effort is no motor's;
            empty: 1, and the motors' torque constants for currents. Gains of motors that move
            frozen joints only are not looked at.
        zero: Added to the joint positions (n,) [rad or m]; empty: nothing.
    """

    effort: CommandType = "joint_torque"
    position: Side = "joint"
    gains: tuple[float, ...] = ()
    zero: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is not one of the meanings."""
        if self.effort not in EFFORTS:
            remedy = f"give one of {', '.join(EFFORTS)}"
            raise RecordingError("effort", f"unknown meaning {self.effort!r}", remedy)

    @property
    def of_motors(self) -> bool:
        """Whether efforts are the motors'."""
        return is_of_motors(self.effort)


class Readings(NamedTuple):
    """Motors that act on the model's joints, and where a recording has their numbers.

    Attributes:
        motors: Their indices, in file order (k,).
        joints: The joint at whose place each motor's number stands (k,): the last joint that
            the motor moves, in the robot with no joint frozen.
    """

    motors: tuple[int, ...]
    joints: tuple[str, ...]


def motor_readings(model: GearedModel) -> Readings:
    """Find the motors whose readings the model's joint torques and positions follow from.

    A motor's number stands at the last joint that it moves, so a motor of several joints is
    found where drives that pass one joint end. Freezing joints does not change that place: a
    motor of a frozen joint that also moves a joint of the model counts, at the frozen joint.

    Raises:
        RecordingError: If two of these motors share a place, or a joint of the model has none.
    """
    motors = np.flatnonzero(model.structure_matrix.any(axis=0)).tolist()
    joints = [model.motors.ends[motor] for motor in motors]
    lacking = [name for name in model.joint_names if name not in joints]
    if not lacking and len(set(joints)) == len(joints):
        return Readings(tuple(motors), tuple(joints))
    pairs = zip(motors, joints, strict=True)
    ends = ", ".join(f"{model.motor_names[motor]} at {joint}" for motor, joint in pairs)
    finding = f"the last joints that motors drive are: {ends or 'none'}"
    finding += f"; none drives {', '.join(lacking)}" if lacking else ""
    remedy = "give joint torques; motor efforts need one motor for each joint"
    raise RecordingError(f"{model.drivetrain_source}, motors", finding, remedy)


def recorded_joints(model: GearedModel, meaning: Meaning) -> tuple[str, ...]:
    """Joints that a recording must have, in the order of its columns (n + e,).

    The model's joints, and after them the frozen ones at whose place the number of a motor
    stands that acts on the model's joints: tau = A tau_m needs it.

    Args:
        model: Geared model, perhaps with joints frozen.
        meaning: What the recording's numbers are.
    """
    if not meaning.of_motors:
        return model.joint_names
    places = motor_readings(model).joints
    return (*model.joint_names, *(joint for joint in places if joint not in model.joint_names))


def drive_gains(model: GearedModel, meaning: Meaning) -> Array:
    """Gains of all motors (m,), or of the joints (n,) if the effort is no motor's.

    The gain of a motor that moves frozen joints only may be NaN.
    """
    count = len(model.motor_names) if meaning.of_motors else model.n
    if meaning.gains:
        if len(meaning.gains) != count:
            names = model.motor_names if meaning.of_motors else model.joint_names
            finding = f"{len(meaning.gains)} gains for {count}"
            raise RecordingError("gains", finding, f"give one for each of {', '.join(names)}")
        return np.array(meaning.gains, float)
    if meaning.effort != "motor_current":
        return np.ones(count)
    constants = np.asarray(model.motors.torque_constant, float)
    acting = motor_readings(model).motors
    missing = [model.motor_names[k] for k in acting if np.isnan(constants[k])]
    if missing:
        place = f"{model.drivetrain_source}, motors.{missing[0]}.torque_constant"
        remedy = "add it, or give the drive gains (--gains)"
        raise RecordingError(place, f"is not given for {', '.join(missing)}", remedy)
    return constants


def joint_positions(model: GearedModel, meaning: Meaning, position: Array) -> Array:
    """Joint positions (k, n) from what was recorded (k, n + e), columns ``recorded_joints``."""
    q: Array = position[:, : model.n]
    if meaning.position == "motor":
        own = end_motors(model)
        refuse_frozen_shares(model, own)
        phi = q - model.motor_zeros[own]
        q = np.asarray(np.linalg.solve(model.structure_matrix[:, own].T, phi.T).T, np.float64)
    return q + np.array(meaning.zero) if meaning.zero else q


def joint_velocities(model: GearedModel, meaning: Meaning, velocity: Array) -> Array:
    """Joint velocities (k, n) from what was recorded (k, n + e)."""
    rates = velocity[:, : model.n]
    if meaning.position == "motor":
        A = model.structure_matrix[:, end_motors(model)]
        return np.asarray(np.linalg.solve(A.T, rates.T).T, np.float64)
    return rates


def end_motors(model: GearedModel) -> list[int]:
    """The motor that ends at each joint (n,).

    None of them moves a later joint, so their columns of A are triangular and have an inverse.
    """
    found = motor_readings(model)
    at = dict(zip(found.joints, found.motors, strict=True))
    return [at[joint] for joint in model.joint_names]


def refuse_frozen_shares(model: GearedModel, motors: list[int]) -> None:
    """Raise if an angle of these motors has a share of a frozen joint: no model knows it."""
    for motor in motors:
        if frozen := ", ".join(model.motors.held[motor]):
            finding = f"{model.motor_names[motor]} also turns with the frozen {frozen}"
            remedy = f"keep {frozen} movable, or record joint positions"
            raise RecordingError("positions of motors", finding, remedy)


def motor_efforts(model: GearedModel, effort: Array) -> Array:
    """Recorded numbers by motor (k, m) from columns ``recorded_joints`` (k, n + e).

    Zero for motors that move frozen joints only.

    Raises:
        RecordingError: If the column of a frozen joint is missing.
    """
    found, places = motor_readings(model), recorded_joints(model, Meaning("motor_torque"))
    if effort.shape[1] != len(places):
        finding = f"has {effort.shape[1]} columns, not those of {', '.join(places)}"
        remedy = "open it with analysis.recorded_joints(model, meaning)"
        extra = places[model.n :]
        if extra:
            remedy += f", or keep {', '.join(extra)} movable: motors there act on other joints"
        raise RecordingError("efforts of motors", finding, remedy)
    result = np.zeros((len(effort), len(model.motor_names)))
    result[:, found.motors] = effort[:, [places.index(joint) for joint in found.joints]]
    return result


def joint_torques(model: GearedModel, meaning: Meaning, q: Array, effort: Array) -> Array:
    """Joint torques (k, n) from recorded efforts (k, n + e) at positions q (k, n).

    Efforts of motors are mapped by tau = A tau_m: what holds a frozen joint acts on that joint
    alone, and what its motor gives to other joints through the gears counts there.
    """
    convert = torque_map(model, meaning.effort, "joint_torque", gains=drive_gains(model, meaning))
    return convert(motor_efforts(model, effort) if meaning.of_motors else effort, q)
