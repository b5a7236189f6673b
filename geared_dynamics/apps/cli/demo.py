"""``geared-dynamics demo``: an arm moves over DDS with three feedforwards; a table, a report."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import (
    add_files,
    add_force_option,
    open_console,
    say_replaced,
)
from geared_dynamics.apps.cli.recording_options import provenance
from geared_dynamics.apps.demo_plan import (
    ELASTIC_WAYS,
    WAYS,
    DemoPlan,
    gains,
    make_plan,
    missing,
    node_parameters,
    plant_parameters,
    refuse_missing,
    switches,
    ways_of,
)
from geared_dynamics.apps.demo_report import (
    FIRST_LIMIT,
    Outcome,
    known_columns,
    outcomes,
    read,
    saturation,
    table_rows,
    verdict,
    write_report,
)
from geared_dynamics.apps.latency_run import environment
from geared_dynamics.apps.processes import Child, Children, own_domain
from geared_dynamics.files import (
    RobotFiles,
    drivetrain_beside,
    folder,
    known_files,
    refuse_foreign,
    robot_files,
    write_text,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.process_tasks import DemoTask, Run, read_step, write_demo_task

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
        again = analysis_words(robot, bag, ways_of(model)[-1].name)
        open_console().print(f"next: {again}", soft_wrap=True)
    return 0


def analysis_words(robot: RobotFiles, bag: Path, way: str) -> str:
    """Write the command that compares the recorded torques with the model."""
    own = {path: name for name, path in known_files("urdf", ".urdf").items()}
    words = ["geared-dynamics", "analyze", bag, "--robot", own.get(robot.urdf, robot.urdf)]
    # A robot of the package is found with the drivetrain file beside it.
    beside = drivetrain_beside(robot.urdf) if robot.urdf in own else None
    if robot.drivetrain != beside:
        words += ["--drivetrain", robot.drivetrain]
    return shlex.join(map(str, [*words, "--topic", f"/{way}/joint_states"]))


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
    motors = ", and what it asks of the motors" if known[-1] >= FIRST_LIMIT else ""
    print_table(console, f"{model.name}: tracking error{motors}", table)
    console.print(verdict(found, model.knowledge), soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", soft_wrap=True)
    console.print(f"saved {' and '.join(str(file) for file in files)}", soft_wrap=True)


# -- The processes of a demo: plant, feedforward node, reference publisher, from start to end -----


NODES = "geared_dynamics.ros"
PLANT, NODE = "plant_node", "feedforward_node"
OnProgress = Callable[[str, float], None]


def record(plan: DemoPlan, bag: Path, *, lock_step: bool, progress: OnProgress) -> list[str]:
    """Run the arm in all three ways and record it.

    Args:
        plan: What to run.
        bag: Folder for the recording, which does not exist yet.
        lock_step: Whether time is simulated.
        progress: Called with the name of a step and the part of it that is done.

    Returns:
        What the feedforward node complained of.

    Raises:
        GearedDynamicsError: A process failed.
    """
    with tempfile.TemporaryDirectory(prefix="geared_dynamics_demo_") as name:
        place = Path(name)
        with own_domain() as domain, Children(graph(domain, place), place) as children:
            return _record(children, place, task_of(plan, bag, lock_step), plan, progress)


def _record(
    children: Children, place: Path, task: DemoTask, plan: DemoPlan, progress: OnProgress
) -> list[str]:
    write_demo_task(task, place / "task.json")
    parameters = {
        PLANT: plant_parameters(plan, task.lock_step),
        NODE: node_parameters(plan, task.lock_step),
    }
    for name, values in parameters.items():
        write_parameters(place / f"{name}.yaml", name, values)
    plant = children.start(
        PLANT, "-m", f"{NODES}.plant_node", "--ros-args",
        "--params-file", str(place / f"{PLANT}.yaml"),
        "-r", f"~/joint_commands:=/{NODE}/joint_commands",
    )  # fmt: skip
    # A robot with springs has encoders at its motors: there is nothing else to feed back.
    heard = ("-r", "joint_states:=motor_states") if task.springs else ()
    node = children.start(
        NODE, "-m", f"{NODES}.feedforward_node", "--ros-args",
        "--params-file", str(place / f"{NODE}.yaml"), *heard,
    )  # fmt: skip
    reference = children.start(
        "reference publisher", "-m", f"{NODES}.demo_conductor", str(place / "task.json")
    )
    follow(reference, (plant, node), progress)
    return complaints(place)


def follow(reference: Child, others: tuple[Child, ...], progress: OnProgress) -> None:
    """Pass on how far the reference publisher is, until it has ended."""
    while (line := reference.next_line(others)) is not None:
        if found := read_step(line):
            progress(*found)
    if reference.popen.wait():
        for child in others:
            child.check()  # what made it fail
        raise reference.failure()


def task_of(plan: DemoPlan, bag: Path, lock_step: bool) -> DemoTask:
    """What the reference publisher has to do."""
    motion, model = plan.motion, plan.model
    runs = [
        Run(way.name, switches(way) | gains(model, motion.q, springs=way.springs))
        for way in ways_of(model)
    ]
    return DemoTask(
        joints=list(model.joint_names),
        times=motion.times.tolist(),
        q=motion.q.tolist(),
        v=motion.v.tolist(),
        a=motion.a.tolist(),
        lock_step=lock_step,
        runs=runs,
        bag=str(bag.resolve()),
        springs=bool(model.elasticity.count),
    )


def write_parameters(path: Path, node: str, values: dict[str, Any]) -> None:
    """Write a parameter file; JSON is YAML."""
    text = json.dumps({node: {"ros__parameters": values}}, indent=1)
    write_text(path, text)


def graph(domain: int, logs: Path) -> dict[str, str]:
    """Environment variables: a graph of our own on this machine, found quickly."""
    profile = str(folder("config") / "fastdds_fast_discovery.xml")
    prefixes = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    return environment(domain, logs) | {
        "FASTRTPS_DEFAULT_PROFILES_FILE": profile,  # Jazzy
        "FASTDDS_DEFAULT_PROFILES_FILE": profile,  # Kilted
        "AMENT_PREFIX_PATH": os.pathsep.join(filter(None, prefixes)),
        "RCUTILS_COLORIZED_OUTPUT": "0",
    }


def complaints(logs: Path) -> list[str]:
    """Errors and warnings that nodes have logged."""
    lines = [
        line
        for path in sorted(logs.glob("*.log"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    loud = [line for line in lines if line.startswith(("[ERROR]", "[WARN]"))]
    return [line.partition("]: ")[2] for line in loud]
