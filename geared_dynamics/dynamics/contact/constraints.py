"""What an arm can touch: shapes, functions, locked gears, and supports that yield.

Each has coordinates s with s > 0 free and s = 0 touching; a force F pushes along +grad s.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
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
            raise ArrayError(
                "Constraint.function", f"is {shown(self.function)}", "give a function"
            )
        whole = isinstance(self.count, int | np.integer) and not isinstance(self.count, bool)
        if not whole or not 1 <= self.count <= 6:
            raise ArrayError(
                "Constraint.count", f"is {shown(self.count)}", "give 1 to 6 coordinates"
            )
        if self.frame is not None and not isinstance(self.frame, str):
            raise ArrayError(
                "Constraint.frame", f"is {shown(self.frame)}", "give a link's name, or None"
            )
        flag("Constraint.bilateral", self.bilateral)


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
    """A surface that gives way: m_e s'' = -F - k s - b s' (Vukobratovic 2002, eq. 20.94), 0 <= F.

    With ``mass`` zero (fig. 20.15 b) F = -k s - b s', and nothing impacts. With
    ``tool_stiffness`` a spring without mass lies between tool and mass (fig. 20.15 d): the mass
    has a coordinate y of its own, F = k_t (y - s), m_e y'' = -F - k y - b y'. Without that spring
    y = s while they touch; where y is given (``depth``), the tool is on the mass at s = y.

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
            finding = "is bilateral, and an environment can only push"
            raise ArrayError("Environment.surface", finding, "leave bilateral out")
        for name in ("stiffness", "damping", "mass", "tool_stiffness"):
            value = getattr(self, name)
            law = name in ("stiffness", "damping") and callable(value)
            if not law and not (name == "tool_stiffness" and value is None):
                object.__setattr__(self, name, not_negative(f"Environment.{name}", value))
        if self.tool_stiffness is not None:
            if not self.tool_stiffness > 0.0:
                remedy = "give a stiffness above zero, or None for no spring"
                raise ArrayError("Environment.tool_stiffness", "is 0", remedy)
            if not self.mass > 0.0:
                remedy = "give it a mass, or combine the springs by contact.springs_in_series"
                raise ArrayError(
                    "Environment.mass", "is 0, and it moves between two springs", remedy
                )

    @property
    def nonlinear(self) -> bool:
        """Whether stiffness or damping is a function."""
        return callable(self.stiffness) or callable(self.damping)

    @property
    def struck(self) -> bool:
        """Whether the tool itself hits the mass."""
        return self.mass > 0.0 and self.tool_stiffness is None

    def laws_at(self, s: float, rate: float, place: str) -> tuple[float, float]:
        """Return k and b at a state of what yields; ``place`` names the support in an error."""
        where = f"at s = {s:g} m"
        k = self.stiffness(s) if callable(self.stiffness) else self.stiffness
        b = self.damping(s, rate) if callable(self.damping) else self.damping
        return (
            not_negative(f"{place}.stiffness {where}", k),
            not_negative(f"{place}.damping {where}", b),
        )

    def holding(self) -> Environment:
        """Return the same support, on which the tool stays whatever the force's sign."""
        other = copy(self)
        object.__setattr__(other, "surface", self.surface.holding())
        return other


Contact = Surface | Line | Peg | Constraint | LockedGear | Environment


def springs_in_series(*stiffnesses: float) -> float:
    """Return the stiffness of springs one behind the other [N/m]: 1/k = sum of 1/k_i.

    Args:
        stiffnesses: Of tool and environment, in any order, above zero.
    """
    if not stiffnesses:
        raise ArrayError("stiffnesses", "the list is empty", "give at least one")
    values = [not_negative(f"stiffnesses[{k}]", value) for k, value in enumerate(stiffnesses)]
    if not min(values) > 0.0:
        raise ArrayError("stiffnesses", "contains zero", "give stiffnesses above zero")
    return 1.0 / sum(1.0 / value for value in values)
