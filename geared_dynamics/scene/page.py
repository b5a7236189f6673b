"""The arm in the browser: one page without network, or a live one with sliders (viser)."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import MissingPackageError, printable
from geared_dynamics.files import MARK, write_text
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.scene.meshes import visual_parts
from geared_dynamics.scene.motion import (
    ArmMotion,
    pace,
    resampled,
    swing,
    wheel_speeds,
)
from geared_dynamics.scene.shapes import (
    ArmShapes,
    body_poses,
    shapes_of,
    wheel_angles,
    wheel_poses,
)

DIGITS = 4  # of numbers in a page
HEIGHT = 560  # of a page in a notebook [pixels]


def view(
    model: GearedModel,
    motion: ArmMotion | None = None,
    *,
    meshes: bool = True,
    drawn: bool = False,
) -> ArmPage:
    """Show an arm: in a notebook at once, elsewhere by ``save`` or in the browser.

    Args:
        model: Geared model.
        motion: To be shown; None: back and forth within the limits.
        meshes: Whether links look as their URDF draws them, where its files are found.
        drawn: Whether only pictures are wanted, which need no viser.

    Raises:
        MissingPackageError: viser is not installed.
    """
    require_model(model)
    if not drawn:
        viser()
    parts, left_out = visual_parts(model) if meshes else ((), ())
    return ArmPage(shapes_of(model, parts, left_out), swing(model) if motion is None else motion)


class ArmPage:
    """A moving arm as a page of its own.

    Attributes:
        shapes: What is drawn.
        motion: What moves it, at the page's times.
        pace: How much slower than they are wheels are shown.
    """

    def __init__(self, shapes: ArmShapes, motion: ArmMotion) -> None:
        """Prepare a page."""
        self.shapes, self.motion = shapes, resampled(motion)
        self.pace = pace(shapes.model, self.motion)

    def __repr__(self) -> str:
        """Say what is shown, in one line."""
        return f"<ArmPage {self.shapes.model.name!r}: {self.motion.title}>"

    def _repr_html_(self) -> str:
        """The page, inline."""
        style = f"width:100%;height:{HEIGHT}px;border:0"
        return f'<iframe srcdoc="{escape(self.html())}" style="{style}"></iframe>'

    def save(self, path: str | Path) -> None:
        """Write the page, which needs neither network nor Python.

        Args:
            path: Of the HTML file.
        """
        write_text(Path(path), self.html())

    def html(self) -> str:
        """The page as text."""
        shapes, motion = self.shapes, self.motion
        with quiet_server(0) as server:
            nodes = ArmNodes(server, shapes)
            clock = server.scene.add_frame("/clock", show_axes=False)
            look_at_all(server, shapes, motion)
            recording = server.get_scene_serializer()
            bodies, wheels = self._frames()
            step = motion.length / max(1, len(motion.time) - 1)
            for k in range(len(motion.time)):
                clock.position = (float(k), 0.0, 0.0)
                nodes.put(bodies[k], wheels[k])
                recording.insert_sleep(step)
            page = str(recording.as_html())
        panel = files("geared_dynamics.scene").joinpath("panel.html").read_text(encoding="utf-8")
        page = page.replace("<head>", f"<head><!-- {MARK} -->", 1)
        return page.replace(
            "</body>", panel.replace("/*DATA*/null", self._data(nodes)) + "</body>"
        )

    def _frames(self) -> tuple[Array, Array]:
        """Frames of bodies (k, nb + 1, 4, 4) and wheels (k, w, 4, 4) at all times."""
        model, motion = self.shapes.model, self.motion
        angles = self.pace * wheel_angles(model, motion.q, motion.theta)
        return body_poses(model, motion.q), wheel_poses(self.shapes, angles)

    def _data(self, nodes: ArmNodes) -> str:
        """What the page's table shows, as a script may hold it."""
        model, motion = self.shapes.model, self.motion
        peaks = np.nan_to_num(np.abs(motion.joint_torque).max(axis=0))
        data = {
            "robot": printable(model.name),
            "notes": notes(self),
            "joints": [
                {
                    "name": printable(name),
                    "unit": "mm" if slides else "°",
                    "scale": 1000.0 if slides else 180.0 / np.pi,
                    "force": unit,
                    "most": float(peaks[d]),
                }
                for d, (name, slides, unit) in enumerate(
                    zip(model.joint_names, model.prismatic, model.force_units, strict=True)
                )
            ],
            "wheels": [
                {
                    "name": printable(name),
                    "short": short_ratio(model, r),
                    "facts": wheel_facts(model, r),
                    "motor": motor_of(model, r),
                    "colour": "#{:02x}{:02x}{:02x}".format(*wheel_colour(self.shapes, r)),
                }
                for r, name in enumerate(model.wheel_names)
            ],
            "parts": nodes.clickable,
            "joint": rounded(motion.q),
            "torque": rounded(motion.joint_torque),
            "motor": rounded(motion.motor_torque),
            "speed": rounded(wheel_speeds(model, motion)),
        }
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c")  # ensure_ascii escapes all that is not ASCII


