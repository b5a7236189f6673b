"""``geared-dynamics export``: the robot with its rotors as a file for other programs."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from geared_dynamics.apps.cli.command_output import add_json_option, print_document, robot_part
from geared_dynamics.apps.cli.options import (
    add_force_option,
    add_functions_option,
    add_robot_arguments,
    load_robot,
    open_console,
    say_replaced,
    stage,
)
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import MARK, refuse_foreign, write_text
from geared_dynamics.model.model import GearedModel
from geared_dynamics.simulation import to_mjcf
from geared_dynamics.simulation.mjcf import TIMESTEP

LONGEST = 0.1  # step [s] with which a simulation can be of use


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Write the robot for MuJoCo: links, rotors and gear wheels as bodies, gears as tight "
        "equality constraints or springs, an actuator for each motor's torque. Every link "
        "and wheel needs mass and inertia. Or write its dynamics as C99 that needs no library "
        "but sine and cosine, with a program that tests it."
    )
    add_robot_arguments(parser)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--mjcf", type=Path, metavar="OUT.xml", help="file to write for MuJoCo")
    kind.add_argument("--c", action="store_true", help="write C99 to the folder of -o")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="with --c: folder to write to"
    )
    add_functions_option(parser, "with --c: ")
    parser.add_argument(
        "--float", action="store_true", help="with --c: single precision instead of double"
    )
    parser.add_argument(
        "--struct",
        action="store_true",
        help="with --c: masses, gravity and constants in a struct that can be changed at run time",
    )
    parser.add_argument(
        "--timestep",
        type=step,
        default=TIMESTEP,
        metavar="S",
        help=f"of the integrator [s], default {TIMESTEP:g}",
    )
    parser.add_argument("--no-friction", action="store_true", help="leave friction out")
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file, or those of the C code; return 0."""
    if args.c:
        return run_c(args)
    model = load_robot(args)
    with stage("building the bodies"):
        text = to_mjcf(model, timestep=args.timestep, friction=not args.no_friction)
    replaced = refuse_foreign(args.mjcf, force=args.force)
    write_text(args.mjcf, f"<!-- {MARK} -->\n{text}")
    if args.json:
        print_document("export", {"robot": robot_part(model), "files": [args.mjcf]})
    else:
        console = open_console()
        console.print(f"{args.mjcf}: {counts(model)}", soft_wrap=True)
        say_replaced(console, replaced)
    return 0


def run_c(args: argparse.Namespace) -> int:
    """Write C; return 0."""
    from geared_dynamics.trace.c_code import c_names, export_c

    if args.output is None:
        raise GearedDynamicsError("export --c: -o DIR", "is not given", "name a folder")
    model = load_robot(args)
    precision = "float" if args.float else "double"
    targets = [args.output / name for name in c_names(model)]
    replaced = refuse_foreign(*targets, force=args.force)
    kind = "struct" if args.struct else "constants"
    files = export_c(model, args.output, args.functions, precision=precision, parameters=kind)
    if args.json:
        print_document("export", {"robot": robot_part(model), "files": files})
        return 0
    console = open_console()
    for path in files:
        console.print(str(path), soft_wrap=True)
    say_replaced(console, replaced)
    return 0


def counts(model: GearedModel) -> str:
    """What the file holds, in words."""
    parts = (
        (len(model.body_names), "moving link", "moving links"),
        (len(model.wheel_names), "wheel", "wheels"),
        (len(model.motor_names), "motor", "motors"),
    )
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in parts)


def step(text: str) -> float:
    """Read a step of time."""
    number = number_or_none(text)
    if number is None or not math.isfinite(number) or not 0.0 < number <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0, at most {LONGEST:g} s")
    return number
