"""Arguments shared by the commands that read recordings, and what they open."""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from geared_dynamics import __version__
from geared_dynamics.actuation.command_type import EFFORTS
from geared_dynamics.analysis.report import Provenance
from geared_dynamics.apps.cli.options import Once, finite_number, load_robot, locked_joint, stage
from geared_dynamics.checks import plain
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.errors import DescriptionError, GearedDynamicsError, RecordingError
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.bag import recorded_description, stored_bytes
from geared_dynamics.recordings.motions import Meaning, recorded_joints
from geared_dynamics.recordings.recording import Recording, is_table, open_recording
from geared_dynamics.recordings.table_file import TimeUnit

Value = TypeVar("Value", str, float)

FILES_OF_ROBOT = {".urdf": "robot", ".yaml": "drivetrain", ".yml": "drivetrain"}
LONG = 2**28  # bytes of recordings; twelve minutes of seven joints at 1 kHz
LINK_OF_LOAD = "that carries it, frames of fixed joints (tool0) included"


def add_robot_options(parser: argparse.ArgumentParser, *, recorded: bool = False) -> None:
    """Add the robot as options, for commands whose positional arguments are recordings.

    Args:
        parser: Of the command.
        recorded: Whether the URDF may come from the recording.
    """
    group = parser.add_argument_group("robot")
    text = "the robot's URDF"
    if recorded:
        text += "; if not given, what the first bag has on robot_description"
    group.add_argument("--robot", action=Once, metavar="ROBOT.urdf", help=text)
    group.add_argument(
        "--drivetrain", action=Once, metavar="DRIVE.yaml", help="its drivetrain file"
    )
    group.add_argument("--srdf", metavar="ROBOT.srdf", help="SRDF file with <rotor_params>")
    group.add_argument(
        "--joints", nargs="+", action="extend", metavar="JOINT", help="keep these, freeze others"
    )
    group.add_argument(
        "--lock", nargs="+", action="extend", type=locked_joint, default=[], metavar="JOINT=POS",
        help="freeze joints at positions [rad or m]",
    )  # fmt: skip
    group.add_argument(
        "--gravity", nargs=3, type=finite_number, default=(0.0, 0.0, -9.81),
        metavar=("X", "Y", "Z"),
        help="in the root link's frame [m/s^2], default 0 0 -9.81",
    )  # fmt: skip
    group.add_argument(
        "--payload", nargs=4, type=finite_number, metavar=("KG", "X", "Y", "Z"),
        help="mass and centre of mass [m] of a known load, as a point, in the frame of a link",
    )  # fmt: skip
    group.add_argument("--payload-link", metavar="LINK", help=f"{LINK_OF_LOAD}, default the tip")


class Recordings(argparse.Action):
    """Takes recordings, and the robot's files where they stand among them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Tell a URDF and a drivetrain file from recordings by their endings."""
        recordings = []
        for word in values:
            kind = FILES_OF_ROBOT.get(Path(word).suffix.lower())
            if kind is None:
                recordings.append(word)
            elif getattr(namespace, kind, None) is not None:
                finding = f"is given twice, {getattr(namespace, kind)} and {word}"
                raise GearedDynamicsError(f"--{kind}", finding, "give it once")
            else:
                setattr(namespace, kind, word)
        if not recordings:
            raise GearedDynamicsError("recordings", "none is given", "name one or more")
        setattr(namespace, self.dest, recordings)


def add_recordings(parser: argparse.ArgumentParser) -> None:
    """Add the recordings, among which the robot's files may stand."""
    parser.add_argument(
        "recordings", nargs="+", action=Recordings, metavar="BAG",
        help="recordings; ROBOT.urdf and DRIVE.yaml may stand among them",
    )  # fmt: skip


