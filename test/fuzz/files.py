"""Mutated files: descriptions of robots, trajectories, recordings in all formats."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import geared_dynamics as gd
from fuzz.mutation import mutated
from geared_dynamics.apps.cli import init

URDF = Path(__file__).resolve().parents[2] / "urdf"
NAMES = ("joint_1", "joint_2", "joint_3")
TRAJECTORY = b"""header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}
joint_names: [a, 'b c']
points:
- positions: [0, 1e-4]
  velocities:
  - 0.0
  - -.5
  time_from_start: {sec: 0, nanosec: 0}
- {positions: [.25, 2], velocities: [0, 0], time_from_start: {sec: 1, nanosec: 500000000}}
"""
SRDF = b"""<robot name="elbow">
  <group_state name="home" group="arm"><joint name="joint_1" value="0"/></group_state>
  <disable_collisions link1="a" link2="b"/></robot>"""


@cache
def folder() -> Path:
    """Where the files of this process stand."""
    place = tempfile.TemporaryDirectory()
    atexit.register(place.cleanup)
    return Path(place.name)


@cache
def descriptions() -> dict[str, bytes]:
    """URDFs and drivetrain files of ``urdf/``, an SRDF."""
    found = {p.name: p.read_bytes() for p in sorted(URDF.iterdir())
             if p.name.endswith((".urdf", ".drivetrain.yaml"))}  # fmt: skip
    return {**found, "elbow.srdf": SRDF}


def robots() -> dict[str, bytes]:
    """URDFs of ``urdf/``."""
    return {name: data for name, data in descriptions().items() if name.endswith(".urdf")}


@cache
def recordings() -> dict[str, bytes]:
    """One short recording of each format."""
    from recorded_motions import (
        JOINT_STATE,
        chunked_mcap,
        messages,
        motion,
        unclosed_mcap,
        write_sqlite,
    )

    t, q, v, a = motion(0.4, 1000.0)
    data, root = messages(NAMES, t, q, v, a), folder()
    stamped = {"/joint_states": [(k * 10**6, one) for k, one in enumerate(data)]}
    head = [f"{kind}.{name}" for kind in ("position", "velocity", "effort") for name in NAMES]
    table = root / "t.csv"
    np.savetxt(table, np.column_stack([t, q, v, a]), delimiter=",", fmt="%.9g",
               header=",".join(["time", *head]), comments="")  # fmt: skip
    made = [
        table,
        write_sqlite(root / "s.db3", {"/joint_states": (JOINT_STATE, data)}),
        chunked_mcap(root / "c.mcap", stamped, 100),
        chunked_mcap(root / "n.mcap", stamped, 100, index=False),
        *(unclosed_mcap(root / f"u{how}.mcap", data, packed=how) for how in ("", "zstd", "lz4")),
    ]
    return {path.name: path.read_bytes() for path in made}


def load_description(name: str, path: Path) -> gd.GearedModel:
    """Load a robot with this file and the others that belong to it."""
    robot = name.split(".")[0]
    if name.endswith(".srdf"):
        return gd.load_model(URDF / f"{robot}.urdf", srdf=path)
    if name.endswith(".yaml"):
        return gd.load_model(URDF / f"{robot}.urdf", path)
    return gd.load_model(path, URDF / f"{robot}.drivetrain.yaml")


def load_knowledge(name: str, path: Path) -> None:
    """Load a robot, and write what is known of it."""
    known = load_description(name, path).knowledge
    assert (known.rotors == "all") == (not known.rotor_note)


def begin_drivetrain(name: str, path: Path) -> None:
    """Write a drivetrain file for a robot: it loads, or the command says why it does not."""
    out = path.with_name(f"begun_{name}.yaml")
    arguments = ["--ratio", "50", "--rotor-inertia", "1e-4", "--force", "--out", str(out)]
    parser = argparse.ArgumentParser()
    init.add_arguments(parser)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        init.run(parser.parse_args([str(path), *arguments]))
    if "it does not load yet" not in said.getvalue():
        gd.load_model(path, out)


def load_trajectory(_: str, path: Path) -> None:
    """Read and check waypoints."""
    from geared_dynamics.runtime.acceptance import read_waypoints

    read_waypoints(path)


def load_recording(_: str, path: Path) -> None:
    """Open a recording and read all of it."""
    from geared_dynamics.recordings.recording import open_recording

    found = open_recording(path, NAMES)
    for k in range(found.spans):
        found.read(k, 0)


class Files:
    """A fuzzer of files: a case is the file's name, a line feed, and what is in it."""

    def __init__(
        self, whole: Callable[[], dict[str, bytes]], load: Callable[[str, Path], object]
    ) -> None:
        """Keep the good files, and what reads one."""
        self.whole, self.load = whole, load
        self.ready = False

    def prepare(self) -> None:
        """Read a good file of each kind: libraries and kernels are no part of a case's time."""
        self.ready = True
        for name in {Path(name).suffix: name for name in self.whole()}.values():
            path = folder() / f"good_{name}"
            path.write_bytes(self.whole()[name])
            self.load(name, path)

    def case(self, seed: int) -> bytes:
        """A mutated file."""
        if not self.ready:
            self.prepare()
        rng = np.random.default_rng(seed)
        names = list(self.whole())
        name = names[rng.integers(len(names))]
        return name.encode() + b"\n" + mutated(self.whole()[name], rng)

    def run(self, case: bytes) -> str:
        """Read the file; any exception but the package's own is raised."""
        name, _, content = case.partition(b"\n")
        path = folder() / f"case_{name.decode()}"
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.load(name.decode(), path)
            except gd.GearedDynamicsError:
                return "refused"
        return "read"
