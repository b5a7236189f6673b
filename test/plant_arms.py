"""Arms for the tests of the plants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

import geared_dynamics as gd

URDF = Path(__file__).resolve().parent.parent / "urdf"


# The paper's arm stands upright; along -z gravity would move neither of its joints.
GRAVITY = {"planetary_2r": (0.0, -9.81, 0.0)}


def example(name: str) -> gd.GearedModel:
    """A robot of urdf/."""
    files = (URDF / f"{name}.urdf", URDF / f"{name}.drivetrain.yaml")
    return gd.load_model(*files, gravity=GRAVITY.get(name, (0.0, 0.0, -9.81)))


def tx40() -> tuple[str, dict[str, Any]]:
    """The TX40 with its coupled wrist, rotors of mass, a last link that is a body, no friction."""
    drives = yaml.safe_load((URDF / "tx40.drivetrain.yaml").read_text("utf-8"))
    for wheel in drives["wheels"].values():
        wheel.update(mass=0.3, included_in_link=False)
    drives["joints"] = {f"joint_{k}": {"friction": {"viscous": 0.0}} for k in range(1, 7)}
    del drives["motors"]["motor_6"]["friction"]
    point = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'
    body = 'ixx="3e-3" ixy="0" ixz="0" iyy="4e-3" iyz="0" izz="2e-3"'
    return (URDF / "tx40.urdf").read_text("utf-8").replace(point, body), drives


def pendulum(**changes: Any) -> gd.GearedModel:
    """One link, one motor with all constants; ``changes`` are keys of the motor, limits."""
    low, high = changes.pop("limits", (-9, 9))
    urdf = f"""<robot name="pendulum"><link name="base"/>
      <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
        <limit lower="{low}" upper="{high}" effort="9" velocity="99"/></joint>
      <link name="arm"><inertial><mass value="1"/><origin xyz="0 0 0.3"/>
        <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
    </robot>"""
    motor = {"wheel": "rotor", "resistance": 0.5, "inductance": 1e-3, "torque_constant": 0.1}
    drives = {
        "version": 1,
        "wheels": {
            "rotor": {
                "carrier": "base",
                "axis": [0, 1, 0],
                "mass": 0.2,
                "inertia": {"axial": 1e-4},
            }
        },
        "spins": [{"wheel": "rotor", "joint": "j", "ratio": 10}],
        "motors": {"motor": {**motor, **changes.pop("motor", {})}},
        "joints": changes.pop("joints", {}),
    }
    return gd.load_model(urdf, drives, **changes)


def hold(model: gd.GearedModel, q: Any) -> np.ndarray:
    """Motor torques against gravity."""
    return gd.motor_torques(model, gd.gravity_forces(model, np.asarray(q, float)))