# -- What is said of an arm and its wheels --------------------------------------------------------


def notes(page: ArmPage) -> list[str]:
    """Lines above the tables: the motion, the pace, the colours, what is not drawn."""
    shapes, motion = page.shapes, page.motion
    lines = [f"Motion: {motion.title}. Torques: {motion.torques}."]
    if len(shapes.model.wheel_names):
        shown = Fraction(page.pace).limit_denominator(1_000_000)
        speed = "their own speed" if shown == 1 else f"{shown} of their speed"
        lines.append(f"Wheels turn at {speed}, in the colour of the link that carries them.")
    else:
        lines.append("No wheels are described: give a drivetrain file to see them.")
    if shapes.unplaced:
        lines.append(
            f"The files do not say where {listed(shapes.unplaced)} are: drawn at their joints."
        )
    if shapes.left_out:
        lines.append(f"Meshes left out: {'; '.join(shapes.left_out)}")
    return [printable(line) for line in lines]


def listed(names: tuple[str, ...]) -> str:
    """The first few of some names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def wheel_facts(model: GearedModel, r: int) -> list[tuple[str, str]]:
    """What is known of a wheel, each with its unit."""
    wheels = model.wheels
    teeth = wheel_teeth(model).get(model.wheel_names[r])
    own = float(wheels.alone.inertia[r])
    units = ("kg" if slides else "kg m²" for slides in model.prismatic)
    felt = zip(model.J[r] * model.Gamma[r] ** 2, units, strict=True)
    facts = [
        ("carried by", printable(wheels.links[r])),
        ("ratio", "\n".join(ratio_terms(model, r)) or "frozen"),
        ("inertia", f"{own:.4g} kg m²"),
        ("reflected", ", ".join(f"{x:.4g} {unit}" for x, unit in felt if x) or "0"),
    ]
    if teeth:
        facts.insert(2, ("teeth", f"{teeth:g}"))
    return facts


def ratio_terms(model: GearedModel, r: int) -> list[str]:
    """Ratio of a wheel to each joint that turns it: ``-101 x joint_1``."""
    return [
        f"{ratio:.6g} × {printable(joint)}" + (" [rad/m]" if slides else "")
        for joint, ratio, slides in zip(
            model.joint_names, model.Gamma[r], model.prismatic, strict=True
        )
        if ratio != 0.0
    ]


def short_ratio(model: GearedModel, r: int) -> str:
    """The largest ratio of a wheel, with a plus where there are more."""
    row = model.Gamma[r]
    if not row.any():
        return "frozen"
    more = " + …" if np.count_nonzero(row) > 1 else ""
    return f"{row[np.argmax(np.abs(row))]:.5g}{more}"


def wheel_teeth(model: GearedModel) -> dict[str, float]:
    """Number of teeth of each wheel whose meshes are stated in teeth."""
    return {
        name: size
        for mesh in model.records.drivetrain.meshes
        if not (mesh.radii or mesh.wraps)
        for name, size in zip(mesh.members, mesh.sizes, strict=True)
    }


def motor_of(model: GearedModel, r: int) -> int:
    """Index of the motor that turns a wheel, -1: none."""
    return next((k for k, wheel in enumerate(model.motor_wheel) if wheel == r), -1)


def wheel_colour(shapes: ArmShapes, r: int) -> tuple[int, int, int]:
    """Colour of a wheel."""
    return next(part.colour for part in shapes.parts if part.wheel == r)


def rounded(rows: Array) -> list[list[float | None]]:
    """Rows, few digits in each column; what is not finite is nothing."""
    size = np.abs(np.nan_to_num(rows)).max(axis=0, initial=0.0)
    places = [max(0, DIGITS - int(np.ceil(np.log10(x or 1.0)))) for x in size]
    return [
        [round(x, k) if np.isfinite(x) else None for x, k in zip(row, places, strict=True)]
        for row in rows.tolist()
    ]


# -- Nodes of viser -------------------------------------------------------------------------------


def viser() -> Any:
    """Import viser or say how to install it."""
    try:
        import viser as package
    except ImportError:
        raise MissingPackageError("view", "viser", "view") from None
    return package


@contextlib.contextmanager
def quiet_server(port: int) -> Iterator[Any]:
    """A server of this machine alone, without a word on standard output."""
    package = viser()
    with contextlib.redirect_stdout(io.StringIO()):
        server = package.ViserServer(host="127.0.0.1", port=port, verbose=False)
    try:
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


class ArmNodes:
    """The arm's nodes in a scene; their names say what they are by number, never by a file's text.

    Attributes:
        clickable: Name of each surface of a wheel, with the wheel's number.
        links: Handles of the links' surfaces.
        wheel_parts: Handles of the wheels' surfaces, with the wheel's number.
    """

    def __init__(self, server: Any, shapes: ArmShapes) -> None:
        """Add them to a server's scene."""
        scene, carriers = server.scene, shapes.carrier
        count = len(shapes.model.tree.names)
        self.bodies = [scene.add_frame(f"/body_{b}", show_axes=False) for b in range(-1, count)]
        self.wheels = [
            scene.add_frame(f"/body_{body}/wheel_{r}", show_axes=False)
            for r, body in enumerate(carriers)
        ]
        self.links: list[Any] = []
        self.wheel_parts: list[tuple[Any, int]] = []
        self.clickable: list[tuple[str, int]] = []
        for k, part in enumerate(shapes.parts):
            above = f"/body_{part.body}"
            name = (
                f"{above}/wheel_{part.wheel}/part_{k}" if part.wheel >= 0 else f"{above}/part_{k}"
            )
            handle = scene.add_mesh_simple(
                name,
                part.solid.points.astype(np.float32),
                part.solid.faces.astype(np.uint32),
                color=part.colour,
                opacity=None if part.opacity == 1.0 else part.opacity,
                flat_shading=part.sharp,
                side="front" if part.opacity == 1.0 else "double",
                cast_shadow=part.opacity == 1.0,
                receive_shadow=False,
            )
            if part.wheel >= 0:
                self.clickable.append((name, part.wheel))
                self.wheel_parts.append((handle, part.wheel))
            else:
                self.links.append(handle)

    def put(self, bodies: Array, wheels: Array) -> None:
        """Put everything at its place: frames (nb + 1, 4, 4) and (w, 4, 4), see ``shapes``."""
        for handles, frames in ((self.bodies[1:], bodies[1:]), (self.wheels, wheels)):
            for handle, place, turn in zip(
                handles, frames[:, :3, 3], quaternions(frames[:, :3, :3]), strict=True
            ):
                if not np.array_equal(handle.position, place):
                    handle.position = place
                handle.wxyz = turn


