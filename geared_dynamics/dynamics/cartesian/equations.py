r"""Equations of motion in the redundant coordinates, and the accelerations they give.

    M nu' + N(nu) + v + s = Q,   nu = J x',   J' Q = force on x

with the constant inertia M, the gyroscopic forces N, gravity v and springs s. N is missing in
Melhem 2001, (27), (28), (32): nu holds angular velocities in frames that turn, which are no
derivatives of coordinates. It does no work, so energies do not tell. Times J':

    J'MJ x'' + J'(M J_dot x' + N + v + s) = force on x
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.dynamics.arguments import common_lead, finite_input
from geared_dynamics.dynamics.cartesian.coordinates import (
    Bodies,
    bodies_of,
    inertia_matrix,
    jacobians,
    places,
)
from geared_dynamics.dynamics.elastic.equations import joined, spring_forces
from geared_dynamics.dynamics.frames import external_forces
from geared_dynamics.dynamics.state import State, takes_state
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

# -- What the functions of the redundant model return ---------------------------------------------


class Forces(NamedTuple):
    """Forces on the left of M nu' + gyroscopic + gravity + springs = Q, each (..., N).

    Attributes:
        gyroscopic: N(nu) [N m]: omega x I omega of each link; of each wheel its frame's
            angular velocity x its angular momentum, in nu_2 and in nu_3.
        gravity: -m g0 at the centres of mass [N], Melhem 2001, eq. (29), (30).
        springs: Least-norm s with J's = -(force of the springs on x), eq. (31); 0 when rigid.
    """

    gyroscopic: Array
    gravity: Array
    springs: Array

    @property
    def total(self) -> Array:
        """Their sum (..., N)."""
        return self.gyroscopic + self.gravity + self.springs


class CartesianModel(NamedTuple):
    """The redundant model at a state; k = n + n_e coordinates x, or n when rigid.

    Attributes:
        inertia: M, constant (N, N).
        jacobian: J (..., N, k), nu = J x'.
        jacobian_rate: J_dot (..., N, k).
        velocity: nu (..., N) [m/s, rad/s]; ``coordinate_names`` has the order.
        drift: J_dot x' (..., N): nu' where x'' = 0.
        forces: What stands beside M nu'.
        motors: Q = motors tau_m (N, m), constant: a motor's torque acts on its wheel's spin.
    """

    inertia: Array
    jacobian: Array
    jacobian_rate: Array
    velocity: Array
    drift: Array
    forces: Forces
    motors: Array

    @property
    def mass_matrix(self) -> Array:
        """H = J'MJ (..., k, k), Melhem 2001, eq. (33)."""
        J = self.jacobian
        H = np.swapaxes(J, -1, -2) @ (self.inertia @ J)
        return np.asarray(0.5 * (H + np.swapaxes(H, -1, -2)))

    @property
    def bias_forces(self) -> Array:
        """J'(M J_dot x' + N + v) (..., k): Coriolis and gravity forces on x."""
        inertial = self.drift @ self.inertia  # M is symmetric
        return self.projected(inertial + self.forces.gyroscopic + self.forces.gravity)

    def projected(self, force: Array) -> Array:
        """Force on x of a force Q on nu: J' Q (..., k)."""
        return np.asarray((np.swapaxes(self.jacobian, -1, -2) @ force[..., None])[..., 0])

    def compatible(self, force: Array) -> Array:
        """Least-norm Q (..., N) with J' Q = ``force`` (..., k); others differ by reactions."""
        return compatible_forces(self.jacobian, force)


class Motion(NamedTuple):
    """Accelerations of the arm.

    Attributes:
        a: Of the joints (..., n), joint side.
        atheta: Of the motor side of the springs (..., n_e), joint side; none when rigid.
        nu: Of the redundant velocities, nu' = J x'' + J_dot x' (..., N).
        reaction: What the constraints add on nu (..., N): J' reaction = 0. Springs, ``tau`` and
            ``f_ext`` count as their least-norm forces on nu.
    """

    a: Array
    atheta: Array
    nu: Array
    reaction: Array


def column(vector: Array, ndim: int) -> Array:
    """A vector (..., k) as a column of at least ``ndim`` dimensions.

    With one dimension less than the matrix, NumPy 1 would take it for a batch of vectors.
    """
    return vector.reshape((1,) * (ndim - 1 - vector.ndim) + vector.shape + (1,))


