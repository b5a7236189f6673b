"""Alarm: external forces that are more, and last longer, than wrong friction can pretend.

A rotor that turns round under a friction that the model has wrong gets a sudden push that nobody
accounts for. An observer with motors' encoders alone takes it for one on the link, and rings: the
false force is large and changes its sign within some milliseconds. A true force stays. So
``alarm`` compares the instant, and ``alarm_step`` asks for one sign over a time.

A rotor or joint at rest hides, or pretends, any force within its level of friction. So the whole
level raises the threshold there. When it moves off, the observer needs a while to drop what it
had taken for a force: the raise fades over SETTLING times ``lasting``. What friction at one joint
makes of the forces at the others while an observer settles the filter states; DOUBT times that
deviation (``friction``) raises the threshold where it is more.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.dynamics import elastic
from geared_dynamics.model import GearedModel
from geared_dynamics.model.friction import JOINT_SMOOTHING, ROTOR_SMOOTHING, FrictionLaws
from geared_dynamics.observers.border import above_zero, each, one_state, seconds
from geared_dynamics.observers.stiction import largest

SETTLING = 5.0
DOUBT = 1.1


class AlarmState(NamedTuple):
    """State of the alarm, a value.

    Attributes:
        lasted: For how long each joint's force has been beyond the threshold on one side (n,),
            with the sign of the force [s].
        raised: Whether that is long enough (n,).
        hidden: Force that friction at rest may hide or pretend (n,) [N m or N].
    """

    lasted: Array
    raised: BoolArray
    hidden: Array


def alarm_start(model: GearedModel) -> AlarmState:
    """State with no force seen yet."""
    return AlarmState(np.zeros(model.n), np.zeros(model.n, np.bool_), np.zeros(model.n))


def alarm_step(
    model: GearedModel,
    state: AlarmState,
    external: ArrayLike,
    v: ArrayLike,
    vtheta: ArrayLike,
    dt: float,
    *,
    floor: ArrayLike,
    share: float = 0.3,
    lasting: float = 0.01,
    hold: float = 0.05,
    friction: ArrayLike | None = None,
) -> AlarmState:
    """State after dt: raised where the force stays beyond the threshold of ``alarm``, one sign.

    Args:
        model: Geared model with elastic joints.
        state: Before.
        external: External force (n,) [N m or N].
        v: Joint velocity (n,).
        vtheta: Velocity of the shafts behind the springs (n_e,).
        dt: Since the step before [s]; one that is no time above zero changes nothing.
        floor: Of the threshold (n,) or one [N m or N].
        share: How far the friction may be off, as a part of it; 0 leaves friction out.
        lasting: For how long a force must stay beyond [s]: half a period of the observer's
            ringing. The default fits the Kalman filter's default bandwidth of 30 Hz; at
            another, scale it inversely. One instant alone raises nothing, unless this is zero.
        hold: After a longer step nobody knows what the force did: the time starts anew [s].
        friction: What friction at rest leaves open of the force, standard deviation (n,) [N m or
            N]: ``KalmanState.friction_deviations[2N:2N + n]``; unused where ``share`` is 0.
    """
    lasting = above_zero("lasting", lasting, "a time [s]", zero=True)
    dt, hold = seconds("dt", dt), above_zero("hold", hold, "a time [s]")
    force = one_state("external", external, model.n)
    least = each("floor", floor, model.n, "a force [N m or N]", zero=True)
    share = above_zero("share", share, "a part of the friction", zero=True)
    v = one_state("v", v, model.n)
    vtheta = one_state("vtheta", vtheta, model.elasticity.count)
    if not 0.0 < dt < np.inf:
        return state
    fading = exp(-dt / (SETTLING * lasting)) if lasting > 0.0 else 0.0
    hidden = np.maximum(stiction(model, v, vtheta, share), fading * state.hidden)
    open_ = hidden
    if friction is not None and share > 0.0:
        stated = each("friction", friction, model.n, "a deviation [N m or N]", zero=True)
        open_ = np.maximum(hidden, DOUBT * stated)
    size = np.abs(force)
    side = np.sign(force) * (size > least)
    if side.any():  # friction only raises the threshold: most instants do without
        side = np.sign(force) * (size > moving_threshold(model, v, vtheta, floor, share) + open_)
    went_on = (side * state.lasted > 0.0) & (dt <= hold)
    first = min(dt, 0.5 * lasting) if dt <= hold else 0.0
    lasted = np.where(went_on, state.lasted + side * dt, side * first)
    # Sums of dt round: a thousandth of a step must not cost a whole one.
    raised = (side != 0.0) & (np.abs(lasted) >= lasting - 1e-3 * min(dt, lasting))
    return AlarmState(np.asarray(lasted), np.asarray(raised), hidden)


def alarm(
    model: GearedModel,
    external: ArrayLike,
    v: ArrayLike,
    vtheta: ArrayLike,
    *,
    floor: ArrayLike,
    share: float = 0.3,
) -> BoolArray:
    """Whether the external force of each joint is more than friction can pretend (n,), now.

    The threshold is floor + share * |friction of joint and motor at this speed|, on the joint;
    Coulomb friction counts in full at any speed. What is at rest adds its whole level.

    Args:
        model: Geared model with elastic joints.
        external: External force (n,) [N m or N].
        v: Joint velocity (n,).
        vtheta: Velocity of the shafts behind the springs (n_e,).
        floor: Of the threshold (n,) or one [N m or N].
        share: How far the friction may be off, as a part of it; 0 leaves friction out.
    """
    force = one_state("external", external, model.n)
    return np.asarray(np.abs(force) > threshold(model, v, vtheta, floor, share))


def threshold(
    model: GearedModel, v: ArrayLike, vtheta: ArrayLike, floor: ArrayLike, share: float
) -> Array:
    """Least force (n,) that is more than friction at this speed, on the joint [N m or N]."""
    moving = moving_threshold(model, v, vtheta, floor, share)
    return np.asarray(moving + stiction(model, v, vtheta, share))


def moving_threshold(
    model: GearedModel, v: ArrayLike, vtheta: ArrayLike, floor: ArrayLike, share: float
) -> Array:
    """Floor and share of the friction at this speed (n,), on the joint [N m or N]."""
    least = each("floor", floor, model.n, "a force [N m or N]", zero=True)
    share = above_zero("share", share, "a part of the friction", zero=True)
    v = one_state("v", v, model.n)
    vtheta = one_state("vtheta", vtheta, model.elasticity.count)
    return np.asarray(least + share * on_joints(model, *friction_levels(model, v, vtheta)))


def stiction(model: GearedModel, v: ArrayLike, vtheta: ArrayLike, share: float) -> Array:
    """Level of the friction of what is at rest (n,), on the joint [N m or N].

    It fades with the speed as smooth friction comes up, 1 - |tanh(speed / smoothing)|.
    """
    joints, rotors = model.joint_friction, model.motors.friction
    if share == 0.0 or not joints.count + rotors.count:
        return np.zeros(model.n)
    v, vtheta = np.asarray(v, np.float64), np.asarray(vtheta, np.float64)
    A = elastic.structure_matrix(model)
    speeds = np.concatenate([v, vtheta]) @ A
    return on_joints(
        model,
        at_rest(joints, v, JOINT_SMOOTHING, model.n),
        at_rest(rotors, speeds, ROTOR_SMOOTHING, len(speeds)),
    )


def at_rest(laws: FrictionLaws, rates: Array, usual: float, width: int) -> Array:
    """Levels of the laws at rest, at their joints or motors (width,)."""
    smoothing = np.where(laws.smoothing > 0.0, laws.smoothing, usual)
    still = 1.0 - np.abs(np.tanh(laws.multiplier * rates[laws.index] / smoothing))
    found = np.zeros(width)
    np.add.at(found, laws.index, np.abs(laws.multiplier) * largest(laws) * still)
    return found


def on_joints(model: GearedModel, joints: Array, rotors: Array) -> Array:
    """Friction of joints (n,) and rotors (m,), all as magnitudes, on the joints (n,)."""
    both = np.abs(elastic.structure_matrix(model)) @ rotors
    through = np.abs(model.elasticity.rigid.T) @ both[model.n :]
    return np.asarray(joints + both[: model.n] + through)


def friction_levels(model: GearedModel, v: ArrayLike, vtheta: ArrayLike) -> tuple[Array, Array]:
    """Magnitudes of joints' (n,) and rotors' (m,) friction as if all were just moving off."""
    joints, rotors = elastic.friction_forces(model, v, vtheta)
    for laws, levels in ((model.joint_friction, joints), (model.motors.friction, rotors)):
        np.abs(levels, out=levels)
        np.maximum.at(levels, laws.index, np.abs(laws.multiplier) * largest(laws))
    return joints, rotors
