"""Gains for elastic arms, derived from the arm's modes and proved by its poles."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.control.arguments import choice, vector
from geared_dynamics.control.driven import driven
from geared_dynamics.control.gains import Gains, positive
from geared_dynamics.dynamics.elastic.modes import linearised, modes
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

Feedback = Literal["motor", "joint"]


def gains_from_modes(
    model: GearedModel,
    q: ArrayLike,
    fraction: float = 0.5,
    damping_ratio: ArrayLike = 0.7,
    *,
    feedback: Feedback = "motor",
) -> Gains:
    r"""Gains of forces on the driven coordinates, kept below the springs' resonance.

    The bandwidth is a fraction of the lowest frequency that the arm has with its rotors held;
    one half is the usual bound (R. P. Paul, Robot Manipulators, 1981). With the rigid arm's
    inertia seen by each driven coordinate,

    .. math::

        K_p = \omega^2 m_{jj}, \quad K_v = 2 \zeta \omega m_{jj}, \quad
        m = E_d^{-T} M(q) E_d^{-1}.

    Args:
        model: Geared model with elastic joints.
        q: Posture (n,) [rad or m]; take that of the largest inertia.
        fraction: Bandwidth over the lowest frequency, above zero.
        damping_ratio: zeta (n,), or one for all.
        feedback: ``motor``: of the motors' position; stable with any gains. ``joint``: of the
            joints'; the springs lie in between, so that only slow loops are stable.

    Raises:
        ModelError: where a pole of the closed loop does not decay.
    """
    where = vector("q", q, model.n)
    part = positive("fraction", fraction, "give a part above zero, such as 0.5")
    zeta = positive("damping_ratio", damping_ratio, "give ratios above zero")
    if part.ndim:
        raise ArrayError("fraction", f"has shape {part.shape}", "give one number")
    omega = float(part) * lowest_frequency(model, where)
    inertia = driven_inertia(model, where)
    gains = Gains(omega**2 * inertia, 2.0 * zeta * omega * inertia, kind="torque")
    slowest = closed_loop_poles(model, gains, where, feedback=feedback).real.max()
    if slowest >= 0.0:
        finding = f"grows with {slowest:.3g} 1/s at a bandwidth of {omega:.3g} rad/s"
        remedy = "lower the fraction" if feedback == "joint" else "give the springs damping"
        remedy += ", or use motor-side feedback" if feedback == "joint" else ""
        raise ModelError(f"closed loop with {feedback}-side feedback", finding, remedy)
    return gains


def lowest_frequency(model: GearedModel, q: Array) -> float:
    """Lowest frequency of the arm with its rotors held [rad/s]."""
    found = modes(model, q, rotors="held").frequency
    return float(found[found > 0.0].min())


def driven_inertia(model: GearedModel, q: Array) -> Array:
    """The rigid arm's inertia seen by each driven coordinate, the others held (n,)."""
    back = driven(model).inverse
    return np.diag(back.T @ mass_matrix(model, q) @ back).copy()


def closed_loop_poles(
    model: GearedModel, gains: Gains, q: ArrayLike, *, feedback: Feedback = "motor"
) -> NDArray[np.complex128]:
    """Poles of the arm under feedback of forces, linearised at rest (2 (n + n_e),) [1/s].

    H x'' + D x' + K x = -(Kp z + Kv z') on the driven rows, with z = x_d of the motors or
    z = E_d q of the joints. Gravity, friction and the motors' electrics are left out.

    Args:
        model: Geared model with elastic joints.
        gains: Gains of forces on the driven coordinates.
        q: Posture (n,) [rad or m].
        feedback: As of ``gains_from_modes``.
    """
    choice("feedback", "feedback", feedback, get_args(Feedback))
    if gains.kind != "torque":
        raise ArrayError("gains", "are of accelerations", "give gains of kind 'torque'")
    each, found = gains.for_joints(model.n), driven(model)
    H, K, D, _ = linearised(model, vector("q", q, model.n), "free", False)
    size = len(H)
    seen = np.zeros((model.n, size))
    if feedback == "motor":
        seen[np.arange(model.n), found.rows] = 1.0
    else:
        seen[:, : model.n] = found.rigid
    K, D = K.copy(), D.copy()
    K[found.rows] += each.kp[:, None] * seen
    D[found.rows] += each.kv[:, None] * seen
    system = np.zeros((2 * size, 2 * size))
    system[:size, size:] = np.eye(size)
    system[size:] = np.linalg.solve(H, -np.hstack([K, D]))
    return np.linalg.eigvals(system).astype(complex)
