"""``geared-dynamics coupling``: which effects matter, per joint, and which a bag can show."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from geared_dynamics.analysis.coupling_gap import (
    CouplingShares,
    CouplingSums,
    coupling_sums,
    unabsorbed_share,
)
from geared_dynamics.analysis.crosscheck import random_states
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import (
    add_robot_arguments,
    load_robot,
    number_of_states,
    open_console,
    seed,
    stage,
)
from geared_dynamics.apps.cli.recording_options import (
    add_recording_options,
    meaning_of,
    open_one,
    progress_bar,
)
from geared_dynamics.checks import percent, percent_cell, rounded
from geared_dynamics.errors import GearedDynamicsError, RecordingError
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.recording import is_table
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.signals import WIDER, cap_notes, usable_cutoff
from geared_dynamics.recordings.spans import MotionReader, found_bandwidth

HEADS = ("trans-\nmission", "rotor-\nlink", "gyro-\nscopic")  # as CAUSES
MATTERS = 1.0  # [%] of the joint's torque: below it other errors are larger
BAGS = {".db3", ".mcap"}
SEEN = 0.01  # share of the coupling that recordings must be able to show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Per joint, the torque that the armature model leaves out: coupling by the "
        "transmission, coupling of rotors and links, gyroscopic torques. Over random states "
        "within the joint limits, or along a recording."
    )
    add_robot_arguments(parser)
    parser.add_argument("recording", metavar="BAG", nargs="?", help="evaluate along a recording")
    parser.add_argument("--bag", metavar="BAG", help="the same recording, as an option")
    parser.add_argument(
        "--states",
        type=number_of_states,
        default=2000,
        help="number of random states, default 2000",
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the random states, default 0")
    add_recording_options(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table and what it means."""
    choose_bag(args)
    model = load_robot(args)
    notes: tuple[str, ...] = ()
    if args.bag is None:
        with stage("computing torques of random states"):
            sums = coupling_sums(model, *random_states(model, args.states, args.seed))
        where = f"over {args.states} random states within the limits"
    else:
        sums, notes = along(args, model)
        where = f"along {Path(args.bag).name}, {sums.samples} samples"
    shares = None
    if model.knowledge.rotors != "none":
        with stage("looking for what recordings can show"):
            shares = sums.shares(unabsorbed_share(model))
    if args.json:
        head = {"robot": robot_part(model), "recording": args.bag, "samples": sums.samples}
        print_document("coupling", {**head, "notes": notes, **shares_part(model, shares)})
    else:
        show(model, shares, notes, where)
    return 0


def show(
    model: GearedModel, shares: CouplingShares | None, notes: Sequence[str], where: str
) -> None:
    """Print the table and what it means; without shares, what is missing for them."""
    console = open_console()
    for note in notes:
        console.print(note, style="yellow", soft_wrap=True)
    if shares is None:
        console.print(model.knowledge.rotor_note, soft_wrap=True)
        return
    units = sorted(set(model.force_units))
    title = f"What the armature model leaves out [{' or '.join(units)}], {where}"
    print_table(console, title, share_table(model, shares))
    for line in verdict(model, shares):
        console.print(line, soft_wrap=True)


def shares_part(model: GearedModel, shares: CouplingShares | None) -> dict[str, object]:
    """The table and what it means for ``--json``; parts are RMS [N m or N] by cause."""
    if shares is None:
        return {"joints": [], "verdict": [model.knowledge.rotor_note]}
    joints = [
        {
            "name": name,
            "unit": unit,
            "torque": shares.rms[j],
            "transmission": shares.parts[0, j],
            "rotor_link": shares.parts[1, j],
            "gyroscopic": shares.parts[2, j],
            "total": shares.total[j],
            "peak": shares.peak[j],
            "percent": shares.percent[j],
            "visible_percent": 100.0 * shares.unabsorbed[j] if shares.total[j] > 0.0 else None,
        }
        for j, (name, unit) in enumerate(zip(model.joint_names, model.force_units, strict=True))
    ]
    return {"joints": joints, "verdict": verdict(model, shares)}


