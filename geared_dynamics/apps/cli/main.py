"""Entry point of ``geared-dynamics``: commands by name, their help, and what ends them."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TextIO

from geared_dynamics import __version__
from geared_dynamics.errors import (
    DescriptionError,
    GearedDynamicsError,
    GearedDynamicsWarning,
    UnknownNameError,
    printable,
)
from geared_dynamics.files import drivetrain_beside, known_files, no_such_robot, robot_files

# -- Entry point ----------------------------------------------------------------------------------


PROGRAM = "geared-dynamics"
DESCRIPTION = "Exact dynamics of geared robots: describe a robot, check it, export it."
# Each is a module of this folder with ``add_arguments(parser)`` and ``run(args)``. It is imported
# when it is asked for: their libraries take seconds of which ``--help`` needs nothing.
COMMANDS = {
    "demo": "simulate an arm over ROS 2 and compare tracking errors with three feedforward models",
    "init": "write a drivetrain file to fill in, for a robot of which only the URDF is known",
    "check": "compare a robot with Pinocchio, and the armature model with the complete one",
    "describe": "show joints, wheels, ratios, locked links, structure matrix, what is missing",
    "view": "show the moving robot in the browser, as a page or as a picture",
    "export": "write the robot with its rotors for MuJoCo (MJCF), or its dynamics as C",
    "coupling": "show the torque that the armature model omits, by cause",
    "analyze": "compare recorded joint torques with the model",
    "identify": "find inertias, rotor inertias and friction from recordings",
    "excite": "make a motion within the limits that excites all parameters",
    "loop-benchmark": "latency and jitter from joint states to commands over DDS, on this machine",
    "warm-up": "compile everything now, so that nothing waits for it later",
    "compile": "compile a robot's functions ahead, so that gd.compiled loads them at once",
    "completion": "print what lets bash, zsh or fish complete the words of this program",
    "tune-observer": "replay a recording through the elastic-joint observer and assess its tuning",
}
EXIT_ERROR, EXIT_OUTPUT, EXIT_UNEXPECTED, EXIT_INTERRUPT, EXIT_PIPE = 2, 3, 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 and 1 are the command's own answer; 2 means that the input was wrong, said in one
    line on standard error; 3 that the answer could not be written; 70 a fault of this
    program, of which a file has the details; 130 that the user interrupted, 141 that the
    reader of a pipe did not wait for the end.
    """
    if sys.stdout is None:
        _say("error", "standard output is closed")
        return EXIT_OUTPUT
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may have letters that it cannot write
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(argv)
    except GearedDynamicsError as error:
        _say("error", str(error))
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPT
    except BrokenPipeError:
        _discard(sys.stdout)
        return EXIT_PIPE
    except OSError as error:
        _discard(sys.stdout)
        place = error.filename or "standard output: cannot be written"
        _say("error", f"{place} ({error.strerror})")
        return EXIT_OUTPUT
    except Exception as error:
        _say("error", _unexpected(error))
        return EXIT_UNEXPECTED


def _run(argv: Sequence[str] | None) -> int:
    """Parse and run, and write out all that is still in the buffer."""
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        if "_ARGCOMPLETE" in os.environ:
            _complete()
        if not words:
            remedy = f"type `{PROGRAM} help` for the list"
            raise DescriptionError("command line", "COMMAND is missing", remedy)
        args = build_parser(words).parse_args(words)
        args.words = words  # as typed, for reports
        _find_files(args)
        with _warnings_in_one_line():
            return int(args.run(args))
    finally:
        sys.stdout.flush()


def _find_files(args: argparse.Namespace) -> None:
    """Replace names of robots and recordings that come with the package by their files.

    Such a recording without a robot is of the robot of its name.
    """
    recordings = getattr(args, "recordings", None) or []
    for k, name in enumerate(recordings):
        known = {} if os.path.lexists(name) else known_files("recordings", ".csv")
        if name in known:
            recordings[k] = str(known[name])
            args.robot = args.robot or name
    robot = str(getattr(args, "robot", None) or "")
    if Path(robot).suffix in (".yaml", ".yml"):
        raise DescriptionError(robot, "this is a drivetrain file", "the URDF comes first")
    known = {} if not robot or os.path.lexists(robot) else known_files("urdf", ".urdf")
    args.of_package = robot in known
    if args.of_package:
        found = robot_files(robot, getattr(args, "drivetrain", None))
        args.robot = str(found.urdf)
        args.drivetrain = None if found.drivetrain is None else str(found.drivetrain)
    elif known and not {".", "/"} & set(robot):  # a name, and of no file
        raise DescriptionError("robot", *no_such_robot(robot))
    if robot and args.words[0] != "demo":  # which takes the file beside the URDF
        _note_unused(robot, getattr(args, "drivetrain", ""))