def compatible_forces(jacobian: Array, force: Array) -> Array:
    """J^+' force (..., N): Q of least norm with J' Q = force.

    From J = Y R with orthonormal Y: Q = Y R'^-1 force.

    Args:
        jacobian: J (..., N, k), of full column rank.
        force: Force on x (..., k).

    References:
        Melhem 2001, eq. (31).
    """
    if not np.all(np.isfinite(jacobian)):
        return np.full(jacobian.shape[:-1], np.nan)
    Y, R = np.linalg.qr(jacobian)
    inner = np.linalg.solve(np.swapaxes(R, -1, -2), column(force, R.ndim))
    return np.asarray((Y @ inner)[..., 0])


# -- Arguments of the functions of the redundant model, checked -----------------------------------


def coordinates_of(model: GearedModel, state: State) -> tuple[Array, Array]:
    """X and its rate (..., k), checked."""
    q, v, theta, vtheta, _ = state
    if theta is None and vtheta is None:
        return finite_input("q", q, model.n), finite_input("v", v, model.n)
    if theta is None or vtheta is None:
        name, other = ("theta", "vtheta") if theta is None else ("vtheta", "theta")
        finding = f"is None, and {other} is not"
        raise ArrayError(name, finding, "give both, or None for both to have the joints rigid")
    model.with_springs()  # refuses an arm without springs
    x, rate = joined(model, q=(q, theta), v=(v, vtheta))
    return x, rate


def refuse_overflow(inputs: Mapping[str, ArrayLike | None], *results: Array) -> None:
    """Raise where finite inputs gave NaN or infinity."""
    if not all(np.all(np.isfinite(result)) for result in results):
        size = {
            name: float(np.abs(np.asarray(value, float)).max(initial=0.0))
            for name, value in inputs.items()
            if value is not None
        }
        largest = max(size, key=lambda name: size[name])
        raise ArrayError(largest, "is so large that the result overflows", "use SI units")


# -- Forces on the redundant velocities: gyroscopic, gravity, motors ------------------------------


def gyroscopic_forces(arm: GearedModel, bodies: Bodies, nu: Array, turn: Array) -> Array:
    """N(nu) (..., N): frame's angular velocity x angular momentum.

    omega x I omega of each link. Of each wheel (nu_2 + nu_3) x M_2 (nu_2 + nu_3), in nu_2 and
    in nu_3, where its frame turns with it; a frame that turns at another rate has that in the
    place of the first factor's spin.

    Args:
        arm: The arm.
        bodies: Its bodies.
        nu: Redundant velocities (..., N).
        turn: Rate of each wheel's frame relative to its carrier (..., w) [rad/s], order of nu.
    """
    at, lead, wheels = places(arm), nu.shape[:-1], (len(bodies.wheels), 3)
    result = np.zeros(nu.shape)
    omega = nu[..., at.link_rate : at.carrier_rate].reshape(*lead, len(bodies.mass), 3)
    momentum = (bodies.tensor @ omega[..., None])[..., 0]
    links = np.cross(omega, momentum)
    carrier = nu[..., at.carrier_rate : at.spin].reshape(*lead, *wheels)
    spin = nu[..., at.spin :].reshape(*lead, *wheels)
    frame = carrier.copy()
    frame[..., 2] += turn
    torque = np.cross(frame, bodies.wheel_tensor * (carrier + spin))
    result[..., at.link_rate : at.carrier_rate] = links.reshape(*lead, links.shape[-2] * 3)
    result[..., at.carrier_rate : at.spin] = torque.reshape(*lead, torque.shape[-2] * 3)
    result[..., at.spin :] = result[..., at.carrier_rate : at.spin]
    return result


def gravity_forces(arm: GearedModel, bodies: Bodies) -> Array:
    """Gravity on the left, v (N,): -m g0 at each centre of mass; Melhem 2001, (29), (30)."""
    at = places(arm)
    result = np.zeros(at.size)
    masses = np.concatenate([bodies.mass, bodies.wheel_mass])
    result[: at.link_rate] = -np.outer(masses, arm.gravity).ravel()
    return result


