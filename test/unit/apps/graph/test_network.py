"""Graph, canonical graph and open-loop chain of mechanisms with known answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.gear_graph import (
    GearPair,
    Graph,
    canonical,
    graph_of,
    letter,
    open_loop_chain,
)
from geared_dynamics.description.drive_records import DrivetrainRecord, SpinRecord, WheelRecord
from geared_dynamics.description.robot_records import (
    JointRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)

Mechanism = tuple[RobotRecord, DrivetrainRecord]

URDF = Path(__file__).parents[4] / "urdf"


def thin(graph: Graph) -> set[tuple[str, str, str]]:
    """Thin edges: holder, axis, held."""
    return {(pair.holder, pair.axis, pair.held) for pair in graph.pairs}


# Chen 1998, fig. 2 (b); axis d is wheel 4's own.
FIGURE_2B = {("0", "a", "1"), ("1", "b", "2"), ("2", "c", "3")}
FIGURE_2B |= {("0", "d", "4"), ("0", "a", "5"), ("1", "b", "6"), ("2", "c", "7")}


def test_chen_wang_1998(chen_wang_1998: Mechanism) -> None:
    """Vertices, axes and gear pairs of the example; its carriers are canonical already."""
    graph = graph_of(*chen_wang_1998)
    assert [vertex.name for vertex in graph.vertices] == list("01234567")
    assert {vertex.name for vertex in graph.vertices if vertex.motor} == set("456")
    assert thin(graph) == thin(canonical(graph)) == FIGURE_2B
    pairs = {frozenset(gearing.members) for gearing in graph.gearings}
    assert pairs == {frozenset(pair) for pair in ("41", "52", "76", "37")}
    assert not any(gearing.stated for gearing in graph.gearings)


def test_canonical_graph_does_not_depend_on_the_carriers(rearranged: Mechanism) -> None:
    graph = graph_of(*rearranged)
    assert {("1", "a", "5"), ("2", "b", "6")} <= thin(graph)
    assert thin(canonical(graph)) == FIGURE_2B


def test_wheel_a_little_beside_the_joint_is_not_coaxial(chen_wang_1998: Mechanism) -> None:
    """The negative control: 1 cm, and 1 % of a radian."""
    robot, drives = chen_wang_1998
    for change in ({"position": (0.01, 0.0, 0.0)}, {"axis": (0.01, 0.0, 0.99995)}):
        wheels = [replace(w, **change) if w.name == "5" else w for w in drives.wheels]
        graph = graph_of(robot, replace(drives, wheels=tuple(wheels)))
        assert graph.holders()["5"].axis != "a"


def test_open_loop_chain_of_chen_wang_1998(rearranged: Mechanism) -> None:
    """Fig. 3, and section 2: 4 and 5 are carried by 0, 6 by 1, 7 by 2."""
    chain = open_loop_chain(graph_of(*rearranged))
    assert {pair.held: pair.holder for pair in chain.pairs if pair.held in "4567"} == {
        "4": "0",
        "5": "0",
        "6": "1",
        "7": "2",
    }
    links = [(pair.holder, pair.name, pair.held) for pair in chain.pairs if pair.held in "123"]
    assert links == [("0", "theta_1", "1"), ("1", "theta_2", "2"), ("2", "theta_3", "3")]
    assert chain.gearings == ()


def test_no_axis_twice_on_a_path(rearranged: Mechanism) -> None:
    graph = canonical(graph_of(*rearranged))
    for vertex in graph.vertices:
        assert len(axes_to(graph, vertex.name)) == len(set(axes_to(graph, vertex.name)))


def axes_to(graph: Graph, name: str) -> list[str]:
    """Axes on the path from the root."""
    holders, axes = graph.holders(), []
    while name in holders:
        axes.append(holders[name].axis)
        name = holders[name].holder
    return axes


def test_coaxial_joints_in_series() -> None:
    """The canonical graph hangs both links on the base; in the chain they stay in series."""
    robot = RobotRecord(
        "series",
        "<records>",
        tuple(LinkRecord(name) for name in ("base", "one", "two")),
        (
            JointRecord("first", "revolute", "base", "one", axis=(0.0, 0.0, 1.0)),
            JointRecord("second", "revolute", "one", "two", axis=(0.0, 0.0, -1.0)),
        ),
    )
    graph = graph_of(robot, DrivetrainRecord())
    assert thin(canonical(graph)) == {("base", "a", "one"), ("base", "a", "two")}
    assert thin(open_loop_chain(graph)) == {("base", "a", "one"), ("one", "a", "two")}


def test_sliding_axes_are_their_own() -> None:
    joints = (
        JointRecord("lift", "prismatic", "base", "one", axis=(0.0, 0.0, 1.0)),
        JointRecord("push", "prismatic", "one", "two", axis=(0.0, 0.0, 1.0)),
    )
    links = tuple(LinkRecord(name) for name in ("base", "one", "two"))
    graph = graph_of(RobotRecord("slides", "<records>", links, joints), DrivetrainRecord())
    assert thin(canonical(graph)) == {("base", "a", "one"), ("one", "b", "two")}
    assert all(pair.slides for pair in graph.pairs)


def test_stated_ratios_and_fixed_links() -> None:
    """A ratio joins the wheel to the joint's link; fixed links are one vertex."""
    joints = (
        JointRecord("turn", "continuous", "base", "arm", axis=(0.0, 0.0, 1.0)),
        JointRecord("glue", "fixed", "arm", "tool"),
        JointRecord("tip", "revolute", "tool", "hand", mimic=MimicRecord("turn", -0.5)),
    )
    links = tuple(LinkRecord(name) for name in ("base", "arm", "tool", "hand"))
    rotor = WheelRecord("rotor", "tool", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), 0.1, 1e-4, 1e-4)
    spins = (SpinRecord("rotor", (("turn", 10.0), ("tip", 0.0))),)
    drives = DrivetrainRecord(wheels=(rotor,), spins=spins)
    graph = graph_of(RobotRecord("arm", "<records>", links, joints), drives)
    assert [vertex.name for vertex in graph.vertices] == ["base", "arm", "hand", "rotor"]
    assert graph.holders()["rotor"].holder == "arm"
    assert graph.gearings == (
        GearPair(("rotor", "arm"), ratio=10.0, stated=True),
        GearPair(("hand", "arm"), ratio=-0.5, stated=True),
    )
    assert [gearing.label(0) for gearing in graph.gearings] == ["10", "-0.5"]


