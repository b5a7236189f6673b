"""The URDF files of PyPI's example-robot-data, and made-up wheels for each of their joints."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from random_parts import rotation

FOLDER = "example-robot-data/robots/"

# Files that cannot be read as a robot, and what our error says of them.
UNREADABLE = {
    # Release 5 only: a joint's child is a link that the file does not have.
    "falcon_description/urdf/falcon.urdf": "there is no link 'Z_propeller'",
    # Its fingers mimic "index_q1" and the like; its joints are called "Left_index_q1".
    "alex_description/urdf/alex_psyonic_hands.urdf": "there is no joint 'index_q1'",
    # What xacro made of a file of macros only: no name, no links.
    "ur_description/urdf/ur3.urdf": "the robot has no name",
}
# Files without a movable joint: nothing to compute.
IMMOBILE = {
    "bluevolta_description/urdf/bluevolta.urdf": "has no movable joint",  # release 5 only
    "hector_description/robots/quadrotor_base.urdf": "has no movable joint",
    "iris_description/robots/iris_simple.urdf": "has no movable joint",
}
# Arms on a fixed base, and robots whose arms come with a base at rest.
ARMS = (
    "TwoDofs",
    "allegro",
    "baxter",
    "double_pendulum",
    "finger_edu",
    "kinova.urdf",
    "panda",
    "so100",
    "so101",
    "talos_left_arm",
    "tiago_no_hand",
    "ur_description",
    "xarm7",
    "z1_description",
)


def example_files() -> dict[str, Path]:
    """All URDF files of the package by their path below ``robots/``; none if not installed."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    found = {str(f).partition(FOLDER)[2]: Path(f.locate()) for f in listed if f.suffix == ".urdf"}
    return dict(sorted(found.items()))


def is_arm(name: str) -> bool:
    """Whether the file is a fixed-base arm, not a walking, flying or wheeled robot."""
    return any(part in name for part in ARMS)


def made_up_drivetrain(urdf: str) -> dict[str, Any]:
    """One wheel per movable joint, on the joint's parent link.

    In turn coaxial with the joint, skew to it, and coupled with the joint before it.
    """
    wheels: dict[str, Any] = {}
    spins: list[dict[str, Any]] = []
    previous = None
    for k, (name, parent, axis) in enumerate(_movable_joints(urdf)):
        skew = np.array([0.3, -0.5, 0.8]) + axis
        axial = 2e-5 * (1 + k % 5)
        wheels[f"rotor_{name}"] = {
            "carrier": parent,
            "axis": (axis if k % 3 == 0 else skew).tolist(),
            "position": [0.02, -0.01 * (k % 3), 0.03],
            "mass": 0.05 + 0.01 * (k % 4),
            "inertia": {"axial": axial, "transverse": 0.8 * axial},
        }
        coefficients = {name: (-1.0) ** k * (30.0 + 10 * (k % 8))}
        if k % 3 == 2 and previous is not None:
            coefficients[previous] = 20.0
        spins.append({"wheel": f"rotor_{name}", "coefficients": coefficients})
        previous = name
    return {"version": 1, "wheels": wheels, "spins": spins}


def _movable_joints(urdf: str) -> list[tuple[str, str, np.ndarray]]:
    """Name, parent link and axis in the parent's frame of every joint that is not fixed."""
    found = []
    for joint in ET.fromstring(urdf).iter("joint"):
        parent = joint.find("parent")
        if parent is None or joint.get("type") in ("fixed", "floating", "planar"):
            continue
        rpy = _numbers(joint.find("origin"), "rpy", "0 0 0")
        axis = rotation(rpy) @ _numbers(joint.find("axis"), "xyz", "1 0 0")
        found.append((str(joint.get("name")), str(parent.get("link")), axis))
    return found


def _numbers(element: ET.Element | None, key: str, default: str) -> np.ndarray:
    """Numbers of an attribute."""
    text = default if element is None else element.get(key, default)
    return np.array([float(word) for word in text.split()])
