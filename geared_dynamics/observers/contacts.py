"""Contacts from estimated external forces: an alarm, and the wrench at a frame."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.checks import warn_former
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import above_zero, each, finite_input, one_state, seconds
from geared_dynamics.dynamics.frames import jacobian
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import JOINT_SMOOTHING, ROTOR_SMOOTHING, FrictionLaws
from geared_dynamics.observers.standing import largest

# -- Alarm: external forces that are more, and last longer, than wrong friction can pretend -------
#
# A rotor that turns round under a friction that the model has wrong gets a sudden push that
# is not modelled. An observer with motors' encoders alone takes it for one on the link, and
# rings: the false force is large and changes its sign within some milliseconds. A true force
# stays. So ``alarm`` compares the instant, and ``alarm_step`` asks for one sign over a time.
#
# A rotor or joint at rest hides, or pretends, any force within its level of friction. So the
# whole level raises the threshold there. When it moves off, the observer needs a while to drop
# what it had taken for a force: the raise fades over SETTLING times ``lasting``. What friction at
# one joint makes of the forces at the others while an observer settles the filter states; DOUBT
# times that deviation (``friction``) raises the threshold where it is more.


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
        vtheta: Velocity of the motor side of the springs (n_e,).
        dt: Since the step before [s]; one that is no time above zero changes nothing.
        floor: Of the threshold (n,) or one [N m or N].
        share: How far the friction may be off, as a part of it; 0 leaves friction out.
        lasting: For how long a force must stay beyond [s]: half a period of the observer's
            ringing. The default fits the Kalman filter's default bandwidth of 30 Hz; at
            another, scale it inversely. One instant alone raises nothing, unless this is zero.
        hold: After a longer step the force in between is not known: the time starts again [s].
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
        vtheta: Velocity of the motor side of the springs (n_e,).
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


def friction_levels(model: GearedModel, v: Array, vtheta: Array) -> tuple[Array, Array]:
    """Magnitudes of joints' (n,) and rotors' (m,) friction as if all were just moving off."""
    zero = State(np.zeros(model.n), v, np.zeros(model.elasticity.count), vtheta)
    joints, rotors = elastic.friction_forces(model, zero)
    for laws, levels in ((model.joint_friction, joints), (model.motors.friction, rotors)):
        np.abs(levels, out=levels)
        np.maximum.at(levels, laws.index, np.abs(laws.multiplier) * largest(laws))
    return joints, rotors


# -- Force and moment of a contact at a stated frame, from external forces on the joints ----------


LEAST = 1e-6  # of the largest singular value: what is below is not seen
ACROSS = 1e-6  # part of a component that may lie across what is seen


class ContactWrench(NamedTuple):
    """A contact at the origin of a frame.

    ``force`` and ``moment`` are of least norm: where ``directions`` is not the whole space, their
    components may be of that and not of the contact. ``components`` has NaN there.

    Attributes:
        force: In root axes (3,) [N].
        moment: In root axes, about the frame's origin (3,) [N m]; zero if not asked for.
        covariance: Of both (6, 6), within the directions.
        directions: Orthonormal directions of (force, moment / length) that the joints feel
            (6, rank): what is across them is not in the estimate. Rank 6 sees everything;
            without a moment, rank 3.
        residual: External force on the joints that no contact there explains (n,).
        turning: Whether a moment was asked for; if not, it is zero by the caller's word.
    """

    force: Array
    moment: Array
    covariance: Array
    directions: Array
    residual: Array
    turning: bool = True

    @property
    def seen(self) -> Array:
        """Former name of ``directions``."""
        warn_former("ContactWrench.seen", "directions")
        return self.directions

    def told(self, axes: ArrayLike | None = None) -> Array:
        """Former name of ``components``."""
        warn_former("ContactWrench.told", "components")
        return self.components(axes)

    @property
    def rank(self) -> int:
        """How many directions the joints feel."""
        return int(self.directions.shape[1])

    def determined(self, axes: ArrayLike | None = None) -> BoolArray:
        """Which components (6,) the joints tell: those whose unit vector lies in what is seen.

        Args:
            axes: Rotation (3, 3) from the axes of the components to root's; root's if not given.
        """
        turned = _both(axes).T @ self.directions
        across = 1.0 - np.sum(turned**2, axis=1)
        known = across <= ACROSS**2
        if not self.turning:
            known[3:] = True
        return np.asarray(known)

    def components(self, axes: ArrayLike | None = None) -> Array:
        """Force and moment (6,), NaN where the joints do not tell the component.

        Args:
            axes: Rotation (3, 3) from the axes wanted to root's, as of ``gd.pose``; root's if
                not given.
        """
        wrench = _both(axes).T @ np.concatenate([self.force, self.moment])
        wrench[~self.determined(axes)] = np.nan
        return np.asarray(wrench)


def _both(axes: ArrayLike | None) -> Array:
    """Rotation (6, 6) of force and moment, from (3, 3)."""
    R = np.eye(3) if axes is None else finite_input("axes", axes, 3)
    if R.shape != (3, 3) or not np.allclose(R.T @ R, np.eye(3), rtol=0.0, atol=1e-6):
        raise ArrayError("axes", "is not a rotation matrix", "give an orthogonal matrix (3, 3)")
    return np.asarray(np.kron(np.eye(2), R), np.float64)


def contact_wrench(
    model: GearedModel,
    q: ArrayLike,
    external: ArrayLike,
    frame: str,
    *,
    covariance: ArrayLike | None = None,
    moment: bool = True,
    length: float = 0.1,
) -> ContactWrench:
    r"""Wrench f with J' f = external force, by weighted least squares, of least norm.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        external: External force on the joints (n,) [N m or N].
        frame: Link at whose origin the contact is.
        covariance: Of the external force (n, n): its inverse weighs; equal weights if not
            given.
        moment: Whether the contact may pass a moment. An arm of three joints sees a force
            only without one.
        length: By which moments are divided so that they compare with forces [m].
    """
    n = model.n
    force = one_state("external", external, n)
    length = above_zero("length", length, "a length [m]")
    whiten = np.eye(n) if covariance is None else whitening(covariance, n)
    scale = np.array([1.0, 1.0, 1.0, length, length, length])
    J = jacobian(model, one_state("q", q, n), frame) * scale[:, None]
    if not moment:
        J[3:] = 0.0
    _, values, vt = np.linalg.svd(J.T, full_matrices=False)
    rank = int(np.sum(values > LEAST * max(values[0], np.finfo(float).tiny)))
    seen = vt[:rank].T
    # Where the wrench lies within what is seen, there is one least-squares solution.
    u, s, wt = np.linalg.svd(whiten @ J.T @ seen, full_matrices=False)
    shape = seen @ wt.T / s
    found = shape @ (u.T @ (whiten @ force))
    wrench = found * scale
    return ContactWrench(
        force=wrench[:3],
        moment=wrench[3:],
        covariance=shape @ shape.T * np.outer(scale, scale),
        directions=seen,
        residual=force - J.T @ found,
        turning=moment,
    )


def whitening(covariance: ArrayLike, n: int) -> Array:
    """L^-1 (n, n) of a covariance L L'."""
    P = finite_input("covariance", covariance, n)
    remedy = "give a symmetric, positive definite matrix"
    if P.shape != (n, n):
        raise ArrayError("covariance", f"has shape {P.shape}", f"give shape ({n}, {n})")
    if np.abs(P - P.T).max() > 1e-9 * np.abs(P).max():
        raise ArrayError("covariance", "is not symmetric", remedy)
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(P)))
    except np.linalg.LinAlgError:
        raise ArrayError("covariance", "is not positive definite", remedy) from None
