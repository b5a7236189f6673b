"""What a URDF draws of its links: read, found, made small, or left out by name."""

from __future__ import annotations

import base64
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.scene import meshes
from geared_dynamics.scene.meshes import TRIANGLES, decimated, places, visual_parts
from geared_dynamics.scene.solids import Solid, capsule, sphere

ARM = """<robot name="r"><link name="base">{0}</link><link name="arm"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{1}</link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
  <origin xyz="0 0 0.5"/></joint></robot>"""
STL = """solid s
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid s
"""


def visual(shape: str, origin: str = "") -> str:
    """A visual element."""
    return f"<visual>{origin}<geometry>{shape}</geometry></visual>"


def test_shapes_are_read() -> None:
    drawn = (
        visual('<box size="1 2 3"/>', '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>')
        + visual('<cylinder radius="0.1" length="0.4"/>')
        + visual('<mesh filename="package://p/a.stl" scale="0.001 0.001 0.001"/>')
    )
    link = read_urdf(ARM.format("", drawn)).links[1]
    box, rod, mesh = link.visuals
    assert (box.kind, box.size, box.position) == ("box", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0))
    assert np.allclose(box.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert rod.size == (0.1, 0.4, 0.0)
    assert (mesh.mesh, mesh.size) == ("package://p/a.stl", (0.001, 0.001, 0.001))


@pytest.mark.parametrize(
    "odd",
    [
        "<visual/>",
        "<visual><geometry/></visual>",
        visual('<box size="1 2"/>'),
        visual('<box size="1 -2 3"/>'),
        visual('<box size="nan 1 1"/>'),
        visual('<sphere radius="x"/>'),
        visual("<mesh/>"),
        visual('<capsule radius="1"/>'),
        visual('<box size="1 1 1"/>', '<origin xyz="1 1"/>'),
    ],
)
def test_decoration_is_never_an_error(odd: str) -> None:
    assert gd.load_model(ARM.format(odd, odd)).records.robot.links[1].visuals == ()


def test_own_shapes_replace_rods() -> None:
    """Placed in the body, also of a link that is fixed to it."""
    model = gd.load_model(ARM.format("", visual('<sphere radius="0.2"/>')))
    (part,), left_out = visual_parts(model)
    assert (part.body, part.wheel, left_out) == (0, -1, ())
    np.testing.assert_allclose(part.solid.points.mean(axis=0), 0.0, atol=0.02)
    assert np.abs(part.solid.points).max() == pytest.approx(0.2, rel=0.05)


def test_meshes_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the URDF, above it in a package, in an overlay, and by a ``file:`` address."""
    robot = tmp_path / "share" / "my_arm" / "urdf" / "arm.urdf"
    overlay = tmp_path / "overlay"
    robot.parent.mkdir(parents=True)
    wanted = {
        "../meshes/a.stl": robot.parent.parent / "meshes" / "a.stl",
        "package://my_arm/meshes/a.stl": robot.parent.parent / "meshes" / "a.stl",
        "package://other/b.stl": overlay / "share" / "other" / "b.stl",
        f"file://{tmp_path}/c%20d.stl": tmp_path / "c d.stl",
    }
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(overlay))
    for file in wanted.values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(STL, encoding="utf-8")
    for name, file in wanted.items():
        found = next(path for path in places(name, str(robot)) if path.is_file())
        assert found.resolve() == file.resolve(), name
    assert not [p for p in places("https://x.org/a.stl", str(robot)) if p.is_file()]


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.step").write_text("x", encoding="utf-8")
    (tmp_path / "bad.stl").write_bytes(b"\0" * 90)
    names = ("missing.stl", "package://nowhere/x.dae", "a.step", "bad.stl")
    drawn = "".join(visual(f'<mesh filename="{name}"/>') for name in names)
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(ARM.format("", drawn), encoding="utf-8")
    parts, left_out = visual_parts(gd.load_model(urdf))
    assert parts == ()
    assert len(left_out) == len(names)
    for name, line in zip(names, left_out, strict=True):
        assert line.startswith(f"arm: {name}: ")
    assert "not found" in left_out[0]
    assert ".step is not one of" in left_out[2]


def test_a_mesh_is_read_in_its_scale(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "a.stl").write_text(STL, encoding="utf-8")
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(ARM.format("", visual('<mesh filename="a.stl" scale="2 2 -2"/>')), "utf-8")
    (part,), left_out = visual_parts(gd.load_model(urdf))
    assert left_out == ()
    assert part.solid.points.max() == pytest.approx(2.0)
    a, b, c = part.solid.points[part.solid.faces[0]]
    assert np.cross(b - a, c - a)[2] < 0.0  # mirrored, and still seen from its outer side


def test_decimation_keeps_the_shape() -> None:
    fine = capsule(np.zeros(3), np.array([0.3, 0.0, 0.0]), 0.1, corners=400)
    small = decimated(fine, 0.1)
    assert 0.02 * len(fine.faces) < len(small.faces) <= 0.1 * len(fine.faces)
    for side in (np.min, np.max):
        gap = side(small.points, axis=0) - side(fine.points, axis=0)
        assert np.abs(gap).max() < 0.02
    whole = decimated(fine, 1.0)
    assert len(whole.faces) == len(fine.faces)


def test_decimation_stops_before_the_shape_is_lost() -> None:
    assert len(decimated(sphere(1.0), 1e-6).faces) > 20
    assert TRIANGLES < 200_000


def test_surfaces_share_the_triangles_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(visual('<sphere radius="0.1"/>') for _ in range(20))
    model = gd.load_model(ARM.format(many, ""))
    shares = []

    def whole(solid: Solid, share: float) -> Solid:
        shares.append(share)
        return solid

    monkeypatch.setattr(meshes, "decimated", whole)
    parts, _ = visual_parts(model)
    every = sum(len(part.solid.faces) for part in parts)
    monkeypatch.setattr(meshes, "TRIANGLES", every // 4)
    visual_parts(model)
    assert shares == [1.0] * 20 + [0.25] * 20


# -- Files that would take for ever, or all memory ------------------------------------------------


def gltf(nodes: list[dict[str, Any]], **other: Any) -> str:
    """A scene of one triangle."""
    data = struct.pack("<9f3I", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2)
    address = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    scene = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 12},
        ],
        "buffers": [{"byteLength": 48, "uri": address}],
    }  # fmt: skip
    return json.dumps(scene | other)


COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array id="a" count="9">0 0 0 1 0 0
0 1 0</float_array><technique_common><accessor source="#a" count="3" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries><library_nodes>{}</library_nodes><library_visual_scenes>
<visual_scene id="vs"><node>{}</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#vs"/></scene></COLLADA>"""
DRAWN, TWICE = '<instance_geometry url="#g"/>', '<instance_node url="#n{0}"/>' * 2
DOUBLED = f'<node id="n0">{DRAWN}</node>' + "".join(
    f'<node id="n{k + 1}">{TWICE.format(k)}</node>' for k in range(30)
)
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n3 0 1 {}\n"
)
COUNTED = [{"componentType": kind, "count": 10**9, "type": "VEC3"} for kind in (5126, 5125)]
WELL = {
    "a.gltf": gltf([{"mesh": 0}]),
    "a.dae": COLLADA.format("", DRAWN),
    "b.dae": COLLADA.format(f'<node id="n">{DRAWN}</node>', '<instance_node url="#n"/>'),
    "a.ply": PLY.format(2),
}
HOSTILE = {
    "many.gltf": (
        gltf([{"children": list(range(1, 20_001))}, *[{"mesh": 0}] * 20_000]), "too large",
    ),
    "objects.gltf": (gltf([{"mesh": 0}], extras=[[]] * 250_000), "too large"),
    "numbers.gltf": (gltf([{"mesh": 0}], accessors=COUNTED), "too large"),
    "less.gltf": (
        gltf([{"mesh": 0}], accessors=[{**COUNTED[0], "count": -(10**9)}, COUNTED[1]]),
        "too large",
    ),
    "pipe.gltf": (gltf([{"mesh": 0}], buffers=[{"byteLength": 48, "uri": "pipe"}]), "no file"),
    "device.gltf": (
        gltf([{"mesh": 0}], buffers=[{"byteLength": 48, "uri": "/dev/zero"}]), "no file",
    ),
    "deep.gltf": ("[" * 100_000, "cannot be read"),
    "many.dae": (COLLADA.format(DOUBLED, '<instance_node url="#n30"/>'), "too large"),
    "itself.dae": (
        COLLADA.format('<node id="n"><instance_node url="#n"/></node>', DRAWN), "too large",
    ),
    "nodes.dae": (COLLADA.format("", f"<node>{DRAWN}</node>" * 10_000), "too large"),
    "nothing.dae": (COLLADA.format("", '<instance_node url="#x"/>'), "cannot be read"),
    "archive.dae": ("PK\3\4", "cannot be read"),
    "far.ply": (PLY.format(77), "does not have"),
    "before.ply": (PLY.format(-9), "does not have"),
}  # fmt: skip


