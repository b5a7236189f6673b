"""The elastic arm with its motors as y' = f(y, input), for one state or many at once.

    H x'' + C x' + (g, 0) = springs + A (k_t i - rotor friction) + (balancers + external
                            - joint friction, 0)
    L di/dt = u - R i - k_e s,        s = A' x'

y (..., N): q, theta, v, vtheta, and where voltages are the input the currents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from geared_dynamics.actuation.electrics import Windings, windings
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.border import call
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.friction import friction_forces
from geared_dynamics.model import GearedModel

Drive = Literal["voltage", "torque"]
# Of a central difference: the error of the formula and of rounding are about equal.
DIFFERENCE = float(np.finfo(float).eps) ** (1 / 3)


@dataclass(frozen=True)
class ElasticPlant:
    """An elastic arm driven by its motors' voltages or torques.

    Attributes:
        model: Geared model with elastic or passive joints.
        drive: What the input (m,) is: voltage [V] or electromagnetic torque [N m].
        external: Force on the joints from outside (n,) [N m or N].
    """

    model: GearedModel
    drive: Drive
    external: Array

    @cached_property
    def half(self) -> int:
        """Number of coordinates x = (q, theta)."""
        return self.model.n + self.model.elasticity.count

    @cached_property
    def structure(self) -> Array:
        """A (n + n_e, m)."""
        return elastic.structure_matrix(self.model)

    @cached_property
    def wires(self) -> Windings:
        """The motors' windings."""
        return windings(self.model)

    @cached_property
    def lagging(self) -> Array:
        """Which motors have an inductance (m,)."""
        return np.asarray(self.wires.inductance > 0.0)

    @cached_property
    def lag(self) -> Array:
        """L / R of each motor with an inductance, 1 of the others (m,) [s]."""
        return np.where(self.lagging, self.wires.inductance / self.wires.resistance, 1.0)

    @property
    def size(self) -> int:
        """Length of the state, N."""
        return 2 * self.half + (self.structure.shape[1] if self.drive == "voltage" else 0)

    def steady(self, y: Array, given: Array) -> Array:
        """Currents (..., m) once di/dt = 0."""
        return self.wires.steady_current(given, self.speeds(y))

    def settled(self, y: Array, given: Array) -> Array:
        """The state with the currents of motors without inductance, which follow at once."""
        if self.drive == "torque":
            return y
        x = 2 * self.half
        current = np.where(self.lagging, y[..., x:], self.steady(y, given))
        return np.concatenate([y[..., :x], current], axis=-1)

    def speeds(self, y: Array) -> Array:
        """Speeds of the rotors in their carriers (..., m)."""
        return np.asarray(y[..., self.half : 2 * self.half] @ self.structure)

    def rates(self, y: Array, given: Array) -> Array:
        """dy/dt (..., N) for voltages or torques (m,)."""
        n, half = self.model.n, self.half
        q, theta, v, vtheta = np.split(y[..., : 2 * half], [n, half, half + n], axis=-1)
        result = np.empty_like(y)
        result[..., :half] = y[..., half : 2 * half]
        torque = np.broadcast_to(given, (*y.shape[:-1], len(given)))
        if self.drive == "voltage":
            steady = self.steady(y, given)
            current = np.where(self.lagging, y[..., 2 * half :], steady)
            result[..., 2 * half :] = (steady - current) / self.lag
            torque = self.wires.torque_constant * current
        tau, torque = self.on_joints(q, v), torque - self.on_rotors(y)
        a, atheta = elastic.forward_dynamics(self.model, q, theta, v, vtheta, torque, tau=tau)
        result[..., half : half + n], result[..., half + n : 2 * half] = a, atheta
        return result

    def on_joints(self, q: Array, v: Array) -> Array:
        """Balancers, friction and what comes from outside (..., n)."""
        tau = np.broadcast_to(self.external, q.shape).copy()
        if self.model.drivetrain.balancers:
            tau += balancer_forces(self.model, q)
        if self.model.joint_friction.count:
            tau -= friction_forces(self.model, v, q)
        return tau

    def on_rotors(self, y: Array) -> Array | float:
        """Friction of the rotors (..., m) [N m]; ``elastic.friction_forces`` with fewer checks."""
        if not self.model.motors.friction.count:
            return 0.0
        count = self.structure.shape[1]
        angle = y[..., : self.half] @ self.structure + self.model.motor_zeros
        inputs = {
            "angle": (angle, count),
            "speed": (self.speeds(y), count),
            "load": (np.zeros(count), count),
        }
        constants = (packed_drives(self.model),)
        return call("rotor_friction", self.model, inputs, (count,), constants=constants)

    def jacobian(self, y: Array, given: Array) -> Array:
        """df/dy (N, N) by central differences, all states in one batch."""
        step = DIFFERENCE * np.maximum(1.0, np.abs(y))
        moved = self.rates(np.concatenate([y + np.diag(step), y - np.diag(step)]), given)
        return np.asarray(((moved[: len(y)] - moved[len(y) :]) / (2.0 * step[:, None])).T)
