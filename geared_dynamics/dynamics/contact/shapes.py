"""Surfaces, lines and holes that a frame touches, and the checks of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly, real, reals
from geared_dynamics.checks import flag
from geared_dynamics.errors import ArrayError, shown

STILL = (0.0, 0.0, 0.0)


def not_negative(place: str, value: object) -> float:
    """Return a finite number of zero or more."""
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(place, f"is {shown(value)}", "give a number that is at least 0") from None
    if not 0.0 <= number < np.inf:
        raise ArrayError(place, f"is {number:g}", "give a finite number of zero or more")
    return number


def _vector(place: str, value: ArrayLike) -> Array:
    """Three finite numbers."""
    try:
        array = reals(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(place, "is not three real numbers", "give three numbers") from None
    if array.shape != (3,):
        raise ArrayError(place, f"has shape {array.shape}", "give three numbers")
    if not np.isfinite(array).all():
        raise ArrayError(place, "contains NaN or infinity", "give finite numbers")
    return readonly(array)


def _unit(place: str, value: ArrayLike) -> Array:
    """A direction, normalised."""
    array = _vector(place, value)
    largest = np.abs(array).max()
    if not largest > 0.0:
        raise ArrayError(place, "is zero", "give a vector that is not zero")
    array = array / largest  # first: squares of tiny numbers vanish
    return readonly(array / np.linalg.norm(array))


def _beside(place: str, value: ArrayLike, axis: Array) -> Array:
    """A direction across an axis, normalised."""
    array = _unit(place, value)
    across = array - (array @ axis) * axis
    if np.linalg.norm(across) < 1e-6:
        raise ArrayError(place, "is parallel to the axis", "give a direction across it")
    return _unit(place, across)


class Vector:
    """Field of a dataclass for three numbers: checked where it is set, read as an array (3,)."""

    def __init__(self, check: Callable[[str, ArrayLike], Array], default: Any = None) -> None:
        """Take the check, and the value where the argument is left out; None: it must be given."""
        self.check, self.default = check, default

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the field's name."""
        self.name = name

    def __get__(self, thing: object | None, owner: type | None = None) -> Array:
        """Return the array; of the class, the default."""
        if thing is None and self.default is None:
            raise AttributeError(self.name)
        value: Array = self.default if thing is None else thing.__dict__[self.name]
        return value

    def __set__(self, thing: object, value: ArrayLike) -> None:
        """Check and keep a value."""
        thing.__dict__[self.name] = self.check(f"{type(thing).__name__}.{self.name}", value)


@dataclass(frozen=True, eq=False)
class Geometric(Frozen):
    """An object that a frame touches; its axes are e1, e2 and, along ``axis``, e3.

    Attributes:
        frame: Link whose origin touches, and whose axes are seen.
        point: Point of the object at t = 0 (3,) [m], root axes.
        velocity: Of the point at t = 0 (3,) [m/s], root axes.
        acceleration: Of the point (3,) [m/s^2], constant, root axes.
        angular_velocity: Of the object about its point (3,) [rad/s], constant, root axes.
        along: Direction near which e1 lies at t = 0 (3,); None for any.
        tool_axis: Direction in the frame that is the tool's axis, the third of the axes whose
            yaw, pitch and roll are seen (3,).
        bilateral: Whether the force may have any sign.
    """

    AXIS: ClassVar[str]  # name of the field with e3
    # Which of x, y, z, yaw, pitch, roll of the frame in the object's axes are constrained.
    CONSTRAINED: ClassVar[tuple[int, ...]]
    frame: str
    point: Vector = Vector(_vector)
    _: KW_ONLY
    velocity: Vector = Vector(_vector, STILL)
    acceleration: Vector = Vector(_vector, STILL)
    angular_velocity: Vector = Vector(_vector, STILL)
    along: ArrayLike | None = None
    tool_axis: Vector = Vector(_unit, (0.0, 0.0, 1.0))
    bilateral: ClassVar[bool] = True
    held: ClassVar[bool] = False  # within a simulation: touched, until the force is zero

    def __post_init__(self) -> None:
        """Check what is no vector by itself."""
        kind = type(self).__name__
        if not isinstance(self.frame, str):
            raise ArrayError(f"{kind}.frame", f"is {shown(self.frame)}", "give the name of a link")
        if self.along is not None:
            across = _beside(f"{kind}.along", self.along, self.e3)
            object.__setattr__(self, "along", across)

    @property
    def e3(self) -> Array:
        """Normal, direction or axis at t = 0 (3,), normalised, root axes."""
        axis: Array = getattr(self, self.AXIS)
        return axis


@dataclass(frozen=True, eq=False)
class Surface(Geometric):
    """A plane that the frame's origin touches: s = normal . (origin - point), m = 1.

    Unilateral: it pushes, 0 <= F, and lets go; ``bilateral=True`` for eq. (20.88)-(20.89) as
    they stand, in which it may pull as well.

    Attributes:
        normal: Towards the free side at t = 0 (3,), of any length, root axes.
        bilateral: Whether it may pull.
    """

    AXIS, CONSTRAINED = "normal", (2,)
    normal: Vector = Vector(_unit)
    _: KW_ONLY
    bilateral: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Check the flag as well."""
        super().__post_init__()
        object.__setattr__(self, "bilateral", flag("Surface.bilateral", self.bilateral))

    def holding(self) -> Surface:
        """Return the same surface as it acts until it is left: its force may go through zero."""
        other = copy(self)
        object.__setattr__(other, "held", True)
        return other


@dataclass(frozen=True, eq=False)
class Line(Geometric):
    """A line on which the frame's origin stays: s = its two places across, m = 2, bilateral.

    Attributes:
        direction: Of the line at t = 0 (3,), of any length, root axes.
    """

    AXIS, CONSTRAINED = "direction", (0, 1)
    direction: Vector = Vector(_unit)


@dataclass(frozen=True, eq=False)
class Peg(Geometric):
    """A hole that the frame's origin and the tool's axis stay in: m = 4, bilateral.

    s = the two places across, pitch and roll of the tool's axis; it may slide and turn.

    Attributes:
        axis: Of the hole at t = 0 (3,), of any length, root axes, the way the tool's points.
    """

    AXIS, CONSTRAINED = "axis", (0, 1, 4, 5)
    axis: Vector = Vector(_unit)
