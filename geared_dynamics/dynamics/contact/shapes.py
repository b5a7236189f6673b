"""Surfaces, lines and holes that a frame touches, and the checks of their numbers."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly, real, reals
from geared_dynamics.errors import ArrayError

PLACE = ("x", "y", "z", "yaw", "pitch", "roll")  # of a frame in the object's axes


@dataclass(frozen=True, eq=False)
class Geometric(Frozen):
    """An object that a frame touches; its axes are e1, e2 and, along ``axis``, e3.

    Attributes:
        frame: Link whose origin touches, and whose axes are seen.
        point: Point of the object at t = 0 (3,) [m], root axes.
        axis: e3 at t = 0 (3,), normalised, root axes.
        velocity: Of the point at t = 0 (3,) [m/s], root axes.
        acceleration: Of the point (3,) [m/s^2], constant, root axes.
        angular_velocity: Of the object about its point (3,) [rad/s], constant, root axes.
        along: Direction near which e1 lies at t = 0 (3,); None for any.
        tool_axis: Direction in the frame that is the tool's axis, the third of the axes whose
            yaw, pitch and roll are seen (3,).
    """

    frame: str
    point: Array
    axis: Array
    velocity: Array
    acceleration: Array
    angular_velocity: Array
    along: Array | None
    tool_axis: Array

    @property
    def picked(self) -> tuple[int, ...]:
        """Which of ``PLACE`` are constrained."""
        raise NotImplementedError

    @property
    def bilateral(self) -> bool:
        """Whether the force may have any sign."""
        return True


class _Shaped(Geometric):
    """What surfaces, lines and pegs have in common: arguments and their checks."""

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        axis: ArrayLike,
        *,
        name: str,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        angular_velocity: ArrayLike,
        along: ArrayLike | None,
        tool_axis: ArrayLike,
    ) -> None:
        """Check the numbers; ``name`` is that of the axis' argument."""
        kind = type(self).__name__
        if not isinstance(frame, str):
            raise ArrayError(f"{kind}.frame", f"is {frame!r}", "give the name of a link")
        direction = _unit(f"{kind}.{name}", axis)
        values = {
            "frame": frame,
            "point": _vector(f"{kind}.point", point),
            "axis": direction,
            "velocity": _vector(f"{kind}.velocity", velocity),
            "acceleration": _vector(f"{kind}.acceleration", acceleration),
            "angular_velocity": _vector(f"{kind}.angular_velocity", angular_velocity),
            "along": None if along is None else _beside(f"{kind}.along", along, direction),
            "tool_axis": _unit(f"{kind}.tool_axis", tool_axis),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)


class Surface(_Shaped):
    """A plane that the frame's origin touches: s = normal . (origin - point), m = 1.

    Unilateral: it pushes, 0 <= F, and lets go; ``bilateral=True`` for eq. (20.88)-(20.89) as
    they stand, in which it may pull as well.
    """

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        normal: ArrayLike,
        *,
        bilateral: bool = False,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        acceleration: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        along: ArrayLike | None = None,
        tool_axis: ArrayLike = (0.0, 0.0, 1.0),
    ) -> None:
        """Describe a surface.

        Args:
            frame: Link whose origin touches; on the free side of the plane.
            point: Point of the plane at t = 0 (3,) [m], root axes.
            normal: Towards the free side at t = 0 (3,), any length, root axes.
            bilateral: Whether it may pull.
            velocity: Of the point at t = 0 (3,) [m/s], root axes.
            acceleration: Of the point (3,) [m/s^2], constant.
            angular_velocity: Of the plane about the point (3,) [rad/s], constant, root axes.
            along: Direction near which the first of the plane's own axes lies (3,).
            tool_axis: The tool's axis in the frame (3,).
        """
        super().__init__(
            frame,
            point,
            normal,
            name="normal",
            velocity=velocity,
            acceleration=acceleration,
            angular_velocity=angular_velocity,
            along=along,
            tool_axis=tool_axis,
        )
        object.__setattr__(self, "pulls", flag("Surface.bilateral", bilateral))

    @property
    def picked(self) -> tuple[int, ...]:
        """The place along the normal."""
        return (2,)

    @property
    def bilateral(self) -> bool:
        """Whether it may pull."""
        return bool(self.__dict__["pulls"])

    def holding(self) -> Surface:
        """Return the same surface, which may pull."""
        other = copy(self)
        object.__setattr__(other, "pulls", True)
        return other


