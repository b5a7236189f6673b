"""``geared-dynamics analyze``: recordings compared with the model."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from geared_dynamics.analysis.analysis_files import (
    HEADS,
    SamplesFile,
    TorqueBag,
    write_motors,
    write_png,
    write_summary,
)
from geared_dynamics.analysis.compare import Analysis, analyze
from geared_dynamics.analysis.comparison_numbers import (
    JointFigures,
    MotorFigures,
    compared,
    delay_note,
    friction_yaml,
    joint_figures,
    motor_figures,
    summary,
    unexplained,
)
from geared_dynamics.analysis.comparison_report import write_html
from geared_dynamics.analysis.span_comparison import Kept
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import add_force_option, open_console, say_replaced
from geared_dynamics.apps.cli.recording_options import (
    add_compiled_option,
    add_recording_options,
    add_recordings,
    add_robot_options,
    compiled_for,
    jobs,
    load_with_payload,
    meaning_of,
    open_one,
    progress_bar,
    provenance,
    show_payload_frame,
)
from geared_dynamics.checks import or_dash, percent_cell
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.errors import GearedDynamicsError, extra, printable
from geared_dynamics.files import HEAD, refuse_foreign, write_text
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.bag_writer import usual_storage

TOPIC = re.compile(rb"(/[\w/]+)?\r?\n")  # what --save-topic writes
SOME_FAILED = 2
REST_SPEED = 0.01  # [rad/s or m/s]
NO_HTML = (
    "without plotly (pip install plotly) there is no report.html: the tables "
    "here, PNG and CSV are the report"
)
NO_MCAP = "without rosbags (pip install rosbags) the bag is SQLite, not MCAP"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Predict the torques of recorded motions and compare them with the measured ones: "
        "without rotors, with reflected inertia only (armature), and complete. Recordings "
        "are rosbag2 folders, .db3, .mcap or .csv files; no ROS is needed."
    )
    add_recordings(parser)
    add_robot_options(parser, recorded=True)
    add_recording_options(parser)
    add_compiled_option(parser)
    group = parser.add_argument_group("samples")
    group.add_argument(
        "--skip-rest",
        action="store_true",
        help="leave out samples in which every joint is slower than --rest-speed",
    )
    group.add_argument(
        "--rest-speed",
        type=speed,
        metavar="SPEED",
        help=f"speed below which a joint is at rest [rad/s or m/s], default {REST_SPEED:g}",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output", type=Path, metavar="DIR", help="folder for report.html, PNG and CSV"
    )
    group.add_argument("--samples", action="store_true", help="also write all samples as CSV")
    group.add_argument(
        "--bag",
        action="store_true",
        help="also write tau_model, tau_measured and tau_residual as a bag",
    )
    group.add_argument(
        "--output-bag",
        type=Path,
        metavar="DIR",
        help="write that bag to this path; for one recording only",
    )
    group.add_argument(
        "--storage",
        choices=("mcap", "sqlite3"),
        help="format of the bag, default mcap, or sqlite3 if the package rosbags is not installed",
    )
    group.add_argument(
        "--save-topic",
        type=Path,
        metavar="FILE",
        help="write the topic of the joint states into FILE; empty for a table",
    )
    add_force_option(parser)
    group = parser.add_argument_group("work")
    group.add_argument("--jobs", type=jobs, default=1, help="number of processes, default 1")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of a Dask cluster that does the work, in place of --jobs",
    )
    add_json_option(parser)


def speed(text: str) -> float:
    """Read a positive number."""
    number = number_or_none(text)
    if number is None or not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed above 0 [rad/s or m/s]")
    return number


def rest_speed(args: argparse.Namespace) -> float | None:
    """Speed below which all joints are at rest, None where rest counts.

    Raises:
        GearedDynamicsError: If a speed is given without a use.
    """
    if args.skip_rest:
        return args.rest_speed or REST_SPEED
    if args.rest_speed is not None:
        raise GearedDynamicsError(
            "--rest-speed", "is given without --skip-rest", "add --skip-rest"
        )
    return None


def run(args: argparse.Namespace) -> int:
    """Analyse each recording; one that fails does not keep the others from it."""
    replaced = refuse_foreign(*targets(args), force=args.force, heads=HEADS, bags=bags_of(args))
    replaced += earlier_topic(args)
    model, rest = load_with_payload(args), rest_speed(args)
    if (args.samples or args.bag) and args.output is None:
        raise GearedDynamicsError("--output", "is not given", "name a folder for the files")
    if args.output_bag is not None and len(args.recordings) > 1:
        finding = f"names one file for {len(args.recordings)} recordings"
        raise GearedDynamicsError(
            "--output-bag", finding, "write one bag for each with --output DIR --bag"
        )
    if args.output is not None:
        extra("matplotlib.figure", "PNG")  # before the work, not after it
        args.output.mkdir(parents=True, exist_ok=True)
    console, analyses, failed = open_console(quiet=args.json), [], []
    drawn = args.output is not None and find_spec("plotly") is not None
    if args.output is not None and not drawn:
        console.print(NO_HTML, style="yellow", soft_wrap=True)
    if (args.bag or args.output_bag) and args.storage is None and usual_storage() != "mcap":
        console.print(NO_MCAP, style="yellow", soft_wrap=True)
    show_payload_frame(console, model, args)
    model = compiled_for(args, console, model.with_coupling("complete"), functions_of(model))
    for k, path in enumerate(args.recordings):
        try:
            analyses.append(analyze_one(args, model, path, k, rest))
        except GearedDynamicsError as error:
            if len(args.recordings) == 1:
                raise
            failed.append(error)
            continue
        show(console, analyses[-1])
    if drawn and analyses:
        write_html(analyses, args.output / "report.html", provenance(args))
        console.print(f"saved {args.output / 'report.html'}", soft_wrap=True)
    say_replaced(console, replaced)
    if args.json:
        found = [document(analysis) for analysis in analyses]
        print_document("analyze", {"robot": robot_part(model), "recordings": found})
    for problem in failed:
        print(printable(f"geared-dynamics: error: {problem}"), file=sys.stderr)
    return SOME_FAILED if failed else 0


def targets(args: argparse.Namespace) -> list[Path]:
    """Files that may be written, other than bags."""
    if args.output is None:
        return []
    ends = (".png", ".csv", "_motors.csv", *(["_samples.csv"] if args.samples else []))
    stems = [stem_of(args, number) for number in range(len(args.recordings))]
    names = ["report.html", *(stem + end for stem in stems for end in ends)]
    return [args.output / name for name in names]


def earlier_topic(args: argparse.Namespace) -> list[Path]:
    """Return the file of ``--save-topic`` if it is replaced: it holds a topic's name alone."""
    path: Path | None = args.save_topic
    if path is None or not path.is_file():
        return []
    with path.open("rb") as file:
        ours = TOPIC.fullmatch(file.read(HEAD)) is not None
    return refuse_foreign(path, force=args.force or ours)


