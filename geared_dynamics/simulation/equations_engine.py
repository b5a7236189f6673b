"""The plant's engine by our own equations (a ``Mechanism``)."""

from __future__ import annotations

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.dynamics.drives import balancer_energy, balancer_forces
from geared_dynamics.dynamics.elastic.equations import (
    packed_springs,
    spring_energy,
    spring_forces,
    structure_matrix,
)
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.dynamics.rigid import energies, forward_dynamics, mass_matrix
from geared_dynamics.dynamics.state import State
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.integrators import (
    bounded_impulse,
    friction_of,
    runge_kutta_step,
    soft_solve,
)
from geared_dynamics.simulation.motor_stage import stops_of
from geared_dynamics.simulation.wall import TouchingWall, Wall

# -- The arm as our own equations move it: Runge-Kutta steps, and friction that sticks ------------
#
# Within a step friction of what moves keeps its direction, and what rests feels none. At its end
# an impulse p of friction brings to rest, as far as its level allows, what has reversed and what
# was at rest (its change of the velocity is the smallest in the kinetic energy):
#
#     v+ = v + M^-1 R' p,   low <= p <= high,   R v+ = 0 where p is inside its bounds
#
# with bounds of the level times the step, less what the step has already counted. The position
# follows with half the change, and what rests before and after has not moved. The impulses of end
# stops (``motor_stage.py``) are found together with those of friction; there the position is at
# the stop.


REST = 1e-9  # rate below which a joint or rotor is at rest, in its own units