def drawn_meshes(folder: Path, *names: str) -> tuple[int, tuple[str, ...]]:
    """How many meshes are drawn, and what is left out."""
    urdf = folder / "arm.urdf"
    drawn = "".join(visual(f'<mesh filename="{name}"/>') for name in names)
    urdf.write_text(ARM.format("", drawn), encoding="utf-8")
    parts, left_out = visual_parts(gd.load_model(urdf))
    return len(parts), left_out


def test_scenes_are_read(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    for name, text in WELL.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert drawn_meshes(tmp_path, *WELL) == (len(WELL), ())


def test_scenes_that_take_for_ever_are_left_out(tmp_path: Path) -> None:
    """And a pipe, from which nothing comes; names that no file has; corners that are not there."""
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    os.mkfifo(tmp_path / "pipe")
    for name, (text, _) in HOSTILE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    names = [*HOSTILE, "a" * 300 + ".stl", "a/" * 3000 + "b.stl"]
    why = [*(why for _, why in HOSTILE.values()), "not found", "not found"]
    count, left_out = drawn_meshes(tmp_path, *names)
    assert count == 0
    assert len(left_out) == len(names)
    for line, name, word in zip(left_out, names, why, strict=True):
        assert line.startswith(f"arm: {name}: ")
        assert word in line.removeprefix(f"arm: {name}: ")


def test_all_meshes_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file in many scales is as many meshes."""
    pytest.importorskip("trimesh")
    (tmp_path / "a.stl").write_text(STL, encoding="utf-8")
    monkeypatch.setattr(meshes, "MOST", 2 * len(STL))
    urdf = tmp_path / "arm.urdf"
    drawn = "".join(visual(f'<mesh filename="a.stl" scale="{k} 1 1"/>') for k in (1, 2, 3))
    urdf.write_text(ARM.format("", drawn), encoding="utf-8")
    parts, left_out = visual_parts(gd.load_model(urdf))
    assert len(parts) == 2
    (line,) = left_out
    assert "the meshes before it" in line
