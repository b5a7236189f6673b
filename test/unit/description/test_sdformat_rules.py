"""Gazebo's reader keeps all links and joints of every robot that we deliver or write."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description import DHRow
from naive.sdformat import Sdf, converted

URDF = Path(__file__).resolve().parents[3] / "urdf"
ROBOTS = sorted(URDF.glob("*.urdf"))
XACROS = sorted(URDF.glob("*.urdf.xacro"))
SOLID = '<inertial><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
SOLID += 'ixy="0" ixz="0" iyz="0"/></inertial>'


def complete(text: str) -> Sdf:
    """Convert and require that nothing was lost: every moving joint, and what hangs on it."""
    found = converted(text)
    assert found.warnings == found.errors == []
    moving = re.findall(r'<joint\b[^>]*\btype="(?:revolute|continuous|prismatic)"', text)
    kinds = [kind for kind, _, _ in found.joints.values()]
    assert sum(kind != "fixed" for kind in kinds) == len(moving) > 0
    return found


@pytest.mark.parametrize("file", ROBOTS, ids=lambda path: path.stem)
def test_every_robot_arrives_whole(file: Path) -> None:
    complete(file.read_text("utf-8"))


@pytest.mark.parametrize("sim", ["mock", "mujoco", "gazebo"])
@pytest.mark.parametrize("file", XACROS, ids=lambda path: path.name)
def test_every_robot_for_ros2_control_stands_on_the_ground(file: Path, sim: str) -> None:
    xacro = pytest.importorskip("xacro")
    found = complete(xacro.process_file(str(file), mappings={"sim": sim}).toxml())
    assert ("fixed", "world", "base_link") in found.joints.values()


def test_a_robot_written_by_us_arrives_whole() -> None:
    """A table says nothing of the base's mass."""
    tensor = np.diag([0.01, 0.1, 0.1]).tolist()
    rows = [
        DHRow(a=0.4, alpha=0.5, mass=3.0, com=(-0.2, 0.0, 0.0), tensor=tensor),
        DHRow(a=0.3, alpha=0.0, mass=2.0, com=(-0.1, 0.0, 0.0), tensor=tensor),
    ]
    model = gd.from_dh(rows)
    found = complete(gd.to_urdf(model))
    assert set(found.links) == {"base", "link_1", "link_2"}
    again = gd.load_model(gd.to_urdf(model))
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (3, 2))
    np.testing.assert_allclose(gd.inverse_dynamics(again, *q), gd.inverse_dynamics(model, *q))


def test_a_root_with_mass_or_called_world_is_written_as_it_is() -> None:
    text = (URDF / "brisk6.urdf").read_text("utf-8")
    written = gd.to_urdf(gd.load_model(text))
    assert converted(written).links["base_link"].mass == 3.0
    on_world = text.replace('"base_link"', '"world"')
    bare = re.sub(r"(<link name=\"world\">).*?(</link>)", r"\1\2", on_world, flags=re.DOTALL)
    found = complete(gd.to_urdf(gd.load_model(bare)))
    assert "world" not in found.links


@pytest.mark.parametrize("world", [False, True], ids=["root", "on world"])
def test_a_base_without_mass_loses_the_arm(world: bool) -> None:
    """Negative control: brisk6 with its base as it must not be."""
    text = (URDF / "brisk6.urdf").read_text("utf-8")
    start = text.index('<link name="base_link">')
    end = text.index("</link>", start) + len("</link>")
    text = text[:start] + '<link name="base_link"/>' + text[end:]
    if world:
        ground = '<link name="world"/><joint name="w" type="fixed"><parent link="world"/>'
        text = text.replace("</robot>", f'{ground}<child link="base_link"/></joint></robot>')
    found = converted(text)
    assert found.errors
    if world:
        assert "parent frame with name[base_link] of joint[joint_1] not found" in found.errors
    else:
        assert not found.links
        assert found.warnings[0].startswith("link[base_link] has no <inertial>")


def arm(second: str, third: str, kinds: tuple[str, str], extra: str = "") -> Sdf:
    """Three links in a row, as in sdformat's own tests."""
    links = "".join(
        f'<link name="link{k}">{body}</link>' for k, body in enumerate((SOLID, second, third), 1)
    )
    joints = "".join(
        f'<joint name="joint{k}_{k + 1}" type="{kind}"><parent link="link{k}"/>'
        f'<child link="link{k + 1}"/><origin xyz="0 0 0" rpy="0 0 1.57"/></joint>'
        for k, kind in enumerate(kinds, 1)
    )
    return converted(f'<robot name="test_robot">{links}{joints}{extra}</robot>')


# test/integration/urdf_to_sdf.cc of sdformat: links, joints and frames that it expects.
UPSTREAM = {
    "intermediate, fixed parent": (
        ("", SOLID, ("fixed", "continuous"), ""),
        {"link1", "link3"}, {"joint2_3": ("link1", "link3")}, {"joint1_2", "link2"}, 0,
    ),
    "intermediate, fixed parent, not lumped": (
        ("", SOLID, ("fixed", "continuous"), "joint1_2"),
        {"link1"}, {}, set(), 2,
    ),
    "intermediate, fixed child": (
        ("", SOLID, ("continuous", "fixed"), ""),
        {"link1", "link2"}, {"joint1_2": ("link1", "link2")}, {"joint2_3", "link3"}, 0,
    ),
    "intermediate, fixed child, not lumped": (
        ("", SOLID, ("continuous", "fixed"), "joint2_3"),
        {"link1"}, {}, set(), 2,
    ),
    "leaf, fixed": (
        (SOLID, "", ("continuous", "fixed"), ""),
        {"link1", "link2"}, {"joint1_2": ("link1", "link2")}, {"joint2_3", "link3"}, 0,
    ),
    "leaf, moving": (
        (SOLID, "", ("continuous", "continuous"), ""),
        {"link1", "link2"}, {"joint1_2": ("link1", "link2")}, set(), 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UPSTREAM)
def test_the_rules_are_those_of_sdformat(name: str) -> None:
    (second, third, kinds, whole), links, joints, frames, warned = UPSTREAM[name]
    extra = ""
    if whole:
        extra = f'<gazebo reference="{whole}"><disableFixedJointLumping>true'
        extra += "</disableFixedJointLumping></gazebo>"
    found = arm(second, third, kinds, extra)
    assert set(found.links) == links
    assert {key: ends for key, (_, *ends) in found.joints.items()} == {
        key: list(ends) for key, ends in joints.items()
    }
    assert found.frames == frames
    assert len(found.warnings) == warned
    assert found.errors == []


@pytest.mark.parametrize(
    ("moments", "fine"),
    [
        ((0.066, 0.086, 0.0125), False),  # as published for link 3 of the PUMA 560
        ((0.071, 0.086, 0.0175), True),
        ((0.0, 0.0, 0.0), True),  # a point mass
        ((1.0, 1.0, 2.0), True),
        ((1.0, 1.0, 2.0 + 1e-9), False),
        ((-0.1, 0.2, 0.2), False),
    ],
)
def test_inertias_that_gazebo_refuses(moments: tuple[float, ...], fine: bool) -> None:
    xx, yy, zz = moments
    body = f'<inertial><mass value="1"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" '
    found = arm(f'{body}ixy="0" ixz="0" iyz="0"/></inertial>', SOLID, ("continuous",) * 2)
    assert found.errors == ([] if fine else ["a link named link2 has invalid inertia"])