def _note_unused(robot: str, drivetrain: str | None) -> None:
    """Say that there is a drivetrain file beside the URDF, where none is given."""
    beside = drivetrain_beside(Path(robot)) if drivetrain is None else None
    if beside is not None:
        _say("note", f"{beside} is not used; give it as DRIVE.yaml to include its rotors")


def _complete() -> None:
    """Answer the shell, which asks for the words that may follow, and exit."""
    import argcomplete

    typed = os.environ.get("COMP_LINE", "").split()[1:2]
    argcomplete.autocomplete(build_parser(typed if typed and typed[0] in COMMANDS else []))


def _discard(stream: TextIO) -> None:
    """Send what is still in a buffer nowhere, or the interpreter would fail at its exit."""
    with contextlib.suppress(OSError):  # a stream without a file needs nothing
        target, null = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, target)
        os.close(null)


class _Help(argparse.HelpFormatter):
    """Help whose examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break what is a paragraph only."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


def build_parser(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser of a command line; ``run`` is what the command does.

    Raises:
        UnknownNameError: There is no such command.
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    if words[:1] == ["help"]:
        words[:] = [*words[1:], "--help"]
    chosen = words[0] if words and not words[0].startswith("-") else None
    if chosen is not None and chosen not in COMMANDS:
        raise UnknownNameError("command line", "command", chosen, COMMANDS)
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        command = subparsers.add_parser(name, help=purpose, formatter_class=_Help)
        if name != chosen:
            continue
        if {"-h", "--help"} & set(words):
            show_arguments(command, name)
            command.epilog = epilog(name)
        else:
            add_command(command, name)
    return parser


def add_command(parser: argparse.ArgumentParser, name: str) -> None:
    """Give a parser the arguments of a command, and what it does."""
    module = import_module(f"{__package__}.{name.replace('-', '_')}")
    module.add_arguments(parser)
    parser.epilog = epilog(name)
    parser.set_defaults(run=module.run)


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of one command alone, with all that its arguments need."""
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} {name}", formatter_class=_Help)
    add_command(parser, name)
    return parser


def _unexpected(error: Exception) -> str:
    """Keep the details of a fault of this program in a file, and say where."""
    try:
        with NamedTemporaryFile(
            "w", prefix=f"{PROGRAM}-", suffix=".txt", encoding="utf-8", delete=False
        ) as file:
            file.write(f"{PROGRAM} {__version__}: {sys.argv}\n{traceback.format_exc()}")
        place = f"the details are in {file.name}"
    except OSError:  # no room for them
        place = "its details could not be written"
    return f"unexpected {type(error).__name__}: {error}; {place}, please report it"


def _say(kind: str, text: str) -> None:
    """Print one line on standard error, if anybody listens there."""
    if sys.stderr is None:
        return
    try:
        line = printable(" ".join(text.split()))
        print(f"{PROGRAM}: {kind}: {line}", file=sys.stderr, flush=True)
    except OSError:  # the exit code still tells
        _discard(sys.stderr)


@contextlib.contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show this package's warnings without file, line number and source."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        _say("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", GearedDynamicsWarning)
        warnings.showwarning = show
        yield


# -- Help of a command without its libraries: argparse's own text from command_help.json ----------
#
# A command's arguments need NumPy, numba and more to be built, which takes longer than reading the
# help. tools/command_help.py writes down what the help shows of them; a test compares.


HELP_FILE = "command_help.json"
SHOWN = ("option_strings", "dest", "nargs", "default", "required", "help", "metavar")


class Shown(argparse.Action):
    """An argument that is shown, and not read: the help ends the program."""

    def __call__(self, *_: Any) -> None:
        """Take what was given for it."""