def choose_bag(args: argparse.Namespace) -> None:
    """Find the recording among the arguments; it may stand where the drivetrain file would."""
    place = args.drivetrain
    if place is not None and is_recording(Path(place)):
        if args.recording is not None:
            finding = f"is followed by a second recording, {args.recording}"
            raise GearedDynamicsError(place, finding, "give one, after the drivetrain file")
        args.drivetrain, args.recording = None, place
    if args.recording is not None and args.bag is not None:
        finding = f"is given as well as {args.recording}"
        raise GearedDynamicsError(f"--bag {args.bag}", finding, "give one recording")
    args.bag = args.bag or args.recording


def is_recording(path: Path) -> bool:
    """Whether a path is that of a recording, not of a drivetrain file."""
    return path.is_dir() or path.suffix.lower() in BAGS or is_table(path)


def along(args: argparse.Namespace, model: GearedModel) -> tuple[CouplingSums, tuple[str, ...]]:
    """Sum up a recording's motion; what was left out of it."""
    recording = open_one(args, model, args.bag, efforts=False)
    reader = MotionReader(model, recording, meaning_of(args, model), args.velocity)
    wanted = args.bandwidth or WIDER * found_bandwidth(reader)
    cutoff = usable_cutoff(wanted, recording.rate)
    still = np.empty((0, model.n))
    sums, tally = coupling_sums(model, still, still, still), Tally()
    with progress_bar(Path(args.bag).name) as progress:
        for span in range(recording.spans):
            motions, left_out, _ = reader.motions(span, cutoff)
            tally = tally.plus(left_out)
            for part in motions:
                sums = sums.plus(coupling_sums(model, part.q, part.v, part.a))
            progress(span + 1, recording.spans)
    if not sums.samples:
        remedy = "record a motion of some seconds without gaps"
        raise RecordingError(recording.path, "contains no gap-free interval of motion", remedy)
    capped = cap_notes(wanted, cutoff, recording.rate, given=args.bandwidth is not None)
    return sums, (*capped, *recording.notes(tally))


def share_table(model: GearedModel, shares: CouplingShares) -> Table:
    """RMS by cause, all together, and how much of it a recording can show."""
    heads = ["torque\nRMS", *HEADS, "all\nRMS", "peak", "\n%"]
    table = numeric_table("joint", *heads, "can be\nseen %")
    for j, name in enumerate(model.joint_names):
        alike = len(set(model.force_units)) == 1
        table.add_row(
            name if alike else f"{name} [{model.force_units[j]}]",
            rounded(shares.rms[j], 3),
            *(rounded(part, 2) for part in shares.parts[:, j]),
            rounded(shares.total[j], 2),
            rounded(shares.peak[j], 2),
            percent_cell(shares.percent[j]),
            f"{100 * shares.unabsorbed[j]:.0f}" if shares.total[j] > 0 else "-",
        )
    return table


def verdict(model: GearedModel, shares: CouplingShares) -> list[str]:
    """Say plainly whether it matters, and whether recordings can show it."""
    lines = [model.knowledge.rotor_note] if model.knowledge.rotor_note else []
    named = zip(model.joint_names, shares.percent, shares.unabsorbed, strict=True)
    loud = [(name, part, seen) for name, part, seen in named if part >= MATTERS]
    if not loud:
        worst = int(np.argmax(shares.percent))
        lines.append(
            f"It does not matter here: at {model.joint_names[worst]}, where it is largest, "
            f"it is {percent(shares.percent[worst])} of the torque."
        )
        return lines
    lines.append(
        "It matters at " + ", ".join(f"{name} ({percent(part)})" for name, part, _ in loud) + "."
    )
    hidden = [name for name, _, seen in loud if seen < SEEN]
    if hidden:
        lines.append(
            f"At {', '.join(hidden)} torque recordings alone cannot show it: other inertias of "
            "the links give the armature model the same torques. It shows where those inertias "
            "are known, as from CAD."
        )
    return lines
