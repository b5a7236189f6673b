"""The arm as our own equations move it: Runge-Kutta steps, and friction that sticks.

Within a step friction of what moves keeps its direction, and what rests feels none. At its end
an impulse p of friction brings to rest, as far as its level allows, what has reversed and what
was at rest (its change of the velocity is the smallest in the kinetic energy):

    v+ = v + M^-1 R' p,   low <= p <= high,   R v+ = 0 where p is inside its bounds

with bounds of the level times the step, less what the step has already counted. The position
follows with half the change, so that what sticks does not creep.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.rigid import forward_dynamics, mass_matrix
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plants.bounded import bounded_impulse
from geared_dynamics.simulation.plants.friction import friction_of

REST = 1e-9  # rate below which a joint or rotor is at rest, in its own units


class EquationsMechanism:
    """The complete model, integrated with a fixed step.

    Attributes:
        model: Geared model.
        timestep: Of one step [s].
    """

    def __init__(self, model: GearedModel, timestep: float, *, friction: bool = True) -> None:
        """Lay out what does not change along a motion."""
        self.model, self.timestep = model, timestep
        springy = bool(model.elasticity.stiffness.size)
        self._arm = extended(model) if springy else model
        self._B = elastic.structure_matrix(model) if springy else model.structure_matrix
        self._friction = friction_of(model, friction)
        self._rows = self._friction.rows(self._B)
        self._viscous = self._rows.T @ (self._friction.viscous[:, None] * self._rows)
        self._rough = bool(np.any(self._friction.static) or np.any(self._friction.coulomb))
        self._springs = _Springs(model) if springy else None
        self._balanced = bool(model.drivetrain.balancers)
        self._x, self._rate = np.zeros((2, self._arm.n))

    def place(self, x: Array, rate: Array) -> None:
        """Put the arm at x = (q, theta) with a velocity (n + n_e,)."""
        self._x, self._rate = np.array(x, float), np.array(rate, float)

    @property
    def x(self) -> Array:
        """Position (q, theta)."""
        return self._x

    @property
    def rate(self) -> Array:
        """Velocity (v, vtheta)."""
        return self._rate

    @property
    def angle(self) -> Array:
        """Angles of the motors' rotors relative to their links (m,) [rad], 0 at q = 0."""
        return np.asarray(self._x @ self._B)

    @property
    def speed(self) -> Array:
        """Their speeds (m,) [rad/s]."""
        return np.asarray(self._rate @ self._B)

    def advance(self, drive: Array, drag: Array) -> None:
        """Move on by one step under the motors' torques drive - drag * speed.

        Args:
            drive: (m,) [N m].
            drag: (m,) [N m s/rad].
        """
        h, x, v = self.timestep, self._x, self._rate
        force, damping = self._B @ drive, self._viscous
        if drag.any():
            damping = damping + (self._B * drag) @ self._B.T
        slipping, level = self._slipping(force)
        force = slipping[0] if slipping else force

        def acceleration(position: Array, rate: Array) -> Array:
            total = force - damping @ rate
            if self._springs is not None:
                total += self._springs.force(position, rate)
            if self._balanced:
                total[: self.model.n] += balancer_forces(self.model, position[: self.model.n])
            return forward_dynamics(self._arm, position, rate, total)

        half = 0.5 * h
        a1 = acceleration(x, v)
        v2 = v + half * a1
        a2 = acceleration(x + half * v, v2)
        v3 = v + half * a2
        a3 = acceleration(x + half * v2, v3)
        v4 = v + h * a3
        a4 = acceleration(x + h * v3, v4)
        position = x + h / 6.0 * (v + 2.0 * (v2 + v3) + v4)
        rate = v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        if slipping:
            change = self._stuck(position, v, rate, slipping[1], level)
            if change is not None:
                position, rate = position + half * change, rate + change
        self._x, self._rate = position, rate

    def _slipping(self, force: Array) -> tuple[tuple[Array, Array] | None, Array]:
        """Force with the friction of what moves, the directions, and all levels."""
        friction = self._friction
        if not friction.count:
            return None, np.zeros(0)
        before = self._rows @ self._rate
        if friction.steady and not friction.ripple.size:
            level, constant = friction.mean, friction.bias
        else:
            n = self.model.n
            angle = self.angle + self.model.motor_zeros
            position = friction.of(self._x[:n], angle) + friction.shift
            level, constant = friction.levels(position, before)
        way = np.where(np.abs(before) > REST, np.sign(before), 0.0)
        return (force - self._rows.T @ (level * way + constant), way), level

    def _stuck(
        self, x: Array, before: Array, after: Array, way: Array, level: Array
    ) -> Array | None:
        """Change of the velocity by what sticks; None where nothing does."""
        if not self._rough:
            return None
        new = self._rows @ after
        held = ((way == 0.0) | (new * way < 0.0)) & (level > 0.0)
        if not held.any():
            return None
        chosen = np.flatnonzero(held)
        R, most = self._rows[chosen], self.timestep * level[chosen]
        given = -most * way[chosen]  # by the step itself
        spread = np.linalg.solve(mass_matrix(self._arm, x), R.T)
        impulse = bounded_impulse(R @ spread, R @ after, -most - given, most - given)
        return np.asarray(spread @ impulse)


class _Springs:
    """Springs of elastic and passive joints: force -P' (K z + D z') on x, z = P x - rest."""

    def __init__(self, model: GearedModel) -> None:
        law = model.elasticity
        self._law, self._play = law, bool(np.any(law.gap > 0.0))
        self._K = law.stretch.T @ (law.stiffness[:, None] * law.stretch)
        self._D = law.stretch.T @ (law.damping[:, None] * law.stretch)
        self._rest = law.stretch.T @ (law.stiffness * law.rest)

    def force(self, x: Array, rate: Array) -> Array:
        """Force on x (n + n_e,)."""
        if not self._play:
            return np.asarray(self._rest - self._K @ x - self._D @ rate)
        law = self._law
        z = law.stretch @ x - law.rest
        beyond = np.abs(z) > law.gap
        stretch = np.where(beyond, z - np.sign(z) * law.gap, 0.0)
        pull = law.stiffness * stretch + np.where(beyond, law.damping * (law.stretch @ rate), 0.0)
        return np.asarray(-law.stretch.T @ pull)
