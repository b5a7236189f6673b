"""The code blocks of README and docs: found, run, and what they print compared with the page.

A fenced block names its language: ``python``, ``bash``, ``yaml``, ``xml``, or ``text`` for what
the block before it prints. A comment before a block, ``<!-- robot: why -->``, says that it is not
run: it needs a robot, a display, root (an installed system) or the network.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import geared_dynamics as gd
from recorded_motions import chunked_mcap, elbow, messages, motion, nanoseconds, torques, truth

ROOT = Path(__file__).resolve().parents[1]
REASONS = ("robot", "display", "root", "network")
LANGUAGES = ("python", "bash", "yaml", "xml", "text")
FENCE = re.compile(
    r"^(?:<!-- (?P<word>\w+): (?P<why>[^\n]+?) -->\n+)?^(?P<indent> *)```(?P<language>[^\n]*)\n"
    r"(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-+−]?\d+\.?\d*(?:[eE][-+]?\d+)?")
NEAR = 0.02  # relative difference of a number that is printed on another machine
NOTHING = 1e-9  # numbers below this are rounding
LONGEST = 900.0  # [s], of a block on a busy machine


class Block(NamedTuple):
    """A fenced block; ``reason`` and ``why`` where it is not run."""

    page: str
    line: int
    language: str
    text: str
    reason: str
    why: str

    @property
    def place(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"


def page_names() -> list[str]:
    """README and all pages, relative to the repository."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [
        "README.md",
        *(str(p.relative_to(ROOT)) for p in pages if not {"_build", "_generated"} & set(p.parts)),
    ]


def blocks_of(text: str, page: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        body = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        word, why = match["word"] or "", match["why"] or ""
        found.append(Block(page, line, match["language"], body, word, why))
    return found


def read(page: str) -> list[Block]:
    """The fenced blocks of a page of the repository."""
    return blocks_of((ROOT / page).read_text(encoding="utf-8"), page)


def outputs(blocks: list[Block]) -> list[tuple[Block, str | None]]:
    """Each block that is no text, with the text that follows it as its output."""
    shown = {
        before: after.text
        for before, after in itertools.pairwise(blocks)
        if after.language == "text"
    }
    return [(block, shown.get(block)) for block in blocks if block.language != "text"]


def differ(printed: str, shown: str) -> str:
    """Where what was printed differs from the page, empty where it does not.

    Spaces do not count, numbers may differ a little, and a line ``...`` leaves lines out.
    """
    have = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
    for part in re.split(r"^ *\.\.\. *$", shown, flags=re.MULTILINE):
        want = [" ".join(line.split()) for line in part.splitlines() if line.strip()]
        for k in range(len(have) - len(want) + 1):
            if all(map(alike, have[k : k + len(want)], want)):
                have = have[k + len(want) :]
                break
        else:
            return f"the page shows\n{part}\nand what is printed is\n{printed}"
    return ""


def alike(one: str, other: str) -> bool:
    """Two lines with the same words and nearly the same numbers."""
    numbers = [[float(n.replace("−", "-")) for n in NUMBER.findall(t)] for t in (one, other)]
    words = [NUMBER.sub("#", text).replace(" ", "") for text in (one, other)]
    return words[0] == words[1] and all(
        math.isclose(a, b, rel_tol=NEAR) or max(abs(a), abs(b)) < NOTHING
        for a, b in zip(*numbers, strict=True)
    )


def run_python(block: Block, names: dict[str, Any]) -> str:
    """Run a block of Python in the page's namespace and return what it prints."""
    printed = io.StringIO()
    code = compile("\n" * block.line + block.text, block.page, "exec")
    with contextlib.redirect_stdout(printed), np.printoptions(linewidth=100):
        exec(code, names)
    return printed.getvalue()


def run_bash(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """Run a block of bash as a script that ends at the first error; return what it prints."""
    tools = [str(ROOT / "test" / "page_tools"), str(Path(sys.executable).parent)]
    paths = os.pathsep.join([*tools, os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "COLUMNS": "110", "NO_COLOR": "1"}
        | environment
        | {"PATH": paths},
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, f"{block.place}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


# -- Files that the pages speak of ----------------------------------------------------------------


def make_inputs(folder: Path) -> None:
    """``arm.*``, ``elastic.*`` and recordings of them, as the pages call the reader's own."""
    (folder / "urdf").symlink_to(ROOT / "urdf")
    for name, robot in (("arm", "elbow"), ("elastic", "wave6")):
        for kind in ("urdf", "drivetrain.yaml"):
            (folder / f"{name}.{kind}").write_text((ROOT / "urdf" / f"{robot}.{kind}").read_text())
    model = elbow()
    t, q, v, a = motion(24.0, 200.0)
    x = truth(model)
    write_recording(folder / "run.mcap", model.joint_names, t, q, v, torques(model, x, q, v, a))
    weighted = model.with_payload(4.2, (0.0, 0.0, 0.11), np.zeros((3, 3)), link="tip")
    constant = np.array([0.07, 0.05, 0.09])  # [N m/A]
    for name, arm in (("empty", model), ("loaded", weighted)):
        tau = torques(arm, truth(arm), q, v, a)
        current = gd.motor_torques(arm, tau) / constant
        write_recording(folder / f"{name}.mcap", model.joint_names, t, q, v, current)
    write_motors(folder / "motors.mcap")


def write_recording(path: Path, names: Any, t: Any, q: Any, v: Any, effort: Any) -> None:
    """A bag's file with one topic of joint states."""
    data = messages(names, t, q, v, effort)
    stamped = list(zip(nanoseconds(t).tolist(), data, strict=True))
    chunked_mcap(path, {"/joint_states": stamped}, 500)


def write_motors(path: Path) -> None:
    """Motors' angles and torques of the elastic arm, hanging and then lifted a little."""
    urdf = ROOT / "urdf" / "wave6.urdf"
    model = gd.load_model(urdf, urdf.with_suffix(".drivetrain.yaml"))
    settings = gd.simulation.PlantSettings(encoder_counts=2**17, seed=1)
    plant = gd.simulation.Plant(model, command="torque", engine="equations", settings=settings)
    plant.reset(np.array([0.0, 0.4, -0.6, 0.0, 0.3, 0.0]))
    rows = []
    for k in range(3000):
        seen = plant.read()
        at = seen.joint_state(model)
        desired = np.array([0.0, 0.4, -0.6, 0.0, 0.3, 0.0]) + 0.3 * np.sin(4e-3 * np.pi * k)
        force = gd.gravity_forces(model, at.q) + 400.0 * (desired - at.q) - 40.0 * at.v
        torque = gd.motor_torques(model, force)
        rows.append((seen.time, seen.motor_angle, seen.motor_speed, seen.motor_torque))
        plant.step(torque, 1e-3)
    t, angle, speed, torque = (np.array(column) for column in zip(*rows, strict=True))
    write_recording(path, model.joint_names, t, angle, speed, torque)
