"""The planar arm of two links whose contacts are known to twelve digits."""

from __future__ import annotations

from typing import Any

import numpy as np

import geared_dynamics as gd

Q, V = np.array([0.5, 1.0]), np.array([1.0, -0.5])
TAU, SLIDING = np.array([30.0, 10.0]), np.array([0.6, -0.960472141497])
DRIVES = {"A": ((2e-4, 50.0), (1e-4, 40.0)), "B": ((0.5 / 36.0, 6.0), (0.01, 4.0))}

LINK = (
    '<link name="{name}"><inertial><origin xyz="{centre} 0 0"/><mass value="{mass}"/>'
    '<inertia ixx="{tensor}" iyy="{tensor}" izz="{tensor}"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{place} 0 0"/><axis xyz="0 0 1"/></joint>'
)


def urdf() -> str:
    """Two links about z, 0.5 and 0.4 m long, with a massless tip."""
    parts = [
        '<robot name="planar"><link name="base"/>',
        LINK.format(name="one", centre=0.25, mass=4, tensor=0.1),
        LINK.format(name="two", centre=0.2, mass=3, tensor=0.05),
        '<link name="tip"/>',
        JOINT.format(name="first", kind="continuous", parent="base", child="one", place=0),
        JOINT.format(name="second", kind="continuous", parent="one", child="two", place=0.5),
        JOINT.format(name="end", kind="fixed", parent="two", child="tip", place=0.4),
        "</robot>",
    ]
    return "".join(parts)


def drives(kind: str, *, stiffness: float | None = None, **motor: Any) -> dict[str, Any]:
    """Rotor 1 on the base, rotor 2 (0.5 kg) on link 1 at joint 2, axes z."""
    (first, low), (second, high) = DRIVES[kind]
    joints = (
        {} if stiffness is None else {k: {"stiffness": stiffness} for k in ("first", "second")}
    )
    return {
        "version": 1,
        "wheels": {
            "rotor_1": {
                "carrier": "base",
                "axis": [0, 0, 1],
                "mass": 0.5,
                "inertia": {"axial": first},
            },
            "rotor_2": {
                "carrier": "one",
                "axis": [0, 0, 1],
                "position": [0.5, 0, 0],
                "mass": 0.5,
                "inertia": {"axial": second},
            },
        },
        "spins": [
            {"wheel": "rotor_1", "joint": "first", "ratio": low},
            {"wheel": "rotor_2", "joint": "second", "ratio": high},
        ],
        "motors": {
            "motor_1": {"wheel": "rotor_1", **motor},
            "motor_2": {"wheel": "rotor_2", **motor},
        },
        "joints": joints,
    }


def planar(
    kind: str = "A", *, gravity: tuple[float, float, float] = (0.0, -9.81, 0.0), **options: Any
) -> gd.GearedModel:
    """The arm; ``options`` as of ``drives``."""
    return gd.load_model(urdf(), drives(kind, **options), gravity=gravity)


def tip() -> np.ndarray:
    """Where the tip is at Q (3,)."""
    x = 0.5 * np.cos(Q[0]) + 0.4 * np.cos(Q.sum())
    y = 0.5 * np.sin(Q[0]) + 0.4 * np.sin(Q.sum())
    return np.array([x, y, 0.0])


def wall(depth: float = 0.0, **options: Any) -> gd.contact.Surface:
    """s = x - x_w with x_w so that the tip at Q is ``depth`` inside."""
    return gd.contact.Surface("tip", tip() + depth * np.eye(3)[0], (2.0, 0.0, 0.0), **options)
