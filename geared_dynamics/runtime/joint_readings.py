"""Joint states by name to arrays in the model's order; encoders to joint positions."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import (
    EFFORTS,
    Affine,
    TorqueMap,
    affine,
    as_command_type,
    is_of_motors,
    require_constants,
    torque_map,
)
from geared_dynamics.arrays import Array, ArrayLike, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

# -- Joint names to indices: found once, found again when the names change ------------------------


class Reading(enum.IntEnum):
    """What a message held for us."""

    COMPLETE = 0
    FOREIGN = 1  # joints of another device only
    MISSING = 2  # some of ours, not all
    SIZES = 3  # arrays of another length than the names
    NO_VELOCITY = 4  # positions only
    TWICE = 5  # one of ours more than once: the right entry is not known


class NameIndex(NamedTuple):
    """Where names are among others.

    Attributes:
        at: Index of each name (n,); one behind the last for those absent or there more than once.
        absent: Names that are not there.
        twice: Names that are there more than once: the right entry is not known.
    """

    at: IntArray
    absent: tuple[str, ...]
    twice: tuple[str, ...]


def places(wanted: Sequence[str], names: Sequence[str]) -> NameIndex:
    """Find names among those of a message."""
    place = {name: index for index, name in enumerate(names)}
    absent = tuple(name for name in wanted if name not in place)
    twice = tuple(name for name in wanted if names.count(name) > 1)
    gone = len(names)
    index = [gone if name in twice else place.get(name, gone) for name in wanted]
    return NameIndex(readonly_int(index), absent, twice)


class JointMap:
    """Picks our joints from messages of any order, all or nothing; the feedforward node's.

    Attributes:
        wanted: Names in the order of the arrays (n,).
        q: Positions of the last complete message (n,), as they came; a new array each time.
        v: Velocities of that message (n,); a new array each time.
        reordered: Whether the last message had its names in another order than the one before.
        absent: Names that the last message did not have.
        twice: Names that it had more than once.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        """Begin without having seen a message."""
        self.wanted = tuple(wanted)
        self.q = np.zeros(len(self.wanted))
        self.v = np.zeros(len(self.wanted))
        self.reordered = False
        self.absent: tuple[str, ...] = ()
        self.twice: tuple[str, ...] = ()
        self._names: list[str] | None = None
        self._size = 0
        self._index: IntArray | None = None
        self._plain = False  # whether the names are ours, in our order
        self._state = Reading.FOREIGN
        self._before: IntArray | None = None  # of the last complete message

    def read(self, names: list[str], position: object, velocity: object) -> Reading:
        """Take over a message's numbers.

        Args:
            names: ``JointState.name``.
            position: ``JointState.position``, an ``array.array`` of doubles.
            velocity: ``JointState.velocity``, an ``array.array``; may be empty.
        """
        if names != self._names:
            self._look_up(names)
        else:
            self.reordered = False
        if self._index is None:
            return self._state
        found = numbers_in(position)
        if found.size != self._size:
            return Reading.SIZES
        self.q = found.copy() if self._plain else found.take(self._index)
        rates = numbers_in(velocity) if len(velocity) else found[:0]  # type: ignore[arg-type]
        if rates.size == self._size:
            self.v = rates.copy() if self._plain else rates.take(self._index)
            return Reading.COMPLETE
        return Reading.SIZES if rates.size else Reading.NO_VELOCITY

    def _look_up(self, names: Sequence[str]) -> None:
        """Find our joints among other names."""
        self._names, self._size = list(names), len(names)
        index, self.absent, self.twice = places(self.wanted, self._names)
        self.reordered = False
        if self.twice:
            self._index, self._state = None, Reading.TWICE
            return
        if self.absent:
            self._index = None
            none = len(self.absent) == len(self.wanted)
            self._state = Reading.FOREIGN if none else Reading.MISSING
            return
        self._index = index
        self._state = Reading.COMPLETE
        self._plain = self._names == list(self.wanted)
        if self._before is not None:
            self.reordered = not np.array_equal(self._before, self._index)
        self._before = self._index


def numbers_in(field: object) -> Array:
    """Return a message's numbers as an array: a fast reader's as they are, rclpy's as a view."""
    if type(field) is np.ndarray:
        return field
    return np.frombuffer(field)  # type: ignore[call-overload, no-any-return]


def order(names: Sequence[str], chosen: Sequence[str]) -> IntArray:
    """Where each chosen name stands among the names."""
    place = {name: index for index, name in enumerate(names)}
    return readonly_int([place[name] for name in chosen])


# -- From what the encoders show to joint coordinates: signs, offsets, motor or joint side --------


Feedback = Literal["joint", "motor"]


@dataclass(frozen=True, eq=False)
class EncoderMap(Frozen):
    """An affine map from what is measured to the joints: q = T x + t, v = T x'.

    Attributes:
        names: What the measured values are called (k,): joints or motors.
        turn: T (n, k).
        shift: t (n,) [rad or m].
        plain: Whether it changes nothing.
    """

    names: tuple[str, ...]
    turn: Array
    shift: Array
    plain: bool

    def joints(self, x: Array, rate: Array) -> tuple[Array, Array]:
        """Joint positions and velocities (n,) of what was measured."""
        if self.plain:
            return x, rate
        return self.turn @ x + self.shift, self.turn @ rate


