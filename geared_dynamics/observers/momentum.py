"""Observer of the complete momentum: external force on the links and on the motors' side.

    p = H(q) x',    p' = A (tau_m - rotor friction) + springs + tau - friction + C' x' - g + r

r (N,) is what nobody accounts for: on the joints' rows a force on the links, on theta's rows one
on the shafts before the springs (friction of motor and gear that is off, a lossy spring). The
momentum is the complete one: rotors that turn with their carriers are in both rows. H' = C + C'
in Christoffel form makes C' x' the only term of second order. One pole:

    r+ = e r + (1 - e) ((p+ - p) / dt - mean of the known forces),   e = exp(-w dt)

which is exact for a constant r and stable at any dt. Without a torque sensor the springs' torque
is the model's, K (theta - q) + D (theta' - q'); where K is off, both rows are, by opposite
amounts, and ``whole`` is not.

Source: A. De Luca, R. Mattone, Sensorless robot collision detection and hybrid force/motion
control, ICRA 2005; with the momentum of the elastic arm and its rotors.
"""

from __future__ import annotations

from math import exp, pi
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.border import as_input, finite_input
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.outside import outside
from geared_dynamics.observers.plan import sizes_of


class MomentumState(NamedTuple):
    """State of the momentum observer, a value.

    Attributes:
        momentum: p = H x' (N,).
        known: Known forces (N,).
        residual: r (N,): what acts beside them.
        valid: False where a step was impossible; the residual is then held.
    """

    momentum: Array
    known: Array
    residual: Array
    valid: bool = True

    def links(self, model: GearedModel) -> Array:
        """External force on the joints, link side (n,) [N m or N]."""
        return self.residual[: model.n]

    def shafts(self, model: GearedModel) -> Array:
        """Force on the shafts before the springs (n_e,), joint side."""
        return self.residual[model.n :]

    def whole(self, model: GearedModel) -> Array:
        """Both sides together (n,): free of the springs, with the friction of the motors."""
        both = self.links(model) + model.elasticity.rigid.T @ self.shafts(model)
        return np.asarray(both)


class Moving(NamedTuple):
    """A motion as the momentum observer takes it, measured or estimated.

    Attributes:
        q: Joint position (n,) [rad or m].
        theta: Position of the shafts behind the springs (n_e,), joint side.
        v: Joint velocity (n,).
        vtheta: Velocity of the shafts (n_e,).
        tau_m: Electromagnetic torque of the motors (m,) [N m].
        joint_torque: Measured torque of the springs on the links (n_e,); None or NaN where it
            is not measured, the model's is then taken.
        tau: What else is known to act on the joints (n,); None for nothing.
    """

    q: ArrayLike
    theta: ArrayLike
    v: ArrayLike
    vtheta: ArrayLike
    tau_m: ArrayLike
    joint_torque: ArrayLike | None = None
    tau: ArrayLike | None = None


def momentum_start(model: GearedModel, moving: Moving) -> MomentumState:
    """State at a first instant, with no external force.

    Args:
        model: Geared model with elastic joints.
        moving: The motion there.
    """
    p, known = balance(model, moving)
    return MomentumState(p, known, np.zeros(len(p)))


def momentum_step(
    model: GearedModel, bandwidth: float, state: MomentumState, moving: Moving, dt: float
) -> MomentumState:
    """State after dt.

    Args:
        model: Geared model with elastic joints.
        bandwidth: Of the estimate [Hz]: a step of force is found to 5 % after half its inverse.
        state: Before.
        moving: The motion at the end of the step; torques over it.
        dt: Length of the step [s].

    Returns:
        The state; a step that is none (dt not above zero, NaN in the motion) leaves the
        residual as it was, with ``valid`` False.
    """
    if not (isinstance(bandwidth, float | int) and bandwidth > 0.0 and np.isfinite(bandwidth)):
        raise ArrayError("bandwidth", f"is {bandwidth!r}", "give a frequency above zero [Hz]")
    arrays = (moving.q, moving.theta, moving.v, moving.vtheta, moving.tau_m)
    if not (0.0 < dt < np.inf) or not all(np.all(np.isfinite(a)) for a in arrays):
        return state._replace(valid=False)
    p, known = balance(model, moving)
    if not state.valid:  # the interval is unknown: begin anew from here, with the force held
        return MomentumState(p, known, state.residual)
    stay = exp(-2.0 * pi * bandwidth * dt)
    found = (p - state.momentum) / dt - 0.5 * (known + state.known)
    return MomentumState(p, known, stay * state.residual + (1.0 - stay) * found)


def balance(model: GearedModel, moving: Moving) -> tuple[Array, Array]:
    """Momentum and known forces (N,)."""
    sizes = sizes_of(model)
    n = sizes.n
    q, v = finite_input("q", moving.q, n), finite_input("v", moving.v, n)
    theta = finite_input("theta", moving.theta, sizes.shafts)
    vtheta = finite_input("vtheta", moving.vtheta, sizes.shafts)
    tau_m = finite_input("tau_m", moving.tau_m, sizes.motors)
    tau = np.zeros(n) if moving.tau is None else finite_input("tau", moving.tau, n)
    rate = np.concatenate([v, vtheta])
    losses, rotors = elastic.friction_forces(model, v, vtheta, q, theta)
    C = elastic.coriolis_matrix(model, q, v, vtheta)
    still = np.zeros(sizes.shafts)
    weight = elastic.bias_forces(model, q, np.zeros(n), still)
    known = C.T @ rate - weight + elastic.structure_matrix(model) @ (tau_m - rotors)
    known += elastic.spring_forces(model, q, theta, v, vtheta)
    if moving.joint_torque is not None:
        measured = as_input("joint_torque", moving.joint_torque, sizes.shafts)
        modelled = elastic.joint_torque(model, q, theta, v, vtheta)
        more = np.where(np.isfinite(measured), measured - modelled, 0.0)
        known[:n] += model.elasticity.rigid.T @ more
        known[n:] -= more
    known[:n] += outside(model, tau, q) - losses
    return np.asarray(elastic.mass_matrix(model, q) @ rate), known
