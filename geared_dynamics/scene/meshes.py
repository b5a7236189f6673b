"""The shapes that a URDF draws of its links: mesh files found, read and made small."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.description.geometry import Vector3
from geared_dynamics.description.robot_records import VisualRecord
from geared_dynamics.errors import lxml_etree
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.shapes import GLASS, Part, colour_of
from geared_dynamics.scene.solids import Solid, box, cylinder, sphere

LARGEST, MOST = 100_000_000, 150_000_000  # bytes of a mesh file, and of all of an arm
TRIANGLES = 120_000  # of all meshes together: a page of some 4 MB
FINEST, TRIED = 1e6, 48  # cells along a mesh: corners at one place are one; a first try
COARSEST = 16  # cells along a mesh below which it is no longer made smaller
BRACKETS = 200_000  # of a scene's JSON text; each becomes an object
NODES, NUMBERED = 5000, 10_000_000  # of a scene: nodes, and corners and indices of all of them
LETTERS = 4  # that a number takes in a text
TOO_LARGE = "its scene is too large"
KINDS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")


def visual_parts(model: GearedModel) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Surfaces of the links that the URDF draws, and a line for each mesh that is left out.

    Args:
        model: Geared model.
    """
    found: list[tuple[int, Solid]] = []
    left_out: list[str] = []
    read: dict[tuple[str, str, Vector3], Solid | str] = {}
    left = MOST
    for link in model.records.robot.links:
        frame = model.frame(link.name)
        for visual in link.visuals:
            same = visual.kind, visual.mesh, visual.size  # legs share their meshes
            if same not in read:
                read[same], size = shape_of(visual, model.source, left)
                left -= size
            shape = read[same]
            if isinstance(shape, str):
                left_out.append(f"{link.name}: {visual.mesh}: {shape}")
                continue
            own = shape.placed(np.array(visual.rotation), np.array(visual.position))
            found.append((frame.body, own.placed(frame.rotation, frame.position)))
    every = sum(len(solid.faces) for _, solid in found)
    share = min(1.0, TRIANGLES / max(every, 1))
    parts = (
        Part(body, -1, decimated(solid, share), colour_of(body), GLASS) for body, solid in found
    )
    return tuple(parts), tuple(dict.fromkeys(left_out))


def shape_of(visual: VisualRecord, urdf: str, left: int) -> tuple[Solid | str, int]:
    """Triangles of a shape, or why there are none; and the bytes that were read.

    Args:
        visual: What the URDF says.
        urdf: Path of the URDF.
        left: Bytes that may still be read.
    """
    size = np.array(visual.size)
    if visual.kind == "box":
        return box(size), 0
    if visual.kind == "cylinder":
        return cylinder(float(size[0]), 0.5 * float(size[1])), 0
    if visual.kind == "sphere":
        return sphere(float(size[0])), 0
    file = next((path for path in places(visual.mesh, urdf) if is_there(path)), None)
    if file is None:
        return "not found", 0
    if file.suffix.lower() not in KINDS:
        return f"{file.suffix or 'a file without ending'} is not one of {', '.join(KINDS)}", 0
    bytes_ = file.stat().st_size
    if bytes_ > LARGEST:
        return f"larger than {LARGEST // 1_000_000} MB", 0
    if bytes_ > left:
        return f"the meshes before it have {MOST // 1_000_000} MB together", 0
    return read_mesh(file, size), bytes_


def is_there(path: Path) -> bool:
    """Whether there is such a file; a name that the system does not take has none."""
    try:
        return path.is_file()
    except OSError:
        return False


def places(name: str, urdf: str) -> Iterator[Path]:
    """Where a mesh may lie: its package on the search paths and above the URDF, or beside it.

    Args:
        name: As the URDF writes it.
        urdf: Path of the URDF.
    """
    folder = Path(urdf).absolute().parent
    kind, parted, rest = name.partition("://")
    if not parted:
        yield folder / name
        return
    rest = unquote(rest)
    if kind == "file":
        yield Path(rest)
    if kind not in ("package", "model"):
        return
    rest = rest.lstrip("/")
    package = rest.partition("/")[0]
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix, "share", rest)
    for root in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if root:
            yield Path(root, rest)
            if Path(root).name == package:
                yield Path(root).parent / rest
    for above in (folder, *folder.parents):
        yield above / rest
        if above.name == package:
            yield above.parent / rest
        yield above / "share" / rest


def scene_fault(file: Path) -> str:
    """Why the scene of a file would take for ever to read, or all memory; empty if not."""
    kind = file.suffix.lower()
    if kind in (".gltf", ".glb"):
        return gltf_fault(file)
    return dae_fault(file) if kind == ".dae" else ""


