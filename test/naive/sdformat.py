"""What sdformat makes of a URDF's links, joints and inertials, from its rules alone.

Written from ``src/parser_urdf.cc`` (``ReduceFixedJoints``, ``CreateSDF``, ``CreateLink``,
``CreateJoint``), ``src/Link.cc`` (invalid inertia) of gazebosim/sdformat and ``MassMatrix3.hh``
(``IsValid``) of gazebosim/gz-math. Shapes, poses of frames and plugins are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

MOVING = {"revolute", "continuous", "prismatic"}
UNLUMPED = ("disableFixedJointLumping", "preserveFixedJoint")


@dataclass
class Link:
    """A URDF link: mass, centre of mass and tensor about it in the link's axes; joints below."""

    name: str
    mass: float | None
    com: np.ndarray
    tensor: np.ndarray
    joint: Joint | None = None
    below: list[Joint] = field(default_factory=list)

    @property
    def massless(self) -> bool:
        """``linkHasZeroMass``."""
        return self.mass is None or self.mass <= 0.0


@dataclass
class Joint:
    """A URDF joint; ``parent`` and the pose change where links are lumped."""

    name: str
    kind: str
    parent: Link
    child: Link
    rotation: np.ndarray
    position: np.ndarray
    lumped: bool = False


@dataclass
class Sdf:
    """The SDF model: links, joints with parent and child, frames, what went wrong."""

    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    frames: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def converted(urdf: str) -> Sdf:
    """Convert and load: ``errors`` empty and ``warnings`` empty means that nothing is lost."""
    document = ET.fromstring(urdf)
    root = read(document)
    sdf = Sdf()
    reduce(root, sdf)
    for link in [j.child for j in root.below] if root.name == "world" else [root]:
        create(link, sdf)
    load(sdf)
    return sdf


def read(document: ET.Element) -> Link:
    """The tree of links; its root."""
    links = {e.get("name", ""): read_link(e) for e in document.findall("link")}
    whole = {g.get("reference") for g in document.findall("gazebo") for name in UNLUMPED
             if (g.findtext(name) or "").strip().lower() in ("1", "true")}  # fmt: skip
    children = set()
    for e in document.findall("joint"):
        parent, child = (links[e.find(tag).get("link")] for tag in ("parent", "child"))  # type: ignore[union-attr]
        rotation, position = pose(e.find("origin"))
        kind = e.get("type", "")
        name = e.get("name", "")
        lumped = kind == "fixed" and name not in whole
        child.joint = Joint(name, kind, parent, child, rotation, position, lumped)
        parent.below.append(child.joint)
        children.add(child.name)
    (root,) = (link for name, link in links.items() if name not in children)
    return root


