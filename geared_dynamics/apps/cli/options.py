"""Arguments shared by commands that load a robot, and the console on which all print."""

from __future__ import annotations

import argparse
import logging
import math
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

import geared_dynamics as gd
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.description.xml_input import SIZE_LIMIT
from geared_dynamics.errors import DescriptionError, GearedDynamicsError, printable
from geared_dynamics.files import NamedBytes
from geared_dynamics.kernels.compilation import LOG
from geared_dynamics.model.build import EARTH
from geared_dynamics.model.model import GearedModel

# -- Arguments shared by the commands that load a robot -------------------------------------------


MOST_STATES = 1_000_000
LARGEST_SEED = 2**63 - 1


class Once(argparse.Action):
    """Takes a file by its position or by an option, and not by both."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the file; a position that is empty says nothing."""
        before = getattr(namespace, self.dest, None)
        if values is None:
            return
        if before is not None:
            finding = f"is given twice, {before} and {values}"
            raise GearedDynamicsError(str(self.metavar), finding, "give it once")
        setattr(namespace, self.dest, values)


METAVARS = {"robot": "ROBOT.urdf", "drivetrain": "DRIVE.yaml"}


def add_files(parser: argparse.ArgumentParser, **texts: str) -> None:
    """Add files that may be given by their position or by an option, each with its help."""
    for name, text in texts.items():
        metavar = METAVARS[name]
        parser.add_argument(name, metavar=metavar, nargs="?", action=Once, help=text)
        parser.add_argument(
            f"--{name}", dest=name, metavar=metavar, action=Once, help="the same, as an option"
        )


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files, the choice of joints and gravity."""
    robot, drivetrain = "the robot's URDF file", "its drivetrain file (optional)"
    add_files(parser, robot=robot, drivetrain=drivetrain)
    parser.add_argument(
        "--srdf", metavar="ROBOT.srdf", help="SRDF file with <rotor_params> (optional)"
    )
    parser.add_argument(
        "--joints",
        nargs="+",
        action="extend",
        metavar="JOINT",
        help="keep these joints, freeze all others",
    )
    parser.add_argument(
        "--lock",
        nargs="+",
        action="extend",
        type=locked_joint,
        default=[],
        metavar="JOINT=POS",
        help="freeze joints at positions [rad or m]",
    )
    parser.add_argument(
        "--gravity",
        nargs=3,
        type=finite_number,
        default=EARTH,
        metavar=("X", "Y", "Z"),
        help="in the root link's frame [m/s^2], default 0 0 -9.81",
    )


def require_robot(args: argparse.Namespace) -> None:
    """Refuse a command line without a robot."""
    if args.robot is None:
        raise GearedDynamicsError("ROBOT.urdf", "is missing", "give the URDF file of the robot")


def read_urdf_file(args: argparse.Namespace) -> NamedBytes:
    """Read the robot's file, once: a pipe gives its text only one time."""
    require_robot(args)
    return NamedBytes.of_file(args.robot, "URDF file", SIZE_LIMIT)


def load_robot(args: argparse.Namespace, urdf: bytes | None = None) -> GearedModel:
    """Load the model that the arguments describe, from the robot's file or what it holds."""
    with stage("reading the robot"), naming_options():
        return gd.load_model(
            read_urdf_file(args) if urdf is None else urdf,
            None if args.drivetrain is None else Path(args.drivetrain),
            srdf=None if args.srdf is None else Path(args.srdf),
            gravity=tuple(args.gravity),
            joints=args.joints,
            lock=locked_joints(args.lock) or None,
        )


def robot_words(args: argparse.Namespace) -> str:
    """Write the robot's files and options as they can be typed again."""
    words = [args.robot] if args.drivetrain is None else [args.robot, args.drivetrain]
    if args.srdf is not None:
        words += ["--srdf", args.srdf]
    if args.joints:
        words += ["--joints", *args.joints]
    if args.lock:
        words += ["--lock", *(f"{name}={position!r}" for name, position in args.lock)]
    if tuple(args.gravity) != EARTH:
        words += ["--gravity", *map(repr, args.gravity)]
    return shlex.join(words)


