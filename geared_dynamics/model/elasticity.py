"""Elastic joints: springs, coordinates behind them, and those that no mechanism could have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geared_dynamics.arrays import (
    Array,
    Frozen,
    IntArray,
    readonly,
    readonly_int,
    refuse_too_large,
)
from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    JointDriveRecord,
    ShaftSpringRecord,
)
from geared_dynamics.errors import ModelError, Note, UnknownNameError
from geared_dynamics.model.facts import Follow

# -- Springs inside drives: a coordinate of its own for what hangs on the motor's side ------------


# Of two wheels' ratios, relative: written with ten digits or more they agree.
ROUNDED = 1e-9


def hang_shafts(
    drivetrain: DrivetrainRecord, wheels: list[str], spin: Array, whole: Array
) -> tuple[list[ShaftSpringRecord], Array, Array]:
    """Let wheels on the motor's side of a spring follow a coordinate of their own.

    Args:
        drivetrain: Records.
        wheels: Names of the wheels (w,).
        spin: Gamma (w, n), all springs stiff.
        whole: Gamma of (q, theta of the elastic joints) (w, n + k).

    Returns:
        The springs whose shafts move (t of them; those of frozen joints do not), Gamma with
        a column more for each (w, n + k + t), and their stretches (t, n + k + t): the first
        shaft's angle less its ratio times the second's.
    """
    acting, ratios, groups = [], [], []
    owner: dict[int, str] = {}
    for spring in drivetrain.springs:
        place = f"{drivetrain.source}, springs.{spring.name}"
        first, second, *others = (
            index_of(name, wheels, place)
            for name in (spring.motor_side, spring.link_side, *spring.others)
        )
        group = {r: ratio(spin, r, first, wheels, place) for r in (first, *others)}
        ratios_to_second = ratio(spin, first, second, wheels, place)
        if second in group:
            finding = f"wheel {wheels[second]!r} is on both sides of the spring"
            raise ModelError(f"{place}.with", finding, "name each wheel on one side only")
        for r in group:
            if r in owner:
                finding = (
                    f"wheel {wheels[r]!r} is on the motor side of spring {owner[r]!r} already"
                )
                raise ModelError(place, finding, "name each wheel at one spring only")
            owner[r] = spring.name
        if spin[first].any():
            acting.append(spring)
            groups.append(group)
            ratios.append((first, second, ratios_to_second))
    found = np.hstack([whole, np.zeros((len(wheels), len(acting)))])
    for k, group in enumerate(groups):
        for r, factor in group.items():
            found[r] = 0.0
            found[r, whole.shape[1] + k] = factor
    rows = [found[first] - factor * found[second] for first, second, factor in ratios]
    return acting, found, np.reshape(rows, (len(acting), found.shape[1]))


def shaft_doubts(drivetrain: DrivetrainRecord) -> list[Note]:
    """Doubts about each spring with no motor on the side named first.

    The first wheel and those under ``with`` follow the spring's own coordinate. Without a
    motor there, neither directly nor through a further spring, they hang on the drive like a
    disc on a soft shaft, which the file can mean; more often its ends are swapped.
    """
    springs = drivetrain.springs
    behind = {s.name: {s.motor_side, *s.others} for s in springs}
    for _ in springs:
        for spring in springs:
            for other in springs:
                if other.link_side in behind[spring.name]:
                    behind[spring.name] |= behind[other.name]
    motors = {motor.wheel: motor.name for motor in drivetrain.motors}
    found = []
    for spring in springs if motors else ():
        if behind[spring.name] & motors.keys():
            continue
        first, second = spring.motor_side, spring.link_side
        finding = f"no motor drives its motor side, {first!r}"
        remedy = f"name the motor's wheel first, between: [{second}, {first}], or under 'with:'"
        if second in motors:
            finding += f"; motor {motors[second]!r} drives {second!r}, on its link side"
        found.append(Note(f"{drivetrain.source}, springs.{spring.name}", finding, remedy))
    return found


def index_of(name: str, wheels: list[str], place: str) -> int:
    """Index of a wheel by its name."""
    if name not in wheels:
        raise UnknownNameError(place, "wheel", name, wheels)
    return wheels.index(name)


def ratio(spin: Array, of: int, to: int, wheels: list[str], place: str) -> float:
    """Spin of one wheel per spin of another, the same in every motion of the joints."""
    ours, theirs = spin[of], spin[to]
    d = int(np.argmax(np.abs(theirs)))
    if not ours.any() and not theirs.any():
        return 1.0  # of frozen joints
    if theirs[d] != 0.0 and ours.any():
        factor = float(ours[d] / theirs[d])
        if np.all(np.abs(ours - factor * theirs) <= ROUNDED * np.abs(ours).max()):
            return factor
    finding = f"wheels {wheels[of]!r} and {wheels[to]!r} do not turn in a fixed ratio"
    remedy = "name two wheels of one drive, which turn alike when the spring is stiff"
    raise ModelError(place, finding, remedy)


# -- Elastic joints: their motor-side coordinates, and which side each wheel follows --------------


SOFTEST = 1e-30  # so that the compliance is no larger than ``refuse_too_large`` lets anything be

ElasticModel = Literal["complete", "uncoupled", "spong_truncated"]


@dataclass(frozen=True, eq=False)
class Elasticity(Frozen):
    """Coordinates x = (q, theta), sizes n and n_e, and the springs between them, s of them.

    theta is first, for each elastic joint, the motor side of its spring on the joint's scale,
    then, for each spring inside a drive, its motor-side shaft's angle. With all springs at
    rest theta = E q. A spring's stretch is z = P x - rest, its tension K z + D z' (with a gap,
    of what z exceeds it), and its force on x is -P' times that.

    Attributes:
        names: Names of theta (n_e,).
        joint: Coordinates in q of the elastic joints, theta's first entries.
        passive: Coordinates that no motor is meant to move (p,).
        rigid: E (n_e, n).
        link_spin: Gamma_q (w, n), spin of the wheels per joint rate [1 or rad/m].
        shaft_spin: Gamma_theta (w, n_e), per rate of theta.
        stretch: P (s, n + n_e); the last rows are the drives' springs.
        stiffness: K (s,) [N m/rad or N/m].
        damping: D (s,) [N m s/rad or N s/m].
        rest: Value of P x at which there is no force (s,) [rad or m].
        gap: Half the backlash (s,) [rad or m].
    """

    names: tuple[str, ...]
    joint: IntArray
    passive: IntArray
    rigid: Array
    link_spin: Array
    shaft_spin: Array
    stretch: Array
    stiffness: Array
    damping: Array
    rest: Array
    gap: Array

    @property
    def count(self) -> int:
        """Number of coordinates theta, n_e."""
        return len(self.names)


def build_elasticity(
    drivetrain: DrivetrainRecord,
    follow: Mapping[str, Follow],
    spin: Array,
    joint_names: tuple[str, ...],
) -> Elasticity:
    """Give each spring its coordinate, and that to the wheels on its motor side.

    A spring declared on a mimic joint acts on the leader's coordinate, as its friction does.

    Args:
        drivetrain: Records, gear trains solved.
        follow: How movable joints follow coordinates; springs of others have no effect.
        spin: Gamma (w, n), all joints rigid.
        joint_names: Coordinates q (n,).
    """
    n = spin.shape[1]
    moving = [joint for joint in drivetrain.joints if joint.name in follow]
    springs = [joint for joint in moving if joint.stiffness is not None]
    joint = sorted({follow[s.name].dof for s in springs if not s.passive})
    wheels = [wheel.name for wheel in drivetrain.wheels]
    motor_side = np.array([wheel.side == "motor" for wheel in drivetrain.wheels], bool)
    whole = np.hstack([spin, np.where(motor_side[:, None], spin[:, joint], 0.0)])
    whole[:, joint] -= whole[:, n:]
    acting, whole, between = hang_shafts(drivetrain, wheels, spin, whole)
    rows = [stretch(spring, follow[spring.name], joint, n) for spring in springs]
    wide = np.zeros((len(rows) + len(acting), whole.shape[1]))
    wide[: len(rows), : n + len(joint)] = np.reshape(rows, (-1, n + len(joint)))
    wide[len(rows) :] = between
    laws = [law(s, f"{drivetrain.source}, joints.{s.name}", follow[s.name]) for s in springs]
    laws += [law(s, f"{drivetrain.source}, springs.{s.name}") for s in acting]
    stiffness, damping, rest, gap = np.reshape(laws, (-1, 4)).T
    first = [wheels.index(s.motor_side) for s in acting]
    named = [joint_names[j] for j in joint] + [s.name for s in acting]
    return Elasticity(
        names=tuple(f"{name}.theta" for name in named),
        joint=readonly_int(joint),
        passive=readonly_int(sorted({follow[j.name].dof for j in moving if j.passive})),
        rigid=readonly(np.vstack([np.eye(n)[joint], spin[first]])),
        link_spin=readonly(whole[:, :n]),
        shaft_spin=readonly(whole[:, n:]),
        stretch=readonly(wide),
        stiffness=readonly(stiffness),
        damping=readonly(damping),
        rest=readonly(rest),
        gap=readonly(gap),
    )


def stretch(spring: JointDriveRecord, motion: Follow, joint: list[int], n: int) -> Array:
    """Row of P: theta_j - q_j, and q_j for a passive joint, times a mimic's multiplier."""
    row = np.zeros(n + len(joint))
    if spring.passive:
        row[motion.dof] = motion.multiplier
    else:
        row[n + joint.index(motion.dof)] = motion.multiplier
        row[motion.dof] = -motion.multiplier
    return row


