"""The bag of a demo: its arrays are what was written, at times from the motion's start."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from geared_dynamics.apps import demo_plan
from geared_dynamics.apps.cli.demo import follow
from geared_dynamics.apps.demo_plan import WAYS
from geared_dynamics.apps.demo_report import MOTORS, STATES, TRAJECTORY, Series, read
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import folder, robot_files
from geared_dynamics.recordings.joint_state_codec import serialised
from geared_dynamics.runtime.process_tasks import step_line
from recorded_motions import JOINT_STATE, write_sqlite

JOINTS, ROTORS = ("shoulder", "wrist"), ("m_wrist", "m_shoulder")
SECOND = 10**9
BEGIN = 12 * SECOND + 345_678_901  # stamp of the trajectory [ns]
COUNT = 25


def numbers(way: int, seed: int) -> np.ndarray:
    """Position, velocity and effort (3, COUNT, 2)."""
    return np.random.default_rng([way, seed]).normal(size=(3, COUNT, 2))


def bag(place: Path, left_out: str = "") -> Path:
    """A folder with a bag of all runs; names of the motors in another order than asked for."""
    place.mkdir()
    stamps = BEGIN + SECOND * np.arange(-5, COUNT - 5, dtype=np.int64) // 100
    topics: dict[str, tuple[str, list[bytes]]] = {}
    for k, way in enumerate(WAYS):
        start = b"\0\1\0\0" + struct.pack("<iI", *divmod(BEGIN, SECOND)) + bytes(8)
        states = serialised(stamps, JOINTS, tuple(numbers(k, 0)))
        rotors = serialised(stamps, ROTORS[::-1], tuple(numbers(k, 1)[..., ::-1]))
        topics[f"/{way.name}/{TRAJECTORY}"] = ("trajectory_msgs/msg/JointTrajectory", [start])
        topics[f"/{way.name}/{STATES}"] = (JOINT_STATE, states)
        topics[f"/{way.name}/{MOTORS}"] = (JOINT_STATE, rotors)
    topics.pop(left_out, None)
    write_sqlite(place / "demo_0.db3", topics)
    return place


def test_runs_are_read_by_name(tmp_path: Path) -> None:
    found = read(bag(tmp_path / "bag"), JOINTS, ROTORS)
    assert list(found) == [way.name for way in WAYS]
    for k, way in enumerate(WAYS):
        track = found[way.name]
        for series, seed in ((track.joints, 0), (track.motors, 1)):
            np.testing.assert_allclose(series.times, np.arange(-5, COUNT - 5) / 100.0, atol=1e-9)
            for values, wanted in zip(series[1:], numbers(k, seed), strict=True):
                np.testing.assert_array_equal(values, wanted)
    assert Series._fields[1:] == ("position", "velocity", "effort")


def test_columns_are_in_the_order_of_the_names(tmp_path: Path) -> None:
    found = read(bag(tmp_path / "bag"), JOINTS[::-1], ROTORS)
    np.testing.assert_array_equal(found[WAYS[0].name].joints.position, numbers(0, 0)[0][:, ::-1])


@pytest.mark.parametrize("topic", [STATES, MOTORS, TRAJECTORY])
def test_a_run_that_is_missing(topic: str, tmp_path: Path) -> None:
    name = f"/{WAYS[-1].name}/{topic}"
    with pytest.raises(GearedDynamicsError, match=f"has nothing on {name}; run the demo again"):
        read(bag(tmp_path / "bag", name), JOINTS, ROTORS)


# -- what goes before ----------------------------------------------------------------------------


class Process:
    """Stands for a process that has written lines and ended."""

    def __init__(self, lines: tuple[str, ...] = (), status: int = 0, fault: str = "") -> None:
        self.lines, self.fault = list(lines), fault
        self.popen = SimpleNamespace(wait=lambda: status)

    def next_line(self, needed: tuple[Any, ...]) -> str | None:
        return self.lines.pop(0) if self.lines else None

    def check(self) -> None:
        if self.fault:
            raise GearedDynamicsError("plant", self.fault, "see its log")

    def failure(self) -> GearedDynamicsError:
        return GearedDynamicsError("reference publisher", "ended", "see its log")


def test_progress_is_passed_on_until_the_publisher_ends() -> None:
    """DDS writes to standard output as well, such as errors of its shared memory."""
    seen: list[tuple[str, float]] = []
    others = ("", "2026-01-01 [RTPS_TRANSPORT_SHM Error] Failed init_port", "[1, 2]")
    lines = (step_line("armature", 0.5), *others, step_line("complete", 1.0))
    follow(Process(lines), (Process(),), lambda *step: seen.append(step))  # type: ignore[arg-type]
    assert seen == [("armature", 0.5), ("complete", 1.0)]


@pytest.mark.parametrize(
    ("fault", "words"), [("", "reference publisher: ended"), ("fell over", "plant: fell over")]
)
def test_a_publisher_that_fails_blames_the_node_that_made_it(fault: str, words: str) -> None:
    with pytest.raises(GearedDynamicsError, match=words):
        follow(Process(status=1), (Process(), Process(fault=fault)), lambda *_: None)  # type: ignore[arg-type]


def test_an_arm_too_weak_for_its_own_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    effort: Callable[..., float] = lambda *_: 1.001  # noqa: E731
    monkeypatch.setattr(demo_plan, "effort_of_motion", effort)
    with pytest.raises(
        GearedDynamicsError,
        match="cannot support its own weight: even a slow motion needs 100% of",
    ):
        demo_plan.make_plan(robot_files("elbow"), "equations")
    monkeypatch.setattr(demo_plan, "effort_of_motion", lambda *_: 1.0)
    assert demo_plan.make_plan(robot_files("elbow"), "equations").engine == "equations"


def test_folders_of_the_package() -> None:
    assert (folder("urdf") / "elbow.urdf").is_file()
    with pytest.raises(GearedDynamicsError, match="not installed; install the package again"):
        folder("no_such_folder")
