"""Control laws of rigid arms as pure functions, and which have a compiled form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import CommandType
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.gains import Gains
from geared_dynamics.control.terms import (
    Compensation,
    Reference,
    compensated_force,
    compensated_friction,
    inertial_force,
    static_force,
)
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.dynamics.state import State
from geared_dynamics.kernels import law_layout as at
from geared_dynamics.model import GearedModel

# -- Position errors, the short way round for continuous joints, and their integral ---------------


LARGEST = 1e100  # [rad s or m s]: beyond any integral of an error


def turns(model: GearedModel) -> Array | None:
    """1/(2 pi) for continuous joints and 0 for others (n,); None where none is continuous."""
    endless = model.continuous
    return readonly(endless / (2.0 * math.pi)) if endless.any() else None


def position_error(wanted: Array, measured: Array, per_turn: Array | None) -> Array:
    """Error e = wanted - measured (n,), of continuous joints within [-pi, pi].

    Args:
        wanted: Reference position (n,) [rad or m].
        measured: Joint position (n,).
        per_turn: As of ``turns``.
    """
    error: Array = wanted - measured
    if per_turn is not None:
        whole = np.rint(error * per_turn)
        error -= 2.0 * math.pi * whole
    return error


def integral_bound(gains: Gains) -> Array:
    """Largest integral (n,) [rad s or m s], so that its term keeps to ``integral_limit``.

    It is finite even where that is not: an infinite integral would never come back.
    """
    limit, ki = gains.integral_limit, gains.ki
    bound = np.divide(limit, ki, out=np.zeros(ki.shape), where=ki > 0.0)
    return readonly(np.minimum(bound, LARGEST))


def integrate(
    integral: Array, error: Array, dt: float, bound: Array, torque: Array, effort: Array
) -> Array:
    """Integral of the error after dt (n,), kept from winding up.

    It stays within its bound, which is finite, and a joint whose force is at its limit takes no
    error that would push further.

    Args:
        integral: Integral so far (n,) [rad s or m s].
        error: Position error (n,).
        dt: Time since the last cycle [s].
        bound: As of ``integral_bound`` (n,).
        torque: Joint force asked for in this cycle (n,) [N m or N].
        effort: Its limit (n,), inf for none.
    """
    step: Array = error * dt
    stuck = np.abs(torque) >= effort
    if np.count_nonzero(stuck):
        step[stuck & (torque * error > 0.0)] = 0.0
    step += integral
    np.minimum(step, bound, out=step)
    return np.maximum(step, -bound, out=step)


# -- Control laws: prepared model, gains, state and reference to a joint force --------------------
#
# With e = q_d - q (continuous joints the short way round), z the integral of e, tau_s(q, v, a)
# the terms that are switched on, F friction at the reference's velocity, and the feedback
#
#     f = Kp e + Kv e' + Ki z                 gains of kind ``torque``
#     f = M(q) (Kp e + Kv e' + Ki z)          gains of kind ``acceleration``
#
#     feedforward           tau = tau_s(q_d, v_d, a_d) + F       Vukobratovic 2002, fig. 20.10a
#     computed_torque       tau = tau_s(q, v, a_d) + F + f       Vukobratovic 2002, fig. 20.10b
#     pd_plus_feedforward   tau = tau_s(q_d, v_d, a_d) + F + f
#     gravity_compensation  tau = g(q)
#     hold                  tau = g(q) + f  with e = posture - q, e' = -v
#     decelerate            tau = tau_s(q, v, 0) + M(q) a + F
#
# Friction is taken at the reference's velocity: the measured one is noise around zero at
# standstill, and compensating the jump of Coulomb friction with it chatters.


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
        compensation: The prepared model.
        gains: Gains with an entry for each joint; None for none.
        per_turn: As of ``turns``.
        rate: At which velocity friction is taken.
    """

    compensation: Compensation
    gains: Gains | None = None
    per_turn: Array | None = None
    rate: Rate = "reference"


