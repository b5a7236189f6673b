"""Between link side, motor side of the springs, and the motors."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import drives
from geared_dynamics.dynamics.arguments import call, common_lead, finite_input
from geared_dynamics.dynamics.drives import checked, pack_drives, packed_drives
from geared_dynamics.dynamics.elastic.equations import joined, structure_matrix
from geared_dynamics.dynamics.state import State, takes_state
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import drive_layout
from geared_dynamics.model import GearedModel
from geared_dynamics.model.motor_map import rank

# -- Between link side, motor side of the springs, and the motors ---------------------------------


def motor_torques(model: GearedModel, tau: ArrayLike, tau_theta: ArrayLike) -> Array:
    """Motor torques tau_m with A_q tau_m = tau, A_theta tau_m = tau_theta, before efficiency.

    The rows are those of the coordinates that motors turn: theta of elastic drives, q of
    rigid ones. What ``tau`` holds for the others, no motor can give: it is not looked at, and
    ``inverse_dynamics`` returns zero there for a motion that the springs allow. With more
    motors than rows the solution of least norm is returned; with fewer, as where a motor
    turns with rigid and elastic joints, the one of least squares, which leaves nothing over
    in a motion that the springs allow.

    Args:
        model: Geared model.
        tau: Force on the joints in addition to the springs' (..., n), as of ``inverse_dynamics``.
        tau_theta: Force on the motor side of the springs (..., n_e), joint side.

    Returns:
        Torque at each motor's shaft (..., m) [N m], motor side.

    Raises:
        ModelError: if there are fewer independent motors than joints to drive.
    """
    model.with_springs()  # refuses an arm without springs
    link = finite_input("tau", tau, model.n)
    shaft = finite_input("tau_theta", tau_theta, model.elasticity.count)
    lead = common_lead({"tau": link, "tau_theta": shaft})
    both = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (link, shaft)]
    shares = model.elastic_motor_map
    rows = np.flatnonzero(np.any(shares.A != 0.0, axis=1))
    freedoms = model.n - model.elasticity.passive.size
    if shares.rank < freedoms:
        refuse_missing_motors(model, shares.rank, freedoms)
    force = np.concatenate(both, axis=-1)[..., rows]
    return checked("tau and tau_theta", force, len(rows), shares.inverse.T[rows])


def refuse_missing_motors(model: GearedModel, found: int, freedoms: int) -> NoReturn:
    """Name the joints that no motor turns, or that the motors turn together only."""
    elastic, motors = model.elasticity, len(model.motor_names)
    spin = (elastic.link_spin + elastic.shaft_spin @ elastic.rigid)[model.motor_wheel]
    driven = [j for j in range(model.n) if j not in elastic.passive]
    missing, how = [j for j in driven if not spin[:, j].any()], "none drives"
    if not missing:
        still = np.linalg.svd(spin[:, driven])[2][rank(spin) :]
        missing = [j for k, j in enumerate(driven) if np.abs(still[:, k]).max(initial=0.0) > 0.01]
        how = "they do not independently drive"
    names = ", ".join(model.joint_names[j] for j in missing)
    several = "motor drives" if motors == 1 else "motors drive"
    finding = f"{motors} {several} {found} of {freedoms} degrees of freedom: {how} {names}"
    remedy = "declare the missing motors, with rotors on the motor side of the joints' springs"
    raise ModelError(f"{model.drivetrain_source}, motors", finding, remedy)


@takes_state
def motor_angles(model: GearedModel, state: State) -> Array:
    """What the encoders show: phi = A_q' q + A_theta' theta + phi(0) (..., m) [rad].

    Args:
        model: Geared model; phi(0) is ``model.motor_zeros``.
        state: State with its motor side; the velocities are not read.
    """
    model.with_springs()
    (x,) = joined(model, q=(state.q, state.theta))
    A = structure_matrix(model)
    return checked("q and theta", x, len(A), A, model.motor_zeros)


@takes_state
def motor_speeds(model: GearedModel, state: State) -> Array:
    """Speed of the rotors in their carriers: A_q' v + A_theta' vtheta (..., m) [rad/s].

    Args:
        model: Geared model.
        state: State with its motor side; the positions are not read.
    """
    model.with_springs()
    (rate,) = joined(model, v=(state.v, state.vtheta))
    A = structure_matrix(model)
    return checked("v and vtheta", rate, len(A), A)


# -- Friction of the joints and of the rotors, on either side of the springs ----------------------


@takes_state
def friction_forces(
    model: GearedModel,
    state: State,
    *,
    tau: ArrayLike | None = None,
    load: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Friction of the joints at v, and of the rotors at their own speed.

    ``forward_dynamics`` is frictionless: with friction, give it ``tau_m`` less the rotors'
    and ``tau`` less the joints'.

    Args:
        model: Geared model.
        state: State with its motor side; positions are read by friction that ripples with them.
        tau: Force on the joints (..., n), read by friction that grows with the load; zero
            where not given.
        load: Torque that the motors' gears transmit (..., m) [N m], motor side, read by friction
            of the rotors that grows with it; zero where not given.

    Returns:
        Joint friction (..., n), joint side, and rotor friction (..., m), motor side; both
        oppose the motion.
    """
    speed, count = motor_speeds(model, state), len(model.motor_names)
    inputs = {
        "angle": (motor_angles(model, state), count),
        "speed": (speed, count),
        "load": (np.zeros(count) if load is None else load, count),
    }
    rotors = call("rotor_friction", model, inputs, (count,), constants=(packed_drives(model),))
    return drives.friction_forces(model, state.v, state.q, tau), rotors


def shares_behind_springs(model: GearedModel) -> Array:
    """What each motor gives per force on x (n + n_e, m)."""
    unit = np.eye(model.n + model.elasticity.joint.size)
    return motor_torques(model, unit[:, : model.n], unit[:, model.n :])


def drives_behind_springs(model: GearedModel, arm: GearedModel) -> Array:
    """Drives whose motors' rows read x = (q, theta)."""
    drives = pack_drives(arm).copy()
    size, count = arm.n, len(model.motor_names)
    start, width = int(drives[drive_layout.MOTORS]), int(drives[drive_layout.MOTOR_SIZE])
    blocks = drives[start : start + count * width].reshape(count, width)
    blocks[:, drive_layout.ROWS : drive_layout.ROWS + size] = structure_matrix(model).T
    blocks[:, drive_layout.ROWS + size :] = shares_behind_springs(model).T
    if arm.elastic_model != "complete":
        blocks[:, drive_layout.COUPLED] = 0.0
    return drives
