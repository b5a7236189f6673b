"""``geared-dynamics view``: the moving robot, in MuJoCo's viewer or as a picture."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geared_dynamics.cli.arguments import add_robot_arguments, load_robot
from geared_dynamics.cli.console import open_console
from geared_dynamics.errors import DescriptionError, MissingPackageError
from geared_dynamics.files import new_files
from geared_dynamics.simulation.mujoco.animation import PERIOD, Animation

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SMALLEST, LARGEST = 32, 2000  # pixels
RATE = 12.0  # pictures per second of a GIF
STILL = 0.3  # time of a still, a posture in which arms look well [s]
COLOURS = 96  # of a GIF's palette
FORMATS = (".gif", ".png")


def add_parser(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "view",
        help="show the moving robot, in a window or as a GIF or PNG",
        description=(
            "Show the robot in motion, with its rotors and gear wheels: in MuJoCo's viewer where "
            "there is a display, otherwise (or with --out) as an animated GIF or a PNG, drawn "
            "without a display. Links are drawn as tubes between joints; meshes are not read."
        ),
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
    parser.set_defaults(run=run)


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
    animation = Animation(model)
    if out is None:
        watch(animation)
        return 0
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
