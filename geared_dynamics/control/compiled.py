"""Laws of rigid arms as one compiled call, for loops in which microseconds count.

At a thousand cycles a second other programs empty the caches in between, and a cycle costs what
its Python calls and small arrays cost, two to three times as much as in a tight loop. The laws
in ``laws.py`` are the reference and do all that this does not take: switched-off terms,
integrals, balancers, motor commands, arrays of other kinds, and every error message.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.compensation import Compensation
from geared_dynamics.control.laws import Setting
from geared_dynamics.control.values import Reference, Side, State
from geared_dynamics.dynamics.drives import packed_drives
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import law_layout as at


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


def compiled_law(law: str, setting: Setting, side: Side, integrating: bool) -> CompiledLaw | None:
    """Prepare a law for ``compiled_command``; None where only Python has it.

    Args:
        law: Its name.
        setting: Prepared model, gains, continuous joints.
        side: What commands are.
        integrating: Whether the gains have an integral part.
    """
    given, gains = setting.given, setting.gains
    kinds = {"feedforward": at.FEEDFORWARD, "computed_torque": at.COMPUTED_TORQUE}
    if gains is not None and law == "pd_plus_feedforward":
        kinds[law] = at.PD_FORCE if gains.kind == "torque" else at.PD_ACCELERATION
    if law not in kinds or side != "joint_torque" or integrating or not complete(given):
        return None
    none = np.zeros(given.model.n)
    friction = at.REFERENCE
    if setting.rate == "measured" and law != "feedforward":
        friction = at.MEASURED
    if not (given.terms.use_friction and given.model.joint_friction.count):
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


def compiled_command(made: CompiledLaw, state: State, reference: Reference) -> Array | None:
    """The law's joint force (n,) [N m or N]; None where Python has to look at the arguments.

    Args:
        made: The prepared law.
        state: Measured state.
        reference: Wanted motion.
    """
    wanted, rate, a, jerk, _ = reference
    if jerk is not None:  # not read, but to be checked
        return None
    try:
        result = np.empty(wanted.shape)
        status = kernels.control_law(*made, state.q, state.v, wanted, rate, a, result)
    except kernels.NOT_TAKEN:
        return None
    return None if status else result
