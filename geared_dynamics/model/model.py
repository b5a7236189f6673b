"""The immutable model: a tree of locked links, and the wheels they carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Literal, cast, get_args

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen, IntArray, readonly
from geared_dynamics.description.robot_records import DrivetrainRecord, RobotRecord
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.model.balancer_arrays import Balancers
from geared_dynamics.model.drive_arrays import FrictionLaws, Motors, linear_friction
from geared_dynamics.model.elasticity import Elasticity, ElasticModel
from geared_dynamics.model.knowledge import Knowledge, knowledge_of
from geared_dynamics.model.payload import load_link

Coupling = Literal["none", "diagonal", "complete"]
# Kernels' forms of a model that do not depend on its bodies' parameters.
SHAPE = ("skeleton", "plan", "packed_frames", "shares", "drives", "packed_balancers", "springs")
BODIES = ("packed", "extended", "flatness")  # those that do


@dataclass(frozen=True, eq=False)
class Tree(Frozen):
    """Movable bodies (links with what is fixed to them), parents before children.

    A body's frame is the frame of the URDF link that its joint moves. Index -1
    is the root. Body b moves by ``multiplier[b] * q[dof[b]] + offset[b]``.

    Attributes:
        names: Link names, nb of them.
        parent: Parent body (nb,), -1 for the root.
        dof: Coordinate that drives the body (nb,); a mimic joint has its leader's.
        multiplier: Ratio of the body's joint to its coordinate (nb,), 1 without mimic.
        offset: Joint position at q = 0 (nb,) [rad or m], 0 without mimic.
        prismatic: True where the joint slides (nb,).
        rotation: Body frame in the parent body's frame at joint position 0 (nb, 3, 3).
        position: Its origin there (nb, 3) [m].
        axis: Joint axis in the body frame, unit vectors (nb, 3).
        parameters: Ten parameters of the body with its wheels locked, (nb, 10):
            m, m c (3), Ixx Ixy Ixz Iyy Iyz Izz about the frame's origin.
    """

    names: tuple[str, ...]
    parent: IntArray
    dof: IntArray
    multiplier: Array
    offset: Array
    prismatic: IntArray
    rotation: Array
    position: Array
    axis: Array
    parameters: Array


@dataclass(frozen=True, eq=False)
class Wheels(Frozen):
    """Axisymmetric bodies that spin in their carriers, w of them.

    Attributes:
        names: Wheel names.
        carrier: Body that holds the bearings (w,), -1 for the root.
        axis: Spin axis, unit vectors in the carrier body's frame (w, 3).
        position: Centre of mass in the carrier body's frame (w, 3) [m].
        inertia: J, axial moment of inertia (w,) [kg m^2].
        spin: Gamma (w, n): spin relative to the carrier = Gamma v [1 or rad/m].
    """

    names: tuple[str, ...]
    carrier: IntArray
    axis: Array
    position: Array
    inertia: Array
    spin: Array


@dataclass(frozen=True, eq=False)
class Frame(Frozen):
    """A link or wheel: fixed in a body (-1: root), or spinning with a wheel's axis.

    ``rotation`` and ``position`` place it in the body's frame; ``wheel`` is the
    wheel's index, -1 for a link. A wheel's frame is drawn with the wheel locked.
    """

    body: int
    rotation: Array
    position: Array
    wheel: int = -1


@dataclass(frozen=True, eq=False)
class GearedModel(Frozen):
    """A geared arm, frozen, with read-only arrays; built by ``load_model``.

    Attributes:
        name: The robot's name.
        joint_names: Coordinates, in the order in which the URDF lists them (n,).
        tree: The locked links.
        wheels: The wheels.
        motors: The motors.
        joint_friction: Friction of the joints, joint side.
        balancers: Springs between links and on joints.
        elasticity: Springs of the joints' transmissions, and what turns behind them.
        gravity: Acceleration of free fall in the root link's frame (3,) [m/s^2].
        frame_table: Every link and wheel by name; read it as ``frames``.
        coupling: Which of the wheels' spin terms count: none, the diagonal of
            Gamma' J Gamma (the usual armature), or all of them.
        elastic_model: Which coupling of links and rotors the functions of ``elastic`` count.
        robot: The records the model was built from.
        drivetrain: The drivetrain's record.
        notes: What was assumed or looked doubtful while building, a line each.
    """

    name: str
    joint_names: tuple[str, ...]
    tree: Tree
    wheels: Wheels
    motors: Motors
    joint_friction: FrictionLaws
    balancers: Balancers
    elasticity: Elasticity
    gravity: Array
    frame_table: Mapping[str, Frame] = field(repr=False)
    robot: RobotRecord = field(repr=False)
    drivetrain: DrivetrainRecord = field(repr=False)
    coupling: Coupling = "complete"
    elastic_model: ElasticModel = "complete"
    notes: tuple[str, ...] = ()

    # Derived from the fields at first use, and kept here by the room named dynamics: the
    # kernels' forms of this model (packing, elimination, drives, balancer_packing), the
    # motors' shares in a joint force (transmission), and the same arm with a coordinate more
    # for each elastic joint, with its springs and what its feedforwards need (elastic).
    packed: ClassVar[Array | None] = None
    skeleton: ClassVar[Array | None] = None
    plan: ClassVar[Array | None] = None
    drives: ClassVar[Array | None] = None
    packed_balancers: ClassVar[Array | None] = None
    packed_frames: ClassVar[Mapping[str, Array] | None] = None
    shares: ClassVar[Array | None] = None
    extended: ClassVar[GearedModel | None] = None
    springs: ClassVar[Array | None] = None
    flatness: ClassVar[dict[object, object] | None] = None

    def __getstate__(self) -> dict[str, object]:
        """Pickle the fields, without what is derived from them."""
        derived = {*BODIES, *SHAPE}
        state = {key: value for key, value in self.__dict__.items() if key not in derived}
        return state | {"frame_table": dict(self.frame_table)}  # a proxy cannot be pickled

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the fields, read-only again."""
        table = cast("dict[str, Frame]", state["frame_table"])
        super().__setstate__(state | {"frame_table": MappingProxyType(table)})

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Every link and wheel by name."""
        return self.frame_table

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.joint_names)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the movable links, parents before children (nb,)."""
        return self.tree.names

    @property
    def wheel_names(self) -> tuple[str, ...]:
        """Names of the wheels (w,)."""
        return self.wheels.names

    @property
    def motor_names(self) -> tuple[str, ...]:
        """Names of the motors, in file order (m,)."""
        return self.motors.names

    @property
    def motor_wheel(self) -> IntArray:
        """The wheel each motor turns (m,)."""
        return self.motors.wheel

    @property
    def motor_zeros(self) -> Array:
        """What each motor's encoder shows at q = 0 (m,) [rad]."""
        return self.motors.zeros

    @cached_property
    def friction(self) -> Array:
        """Viscous, Coulomb friction and offset of each coordinate (3, n), joint side."""
        return readonly(linear_friction(self.joint_friction, self.n))

    @property
    def Gamma(self) -> Array:
        """Spin of each wheel relative to its carrier per joint rate (w, n) [1 or rad/m]."""
        return self.wheels.spin

    @property
    def J(self) -> Array:
        """Axial inertia of each wheel (w,) [kg m^2]."""
        return self.wheels.inertia

    @cached_property
    def structure_matrix(self) -> Array:
        """A (n, m): joint force tau = A tau_m; the motors' rows of Gamma, transposed."""
        return readonly(self.Gamma[self.motor_wheel].T)

    @cached_property
    def reflected_inertia(self) -> Array:
        """Gamma' J Gamma (n, n) [kg m^2 or kg]: the wheels' inertia seen by the joints."""
        product = self.Gamma.T @ (self.J[:, None] * self.Gamma)
        return readonly(0.5 * (product + product.T))  # symmetric to the last digit

    @cached_property
    def knowledge(self) -> Knowledge:
        """For how many joints rotors, friction, limits, motors and springs are known."""
        drives = (self.motors, self.joint_friction, self.elasticity)
        return knowledge_of(self.joint_names, self.Gamma, self.J, *drives, has_limits(self))

    def frame(self, name: str) -> Frame:
        """Return the frame of a link or wheel by name."""
        try:
            return self.frame_table[name]
        except (KeyError, TypeError):
            raise UnknownNameError("frame", "link or wheel", name, self.frames) from None

    def with_coupling(self, coupling: Coupling) -> GearedModel:
        """Return the same arm with some of its wheels' spin terms.

        All three keep the locked links (wheels' mass included), gravity and A.

        Args:
            coupling: ``none`` no spin terms, ``diagonal`` only diag(Gamma' J Gamma),
                ``complete`` all of Gamma' J Gamma + Gamma' J Z + Z' J Gamma.
        """
        if not isinstance(coupling, str) or coupling not in get_args(Coupling):
            raise UnknownNameError("coupling", "coupling", coupling, get_args(Coupling))
        return replace(self, coupling=coupling)

    def with_elasticity(self, elastic_model: ElasticModel) -> GearedModel:
        """Return the same arm with some of the coupling between links and elastic rotors.

        Args:
            elastic_model: ``complete`` all of it; ``uncoupled`` S = 0, the usual model of
                rotors that feel their own spin only; ``spong_truncated`` moreover the
                tensors of the rotors behind springs dropped from M_link (Melhem 2001,
                remark 4), which is their mass left as a point.
        """
        if not isinstance(elastic_model, str) or elastic_model not in get_args(ElasticModel):
            raise UnknownNameError(
                "elastic_model", "elastic model", elastic_model, get_args(ElasticModel)
            )
        return replace(self, elastic_model=elastic_model)

    def with_payload(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        *,
        link: str | None = None,
    ) -> GearedModel:
        """Return the same arm with a tool or load fixed to a link.

        Args:
            mass: Mass [kg].
            com: Its centre of mass in the link's frame (3,) [m].
            inertia: Tensor about its centre of mass, link's axes (3, 3) [kg m^2].
            link: A link that moves, frames of fixed joints (``flange``, ``tool0``) included. By
                default the tip: the only link that moves and has nothing attached.

        Raises:
            GearedDynamicsError: If the arm has several tips and no link is given.
        """
        loaded = load_link(self, link, mass, com, inertia)
        loaded.__dict__.update({key: self.__dict__[key] for key in SHAPE if key in self.__dict__})
        return loaded

    def __repr__(self) -> str:
        """Say what kind of arm this is in one line."""
        return (
            f"<GearedModel {self.name!r}: {self.n} joints, {len(self.body_names)} bodies, "
            f"{len(self.wheel_names)} wheels, {len(self.motor_names)} motors, "
            f"coupling {self.coupling!r}>"
        )


def has_limits(model: GearedModel) -> BoolArray:
    """Which joints (n,) have limits of velocity and effort, and of position unless continuous."""
    joints = {joint.name: joint for joint in model.robot.joints}
    full = np.zeros(model.n, bool)
    for j, name in enumerate(model.joint_names):
        kind, limit = joints[name].kind, joints[name].limit
        if limit is not None:
            turns = [] if kind == "continuous" else [limit.lower, limit.upper]
            full[j] = None not in (limit.velocity, limit.effort, *turns)
    return full


def require_model(model: object) -> GearedModel:
    """Return the model.

    Raises:
        ModelError: If it is none.
    """
    if isinstance(model, GearedModel):
        return model
    remedy = "give what load_model, from_dh or from_rodrigues returns"
    raise ModelError("model", f"is a {type(model).__name__}, not a GearedModel", remedy)
