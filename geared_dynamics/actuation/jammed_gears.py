"""Gears that jam while the arm moves: plastic impacts of locked gears.

A gear that locks itself (backdriving efficiency of zero or less) may leave no acceleration while
the arm coasts: the larger the braking torque at the teeth, the larger their friction. Rigid bodies
then stop the gear at once, by an impulse between its rotor and the rotor's carrier, and hold it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.motion_from_torque import BAND, Sticking, sticking
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import finite_input, one_driven_state
from geared_dynamics.dynamics.contact import LockedGear, impact
from geared_dynamics.dynamics.motor_side import motor_speeds
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


class Jam(NamedTuple):
    """What gears that jam do to the arm at one instant.

    Attributes:
        motors: Names of the motors whose gears jam; empty where none does.
        v: Joint velocity afterwards (n,).
        impulse: What each of them gives its rotor's carrier (k,) [N m s].
        loss: Energy lost [J].
        gear_impulse: As of ``contact.impact`` (m,) [N m s], motor side.
        after: What moves and what rests afterwards: ``gd.sticking`` at ``v``.
    """

    motors: tuple[str, ...]
    v: Array
    impulse: Array
    loss: float
    gear_impulse: Array
    after: Sticking


def jam(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    *,
    external: ArrayLike | None = None,
    band: float = BAND,
) -> Jam:
    """Resolve gears that jam: the fewest that leave a motion after they have stopped and hold.

    Where ``gd.sticking`` finds a motion nothing jams. Otherwise sets of self-locking gears that
    turn are tried, one gear before two, those worst to drive back first: each set stops in a
    plastic impact, M dv = Z'P with (Gamma v+) = 0 of its rotors, and counts where ``gd.sticking``
    then finds a motion in which it rests.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity before (n,).
        torque: Electromagnetic torque of each motor (m,) [N m].
        external: Joint force from outside (n,) [N m or N].
        band: Rate within which a joint or a rotor is at rest, in its own units.

    Raises:
        ModelError: naming the motor whose gear jams, where no set leaves a motion.
    """
    options = {"external": external, "band": band}
    checked = {name: finite_input(name, value, model.n) for name, value in (("q", q), ("v", v))}
    position, rate = one_driven_state(checked)
    try:
        found = sticking(model, position, rate, torque, **options)  # type: ignore[arg-type]
        none = np.zeros(len(model.motor_names))
        return Jam((), rate.copy(), np.zeros(0), 0.0, none, found)
    except ModelError as error:
        unsolved = error
    turning = np.abs(motor_speeds(model, rate)) > band
    back = model.motors.efficiency[:, 1]
    worst = [k for k in np.argsort(back, kind="stable") if turning[k] and back[k] <= 0.0]
    for size in range(1, len(worst) + 1):
        for chosen in combinations(worst, size):
            names = tuple(model.motor_names[k] for k in chosen)
            hit = impact(model, [LockedGear(name) for name in names], position, rate)
            after = np.where(np.abs(hit.v) > band, hit.v, 0.0)
            try:
                found = sticking(model, position, after, torque, **options)  # type: ignore[arg-type]
            except ModelError:
                continue
            if set(names) <= set(found.motors):
                return Jam(names, hit.v, hit.impulse, float(hit.loss), hit.gear_impulse, found)
    raise unsolved