SERIES = """<robot name="r"><link name="base"/>
  <link name="l1"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="l2"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j1" type="continuous"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>
  </joint><joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/>
  <origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
WHEEL = "axis: [0, 0, 1], mass: 0.1, inertia: {axial: 1.0e-3}"


def test_a_wheel_on_a_wheel_has_the_ratio_that_the_file_states() -> None:
    """It spins at 3 j2 on the idler: no more, though relative to the link it spins otherwise."""
    drives = f"""version: 1
wheels:
  m: {{carrier: base, position: [-0.1, 0, 0], {WHEEL}}}
  i: {{carrier: l1, {WHEEL}}}
  t: {{carrier: i, {WHEEL}}}
spins:
  - {{mesh: [m, i], arm: base, radii: [0.01, 0.04], kind: belt}}
  - {{mesh: [i, l2], arm: l1, radii: [0.04, 0.04], kind: belt}}
  - {{wheel: t, joint: j2, ratio: 3}}
"""
    model = gd.load_model(SERIES, drives)
    assert model.Gamma[2].tolist() == [0.0, 4.0]
    graph = graph_of(*model.records)
    stated = [gearing for gearing in graph.gearings if gearing.stated]
    assert stated == [GearPair(("t", "l2"), ratio=3.0, stated=True)]


def test_a_wheel_with_a_stated_ratio_stays_where_it_is_carried() -> None:
    """The ratio would be another relative to the base; a meshed wheel may hang there."""
    drives = f"""version: 1
wheels: {{screw: {{carrier: l1, {WHEEL}}}, i: {{carrier: l1, {WHEEL}}}}}
spins: [{{wheel: screw, joint: j2, ratio: 9}},
        {{mesh: [i, l2], arm: l1, teeth: [20, 40], kind: internal}}]
"""
    model = gd.load_model(SERIES, drives)
    graph = graph_of(*model.records)
    for picture in (canonical(graph), open_loop_chain(graph)):
        assert picture.holders()["screw"].holder == "l1"
        assert picture.holders()["i"].holder == "base"


def test_label_has_the_own_size_first(chen_wang_1998: Mechanism) -> None:
    first = graph_of(*chen_wang_1998).gearings[0]
    assert (first.label(0), first.label(1)) == ("20:60", "60:20")


def test_coupled_wrist_of_the_tx40() -> None:
    model = gd.load_model(URDF / "tx40.urdf", URDF / "tx40.drivetrain.yaml")
    graph = graph_of(*model.records)
    stated = [gearing.members for gearing in graph.gearings if gearing.members[0] == "rotor_6"]
    assert stated == [("rotor_6", "link_5"), ("rotor_6", "link_6")]
    assert graph.holders()["rotor_6"].axis == graph.holders()["link_5"].axis == "e"


@pytest.mark.parametrize(
    ("k", "text"), [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (702, "aaa")]
)
def test_letters(k: int, text: str) -> None:
    assert letter(k) == text


def test_letters_are_different() -> None:
    assert len({letter(k) for k in np.arange(1000)}) == 1000
