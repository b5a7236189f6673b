"""Arguments shared by the commands that load a robot."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import geared_dynamics as gd
from geared_dynamics.model.model import GearedModel

MOST_STATES = 1_000_000
LARGEST_SEED = 2**63 - 1


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files, the choice of joints and gravity."""
    parser.add_argument("robot", metavar="ROBOT.urdf", help="the robot's URDF file")
    parser.add_argument(
        "drivetrain", metavar="DRIVE.yaml", nargs="?", help="its drivetrain file (optional)"
    )
    parser.add_argument(
        "--srdf", metavar="ROBOT.srdf", help="SRDF file with <rotor_params> (optional)"
    )
    parser.add_argument(
        "--joints", nargs="+", metavar="JOINT", help="keep these joints, freeze all others"
    )
    parser.add_argument(
        "--lock",
        nargs="+",
        type=locked_joint,
        default=[],
        metavar="JOINT=POS",
        help="freeze joints at positions [rad or m]",
    )
    parser.add_argument(
        "--gravity",
        nargs=3,
        type=float,
        default=(0.0, 0.0, -9.81),
        metavar=("X", "Y", "Z"),
        help="in the root link's frame [m/s^2], default 0 0 -9.81",
    )


def load_robot(args: argparse.Namespace) -> GearedModel:
    """Load the model that the arguments describe."""
    return gd.load_model(
        Path(args.robot),
        None if args.drivetrain is None else Path(args.drivetrain),
        srdf=None if args.srdf is None else Path(args.srdf),
        gravity=tuple(args.gravity),
        joints=args.joints,
        lock=dict(args.lock) or None,
    )


def locked_joint(text: str) -> tuple[str, float]:
    """Read ``name=position``."""
    name, _, position = text.rpartition("=")
    try:
        return _named(name), float(position)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form joint=position") from None


def number_of_states(text: str) -> int:
    """Read a whole number of 1 or more, and few enough to be held in memory."""
    return _whole(text, 1, MOST_STATES)


def seed(text: str) -> int:
    """Read a whole number of 0 or more."""
    return _whole(text, 0, LARGEST_SEED)


def tolerance(text: str) -> float:
    """Read a finite number of 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number of 0 or more")
    return number


def _whole(text: str, least: int, most: int) -> int:
    """Read a whole number within bounds."""
    short = text.strip()
    number = int(short) if short.isdecimal() and len(short) <= len(str(most)) else -1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} to {most}")
    return number


def _named(name: str) -> str:
    """Return the name, which must not be empty."""
    if not name:
        raise ValueError
    return name