def law(
    spring: JointDriveRecord | ShaftSpringRecord, place: str, motion: Follow | None = None
) -> list[float]:
    """Stiffness, damping, rest (of the coordinate, as a passive joint's is) and gap."""
    rest = 0.0
    if isinstance(spring, JointDriveRecord) and spring.passive and motion is not None:
        rest = spring.rest - motion.offset
    values = [spring.stiffness or 0.0, spring.damping or 0.0, rest, 0.5 * spring.backlash]
    for value in values:
        refuse_too_large(value, place)
    if not values[0] >= SOFTEST:
        finding = f"{values[0]:g} is too small a stiffness"
        remedy = f"write it in SI units; no spring has one below {SOFTEST:g}"
        raise ModelError(f"{place}.stiffness", finding, remedy)
    return values


# -- Elastic joints that no mechanism could have, refused by the joint's name ---------------------


# Smallest eigenvalue of B scaled to a unit diagonal that is more than rounding.
REGULAR = 1e-12


def refuse_loose_shafts(
    elastic: Elasticity,
    inertia: Array,
    turned: list[int],
    names: tuple[str, ...],
    drivetrain: DrivetrainRecord,
) -> None:
    """Raise where a shaft has no inertia or no motor, a joint no motor, or a passive one one.

    Args:
        elastic: The elastic joints.
        inertia: J of the wheels (w,).
        turned: Wheels that the motors turn (m,).
        names: Coordinates q (n,).
        drivetrain: Records, for places.
    """
    refuse_massless_shafts(elastic, inertia, drivetrain.source)
    if turned:  # without any motor it is a mechanism to look at, not one to drive
        refuse_undriven(elastic, turned, drivetrain.source)
        refuse_undriven_rigid(elastic, turned, names, drivetrain.source)
    refuse_driven_passive(elastic, turned, names, drivetrain)


