"""Entry point of ``geared-dynamics``."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TextIO

from geared_dynamics import __version__
from geared_dynamics.cli import check, describe
from geared_dynamics.errors import GearedDynamicsError, GearedDynamicsWarning

PROGRAM = "geared-dynamics"
EXIT_ERROR, EXIT_INTERRUPT = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 and 1 are the command's own answer; 2 means that the input was wrong, said in one
    line on standard error; 130 that the user interrupted.
    """
    args = build_parser().parse_args(argv)
    try:
        with _warnings_in_one_line():
            return int(args.run(args))
    except GearedDynamicsError as error:
        _say("error", str(error))
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPT


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets ``run``."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Exact dynamics of geared robots: look at a robot, check it."
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (check, describe):
        command.add_parser(subparsers)
    return parser


def _say(kind: str, text: str) -> None:
    """Print one line on standard error."""
    print(f"{PROGRAM}: {kind}: {' '.join(text.split())}", file=sys.stderr)


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
