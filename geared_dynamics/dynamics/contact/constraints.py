"""What an arm can touch: shapes, functions, locked gears, and supports that yield.

Each has coordinates s with s > 0 free and s = 0 touching; a force F pushes along +grad s.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import flag
from geared_dynamics.dynamics.contact.shapes import Line, Peg, Surface, not_negative
from geared_dynamics.errors import ArrayError, shown


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