def feedforward(
    setting: Setting, state: State | None, reference: Reference, integral: Array | None = None
) -> Demand:
    """Feedforward from the reference alone: tau_s(q_d, v_d, a_d) + F.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Not read.
        reference: Wanted motion.
        integral: Not read.
    """
    q, v, a = reference.q, reference.v, reference.a
    force = compensated_force(setting.compensation, q, v, a)
    rubbing = compensated_friction(setting.compensation, q, v, a, v)
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
    given, q, v, a = setting.compensation, state.q, state.v, reference.a
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
    given, (q, v, a) = setting.compensation, reference[:3]
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
    given = setting.compensation
    return Demand(static_force(given, state.q), None, state.q, given.still, None)


def hold(setting: Setting, state: State | None, posture: Array) -> Demand:
    """Hold a posture: gravity force and feedback about it; without a state gravity alone.

    Without a state no feedback is possible: the force is that of the posture last known.

    Args:
        setting: Prepared model, gains, continuous joints.
        state: Measured state, or None.
        posture: Joint position to hold (n,) [rad or m].
    """
    given = setting.compensation
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
    given = setting.compensation
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
        return inertial_force(setting.compensation, q, found)
    return found


LAWS: dict[str, Callable[..., Demand]] = {
    "feedforward": feedforward,
    "computed_torque": computed_torque,
    "pd_plus_feedforward": pd_plus_feedforward,
    "gravity_compensation": gravity_compensation,
}
# Laws that close the loop themselves: they need gains, and hold with them.
CLOSED = ("computed_torque", "pd_plus_feedforward")


# -- Laws of rigid arms as one compiled call, for loops in which microseconds count ---------------
#
# At a thousand cycles a second other programs empty the caches in between, and a cycle costs what
# its Python calls and small arrays cost, two to three times as much as in a tight loop. The laws
# above are the reference and do all that this does not take: switched-off terms,
# integrals, balancers, motor commands, arrays of other kinds, and every error message.


class CompiledLaw(NamedTuple):
    """A law as its kernel reads it.

    Attributes:
        model: The packed model.
        drives: The packed drives, for friction.
        law: The packed law.
    """

    model: Array
    drives: Array
    law: Array


def compiled_law(
    law: str, setting: Setting, command_type: CommandType, integrating: bool
) -> CompiledLaw | None:
    """Prepare a law for its kernel; None where only Python has it.

    Args:
        law: Its name, or ``hold``.
        setting: Prepared model, gains, continuous joints.
        command_type: What commands are.
        integrating: Whether the gains have an integral part.
    """
    given, gains = setting.compensation, setting.gains
    kinds = {"feedforward": at.FEEDFORWARD, "computed_torque": at.COMPUTED_TORQUE}
    if gains is not None and law == "pd_plus_feedforward":
        kinds[law] = at.PD_FORCE if gains.kind == "torque" else at.PD_ACCELERATION
    if law == "hold":
        forces = gains is None or gains.kind == "torque"
        kinds[law] = at.HOLD_FORCE if forces else at.HOLD_ACCELERATION
    if law not in kinds or command_type != "joint_torque" or integrating or not complete(given):
        return None
    none = np.zeros(given.model.n)
    friction = at.REFERENCE
    if setting.rate == "measured" and law != "feedforward":
        friction = at.MEASURED
    if law == "hold" or not (given.terms.use_friction and given.model.joint_friction.count):
        friction = at.NO_FRICTION
    header = [float(kinds[law]), float(friction), float(given.loaded)]
    kp, kv = (none, none) if gains is None else (gains.kp, gains.kv)
    turns = none if setting.per_turn is None else setting.per_turn
    form = readonly(np.concatenate([header, kp, kv, turns]))
    return CompiledLaw(packed(given.model), packed_drives(given.model), form)


def complete(given: Compensation) -> bool:
    """Whether the force is one recursion of the model itself: all terms but friction are on."""
    on = given.terms
    gravity = on.use_gravity_compensation and not given.balanced
    return given.accelerating and gravity and on.use_coriolis_compensation
