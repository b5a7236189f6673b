"""The robot's URDF out of a bag: the first whole text, and only where there is one robot."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from geared_dynamics.errors import RecordingError
from geared_dynamics.recordings.bag import TEXT, recorded_description, text_of
from recorded_motions import JOINT_STATE, string, write_sqlite

URDF = b'<robot name="r"><link name="base"/></robot>'
NAME = "/arm/robot_description"


def big_endian(text: bytes) -> bytes:
    """A serialised String of a machine with the other order."""
    return b"\0\0\0\0" + struct.pack(">I", len(text) + 1) + text + b"\0"


@pytest.mark.parametrize("serialised", [string, big_endian])
def test_text_of_a_message(serialised: object) -> None:
    data = serialised(URDF)  # type: ignore[operator]
    assert text_of(data) == URDF
    assert text_of(data + b"\0\0\0") == URDF
    for end in range(len(data)):
        assert text_of(data[:end]) == b""


def test_the_first_whole_text(tmp_path: Path) -> None:
    messages = [b"", string(URDF)[:-5], string(b""), string(URDF), string(b"<other/>")]
    topics = {"/joint_states": (JOINT_STATE, [b"x"]), NAME: (TEXT, messages)}
    path = write_sqlite(tmp_path / "bag.db3", topics)
    found = recorded_description(path)
    assert found == URDF
    assert found.name == f"{path}, {NAME}"
    assert recorded_description(tmp_path) == URDF


TOPICS = {
    "none": ({"/joint_states": (JOINT_STATE, [b"x"])}, "has no topic robot_description of type"),
    "another type": ({NAME: (JOINT_STATE, [string(URDF)])}, "has no topic robot_description"),
    "another name": ({f"{NAME}_2": (TEXT, [string(URDF)])}, "has no topic robot_description"),
    "two": (
        {NAME: (TEXT, [string(URDF)]), "/robot_description": (TEXT, [string(URDF)])},
        "has several robots: /arm/robot_description, /robot_description",
    ),
    "damaged": ({NAME: (TEXT, [b"", string(URDF)[:-1]])}, "holds no whole message"),
}


@pytest.mark.parametrize("case", TOPICS)
def test_no_robot(case: str, tmp_path: Path) -> None:
    topics, words = TOPICS[case]
    with pytest.raises(RecordingError, match=words) as caught:
        recorded_description(write_sqlite(tmp_path / "bag.db3", topics))
    assert caught.value.remedy == "give the robot's file with --robot"


@pytest.mark.parametrize("name", ["a.csv", "a.TXT", "a.tsv"])
def test_a_table_holds_no_robot(name: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is a table and holds no robot"):
        recorded_description(tmp_path / name)
    folder = tmp_path / name
    folder.mkdir()
    write_sqlite(folder / "bag_0.db3", {NAME: (TEXT, [string(URDF)])})
    assert recorded_description(folder) == URDF