def labels(elastic: Elasticity, source: str) -> list[tuple[str, str]]:
    """Place and name of the spring before each theta (n_e,)."""
    springs = [name.removesuffix(".theta") for name in elastic.names]
    return [
        (f"{source}, joints.{name}.stiffness", f"the spring of joint {name!r}")
        if k < len(elastic.joint)
        else (f"{source}, springs.{name}", f"spring {name!r}")
        for k, name in enumerate(springs)
    ]


def refuse_massless_shafts(elastic: Elasticity, inertia: Array, source: str) -> None:
    """Raise unless B = Gamma_theta' J Gamma_theta is positive definite."""
    B = elastic.shaft_spin.T @ (inertia[:, None] * elastic.shaft_spin)
    diagonal = np.diag(B)
    springs = labels(elastic, source)
    remedy = "give each spring a wheel with inertia on its motor side, or no stiffness"
    for (place, spring), value in zip(springs, diagonal, strict=True):
        if not value > 0.0:
            raise ModelError(
                place, f"no wheel with inertia is on the motor side of {spring}", remedy
            )
    if not springs:
        return
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(B * scale[:, None] * scale)
    if values[0] < REGULAR:
        along = np.abs(vectors[:, 0])
        some = [spring for (_, spring), x in zip(springs, along, strict=True) if x > 0.1]
        finding = f"the motor side of {', '.join(some)} has fewer wheels with inertia than springs"
        raise ModelError(f"{source}, joints", finding, remedy)


