"""Trajectory files that may be published, and those that may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.acceptance import read_waypoints, refuse_elsewhere

START = "{positions: [0.5, 1e-1], velocities: [0, 0], time_from_start: {sec: 0, nanosec: 0}}"
END = "{positions: [1, 2], velocities: [0, 0], time_from_start: {sec: 2}}"
GOOD = f"joint_names: [a, b]\npoints: [{START.replace('1e-1', '0.1')}, {END}]\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "motion.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    found = read_waypoints(written(tmp_path, GOOD))
    assert found.joint_names == ("a", "b")
    assert found.times.tolist() == [0.0, 2.0]
    assert found.positions.tolist() == [[0.5, 0.1], [1.0, 2.0]]
    assert not found.has_effort.any()


def test_the_first_point_is_approached(tmp_path: Path) -> None:
    """All times move with the first; velocities and shape stay."""
    late = GOOD.replace("{sec: 0, nanosec: 0}", "{sec: 1}")
    plain = read_waypoints(written(tmp_path, late))
    found = read_waypoints(written(tmp_path, late), 4.0)
    assert plain.times.tolist() == [1.0, 2.0]
    assert found.times.tolist() == [4.0, 5.0]
    assert (found.positions == plain.positions).all()
    assert (found.velocities == plain.velocities).all()
    assert read_waypoints(written(tmp_path, late), 0.25).times.tolist() == [0.25, 1.25]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("joint_names: [a, b]", "joint_names: [a, a]", "has 'a' twice"),
        ("joint_names: [a, b]", "joint_names: [a]", "has 2 numbers for 1 joints"),
        ("joint_names: [a, b]", "joint_names: a", "are not a list of names"),
        ("joint_names: [a, b]\n", "", "are not a list of names"),
        ("joint_names", "joints", "unknown key 'joints'"),
        ("sec: 2", "sec: 0", "use strictly increasing"),
        ("sec: 2", "sec: 2.5", "not whole seconds"),
        ("sec: 2", "seconds: 2", "unknown key 'seconds'"),
        ("[1, 2]", "[1, .nan]", "point 1, positions, joint 'b': is nan"),
        ("[1, 2]", "[1, two]", "not a real number"),
        ("[1, 2]", "5", "is 5; give a list"),
        ("positions: [1, 2], ", "", "positions: are missing"),
        ("velocities: [0, 0], time_from_start: {sec: 2}",
         "velocities: [0, 1], time_from_start: {sec: 2}", "end with velocity 0"),
        ("points: [", "points: [[", "not well-formed YAML"),
        (GOOD, "", "is a NoneType; it must be a mapping"),
        (GOOD, "joint_names: [a]\npoints: []\n", "the list is empty"),
    ],
)  # fmt: skip
def test_bad_files_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(GearedDynamicsError, match=r"motion\.yaml") as caught:
        read_waypoints(written(tmp_path, GOOD.replace(old, new)))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("place", "words"),
    [(0.7, "joint 'a' is at 0.7"), (float("nan"), "joint 'a' is at nan")],
)
def test_an_arm_elsewhere_is_refused(tmp_path: Path, place: float, words: str) -> None:
    found = read_waypoints(written(tmp_path, GOOD))
    refuse_elsewhere(found, {"b": 0.1, "a": 0.51, "c": 7.0}, 0.02)
    with pytest.raises(GearedDynamicsError, match=words):
        refuse_elsewhere(found, {"b": 0.1, "a": place}, 0.02)
