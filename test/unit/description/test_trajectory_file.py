"""Trajectory files: what ROS writes is read, and a hostile one is refused at once."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geared_dynamics.description.trajectory_file import LIMITS, read_trajectory
from geared_dynamics.description.yaml_loader import FileLimits, load_yaml
from geared_dynamics.errors import DescriptionError, GearedDynamicsError
from geared_dynamics.runtime.acceptance import read_waypoints

GOOD = """
header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}
joint_names: [a, 'b c']
points:
- positions: [0, 1e-4]
  velocities:
  - 0.0
  - -.5
  time_from_start: {sec: 0, nanosec: 0}
- positions: [.25, 2]
  velocities: [0, 0]
  time_from_start: {sec: 1, nanosec: 500000000}
"""


def written(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "trajectory.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_ros_writes(tmp_path: Path) -> None:
    data = read_trajectory(written(tmp_path, GOOD))
    assert data["joint_names"] == ["a", "b c"]
    assert data["points"] == [
        {"positions": [0, 1e-4], "velocities": [0.0, -0.5], "time": 0.0},
        {"positions": [0.25, 2], "velocities": [0, 0], "time": 1.5},
    ]
    assert read_waypoints(written(tmp_path, GOOD)).positions.shape == (2, 2)


MERGES = "a0: &a0 {b: 1}\n" + "".join(
    f"a{k}: &a{k} {{<<: [*a{k - 1}, *a{k - 1}]}}\n" for k in range(1, 1500)
)
DURATION = "time_from_start: {sec: 1, nanosec: 500000000}"
# text in place of the whole file, or what replaces a text in a good one; words of the error
HOSTILE: dict[str, tuple[Any, ...]] = {
    "deep": ("joint_names: " + "[" * 100_000, "line 1", "nested deeper than 16 levels"),
    "merges": (MERGES, "line 2", "merge keys (<<) are not read"),
    "alias": ("joint_names: *a\n", "line 1", "the alias *a names no value before it"),
    "alias bomb": (
        "a: &a [0,0,0,0,0,0,0,0,0,0]\n"
        + "".join(f"{y}: &{y} [{f'*{x},' * 10}]\n" for x, y in pairwise("abcdefgh")),
        f"more than {LIMITS.values} values",
    ),
    "a date": (("[a, 'b c']", "[a, 2001-99-99]"), None),
    "a date as a number": (("[.25, 2]", "[.25, 2001-99-99]"), "positions"),
    "digits": (("[.25, 2]", f"[.25, {'9' * 5000}]"), "line 10", "is not an integer"),
    "large": (("[.25, 2]", f"[.25, {'9' * 400}]"), "positions"),
    "seconds": ((DURATION, f"time_from_start: {{sec: {'9' * 400}}}"),
                "points[1].time_from_start", "beyond what a builtin_interfaces/Duration holds"),
    "one second too much": ((DURATION, "time_from_start: {sec: 2147483648}"), "beyond what"),
    "negative nanoseconds": ((DURATION, "time_from_start: {nanosec: -1}"), "beyond what"),
    "half a second": ((DURATION, "time_from_start: {sec: 0.5}"), "whole seconds"),
    "points of none": ("joint_names: [a]\npoints: {}\n", "points", "are not a list"),
    "without points": ("joint_names: [a]\n", "points", "are not a list"),
    "names of one": (("[a, 'b c']", "a"), "joint_names", "are not a list of names"),
    "names of numbers": (("[a, 'b c']", "[a, 2]"), "joint_names", "are not a list of names"),
    "yes": ((DURATION, "time_from_start: {sec: true}"), "whole seconds"),
    "a duration of text": ((DURATION, "time_from_start: soon"), "points[1].time_from_start"),
    "tag": (("[.25, 2]", "!!python/object/apply:os.getcwd []"), "the tag"),
    "binary": (("[.25, 2]", "!!binary aGVsbG8="), "the tag"),
    "twice": (("joint_names:", "points: []\njoint_names:"), "the key 'points' is given twice"),
    "two documents": (GOOD + "---\n" + GOOD, "a second document begins"),
    "nothing": ("", "is a NoneType; it must be a mapping"),
    "a scalar": ("3", "is a int; it must be a mapping"),
    "no points": (("points:", "point:"), "unknown key 'point'"),
    "control character": (("frame_id: ''", "frame_id: '\x1b'"), "line 2", "control character"),
    "half a character": (("frame_id: ''", 'frame_id: "\\ud83d"'), "line 2", "escape code"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused(case: str, tmp_path: Path) -> None:
    given, *words = HOSTILE[case]
    text = given if isinstance(given, str) else GOOD.replace(*given)
    assert text != GOOD
    path = written(tmp_path, text)
    if words == [None]:  # odd, and harmless: the joint is called so
        read_waypoints(path)
        return
    with pytest.raises(GearedDynamicsError) as caught:
        read_waypoints(path)
    assert caught.value.place.startswith(str(path))
    for word in words:
        assert word in str(caught.value)


def test_values_are_counted_with_their_aliases() -> None:
    """A list of three values with two aliases to it has 1 + 4 + 4 + 4 values."""
    text = "[&a [1, 2, 3], *a, *a]"
    assert load_yaml(text, "x", FileLimits(13, 9)) == [[1, 2, 3]] * 3
    with pytest.raises(DescriptionError, match="more than 12 values"):
        load_yaml(text, "x", FileLimits(12, 9))


def test_depth_is_that_of_the_limits() -> None:
    assert load_yaml("[[{a: 1}]]", "x", FileLimits(99, 3)) == [[{"a": 1}]]
    with pytest.raises(DescriptionError, match="deeper than 2 levels"):
        load_yaml("[[{a: 1}]]", "x", FileLimits(99, 2))


SCALARS = {
    "1e-4": 1e-4, "010": 10, "0o17": 15, "0xff": 255, "1:30": "1:30", "no": "no", "on": "on",
    "1_000": "1_000", "+.5": 0.5, "5.": 5.0, "-.inf": -math.inf, ".INF": math.inf, ".": ".",
    "-": ["-"], "+": "+", "0x": "0x", "true": True, "TRUE": True, "tRUE": "tRUE", "~": None,
    "Null": None, "''": "", "'1'": "1", '"true"': "true", "2001-12-14": "2001-12-14",
    "!!str 1": "1", "!!float 1": 1.0, "!!int 0x10": 16, "!!null x": None, "1e400": math.inf,
    "infinity": "infinity", "nan": "nan", "\u0661": "\u0661",
}  # fmt: skip


@pytest.mark.parametrize("text", [text for text in SCALARS if text != "-"])
def test_scalars_of_yaml_1_2(text: str) -> None:
    for source in (text, f"[{text}]"):
        found = load_yaml(source, "x")
        found = found[0] if source != text else found
        assert found == SCALARS[text]
        assert type(found) is type(SCALARS[text])
    assert math.isnan(load_yaml("[.nan]", "x")[0])