def quaternions(rotation: Array) -> Array:
    """Unit quaternions w, x, y, z (k, 4) of rotations (k, 3, 3)."""
    m = rotation
    # The four candidates of Shepperd; the one with the largest divisor loses no digits.
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    squares = np.stack([xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy], axis=-1)
    a, b, c = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    d, e, f = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    square = 1.0 + squares
    rows = [[square[:, 0], a, b, c], [a, square[:, 1], d, e], [b, d, square[:, 2], f],
            [c, e, f, square[:, 3]]]  # fmt: skip
    table = np.stack([np.stack(row, axis=-1) for row in rows], axis=1)
    best = table[np.arange(len(m)), np.argmax(squares, axis=-1)]
    return np.asarray(best / np.linalg.norm(best, axis=-1, keepdims=True))


VIEW = 0.6  # height of the picture, as an angle [rad]
SUN = np.array([0.3, -0.45, 0.84])
FROM = np.array([0.58, -0.62, 0.53])  # where the camera stands


def look_at_all(server: Any, shapes: ArmShapes, motion: ArmMotion) -> None:
    """Floor, light and a camera from which the whole motion is seen."""
    low, high = extent(shapes, motion.q[:: max(1, len(motion.q) // 24)])
    target, reach = 0.5 * (low + high), float(np.linalg.norm(high - low))
    camera, scene = server.initial_camera, server.scene
    camera.look_at, camera.up, camera.fov = tuple(target), (0.0, 0.0, 1.0), VIEW
    camera.position = tuple(target + 0.42 * reach / np.tan(0.5 * VIEW) * FROM)
    # The client's own light leaves little of the colours.
    scene.configure_environment_map(None)
    scene.configure_default_lights(False)
    scene.add_light_hemisphere("/sky", intensity=1.7, ground_color=(190, 190, 200))
    scene.add_light_directional("/sun", intensity=1.9, position=tuple(4.0 * reach * SUN))
    scene.add_grid(
        "/floor", width=3.0 * reach, height=3.0 * reach, plane="xy", cell_size=0.1 * reach,
        section_size=0.5 * reach, position=(float(target[0]), float(target[1]), float(low[2])),
        cell_color=(226, 229, 233), section_color=(203, 208, 214),
    )  # fmt: skip


def extent(shapes: ArmShapes, q: Array) -> tuple[Array, Array]:
    """Lowest and highest corner of the arm over some positions (k, n)."""
    bodies = body_poses(shapes.model, q)
    wheels = wheel_poses(shapes, np.zeros(len(shapes.model.wheel_names)))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for part in shapes.parts:
        points = part.solid.points[:: max(1, len(part.solid.points) // 60)]
        if part.wheel >= 0:
            seat = wheels[part.wheel]
            points = points @ seat[:3, :3].T + seat[:3, 3]
        frames = bodies[:, part.body + 1]
        placed = points @ np.swapaxes(frames[:, :3, :3], -1, -2) + frames[:, None, :3, 3]
        low = np.minimum(low, placed.min(axis=(0, 1)))
        high = np.maximum(high, placed.max(axis=(0, 1)))
    return low, high
