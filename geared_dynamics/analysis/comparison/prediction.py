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
from geared_dynamics.dynamics.rigid import gravity_forces, inverse_dynamics
from geared_dynamics.model import GearedModel

TERMS = ("inertia", "coriolis", "gravity", "armature", "coupling", "friction", "springs")
BLOCK = 8192  # samples at a time
MODELS = ("without rotors", "armature", "complete")


class Prediction(NamedTuple):
    """Torques (k, n) [N m or N]: by term, and of the three models."""

    terms: tuple[Array, ...]
    models: tuple[Array, Array, Array]


def predicted(model: GearedModel, q: Array, v: Array, a: Array) -> Prediction:
    """Compute all terms of the joint torque, joint side.

    Block by block, so that what one step writes is still in the cache for the next.
    """
    locked, whole = model.with_coupling("none"), model.with_coupling("complete")
    terms, models = np.zeros((len(TERMS), *q.shape)), np.empty((len(MODELS), *q.shape))
    for start in range(0, len(q), BLOCK):
        part = slice(start, start + BLOCK)
        fill(locked, whole, (q[part], v[part], a[part]), terms[:, part], models[:, part])
    return Prediction(tuple(terms), (models[0], models[1], models[2]))


def fill(
    locked: GearedModel, whole: GearedModel, motion: tuple[Array, ...], terms: Array, models: Array
) -> None:
    """Write terms (7, k, n) and models' torques (3, k, n) of a block of a motion."""
    q, v, a = motion
    inertia, coriolis, gravity, armature, coupling, friction, springs = terms
    gravity_forces(locked, q, out=gravity)
    inverse_dynamics(locked, q, v, np.zeros(q.shape), out=coriolis)
    rigid = inverse_dynamics(locked, q, v, a)
    complete = inverse_dynamics(whole, q, v, a, out=models[2])
    np.subtract(rigid, coriolis, out=inertia)
    coriolis -= gravity
    np.multiply(a, whole.reflected_inertia.diagonal(), out=armature)
    np.subtract(complete, rigid, out=coupling)
    coupling -= armature
    np.copyto(models[0], rigid)
    np.add(rigid, armature, out=models[1])
    if whole.joint_friction.count or len(whole.motors.friction.index):
        friction += resisting(whole, q, v, complete)
        models += friction
    if len(whole.balancers.names):
        springs -= balancer_forces(whole, q)
        models += springs


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