class Line(_Shaped):
    """A line on which the frame's origin stays: s = its two places across, m = 2, bilateral."""

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        direction: ArrayLike,
        *,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        acceleration: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        along: ArrayLike | None = None,
        tool_axis: ArrayLike = (0.0, 0.0, 1.0),
    ) -> None:
        """Describe a line.

        Args:
            frame: Link whose origin stays on it.
            point: Point of the line at t = 0 (3,) [m], root axes.
            direction: Of the line at t = 0 (3,), any length, root axes.
            velocity: Of the point at t = 0 (3,) [m/s], root axes.
            acceleration: Of the point (3,) [m/s^2], constant.
            angular_velocity: Of the line about the point (3,) [rad/s], constant, root axes.
            along: Direction near which the first axis across the line lies (3,).
            tool_axis: The tool's axis in the frame (3,).
        """
        super().__init__(
            frame,
            point,
            direction,
            name="direction",
            velocity=velocity,
            acceleration=acceleration,
            angular_velocity=angular_velocity,
            along=along,
            tool_axis=tool_axis,
        )

    @property
    def picked(self) -> tuple[int, ...]:
        """The two places across."""
        return (0, 1)


class Peg(_Shaped):
    """A hole that the frame's origin and the tool's axis stay in: m = 4, bilateral.

    s = the two places across, pitch and roll of the tool's axis; it may slide and turn.
    """

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        axis: ArrayLike,
        *,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        acceleration: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        along: ArrayLike | None = None,
        tool_axis: ArrayLike = (0.0, 0.0, 1.0),
    ) -> None:
        """Describe a hole.

        Args:
            frame: Link of the peg; its origin stays on the hole's axis.
            point: Point of the axis at t = 0 (3,) [m], root axes.
            axis: Of the hole at t = 0 (3,), any length, root axes, the way the tool's points.
            velocity: Of the point at t = 0 (3,) [m/s], root axes.
            acceleration: Of the point (3,) [m/s^2], constant.
            angular_velocity: Of the hole about the point (3,) [rad/s], constant, root axes.
            along: Direction near which the first axis across the hole lies (3,).
            tool_axis: The peg's axis in the frame (3,).
        """
        super().__init__(
            frame,
            point,
            axis,
            name="axis",
            velocity=velocity,
            acceleration=acceleration,
            angular_velocity=angular_velocity,
            along=along,
            tool_axis=tool_axis,
        )

    @property
    def picked(self) -> tuple[int, ...]:
        """The two places across, pitch and roll."""
        return (0, 1, 4, 5)


def not_negative(place: str, value: object) -> float:
    """Return a finite number of zero or more."""
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(place, f"is {value!r}", "give a number of zero or more") from None
    if not 0.0 <= number < np.inf:
        raise ArrayError(place, f"is {number:g}", "give a finite number of zero or more")
    return number


def flag(place: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArrayError(place, f"is {value!r}", "give True or False")
    return bool(value)


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
        raise ArrayError(place, "is zero", "give a direction of any length")
    array = array / largest  # first: squares of tiny numbers vanish
    return readonly(array / np.linalg.norm(array))


def _beside(place: str, value: ArrayLike, axis: Array) -> Array:
    """A direction across an axis, normalised."""
    array = _unit(place, value)
    across = array - (array @ axis) * axis
    if np.linalg.norm(across) < 1e-6:
        raise ArrayError(place, "is parallel to the axis", "give a direction across it")
    return _unit(place, across)
