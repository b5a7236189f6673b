"""A wall in front of a plant's tool: it yields as a spring and a damper, and rubs.

With s the distance of the frame's origin along the normal, x_t its place along the wall and a
the place where it sticks,

    F = max(0, -k s - b s') where s < 0, else 0
    T = -k (x_t - a) - b x_t',  |T| <= mu F;  a follows x_t where |T| would be larger

MuJoCo's plant has the same k, b and mu in its own contact, whose friction sticks by a damper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.contact.constraints import Surface, not_negative
from geared_dynamics.dynamics.contact.packing import prepare
from geared_dynamics.dynamics.frames import jacobian, mobilities, pose
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

SOFTEST, STIFFEST = 1.0, 1e8  # [N/m]
PER_STEP = 0.5  # part of 1 / (fastest rate of the contact) that a step may be
SHORTEST = 1e-6  # [s], a step below which a plant takes seconds for a millisecond
SAMPLES = 200  # postures at which the tool's effective mass is looked at


@dataclass(frozen=True, eq=False)
class Wall:
    """A plane that a frame's origin can touch.

    Attributes:
        surface: Frame, point and normal towards the free side, at rest in the root's axes.
        stiffness: k [N/m], 1 to 1e8.
        damping: b [N s/m].
        friction: Coulomb's coefficient mu.
    """

    surface: Surface
    stiffness: float = 1e5
    damping: float = 500.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        """Check every value."""
        surface = self.surface
        if not isinstance(surface, Surface):
            finding = f"is {surface!r:.40}"
            raise ArrayError("wall.surface", finding, "give a gd.contact.Surface")
        rates: Any = (surface.velocity, surface.acceleration, surface.angular_velocity)
        if surface.bilateral or np.any(rates):
            finding = "is bilateral or moves, and the wall of a plant only pushes and stands still"
            raise ArrayError("wall.surface", finding, "leave out bilateral and the velocities")
        for name in ("stiffness", "damping", "friction"):
            object.__setattr__(self, name, not_negative(f"wall.{name}", getattr(self, name)))
        if not SOFTEST <= self.stiffness <= STIFFEST:
            remedy = f"give {SOFTEST:g} to {STIFFEST:g} N/m"
            raise ArrayError("wall.stiffness", f"is {self.stiffness:g}", remedy)

    def longest_step(self, model: GearedModel) -> float:
        """Longest step [s] with which an explicit integrator follows the contact.

        The fastest rate is that of the lightest effective mass among sampled postures.

        Args:
            model: The arm.

        Raises:
            GearedDynamicsError: for a frame that the arm does not have, or a wheel; for a wall
                too hard to be followed.
        """
        prepare(model, self.surface)
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, (SAMPLES, model.n))
        mobility = mobilities(model, q, self.surface.frame)
        lightest = 1.0 / max(float(np.linalg.norm(mobility, 2, (-2, -1)).max()), 1e-12)
        rate = max(np.sqrt(self.stiffness / lightest), self.damping / lightest)
        if not rate * SHORTEST <= PER_STEP:
            finding = f"requires steps of {PER_STEP / rate:.1g} s on this arm"
            raise ArrayError(
                "wall.damping",
                finding,
                f"give a smaller number: steps last {SHORTEST:g} s or longer",
            )
        return PER_STEP / float(rate)


class TouchingWall:
    """A wall as our own engine counts it; it remembers where the tool sticks.

    Attributes:
        wall: The wall.
        present: Whether it is there.
        force: On the tool at the end of the last step (3,) [N], root axes.
    """

    def __init__(self, model: GearedModel, wall: Wall) -> None:
        """Begin without contact."""
        prepare(model, wall.surface)
        self._model, self.wall, self.present = model, wall, True
        self.force: Array = np.zeros(3)
        self._anchor: Array | None = None
        point: Any = wall.surface.point
        self._point: Array = point

    def place(self) -> None:
        """Forget where the tool stuck."""
        self.force, self._anchor = np.zeros(3), None

    def joint_force(self, q: Array, v: Array) -> Array:
        """Joint force (n,) of the wall on the arm at a state within a step."""
        force, J, _ = self._at(q, v)
        return np.asarray(force @ J)

    def settle(self, q: Array, v: Array) -> None:
        """Let the tool slide, stick or leave at the end of a step."""
        self.force, _, self._anchor = self._at(q, v)

    def _at(self, q: Array, v: Array) -> tuple[Array, Array, Array | None]:
        """Force on the tool (3,), its linear Jacobian (3, n), and where it then sticks."""
        wall, surface = self.wall, self.wall.surface
        place = pose(self._model, q, surface.frame)[:3, 3]
        J = jacobian(self._model, q, surface.frame)[:3]
        normal, rate = surface.e3, J @ v
        s, speed = float(normal @ (place - self._point)), float(normal @ rate)
        push = max(0.0, -wall.stiffness * s - wall.damping * speed)
        if s >= 0.0 or push == 0.0 or not self.present:
            return np.zeros(3), J, None
        along, slip = place - s * normal, rate - speed * normal
        anchor = along if self._anchor is None else self._anchor
        hold = -wall.stiffness * (along - anchor) - wall.damping * slip
        most, size = wall.friction * push, float(np.linalg.norm(hold))
        if size > most:
            hold *= most / size
            anchor = along + (hold + wall.damping * slip) / wall.stiffness
        return push * normal + hold, J, anchor
