"""What follows from a model's fields: forms for kernels, springs as coordinates, what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, readonly, readonly_bool, readonly_int
from geared_dynamics.model.drive_arrays import FrictionLaws, Motors
from geared_dynamics.model.elasticity import Elasticity, ElasticModel
from geared_dynamics.model.facts import Tree, Wheels

# -- The forms in which kernels read a model ------------------------------------------------------


@dataclass(eq=False)
class KernelForms:
    """A model in the forms that kernels read, made at first use by the room named dynamics.

    It follows from the model's fields, is read-only, and belongs to ``dynamics`` and ``trace``.

    Attributes:
        without_parameters: The packed model without its bodies' parameters (packing).
        plan: The order of elimination (elimination_plan).
        frames: Links and wheels by name (packing).
        drives: Motors, friction and the gears' losses (dynamics.drives).
        balancers: Springs between links (packing).
        springs: Springs of elastic joints (elastic.equations).
        packed: The packed model (packing); it and what follows depend on bodies' parameters.
        extended: The arm with a coordinate more for each elastic joint (``with_springs``).
        flatness: Plans of its feedforwards by method and order (elastic.flatness).
        tapes: Functions with their derivatives as tapes, by name (trace.joined).
    """

    without_parameters: Array | None = None
    plan: Array | None = None
    frames: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    drives: Array | None = None
    balancers: Array | None = None
    springs: Array | None = None
    packed: Array | None = None
    extended: object = None
    flatness: dict[object, object] = field(default_factory=dict)
    tapes: dict[str, Array] = field(default_factory=dict)

    def of_shape(self) -> KernelForms:
        """Return those that do not depend on the bodies' parameters."""
        return replace(self, packed=None, extended=None, flatness={}, tapes={})


# -- The arm with a coordinate more for each elastic joint: x = (q, theta) ------------------------
#
# The tree's bodies follow q, the wheels q and theta, so that the mass matrix of such a model is H.


def with_shafts(
    tree: Tree, wheels: Wheels, elastic: Elasticity, kind: ElasticModel, root: str
) -> tuple[Tree, Wheels, Elasticity]:
    """Let the wheels follow the motor side of the springs, and drop the springs.

    Args:
        tree: Bodies of the arm.
        wheels: Its wheels.
        elastic: Its springs.
        kind: Which coupling of links and rotors counts.
        root: Name of the root link.
    """
    if kind == "complete":
        spin = np.hstack([elastic.link_spin, elastic.shaft_spin])
        moved = replace(wheels, spin=readonly(spin))
    else:
        moved = separated(wheels, elastic, kind, root)
    if kind == "spong_truncated":
        tree = without_rotor_tensors(tree, wheels, elastic)
    none = readonly([])
    rigid = replace(
        elastic,
        names=(),
        joint=readonly_int([]),
        stretch=readonly(np.zeros((0, elastic.stretch.shape[1]))),
        stiffness=none,
        damping=none,
        rest=none,
        gap=none,
    )
    return tree, moved, rigid


def behind_springs(elastic: Elasticity) -> BoolArray:
    """Whether each wheel follows the motor side of a spring (w,)."""
    return np.asarray(np.any(elastic.shaft_spin != 0.0, axis=1))


def separated(wheels: Wheels, elastic: Elasticity, kind: ElasticModel, root: str) -> Wheels:
    """Split each wheel on a motor side in two: one follows q, one theta and feels no carrier.

    The kinetic energy is then J (Gamma_q v)^2 / 2 + J (Gamma_q v)(Z v) + J (Gamma_theta
    theta')^2 / 2, so that S = 0; ``spong_truncated`` leaves out the second term as well.
    """
    behind, n = behind_springs(elastic), elastic.link_spin.shape[1]
    count, names = int(behind.sum()), np.array(wheels.names, object)[behind]
    none = np.zeros((len(wheels.names), elastic.count))
    spin = np.vstack(
        [
            np.hstack([elastic.link_spin, none]),
            np.hstack([np.zeros((count, n)), elastic.shaft_spin[behind]]),
        ]
    )
    carrier = wheels.carrier.copy()
    if kind == "spong_truncated":
        carrier[behind] = -1
    return replace(
        wheels,
        names=wheels.names + tuple(f"{name}.theta" for name in names),
        carrier=readonly_int([*carrier, *[-1] * count]),
        axis=readonly(np.vstack([wheels.axis, wheels.axis[behind]])),
        position=readonly(np.vstack([wheels.position, wheels.position[behind]])),
        inertia=readonly([*wheels.inertia, *wheels.inertia[behind]]),
        spin=readonly(spin),
        links=wheels.links + (root,) * count,
        mass=readonly(np.append(wheels.mass, np.zeros(count))),
        transverse=readonly(np.append(wheels.transverse, np.zeros(count))),
        included=readonly_bool([*wheels.included, *[True] * count]),
    )


