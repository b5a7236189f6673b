"""Entry point of ``geared-dynamics``."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TextIO

from geared_dynamics import __version__
from geared_dynamics.apps.cli.command_help import show_arguments
from geared_dynamics.apps.cli.examples import epilog
from geared_dynamics.errors import (
    DescriptionError,
    GearedDynamicsError,
    GearedDynamicsWarning,
    UnknownNameError,
    printable,
)
from geared_dynamics.files import drivetrain_beside, known_files, no_such_robot, robot_files

PROGRAM = "geared-dynamics"
DESCRIPTION = "Exact dynamics of geared robots: describe a robot, check it, export it."
# Each is a module of this folder with ``add_arguments(parser)`` and ``run(args)``. It is imported
# when it is asked for: their libraries take seconds of which ``--help`` needs nothing.
COMMANDS = {
    "demo": "simulate an arm over ROS 2 and compare tracking errors with three feedforward models",
    "init": "write a drivetrain file to fill in, for a robot of which only the URDF is known",
    "check": "compare a robot with Pinocchio, and the armature model with the complete one",
    "describe": "show joints, wheels, ratios, locked links and the structure matrix",
    "view": "show the moving robot in the browser, as a page or as a picture",
    "export": "write the robot with its rotors for MuJoCo (MJCF)",
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


if __name__ == "__main__":
    sys.exit(main())