def refuse_undriven(elastic: Elasticity, turned: list[int], source: str) -> None:
    """Raise where no motor turns a joint's shaft, neither directly nor through other springs."""
    n = elastic.link_spin.shape[1]
    driven = np.any(elastic.shaft_spin[turned] != 0.0, axis=0)
    drives = elastic.stretch[len(elastic.stiffness) - elastic.count + len(elastic.joint) :, n:]
    for _ in drives:
        for touched in drives != 0.0:
            if np.any(driven & touched):
                driven = driven | touched
    joints = labels(elastic, source)[: len(elastic.joint)]
    for (place, spring), moved in zip(joints, driven[: len(joints)], strict=True):
        if not moved:
            finding = f"no motor drives the motor side of {spring}"
            remedy = "add its motor, or set passive: true for the joint"
            raise ModelError(place, finding, remedy)


def refuse_undriven_rigid(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], source: str
) -> None:
    """Raise where an arm with springs has a rigid joint that no motor turns, unless passive."""
    if not elastic.stiffness.size:
        return  # a rigid arm: its functions need no motors
    spin = whole_spin(elastic)[turned]
    for j, name in enumerate(names):
        if not np.any(spin[:, j]) and j not in elastic.passive:
            place = f"{source}, joints.{name}"
            finding = f"no motor drives joint {name!r}, and it is not declared passive"
            remedy = f"add its motor, or set joints.{name}.passive: true (a free joint)"
            raise ModelError(place, finding, remedy)


def whole_spin(elastic: Elasticity) -> Array:
    """Gamma (w, n) with all springs stiff."""
    return np.asarray(elastic.link_spin + elastic.shaft_spin @ elastic.rigid)


def refuse_driven_passive(
    elastic: Elasticity, turned: list[int], names: tuple[str, ...], drivetrain: DrivetrainRecord
) -> None:
    """Raise where a motor turns with a joint that is declared passive."""
    spin = whole_spin(elastic)
    for j in elastic.passive:
        place = f"{drivetrain.source}, joints.{names[j]}.passive"
        if j in elastic.joint:  # by a joint that mimics another
            finding = f"joint {names[j]!r} is passive, but a joint with a drive spring mimics it"
            raise ModelError(place, finding, "declare the joint and its mimics in the same way")
        for motor, wheel in zip(drivetrain.motors, turned, strict=True):
            if spin[wheel, j] != 0.0:
                finding = f"joint {names[j]!r} is passive, and motor {motor.name!r} turns with it"
                raise ModelError(place, finding, "remove one of the two")
