"""The shapes that a URDF draws of its links: mesh files found, read and made small."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.description.geometry import Vector3
from geared_dynamics.description.robot_records import VisualRecord
from geared_dynamics.model import GearedModel
from geared_dynamics.scene.shapes import GLASS, Part, colour_of
from geared_dynamics.scene.solids import Solid, box, cylinder, sphere

LARGEST = 100_000_000  # bytes of a mesh file
TRIANGLES = 120_000  # of all meshes together: a page of some 4 MB
FINEST, TRIED = 1e6, 48  # cells along a mesh: corners at one place are one; a first try
COARSEST = 16  # cells along a mesh below which it is no longer made smaller
KINDS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")


def visual_parts(model: GearedModel) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Surfaces of the links that the URDF draws, and a line for each mesh that is left out.

    Args:
        model: Geared model.
    """
    found: list[tuple[int, Solid]] = []
    left_out: list[str] = []
    read: dict[tuple[str, str, Vector3], Solid | str] = {}
    for link in model.records.robot.links:
        frame = model.frame(link.name)
        for visual in link.visuals:
            same = visual.kind, visual.mesh, visual.size  # legs share their meshes
            if same not in read:
                read[same] = shape_of(visual, model.source)
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


def shape_of(visual: VisualRecord, urdf: str) -> Solid | str:
    """Triangles of a shape, or why there are none."""
    size = np.array(visual.size)
    if visual.kind == "box":
        return box(size)
    if visual.kind == "cylinder":
        return cylinder(float(size[0]), 0.5 * float(size[1]))
    if visual.kind == "sphere":
        return sphere(float(size[0]))
    file = next((path for path in places(visual.mesh, urdf) if path.is_file()), None)
    if file is None:
        return "not found"
    if file.suffix.lower() not in KINDS:
        return f"{file.suffix or 'a file without ending'} is not one of {', '.join(KINDS)}"
    if file.stat().st_size > LARGEST:
        return f"larger than {LARGEST // 1_000_000} MB"
    return read_mesh(file, size)


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


def read_mesh(file: Path, scale: Array) -> Solid | str:
    """Read a mesh [m], or say why it cannot be."""
    try:
        import trimesh
    except ImportError:
        return "needs the package 'trimesh': pip install viser"
    try:
        whole: Any = trimesh.load(file, force="mesh", process=False, skip_materials=True)
        points, faces = np.array(whole.vertices, float), np.array(whole.faces, np.int64)
    except ImportError as error:
        wanted = "pycollada" if file.suffix.lower() == ".dae" else error.name
        return f"needs the package {wanted!r}: pip install {wanted}"
    except Exception as error:  # whatever a damaged file does to the reader
        return f"cannot be read ({type(error).__name__}: {str(error)[:80]})"
    if not len(faces) or points.ndim != 2 or not np.isfinite(points).all():
        return "holds no triangles"
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
