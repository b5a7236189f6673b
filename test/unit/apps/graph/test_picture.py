"""The pictures: everything there, nothing on top of anything else, well-formed SVG."""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.apps.gear_graph import GearPair, Graph, JointEdge, Vertex, graph_of
from geared_dynamics.apps.gear_graph_drawing import graph_svg, picture, wheel_rows
from geared_dynamics.apps.gear_graph_svg import Box, Drawing, Stroke, svg_text
from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord

Mechanism = tuple[RobotRecord, DrivetrainRecord]

URDF = Path(__file__).parents[4] / "urdf"
ROBOTS = tuple(sorted(path.stem for path in URDF.glob("*.urdf")))
SVG = "{http://www.w3.org/2000/svg}"
# Lines may touch the vertex they end at.
TOUCH = 0.01  # [px]


def model_of(robot: str) -> gd.GearedModel:
    """A robot of ``urdf/``; the PUMA's tensors are known to warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
        return gd.load_model(URDF / f"{robot}.urdf", URDF / f"{robot}.drivetrain.yaml")


def clashes(drawing: Drawing) -> list[str]:
    """What lies on top of something else, or outside the sheet."""
    nodes = [(f"vertex {node.name}", node.box) for node in drawing.nodes]
    labels = [(f"label {label.text}", label.box) for label in drawing.labels]
    found = [
        f"{a} on {b}"
        for (a, one), (b, other) in combinations([*nodes, *labels], 2)
        if shrunk(one).overlaps(other)
    ]
    lines = [(stroke.kind, part) for stroke in drawing.strokes for part in segments(stroke)]
    found += [
        f"{kind} through {name}"
        for kind, line in lines
        for name, box in [*nodes, *labels]
        if line.overlaps(shrunk(box))
    ]
    sheet = Box(0, 0, drawing.width, drawing.height)
    found += [
        f"{name} outside"
        for name, box in [*nodes, *labels]
        if box.x < 0
        or box.y < 0
        or box.x + box.width > sheet.width
        or box.y + box.height > sheet.height
    ]
    return found + shared_lines(drawing)


def shared_lines(drawing: Drawing) -> list[str]:
    """Pairs of heavy edges that run along each other."""
    heavy = [s for s in drawing.strokes if s.kind in ("gear", "stated")]
    return [
        f"heavy edges at {a.x:.0f}, {a.y:.0f}"
        for one, other in combinations(heavy, 2)
        for a in segments(one)
        for b in segments(other)
        if (a.width > 1) == (b.width > 1) and thickened(a).overlaps(b)
    ]


def segments(stroke: Stroke) -> Iterator[Box]:
    """The parts of a line as thin boxes; all are horizontal or vertical."""
    for (x1, y1), (x2, y2) in zip(stroke.points, stroke.points[1:], strict=False):
        assert x1 == x2 or y1 == y2
        yield Box(min(x1, x2), min(y1, y2), abs(x2 - x1) + TOUCH / 2, abs(y2 - y1) + TOUCH / 2)


def shrunk(box: Box) -> Box:
    """A box without its border."""
    return Box(box.x + TOUCH, box.y + TOUCH, box.width - 2 * TOUCH, box.height - 2 * TOUCH)


def thickened(line: Box) -> Box:
    """A line with the width it is drawn in, without its ends."""
    if line.width > line.height:
        return Box(line.x + TOUCH, line.y - 1.5, line.width - 2 * TOUCH, 3.0)
    return Box(line.x - 1.5, line.y + TOUCH, 3.0, line.height - 2 * TOUCH)


def texts(svg: str) -> list[str]:
    """All texts of an SVG document."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("robot", ROBOTS)
def test_nothing_overlaps(robot: str) -> None:
    model = model_of(robot)
    graph = graph_of(*model.records)
    assert clashes(picture(model.name, graph, wheel_rows(model))) == []


