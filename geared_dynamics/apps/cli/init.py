"""``geared-dynamics init``: a drivetrain file to fill in."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from hashlib import sha256
from math import isfinite
from pathlib import Path

from geared_dynamics.apps.cli.command_output import add_json_option, print_document
from geared_dynamics.apps.cli.options import (
    add_files,
    add_force_option,
    open_console,
    require_robot,
    say_replaced,
)
from geared_dynamics.description.drivetrain_reader import schema_file
from geared_dynamics.description.drivetrain_skeleton import FILL_IN, drivetrain_skeleton
from geared_dynamics.description.robot_tree import check_robot
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.errors import (
    GearedDynamicsError,
    GearedDynamicsWarning,
    ModelError,
    pyyaml,
)
from geared_dynamics.files import write_text
from geared_dynamics.load import load_model

# Below what init writes; without files.MARK: other commands must not replace what is filled in.
SEAL = "# As long as nothing is changed here, init replaces this file without being asked:"
Numbers = tuple[str | None, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Write a commented drivetrain file with a rotor and a motor for each joint of a robot. "
        "Carriers, axes and positions are guessed from the URDF and marked as guesses; numbers "
        f"that are not known are marked {FILL_IN}. The file loads as it is."
    )
    add_files(parser, robot="the robot's URDF file")
    parser.add_argument(
        "--out", "-o", type=Path, metavar="DRIVE.yaml",
        help="file to write, default: ROBOT.drivetrain.yaml beside the URDF",
    )  # fmt: skip
    for option, quantity, example in (
        ("--ratio", "gear ratio, negative where motor and joint turn against each other", "100"),
        ("--rotor-inertia", "rotor inertia, motor side [kg m^2]", "1e-4"),
    ):
        parser.add_argument(
            option, nargs="+", action="extend", type=joint_number, default=[],
            metavar="[JOINT=]NUMBER",
            help=f"{quantity}: of all joints ({example}), or of one (joint_1={example})",
        )  # fmt: skip
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file and say what it lacks; return 0."""
    require_robot(args)
    beside = Path(args.robot).with_suffix(".drivetrain.yaml")
    out = args.out or (Path(beside.name) if args.of_package else beside)
    replaced = [out] if out.is_file() and out.stat().st_size else []
    if replaced and not args.force and not untouched(out):
        finding = "exists, and is not as geared-dynamics init wrote it"
        raise GearedDynamicsError(str(out), finding, "name another with --out, or give --force")
    robot = read_urdf(Path(args.robot))
    check_robot(robot)
    joints = [j.name for j in robot.joints if j.kind != "fixed" and j.mimic is None]
    text = drivetrain_skeleton(
        robot,
        ratios=by_joint("--ratio", args.ratio, joints),
        inertias=by_joint("--rotor-inertia", args.rotor_inertia, joints),
        schema=str(schema_file()),
    )
    try:
        missing = what_keeps_it_from_loading(Path(args.robot), text)
    except ModelError as error:
        raise (too_much_inertia(error, text) if args.rotor_inertia else None) or error from None
    write_text(out, sealed(text))
    blanks = text.split("\nwheels:", 1)[1].count(FILL_IN)
    if args.json:
        found = {"file": out, "joints": joints, "blanks": blanks, "missing": missing or None}
        print_document("init", found)
        return 0
    console = open_console()
    motors = f"{len(joints)} motor{'s' * (len(joints) != 1)}"
    guesses = "carriers, axes and included_in_link are guesses (marked in the file)"
    rest = f"; {blanks} number{'s' * (blanks != 1)} marked {FILL_IN}" if blanks else ""
    console.print(f"{out}: {motors}; {guesses}{rest}", soft_wrap=True)
    if missing:
        console.print(f"it does not load yet: {missing}", style="yellow", soft_wrap=True)
    console.print(f"next: geared-dynamics describe {args.robot} {out}", soft_wrap=True)
    say_replaced(console, replaced)
    return 0


def sealed(text: str) -> str:
    """Add the digest of a file that is to be filled in, by which ``untouched`` knows it."""
    return f"{text}\n{SEAL} {sha256(text.encode()).hexdigest()[:16]}\n"


def untouched(path: Path) -> bool:
    """Return whether a file is as this command wrote it, and nothing of a user's is lost by it."""
    text = path.read_text("utf-8", errors="replace")
    return text == sealed(text.rpartition(f"\n{SEAL}")[0])


def what_keeps_it_from_loading(robot: Path, text: str) -> str:
    """Load the robot with the file; what both of them lack, empty if it loads.

    Raises:
        GearedDynamicsError: The robot alone loads: it is the file that is wrong.
    """
    with warnings.catch_warnings():  # `describe` shows them
        warnings.simplefilter("ignore", GearedDynamicsWarning)
        try:
            load_model(robot, text)
        except ModelError as error:
            try:
                load_model(robot)
            except ModelError:  # as of arms whose last links have no inertia but their rotors'
                return str(error)
            raise
    return ""


def too_much_inertia(error: ModelError, text: str) -> GearedDynamicsError | None:
    """The error of a rotor with more inertia than the link it is part of; None if it is none."""
    wheel, key, _ = error.place.partition("wheels.")[2].rpartition(".included_in_link")
    if not key:
        return None
    rotor = pyyaml().safe_load(text)["wheels"][wheel]
    value, link = rotor["inertia"]["axial"], rotor["carrier"]
    finding = f"{value:g} kg m^2 is more than link {link} has"
    remedy = "1 kg cm^2 = 1e-4 kg m^2, 1 g cm^2 = 1e-7 kg m^2"
    return GearedDynamicsError("--rotor-inertia", finding, remedy)


def joint_number(text: str) -> Numbers:
    """Read ``number`` or ``joint=number``."""
    name, equals, digits = text.rpartition("=")
    number = number_or_none(digits)
    if number is None or not isfinite(number) or (equals and not name):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor joint=number")
    return name or None, number


def by_joint(option: str, given: Sequence[Numbers], joints: Sequence[str]) -> dict[str, float]:
    """Numbers by joint: one for all of them, then those of single joints.

    Raises:
        GearedDynamicsError: A number is given twice, or is none that a drive can have.
    """
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            finding = f"is given twice for {'all joints' if name is None else repr(name)}"
            raise GearedDynamicsError(option, finding, "give it once")
    for name, value in given:
        if (option == "--ratio" and value == 0.0) or (option != "--ratio" and value < 0.0):
            finding = f"is {value:g}{f' for {name!r}' if name else ''}"
            remedy = "give a ratio other than 0" if option == "--ratio" else "give 0 or more"
            raise GearedDynamicsError(option, finding, remedy)
    everywhere = {joint: value for name, value in given if name is None for joint in joints}
    return everywhere | {name: value for name, value in given if name is not None}