class EquationsMechanism:
    """The complete model, integrated with a fixed step.

    Attributes:
        model: Geared model.
        timestep: Of one step [s].
    """

    def __init__(
        self,
        model: GearedModel,
        timestep: float,
        *,
        friction: bool = True,
        stops: bool = False,
        wall: Wall | None = None,
    ) -> None:
        """Lay out what does not change along a motion."""
        self.model, self.timestep = model, timestep
        self._wall = None if wall is None else TouchingWall(model, wall)
        self._limits = self._stops = stops_of(model, stops)
        springy = bool(model.elasticity.stiffness.size)
        self._arm = model.with_springs() if springy else model
        self._B = structure_matrix(model)
        self._friction = friction_of(model, friction)
        self._rows = self._friction.rows(self._B)
        self._merge, self._ways = parallel(self._rows)
        self._viscous = self._rows.T @ (self._friction.laws.viscous[:, None] * self._rows)
        self._drag = np.zeros(self._B.shape[1])
        self._damping = self._viscous
        self._rough = bool(
            np.any(self._friction.laws.static) or np.any(self._friction.laws.coulomb)
        )
        self._springs = _Springs(model) if springy else None
        self._balanced = bool(model.balancers.names)
        self._x, self._rate = np.zeros((2, self._arm.n))

    def place(self, x: Array, rate: Array) -> None:
        """Put the arm at x = (q, theta) with a velocity (n + n_e,)."""
        self._x, self._rate = np.array(x, float), np.array(rate, float)
        self._stops = self._limits.placed(self._x[: self.model.n])
        if self._wall is not None:
            self._wall.place()

    @property
    def touch(self) -> Array:
        """Force of the wall on the tool (3,) [N], root axes."""
        return np.zeros(3) if self._wall is None else self._wall.force

    def show_wall(self, present: bool) -> None:
        """Take the wall away, or put it back."""
        if self._wall is not None:
            self._wall.present = present

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
        h, x, v, wall, n = self.timestep, self._x, self._rate, self._wall, self.model.n
        force = self._B @ drive
        if drag is not self._drag:  # it mostly stays
            self._drag = drag
            self._damping = self._viscous + (self._B * drag) @ self._B.T
        damping = self._damping
        slipping, level = self._slipping(force)
        force = slipping[0] if slipping else force

        def acceleration(position: Array, rate: Array) -> Array:
            total = force - damping @ rate
            if self._springs is not None:
                total += self._springs.force(position, rate)
            if self._balanced:
                total[:n] += balancer_forces(self.model, position[:n])
            if wall is not None:
                total[:n] += wall.joint_force(position[:n], rate[:n])
            return forward_dynamics(self._arm, position, rate, total)

        self._x, self._rate = runge_kutta_step(acceleration, x, v, h)
        beyond = self._stops.beyond(self._x[:n])
        if beyond.size:
            way = slipping[1] if slipping else level
            self._stop(x, way, level, beyond, self._B @ drive)
        elif slipping and self._rough:
            self._stick(x, slipping[1], level)
        if wall is not None:
            wall.settle(self._x[:n], self._rate[:n])

    def _slipping(self, force: Array) -> tuple[tuple[Array, Array] | None, Array]:
        """Force with the friction of what moves, the directions, and all levels."""
        friction = self._friction
        if not friction.count:
            return None, np.zeros(0)
        before = self._ways @ self._rate
        if friction.steady and not friction.laws.ripple.size:
            level, constant = friction.mean, friction.bias
        else:
            n = self.model.n
            angle = self.angle + self.model.motor_zeros
            position = friction.positions(self._x[:n], angle)
            level, constant = friction.levels(position, self._rows @ self._rate)
        level = self._merge @ level
        way = np.where(np.abs(before) > REST, np.sign(before), 0.0)
        force = force - (level * way) @ self._ways
        if constant.any():
            force -= constant @ self._rows
        return (force, way), level

    def _stick(self, begin: Array, way: Array, level: Array) -> None:
        """Bring to rest what friction holds or has stopped at the end of a step.

        Args:
            begin: Position at its beginning (N,).
            way: Which way each direction moved there, 0 at rest (d,).
            level: Friction's level (d,).
        """
        chosen = self._held(way, level)
        if not len(chosen):
            return
        if len(chosen) == 1:  # most often
            k = int(chosen[0])
            self._stick_one(begin, self._ways[k], float(way[k]), float(level[k]))
            return
        R, (low, high) = self._ways[chosen], self._bounds(chosen, way, level)
        spread, W, impulse, rate = self._brought_to_rest(R, low, high)
        position = self._x + 0.5 * self.timestep * (spread @ impulse)
        still = ((impulse > low) & (impulse < high) & (way[chosen] == 0.0)).nonzero()[0]
        if len(still):  # what rests has not moved at all
            drift = R[still] @ (position - begin)
            position -= spread[:, still] @ soft_solve(W[still[:, None], still], drift)
        self._x, self._rate = position, rate

    def _held(self, way: Array, level: Array) -> IntArray:
        """Return the directions that friction may hold at the end of a step."""
        reversed_ = self._ways @ self._rate * way < 0.0
        return np.asarray((((way == 0.0) | reversed_) & (level > 0.0)).nonzero()[0])

    def _bounds(self, chosen: IntArray, way: Array, level: Array) -> tuple[Array, Array]:
        """Bounds of friction's impulses (k,), less what the step itself has counted."""
        most = self.timestep * level[chosen]
        given = -most * way[chosen]
        return -most - given, most - given

    def _brought_to_rest(
        self, R: Array, low: Array, high: Array
    ) -> tuple[Array, Array, Array, Array]:
        """M^-1 R', R M^-1 R', the impulses (k,) within bounds, and the velocity after them."""
        spread = np.linalg.solve(mass_matrix(self._arm, self._x), R.T)
        W = R @ spread
        impulse = bounded_impulse(W, R @ self._rate, low, high)
        rate = self._rate + spread @ impulse
        rate[np.abs(rate) < REST] = 0.0
        return np.asarray(spread), W, impulse, rate

    def _stop(
        self, begin: Array, way: Array, level: Array, beyond: IntArray, drive: Array
    ) -> None:
        """Hold joints at the end stops they have passed in a step; friction as in ``_stick``.

        Args:
            begin: Position at its beginning (N,).
            way: Which way each direction moved there, 0 at rest (d,).
            level: Friction's level (d,).
            beyond: The stops.
            drive: Force of the motors (N,).
        """
        n, free = self.model.n, self._energy(self._x, self._rate)[1]
        chosen, count = self._held(way, level), len(beyond)
        walls = np.zeros((count, len(begin)))
        walls[:, :n] = self._stops.rows[beyond]
        R = np.vstack([walls, self._ways[chosen]])
        least, most = self._bounds(chosen, way, level)
        low = np.concatenate([np.zeros(count), least])
        high = np.concatenate([np.full(count, np.inf), most])
        spread, W, impulse, rate = self._brought_to_rest(R, low, high)
        position = self._x + 0.5 * self.timestep * (spread[:, count:] @ impulse[count:])
        still = (
            (impulse > low)
            & (impulse < high)
            & np.append(np.zeros(count, bool), way[chosen] == 0.0)
        )
        still[:count] = True
        chosen = still.nonzero()[0]
        drift = R[chosen] @ (position - begin)
        drift[:count] = self._stops.gap(position[:n])[beyond]
        position -= spread[:, chosen] @ soft_solve(W[chosen[:, None], chosen], drift)
        energy = free + float(drive @ (position - self._x))
        self._x, self._rate = position, self._tamed(position, rate, energy)

    def _tamed(self, position: Array, rate: Array, most: float) -> Array:
        """Return the velocity, slower where the arm would else have more energy than ``most``.

        The position at the stop is of first order in the step; its error must not drive the arm.
        """
        kinetic, total = self._energy(position, rate)
        if total <= most:
            return rate
        return np.asarray(rate * np.sqrt(max(0.0, 1.0 - (total - most) / max(kinetic, 1e-300))))

    def _energy(self, x: Array, rate: Array) -> tuple[float, float]:
        """Return the kinetic and the whole energy [J]."""
        n, found = self.model.n, energies(self._arm, x, rate)
        kinetic, total = float(found[5]), float(found[4] + found[5])
        if self.model.elasticity.count:
            total += float(spring_energy(self.model, State(x[:n], rate[:n], x[n:], rate[n:])))
        if self._balanced:
            total += float(balancer_energy(self.model, x[:n]))
        return kinetic, total

    def _stick_one(self, begin: Array, row: Array, way: float, level: float) -> None:
        """The same for one direction (N,)."""
        most = self.timestep * level
        low, high = most * (way - 1.0), most * (way + 1.0)
        spread = np.linalg.solve(mass_matrix(self._arm, self._x), row)
        weight = float(row @ spread)
        wanted = -float(row @ self._rate) / weight
        impulse = min(max(wanted, low), high)
        rate = self._rate + impulse * spread
        rate[np.abs(rate) < REST] = 0.0
        self._rate = rate
        move = 0.5 * self.timestep * impulse
        if impulse == wanted and way == 0.0:  # what rests has not moved at all
            move = -float(row @ (self._x - begin)) / weight
        self._x = self._x + move * spread