def add_recording_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how recordings are read."""
    group = parser.add_argument_group("recordings")
    group.add_argument("--topic", help="JointState topic; determined if not given")
    group.add_argument(
        "--rename", nargs="+", action="extend", type=pair, default=[], metavar="JOINT=NAME",
        help="name of a joint in the recording",
    )  # fmt: skip
    group.add_argument(
        "--rename-prefix", default="", metavar="PREFIX",
        help="prefix of all joint names in the recording, such as left_",
    )  # fmt: skip
    group.add_argument(
        "--effort", choices=EFFORTS, default="joint_torque",
        help="meaning of efforts, default joint_torque",
    )  # fmt: skip
    group.add_argument(
        "--gains", nargs="+", type=finite_number, default=(), metavar="K",
        help="factors of the efforts, such as drive gains [N m/A]",
    )  # fmt: skip
    group.add_argument(
        "--positions",
        choices=("joint", "motor"),
        default="joint",
        help="positions of the joints (default) or of the motors",
    )
    group.add_argument(
        "--zero", nargs="+", action="extend", type=locked_joint, default=[], metavar="JOINT=POS",
        help="offsets added to the recorded joint positions [rad or m]",
    )  # fmt: skip
    group.add_argument(
        "--velocity", choices=("position", "recorded"), default="position",
        help="differentiate positions (default) or recorded velocities",
    )  # fmt: skip
    group.add_argument(
        "--bandwidth",
        type=frequency,
        metavar="HZ",
        help="low-pass cut-off of the recorded signals; determined if not given",
    )
    group.add_argument(
        "--columns", nargs="+", action="extend", type=pair, default=[], metavar="WHAT=HEADING",
        help="headings of a CSV file: time, position, velocity, effort, with {joint} or {i}",
    )  # fmt: skip
    group.add_argument(
        "--rate",
        type=frequency,
        metavar="HZ",
        help="sample rate of a CSV file without times",
    )
    group.add_argument(
        "--time-unit",
        choices=get_args(TimeUnit),
        help="unit of the times in a CSV file, default s",
    )
    group.add_argument(
        "--degrees",
        action="store_true",
        help="recorded angles are in degrees; prismatic joints stay in metres",
    )


def add_compiled_option(parser: argparse.ArgumentParser) -> None:
    """Add what says whether the model is compiled first."""
    parser.add_argument(
        "--compiled", action="store_true",
        help="compile the model's functions first (about a second, once for an arm and machine); "
        f"done by itself for recordings of {LONG >> 20} MiB and more",
    )  # fmt: skip


def compiled_for(
    args: argparse.Namespace, console: Console, model: GearedModel, functions: Sequence[str]
) -> GearedModel:
    """Return a model with compiled batches, if asked for or worth it; print what was done."""
    if not args.compiled and sum(map(stored_bytes, args.recordings)) < LONG:
        return model
    from geared_dynamics.trace.compiled import attempt

    with stage("compiling"):
        found = attempt(model, functions, batches=True)
    console.print(found.line, style="dim" if found.done else "yellow", soft_wrap=True)
    return found.model


def load_with_payload(args: argparse.Namespace, urdf: bytes | None = None) -> GearedModel:
    """Load the robot, with its payload if there is one.

    Without a URDF it is what the first bag has on robot_description.
    """
    if urdf is None and args.robot is None:
        urdf = recorded_description(args.recordings[0])
    return with_payload(load_robot(args, urdf), args)


def with_payload(model: GearedModel, args: argparse.Namespace) -> GearedModel:
    """Add the payload that the arguments describe.

    Raises:
        GearedDynamicsError: If a link is given without a payload, or the payload has no link.
    """
    if args.payload is None:
        if args.payload_link is not None:
            remedy = "give mass and centre of mass with --payload"
            raise GearedDynamicsError("--payload-link", "is given without --payload", remedy)
        return model
    mass, *com = args.payload
    frame = model.payload_frame(args.payload_link, "--payload-link")
    return model.with_payload(mass, com, link=frame.link)


def show_payload_frame(console: Console, model: GearedModel, args: argparse.Namespace) -> None:
    """Print what the recordings' arm carries, and where."""
    if args.payload is not None:
        mass, *com = args.payload
        frame = model.payload_frame(args.payload_link, "--payload-link")
        where = f"centre of mass {plain(com)} m in the frame of {frame}"
        console.print(f"payload: {mass:g} kg, {where}", soft_wrap=True)


def open_one(
    args: argparse.Namespace, model: GearedModel, path: str, *, efforts: bool = True
) -> Recording:
    """Open a recording as the arguments say.

    Args:
        args: Of the command.
        model: The robot.
        path: The recording.
        efforts: Whether its efforts are used.

    Raises:
        RecordingError: If it cannot be used, or if efforts of motors need the number at a
            frozen joint that it does not have.
    """
    joints = recorded_joints(model, meaning_of(args, model)) if efforts else model.joint_names
    try:
        return open_joints(args, model, path, joints, efforts)
    except RecordingError:
        extra = joints[model.n :]
        if not extra:
            raise
        open_joints(args, model, path, model.joint_names, efforts)  # names what else is wrong
    names = ", ".join(extra)
    finding = f"has no efforts at the frozen {names}, whose motors move other joints too"
    remedy = f"record them (in a table under headings by name), or keep {names} movable"
    raise RecordingError(path, finding, remedy)


