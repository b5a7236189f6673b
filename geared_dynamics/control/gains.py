"""Gains of the feedback, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.dynamics.border import as_numbers, finite_input
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.model import GearedModel, require_model

Kind = Literal["acceleration", "torque"]


@dataclass(frozen=True, eq=False)
class Gains(Frozen):
    """Gains of position, velocity and integral feedback, one each for a joint.

    Attributes:
        kp: Of the position error (n,), or one for all joints.
        kv: Of the velocity error, likewise.
        ki: Of the error's integral, likewise; 0 for none.
        integral_limit: Largest magnitude of the integral term (n,), in its own unit.
        kind: ``acceleration``: feedback is an acceleration that M(q) turns into a force, kp
            [1/s^2], kv [1/s], ki [1/s^3]; ``torque``: it is a force, kp [N m/rad or N/m],
            kv [N m s/rad], ki [N m/(rad s)].
    """

    kp: Array
    kv: Array
    ki: Array
    integral_limit: Array
    kind: Kind

    def __init__(
        self,
        kp: ArrayLike,
        kv: ArrayLike,
        ki: ArrayLike = 0.0,
        integral_limit: ArrayLike = np.inf,
        kind: Kind = "acceleration",
    ) -> None:
        """Check and keep read-only copies."""
        if not isinstance(kind, str) or kind not in get_args(Kind):
            raise UnknownNameError("gains.kind", "kind of gains", kind, get_args(Kind))
        given = {"kp": kp, "kv": kv, "ki": ki, "integral_limit": integral_limit}
        for name, value in given.items():
            object.__setattr__(self, name, magnitudes(f"gains.{name}", value))
        object.__setattr__(self, "kind", kind)

    def for_joints(self, n: int) -> Gains:
        """The same gains with an entry for each of n joints."""
        values = []
        for name in ("kp", "kv", "ki", "integral_limit"):
            value = getattr(self, name)
            if value.shape not in {(), (1,), (n,)}:
                finding, remedy = f"has shape {value.shape}", f"give one number, or {n}"
                raise ArrayError(f"gains.{name}", finding, remedy)
            values.append(np.broadcast_to(value, (n,)))
        kp, kv, ki, limit = values
        return Gains(kp, kv, ki, limit, self.kind)


def magnitudes(name: str, value: ArrayLike) -> Array:
    """Check gains: not negative, no NaN, finite except for limits."""
    array = as_numbers(name, value, "give numbers of at least zero")
    if array.ndim > 1:
        raise ArrayError(name, f"has shape {array.shape}", "give one number, or one per joint")
    limit = name.endswith("limit")
    if np.isnan(array).any() or (array < 0.0).any() or not (limit or np.isfinite(array).all()):
        remedy = "give numbers of at least zero"
        raise ArrayError(name, f"is {array.tolist()}", remedy)
    return readonly(array)


def gains_from_bandwidth(
    bandwidth: ArrayLike,
    damping_ratio: ArrayLike = 1.0,
    *,
    integral: ArrayLike = 0.0,
    integral_limit: ArrayLike = np.inf,
) -> Gains:
    r"""Gains of accelerations for wanted error dynamics of a rigid arm.

    .. math::

        \ddot e + 2 \zeta \omega \dot e + \omega^2 e = 0

    Args:
        bandwidth: omega (n,) [rad/s], or one for all.
        damping_ratio: zeta, likewise; 1 comes to rest without overshoot.
        integral: Part of what stability allows, ki = integral * kp kv: below 1, by Routh.
        integral_limit: Largest integral term [rad/s^2 or m/s^2].
    """
    omega = positive("bandwidth", bandwidth, "give frequencies above zero [rad/s]")
    zeta = positive("damping_ratio", damping_ratio, "give ratios above zero")
    share = magnitudes("integral", integral)
    if (share >= 1.0).any():
        finding = f"is {share.tolist()}, which no damping keeps stable"
        raise ArrayError("integral", finding, "give parts below 1, such as 0.1")
    kp, kv = omega**2, 2.0 * zeta * omega
    return Gains(kp, kv, share * kp * kv, integral_limit, "acceleration")


def torque_gains(model: GearedModel, gains: Gains, q: ArrayLike) -> Gains:
    """Gains of forces that do at one posture what gains of accelerations do everywhere.

    kp_j = M_jj(q) omega_j^2 and so on: each joint with its own inertia, the others held. With
    diagonal gains the arm is stable at every posture; the bandwidth changes with M(q).

    Args:
        model: Geared model.
        gains: Gains of accelerations.
        q: Posture (n,) [rad or m]; take that of the largest inertia.
    """
    require_model(model)
    if gains.kind != "acceleration":
        raise ArrayError("gains", "are of forces already", "give gains of accelerations")
    inertia = np.diag(mass_matrix(model, finite_input("q", q, model.n)))
    each = gains.for_joints(model.n)
    return Gains(
        inertia * each.kp,
        inertia * each.kv,
        inertia * each.ki,
        inertia * each.integral_limit,
        "torque",
    )


def positive(name: str, value: ArrayLike, remedy: str) -> Array:
    """Check numbers above zero."""
    array = magnitudes(name, value)
    if not (array > 0.0).all():
        raise ArrayError(name, f"is {array.tolist()}", remedy)
    return array
