"""``geared-dynamics view``: the moving arm in the browser, as a page, or as a picture."""

from __future__ import annotations

import argparse
import ctypes.util
import importlib
import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.apps.cli.command_output import add_json_option, print_document, robot_part
from geared_dynamics.apps.cli.options import (
    add_force_option,
    add_robot_arguments,
    load_robot,
    open_console,
    say_replaced,
    stage,
)
from geared_dynamics.apps.cli.view_motion import add_motion_options, motion_of
from geared_dynamics.arrays import Array
from geared_dynamics.errors import DescriptionError, GearedDynamicsError, MissingPackageError
from geared_dynamics.files import MARK, new_files, refuse_foreign
from geared_dynamics.scene.live import LivePage
from geared_dynamics.scene.page import ArmPage, extent, quiet_server, view
from geared_dynamics.scene.shapes import body_poses, wheel_angles, wheel_poses
from geared_dynamics.simulation.mujoco_parts import mujoco

SMALLEST, LARGEST = 32, 2000  # pixels
RATE = 12.0  # pictures per second of a GIF
LONGEST = 8.0  # of a GIF [s]
STILL = 0.1  # of the motion, at which a picture shows the arm
COLOURS = 128  # of a GIF's palette
FORMATS = (".html", ".gif", ".png")
PORT = 8080
PAGE = "write a page instead, which needs none: --out arm.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Show the robot in motion, with its rotors and gear wheels, in the browser: joints by "
        "sliders, links as glass, wheels turning by their ratios, in the colour of the link that "
        "carries them; a click on a wheel shows its ratio, inertia, speed and torque. With "
        "--out, write one page that needs no network, or a picture."
    )
    add_robot_arguments(parser)
    add_motion_options(parser)
    group = parser.add_argument_group("picture")
    group.add_argument(
        "--out", type=Path, metavar="FILE",
        help="write a page (.html), an animation (.gif) or a still (.png)",
    )  # fmt: skip
    group.add_argument(
        "--size", type=size, default=(640, 480), metavar="WxH",
        help="size of a GIF or PNG in pixels, default 640x480",
    )  # fmt: skip
    group.add_argument(
        "--no-meshes",
        action="store_true",
        help="draw links as rods instead of the visuals of the URDF",
    )
    group.add_argument(
        "--port",
        type=port,
        default=PORT,
        help=f"port of the live page on this machine, default {PORT}",
    )
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Show the robot; return 0."""
    out: Path | None = args.out
    if out is not None and out.suffix.lower() not in FORMATS:
        finding = f"{out.name!r} is neither a page (.html) nor a GIF nor a PNG"
        raise DescriptionError("--out", finding, "end the name in .html, .gif or .png")
    swapped = Path(args.drivetrain or "")
    if swapped.suffix.lower() in FORMATS and not swapped.is_file():
        remedy = f"did you mean --out {swapped}?"
        raise DescriptionError(str(swapped), "there is no such drivetrain file", remedy)
    if args.bag is not None and args.demo:
        raise DescriptionError("--demo", "is given with --bag", "leave one of them out")
    if args.json and out is None:
        raise DescriptionError("--json", "is given without --out", "name a file to write")
    replaced = refuse_foreign(out, force=args.force) if out is not None else []
    model, console = load_robot(args), open_console()
    with stage("computing the motion"):
        motion = motion_of(args, model)
    with stage("reading meshes"):
        page = view(model, motion, meshes=not args.no_meshes, drawn=out_is_picture(out))
    for line in page.shapes.left_out if not args.json else ():
        console.print(f"left out: {line}", style="yellow", soft_wrap=True)
    if out is None:
        serve(page, args.port)
        return 0
    with stage(f"writing {out.name}"):
        if out_is_picture(out):
            write_picture(page, out, args.size)
        else:
            page.save(out)
    if args.json:
        body = {"robot": robot_part(model), "files": [out], "left_out": page.shapes.left_out}
        print_document("view", body)
        return 0
    console.print(f"{out}: {out.stat().st_size / 1000:.0f} kB", soft_wrap=True)
    say_replaced(console, replaced)
    return 0


def out_is_picture(out: Path | None) -> bool:
    """Whether a file holds a picture, and no page."""
    return out is not None and out.suffix.lower() != ".html"


def serve(page: ArmPage, number: int) -> None:
    """Show the live page until the user interrupts."""
    with quiet_server(number) as server:
        live, address = LivePage(server, page), f"http://localhost:{server.get_port()}"
        open_console().print(f"open {address} in a browser; Ctrl+C ends this", soft_wrap=True)
        sys.stdout.flush()
        if has_display():
            webbrowser.open(address)
        live.serve()


def has_display() -> bool:
    """Whether windows can be opened."""
    if sys.platform != "linux":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# -- Pictures by MuJoCo's renderer ----------------------------------------------------------------


Pixels = NDArray[np.uint8]


def write_picture(page: ArmPage, out: Path, pixels: tuple[int, int]) -> None:
    """Write a GIF of the motion's beginning, or a PNG."""
    image, still = pillow(), out.suffix.lower() == ".png"
    length = min(page.motion.length, LONGEST)
    times = [STILL * length] if still else np.arange(0.0, length, 1.0 / RATE).tolist()
    frames = [image.fromarray(picture) for picture in pictures(page, times, *pixels)]
    with new_files(out) as (draft,):
        if still:
            info = importlib.import_module("PIL.PngImagePlugin").PngInfo()
            info.add_text("Software", MARK)
            frames[0].save(draft, "PNG", optimize=True, pnginfo=info)
            return
        few = [frame.quantize(COLOURS, dither=image.Dither.NONE) for frame in frames]
        few[0].save(
            draft,
            "GIF",
            save_all=True,
            append_images=few[1:],
            duration=round(1000.0 / RATE),
            loop=0,
            comment=MARK,
        )