def motor_matrix(arm: GearedModel, bodies: Bodies) -> Array:
    """Q = B tau_m (N, m): a motor's torque does work on its wheel's spin alone."""
    at = places(arm)
    result = np.zeros((at.size, len(arm.motor_names)))
    for motor, wheel in enumerate(arm.motor_wheel):
        (place,) = np.flatnonzero(bodies.wheels == wheel)
        result[at.spin + 3 * int(place) + 2, motor] = 1.0
    return readonly(result)


# -- Equations of motion in the redundant coordinates, and the accelerations they give ------------


@takes_state
def dynamics(
    model: GearedModel,
    state: State,
    *,
    frame_angles: ArrayLike | None = None,
    frame_rates: ArrayLike | None = None,
) -> CartesianModel:
    """Redundant Cartesian model at a state: M nu' + N + v + s = Q, nu = J x'.

    Elastic joints have x = (q, theta); without theta and vtheta all joints are rigid,
    x = q. A wheel's frame turns with it, as in the paper, by the angle Gamma x; what that
    angle is does not matter, and another frame may be had.

    Args:
        model: Geared model, complete.
        state: State, arrays (..., n) and (..., n_e); theta and vtheta None for rigid joints.
        frame_angles: Angle of each wheel's frame about its axis (..., w) [rad], wheels as in
            ``model.wheel_names``; by default the wheel's own.
        frame_rates: How fast these angles change (..., w) [rad/s]; by default as the wheels.

    References:
        Melhem 2001, eq. (8)-(13), (29)-(32), with the gyroscopic terms.
    """
    bodies, (x, rate) = bodies_of(model), coordinates_of(model, state)
    arm = model if state.theta is None else model.with_springs()
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
        if state.theta is not None:
            springs = compatible_forces(J, -spring_forces(model, state))
    given = arrays_of(state) | {"frame_angles": frame_angles, "frame_rates": frame_rates}
    refuse_overflow(given, J, J_rate, drift, gyroscopic, springs)
    forces = Forces(gyroscopic, np.broadcast_to(gravity_forces(arm, bodies), nu.shape), springs)
    motors = motor_matrix(arm, bodies)
    return CartesianModel(inertia_matrix(bodies), J, J_rate, nu, drift, forces, motors)


def arrays_of(state: State) -> dict[str, ArrayLike | None]:
    """A state's arrays by name, the order of errors."""
    return {"q": state.q, "theta": state.theta, "v": state.v, "vtheta": state.vtheta}


def frame_motion(name: str, given: ArrayLike | None, spin: Array, x: Array) -> Array:
    """Angles or rates of the wheels' frames (..., w): as given, or the wheels' own, Gamma x."""
    return np.asarray(x @ spin.T) if given is None else finite_input(name, given, len(spin))


@takes_state
def accelerations(
    model: GearedModel,
    state: State,
    tau_m: ArrayLike | None = None,
    f_ext: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
) -> Motion:
    """Accelerations by the redundant model: J'MJ x'' = J'(Q - M J_dot x' - N - v - s).

    The same as of ``elastic.forward_dynamics``; without theta and vtheta, as of
    ``forward_dynamics``.

    Args:
        model: Geared model, complete.
        state: State, arrays (..., n) and (..., n_e); theta and vtheta None for rigid joints.
        tau_m: Torque at the motors' shafts (..., m) [N m], motor side; none by default.
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at its origin.
        tau: What else acts on the joints (..., n) [N m or N], such as friction.

    Raises:
        ModelError: if the mass matrix is not positive definite.
    """
    found = dynamics(model, state)
    k, n = found.jacobian.shape[-1], model.n
    motors = found.motors.shape[-1]
    torque = finite_input("tau_m", np.zeros(motors) if tau_m is None else tau_m, motors)
    link = finite_input("tau", np.zeros(n) if tau is None else tau, n)
    external = np.zeros(n) if f_ext is None else external_forces(model, state.q, f_ext)
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
    given = arrays_of(state) | {"tau_m": torque, "tau": link, "f_ext": f_ext}
    refuse_overflow(given, change, nu, reaction)
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
        finding = "is not positive definite at one of the positions"
        remedy = "add inertia to the massless links or wheels"
        raise ModelError("mass matrix", finding, remedy) from None
    return np.asarray(np.linalg.solve(H, column(force, H.ndim))[..., 0])