def open_joints(
    args: argparse.Namespace, model: GearedModel, path: str, joints: Sequence[str], efforts: bool
) -> Recording:
    """Open a recording of these joints; options of tables do not apply to bags."""
    names, columns = recorded_names(args, joints), once("--columns", args.columns)
    tables = {name: is_table(Path(name)) for name in (path, *every_recording(args))}
    alike = len(set(tables.values())) == 1
    of_tables, of_bags = alike or tables[path], alike or not tables[path]
    return open_recording(
        path,
        joints,
        topic=args.topic if of_bags else None,
        rename=names,
        columns=columns if of_tables else None,
        rate=args.rate if of_tables else None,
        time_unit=args.time_unit if of_tables else None,
        degrees=args.degrees and angular(args, model),
        efforts=efforts,
        by_number=len(joints) == model.n,
    )


def show_partial(console: Console, recordings: Iterable[Recording]) -> None:
    """Print what is missing of recordings that can be read in part."""
    for recording in recordings:
        for note in recording.reader.notes:
            console.print(f"partial: {note}", style="yellow")


def provenance(args: argparse.Namespace, more: Sequence[Path] = ()) -> Provenance:
    """Where a report comes from: date, version, command, and digests of all files.

    Args:
        args: Of the command.
        more: Files that it read beside those that its arguments name.
    """
    named = [getattr(args, key, None) for key in ("robot", "drivetrain", "srdf")]
    paths = [*(Path(path) for path in named if path), *map(Path, every_recording(args)), *more]
    files = [
        file
        for path in dict.fromkeys(paths)
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
        if file.is_file()
    ]
    words = getattr(args, "words", sys.argv[1:])
    return Provenance(
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
        version=__version__,
        command=shlex.join(["geared-dynamics", *words]),
        files=tuple((str(file), file.stat().st_size, digest(file)) for file in files),
    )


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def every_recording(args: argparse.Namespace) -> list[str]:
    """All recordings that a command names."""
    paths: list[str] = []
    for key in ("recordings", "recording", "validate", "loaded", "instruments", "bag"):
        value = getattr(args, key, None)
        paths += [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return paths


def angular(args: argparse.Namespace, model: GearedModel) -> tuple[str, ...]:
    """Joints whose recorded positions are angles: those that turn; of motors, all."""
    if args.positions == "motor":
        return model.joint_names
    pairs = zip(model.joint_names, model.prismatic, strict=True)
    return tuple(name for name, slides in pairs if not slides)


def meaning_of(args: argparse.Namespace, model: GearedModel) -> Meaning:
    """What the arguments say of positions and efforts."""
    zero = once("--zero", args.zero)
    for joint in zero:
        if joint not in model.joint_names:
            remedy = f"the robot's joints are {', '.join(model.joint_names)}"
            raise DescriptionError("--zero", f"the robot has no joint {joint!r}", remedy)
    shift = tuple(zero.get(joint, 0.0) for joint in model.joint_names) if zero else ()
    return Meaning(args.effort, args.positions, tuple(args.gains), shift)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal's standard error; elsewhere nothing."""
    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True,
        disable=sys.stderr is None or not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def recorded_names(args: argparse.Namespace, joints: Iterable[str]) -> dict[str, str]:
    """What the recordings call joints, where it differs."""
    before = args.rename_prefix
    return ({x: before + x for x in joints} if before else {}) | once("--rename", args.rename)


def once(option: str, pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Return what is given by name, each once."""
    values: dict[str, Value] = {}
    for name, value in pairs:
        if name in values:
            finding = f"{name} is given twice, {values[name]} and {value}"
            raise DescriptionError(option, finding, "give it once")
        values[name] = value
    return values


def pair(text: str) -> tuple[str, str]:
    """Read ``name=value``."""
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def frequency(text: str) -> float:
    """Read a positive number."""
    number = number_or_none(text)
    if number is None or not 0.0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a frequency above 0 [Hz]")
    return number


def jobs(text: str) -> int:
    """Read a number of processes."""
    if not text.isdecimal() or not 0 < int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 to 1024")
    return int(text)
