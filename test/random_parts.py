"""The parts of a random robot, and how they are written down (see ``random_robots``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass
class Body:
    """A link: point masses (k, 4) of rows mass, x, y, z, plus the included wheels' discs."""

    name: str
    points: Array = field(default_factory=lambda: np.empty((0, 4)))
    frame_rpy: Array = field(default_factory=lambda: np.zeros(3))
    massless: bool = False
    discs: list[Wheel] = field(default_factory=list)

    def inertia(self) -> tuple[float, Array, Array]:
        """Mass, centre of mass and tensor about it, in the link's frame."""
        rows = [self.points, *(np.array([[d.mass, *d.position]]) for d in self.discs)]
        points = np.vstack(rows)
        mass = points[:, 0].sum()
        com = points[:, 0] @ points[:, 1:] / mass
        arms = points[:, 1:] - com
        square = (points[:, :1] * arms).T @ arms
        tensor = np.trace(square) * np.eye(3) - square
        return float(mass), com, tensor + sum((d.tensor() for d in self.discs), np.zeros((3, 3)))

    def xml(self) -> str:
        """The ``<link>`` element; the tensor is given in a rotated inertial frame."""
        if self.massless:
            return f'  <link name="{self.name}"/>'
        mass, com, tensor = self.inertia()
        R = rotation(self.frame_rpy)
        t = R.T @ tensor @ R
        return (
            f'  <link name="{self.name}"><inertial>'
            f'<origin xyz="{text(com)}" rpy="{text(self.frame_rpy)}"/><mass value="{mass!r}"/>'
            f'<inertia ixx="{number(t[0, 0])}" ixy="{number(t[0, 1])}" ixz="{number(t[0, 2])}" '
            f'iyy="{number(t[1, 1])}" iyz="{number(t[1, 2])}" izz="{number(t[2, 2])}"/>'
            f"</inertial></link>"
        )


@dataclass
class Joint:
    """A joint between two links; ``leader`` is (name, multiplier, offset) of a mimic joint."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Array
    rpy: Array
    axis: Array
    leader: tuple[str, float, float] | None = None
    dynamics: bool = False

    def xml(self) -> str:
        """The ``<joint>`` element."""
        parts = [
            f'  <joint name="{self.name}" type="{self.kind}">',
            f'<origin xyz="{text(self.xyz)}" rpy="{text(self.rpy)}"/>',
            f'<parent link="{self.parent}"/><child link="{self.child}"/>',
        ]
        if self.kind != "fixed":
            parts.append(f'<axis xyz="{text(self.axis)}"/>')
        if self.kind in ("revolute", "prismatic"):
            reach = 2.9 if self.kind == "revolute" else 0.7
            parts.append(f'<limit lower="-{reach}" upper="{reach}" effort="100" velocity="2.5"/>')
        if self.leader is not None:
            name, multiplier, offset = self.leader
            parts.append(f'<mimic joint="{name}" multiplier="{multiplier}" offset="{offset}"/>')
        if self.dynamics:
            parts.append('<dynamics damping="0.3" friction="0.2"/>')
        return "".join([*parts, "</joint>"])


@dataclass
class Wheel:
    """A wheel of the drivetrain; ``written_axis`` is ``axis`` with some length."""

    name: str
    carrier: str
    axis: Array
    written_axis: Array
    position: Array
    mass: float
    axial: float
    transverse: float
    included: bool
    coefficients: dict[str, float]
    implicit: bool

    def tensor(self) -> Array:
        """Tensor about the centre of mass, carrier's axes."""
        ee = np.outer(self.axis, self.axis)
        return self.transverse * (np.eye(3) - ee) + self.axial * ee

    def entry(self) -> dict[str, Any]:
        """Its entry under ``wheels``; ``implicit`` leaves the transverse inertia out."""
        inertia = {"axial": self.axial}
        if not self.implicit:
            inertia["transverse"] = self.transverse
        return {
            "carrier": self.carrier,
            "axis": self.written_axis.tolist(),
            "position": self.position.tolist(),
            "mass": self.mass,
            "inertia": inertia,
            "included_in_link": self.included,
        }

    def spin(self) -> dict[str, Any]:
        """Its entry under ``spins``: a ratio if it follows one joint."""
        if len(self.coefficients) == 1 and self.implicit:
            ((joint, ratio),) = self.coefficients.items()
            return {"wheel": self.name, "joint": joint, "ratio": ratio}
        return {"wheel": self.name, "coefficients": dict(self.coefficients)}


