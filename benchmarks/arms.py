"""The arms that the benchmarks use, for us and for Pinocchio."""

from xml.etree import ElementTree as ET

import numpy as np
import pinocchio as pin

import geared_dynamics as gd

RATIO, AXIAL, MASS = 60.0, 2.0e-4, 0.3  # of every rotor: [1], [kg m^2], [kg]
SKEW = [0.6, 0.0, 0.8]
# a [m], alpha [rad], d [m], mass [kg] of an arm of the usual six-joint kind.
TABLE = (
    (0.0, np.pi / 2, 0.09, 3.7),
    (-0.43, 0.0, 0.0, 8.4),
    (-0.39, 0.0, 0.0, 2.3),
    (0.0, np.pi / 2, 0.11, 1.2),
    (0.0, -np.pi / 2, 0.09, 1.2),
    (0.0, 0.0, 0.08, 0.2),
)


def rows(count: int = len(TABLE)) -> list[dict[str, object]]:
    """DH rows of the arm, repeated for longer chains."""
    chosen = [TABLE[k % len(TABLE)] for k in range(count)]
    return [
        {
            "a": a,
            "alpha": alpha,
            "d": d,
            "mass": mass,
            "com": (-0.5 * a, 0.01, -0.02),
            "tensor": np.diag([0.02, 0.03, 0.025]) * mass,
        }
        for a, alpha, d, mass in chosen
    ]


def drivetrain(
    joints: int, wheels_per_joint: int = 1, carrier: str | None = None
) -> dict[str, object]:
    """Rotors skew to each joint, per joint always the same sum.

    They ride on the link before the joint, or all on the one named.
    """
    carriers = ["base", *[f"link_{k + 1}" for k in range(joints)]]
    if carrier:
        carriers = [carrier] * joints
    wheels, spins = {}, []
    for joint in range(joints):
        for k in range(wheels_per_joint):
            name = f"rotor_{joint + 1}_{k + 1}"
            wheels[name] = {
                "carrier": carriers[joint],
                "axis": SKEW,
                "mass": MASS / wheels_per_joint,
                "inertia": {"axial": AXIAL / wheels_per_joint},
            }
            spins.append({"wheel": name, "joint": f"joint_{joint + 1}", "ratio": RATIO})
    return {"version": 1, "wheels": wheels, "spins": spins}


def ours(joints: int = 6, wheels_per_joint: int = 1, carrier: str | None = None) -> gd.GearedModel:
    """Our complete model."""
    drives = drivetrain(joints, wheels_per_joint, carrier)
    return gd.from_dh(rows(joints), drives, carrier_frame="joint")


def armature() -> pin.Model:
    """Pinocchio's usual model: the reflected inertia on the diagonal."""
    model = pin.buildModelFromXML(gd.to_urdf(gd.from_dh(rows())))
    model.armature[:] = RATIO**2 * AXIAL
    return model


def mimic() -> pin.Model:
    """Pinocchio's exact model: every rotor a link, its joint a mimic of the arm's joint."""
    robot = ET.fromstring(gd.to_urdf(gd.from_dh(rows())))
    for joint in [j for j in robot.findall("joint") if j.get("type") == "revolute"]:
        name, parent = joint.get("name"), joint.find("parent").get("link")  # type: ignore[union-attr]
        moments = f'ixx="{AXIAL / 2}" iyy="{AXIAL / 2}" izz="{AXIAL}" ixy="0" ixz="0" iyz="0"'
        rotor = (
            f'<robot><link name="rotor_{name}"><inertial><mass value="{MASS}"/>'
            f"<inertia {moments}/></inertial></link>"
            f'<joint name="spin_{name}" type="revolute"><origin rpy="0 {np.arctan2(0.6, 0.8)} 0"/>'
            f'<parent link="{parent}"/><child link="rotor_{name}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1e9" upper="1e9" effort="1e9" velocity="1e9"/>'
            f'<mimic joint="{name}" multiplier="{RATIO}"/></joint></robot>'
        )
        robot.extend(list(ET.fromstring(rotor)))
    return pin.buildModelFromXML(ET.tostring(robot, encoding="unicode"), mimic=True)