def bags_of(args: argparse.Namespace, *numbers: int) -> list[Path]:
    """Bags that are written for recordings, all of them where none is named by its number."""
    stems = [stem_of(args, number) for number in numbers or range(len(args.recordings))]
    beside = args.output is not None and args.bag
    places = [args.output / f"{stem}_torques" for stem in stems] if beside else []
    return [*places, *([args.output_bag] if args.output_bag else [])]


def stem_of(args: argparse.Namespace, number: int) -> str:
    """With what the names of a recording's files begin."""
    stem = Path(args.recordings[number]).stem
    return f"{stem}_{number + 1}" if len(args.recordings) > 1 else stem


def functions_of(model: GearedModel) -> list[str]:
    """Functions that an analysis calls for all samples."""
    motors = ["motor_commands"] if model.motor_map.complete else []
    return ["torque_terms", "inverse_dynamics", *motors]


def document(analysis: Analysis) -> dict[str, object]:
    """A recording's figures for ``--json``: residuals by model, RMS [N m or N]."""
    models = ("no_rotors", "armature", "complete")
    joints = joint_figures(analysis)
    wrong = unexplained(joints)
    return {
        "recording": analysis.recording.path,
        "samples": analysis.totals.samples,
        "bandwidth": analysis.cutoff,
        "joints": [
            {
                "name": joint.joint,
                "unit": joint.unit,
                "measured": joint.rms,
                "residual": dict(zip(models, joint.residual, strict=True)),
                "delay": joint.delay,
                "hint": joint.hint,
            }
            for joint in joints
        ],
        "notes": [*analysis.notes, *([wrong] if wrong else [])],
    }


