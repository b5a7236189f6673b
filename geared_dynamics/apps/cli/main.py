"""Entry point of ``geared-dynamics``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TextIO

from geared_dynamics import __version__
from geared_dynamics.apps.cli import (
    analyze,
    check,
    coupling,
    demo,
    describe,
    excite,
    export,
    identify,
    loop_benchmark,
    tune_observer,
    view,
)
from geared_dynamics.errors import GearedDynamicsError, GearedDynamicsWarning, printable

PROGRAM = "geared-dynamics"
COMMANDS = (
    *(demo, check, describe, view, export),
    *(coupling, analyze, identify, excite),
    loop_benchmark,
    tune_observer,
)
EXIT_ERROR, EXIT_OUTPUT, EXIT_INTERRUPT, EXIT_PIPE = 2, 3, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 and 1 are the command's own answer; 2 means that the input was wrong, said in one
    line on standard error; 3 that the answer could not be written; 130 that the user
    interrupted, 141 that the reader of a pipe did not wait for the end.
    """
    if sys.stdout is None:
        _say("error", "standard output is closed")
        return EXIT_OUTPUT
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


def _run(argv: Sequence[str] | None) -> int:
    """Parse and run, and write out all that is still in the buffer."""
    try:
        args = build_parser().parse_args(argv)
        with _warnings_in_one_line():
            return int(args.run(args))
    finally:
        sys.stdout.flush()


def _discard(stream: TextIO) -> None:
    """Send what is still in a buffer nowhere, or the interpreter would fail at its exit."""
    with contextlib.suppress(OSError):  # a stream without a file needs nothing
        target, null = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, target)
        os.close(null)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets ``run``."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Exact dynamics of geared robots: look at a robot, check it, export it.",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


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
