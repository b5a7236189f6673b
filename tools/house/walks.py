"""Ways through the package while it runs: files, calls, their depth, and changes of room.

A walk is a real call of what users start, watched by the interpreter's profile hook. A change
of room is what a reader goes through who follows the calls in their order: two consecutive
ones in different rooms, each pair of functions once, so a call into another room counts there
and back, and once more for each function that comes after it. A border is a call from one room
into another, each pair of caller and called once, without the way back. What every room rests
on (arrays, checks, errors, files) is no room, and to read a fact (a property) is no change.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = str(ROOT / "geared_dynamics") + "/"
GROUND = {"arrays.py", "checks.py", "errors.py", "files.py"}  # what every room rests on
ELBOW = (ROOT / "urdf" / "elbow.urdf", ROOT / "urdf" / "elbow.drivetrain.yaml")
BRISK = (ROOT / "urdf" / "brisk6.urdf", ROOT / "urdf" / "brisk6.drivetrain.yaml")


class Walk(NamedTuple):
    """What one way through the package takes."""

    name: str
    files: int
    switches: int
    borders: int
    calls: int
    depth: int


class Watch:
    """Notes every call of a function of the package."""

    def __init__(self) -> None:
        """Begin outside of the package."""
        self.files: set[str] = set()
        self.switches: set[tuple[str, str, str, str]] = set()
        self.borders: set[tuple[str, str, str, str]] = set()
        self.calls = self.depth = self.deepest = 0
        self.last = ("", "")
        self.stack: list[bool] = []
        self.callers = [("", "")]  # functions that are running, of the rooms
        self.entered: list[bool] = []  # of each call in the package: whether it is among them

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What the interpreter tells."""
        if event == "call":
            inside = self.counts(frame)
            self.stack.append(inside)
            if inside:
                self.enter(frame)
        elif event == "return" and self.stack and self.stack.pop():
            self.depth -= 1
            if self.entered.pop():
                self.callers.pop()

    @staticmethod
    def counts(frame: FrameType) -> bool:
        """Whether a frame is a function of the package: no module's body, no comprehension."""
        code = frame.f_code
        return code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<"

    def enter(self, frame: FrameType) -> None:
        """Count a call, and the change of room that it may be after the one before."""
        self.calls += 1
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        here = frame.f_code.co_filename[len(PACKAGE) :]
        self.files.add(here)
        self.entered.append(not (here in GROUND or reads_fact(frame)))
        if not self.entered[-1]:
            return
        now = (here, frame.f_code.co_qualname)
        caller = self.callers[-1]
        if caller[0] and room(here) != room(caller[0]):
            self.borders.add((*caller, *now))
        self.callers.append(now)
        if self.last[0] and room(here) != room(self.last[0]):
            self.switches.add((*self.last, *now))
        self.last = now


def reads_fact(frame: FrameType) -> bool:
    """Whether a call is that of a property."""
    owner, name = type(frame.f_locals.get("self")), frame.f_code.co_name
    return isinstance(inspect.getattr_static(owner, name, None), (property, cached_property))


def room(file: str) -> str:
    """The folder below the package, or the file that lies there."""
    return file.split("/")[0]


def walked(name: str, call: Callable[[], Any]) -> Walk:
    """What a call takes that was made before, so that imports and kernels are there."""
    watch = Watch()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    switches, borders = len(watch.switches), len(watch.borders)
    return Walk(name, len(watch.files), switches, borders, watch.calls, watch.deepest)


def walks() -> Iterator[Walk]:
    """The five walks of the house, and what two short ones cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, call in (
            ("load_model", load),
            ("inverse_dynamics, second call", inverse()),
            *cycles(),
            ("observer step", observer()),
            ("analyze", analysis(folder, "analyze")),
            ("identify", analysis(folder, "identify")),
        ):
            call()
            yield walked(title, call)


def load() -> None:
    """A model from its two files."""
    import geared_dynamics as gd

    gd.load_model(*BRISK)


def inverse(chosen: Callable[[Any], Any] = lambda door: door) -> Callable[[], Any]:
    """One state's joint torques, by the function's door or by what is chosen of it."""
    import geared_dynamics as gd

    model, zero, function = gd.load_model(*BRISK), np.zeros(6), chosen(gd.inverse_dynamics)
    return lambda: function(model, zero, zero, zero)


def cycles() -> Iterator[tuple[str, Callable[[], Any]]]:
    """A cycle of the feedforward node that follows a motion, and one that holds the arm."""
    import geared_dynamics as gd
    from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
    from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
    from geared_dynamics.runtime.feedforward_settings import feedforward_setup

    model = gd.load_model(*ELBOW)
    names = model.joint_names, model.motor_names
    values = FeedforwardParameters.of({"mode": "stream"}, *names)
    for title, moving in (("running cycle", True), ("holding cycle", False)):
        loop, clock = (
            FeedforwardLoop(feedforward_setup(values, model)),
            iter(np.arange(1, 10_000) * 1e-3),
        )
        q, v = np.array([0.3, 0.5, -0.4]), np.zeros(3)
        loop.cycle(0.0, 0.0, q, v)
        if moving:
            points = [gd.trajectory.Point(9.0, [0.4, 0.6, -0.2], v, v)]
            loop.accept(gd.trajectory.JointTrajectory(model.joint_names, points), 0.0, 0.0)

        def cycle(
            loop: FeedforwardLoop = loop, clock: Any = clock, q: Any = q, v: Any = v
        ) -> None:
            now = float(next(clock))
            loop.cycle(now, now, q, v)

        for _ in range(20):
            cycle()
        yield title, cycle


def observer() -> Callable[[], Any]:
    """One step of the Kalman filter on an arm with springs."""
    import geared_dynamics as gd

    model = gd.load_model(ROOT / "urdf" / "wave6.urdf", ROOT / "urdf" / "wave6.drivetrain.yaml")
    ob, turn = gd.observers, 2.0 * np.pi / 2**17
    kalman = ob.kalman_observer(model, resolution=turn, noise=0.3 * turn)
    reading = gd.Measurement(np.zeros(6), np.zeros(6))
    state = kalman.start(reading)
    return lambda: kalman.step(state, reading, 1e-3)


def analysis(folder: Path, command: str) -> Callable[[], Any]:
    """A command on a table of a short motion."""
    import geared_dynamics as gd
    from geared_dynamics.apps.cli.main import main

    model = gd.load_model(*ELBOW)
    t = np.arange(0.0, 8.0, 5e-3)
    phase = 2.0 * np.pi * np.outer(t, [0.5, 0.7, 0.9])
    q, v = np.sin(phase), 2.0 * np.pi * np.array([0.5, 0.7, 0.9]) * np.cos(phase)
    tau = gd.inverse_dynamics(model, q, v, np.gradient(v, t, axis=0))
    names = [f"{x}.{j}" for x in ("position", "velocity", "effort") for j in model.joint_names]
    table = folder / "run.csv"
    rows = np.column_stack([t, q, v, tau])
    np.savetxt(table, rows, delimiter=",", header=",".join(["time", *names]), comments="")
    arguments = [command, str(table), "--robot", str(ELBOW[0]), "--drivetrain", str(ELBOW[1])]

    def call() -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            if main(arguments):
                raise RuntimeError(f"{command} failed: {out.getvalue()}")

    return call
