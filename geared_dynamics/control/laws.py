"""Control laws: prepared model, gains, state and reference to a joint force.

With e = q_d - q (continuous joints the short way round), z the integral of e, tau_s(q, v, a)
the terms that are switched on, F friction at the reference's velocity, and the feedback

    f = Kp e + Kv e' + Ki z                 gains of kind ``torque``
    f = M(q) (Kp e + Kv e' + Ki z)          gains of kind ``acceleration``

    feedforward           tau = tau_s(q_d, v_d, a_d) + F       paper 004, fig. 20.10a
    computed_torque       tau = tau_s(q, v, a_d) + F + f       paper 004, fig. 20.10b
    pd_plus_feedforward   tau = tau_s(q_d, v_d, a_d) + F + f
    gravity_compensation  tau = g(q)
    hold                  tau = g(q) + f  with e = posture - q, e' = -v
    decelerate            tau = tau_s(q, v, 0) + M(q) a + F

Friction is taken at the reference's velocity: the measured one is noise around zero at
standstill, and compensating the jump of Coulomb friction with it chatters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.compensation import (
    Compensation,
    compensated_force,
    compensated_friction,
    inertial_force,
    static_force,
)
from geared_dynamics.control.error import position_error
from geared_dynamics.control.gains import Gains
from geared_dynamics.control.values import Reference, State

Rate = Literal["reference", "measured"]


class Demand(NamedTuple):
    """What a law asks for, with the point it was evaluated at.

    Attributes:
        net: Joint force without joint friction (n,) [N m or N].
        friction: Joint friction to be added (n,), or None.
        q: Position of the model's evaluation (n,).
        rate: Velocity of the friction and of the motors' losses (n,).
        error: Position error (n,), or None where the law has none.
    """

    net: Array
    friction: Array | None
    q: Array
    rate: Array
    error: Array | None

    @property
    def torque(self) -> Array:
        """Joint force with friction (n,) [N m or N]."""
        return self.net if self.friction is None else self.net + self.friction


class Setting(NamedTuple):
    """What all laws share.

    Attributes:
        given: The prepared model.
        gains: Gains with an entry for each joint; None for none.
        per_turn: As of ``error.turns``.
        rate: At which velocity friction is taken.
    """

    given: Compensation
    gains: Gains | None
    per_turn: Array | None
    rate: Rate


def feedforward(
    setting: Setting, state: State | None, reference: Reference, integral: Array | None = None
) -> Demand:
    """Nominal control from the reference alone: tau_s(q_d, v_d, a_d) + F.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Not read.
        reference: Wanted motion.
        integral: Not read.
    """
    q, v, a = reference.q, reference.v, reference.a
    force = compensated_force(setting.given, q, v, a)
    rubbing = compensated_friction(setting.given, q, v, a, v)
    return Demand(force, rubbing, q, v, None)


def computed_torque(
    setting: Setting, state: State, reference: Reference, integral: Array | None = None
) -> Demand:
    """tau_s(q, v, a_d) + M(q) (Kp e + Kv e' + Ki z) + F: e'' + Kv e' + Kp e + Ki z = 0.

    With all terms on this is one recursion, at the acceleration a_d + feedback.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state.
        reference: Wanted motion.
        integral: Integral of the error (n,), or None.
    """
    given, q, v, a = setting.given, state.q, state.v, reference.a
    error = position_error(reference.q, q, setting.per_turn)
    wanted = correction(setting, error, reference.v - v, integral)
    rate = v if setting.rate == "measured" else reference.v
    if given.accelerating:
        a = a + wanted
        force = compensated_force(given, q, v, a)
    else:
        force = compensated_force(given, q, v, a)
        force += inertial_force(given, q, wanted)
    return Demand(force, compensated_friction(given, q, v, a, rate), q, rate, error)


def pd_plus_feedforward(
    setting: Setting, state: State, reference: Reference, integral: Array | None = None
) -> Demand:
    """tau_s(q_d, v_d, a_d) + F + feedback.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state.
        reference: Wanted motion.
        integral: Integral of the error (n,), or None.
    """
    given, (q, v, a) = setting.given, reference[:3]
    error = position_error(q, state.q, setting.per_turn)
    rate = state.v if setting.rate == "measured" else v
    force = compensated_force(given, q, v, a)
    force += feedback(setting, state.q, error, v - state.v, integral)
    return Demand(force, compensated_friction(given, q, v, a, rate), state.q, rate, error)


def gravity_compensation(
    setting: Setting,
    state: State,
    reference: Reference | None = None,
    integral: Array | None = None,
) -> Demand:
    """g(q) less what balancers carry, on the measured position.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state.
        reference: Not read.
        integral: Not read.
    """
    given = setting.given
    return Demand(static_force(given, state.q), None, state.q, given.still, None)


def hold(setting: Setting, state: State | None, posture: Array) -> Demand:
    """Hold a posture: gravity force and feedback about it; without a state gravity alone.

    Without a state no feedback is possible: the force is that of the posture last known.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state, or None.
        posture: Joint position to hold (n,) [rad or m].
    """
    given = setting.given
    if state is None:
        return Demand(static_force(given, posture), None, posture, given.still, None)
    force = static_force(given, state.q)
    error = position_error(posture, state.q, setting.per_turn)
    if setting.gains is not None:
        force += feedback(setting, state.q, error, -state.v, None)
    return Demand(force, None, state.q, given.still, error)


def decelerate(setting: Setting, q: Array, v: Array, a: Array, rate: Array) -> Demand:
    """tau_s(q, v, 0) + M(q) a + F: an acceleration from a state, with the complete mass matrix.

    Args:
        setting: Prepared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,).
        rate: Velocity at which friction is taken (n,).
    """
    given = setting.given
    if given.accelerating:
        force = compensated_force(given, q, v, a)
    else:
        force = compensated_force(given, q, v, given.still)
        force += inertial_force(given, q, a)
    return Demand(force, compensated_friction(given, q, v, a, rate), q, rate, None)


def correction(setting: Setting, error: Array, rate_error: Array, integral: Array | None) -> Array:
    """Kp e + Kv e' + Ki z (n,), in the gains' own unit; zero without gains."""
    gains = setting.gains
    if gains is None:
        return np.zeros_like(error)
    result: Array = gains.kp * error + gains.kv * rate_error
    if integral is not None:
        result += gains.ki * integral
    return result


def feedback(
    setting: Setting, q: Array, error: Array, rate_error: Array, integral: Array | None
) -> Array:
    """Feedback as a joint force (n,) [N m or N]."""
    found = correction(setting, error, rate_error, integral)
    if setting.gains is not None and setting.gains.kind == "acceleration":
        return inertial_force(setting.given, q, found)
    return found


LAWS: dict[str, Callable[..., Demand]] = {
    "feedforward": feedforward,
    "computed_torque": computed_torque,
    "pd_plus_feedforward": pd_plus_feedforward,
    "gravity_compensation": gravity_compensation,
}
# Laws that close the loop themselves: they need gains, and hold with them.
CLOSED = ("computed_torque", "pd_plus_feedforward")
