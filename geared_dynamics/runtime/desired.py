"""What a law is given: the reference at two instants, and the state of arms with springs."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control import Controller, ElasticController, Reference
from geared_dynamics.dynamics.state import State
from geared_dynamics.runtime.acceptance import Pace
from geared_dynamics.runtime.feedforward_settings import AnyController
from geared_dynamics.trajectory import Reference as Motion
from geared_dynamics.trajectory import SampleBuffer, derivatives


def behind(control: ElasticController, y: Array, rate: Array) -> State:
    """State of an elastic arm from what was measured, of joints or motors, as joints.

    Args:
        control: The law.
        y: Position (n,): of the joints, or of the motors turned to the joints' side.
        rate: Its rate (n,).
    """
    n, found = control.model.n, control.driven
    if control.feedback == "joint":
        return State(y, rate)
    x, dx = np.zeros((2, n + control.model.elasticity.count))
    x[found.rows], dx[found.rows] = found.rigid @ y, found.rigid @ rate
    return State(x[:n], dx[:n], x[n:], dx[n:])


def standing(control: AnyController, now: SampleBuffer, ahead: SampleBuffer) -> Reference | None:
    """What the law compares with now, and what it feeds forward one period ahead.

    The same memory in every cycle, made once; None where a cycle needs more, see ``complete``.

    Args:
        control: The law.
        now: Where the reference at the time of a cycle is written.
        ahead: Where that one period later is.
    """
    if not isinstance(control, Controller):
        return None
    return None if with_jerk(control) else chosen(control, now, ahead, None)


def complete(
    control: AnyController,
    motion: Motion,
    t: float,
    now: SampleBuffer,
    ahead: SampleBuffer,
    pace: Pace,
) -> Reference:
    """The reference with the derivatives that springs and windings need.

    Args:
        control: The law.
        motion: The whole reference.
        t: Time for which a command is computed, along the motion [s].
        now: The reference at the time of the cycle.
        ahead: At ``t``.
        pace: How fast time goes along the motion; ``now`` and ``ahead`` count it already.
    """
    if isinstance(control, ElasticController):
        rows = pace.slow_rows(derivatives(motion, t, control.derivatives_needed))
        return Reference(ahead.q, ahead.v, ahead.a, None, rows)
    return chosen(control, now, ahead, pace.slow_rows(derivatives(motion, t, 3))[3])


def with_jerk(control: Controller) -> bool:
    """Whether a command depends on the reference's jerk."""
    return control.drives.wound and control.side == "motor_voltage"


def chosen(
    control: Controller, now: SampleBuffer, ahead: SampleBuffer, jerk: Array | None
) -> Reference:
    """The instants that a rigid arm's law reads."""
    if control.law == "computed_torque":
        return Reference(now.q, now.v, ahead.a, jerk)
    point = now if control.law == "pd_plus_feedforward" else ahead
    return Reference(point.q, point.v, point.a, jerk)