def parallel(rows: Array) -> tuple[Array, Array]:
    """Directions (d, N) of rows (k, N) that no two share, and which level adds to which (d, k).

    What moves together, such as a joint and the rotor that drives it alone, sticks together:
    its levels add, each times its own rate per rate of the direction.
    """
    merge, ways = np.zeros((0, len(rows))), np.zeros((0, rows.shape[1]))
    for k, row in enumerate(rows):
        size = np.linalg.norm(row)
        if size == 0.0:
            continue
        along = np.abs(ways @ (row / size))
        same = np.flatnonzero(along > 1.0 - 1e-12)
        if not same.size:
            merge = np.vstack([merge, np.zeros(len(rows))])
            ways = np.vstack([ways, row / size])
        merge[same[0] if same.size else -1, k] = size
    return merge, ways


class _Springs:
    """Springs of elastic and passive joints: force -P' tension on x, by the kernels' law."""

    def __init__(self, model: GearedModel) -> None:
        self._model, self._across = model, -model.elasticity.stretch.T
        self._packed = packed(model.with_springs()), packed_springs(model)

    def force(self, x: Array, rate: Array) -> Array:
        """Force on x (n + n_e,)."""
        n, tension = self._model.n, np.empty(self._across.shape[1])
        state = State(x[:n], rate[:n], x[n:], rate[n:])
        inputs = state.q, state.theta, state.v, state.vtheta
        if kernels.spring_tensions(*self._packed, *inputs, tension):
            return spring_forces(self._model, state)  # which says what is wrong
        return np.asarray(self._across @ tension)
