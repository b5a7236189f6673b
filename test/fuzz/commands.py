"""Commands that are given mutated descriptions: what they say, their documents, C code."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from pathlib import Path
from zlib import crc32

from fuzz.files import URDF, folder
from geared_dynamics.apps.cli.main import EXIT_ERROR, main
from geared_dynamics.errors import GearedDynamicsError

COMMANDS = (
    ["describe"],
    ["describe", "--json"],
    ["describe", "--json", "--graph", "@/case.svg", "--force"],
    ["coupling", "--json", "--states", "5"],
    ["export", "--json", "--c", "-o", "@/case_c", "--functions", "gravity_forces", "--force"],
    ["init", "--json", "--out", "@/case_new.yaml", "--force"],
)


class RefusedError(GearedDynamicsError):
    """A command that ended with the code of a wrong input."""


@cache
def prepare() -> None:
    """Import what the commands need, before the time of a case counts."""
    path = folder() / "case_elbow.urdf"
    path.write_bytes((URDF / "elbow.urdf").read_bytes())
    for words in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()):
            main([*(word.replace("@", str(path.parent)) for word in words), str(path)])


def no_number(word: str) -> None:
    """NaN and Infinity stand in no document."""
    raise ValueError(f"a document has {word}")


def run_command(name: str, path: Path) -> None:
    """Run one of the commands; it answers or refuses, its document is one.

    Raises:
        RefusedError: It said in one line why not.
    """
    robot = name.split(".")[0]
    urdf, drives = URDF / f"{robot}.urdf", URDF / f"{robot}.drivetrain.yaml"
    words = COMMANDS[crc32(path.read_bytes()) % len(COMMANDS)]
    files = {"urdf": ["--robot", path, "--drivetrain", drives],
             "yaml": ["--robot", urdf, "--drivetrain", path],
             "srdf": ["--robot", urdf, "--srdf", path]}  # fmt: skip
    given = files[name.rpartition(".")[2]]
    if words[0] == "init":
        given = [given[1]]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*(word.replace("@", str(path.parent)) for word in words), *map(str, given)])
    said = out.getvalue() + err.getvalue()
    if not all(letter.isprintable() or letter == "\n" for letter in said):
        raise ValueError(f"{words}: letters that cannot be seen: {said!r:.500}")
    if code == EXIT_ERROR:
        remarks = (": warning: ", ": note: ")
        lines = [x for x in err.getvalue().splitlines() if not any(r in x for r in remarks)]
        if len(lines) != 1 or out.getvalue():
            raise ValueError(f"{words}: said {said!r:.500}")
        raise RefusedError(name, "is refused", lines[0])
    if code not in (0, 1):
        raise ValueError(f"{words} ends with {code}: {said:.500}")
    if "--json" in words:
        json.loads(out.getvalue(), parse_constant=no_number)