def without_rotor_tensors(tree: Tree, wheels: Wheels, elastic: Elasticity) -> Tree:
    """Take the tensors of the motor-side wheels out of the links: points of mass remain."""
    parameters = tree.parameters.copy()
    for r in np.flatnonzero(behind_springs(elastic)):
        carrier = int(wheels.carrier[r])
        if carrier >= 0:
            along = np.outer(wheels.axis[r], wheels.axis[r])
            tensor = wheels.transverse[r] * (np.eye(3) - along) + wheels.inertia[r] * along
            parameters[carrier, 4:] -= tensor[np.triu_indices(3)]
    return replace(tree, parameters=readonly(parameters))


# -- What is known of a robot beside its links: the words that all commands and reports share -----


Extent = Literal["none", "partial", "all"]

NO_ROTORS = (
    "No rotor inertia is known, so nothing can be said of rotors: give ratios and rotor inertias "
    "in a drivetrain file (`geared-dynamics init ROBOT.urdf` writes one to fill in)."
)


class Knowledge(NamedTuple):
    """For how many of a robot's joints the files state something.

    Attributes:
        rotors: A wheel that turns with the joint has inertia about its axis.
        friction: The joint or a motor that moves it has friction.
        limits: The joint has limits of velocity and effort, and of position unless continuous.
        motors: A motor moves it whose torque constant and resistance are known.
        springs: A spring is between the joint and its motor.
        without_rotors: Names of the joints for which no rotor inertia is known.
    """

    rotors: Extent
    friction: Extent
    limits: Extent
    motors: Extent
    springs: Extent
    without_rotors: tuple[str, ...]

    @property
    def rotor_note(self) -> str:
        """What to know before comparing models of the rotors; empty if all inertias are known."""
        if self.rotors == "none":
            return NO_ROTORS
        if self.rotors == "all":
            return ""
        names = ", ".join(self.without_rotors)
        return f"No rotor inertia is known for {names}; what is said of rotors leaves theirs out."


def knowledge_of(
    joint_names: Sequence[str],
    spin: Array,
    inertia: Array,
    motors: Motors,
    friction: FrictionLaws,
    elasticity: Elasticity,
    limited: BoolArray,
) -> Knowledge:
    """Look at every joint of a model.

    Args:
        joint_names: Coordinates (n,).
        spin: Gamma (w, n), of each wheel per joint rate [1 or rad/m].
        inertia: J (w,) [kg m^2].
        motors: Its motors.
        friction: Friction of the joints.
        elasticity: Its springs.
        limited: Which joints have all their limits (n,).
    """
    moves = spin[motors.wheel].T != 0.0  # (n, m)
    rotors = (spin[inertia > 0.0] != 0.0).any(axis=0)
    electrics = np.isfinite(motors.resistance) & np.isfinite(motors.torque_constant)
    numbers = np.arange(len(joint_names))
    rubs = np.isin(numbers, friction.index) | moves[:, motors.friction.index].any(axis=1)
    return Knowledge(
        rotors=extent(rotors),
        friction=extent(rubs),
        limits=extent(limited),
        motors=extent(moves[:, electrics].any(axis=1)),
        springs=extent(np.isin(numbers, elasticity.joint)),
        without_rotors=tuple(
            name for name, known in zip(joint_names, rotors, strict=True) if not known
        ),
    )


def extent(known: BoolArray) -> Extent:
    """None, some or all of the joints."""
    if not known.any():
        return "none"
    return "all" if known.all() else "partial"