def pillow() -> Any:
    """Import Pillow or say how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingPackageError("view", "pillow", "sim") from None
    return Image


def pictures(page: ArmPage, times: list[float], width: int, height: int) -> Iterator[Pixels]:
    """Yield the arm at some times.

    Args:
        page: The arm and its motion.
        times: [s].
        width: [pixels].
        height: [pixels].
    """
    shapes, motion, package = page.shapes, page.motion, renderer()
    spec, camera = stage_of(page, width, height)
    arm = spec.compile()
    data = package.MjData(arm)
    wheels = len(shapes.model.wheel_names)
    k = np.searchsorted(motion.time, times).clip(0, len(motion.time) - 1)
    theta = None if motion.theta is None else motion.theta[k]
    angles = page.pace * wheel_angles(shapes.model, motion.q[k], theta)
    bodies, own = body_poses(shapes.model, motion.q[k]), wheel_poses(shapes, angles)
    world = bodies[:, shapes.carrier + 1] @ own if wheels else own
    with drawing(package, arm, width, height) as draw:
        for frames in np.concatenate([bodies, world], axis=1):
            data.mocap_pos[:] = frames[:, :3, 3]
            for b, frame in enumerate(frames):
                package.mju_mat2Quat(
                    data.mocap_quat[b], np.ascontiguousarray(frame[:3, :3]).ravel()
                )
            package.mj_forward(arm, data)
            draw.update_scene(data, camera)
            yield draw.render().copy()


def stage_of(page: ArmPage, width: int, height: int) -> tuple[Any, Any]:
    """The arm as bodies that are put where they are, before a camera."""
    package, shapes = mujoco(), page.shapes
    spec, count = package.MjSpec(), len(shapes.model.tree.names)
    bodies = [
        spec.worldbody.add_body(name=str(k), mocap=True)
        for k in range(1 + count + len(shapes.model.wheel_names))
    ]
    for k, part in enumerate(shapes.parts):
        if not len(part.solid.faces):
            continue
        mesh = spec.add_mesh(name=str(k))
        mesh.uservert, mesh.userface = part.solid.points.ravel(), part.solid.faces.ravel()
        mesh.inertia = package.mjtMeshInertia.mjMESH_INERTIA_SHELL
        body = bodies[1 + count + part.wheel] if part.wheel >= 0 else bodies[1 + part.body]
        colour = [*(channel / 255.0 for channel in part.colour), part.opacity]
        body.add_geom(
            type=package.mjtGeom.mjGEOM_MESH, meshname=str(k), rgba=colour,
            contype=0, conaffinity=0,
        )  # fmt: skip
    low, high = extent(shapes, page.motion.q[:: max(1, len(page.motion.q) // 24)])
    reach = float(np.linalg.norm(high - low))
    spec.add_texture(
        name="sky", type=package.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=package.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=[1, 1, 1], rgb2=[0.86, 0.9, 0.95],
        width=64, height=384,
    )  # fmt: skip
    spec.worldbody.add_geom(
        type=package.mjtGeom.mjGEOM_PLANE, size=[3.0 * reach, 3.0 * reach, 0.1 * reach],
        pos=[0.0, 0.0, float(low[2])], rgba=[0.93, 0.94, 0.95, 1.0], contype=0, conaffinity=0,
    )  # fmt: skip
    spec.worldbody.add_light(
        type=package.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[-0.3, 0.45, -0.84], castshadow=True,
        diffuse=[0.55, 0.55, 0.55], specular=[0.1, 0.1, 0.1],
    )  # fmt: skip
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.42] * 3, [0.3] * 3
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.global_.fovy = 40.0
    spec.stat.extent, spec.stat.center = reach, 0.5 * (low + high)
    return spec, camera_at(0.5 * (low + high), 1.0 * reach * max(1.0, 1.25 * height / width))


def camera_at(target: Array, distance: float) -> Any:
    """A camera that looks at a point from the side and above."""
    camera = mujoco().MjvCamera()
    camera.lookat[:], camera.distance = target, distance
    camera.azimuth, camera.elevation = 133.0, -30.0
    return camera


def renderer() -> Any:
    """MuJoCo with a choice of OpenGL: a display, EGL or OSMesa.

    Raises:
        GearedDynamicsError: If there is none of them.
    """
    if sys.platform == "linux" and not os.environ.get("MUJOCO_GL") and not has_display():
        there = [name for name in ("EGL", "OSMesa") if ctypes.util.find_library(name)]
        if not there:
            raise no_renderer("there is no display, and neither EGL nor OSMesa is installed")
        os.environ["MUJOCO_GL"] = there[0].lower()
    return mujoco()


def no_renderer(finding: str) -> GearedDynamicsError:
    """The error where MuJoCo cannot draw; it names the page."""
    remedy = f"{PAGE}; or install EGL: apt-get install libegl1 libgl1-mesa-dri"
    return GearedDynamicsError("--out", f"no picture can be drawn: {finding}", remedy)


@contextmanager
def drawing(package: Any, arm: Any, width: int, height: int) -> Iterator[Any]:
    """MuJoCo's renderer.

    Raises:
        GearedDynamicsError: If it cannot draw here.
    """
    try:
        if importlib.import_module("mujoco.gl_context").GLContext is None:  # it would abort
            raise RuntimeError("MuJoCo was imported without OpenGL: set MUJOCO_GL=egl before")
        draw = package.Renderer(arm, height, width)
    except Exception as error:  # of OpenGL's bindings, each with its own
        finding = f"{os.environ.get('MUJOCO_GL', 'OpenGL')} fails ({str(error)[:120]})"
        raise no_renderer(" ".join(finding.split())) from None
    try:
        yield draw
    finally:
        draw.close()


def size(text: str) -> tuple[int, int]:
    """Read the size of a picture."""
    parts = text.lower().split("x")
    if len(parts) == 2 and all(part.isascii() and part.isdecimal() for part in parts):
        width, height = int(parts[0]), int(parts[1])
        if SMALLEST <= min(width, height) and max(width, height) <= LARGEST:
            return width, height
    words = f"{text!r} is not a size such as 640x480, {SMALLEST} to {LARGEST} pixels each"
    raise argparse.ArgumentTypeError(words)


def port(text: str) -> int:
    """Read the number of a port."""
    if text.isascii() and text.isdecimal() and 1024 <= int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port between 1024 and 65535")
