"""Gains for elastic arms, derived from the arm's modes and proved by its poles."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice
from geared_dynamics.control.gains import (
    Gains,
    as_rates,
    driven,
    magnitudes,
    positive,
    sampled_loop,
)
from geared_dynamics.control.terms import vector
from geared_dynamics.dynamics.elastic.vibration import linearised, modes
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

Feedback = Literal["motor", "joint", "mixed"]
MOST_PERIODS = 100  # of delay


def gains_from_modes(
    model: GearedModel,
    q: ArrayLike,
    fraction: float = 0.5,
    damping_ratio: ArrayLike = 0.7,
    *,
    feedback: Feedback = "motor",
    sample_time: float = 0.0,
    delay: float = 0.0,
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
        feedback: ``motor``: of the motors' position; stable with any gains, as long as sampling
            is quick. ``joint``: of the joints'; the springs lie in between, so that only loops
            slower than about the springs' damping ratio times their frequency are stable.
            ``mixed``: of the joints' position and the motors' velocity, stable without any
            damping while Kp is below the springs' stiffness.
        sample_time: Between two commands, which are held in between [s]; 0: continuous.
        delay: From a reading to when its command acts [s]; sensors, network and bus together.

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
    poles = closed_loop_poles(
        model, gains, where, feedback=feedback, sample_time=sample_time, delay=delay
    )
    slowest = poles.real.max()
    if slowest >= 0.0:
        finding = f"is unstable (growth {slowest:.3g} 1/s) at a bandwidth of {omega:.3g} rad/s"
        raise ModelError(*unstable(feedback, finding, sampled=sample_time > 0.0))
    return gains


def unstable(feedback: Feedback, finding: str, *, sampled: bool) -> tuple[str, str, str]:
    """Place, finding and remedy where a loop is not stable."""
    place = f"closed loop with {feedback}{'' if feedback == 'mixed' else '-side'} feedback"
    if sampled:
        finding += " as sampled"
    remedies = {
        "motor": "add damping to the springs",
        "joint": "lower the fraction, or use mixed or motor-side feedback",
        "mixed": "lower the fraction, or use motor-side feedback",
    }
    remedy = remedies[feedback]
    if sampled:
        remedy += ", or sample faster and with less delay"
        if feedback == "motor":
            remedy = "lower the fraction, " + remedy
    return place, finding, remedy


def lowest_frequency(model: GearedModel, q: Array) -> float:
    """Lowest frequency of the arm with its rotors held [rad/s]."""
    found = modes(model, q, rotors="held").frequency
    return float(found[found > 0.0].min())


def driven_inertia(model: GearedModel, q: Array) -> Array:
    """The rigid arm's inertia seen by each driven coordinate, the others held (n,)."""
    back = driven(model).inverse
    return np.diag(back.T @ mass_matrix(model, q) @ back).copy()


def motor_feedback(gains: Gains | None, n: int) -> Gains:
    """Gains (n,) with which a controller of an elastic arm feeds back.

    Args:
        gains: As they were given.
        n: Number of joints.

    Raises:
        ArrayError: for gains that are missing or of the wrong kind.
    """
    if gains is None or gains.kind != "torque":
        finding = "are missing" if gains is None else "have kind 'acceleration'"
        raise ArrayError("gains", finding, "give gd.control.gains_from_modes(...)")
    if np.any(gains.ki):
        raise ArrayError("gains.ki", "is not zero", "this law has no integral gain; remove it")
    return gains.for_joints(n)


def closed_loop_poles(
    model: GearedModel,
    gains: Gains,
    q: ArrayLike,
    *,
    feedback: Feedback = "motor",
    sample_time: float = 0.0,
    delay: float = 0.0,
) -> NDArray[np.complex128]:
    """Poles of the arm under feedback of forces, linearised at rest (2 (n + n_e),) [1/s].

    H x'' + D x' + K x = -(Kp z + Kv y') on the driven rows, with z and y each x_d of the motors
    or E_d q of the joints. Gravity, friction, the motors' electrics and the observer that
    estimates z are left out. Of a sampled loop ln(z) / T for its poles z, more of them where
    commands come late.

    Args:
        model: Geared model with elastic joints.
        gains: Gains of forces on the driven coordinates.
        q: Posture (n,) [rad or m].
        feedback: As of ``gains_from_modes``.
        sample_time: As of ``gains_from_modes``.
        delay: As of ``gains_from_modes``.
    """
    period, late = times(sample_time, delay)
    choice("feedback", "feedback", feedback, get_args(Feedback))
    if gains.kind != "torque":
        raise ArrayError("gains", "have kind 'acceleration'", "give gains of kind 'torque'")
    each, found = gains.for_joints(model.n), driven(model)
    H, K, D, _ = linearised(model, vector("q", q, model.n), "free", False)
    size = len(H)
    motors, links = np.zeros((model.n, size)), np.zeros((model.n, size))
    motors[np.arange(model.n), found.rows] = 1.0
    links[:, : model.n] = found.rigid
    position = motors if feedback == "motor" else links
    rate = links if feedback == "joint" else motors
    F = np.hstack([each.kp[:, None] * position, each.kv[:, None] * rate])
    A, B = np.zeros((2 * size, 2 * size)), np.zeros((2 * size, model.n))
    A[:size, size:] = np.eye(size)
    A[size:] = np.linalg.solve(H, -np.hstack([K, D]))
    B[size:] = np.linalg.solve(H, motors.T)
    if not period:
        return np.linalg.eigvals(A - B @ F).astype(complex)
    with np.errstate(over="ignore", invalid="ignore"):
        loop = sampled_loop(A, B, F, period, late)
    if not np.isfinite(loop).all():
        finding = f"is {period:g} s, so long that the loop's matrix overflows"
        raise ArrayError("sample_time", finding, "give the period of the control loop [s]")
    return as_rates(np.linalg.eigvals(loop).astype(complex), period)


def times(sample_time: float, delay: float) -> tuple[float, float]:
    """Check the times of a sampled loop."""
    found = {}
    for name, value in (("sample_time", sample_time), ("delay", delay)):
        array = magnitudes(name, value)
        if array.ndim:
            raise ArrayError(name, f"has shape {array.shape}", "give one time [s]")
        found[name] = float(array)
    period, late = found.values()
    if late and not period:
        raise ArrayError("delay", "is given without a sample_time", "give sample_time as well")
    if late > MOST_PERIODS * period:
        finding = f"is {late:g} s, more than {MOST_PERIODS} periods"
        raise ArrayError("delay", finding, "give times in seconds")
    return period, late
