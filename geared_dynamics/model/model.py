"""The immutable model: a tree of locked links, and the wheels they carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, cast, get_args

import numpy as np

from geared_dynamics.arrays import (
    Array,
    ArrayLike,
    BoolArray,
    Frozen,
    IntArray,
    WithDoorRecords,
    readonly,
    readonly_int,
)
from geared_dynamics.checks import choice
from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.errors import ModelError, Note, UnknownNameError
from geared_dynamics.model.balancer_arrays import Balancers
from geared_dynamics.model.derived import KernelForms, Knowledge, knowledge_of, with_shafts
from geared_dynamics.model.drive_arrays import FrictionLaws, Motors, linear_friction
from geared_dynamics.model.elasticity import Elasticity, ElasticModel
from geared_dynamics.model.facts import (
    Frame,
    JointLimits,
    JointType,
    Tree,
    Wheels,
    root_link,
)
from geared_dynamics.model.inertia import PayloadFrame, loaded_robot, payload_parameters
from geared_dynamics.model.motor_map import MotorMap, motor_map

Coupling = Literal["none", "diagonal", "complete"]
# Facts derived at first use that do not depend on the bodies' parameters.
SHAPE = ("motor_map", "elastic_motor_map", "own_bodies", "limits", "joint_types")


class Records(NamedTuple):
    """What a model was built from: gear trains solved, frozen joints fixed, payloads added."""

    robot: RobotRecord
    drivetrain: DrivetrainRecord


@dataclass(frozen=True, eq=False)
class GearedModel(WithDoorRecords, Frozen):
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
        tips: Links that move and have nothing attached, neither by a joint nor fixed.
        records: What the model was built from, for writers and listings only.
        notes: What was assumed or looked doubtful while building, doubts of the URDF first.
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
    tips: tuple[str, ...]
    records: Records = field(repr=False)
    coupling: Coupling = "complete"
    elastic_model: ElasticModel = "complete"
    notes: tuple[Note, ...] = ()

    # Code for many states by kernel, of a model that the room named trace has compiled.
    batch_code: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    # Code by function, of those that take all their inputs in one array.
    joined_code: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    # Of these fields alone: a copy with other ones begins without any.
    _forms: KernelForms = field(default_factory=KernelForms, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Pickle the fields, without what is derived from them."""
        state = {entry.name: self.__dict__[entry.name] for entry in fields(self) if entry.init}
        return state | {"frame_table": dict(self.frame_table)}  # a proxy cannot be pickled

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the fields, read-only again."""
        table = MappingProxyType(cast("dict[str, Frame]", state["frame_table"]))
        super().__setstate__(state | {"frame_table": table, "_forms": KernelForms()})

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Every link and wheel by name."""
        return self.frame_table

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.joint_names)

    @property
    def source(self) -> str:
        """The URDF's path, or what stands for it."""
        return self.records.robot.source

    @property
    def drivetrain_source(self) -> str:
        """The drivetrain file's path, or what stands for it."""
        return self.records.drivetrain.source

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in file order."""
        return tuple(link.name for link in self.records.robot.links)

    @property
    def fixed_joints(self) -> tuple[str, ...]:
        """Joints that do not move, the frozen ones among them, in file order."""
        joints = self.records.robot.joints
        return tuple(joint.name for joint in joints if joint.kind == "fixed")

    @cached_property
    def root(self) -> str:
        """The link that no joint moves: the robot's base."""
        return root_link(self.records.robot)

    @cached_property
    def own_bodies(self) -> IntArray:
        """The body that each coordinate's joint moves (n,); -1: motor side of a spring."""
        body = {name: b for b, name in enumerate(self.tree.joints)}
        return readonly_int([body.get(name, -1) for name in self.joint_names])

    @cached_property
    def limits(self) -> JointLimits:
        """Limits of the coordinates' joints (n,), infinite where there is none."""
        return self.tree.limits.rows(self.own_bodies)

    @cached_property
    def joint_types(self) -> tuple[JointType, ...]:
        """Types of the coordinates' joints (n,)."""
        kinds = (*self.tree.joint_types, "shaft")
        return tuple(cast("JointType", kinds[body]) for body in self.own_bodies)

    @property
    def continuous(self) -> BoolArray:
        """Whether each joint turns without end (n,)."""
        return np.array([kind == "continuous" for kind in self.joint_types], bool)

    @property
    def prismatic(self) -> BoolArray:
        """Whether each joint slides (n,): its unit is m, its force N."""
        return np.array([kind == "prismatic" for kind in self.joint_types], bool)

    @property
    def force_units(self) -> tuple[str, ...]:
        """Unit of each joint's force, ``N`` or ``N m`` (n,)."""
        return tuple("N" if slides else "N m" for slides in self.prismatic)

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

    @property
    def structure_matrix(self) -> Array:
        """A (n, m): joint force tau = A tau_m; the motors' rows of Gamma, transposed."""
        return self.motor_map.A

    @cached_property
    def motor_map(self) -> MotorMap:
        """Between the joints and the motors: A and its inverse, and the encoders' zeros."""
        return motor_map(self.Gamma[self.motor_wheel].T, self.motor_zeros)

    @cached_property
    def elastic_motor_map(self) -> MotorMap:
        """Between (q, theta) of an arm with springs and the motors, as ``motor_map``."""
        spin = np.hstack([self.elasticity.link_spin, self.elasticity.shaft_spin])
        return motor_map(spin[self.motor_wheel].T, self.motor_zeros)

    @cached_property
    def reflected_inertia(self) -> Array:
        """Gamma' J Gamma (n, n) [kg m^2 or kg]: the wheels' inertia seen by the joints."""
        product = self.Gamma.T @ (self.J[:, None] * self.Gamma)
        return readonly(0.5 * (product + product.T))  # symmetric to the last digit

    @cached_property
    def knowledge(self) -> Knowledge:
        """For how many joints rotors, friction, limits, motors and springs are known."""
        drives = (self.motors, self.joint_friction, self.elasticity)
        has = np.isfinite([self.limits.velocity, self.limits.effort]).all(axis=0)
        has &= self.continuous | np.isfinite(self.limits.upper - self.limits.lower)
        return knowledge_of(self.joint_names, self.Gamma, self.J, *drives, has)

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
        choice("coupling", "coupling", coupling, get_args(Coupling))
        return replace(self, coupling=coupling)

    def with_elasticity(self, elastic_model: ElasticModel) -> GearedModel:
        """Return the same arm with some of the coupling between links and elastic rotors.

        Args:
            elastic_model: ``complete`` all of it; ``uncoupled`` S = 0, the usual model of
                rotors that feel their own spin only; ``spong_truncated`` moreover the
                tensors of the motor-side rotors dropped from M_link (Melhem 2001,
                remark 4), which is their mass left as a point.
        """
        choice("elastic_model", "elastic model", elastic_model, get_args(ElasticModel))
        return replace(self, elastic_model=elastic_model)

    def with_springs(self) -> GearedModel:
        """Return the arm with elastic joints as a rigid one of coordinates x = (q, theta).

        Made at first use and kept. Every rigid function takes it, and those of ``contact`` and
        of the actuated arm, with x (..., n + n_e) for q. The springs' forces are no part of it:
        add ``gd.elastic.spring_forces`` of this model to the force on x.

        Raises:
            ModelError: If no joint of the model is elastic.
        """
        elastic, forms = self.elasticity, self._forms
        if not elastic.stiffness.size:
            place = f"{self.drivetrain_source}, joints"
            remedy = "add joints.<name>.stiffness, or use the functions for rigid arms"
            raise ModelError(place, "no joint of this arm is elastic", remedy)
        if forms.extended is None:
            parts = with_shafts(self.tree, self.wheels, elastic, self.elastic_model, self.root)
            tree, wheels, rigid = parts
            names = self.joint_names + elastic.names
            extended = replace(self, joint_names=names, tree=tree, wheels=wheels)
            forms.extended = replace(extended, elasticity=rigid)
        return cast("GearedModel", forms.extended)

    def payload_frame(
        self, link: str | None = None, place: str = "with_payload: link"
    ) -> PayloadFrame:
        """Return the frame of a payload: that of a link, or of the only tip.

        Args:
            link: A link that moves, frames of fixed joints included; None: the only tip.
            place: What the error's text calls the argument.

        Raises:
            GearedDynamicsError: If there is no such link, if it does not move, or if no link
                is given and the arm has several tips.
        """
        if link is None:
            if len(self.tips) > 1:
                finding = f"is not given, and the arm has {len(self.tips)} tips: "
                remedy = "name the link in whose frame the payload is given"
                raise ModelError(place, finding + ", ".join(self.tips), remedy)
            link = self.tips[0]
        if not isinstance(link, str) or link not in self.link_names:
            raise UnknownNameError(place, "link", link, self.link_names)
        frame = self.frame(link)
        if frame.body < 0:
            finding = f"{link!r} is fixed to the root and carries no dynamics"
            raise ModelError(place, finding, "name a link that moves")
        carrier = self.tree.names[frame.body]
        return PayloadFrame(link, frame.body, carrier, frame.rotation, frame.position)

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
        own = payload_parameters(mass, com, inertia)
        if link is None and not own.any():
            loaded = replace(self)
        else:
            frame = self.payload_frame(link)
            parameters = self.tree.parameters.copy()
            parameters[frame.body] += frame.in_body(own)
            robot = loaded_robot(self.records.robot, frame.link, own)
            loaded = replace(
                self,
                tree=replace(self.tree, parameters=readonly(parameters)),
                records=self.records._replace(robot=robot),
            )
        loaded.__dict__.update({key: self.__dict__[key] for key in SHAPE if key in self.__dict__})
        loaded.__dict__["_forms"] = self._forms.of_shape()
        return loaded

    def __repr__(self) -> str:
        """Say what kind of arm this is in one line."""
        return (
            f"<GearedModel {self.name!r}: {self.n} joints, {len(self.body_names)} bodies, "
            f"{len(self.wheel_names)} wheels, {len(self.motor_names)} motors, "
            f"coupling {self.coupling!r}>"
        )


def require_model(model: object) -> GearedModel:
    """Return the model.

    Raises:
        ModelError: If it is none.
    """
    if isinstance(model, GearedModel):
        return model
    remedy = "give what load_model, from_dh or from_rodrigues returns"
    raise ModelError("model", f"is a {type(model).__name__}, not a GearedModel", remedy)