def analyze_one(
    args: argparse.Namespace, model: GearedModel, path: str, number: int, rest: float | None
) -> Analysis:
    """Analyse one recording and write its files."""
    recording = open_one(args, model, path)
    if args.save_topic is not None:
        write_text(args.save_topic, recording.topic + "\n")
    stem = stem_of(args, number)
    with ExitStack() as stack:
        sinks: list[SamplesFile | TorqueBag] = []
        if args.samples:
            target = args.output / f"{stem}_samples.csv"
            sinks.append(stack.enter_context(SamplesFile(target, model)))
        for target in bags_of(args, number):
            bag = TorqueBag(target, model.joint_names, storage=args.storage, replace=True)
            sinks.append(stack.enter_context(bag))

        def keep(part: Kept) -> None:
            for sink in sinks:
                sink.add(part)

        progress = stack.enter_context(progress_bar(Path(path).name))
        analysis = analyze(
            model,
            recording,
            meaning=meaning_of(args, model),
            bandwidth_hz=args.bandwidth,
            velocity=args.velocity,
            rest=rest,
            jobs=args.jobs,
            scheduler=args.scheduler,
            keep=keep if sinks else None,
            progress=progress,
        )
        if args.output is not None:  # in the context: if this fails, nothing of it all is kept
            write_png(analysis, args.output / f"{stem}.png")
            write_summary(analysis, args.output / f"{stem}.csv")
            if motor_figures(analysis):
                write_motors(analysis, args.output / f"{stem}_motors.csv")
    return analysis


def show(console: Console, analysis: Analysis) -> None:
    """Print one recording's tables."""
    joints, motors, models = joint_figures(analysis), motor_figures(analysis), compared(analysis)
    dashes, friction = delay_note(joints), friction_yaml(analysis.model, joints)
    answer = summary(analysis, joints)
    totals, rate = analysis.totals, analysis.recording.rate
    wrong = unexplained(joints)
    if wrong:
        console.print(wrong, style="bold red", soft_wrap=True)
    size = f"{totals.samples} samples at {rate:.4g} Hz"
    place = ", ".join(filter(None, (analysis.recording.path, analysis.recording.topic)))
    console.print(f"{place}: {size}", soft_wrap=True)
    console.print(f"filtered below {analysis.cutoff:.3g} Hz")
    for note in analysis.notes:
        console.print(note, style="yellow", soft_wrap=True)
    console.print()
    units = sorted({joint.unit for joint in joints})
    alone = f"; RMS and peak in {units[0]}" if len(units) == 1 else ""
    title = f"Measured less predicted, % of measured RMS{alone}"
    print_table(console, title, residual_table(joints, models, bool(alone)))
    if dashes:
        console.print(dashes)
        console.print()
    print_table(console, "RMS of each term, % of measured RMS", share_table(joints))
    if motors:
        print_table(console, "Motors along this motion, by the model", motor_table(motors))
    hints: dict[str, list[str]] = {}
    for joint in joints:
        hints.setdefault(joint.hint, []).append(joint.joint)
    for hint, names in hints.items():
        console.print(f"{', '.join(names)}: {hint}", soft_wrap=True)
    if friction:
        console.print("friction to paste into the drivetrain file, what it has added:")
        console.print(friction, soft_wrap=True)
    console.print(answer, style="bold", soft_wrap=True)
    console.print()


def residual_table(
    joints: Sequence[JointFigures], models: Mapping[str, int], alike: bool
) -> Table:
    """Residuals of the models that are shown; with units where they are not all alike."""
    heads = [
        "measured\nRMS",
        *(f"{name.replace('without', 'no')}\n%" for name in models),
        "RMS",
        "peak",
        "delay\nms",
    ]
    table = numeric_table("joint", *heads)
    for joint in joints:
        table.add_row(
            joint.joint if alike else f"{joint.joint} [{joint.unit}]",
            f"{joint.rms:.4g}",
            *(or_dash(joint.percent[i], ".1f") for i in models.values()),
            f"{joint.residual[-1]:.3g}",
            f"{joint.residual_peak[-1]:.3g}",
            or_dash(1e3 * joint.delay, ".1f"),
        )
    return table


def share_table(joints: Sequence[JointFigures]) -> Table:
    """Shares of the terms."""
    table = numeric_table("joint", *(name[:8] for name in joints[0].shares))
    for joint in joints:
        table.add_row(joint.joint, *(or_dash(share, ".1f") for share in joint.shares.values()))
    return table


def motor_table(motors: Sequence[MotorFigures]) -> Table:
    """Torque, current, voltage of the motors."""
    heads = [
        f"{what}\n{figure} {unit}"
        for what, unit in (("torque", "N m"), ("current", "A"), ("voltage", "V"))
        for figure in ("RMS", "peak")
    ]
    table = numeric_table("motor", *heads, "beyond\nlimits %")
    for motor in motors:
        pairs = [(motor.rms[i], motor.peak[i]) for i in range(3)]
        cells = [or_dash(x) for pair in pairs for x in pair]
        table.add_row(motor.motor, *cells, percent_cell(motor.exceeded))
    return table