def dae_fault(file: Path) -> str:
    """As ``scene_fault``, of COLLADA, whose nodes may stand for others, in several places.

    Args:
        file: ``.dae``.
    """
    etree = lxml_etree()
    root = etree.parse(str(file), etree.XMLParser(resolve_entities=False, no_network=True))
    shapes, nodes = (
        {f"#{one.get('id')}": one for one in root.iter(f"{{*}}{kind}")}
        for kind in ("geometry", "node")
    )
    known: dict[Any, float] = {}

    def weight(node: Any) -> float:
        """Numbers that a node draws, with its own share of the most nodes."""
        if node not in known:
            known[node] = math.inf  # while it is looked at: it may hold itself
            total = NUMBERED / NODES
            for part in node.iterchildren("{*}node"):
                total += weight(part)
            for part in node.iterchildren("{*}instance_node"):
                total += weight(nodes[part.get("url")])
            for part in node.iterchildren("{*}instance_geometry"):
                numbers = shapes[part.get("url")].iter("{*}p")
                total += sum(len(one.text or "") for one in numbers) / LETTERS
            known[node] = total
        return known[node]

    scenes = root.iter("{*}visual_scene", "{*}library_nodes")
    drawn = sum(weight(node) for scene in scenes for node in scene.iterchildren("{*}node"))
    return TOO_LARGE if drawn > NUMBERED else ""


def gltf_fault(file: Path) -> str:
    """As ``scene_fault``, of glTF.

    Args:
        file: ``.gltf``, or ``.glb``, whose first chunk is the same text.
    """
    text = file.read_bytes()
    if text[:4] == b"glTF":
        text = text[20 : 20 + int.from_bytes(text[12:16], "little")]
    if text.count(b"{") + text.count(b"[") > BRACKETS:
        return TOO_LARGE
    scene = json.loads(text)
    for buffer in scene.get("buffers", ()):
        name = str(buffer.get("uri", "data:"))
        if not name.startswith("data:"):
            path = file.parent / unquote(name)
            if not is_there(path) or path.stat().st_size > LARGEST:
                return f"{name[:80]!r} cannot be used: it is missing, no file, or too large"
    counts = [abs(int(accessor.get("count", 0))) for accessor in scene.get("accessors", ())]
    sizes = []
    for mesh in scene.get("meshes", ()):
        parts = mesh.get("primitives", ())
        used = [[*part.get("attributes", {}).values(), part.get("indices", 0)] for part in parts]
        sizes.append(sum(counts[k] for own in used for k in own))
    nodes = scene.get("nodes", ())
    drawn = sum(sizes[node["mesh"]] for node in nodes if "mesh" in node)
    if len(nodes) > NODES or sum(counts) + drawn > NUMBERED:
        return TOO_LARGE
    return ""


def read_mesh(file: Path, scale: Array) -> Solid | str:
    """Read a mesh [m], or say why it cannot be."""
    try:
        import trimesh
    except ImportError:
        return "needs the package 'trimesh': pip install viser"
    try:
        fault = scene_fault(file)
        if fault:
            return fault
        whole: Any = trimesh.load(file, force="mesh", process=False, skip_materials=True)
        points, faces = np.array(whole.vertices, float), np.array(whole.faces, np.int64)
    except ImportError as error:
        wanted = "pycollada" if file.suffix.lower() == ".dae" else error.name
        return f"needs the package {wanted!r}: pip install {wanted}"
    except Exception as error:  # whatever a damaged file does to the reader
        return f"cannot be read ({type(error).__name__}: {str(error)[:80]})"
    if not len(faces) or points.ndim != 2 or not np.isfinite(points).all():
        return "holds no triangles"
    if faces.min() < 0 or faces.max() >= len(points):
        return "names corners that it does not have"
    solid = Solid(points * scale, faces if np.prod(scale) > 0.0 else faces[:, ::-1])
    return solid


def decimated(solid: Solid, share: float) -> Solid:
    """A mesh with at most a share of its triangles: corners in the same cell become one.

    Corners at the same place are one in any case. A surface has about as many triangles as
    the square of the cells along it, which says how large cells have to be; they grow until
    it is enough, and stop where the shape would be lost.

    Args:
        solid: The mesh.
        share: Part of its triangles that may stay, 0 to 1.
    """
    whole, most = clustered(solid, FINEST), share * len(solid.faces)
    if len(whole.faces) <= most:
        return whole
    tried = clustered(whole, TRIED)
    cells = min(TRIED * np.sqrt(most / max(len(tried.faces), 1)), 8.0 * TRIED)
    result = clustered(whole, max(cells, COARSEST))
    while len(result.faces) > most and cells > COARSEST:
        cells *= 0.9
        result = clustered(whole, max(cells, COARSEST))
    return result


def clustered(solid: Solid, cells: float) -> Solid:
    """A mesh whose corners in the same cell of a grid have been moved to their mean.

    Args:
        solid: The mesh.
        cells: Along its longest side, at most 1e6: a cell's number is one integer.
    """
    low = solid.points.min(axis=0)
    step = (float(np.ptp(solid.points, axis=0).max()) or 1.0) / cells
    place = np.floor((solid.points - low) / step).astype(np.int64)
    _, index = np.unique(packed(place, int(cells) + 2), return_inverse=True)
    count = np.bincount(index)
    sums = [np.bincount(index, weights=column) for column in solid.points.T]
    faces = index[solid.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    if len(count) < FINEST:  # the same triangle twice is one
        _, first = np.unique(packed(faces, len(count)), return_index=True)
        faces = faces[first]
    return Solid(np.stack(sums, axis=-1) / count[:, None], faces)


def packed(rows: IntArray, base: int) -> IntArray:
    """Three integers (k, 3) of 0 to less than a base as one (k,)."""
    return np.asarray((rows[:, 0] * base + rows[:, 1]) * base + rows[:, 2])