def described(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """What the help shows of a parser, as JSON has it: the order is that of the usage."""
    groups, either = parser._action_groups, parser._mutually_exclusive_groups
    arguments = [
        {name: getattr(action, name) for name in SHOWN}
        | {
            "choices": None if action.choices is None else [*action.choices],
            "group": next(g.title for g in groups if action in g._group_actions),
            "either": any(action in group._group_actions for group in either),
        }
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    ]
    titles = {group.title: group.description for group in groups}
    text = {"description": parser.description, "groups": titles, "arguments": arguments}
    return dict(json.loads(json.dumps(text, default=str)))


def show_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Give a parser what the help of a command shows."""
    text = json.loads(files(__package__).joinpath(HELP_FILE).read_text("utf-8"))[command]
    parser.description = text["description"]
    groups: dict[str, Any] = {str(group.title): group for group in parser._action_groups}
    for title, description in text["groups"].items():
        if title not in groups:
            groups[title] = parser.add_argument_group(title, description)
    exclusive: Any = None
    for argument in text["arguments"]:
        group, either = groups[argument.pop("group")], argument.pop("either")
        if isinstance(argument["metavar"], list):
            argument["metavar"] = tuple(argument["metavar"])
        if either and exclusive is None:
            exclusive = group.add_mutually_exclusive_group(required=True)
        (exclusive if either else group)._add_action(Shown(**argument))


# -- Command lines that --help shows below the options; arm.urdf is the user's own ----------------


ARM = "arm.urdf arm.drivetrain.yaml"

EXAMPLES = {
    "demo": ("", "elbow --out elbow_demo", f"{ARM} --engine equations"),
    "init": (
        "arm.urdf",
        "arm.urdf --ratio 100 --rotor-inertia 1e-4",
        "arm.urdf --ratio joint_1=120 joint_2=-80 --out drives.yaml",
    ),
    "check": (ARM, "arm.urdf", f"{ARM} --lock finger=0.02 --states 1000 --json"),
    "describe": (ARM, f"{ARM} --graph gears.svg", f"{ARM} --json"),
    "view": (ARM, f"{ARM} --out arm.html", f"{ARM} --demo --out arm.gif"),
    "export": (
        f"{ARM} --mjcf arm.xml",
        f"{ARM} --c -o arm_c",
        f"{ARM} --c -o arm_c --float --functions inverse_dynamics gravity_forces",
    ),
    "coupling": (ARM, f"{ARM} run.mcap", f"{ARM} --states 10000 --json"),
    "analyze": (
        f"run.mcap {ARM} --output report",
        f"run.csv {ARM} --effort motor_current --degrees --columns effort=i_{{joint}}",
        f"monday.mcap tuesday.mcap {ARM} --payload 2.1 0 0 0.08 --skip-rest",
    ),
    "identify": (
        f"run.mcap {ARM} --output identified",
        f"run.mcap {ARM} --validate other.mcap --known 'link_*'",
        f"run.mcap {ARM} --effort motor_current --loaded with_load.mcap --payload 2.1 0 0 0.08",
    ),
    "excite": (
        f"{ARM} --output motion.yaml",
        f"{ARM} --output motion.yaml --duration 30 --acceleration 8 --repeat 2",
        f"{ARM} --output motion.yaml --bag motion",
    ),
    "loop-benchmark": ("", f"{ARM} --rate 500 --duration 20", "--node observer --check --json"),
    "warm-up": ("", "--json", "--json > kernels.json"),
    "compile": (
        f"{ARM}",
        f"{ARM} --functions inverse_dynamics inverse_dynamics_derivatives",
        f"{ARM} --batches --json",
    ),
    "completion": ("bash", "zsh", "fish > ~/.config/fish/completions/geared-dynamics.fish"),
    "tune-observer": (
        f"run.mcap {ARM}",
        f"run.mcap {ARM} --resolution 4.8e-5 --force-bandwidth 20",
        f"run.mcap {ARM} --noise 2e-5 --json",
    ),
}


def epilog(command: str) -> str:
    """The end of a command's help."""
    lines = (f"  geared-dynamics {command} {words}".rstrip() for words in EXAMPLES[command])
    return "\n".join(["examples:", *lines])


if __name__ == "__main__":
    sys.exit(main())
