"""Torques that the model expects along a motion, term by term.

The complete model's torque is the sum of all terms; the armature model's leaves the coupling
out, the model without rotors also the armature:

    tau = inertia + Coriolis + gravity        of the links with their wheels locked
        + armature                            diag(Gamma' J Gamma) a
        + coupling                            what else the wheels' spin does
        + friction + springs                  of the joints and motors; between the links
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.dynamics.friction import friction_forces
from geared_dynamics.dynamics.terms import TORQUE_TERMS, torque_terms
from geared_dynamics.model import GearedModel

TERMS = (*TORQUE_TERMS, "friction", "springs")


class Prediction(NamedTuple):
    """Torques (k, n) [N m or N]: by term, and of the three models."""

    terms: tuple[Array, ...]
    models: tuple[Array, Array, Array]


def predicted(model: GearedModel, q: Array, v: Array, a: Array) -> Prediction:
    """Compute all terms of the joint torque (k, n), joint side."""
    whole = model.with_coupling("complete")
    found = torque_terms(whole, q, v, a)
    friction, springs = np.zeros((2, *q.shape))
    rubs = whole.joint_friction.count or len(whole.motors.friction.index)
    if rubs:
        friction = resisting(whole, q, v, found[:, -1])
    if whole.balancers.names:
        springs = -balancer_forces(whole, q)
    if rubs or whole.balancers.names:
        found[:, len(TORQUE_TERMS) :] += (friction + springs)[:, None]
    terms = (*(found[:, k] for k in range(len(TORQUE_TERMS))), friction, springs)
    return Prediction(terms, (found[:, -3], found[:, -2], found[:, -1]))


def resisting(model: GearedModel, q: Array, v: Array, tau: Array) -> Array:
    """Friction of the joints and, through A, of the rotors (k, n), joint side.

    Of the rotors' laws the viscous, Coulomb and constant parts: what a load or an angle
    changes in a motor is left to ``motor_commands``.
    """
    result = np.zeros(q.shape)
    if model.joint_friction.count:
        result += friction_forces(model, v, q, tau)
    laws, A = model.motors.friction, model.structure_matrix
    for k, motor in enumerate(laws.index):
        rate = v @ A[:, motor]
        level = np.where(rate >= 0.0, laws.coulomb[k, 0], laws.coulomb[k, 1])
        force = laws.viscous[k] * rate + level * np.tanh(rate / max(laws.smoothing[k], 1e-12))
        result += np.outer(force + laws.offset[k], A[:, motor])
    return result
