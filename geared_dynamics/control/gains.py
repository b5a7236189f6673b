"""Gains of the feedback, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike, Frozen, IntArray, readonly, readonly_int
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.arguments import as_numbers, finite_input
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, require_model

# -- Gains of the feedback, and where they come from ----------------------------------------------


Kind = Literal["acceleration", "torque"]


@dataclass(frozen=True, eq=False)
class Gains(Frozen):
    """Gains of position, velocity and integral feedback, one each for a joint.

    Attributes:
        kp: Of the position error (n,), or one for all joints.
        kv: Of the velocity error (n,), or one for all joints.
        ki: Of the error's integral (n,), or one for all joints; 0 for none.
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
        choice("gains.kind", "kind of gains", kind, get_args(Kind))
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
        damping_ratio: zeta (n,), or one for all; 1 is critically damped.
        integral: Part of what stability allows, ki = integral * kp kv: below 1, by Routh.
        integral_limit: Largest integral term [rad/s^2 or m/s^2].
    """
    omega = positive("bandwidth", bandwidth, "give frequencies above zero [rad/s]")
    zeta = positive("damping_ratio", damping_ratio, "give ratios above zero")
    share = magnitudes("integral", integral)
    if (share >= 1.0).any():
        finding = f"is {share.tolist()}; from 1 on the loop is unstable with any damping"
        raise ArrayError("integral", finding, "give fractions below 1, such as 0.1")
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
        raise ArrayError("gains", "have kind 'torque'", "give gains of kind 'acceleration'")
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


# -- Coordinates of an elastic arm that its motors turn, where motor-side feedback acts -----------
#
# Of x = (q, theta) these are theta of elastic drives and q of rigid ones, x_d, r = n of them.
# With all springs at rest x_d = E_d q; y = E_d^-1 x_d is the joint position that the motors
# show: q + deflection of the springs.


@dataclass(frozen=True, eq=False)
class Driven:
    """Driven coordinates; made by ``driven``.

    Attributes:
        rows: Which of x = (q, theta) they are (n,), in the order of the joints where each moves
            one joint of its own most: a gain of joint j is then that of its own drive.
        rigid: E_d (n, n).
        inverse: Its inverse.
        shares: Motor torques per force on the driven coordinates (m, n), of least norm.
    """

    rows: IntArray
    rigid: Array
    inverse: Array
    shares: Array


def driven(model: GearedModel) -> Driven:
    """Find the coordinates that the motors turn.

    Args:
        model: Geared model with elastic joints.

    Raises:
        ModelError: where there are not as many as joints, each turned by itself.
    """
    model.with_springs()  # refuses an arm without springs
    motors = model.elastic_motor_map
    rigid = np.vstack([np.eye(model.n), model.elasticity.rigid])
    rows = by_joint(np.flatnonzero(np.any(motors.A != 0.0, axis=1)), rigid)
    E = rigid[rows]
    if len(rows) != model.n or motors.rank != model.n:
        finding = f"drive {len(rows)} coordinates of an arm with {model.n} joints"
        remedy = "describe a motor for each joint; feedback does not support passive joints"
        raise ModelError(f"{model.drivetrain_source}, motors", finding, remedy)
    shares = motors.inverse[:, rows]
    return Driven(readonly_int(rows), readonly(E), readonly(np.linalg.inv(E)), readonly(shares))


def by_joint(rows: IntArray, rigid: Array) -> IntArray:
    """Rows in the order of the joints that they move most; as they are where two move one."""
    most = np.abs(rigid[rows]).argmax(axis=1)
    if len(np.unique(most)) < len(rows):
        return rows
    return rows[np.argsort(most)]


# -- An arm under sampled feedback: its poles with a held command that comes late -----------------
#
#     s' = A s + B u,   u(t) = u_k for k T + d <= t < (k + 1) T + d,   u_k = -F s(k T)
#
# With d = m T + r, 0 <= r < T, exactly
#
#     s_{k+1} = e^{A T} s_k + G1 u_{k-m-1} + G0 u_{k-m}
#     G0 = \int_0^{T-r} e^{A t} dt B,   G1 = e^{A (T-r)} \int_0^r e^{A t} dt B.
#
# K. J. Astrom, B. Wittenmark, Computer-Controlled Systems, 1997, section 2.3.


TERMS = 18  # of the exponential's series, for norms below a half
ROUNDING = 1e-9  # part of a period that is no delay
SMALLEST = 1e-300


def exponential(A: Array) -> Array:
    """e^A (k, k), by scaling and squaring."""
    norm = float(np.abs(A).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0.0 else 0
    scaled = A / 2.0**halvings
    total = term = np.eye(len(A))
    for k in range(1, TERMS):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return np.asarray(total)


def held(A: Array, B: Array, span: float) -> tuple[Array, Array]:
    """e^{A t} (k, k) and the integral of e^{A t} B (k, l) over a span [s]."""
    size = len(A)
    whole = np.zeros((size + B.shape[1],) * 2)
    whole[:size] = span * np.hstack([A, B])
    found = exponential(whole)
    return found[:size, :size], found[:size, size:]


def sampled_loop(A: Array, B: Array, F: Array, sample_time: float, delay: float) -> Array:
    """Matrix of the closed loop from one sample to the next, past commands included.

    Args:
        A: Rates by states (k, k).
        B: Rates by commands (k, l).
        F: Commands are -F s (l, k).
        sample_time: T [s].
        delay: From a sample to when its command acts, d [s].
    """
    late, rest = divmod(delay / sample_time + ROUNDING, 1.0)
    late, rest = int(late), max(rest - ROUNDING, 0.0) * sample_time
    after, fresh = held(A, B, sample_time - rest)
    before, old = held(A, B, rest)
    k, inputs = B.shape
    size = k + (late + 1) * inputs
    loop = np.zeros((size, size))
    place = [slice(k + i * inputs, k + (i + 1) * inputs) for i in range(late + 1)]
    loop[:k, :k] = after @ before
    loop[:k, place[late]] += after @ old  # of u_{k-late-1}
    if late:
        loop[:k, place[late - 1]] += fresh
    else:
        loop[:k, :k] -= fresh @ F
    loop[place[0], :k] = -F
    for i in range(late):
        loop[place[i + 1], place[i]] = np.eye(inputs)
    return loop


def as_rates(z: NDArray[np.complex128], sample_time: float) -> NDArray[np.complex128]:
    """Rates ln(z) / T [1/s] of factors z from sample to sample."""
    return np.asarray(np.log(np.where(np.abs(z) < SMALLEST, SMALLEST, z)) / sample_time)
