"""Runs cases in processes of their own, so that a crash or a hang costs one of them."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

from hostile.run import cases_of

START = 60.0  # [s] that a process may take to import everything
PATIENCE = 15.0  # [s] without an answer, after which a process is ended
TEST = Path(__file__).resolve().parents[1]


def results(family: str, how: str = "read", *, heavy: bool = False) -> list[dict[str, Any]]:
    """What came of each case of a family: name, problem, seconds, megabytes."""
    names = list(cases_of(family, heavy=heavy))
    found: list[dict[str, Any]] = []
    while len(found) < len(names):
        command = [sys.executable, "-m", "hostile.run", family, how, str(len(found))]
        path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(TEST.parent), str(TEST)])
        with subprocess.Popen(
            command + ["heavy"] * heavy,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
        ) as child:
            answers = lines(child)
            found += answers
            if len(found) < len(names):
                child.kill()
                problem = f"no answer: code {child.wait()}"
                found.append({"family": family, "name": names[len(found)], "problem": problem,
                              "seconds": PATIENCE, "megabytes": 0})  # fmt: skip
    return found


def lines(child: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """Answers of a process until it ends or does not answer any more."""
    assert child.stdout is not None
    found: list[dict[str, Any]] = []
    rest, wait = b"", START
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while selector.select(wait):
            data = os.read(child.stdout.fileno(), 1 << 16)
            if not data:
                break
            *whole, rest = (rest + data).split(b"\n")
            found += [json.loads(line) for line in whole]
            wait = PATIENCE
    return found


if __name__ == "__main__":
    for each in results(sys.argv[1], *sys.argv[2:3], heavy="heavy" in sys.argv):
        print(json.dumps(each), flush=True)
