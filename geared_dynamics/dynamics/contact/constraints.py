"""What an arm can touch: surfaces, lines, holes, functions, locked gears, compliant supports.

Each has coordinates s with s > 0 free and s = 0 touching; a force F pushes along +grad s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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
        object.__setattr__(self, "pulls", _flag("Surface.bilateral", bilateral))

    @property
    def picked(self) -> tuple[int, ...]:
        """The place along the normal."""
        return (2,)

    @property
    def bilateral(self) -> bool:
        """Whether it may pull."""
        return bool(self.__dict__["pulls"])


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


@dataclass(frozen=True, eq=False)
class Constraint:
    """Any coordinates given as a function, differentiated by central differences of order 8.

    Without ``frame`` the function is s(q, t), and its forces act in the joints; with it s(X, t)
    of the frame's pose X (4, 4) in the root frame. It must be smooth over 0.01 rad, m and 0.01 s.

    Attributes:
        function: Gives s (count,) [m or rad].
        count: How many coordinates.
        frame: Link of which the function takes the pose, or None.
        bilateral: Whether the forces may have any sign; False: s >= 0, 0 <= F, each by itself.
    """

    function: Callable[[Array, float], ArrayLike]
    count: int = 1
    frame: str | None = None
    bilateral: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not callable(self.function):
            raise ArrayError("Constraint.function", f"is {self.function!r}", "give a function")
        whole = isinstance(self.count, int | np.integer) and not isinstance(self.count, bool)
        if not whole or not 1 <= self.count <= 6:
            raise ArrayError("Constraint.count", f"is {self.count!r}", "give 1 to 6 coordinates")
        if self.frame is not None and not isinstance(self.frame, str):
            raise ArrayError(
                "Constraint.frame", f"is {self.frame!r}", "give a link's name, or None"
            )
        _flag("Constraint.bilateral", self.bilateral)


@dataclass(frozen=True, eq=False)
class LockedGear:
    """A gear that holds: its motor's rotor does not turn in its carrier, m = 1, bilateral.

    A gear that locks itself and jams while the arm coasts is a plastic impact of it.

    Attributes:
        motor: Name of the motor.
    """

    motor: str


Law = float | Callable[..., float]


@dataclass(frozen=True, eq=False)
class Environment:
    """A surface that gives way: m_e s'' = -F - k s - b s' (paper 004, eq. 20.94), 0 <= F.

    With ``mass`` zero (fig. 20.15 b) F = -k s - b s', and nothing impacts. With
    ``tool_stiffness`` a spring without mass lies between tool and mass (fig. 20.15 d): the mass
    has a coordinate y of its own, F = k_t (y - s), m_e y'' = -F - k y - b y'.

    Attributes:
        surface: The plane at rest; its own motion carries the support along.
        stiffness: k [N/m], or a function k(s) of the deformed coordinate, force -k(s) s.
        damping: b [N s/m], or a function b(s, s').
        mass: m_e [kg].
        tool_stiffness: k_t [N/m] of the spring between tool and mass, or None.
    """

    surface: Surface
    stiffness: Law
    damping: Law = field(default=0.0, kw_only=True)
    mass: float = field(default=0.0, kw_only=True)
    tool_stiffness: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not isinstance(self.surface, Surface):
            finding = f"is a {type(self.surface).__name__}"
            raise ArrayError("Environment.surface", finding, "give a contact.Surface")
        if self.surface.bilateral:
            remedy = "give one that pushes only: an environment lets go"
            raise ArrayError("Environment.surface", "is bilateral", remedy)
        for name in ("stiffness", "damping", "mass", "tool_stiffness"):
            value = getattr(self, name)
            law = name in ("stiffness", "damping") and callable(value)
            if not law and not (name == "tool_stiffness" and value is None):
                object.__setattr__(self, name, not_negative(f"Environment.{name}", value))
        if self.tool_stiffness is not None:
            if not self.tool_stiffness > 0.0:
                remedy = "give one above zero, or None for no spring"
                raise ArrayError("Environment.tool_stiffness", "is 0", remedy)
            if not self.mass > 0.0:
                remedy = "give the mass between the springs, or springs_in_series as stiffness"
                raise ArrayError("Environment.mass", "is 0 between two springs", remedy)

    @property
    def nonlinear(self) -> bool:
        """Whether stiffness or damping is a function."""
        return callable(self.stiffness) or callable(self.damping)


Contact = Surface | Line | Peg | Constraint | LockedGear | Environment


def springs_in_series(*stiffnesses: float) -> float:
    """Return the stiffness of springs one behind the other [N/m]: 1/k = sum of 1/k_i.

    Args:
        stiffnesses: Of tool and environment, in any order, above zero.
    """
    if not stiffnesses:
        raise ArrayError("stiffnesses", "are none", "give at least one")
    values = [not_negative(f"stiffnesses[{k}]", value) for k, value in enumerate(stiffnesses)]
    if not min(values) > 0.0:
        raise ArrayError("stiffnesses", "has one of zero", "give stiffnesses above zero")
    return 1.0 / sum(1.0 / value for value in values)


def not_negative(place: str, value: object) -> float:
    """Return a finite number of zero or more."""
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(place, f"is {value!r}", "give a number of zero or more") from None
    if not 0.0 <= number < np.inf:
        raise ArrayError(place, f"is {number:g}", "give a finite number of zero or more")
    return number


def _flag(place: str, value: object) -> bool:
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
