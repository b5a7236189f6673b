"""``geared-dynamics demo``: an arm moves over DDS with three feedforwards; a table, a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from geared_dynamics.apps.cli.documents import add_json_option, print_document, robot_part
from geared_dynamics.apps.cli.options import (
    add_files,
    add_force_option,
    open_console,
    say_replaced,
)
from geared_dynamics.apps.cli.recording_options import provenance
from geared_dynamics.apps.cli.tables import numeric_table, print_table
from geared_dynamics.apps.demo_figures import Outcome, outcomes, read, saturation
from geared_dynamics.apps.demo_plan import (
    ELASTIC_WAYS,
    WAYS,
    make_plan,
    missing,
    refuse_missing,
    ways_of,
)
from geared_dynamics.apps.demo_report import known_columns, table_rows, verdict, write_report
from geared_dynamics.apps.demo_run import record
from geared_dynamics.files import refuse_foreign, robot_files
from geared_dynamics.model import GearedModel

DEFAULT = "brisk6"
LIMITS = ("torque,\nof limit", "time\nat limit", "voltage,\nof limit", "time\nat limit")
HEADS = ("", "RMS error\n[mrad]", "peak\n[mrad]", *LIMITS)
LABELS = {"waiting": "starting the nodes", "writing": "writing the recording"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Start a simulated arm, the feedforward node and a reference publisher as processes "
        "on this machine, and let the arm follow a demanding motion three times: without "
        "feedforward, with the armature model, with the complete one; the gains are the "
        "same. Prints a table, writes report.html and a recording."
    )
    add_files(
        parser,
        robot=f"a robot of this package or the path of a URDF, default {DEFAULT}",
        drivetrain="its drivetrain file, default: ROBOT.drivetrain.yaml beside it",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo_report"), metavar="FOLDER",
        help="folder for report.html and the recording, default demo_report",
    )  # fmt: skip
    parser.add_argument(
        "--engine", choices=("mujoco", "equations"),
        help="simulator, default: MuJoCo if it is installed and supports the robot",
    )  # fmt: skip
    parser.add_argument(
        "--real-time", action="store_true",
        help="run in real time; the table then depends on the machine",
    )  # fmt: skip
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the demo; return 0."""
    refuse_missing()
    robot = robot_files(args.robot or DEFAULT, args.drivetrain)
    out: Path = args.out
    bag, report = out / "recording", out / "report.html"
    out.mkdir(parents=True, exist_ok=True)
    replaced = refuse_foreign(report, force=args.force, bags=[bag])
    with progress() as shown:
        steps = Steps(shown)
        steps("compiling kernels, planning", 0.0)
        plan = make_plan(robot, args.engine)
        troubles = record(plan, bag, lock_step=not args.real_time, progress=steps)
        steps("writing the report", 0.0)
        model = plan.model
        tracks = read(bag, model.joint_names, model.motor_names, ways_of(model))
        found = outcomes(model, plan.motion, tracks)
        files = [bag]
        if "plotly" not in missing():
            source = provenance(args, [path for path in robot if path is not None])
            write_report(report, plan, found, lock_step=not args.real_time, provenance=source)
            files.insert(0, report)
        steps("done", 1.0)
    notes = list(dict.fromkeys([*plan.notes, *troubles]))  # both nodes say some
    if args.json:
        print_document("demo", document(model, found, notes, files))
    else:
        show(model, found, notes, files)
        say_replaced(open_console(), replaced)
    return 0


def document(
    model: GearedModel, found: Sequence[Outcome], notes: Sequence[str], files: Sequence[Path]
) -> dict[str, object]:
    """The table, the verdict and the files for ``--json``; errors in rad or m."""
    return {
        "robot": robot_part(model),
        "ways": [
            {
                "name": one.way.name,
                "rms": one.rms,
                "peak": one.peak,
                "torque": saturation(one.torque_part)._asdict(),
                "voltage": saturation(one.voltage_part)._asdict(),
            }
            for one in found
        ],
        "verdict": verdict(found, model.knowledge),
        "notes": notes,
        "files": files,
    }


def progress() -> Progress:
    """A display on standard error; lines where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class Steps:
    """Shows how far the demo is."""

    def __init__(self, shown: Progress) -> None:
        """Begin with no step."""
        self._shown = shown
        self._names = {way.name: way.label for way in (*WAYS, *ELASTIC_WAYS)} | LABELS
        self._last: tuple[str, TaskID] | None = None

    def __call__(self, step: str, part: float) -> None:
        """A step is done to a part."""
        if self._last is None or self._last[0] != step:
            self._begin(step)
        assert self._last is not None
        self._shown.update(self._last[1], completed=part)

    def _begin(self, step: str) -> None:
        name = self._names.get(step, step)
        if self._last is not None:
            self._shown.update(self._last[1], completed=1.0, total=1.0)
        if self._shown.disable:
            print(f"{name} ...", file=sys.stderr, flush=True)
        # Without a total a bar moves back and forth: the time is not known.
        total = None if step in LABELS or step not in {*self._names, "done"} else 1.0
        self._last = step, self._shown.add_task(name, total=total)


def show(
    model: GearedModel, found: Sequence[Outcome], notes: Sequence[str], files: Sequence[Path]
) -> None:
    """Print the table, the verdict, where the files are."""
    console = open_console()
    rows = table_rows(found)
    known = known_columns(rows)
    table = numeric_table(*(HEADS[k] for k in known))
    for row in rows:
        table.add_row(*(row[k] for k in known))
    print_table(console, f"{model.name}: tracking error, and what it asks of the motors", table)
    console.print(verdict(found, model.knowledge), soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", soft_wrap=True)
    console.print(" ".join(str(file) for file in files), soft_wrap=True)
