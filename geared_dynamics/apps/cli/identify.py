"""``geared-dynamics identify``: an arm's parameters from recordings, printed and written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_equations import equations
from geared_dynamics.analysis.identification_report import (
    FAR,
    HELD_OUT,
    ParameterRow,
    apart,
    cells,
    counted,
    important,
    rows_of,
    write_identification,
)
from geared_dynamics.analysis.identification_results import payload
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.verdict import Judgement, judged, wider_residual
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
)
from geared_dynamics.apps.cli.identify_output import (
    about_physical,
    add_options,
    find_gains,
    identified_document,
    output_files,
    show_gains,
    write,
)
from geared_dynamics.apps.cli.options import (
    add_force_option,
    load_robot,
    locked_joints,
    open_console,
    read_urdf_file,
    say_replaced,
)
from geared_dynamics.apps.cli.recording_options import (
    LINK_OF_LOAD,
    add_compiled_option,
    add_recording_options,
    add_recordings,
    add_robot_options,
    compiled_for,
    frequency,
    meaning_of,
    once,
    open_one,
    pair,
    progress_bar,
    provenance,
    recorded_names,
    show_partial,
    show_payload_frame,
    with_payload,
)
from geared_dynamics.arrays import Array
from geared_dynamics.checks import or_dash
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.errors import GearedDynamicsError, RecordingError
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.recording import Recording, is_table, open_recording

# -- ``geared-dynamics identify``: parameters of an arm from recordings ---------------------------


NOT_USABLE = 1
OF = ("files", "base", "physical")  # whose residuals are shown
NO_HTML = "without plotly (pip install plotly) there is no report.html: the tables are the report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Identify the base parameters of an arm with friction and rotor inertias from "
        "recorded motions and torques, with their uncertainties; the physical parameters "
        "nearest to them; say whether to use them, and why not; and write both files back."
    )
    add_recordings(parser)
    add_robot_options(parser)
    add_recording_options(parser)
    add_compiled_option(parser)
    group = parser.add_argument_group("identification")
    group.add_argument(
        "--keep", type=frequency, metavar="HZ",
        help="low-pass cut-off of the equations, default --bandwidth / 5 or determined",
    )  # fmt: skip
    group.add_argument(
        "--slow", type=share, default=Settings().slow,
        help="share of its top speed below which a joint is left out, default %(default)s",
    )  # fmt: skip
    group.add_argument(
        "--known", nargs="+", action="extend", default=[], metavar="NAME",
        help="parameters to keep at their values from the files, such as 'link_*'",
    )  # fmt: skip
    group.add_argument("--robust", action="store_true", help="give outliers less weight")
    group.add_argument(
        "--instruments", nargs="+", metavar="BAG",
        help="recordings of the same motions with independent noise, one for each BAG",
    )  # fmt: skip
    group.add_argument(
        "--instrument-columns", nargs="+", action="extend", type=pair, default=[],
        metavar="WHAT=HEADING", help="headings of CSV --instruments, if not those of --columns",
    )  # fmt: skip
    group.add_argument("--validate", nargs="+", metavar="BAG", help="recordings to validate with")
    group.add_argument(
        "--holdout", type=share, default=Settings().holdout,
        help="share of each recording kept for validation, default %(default)s",
    )  # fmt: skip
    group.add_argument(
        "--loaded", nargs="+", default=[], metavar="BAG",
        help="recordings of the same arm with a load to identify",
    )  # fmt: skip
    group.add_argument("--load-link", metavar="LINK", help=f"{LINK_OF_LOAD}, default the tip")
    add_options(parser)
    group.add_argument("--all", action="store_true", help="print all parameters and their sums")
    group.add_argument(
        "--check", action="store_true", help="exit code 1 if the parameters are not to be used"
    )
    group.add_argument(
        "--output", type=Path, metavar="DIR", help="folder for parameters, files and report.html"
    )
    add_force_option(parser)
    add_json_option(parser)


def share(text: str) -> float:
    """Read a number from 0 to below 1."""
    value = number_or_none(text)
    if value is None or not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to below 1")
    return value


def run(args: argparse.Namespace) -> int:
    """Identify, print, write."""
    data = read_urdf_file(args)
    empty = load_robot(args, data)
    model = with_payload(empty, args)
    targets, replaced = (None, []) if args.output is None else output_files(args)
    refuse_alone(args)
    settings = Settings(
        meaning_of(args, model), args.bandwidth, args.keep, args.slow, args.velocity, args.holdout
    )
    opened = {
        key: [open_one(args, model, path) for path in getattr(args, key) or []]
        for key in ("recordings", "validate", "loaded")
    }
    named = once("--columns", args.columns) | once("--instrument-columns", args.instrument_columns)
    other = argparse.Namespace(**vars(args) | {"columns": [*named.items()]})
    instruments = [open_one(other, model, path, efforts=False) for path in args.instruments or []]
    console, gains = open_console(quiet=args.json), None
    show_payload_frame(console, model, args)
    model = compiled_for(args, console, model, ["regressor"])
    every = [*args.recordings, *(args.validate or []), *args.loaded]
    for note in moving_frozen_joints(args, model, every):
        console.print(note, style="yellow", soft_wrap=True)
    show_partial(console, [*opened["loaded"], *instruments])
    if args.identify_drive_gains:
        gains = find_gains(args, model, settings, opened)
        show_gains(console, model, gains, args.effort)
        meaning = replace(settings.meaning, gains=tuple(gains.gains.tolist()))
        settings = replace(settings, meaning=meaning)
    with progress_bar("identify") as progress:
        result = identify(
            model,
            opened["recordings"],
            settings,
            robust=args.robust,
            instruments=instruments or None,
            validate=opened["validate"] or None,
            known=args.known,
            physical=not args.known,
            empty=empty,
            progress=progress,
        )
    judgement = judged(result)
    wider = wider_residual(result, opened["recordings"], settings)
    show(console, result, judgement, wider, args)
    if opened["loaded"] and gains is None:
        show_payload(console, model, args, settings, opened)
    if targets is not None:
        urdf = data.decode("utf-8-sig", errors="replace")
        write(console, result, empty, args, targets, urdf, gains)
        report(console, result, judgement, wider, args)
        say_replaced(console, replaced)
    if args.json:
        print_document("identify", identified_document(result, judgement, args))
    return NOT_USABLE if args.check and not judgement.usable else 0


def refuse_alone(args: argparse.Namespace) -> None:
    """Raise if an option is given without the recordings that it is for."""
    for option, given, needed, there in (
        ("--load-link", args.load_link, "--loaded", args.loaded),
        ("--instrument-columns", args.instrument_columns, "--instruments", args.instruments),
    ):
        if given and not there:
            finding = f"is given without {needed}"
            raise GearedDynamicsError(option, finding, f"name the recordings with {needed}")


def report(
    console: Console, result: Identified, judgement: Judgement, wider: Array,
    args: argparse.Namespace,
) -> None:  # fmt: skip
    """Write the report where its plots can be drawn."""
    if find_spec("plotly") is None:
        console.print(NO_HTML, style="yellow", soft_wrap=True)
        return
    path, names = args.output / "report.html", [Path(name).name for name in args.recordings]
    write_identification(result, judgement, path, provenance(args), wider=wider, files=names)
    console.print(f"saved {path}", soft_wrap=True)


def show(
    console: Console, result: Identified, judgement: Judgement, wider: Array,
    args: argparse.Namespace,
) -> None:  # fmt: skip
    """Print the verdict, what is wrong, residuals and the important parameters; with --all all."""
    style = "bold green" if judgement.usable else "bold red"
    console.print(judgement.sentence, style=style, soft_wrap=True)
    for finding in judgement.findings:
        if finding is judgement.unchanged and judgement.usable:
            continue  # the first line has said it
        text = " ".join((f"{finding.what}.", *finding.lines))
        console.print(f"- {text}", style=finding.severity, soft_wrap=True)
    for note in result.notes:
        console.print(note, style="yellow", soft_wrap=True)
    console.print()
    title = "Residual, % of measured RMS (all samples: less filtered, as in analyze)"
    print_table(console, title, residual_table(result, wider, bool(args.validate)))
    rows = rows_of(result)
    shown = rows if args.all else important(rows)
    load = "" if args.payload is None else ", with the payload"
    title = "Base parameters" if args.all else "Base parameters with more than 1 % of a torque"
    print_table(console, f"{title} (joint side{load})", parameter_table(shown))
    if not args.all and len(shown) < len(rows):
        console.print(f"{len(rows) - len(shown)} more with --all, and what joins in the sums (+)")
    cutoff, keep = result.equations.bandwidth
    console.print(
        f"{len(result.x)} base parameters of {len(result.equations.names)} from "
        f"{counted(result)} equations; filtered below {cutoff:.3g} Hz, equations "
        f"below {keep:.3g} Hz; condition {result.solution.condition:.3g}: {result.quality}",
        soft_wrap=True,
    )
    if args.all:
        show_details(console, result, rows)
    if result.physical is not None:
        where = "other recordings" if args.validate else "held-out part"
        for line in about_physical(result, where):
            console.print(line, soft_wrap=True)


def show_details(console: Console, result: Identified, rows: Sequence[ParameterRow]) -> None:
    """Print what joins in sums, what is hardly determined, and how the solver ended."""
    for row in rows:
        if row.name.endswith("+"):
            console.print(f"{row.name.removesuffix(' +')} stands for {row.whole}", soft_wrap=True)
    if result.doubtful:
        what = "hardly determined by this motion (30 % or worse)"
        console.print(f"{what}: {', '.join(result.doubtful)}", soft_wrap=True)
    if result.physical is not None:
        console.print(
            f"physical parameters: {result.physical.status}; least eigenvalue of a link's "
            f"pseudo-inertia {result.physical.least.min():.2g} of its trace"
        )


def parameter_table(rows: Sequence[ParameterRow]) -> Table:
    """Values, deviations, the files' values, with units."""
    table = numeric_table("parameter", "value", "± 1σ", "unit", "files", "off by\nσ")
    for row in rows:
        name, value, sigma, unit, files, off, _ = cells(row)
        style = "red" if abs(apart(row)) > FAR else ""
        table.add_row(name, value, sigma, unit, files, Text(off.removesuffix(" σ"), style))
    return table


