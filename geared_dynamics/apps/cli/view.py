"""The arm swinging to and fro, as pictures or in MuJoCo's viewer."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.apps.cli.options import add_robot_arguments, load_robot, open_console, stage
from geared_dynamics.apps.scene import Camera, Pixels, Shapes, Stage, shapes_of
from geared_dynamics.arrays import Array
from geared_dynamics.errors import DescriptionError, MissingPackageError
from geared_dynamics.files import new_files
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism
from geared_dynamics.simulation.mujoco_parts import mujoco

# -- The arm swinging to and fro, as pictures or in MuJoCo's viewer -------------------------------


PERIOD = 4.0  # after which the motion repeats [s]
SWING = 0.7, 0.12  # most of a joint that turns [rad], that slides [m]
PART = 0.4  # of the range between a joint's limits
LEAN = 0.25  # of it, where a joint's motion has its middle: arms look better bent
NARROWEST = 1.25  # width over height of pictures
FILLED = 0.95  # of the picture
SURVEY = 12  # pictures from which the camera's place is found


class Animation:
    """An arm that moves along a path that repeats; a picture of its bodies, not of forces.

    Attributes:
        model: Geared model.
        arm: Its bodies.
    """

    def __init__(self, model: GearedModel) -> None:
        """Build the bodies; those without mass and inertia are drawn as well."""
        self.model = model
        self.arm = MujocoMechanism(model, 1e-3, friction=False, drawn=True)
        self._middle, self._amplitude = swings(model)
        self._survey()

    def position(self, t: float) -> Array:
        """Joint position (n,) at a time [s]."""
        k = np.arange(self.model.n)
        beat = 1 + k % 2  # whole periods, so that the end meets the beginning
        angle = 2.0 * np.pi * beat * t / PERIOD + 1.3 * k
        return np.asarray(self._middle + self._amplitude * np.sin(angle))

    def put(self, t: float) -> None:
        """Put the bodies where they are at a time [s]."""
        q = self.position(t)
        x = np.concatenate([q, self.model.elasticity.rigid @ q])
        self.arm.place(x, np.zeros(len(x)))
        mujoco().mj_kinematics(self.arm.mj, self.arm.data)

    def shapes(self, t: float) -> Shapes:
        """What there is to see at a time [s]."""
        self.put(t)
        return shapes_of(self.arm.mj, self.arm.data)

    def _survey(self) -> None:
        """Find a place for the camera from which the whole motion is seen."""
        views = [self.shapes(t) for t in np.linspace(0.0, PERIOD, SURVEY, endpoint=False)]
        place = np.concatenate([view.place for view in views])
        reach = np.concatenate([view.reach for view in views])
        low = np.array([*place[:, :2].min(axis=0), (place[:, 2] - reach).min()])
        high = np.array([*place[:, :2].max(axis=0), (place[:, 2] + reach).max()])
        self.floor = min(lowest(view) for view in views)
        low[2] = self.floor
        camera = Camera(0.5 * (low + high), 1.0)
        right, up, back = ((place - camera.target) @ camera.axes).T
        wide = np.maximum((np.abs(right) + reach) / NARROWEST, np.abs(up) + reach)
        distance = (back + wide / (FILLED * np.tan(0.5 * camera.view))).max()
        self.camera = Camera(camera.target, float(distance))

    def picture(self, t: float, *, width: int, height: int) -> Pixels:
        """The arm at a time.

        Args:
            t: [s].
            width: [pixels].
            height: [pixels].
        """
        return self._stage(width, height).draw(self.shapes(t))

    def pictures(self, *, rate: float, width: int, height: int) -> Iterator[Pixels]:
        """One period.

        Args:
            rate: Pictures per second.
            width: [pixels].
            height: [pixels].
        """
        stage = self._stage(width, height)
        for k in range(round(PERIOD * rate)):
            yield stage.draw(self.shapes(k / rate))

    def _stage(self, width: int, height: int) -> Stage:
        """The floor and the sky."""
        return Stage(self.camera, width=width, height=height, floor=self.floor)


def lowest(shapes: Shapes) -> float:
    """Height of the lowest point of any shape [m], or somewhat below."""
    down = np.abs(shapes.turn[:, 2])
    round_ = np.linalg.norm(down[:, :2], axis=1) * shapes.size[:, 0]
    return float((shapes.place[:, 2] - round_ - down[:, 2] * shapes.size[:, 1]).min())


def swings(model: GearedModel) -> tuple[Array, Array]:
    """Middle and amplitude of each joint's motion (n,), within its limits."""
    lower, upper = model.limits.lower, model.limits.upper
    middle, amplitude = np.zeros(model.n), np.where(model.prismatic, SWING[1], SWING[0])
    for d in np.flatnonzero(np.isfinite(upper - lower)):
        most, half = amplitude[d], 0.5 * (upper[d] - lower[d])
        middle[d] = 0.5 * (upper[d] + lower[d]) + LEAN * min(half, 2.0 * most)
        amplitude[d] = min(most, PART * half)
    return middle, amplitude


