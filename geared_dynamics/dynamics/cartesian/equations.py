r"""Equations of motion in the redundant coordinates, and the accelerations they give.

    M nu' + N(nu) + v + s = Q,   nu = J x',   J' Q = force on x

with the constant inertia M, the gyroscopic forces N, gravity v and springs s. N is missing in
paper 002, (27), (28), (32): nu holds angular velocities in frames that turn, which are no
derivatives of coordinates. It does no work, so energies do not tell. Times J':

    J'MJ x'' + J'(M J_dot x' + N + v + s) = force on x
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import common_lead, finite_input
from geared_dynamics.dynamics.cartesian.bodies import bodies_of, inertia_matrix
from geared_dynamics.dynamics.cartesian.checks import refuse_halves, refuse_overflow, state
from geared_dynamics.dynamics.cartesian.forces import (
    gravity_forces,
    gyroscopic_forces,
    motor_matrix,
)
from geared_dynamics.dynamics.cartesian.jacobian import jacobians
from geared_dynamics.dynamics.cartesian.results import (
    CartesianModel,
    Forces,
    Motion,
    column,
    compatible_forces,
)
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.springs import spring_forces
from geared_dynamics.dynamics.external import external_forces
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


def dynamics(
    model: GearedModel,
    q: ArrayLike,
    theta: ArrayLike | None,
    v: ArrayLike,
    vtheta: ArrayLike | None,
    *,
    frame_angles: ArrayLike | None = None,
    frame_rates: ArrayLike | None = None,
) -> CartesianModel:
    """Redundant Cartesian model at a state: M nu' + N + v + s = Q, nu = J x'.

    Elastic joints have x = (q, theta); with None for theta and vtheta all joints are rigid,
    x = q. A wheel's frame turns with it, as in the paper, by the angle Gamma x; what that
    angle is does not matter, and another frame may be had.

    Args:
        model: Geared model, complete.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side, or None.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side, or None.
        frame_angles: Angle of each wheel's frame about its axis (..., w) [rad], wheels as in
            ``model.wheel_names``; by default the wheel's own.
        frame_rates: How fast these angles change (..., w) [rad/s]; by default as the wheels.

    References:
        Paper 002, eq. (8)-(13), (29)-(32), with the gyroscopic terms.
    """
    refuse_halves(theta, vtheta)
    bodies = bodies_of(model)
    arm = model if theta is None else extended(model)
    x, rate = state(model, q, theta, v, vtheta)
    with np.errstate(over="ignore", invalid="ignore"):
        angle = frame_motion("frame_angles", frame_angles, arm.wheels.spin, x)
        turn = frame_motion("frame_rates", frame_rates, arm.wheels.spin, rate)
        parts = {"q": x, "v": rate, "frame_angles": angle, "frame_rates": turn}
        lead = common_lead(parts)
        x, rate, angle, turn = (np.broadcast_to(y, (*lead, y.shape[-1])) for y in parts.values())
        angle, turn = angle[..., bodies.wheels], turn[..., bodies.wheels]
        J, J_rate = jacobians(arm, bodies, x, rate, angle, turn)
        nu, drift = apply(J, rate), apply(J_rate, rate)
        gyroscopic = gyroscopic_forces(arm, bodies, nu, turn)
        springs = np.zeros(nu.shape)
        if theta is not None and vtheta is not None:
            springs = compatible_forces(J, -spring_forces(model, q, theta, v, vtheta))
    given = {"q": q, "theta": theta, "v": v, "vtheta": vtheta}
    given |= {"frame_angles": frame_angles, "frame_rates": frame_rates}
    refuse_overflow(given, J, J_rate, drift, gyroscopic, springs)
    forces = Forces(gyroscopic, np.broadcast_to(gravity_forces(arm, bodies), nu.shape), springs)
    motors = motor_matrix(arm, bodies)
    return CartesianModel(inertia_matrix(bodies), J, J_rate, nu, drift, forces, motors)


def frame_motion(name: str, given: ArrayLike | None, spin: Array, x: Array) -> Array:
    """Angles or rates of the wheels' frames (..., w): as given, or the wheels' own, Gamma x."""
    return np.asarray(x @ spin.T) if given is None else finite_input(name, given, len(spin))


def accelerations(
    model: GearedModel,
    q: ArrayLike,
    theta: ArrayLike | None,
    v: ArrayLike,
    vtheta: ArrayLike | None,
    tau_m: ArrayLike | None = None,
    f_ext: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
) -> Motion:
    """Accelerations by the redundant model: J'MJ x'' = J'(Q - M J_dot x' - N - v - s).

    The same as of ``elastic.forward_dynamics``; with None for theta and vtheta, as of
    ``forward_dynamics``.

    Args:
        model: Geared model, complete.
        q: Joint position (..., n) [rad or m].
        theta: Position of the shafts behind the springs (..., n_e), joint side, or None.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts (..., n_e), joint side, or None.
        tau_m: Torque at the motors' shafts (..., m) [N m], motor side; none by default.
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at its origin.
        tau: What else acts on the joints (..., n) [N m or N], such as friction.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    found = dynamics(model, q, theta, v, vtheta)
    k, n = found.jacobian.shape[-1], model.n
    motors = found.motors.shape[-1]
    torque = finite_input("tau_m", np.zeros(motors) if tau_m is None else tau_m, motors)
    link = finite_input("tau", np.zeros(n) if tau is None else tau, n)
    external = np.zeros(n) if f_ext is None else external_forces(model, q, f_ext)
    lead = common_lead({"q": found.velocity, "tau_m": torque, "tau": link, "f_ext": external})
    with np.errstate(over="ignore", invalid="ignore"):
        force = np.zeros((*lead, k))
        force[..., :n] = link + external
        Q = np.broadcast_to(torque @ found.motors.T, (*lead, found.velocity.shape[-1]))
        beside = found.drift @ found.inertia + found.forces.total
        change = solve(found.mass_matrix, force + found.projected(Q - beside))
        nu = apply(found.jacobian, change) + found.drift
        applied = Q + compatible_forces(found.jacobian, force)
        reaction = nu @ found.inertia + found.forces.total - applied
    given = {"q": q, "theta": theta, "v": v, "vtheta": vtheta, "tau_m": torque, "tau": link}
    refuse_overflow({**given, "f_ext": f_ext}, change, nu, reaction)
    return Motion(change[..., :n], change[..., n:], nu, reaction)


def apply(matrix: Array, vector: Array) -> Array:
    """Matrix (..., i, j) times vector (..., j)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def solve(H: Array, force: Array) -> Array:
    """H^-1 force (..., k) for a positive definite H.

    Raises:
        ModelError: if H is not positive definite.
    """
    if not np.all(np.isfinite(H)):
        return np.full(force.shape, np.nan)  # the caller says which input is too large
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        finding = "is not positive definite at a given posture"
        remedy = "give the massless links behind it an inertia"
        raise ModelError("mass matrix", finding, remedy) from None
    return np.asarray(np.linalg.solve(H, column(force, H.ndim))[..., 0])