@contextmanager
def naming_options() -> Iterator[None]:
    """Name in an error the option of which ``load_model`` knows the argument."""
    try:
        yield
    except GearedDynamicsError as error:
        argument, bracket, rest = error.place.partition("[")
        if argument not in ("lock", "joints"):
            raise
        place = f"--{argument}{bracket}{rest}"
        raise DescriptionError(place, error.finding, error.remedy) from None


def locked_joint(text: str) -> tuple[str, float]:
    """Read ``name=position``."""
    name, _, position = text.rpartition("=")
    number = number_or_none(position)
    if not name or number is None or not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form joint=position")
    return name, number


def locked_joints(pairs: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the positions by joint, each given once."""
    positions: dict[str, float] = {}
    for name, position in pairs:
        if name in positions:
            finding = f"joint {name!r} is given twice, {positions[name]:g} and {position:g}"
            raise DescriptionError("--lock", finding, "give it one position")
        positions[name] = position
    return positions


def finite_number(text: str) -> float:
    """Read a finite number, as a URDF has it."""
    number = number_or_none(text)
    if number is None or not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return number


def number_of_states(text: str) -> int:
    """Read a whole number of 1 or more, and few enough to be held in memory."""
    return _whole(text, 1, MOST_STATES)


def seed(text: str) -> int:
    """Read a whole number of 0 or more."""
    return _whole(text, 0, LARGEST_SEED)


def tolerance(text: str) -> float:
    """Read a finite number of 0 or more."""
    number = number_or_none(text)
    if number is None or not 0.0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number of 0 or more")
    return number


def _whole(text: str, least: int, most: int) -> int:
    """Read a whole number within bounds."""
    short = text.strip()
    digits = short.isascii() and short.isdecimal() and len(short) <= len(str(most))
    number = int(short) if digits else -1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} to {most}")
    return number


def add_force_option(parser: argparse.ArgumentParser) -> None:
    """Let a command replace files that it did not write."""
    parser.add_argument(
        "--force", action="store_true", help="replace files that this program did not write"
    )


def add_functions_option(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Let a command choose functions of a compiled model."""
    parser.add_argument(
        "--functions", nargs="+", action="extend", metavar="NAME",
        help=f"{when}which functions, such as inverse_dynamics or inverse_dynamics_derivatives; "
        "default: those of gd.compiled",
    )  # fmt: skip


def say_replaced(console: Console, replaced: Sequence[Path]) -> None:
    """Say which files of an earlier run were replaced."""
    if replaced:
        console.print(f"replaced: {', '.join(map(str, replaced))}", soft_wrap=True)


# -- How the commands print: as wide as the terminal; lines as long as they are in a pipe ---------


UNLIMITED = 100_000  # columns, where the output is neither a terminal nor COLUMNS is set


class StrictConsole(Console):
    """A console that shows what texts hold, and leaves it to ``main`` when its reader has gone."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a line or a table's cell: names come from files, and may steer a terminal."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled; rich would exit with code 1."""
        raise


class _KernelNames(logging.Handler):
    """Names the kernels that are compiled, or read from the cache, while something is done."""

    def __init__(self, status: Status, what: str) -> None:
        super().__init__()
        self._status, self._what = status, what

    def emit(self, record: logging.LogRecord) -> None:
        """Name a kernel; the first time it takes seconds, later milliseconds."""
        self._status.update(f"{self._what}: kernel {record.getMessage()}, compiled once")


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show on a terminal's standard error what is being done; elsewhere nothing."""
    console = Console(stderr=True)
    if sys.stderr is None or not console.is_terminal:
        yield
        return
    with console.status(what) as status:
        handler, level = _KernelNames(status, what), LOG.level
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)
        try:
            yield
        finally:
            LOG.removeHandler(handler)
            LOG.setLevel(level)


def open_console(*, quiet: bool = False) -> Console:
    """Return a console on standard output, as wide as COLUMNS or a terminal; a pipe is not."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else UNLIMITED
    return StrictConsole(width=width, highlight=False, markup=False, emoji=False, quiet=quiet)
