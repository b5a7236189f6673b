"""Which drives of the URDF a file replaces: distances in trees, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.robot_records import JointRecord, LinkRecord, RobotRecord
from geared_dynamics.model import drive_sources


def random_tree(random: np.random.Generator) -> RobotRecord:
    """Links hung anywhere, joints in any order and of any kind."""
    count = int(random.integers(1, 9))
    names = ["base", *(f"link_{k}" for k in range(1, count + 1))]
    joints: list[Any] = [
        JointRecord(
            name=f"joint_{k}",
            kind=str(random.choice(["revolute", "prismatic", "fixed"])),  # type: ignore[arg-type]
            parent=names[int(random.integers(k))],
            child=names[k],
        )
        for k in range(1, count + 1)
    ]
    random.shuffle(joints)
    return RobotRecord("tree", "<records>", tuple(map(LinkRecord, names)), tuple(joints))


def chain(robot: RobotRecord, link: str) -> set[str]:
    """Movable joints between a link and the root."""
    incoming, found = {joint.child: joint for joint in robot.joints}, set()
    while link in incoming:
        found |= {incoming[link].name} if incoming[link].kind != "fixed" else set()
        link = incoming[link].parent
    return found


def test_steps_are_those_of_the_joints_between() -> None:
    """Against sets of joints; of a link that does not exist from the root."""
    random = np.random.default_rng(1)
    for _ in range(150):
        robot = random_tree(random)
        distances = drive_sources.LinkDistances(robot)
        for link in (*(link.name for link in robot.links), "", "nowhere"):
            for joint in robot.joints:
                between = chain(robot, link) ^ chain(robot, joint.child)
                assert distances.between(link, joint) == len(between | {joint.name})


def arm(n: int) -> tuple[str, dict[str, Any]]:
    """A serial arm with a transmission and a motor of the file for each joint."""
    parts = ['<robot name="r"><link name="l0"/>']
    for k in range(1, n + 1):
        parts.append(
            f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"'
            f' ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="revolute">'
            f'<parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="0.1 0 0"/>'
            f'<axis xyz="0 {k % 2} {1 - k % 2}"/>'
            '<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>'
            f'<transmission name="t{k}"><type>transmission_interface/SimpleTransmission</type>'
            f'<joint name="j{k}"><hardwareInterface>EffortJointInterface</hardwareInterface>'
            f'</joint><actuator name="a{k}"><mechanicalReduction>50</mechanicalReduction>'
            "</actuator></transmission>"
        )
    wheels = {
        f"w{k}": {
            "carrier": f"l{k - 1}",
            "axis": [0, k % 2, 1 - k % 2],
            "mass": 0.1,
            "inertia": {"axial": 1e-4},
        }
        for k in range(1, n + 1)
    }
    spins = [{"wheel": f"w{k}", "joint": f"j{k}", "ratio": 70} for k in range(1, n + 1)]
    motors = {f"m{k}": {"wheel": f"w{k}"} for k in range(1, n + 1)}
    drives = {"version": 1, "wheels": wheels, "spins": spins, "motors": motors}
    return "".join(parts) + "</robot>", drives


@pytest.mark.filterwarnings("ignore:transmission")
def test_the_files_motors_replace_every_transmission_at_little_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One rank of the whole, and not one for each joint; a joint's neighbours only are asked."""
    ranks, climbs = [], []
    rank, depth = drive_sources.rank, drive_sources.LinkDistances._depth
    monkeypatch.setattr(drive_sources, "rank", lambda A: ranks.append(A.shape) or rank(A))
    monkeypatch.setattr(
        drive_sources.LinkDistances, "_depth", lambda s, x: climbs.append(x) or depth(s, x)
    )
    n = 60
    model = gd.load_model(*arm(n))
    assert (model.wheel_names, set(model.Gamma.ravel())) == (
        tuple(f"w{k}" for k in range(1, n + 1)), {0.0, 70.0},
    )  # fmt: skip
    assert ranks == [(n, n)]
    assert len(climbs) <= 2 * (n + sum(range(n + 1)))  # from each motor, and once from the root