@dataclass
class Arm:
    """Links (the root first), joints and wheels of a robot under construction."""

    bodies: list[Body]
    joints: list[Joint] = field(default_factory=list)
    wheels: list[Wheel] = field(default_factory=list)

    def inner_bodies(self) -> list[Body]:
        """Links that carry another link."""
        parents = {joint.parent for joint in self.joints}
        return [body for body in self.bodies if body.name in parents]

    def urdf(self) -> str:
        """The URDF's text."""
        parts = [*(body.xml() for body in self.bodies), *(joint.xml() for joint in self.joints)]
        return "\n".join(['<robot name="random">', *parts, "</robot>", ""])

    def drivetrain(self) -> dict[str, Any]:
        """Content of the drivetrain file."""
        return {
            "version": 1,
            "wheels": {wheel.name: wheel.entry() for wheel in self.wheels},
            "spins": [wheel.spin() for wheel in self.wheels],
        }


def add_joints(
    arm: Arm,
    rng: np.random.Generator,
    *,
    joints: int,
    mimics: int,
    fixed: int,
    branched: bool,
    prismatic: bool,
) -> None:
    """Grow the tree joint by joint, then choose the mimics' leaders anywhere in it."""
    arm.bodies[0].points = point_masses(rng)
    sorts = ["own"] * joints + ["mimic"] * mimics + ["fixed"] * fixed
    kinds = ["revolute", "continuous"] + ["prismatic"] * prismatic
    for k, sort in enumerate(rng.permutation(sorts)):
        parent = arm.bodies[rng.integers(len(arm.bodies)) if branched else -1]
        child = Body(f"link_{k}", point_masses(rng), rng.uniform(-3, 3, 3))
        arm.joints.append(
            Joint(
                name=f"{sort}_{k}",
                kind="fixed" if sort == "fixed" else str(rng.choice(kinds)),
                parent=parent.name,
                child=child.name,
                xyz=rng.uniform(-0.4, 0.4, 3),
                rpy=rng.uniform(-3, 3, 3) if rng.random() < 0.8 else np.zeros(3),
                axis=unit_vector(rng),
                dynamics=bool(rng.random() < 0.3),
            )
        )
        arm.bodies.append(child)
    leaders = [joint.name for joint in arm.joints if joint.name.startswith("own")]
    for joint in arm.joints:
        if joint.name.startswith("mimic"):
            multiplier, offset = rng.uniform(0.3, 2) * rng.choice([-1, 1]), rng.uniform(-1, 1)
            joint.leader = (str(rng.choice(leaders)), float(multiplier), float(offset))


def add_wheels(
    arm: Arm, rng: np.random.Generator, *, count: int, included: bool, coupled: bool
) -> None:
    """Put wheels on any link; some joints get several of them, some none."""
    movable = [joint for joint in arm.joints if joint.kind != "fixed"]
    for k in range(count):
        carrier = arm.bodies[rng.integers(len(arm.bodies))]
        served = 1 + (int(rng.integers(min(3, len(movable)))) if coupled else 0)
        chosen = [movable[i] for i in rng.choice(len(movable), served, replace=False)]
        axis = unit_vector(rng) if rng.random() < 0.7 else chosen[0].axis
        axial = float(10 ** rng.uniform(-5, -2))
        implicit = bool(rng.random() < 0.5)
        wheel = Wheel(
            name=f"wheel_{k}",
            carrier=carrier.name,
            axis=axis,
            written_axis=axis * rng.choice([1.0, 2.5]),
            position=rng.uniform(-0.2, 0.2, 3),
            mass=float(rng.uniform(0.1, 1.5)),
            axial=axial,
            transverse=axial * (0.5 if implicit else float(rng.uniform(0.5, 3))),
            included=included and not carrier.massless and bool(rng.random() < 0.4),
            coefficients={
                joint.name: float(rng.choice([-1, 1]) * 10 ** rng.uniform(0, 2.2))
                for joint in chosen
            },
            implicit=implicit,
        )
        arm.wheels.append(wheel)
        if wheel.included:
            carrier.discs.append(wheel)


def point_masses(rng: np.random.Generator) -> Array:
    """Six to nine point masses [kg, m]: a full-rank inertia."""
    count = rng.integers(6, 10)
    return np.column_stack([rng.uniform(0.1, 0.8, count), rng.uniform(-0.2, 0.3, (count, 3))])


def unit_vector(rng: np.random.Generator) -> Array:
    """A coordinate axis in one case of three, otherwise any direction."""
    if rng.random() < 1 / 3:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def rotation(rpy: Array) -> Array:
    """URDF's fixed-axis roll, pitch, yaw as a rotation matrix."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    return np.asarray(Rz @ Ry @ Rx)


def number(value: float) -> str:
    """A number with all its digits."""
    return repr(float(value))


def text(vector: Array) -> str:
    """Numbers with all their digits, as URDF's attributes hold them."""
    return " ".join(number(x) for x in vector)
