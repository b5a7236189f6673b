"""``geared-dynamics check``: the user's robot against Pinocchio, and what coupling is worth."""

from __future__ import annotations

import argparse

from rich.table import Table

from geared_dynamics.analysis.coupling_gap import CouplingGap, coupling_gap
from geared_dynamics.analysis.crosscheck import (
    DEFAULT_SPEED,
    LARGEST_SPEED,
    TIME_TO_SPEED,
    CrossCheck,
    cross_check,
)
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.drive_tables import weightless_links
from geared_dynamics.apps.cli.options import (
    add_robot_arguments,
    load_robot,
    number_of_states,
    open_console,
    read_urdf_file,
    seed,
    stage,
    tolerance,
)
from geared_dynamics.checks import percent, percent_cell
from geared_dynamics.model.model import GearedModel

EXACT = 1e-9  # [%] a gap below this share of the joint's force is rounding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Compare every rigid function on this robot with Pinocchio, in which each wheel "
        "is a body of its own; then show per joint what the diagonal (armature) model "
        "leaves out. Exit code 0: agrees, 1: does not, 2: the input is wrong, 3: the "
        "answer could not be written."
    )
    add_robot_arguments(parser)
    parser.add_argument(
        "--states", type=number_of_states, default=100, help="number of random states, default 100"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the random states, default 0")
    parser.add_argument(
        "--tolerance", type=tolerance, default=1e-10, help="relative error allowed, default 1e-10"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Check the robot and print the tables; return 0 if it agrees with Pinocchio, else 1."""
    data = read_urdf_file(args)
    model = load_robot(args, data)
    urdf = data.decode("utf-8-sig", errors="replace")
    options = {"states": args.states, "seed": args.seed}
    with stage("comparing with Pinocchio"):
        result = cross_check(model, tolerance=args.tolerance, urdf=urdf, **options)
    with stage("comparing the models of the rotors"):
        gap = coupling_gap(model, **options)
    if args.json:
        print_document("check", document(model, result, gap))
    else:
        show(model, result, gap)
    return 0 if result.passed else 1


def show(model: GearedModel, result: CrossCheck, gap: CouplingGap) -> None:
    """Print both tables and what they mean."""
    console = open_console()
    console.print(_heading(model))
    print_table(console, "Against Pinocchio, with every wheel a body", error_table(result))
    console.print(result.verdict, style="green" if result.passed else "bold red")
    console.print()
    known = model.knowledge.rotors != "none"
    title = "Joint forces and the error of simpler rotor models" if known else "Joint forces"
    print_table(console, f"{title} [{_units(gap)}]", gap_table(gap, rotors=known))
    console.print(_ranges(gap))
    console.print()
    console.print(gap_sentence(model, gap), style="bold")
    for line in notes(model):
        console.print(f"note: {line}", style="yellow", soft_wrap=True)


def document(model: GearedModel, result: CrossCheck, gap: CouplingGap) -> dict[str, object]:
    """The same for ``--json``."""
    known = model.knowledge.rotors != "none"
    joints = [
        {
            "name": joint.joint,
            "unit": joint.unit,
            "rms": joint.rms,
            "armature": joint.diagonal._asdict() if known else None,
            "no_rotors": joint.none._asdict() if known else None,
        }
        for joint in gap.joints
    ]
    return {
        "robot": robot_part(model),
        "passed": result.passed,
        "tolerance": result.tolerance,
        "quantities": [
            {"name": one.name, "error": one.error, "state": one.state, "passed": one.passed}
            for one in result.quantities
        ],
        "states": gap.states,
        "seed": gap.seed,
        "joints": joints,
        "verdict": [result.verdict, gap_sentence(model, gap), *notes(model)],
    }


def error_table(result: CrossCheck) -> Table:
    """Worst relative error of each quantity."""
    table = numeric_table("quantity", "worst rel. error", "at state", "")
    for quantity in result.quantities:
        mark = "ok" if quantity.passed else "FAILS"
        table.add_row(
            quantity.name,
            f"{quantity.error:.1e}" if quantity.error else "0",
            str(quantity.state),
            mark,
        )
    return table


def gap_table(gap: CouplingGap, *, rotors: bool) -> Table:
    """Per joint: the complete model's force, and what the two usual models are off by.

    Args:
        gap: What ``coupling_gap`` gives.
        rotors: Whether any rotor inertia is known; without, all models are one.
    """
    mixed = len({joint.unit for joint in gap.joints}) > 1
    heads = ["armature\nRMS", "\npeak", "\n%", "no rotors\nRMS", "\n%"]
    table = numeric_table("\njoint", "force\nRMS", *(heads if rotors else []))
    for joint in gap.joints:
        name = f"{joint.joint} [{joint.unit}]" if mixed else joint.joint
        simpler = [
            _number(joint.diagonal.rms),
            _number(joint.diagonal.peak),
            percent_cell(joint.diagonal.percent),
            _number(joint.none.rms),
            percent_cell(joint.none.percent),
        ]
        table.add_row(name, _number(joint.rms), *(simpler if rotors else []))
    return table


def gap_sentence(model: GearedModel, gap: CouplingGap) -> str:
    """Sum up the table in one plain sentence."""
    note = model.knowledge.rotor_note
    if model.knowledge.rotors == "none":
        return note
    worst = gap.worst
    if worst.diagonal.percent < EXACT:
        return f"With these rotors the diagonal (armature) model is exact. {note}".strip()
    loud = max(gap.joints, key=lambda joint: joint.diagonal.peak)
    return (
        f"On this robot the diagonal (armature) model is off by up to "
        f"{_number(loud.diagonal.peak)} {loud.unit} (at {loud.joint}), and by "
        f"{percent(worst.diagonal.percent)} of the RMS force at {worst.joint}, its worst joint."
        f" {note}"
    ).strip()


def notes(model: GearedModel) -> list[str]:
    """Say what the files lack: Pinocchio gets the same links, and agrees without it."""
    return [f"{line}; the forces lack it" for line in weightless_links(model)]


def _heading(model: GearedModel) -> str:
    """Say what is checked."""
    wheels = f"{len(model.wheel_names)} wheels"
    if model.wheel_names and model.knowledge.rotors == "none":
        wheels += " (without inertia)"
    return f"{model.name}: {model.n} joints, {wheels}"


def _units(gap: CouplingGap) -> str:
    """The units of the joint forces."""
    return " or ".join(sorted({joint.unit for joint in gap.joints}))


def _ranges(gap: CouplingGap) -> str:
    """Say what the states are drawn from."""
    speed, acceleration = gap.ranges.velocity, gap.ranges.acceleration
    return (
        f"{gap.states} random states (seed {gap.seed}) within the URDF's limits; speeds up to the "
        f"velocity limits (here {speed.max():.3g}; capped at {LARGEST_SPEED:g}; "
        f"{DEFAULT_SPEED:g} where there is no limit), accelerations up to "
        f"{acceleration.max():.3g} (top speed in {TIME_TO_SPEED:g} s). "
        "Percent of the joint's RMS force, gravity included."
    )


def _number(value: float) -> str:
    """Write a force with three digits, plain where that is readable."""
    return f"{value:.3g}" if value == 0 or 1e-3 <= value < 1e5 else f"{value:.1e}"
