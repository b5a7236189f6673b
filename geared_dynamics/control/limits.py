"""What joints and motors can give, from URDF and drivetrain."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.control.values import Side
from geared_dynamics.description.records import LimitRecord
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.model import GearedModel

TINY = 1e-9  # [N m or N] per kilogram: a joint that carries nothing
POSTURES = 256  # at which a load's weight is looked at


def efforts(model: GearedModel) -> Array:
    """Joint force that the URDF allows (n,) [N m or N], infinite where it says none or zero."""
    limits = {joint.name: joint.limit for joint in model.robot.joints}
    given = [limits[name] for name in model.joint_names]
    found = [math.inf if limit is None else limit.effort or math.inf for limit in given]
    return np.array(found)


def command_limits(model: GearedModel, side: Side) -> Array:
    """Largest commands (n,) or (m,), infinite where nothing says any.

    Args:
        model: Geared model.
        side: What commands are.
    """
    voltage, current, torque, _ = model.motors.limits.T
    constant = model.motors.torque_constant
    known = np.isfinite(constant)
    per_ampere = np.where(known, constant, 1.0)
    by_current = np.where(known, current * per_ampere, np.inf)
    if side == "motor_voltage":
        return np.asarray(voltage)
    if side == "motor_current":
        return np.asarray(np.minimum(current, np.where(known, torque / per_ampere, np.inf)))
    shaft = np.asarray(np.minimum(torque, by_current))
    if side == "motor_torque":
        return shaft
    A = np.abs(model.structure_matrix)
    turned = A.any(axis=1)
    with np.errstate(invalid="ignore"):
        together = np.where(A > 0.0, A * shaft, 0.0).sum(axis=1)
    return np.asarray(np.minimum(efforts(model), np.where(turned, together, np.inf)))


class Weights(NamedTuple):
    """Forces on the joints (k, n) from loads on a link, in k postures.

    Attributes:
        kilogram: From 1 kg at the link's origin [N/kg or N m/kg].
        moment: From a first moment of 1 kg m along each of the link's axes (k, n, 3).
    """

    kilogram: Array
    moment: Array


@functools.lru_cache(maxsize=64)
def weights(model: GearedModel, link: str | None = None) -> Weights:
    """Return what loads weigh on the joints, over random postures within the joints' limits.

    Args:
        model: Geared model without the load.
        link: That carries it; None: the only tip.
    """
    named = {joint.name: joint for joint in model.robot.joints}
    limits = [named[name].limit or LimitRecord() for name in model.joint_names]
    low = [-math.pi if limit.lower is None else limit.lower for limit in limits]
    high = [math.pi if limit.upper is None else limit.upper for limit in limits]
    q = np.random.default_rng(0).uniform(low, high, (POSTURES, model.n))
    bare = gravity_forces(model, q)
    own = gravity_forces(model.with_payload(1.0, link=link), q)
    shifted = [gravity_forces(model.with_payload(1.0, axis, link=link), q) for axis in np.eye(3)]
    return Weights(own - bare, np.stack([one - own for one in shifted], axis=-1))


def holdable_mass(
    model: GearedModel, com: ArrayLike = (0.0, 0.0, 0.0), link: str | None = None
) -> float:
    """Largest mass [kg] whose weight alone the joints hold, inf for any.

    m max_q |w_i(q) + W_i(q) c| <= limit_i for every joint i, with ``weights`` w and W. The arm's
    own weight is left out: balancers may carry it, and an arm that just carries itself in its
    worst posture could else carry nothing in any other.

    Args:
        model: Geared model without the load.
        com: The load's centre of mass c in the link's frame (3,) [m].
        link: That carries it; None: the only tip.
    """
    found = weights(model, link)
    worst = np.abs(found.kilogram + found.moment @ np.asarray(com, np.float64)).max(axis=0)
    limit = command_limits(model, "joint_torque")
    bounds = [most / w for most, w in zip(limit.tolist(), worst.tolist(), strict=True) if w > TINY]
    return min(bounds, default=math.inf)


def extent(model: GearedModel) -> float:
    """Length [m] beyond that of any arm and what it carries: distances of its joints, and 1 m."""
    return 1.0 + float(np.linalg.norm(model.tree.position, axis=1).sum())