# -- ``geared-dynamics view``: the moving robot, in MuJoCo's viewer or as a picture ---------------


SMALLEST, LARGEST = 32, 2000  # pixels
RATE = 12.0  # pictures per second of a GIF
STILL = 0.3  # time of a still, a posture in which arms look well [s]
COLOURS = 96  # of a GIF's palette
FORMATS = (".gif", ".png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Show the robot in motion, with its rotors and gear wheels: in MuJoCo's viewer where "
        "there is a display, otherwise (or with --out) as an animated GIF or a PNG, drawn "
        "without a display. Links are drawn as tubes between joints; meshes are not read."
    )
    add_robot_arguments(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write an animation (.gif) or a still (.png)"
    )
    parser.add_argument(
        "--size",
        type=size,
        default=(480, 360),
        metavar="WxH",
        help="of the picture in pixels, default 480x360",
    )


def run(args: argparse.Namespace) -> int:
    """Show the robot; return 0."""
    out: Path | None = args.out
    if out is not None and out.suffix.lower() not in FORMATS:
        finding = f"{out.name!r} is neither a GIF nor a PNG"
        raise DescriptionError("--out", finding, "end the name in .gif or .png")
    model = load_robot(args)
    if out is None and not has_display():
        out = Path(f"{Path(args.robot).stem}.gif")
        open_console().print("no display: drawing an animation", soft_wrap=True)
    with stage("building the bodies"):
        animation = Animation(model)
    if out is None:
        watch(animation)
        return 0
    with stage(f"drawing {out.name}"):
        write_picture(animation, out, args.size)
    open_console().print(f"{out}: {out.stat().st_size / 1000:.0f} kB", soft_wrap=True)
    return 0


def has_display() -> bool:
    """Whether windows can be opened."""
    if sys.platform != "linux":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def watch(animation: Animation) -> None:
    """Show the animation in MuJoCo's viewer until its window is closed."""
    import mujoco.viewer

    start = time.monotonic()
    with mujoco.viewer.launch_passive(animation.arm.mj, animation.arm.data) as window:
        while window.is_running():
            with window.lock():
                animation.put((time.monotonic() - start) % PERIOD)
            window.sync()
            time.sleep(1.0 / 60.0)


def write_picture(animation: Animation, out: Path, pixels: tuple[int, int]) -> None:
    """Write a GIF of one period, or a PNG."""
    image = pillow()
    width, height = pixels
    if out.suffix.lower() == ".png":
        still = image.fromarray(animation.picture(STILL, width=width, height=height))
        small = still.convert("P", palette=image.Palette.ADAPTIVE, colors=256)
        with new_files(out) as (draft,):
            small.save(draft, "PNG", optimize=True)
        return
    frames = [
        image.fromarray(picture).quantize(COLOURS, dither=image.Dither.NONE)
        for picture in animation.pictures(rate=RATE, width=width, height=height)
    ]
    period = round(1000.0 / RATE)
    with new_files(out) as (draft,):
        frames[0].save(
            draft, "GIF", save_all=True, append_images=frames[1:], duration=period, loop=0
        )


def pillow() -> Any:
    """Import Pillow or say how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingPackageError("view", "pillow", "sim") from None
    return Image


def size(text: str) -> tuple[int, int]:
    """Read the size of a picture."""
    parts = text.lower().split("x")
    if len(parts) == 2 and all(part.isascii() and part.isdecimal() for part in parts):
        width, height = int(parts[0]), int(parts[1])
        if SMALLEST <= min(width, height) and max(width, height) <= LARGEST:
            return width, height
    words = f"{text!r} is not a size such as 480x360, {SMALLEST} to {LARGEST} pixels each"
    raise argparse.ArgumentTypeError(words)