def residual_table(result: Identified, wider: Array, others: bool) -> Table:
    """Residuals by joint; those of held-out data that are twice the fit's stand out."""
    last = "other\nrecs" if others else "held\nout"
    heads = [f"{data}\n{of}" for data in ("fitted", last) for of in OF]
    table = numeric_table("joint", *heads, "all\nsamples")
    for j, name in enumerate(result.model.joint_names):
        fit = 100 * result.residual[:3, j] / result.rms[j]
        held = 100 * result.residual[HELD_OUT, j] / (result.held_rms[j] or np.nan)
        table.add_row(name, *(or_dash(x, ".1f") for x in (*fit, *held, 100 * wider[j])))
    return table


def show_payload(
    console: Console,
    model: GearedModel,
    args: argparse.Namespace,
    settings: Settings,
    opened: dict[str, list[Recording]],
) -> None:
    """Print the load."""
    frame = model.payload_frame(args.load_link, "--load-link")
    both = [*opened["recordings"], *opened["loaded"]]
    joint = equations(model, both, settings)
    loaded = joint.run >= len(opened["recordings"])
    load = payload(model, joint, loaded, frame.link)
    table = numeric_table(f"load, frame of {frame.link}", "value", "sigma")
    for name, value, sigma in zip(*load[:3], strict=True):
        table.add_row(name, f"{value:.5g}", f"{sigma:.2g}")
    print_table(console, "Load (SI)", table)
    console.print(f"in the frame of {frame}", soft_wrap=True)


