"""Friction of the joints and of the rotors, on either side of the springs."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import friction
from geared_dynamics.dynamics.border import call
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.elastic.motors import motor_angles, motor_speeds
from geared_dynamics.model import GearedModel


def friction_forces(
    model: GearedModel,
    v: ArrayLike,
    vtheta: ArrayLike,
    q: ArrayLike | None = None,
    theta: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    load: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Friction of the joints at v, and of the rotors at their own speed.

    ``forward_dynamics`` is frictionless: with friction, give it ``tau_m`` less the rotors'
    and ``tau`` less the joints'.

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        vtheta: Velocity of the shafts behind the springs (..., n_e), joint side.
        q: Joint position (..., n), read by friction that ripples with it; zero where not given.
        theta: Position of the shafts (..., n_e), likewise.
        tau: Force on the joints (..., n), read by friction that grows with the load; zero
            where not given.
        load: Torque that the motors' gears transmit (..., m) [N m], motor side, likewise.

    Returns:
        Joint friction (..., n), joint side, and rotor friction (..., m), motor side; both
        oppose the motion.
    """
    shafts, count = model.elasticity.count, len(model.motor_names)
    speed = motor_speeds(model, v, vtheta)
    link, shaft = (
        np.zeros(model.n) if q is None else q,
        np.zeros(shafts) if theta is None else theta,
    )
    inputs = {
        "angle": (motor_angles(model, link, shaft), count),
        "speed": (speed, count),
        "load": (np.zeros(count) if load is None else load, count),
    }
    rotors = call("rotor_friction", model, inputs, (count,), constants=(packed_drives(model),))
    return friction.friction_forces(model, v, q, tau), rotors