def test_the_table_has_ratio_teeth_and_speed_of_each_wheel() -> None:
    model = model_of("planetary_2r")
    _, sun, planet, *_ = wheel_rows(model)
    assert sun == ("gearbox_1.sun", "base_link", "20", "-2 × joint_1", "-19.1")
    assert planet[2:] == ("10", "4 × joint_1", "38.2")
    found = texts(graph_svg(model))
    for cell in (*sun, *planet, "overall ratio", "teeth"):
        assert cell in found
    assert len(wheel_rows(model)) == 1 + len(model.wheel_names)
    coupled = dict((row[0], row[3]) for row in wheel_rows(model_of("tx40")))
    assert coupled["rotor_6"].count("×") == 2


def test_overlaps_are_found() -> None:
    """The negative control: squeeze a picture."""
    model = model_of("tx40")
    drawing = picture(model.name, graph_of(*model.records))
    label = drawing.labels[-1]
    twice = Drawing(drawing.width, drawing.height, drawing.nodes, (*drawing.labels, label))
    assert clashes(twice)
    box = drawing.nodes[1].box
    through = Stroke(((0.0, box.y + 5), (drawing.width, box.y + 5)), "gear")
    assert clashes(Drawing(drawing.width, drawing.height, drawing.nodes, (), (through,)))


@pytest.mark.parametrize("robot", ROBOTS)
def test_everything_is_there(robot: str) -> None:
    """Each link and wheel three times, each ratio once, each axis in the key."""
    model = model_of(robot)
    found = texts(svg_text(picture(model.name, graph_of(*model.records)), robot))
    for name in (*model.body_names, *model.wheel_names):
        assert (
            sum(re.match(rf"{re.escape(name)}( \(\w\))?$", text) is not None for text in found)
            == 3
        )
    solved = {name for mesh in model.records.drivetrain.meshes for name in mesh.members}
    for name, row in zip(model.wheel_names, model.Gamma, strict=True):
        for ratio in row[row != 0.0] if name not in solved else ():
            assert f"{ratio:.6g}" in found
    for mesh in model.records.drivetrain.meshes:
        one, other = mesh.sizes
        assert {f"{one:g}:{other:g}", f"{other:g}:{one:g}"} & set(found)
    for pair in graph_of(*model.records).pairs:
        assert any(re.match(rf"{pair.axis}: .*\b{pair.name}\b", text) for text in found)


def test_all_robots_are_drawn() -> None:
    assert len(ROBOTS) >= 6


def axes_of(model: gd.GearedModel) -> dict[str, str]:
    """Letter of each joint's and each wheel's axis."""
    return {pair.name: pair.axis for pair in graph_of(*model.records).pairs}


def test_planets_whose_circle_has_no_radius_have_axes_of_their_own() -> None:
    """Three planets stand on three lines, wherever these are."""
    axes = axes_of(model_of("planetary_2r"))
    for box, joint in (("gearbox_1", "joint_1"), ("gearbox_2", "joint_2")):
        planets = [axes[f"{box}.planet_{k}"] for k in (1, 2, 3)]
        assert axes[f"{box}.sun"] == axes[joint]
        assert len({*planets, axes[joint]}) == 4
    assert len(set(axes.values())) == 2 + 6


def test_motors_that_only_the_urdf_gives_have_axes_of_their_own() -> None:
    """Nobody says where they are."""
    urdf = (URDF / "elbow.urdf").read_text("utf-8")
    drives = "".join(
        f'<transmission name="t{k}"><type>transmission_interface/SimpleTransmission</type>'
        f'<joint name="joint_{k}"/><actuator name="m{k}"><mechanicalReduction>{k}0'
        "</mechanicalReduction></actuator></transmission>"
        for k in (1, 2, 3)
    )
    with pytest.warns(gd.GearedDynamicsWarning, match="reduction is read here"):
        model = gd.load_model(urdf.replace("</robot>", f"{drives}</robot>"))
    axes = axes_of(model)
    assert len(axes) == len(set(axes.values())) == 6