def encoders(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> EncoderMap:
    """Prepare the map.

    A motor's angle is phi = sign * (shown - offset). Shown is, on the motor side, what the
    encoder says; on the joint side, where the driver has already turned encoders into joints
    by ``phi = A' q + zeros``, what that would be. With the stored zeros of the model

        motor side:  A' q + zeros = S (x - offset)
        joint side:  A' q + zeros = S (A' x + zeros - offset)

    Args:
        model: Geared model.
        feedback: What the joint states hold: joints, or motors by their names.
        offsets: Of each motor's encoder (m,) [rad].
        signs: +1 or -1 for each (m,).
    """
    offset, sign = np.asarray(offsets, np.float64), np.asarray(signs, np.float64)
    changed = bool(offset.any() or (sign != 1.0).any())
    if feedback == "joint" and not changed:
        n = model.n
        return EncoderMap(model.joint_names, readonly(np.eye(n)), readonly(np.zeros(n)), True)
    if not model.motor_map.complete:
        finding = "the motor angles do not determine all joint positions"
        remedy = "set feedback to joint, without encoder offsets and signs"
        raise ModelError("encoders", finding, remedy)
    back = model.motor_map.inverse.T  # (n, m)
    turn, shift = motor_side(model, feedback, offset, sign)
    names = model.motor_names if feedback == "motor" else model.joint_names
    shift = back @ (shift - model.motor_zeros)
    return EncoderMap(names, readonly(back @ turn), readonly(shift), False)


def motor_side(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> tuple[Array, Array]:
    """S and s of the motors' angles phi = S x + s (m,) [rad] from what joint states show x (k,).

    See ``encoders`` for the arguments.
    """
    offset, sign = np.asarray(offsets, np.float64), np.asarray(signs, np.float64)
    if feedback == "motor":
        return np.diag(sign), -sign * offset
    return sign[:, None] * model.structure_matrix.T, sign * (model.motor_zeros - offset)


# -- The numbers of ours in messages by name; NaN for those not there, or there more than once ----


class Picker:
    """Picks by name, NaN for what is missing; the observer node's.

    It looks names up again only when they change.

    Attributes:
        wanted: Names in the order of the arrays (k,).
        absent: Names that the last message did not have.
        twice: Names that it had more than once.
        whole: Whether it had each once.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        """Begin without having seen a message."""
        self.wanted = tuple(wanted)
        self.absent: tuple[str, ...] = ()
        self.twice: tuple[str, ...] = ()
        self.whole = True
        self._names: list[str] | None = None
        self._index: IntArray = np.zeros(len(self.wanted), np.int64)

    def foreign(self, names: list[str]) -> bool:
        """Whether a message is about other devices only."""
        if names is not self._names and names != self._names:
            self._look_up(names)
        return len(self.absent) == len(self.wanted)

    def picked(self, names: list[str], numbers: object) -> Array | None:
        """Numbers of the names wanted (k,); None where names and numbers differ in size.

        Args:
            names: Of the message.
            numbers: As many doubles, an ``array.array`` or an array.
        """
        if names is not self._names and names != self._names:
            self._look_up(names)
        found = np.frombuffer(numbers) if len(names) else np.zeros(0)  # type: ignore[call-overload]
        if found.size != len(names):
            return None
        if self.whole:
            return np.asarray(found.take(self._index))
        picked = np.append(found, np.nan)[self._index]
        return np.asarray(picked)

    def _look_up(self, names: list[str]) -> None:
        self._names = names
        self._index, self.absent, self.twice = places(self.wanted, names)
        self.whole = not (self.absent or self.twice)

    @property
    def trouble(self) -> str:
        """What is the matter with the last message's names; empty where nothing is."""
        found = []
        if self.absent:
            found.append(f"lacks {', '.join(self.absent)}; publish all together")
        if self.twice:
            found.append(f"names {', '.join(self.twice)} more than once; publish it once")
        return ", ".join(found)


# -- From what a robot shows to what the observer reads; NaN stays with what depends on it --------


def motor_angle_map(
    model: GearedModel, feedback: Feedback, offsets: ArrayLike, signs: ArrayLike
) -> Affine:
    """The motors' angles phi (m,) [rad] of what joint states show, see ``encoders``."""
    return affine(*motor_side(model, feedback, offsets, signs))


def motor_torques(model: GearedModel, torque_kind: str, signs: Array) -> TorqueMap:
    """The motors' torques tau_m (m,) [N m] of what the parameter ``torque_kind`` names.

    Args:
        model: Geared model.
        torque_kind: The parameter.
        signs: Of the motors (m,), for numbers of motors.

    Raises:
        ModelError: where a torque constant is missing.
    """
    source = as_command_type("torque_kind", torque_kind, EFFORTS)
    require_constants(model, source, "add it, or set torque_kind to motor_torque")
    return torque_map(model, source, "motor_torque", signs=signs if is_of_motors(source) else None)