def read_link(element: ET.Element) -> Link:
    """A link with its inertial."""
    inertial = element.find("inertial")
    name = element.get("name", "")
    if inertial is None:
        return Link(name, None, np.zeros(3), np.zeros((3, 3)))
    R, com = pose(inertial.find("origin"))
    mass, moments = inertial.find("mass"), inertial.find("inertia")
    assert mass is not None
    assert moments is not None
    xx, xy, xz, yy, yz, zz = (
        float(moments.get(key, "nan")) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Link(name, float(mass.get("value", "nan")), com, R @ tensor @ R.T)


def pose(origin: ET.Element | None) -> tuple[np.ndarray, np.ndarray]:
    """Rotation Rz Ry Rx and position of an ``<origin>``."""
    if origin is None:
        return np.eye(3), np.zeros(3)
    r, p, y = (float(x) for x in (origin.get("rpy") or "0 0 0").split())
    position = np.array([float(x) for x in (origin.get("xyz") or "0 0 0").split()])
    c, s = np.cos([r, p, y]), np.sin([r, p, y])
    Rx = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    Ry = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    Rz = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    return Rz @ Ry @ Rx, position


def reduce(link: Link, sdf: Sdf) -> None:
    """``ReduceFixedJoints``: what is fixed becomes part of its parent, except below ``world``."""
    for joint in list(link.below):
        if joint.lumped:
            reduce(joint.child, sdf)
    joint = link.joint
    if joint is not None and joint.lumped and joint.parent.name != "world":
        sdf.frames |= {joint.name, link.name}
        lump(joint)
    for below in list(link.below):
        if not below.lumped:
            reduce(below.child, sdf)


def lump(joint: Joint) -> None:
    """``ReduceInertialToParent`` and ``ReduceJointsToParent``."""
    parent, link, R = joint.parent, joint.child, joint.rotation
    if link.mass is not None:
        masses = [parent.mass or 0.0, link.mass]
        coms = [parent.com, joint.position + R @ link.com]
        tensors = [parent.tensor, R @ link.tensor @ R.T]
        total = sum(masses)
        com = sum(m * c for m, c in zip(masses, coms, strict=True)) / (total or 1.0)
        parent.tensor = sum(
            t + m * (np.dot(c - com, c - com) * np.eye(3) - np.outer(c - com, c - com))
            for m, c, t in zip(masses, coms, tensors, strict=True)
        )
        parent.mass, parent.com = total, np.asarray(com)
    for below in link.below:
        if not below.lumped:
            below.parent = parent
            below.position = joint.position + R @ below.position
            below.rotation = R @ below.rotation
            parent.below.append(below)
    link.below = [below for below in link.below if below.lumped]


def create(link: Link, sdf: Sdf) -> None:
    """``CreateSDF``: a link without mass goes with all below it, unless its joint is lumped."""
    joint = link.joint
    reduced = joint is not None and joint.lumped
    if link.name != "world" and link.massless:
        what = "no <inertial> block" if link.mass is None else "a mass of zero or less"
        if not reduced:
            sdf.warnings.append(f"link[{link.name}] has {what}; is not modeled in sdf")
            if joint is not None:
                sdf.warnings.append(f"parent joint[{joint.name}] ignored")
            return
    on_world = joint is not None and joint.parent.name == "world"
    if (on_world or not reduced) and not link.massless:
        sdf.links[link.name] = link
        create_joint(link, sdf)
    for below in link.below:
        create(below.child, sdf)


def create_joint(link: Link, sdf: Sdf) -> None:
    """``CreateJoint``: floating and planar joints give none."""
    joint: Any = link.joint
    if joint is not None and joint.kind in MOVING | {"fixed"}:
        kind = "revolute" if joint.kind == "continuous" else joint.kind
        sdf.joints[joint.name] = (kind, joint.parent.name, link.name)


def load(sdf: Sdf) -> None:
    """What loading the SDF finds: joints whose links are not there, inertias that cannot be."""
    known = set(sdf.links) | sdf.frames | set(sdf.joints) | {"world"}
    for name, (_, parent, child) in sdf.joints.items():
        for role, link in (("parent", parent), ("child", child)):
            if link not in known:
                sdf.errors.append(f"{role} frame with name[{link}] of joint[{name}] not found")
    if not sdf.links:
        sdf.errors.append("a model must have at least one link")
    for name, link in sdf.links.items():
        if not valid(link.mass or 0.0, link.tensor):
            sdf.errors.append(f"a link named {name} has invalid inertia")


def valid(mass: float, tensor: np.ndarray) -> bool:
    """``MassMatrix3::IsValid`` at its default tolerance of ten roundings."""
    epsilon = 10.0 * np.finfo(float).eps * 0.5 * abs(np.trace(tensor))
    minors = [np.linalg.det(tensor[:k, :k]) for k in (1, 2, 3)]
    a, b, c = np.linalg.eigvalsh(tensor)
    return bool(
        mass >= 0.0
        and min(minors) + epsilon >= 0.0
        and a + epsilon >= 0.0
        and a + b + epsilon >= c
    )