# -- Joints that the model holds still and a bag does not -----------------------------------------


STILL = 0.01  # [rad or m]


def moving_frozen_joints(
    args: argparse.Namespace, model: GearedModel, paths: Sequence[str]
) -> list[str]:
    """Say which frozen joints (``--joints``, ``--lock``) are elsewhere in the bags.

    Their motion is in the torques of the others, and in no equation.
    """
    if not (args.joints or args.lock) or args.positions == "motor":
        return []
    locked, names = locked_joints(args.lock), recorded_names(args, model.fixed_joints)
    notes = []
    for path in paths:
        if is_table(Path(path)):  # its columns may be numbered, so it is not looked at
            continue
        for joint in model.fixed_joints:
            try:
                bag = open_recording(path, [names.get(joint, joint)], topic=args.topic)
            except RecordingError:  # the bag has no such joint: it may be fixed in the URDF
                continue
            low, high = extent(bag)
            at = locked.get(joint, 0.0)
            if max(high, at) - min(low, at) > STILL:
                notes.append(
                    f"{joint} is frozen at {at:g} but goes from {low:.3g} to {high:.3g} in "
                    f"{Path(path).name}: unfreeze it, or record it at rest there (--lock)"
                )
    return notes


def extent(bag: Recording) -> tuple[float, float]:
    """Least and greatest position of a recording's only joint; NaN where there is none."""
    low, high = np.inf, -np.inf
    for piece in range(bag.reader.pieces):
        position = bag.piece[piece].position
        position = position[np.isfinite(position)]
        if len(position):
            low, high = min(low, float(position.min())), max(high, float(position.max()))
    return (low, high) if low <= high else (np.nan, np.nan)