BODY = {"mass": 1, "inertia": {"axial": 1e-2}}
BOX = {
    "joint": "joint_1",
    "housing": "base_link",
    "layout": "ring_fixed",
    "input": "carrier",
    "output": "sun",
    "teeth": {"sun": 20, "planet": 10, "ring": 40},
    "planets": 3,
    "radius": 0.1,
    "planet": BODY,
    "carrier": BODY,
}
DRIVE = {
    "joint": "joint_2",
    "housing": "link_1",
    "fixed": "circular_spline",
    "teeth": {"flexspline": 200, "circular_spline": 202},
    "wave_generator": BODY,
}


def test_no_ratio_is_stated_of_wheels_that_are_only_arms() -> None:
    """A wave generator and a carrier mesh with nothing; their spins follow all the same."""
    sections = {"planetary": {"box": BOX}, "harmonic": {"drive": DRIVE}}
    model = gd.load_model(URDF / "elbow.urdf", {"version": 1, **sections})
    graph = graph_of(*model.records)
    assert not any(gearing.stated for gearing in graph.gearings)
    drawing = picture("box", graph)
    assert clashes(drawing) == []
    assert {"202:200", "10:20", "10:40"} <= {label.text for label in drawing.labels}
    assert "stated ratio" not in texts(graph_svg(model))


def test_chen_wang_1998(chen_wang_1998: Mechanism) -> None:
    graph = graph_of(*chen_wang_1998)
    drawing = picture("chen_wang_1998", graph)
    assert clashes(drawing) == []
    kinds = [stroke.kind for stroke in drawing.strokes]
    # In two graphs, and a sample in the key.
    assert kinds.count("gear") == 2 * 4 + 1
    assert kinds.count("turning") == 2 * 7 + 3 + 1
    looks = [node.look for node in drawing.nodes]
    assert (looks.count("primary"), looks.count("secondary"), looks.count("input")) == (7, 2, 3)


def test_same_input_same_picture() -> None:
    assert graph_svg(model_of("tx40")) == graph_svg(model_of("tx40"))


def test_names_are_quoted() -> None:
    """Names of any characters, those that XML does not have included."""
    odd = "<&\"'\x07\ud800 \N{CJK UNIFIED IDEOGRAPH-4E2D}"
    graph = Graph(
        (Vertex("base", "link"), Vertex(odd, "wheel")), (JointEdge("base", odd, "a", odd),)
    )
    found = texts(svg_text(picture(odd, graph), odd))
    assert (
        "<&\"'\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} \N{CJK UNIFIED IDEOGRAPH-4E2D}"
        in found
    )


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Trees of links with wheels on links and wheels, geared at random."""
    links = draw(st.integers(1, 9))
    wheels = draw(st.integers(0, 14))
    word = st.text("abW_.", min_size=1, max_size=14)
    names = [f"{k}{draw(word)}" for k in range(links + wheels)]
    kinds = ["link"] * links + ["wheel"] * wheels
    holders = [
        draw(st.integers(max(0, k - 2) if draw(st.booleans()) else 0, k - 1))
        for k in range(1, links)
    ]
    holders += [
        draw(st.integers(0, k - 1 if draw(st.booleans()) else links - 1))
        for k in range(links, links + wheels)
    ]
    pairs = [
        JointEdge(names[holder], names[k], draw(st.sampled_from("abcdefg")), f"pair_{k}")
        for k, holder in enumerate(holders, start=1)
    ]
    ends = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
    geared = draw(st.lists(ends, max_size=12)) if len(names) > 1 else []
    ratio = st.floats(-2000, 2000, allow_nan=False)
    gearings = [
        GearPair((one, other), (20, 161), draw(ratio), draw(st.booleans()))
        for one, other in geared
    ]
    vertices = [
        Vertex(name, "link" if kind == "link" else "wheel")
        for name, kind in zip(names, kinds, strict=True)
    ]
    return Graph(tuple(vertices), tuple(pairs), tuple(gearings))


@given(graphs())
def test_nothing_overlaps_in_random_graphs(graph: Graph) -> None:
    drawing = picture("random", graph)
    assert clashes(drawing) == []
    ET.fromstring(svg_text(drawing, "random"))
