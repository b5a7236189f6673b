"""Observer of the complete momentum: external force on the links and on the motors' side.

    p = H(q) x',    p' = A (tau_m - rotor friction) + springs + tau - friction + C' x' - g + r

r (N,) is unmodelled: on the joints' rows a force on the links, on theta's rows one
on the motor side of the springs (friction of motor and gear that is off, a lossy spring). The
momentum is the complete one: rotors that turn with their carriers are in both rows. H' = C + C'
in Christoffel form makes C' x' the only term of second order. One pole:

    r+ = e r + (1 - e) ((p+ - p) / dt - mean of the known forces),   e = exp(-w dt)

which is exact for a constant r and stable at any dt. Of the known forces those that depend on the
motion are averaged over both ends of the step; tau_m and tau act over the step, and count in full.
Without a torque sensor the springs' torque is the model's, K (theta - q) + D (theta' - q'); where
K is off, both rows are, by opposite amounts, and ``whole`` is not.

A motion that is missing is bridged by the force found last, for ``hold``; then the estimate is
held, invalid, until the observer is started again. So it is after a longer step: what moved the
arm in between is not known.

Source: A. De Luca, R. Mattone, Sensorless robot collision detection and hybrid force/motion
control, ICRA 2005; with the momentum of the elastic arm and its rotors.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import above_zero, one_state, seconds
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.dynamics.elastic.equations import motor_side
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import Fault
from geared_dynamics.observers.readings import sizes_of


class MomentumState(NamedTuple):
    """State of the momentum observer, a value.

    Attributes:
        momentum: p = H x' (N,); NaN where the instant before is not known.
        known: Known forces that depend on the motion (N,).
        residual: r (N,): what acts beside them.
        valid: Whether the residual may be used; once False the observer is to be started again.
        faults: What was wrong since the force was found last.
        silent: For how long no force could be found [s].
    """

    momentum: Array
    known: Array
    residual: Array
    valid: bool = True
    faults: Fault = Fault.NONE
    silent: float = 0.0

    def links(self, model: GearedModel) -> Array:
        """External force on the joints, link side (n,) [N m or N]."""
        return self.residual[: model.n]

    def shafts(self, model: GearedModel) -> Array:
        """Force on the motor side of the springs (n_e,), joint side."""
        return self.residual[model.n :]

    def whole(self, model: GearedModel) -> Array:
        """Both sides together (n,): free of the springs, with the friction of the motors."""
        both = self.links(model) + model.elasticity.rigid.T @ self.shafts(model)
        return np.asarray(both)


class Moving(NamedTuple):
    """A motion as the momentum observer takes it, measured or estimated.

    Attributes:
        state: Motion of both sides of the springs.
        tau_m: Electromagnetic torque of the motors (m,) [N m], mean over the step.
        joint_torque: Measured torque of the springs on the links (n_e,); None or NaN where it
            is not measured, the model's is then taken.
        tau: What else is known to act on the joints (n,), mean over the step; None for nothing.
    """

    state: State
    tau_m: ArrayLike
    joint_torque: ArrayLike | None = None
    tau: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class MomentumObserver(Frozen):
    """The momentum observer of one arm; made by ``momentum_observer``.

    Attributes:
        model: Geared model with elastic joints.
        bandwidth: Of the estimate [Hz].
        hold: For how long the last force bridges what is missing, and the longest step [s].
    """

    model: GearedModel
    bandwidth: float
    hold: float

    def start(self, moving: Moving) -> MomentumState:
        """State at a first instant, with no external force."""
        moving = checked(self.model, moving, missing=False)
        p, known = balance(self.model, moving)
        return MomentumState(p, known, np.zeros(len(p)))

    def step(self, state: MomentumState, moving: Moving, dt: float) -> MomentumState:
        """State after dt.

        Args:
            state: Before.
            moving: The motion at the end of the step; ``tau_m`` and ``tau`` over it. NaN and
                infinity are missing.
            dt: Length of the step [s].

        Returns:
            The state. ``INTERVAL``: dt is not a time above zero, nothing was done; ``MISSING``:
            the residual is that of before; ``GAP``, or ``MISSING`` for longer than ``hold``:
            held.
        """
        model, hold, dt = self.model, self.hold, seconds("dt", dt)
        moving = checked(model, moving)
        if not state.valid:
            return state._replace(faults=state.faults | Fault.HELD)
        if not 0.0 < dt < np.inf:
            forgotten = state.momentum if dt == 0.0 else np.full_like(state.momentum, np.nan)
            return state._replace(momentum=forgotten, faults=state.faults | Fault.INTERVAL)
        if dt > hold:
            return state._replace(valid=False, faults=Fault.GAP | Fault.HELD)
        nothing = np.full_like(state.known, np.nan)
        p, known, found = nothing, nothing, nothing
        if complete(moving):
            p, known = balance(model, moving)
            mean = 0.5 * (known + state.known) + driving(model, moving)
            found = (p - state.momentum) / dt - mean
        if np.all(np.isfinite(found)):
            stay = exp(-2.0 * pi * self.bandwidth * dt)
            return MomentumState(p, known, stay * state.residual + (1.0 - stay) * found)
        silent = state.silent + dt
        faults = state.faults | (Fault.NONE if complete(moving) else Fault.MISSING)
        faults |= Fault.NONE if silent <= hold else Fault.HELD
        return MomentumState(p, known, state.residual, silent <= hold, faults, silent)

    def with_model(self, model: GearedModel) -> MomentumObserver:
        """The same for another model, such as one with a payload."""
        return momentum_observer(model, self.bandwidth, hold=self.hold)


def momentum_observer(
    model: GearedModel, bandwidth: float, *, hold: float = 0.05
) -> MomentumObserver:
    """Return the momentum observer of an arm.

    Args:
        model: Geared model with elastic joints.
        bandwidth: Of the estimate [Hz]: a step of force is found to 5 % after half its inverse.
        hold: For how long the last force bridges what is missing, and the longest step [s].
    """
    sizes_of(model)
    rate = above_zero("bandwidth", bandwidth, "a frequency [Hz]")
    return MomentumObserver(model, rate, above_zero("hold", hold, "a time [s]"))


def momentum_start(model: GearedModel, moving: Moving) -> MomentumState:
    """State at a first instant, for one release. See ``MomentumObserver.start``."""
    return momentum_observer(model, 1.0).start(moving)


def momentum_step(
    model: GearedModel,
    bandwidth: float,
    state: MomentumState,
    moving: Moving,
    dt: float,
    *,
    hold: float = 0.05,
) -> MomentumState:
    """State after dt, for one release. See ``MomentumObserver.step``."""
    return momentum_observer(model, bandwidth, hold=hold).step(state, moving, dt)


def checked(model: GearedModel, moving: Moving, *, missing: bool = True) -> Moving:
    """The motion as arrays; NaN only where some of it may be missing, or no sensor is."""
    sizes = sizes_of(model)
    if not isinstance(moving.state, State):
        finding = f"has a state of type {type(moving.state).__name__}"
        remedy = "give gd.observers.Moving(gd.State(q, v, theta, vtheta), tau_m, ...)"
        raise ArrayError("moving", finding, remedy)
    q, v, theta, vtheta, _ = moving.state
    n, shafts = sizes.n, sizes.shafts
    sensors, tau = moving.joint_torque, moving.tau
    return Moving(
        State(
            one_state("q", q, n, missing=missing),
            one_state("v", v, n, missing=missing),
            one_state("theta", motor_side("theta", theta), shafts, missing=missing),
            one_state("vtheta", motor_side("vtheta", vtheta), shafts, missing=missing),
        ),
        one_state("tau_m", moving.tau_m, sizes.motors, missing=missing),
        None if sensors is None else one_state("joint_torque", sensors, shafts, missing=True),
        np.zeros(n) if tau is None else one_state("tau", tau, n, missing=missing),
    )


def complete(moving: Moving) -> bool:
    """Whether nothing of a motion is missing; sensors of torque may be."""
    parts = (*moving.state[:4], moving.tau_m, moving.tau)
    return all(bool(np.all(np.isfinite(part))) for part in parts if part is not None)


def driving(model: GearedModel, moving: Moving) -> Array:
    """Known forces that act over the step whatever the motion is (N,): A tau_m and tau."""
    forces = elastic.structure_matrix(model) @ np.asarray(moving.tau_m, np.float64)
    if moving.tau is not None:
        forces[: model.n] += np.asarray(moving.tau, np.float64)
    return np.asarray(forces)


def balance(model: GearedModel, moving: Moving) -> tuple[Array, Array]:
    """Momentum, and the known forces that depend on the motion (N,)."""
    n, shafts = model.n, model.elasticity.count
    state = moving.state
    q, rate = state.q, state.rate
    losses, rotors = elastic.friction_forces(model, state)
    C = elastic.coriolis_matrix(model, state)
    weight = elastic.bias_forces(model, State(q, np.zeros(n), vtheta=np.zeros(shafts)))
    known = C.T @ rate - weight - elastic.structure_matrix(model) @ rotors
    known += elastic.spring_forces(model, state)
    if moving.joint_torque is not None:
        measured = np.asarray(moving.joint_torque, np.float64)
        modelled = elastic.joint_torque(model, state)
        more = np.where(np.isfinite(measured), measured - modelled, 0.0)
        known[:n] += model.elasticity.rigid.T @ more
        known[n:] -= more
    known[:n] -= losses
    if model.balancers.names:
        known[:n] += balancer_forces(model, q)
    return np.asarray(elastic.mass_matrix(model, q) @ rate), known
