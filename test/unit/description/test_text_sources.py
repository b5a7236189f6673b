"""Each way of giving a description: place and kind in what is refused, line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geared_dynamics.description.drivetrain_reader import read_drivetrain
from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.description.xml_input import SIZE_LIMIT, read_xml
from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import NamedBytes, read_file

Reader = Callable[[Any], Any]
# Reader, kind of file, place of a text without a name, size that is refused.
DOORS: dict[str, tuple[Reader, str, str, int]] = {
    "URDF": (read_xml, "URDF file", "<URDF text>", SIZE_LIMIT),
    "SRDF": (lambda source: read_xml(source, "SRDF"), "SRDF file", "<SRDF text>", SIZE_LIMIT),
    "drivetrain": (read_drivetrain, "drivetrain file", "<drivetrain text>", 2**20),
    "trajectory": (read_trajectory, "trajectory file", "", 2**26),
}
LATIN = b"<robot\nname='a'\n# \xe4"


def refusal(read: Reader, source: Any) -> DescriptionError:
    """The error of a source."""
    with pytest.raises(DescriptionError) as caught:
        read(source)
    return caught.value


def given(folder: Path, door: str, data: bytes) -> dict[str, tuple[Any, str]]:
    """The same bytes in each way that a door takes, with the place that it must name."""
    path = folder / "file.xml"
    path.write_bytes(data)
    ways: dict[str, tuple[Any, str]] = {"path": (path, str(path)), "name": (str(path), str(path))}
    if text := DOORS[door][2]:
        named = NamedBytes(data)
        named.name = "bag, /topic"
        ways |= {"bytes": (data, text), "named": (named, "bag, /topic")}
    return ways


@pytest.mark.parametrize("door", DOORS)
def test_another_encoding(door: str, tmp_path: Path) -> None:
    read, kind, _, _ = DOORS[door]
    for source, place in given(tmp_path, door, LATIN).values():
        error = refusal(read, source)
        assert error.place == f"{place}, line 3"
        assert error.finding == f"the {kind} is not UTF-8 text (byte 0xe4)"
        assert error.remedy == "save it as UTF-8"


@pytest.mark.parametrize("door", DOORS)
def test_more_than_a_description_can_be(door: str, tmp_path: Path) -> None:
    read, kind, text, limit = DOORS[door]
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(limit + 1)
    sources: list[tuple[Any, str]] = [(path, str(path))]
    if text:
        data = b"<robot>\n" + bytes(limit - 7)
        sources += [(data, text), (data.decode(), text)]
    for source, place in sources:
        error = refusal(read, source)
        assert error.place == place
        assert error.finding == f"the {kind} is larger than {limit / 2**20:g} MiB"


@pytest.mark.parametrize("door", DOORS)
def test_nothing_to_read(door: str, tmp_path: Path) -> None:
    read, kind, _, _ = DOORS[door]
    error = refusal(read, tmp_path / "none")
    assert error.place == str(tmp_path / "none")
    assert error.finding == f"there is no such {kind}"
    error = refusal(read, tmp_path)
    assert error.finding == f"this is a directory, not a {kind}"
    assert error.remedy == f"name the {kind} inside it"


@pytest.mark.parametrize("door", [door for door in DOORS if DOORS[door][2]])
def test_sources_of_no_kind(door: str) -> None:
    read, kind, _, _ = DOORS[door]
    word = kind.partition(" ")[0]
    for source in (3, 2.0, ["<robot/>"]):
        error = refusal(read, source)
        assert error.place == word.lower()
        assert type(source).__name__ in error.finding
    assert "the text is empty" in refusal(read, " ").finding
    assert refusal(read, b" \n").finding.startswith("the file is empty")


def test_a_file_of_exactly_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(64))
    assert read_file(path, "file", 64) == bytes(64)
    assert "larger" in refusal(lambda p: read_file(p, "file", 63), path).finding


def test_names_of_files_in_errors_are_one_line() -> None:
    error = refusal(read_xml, "no\nsuch\x1b.urdf")
    assert error.place == r"no\nsuch\x1b.urdf"
    long = f"{'a' * 250}/{'b' * 249}"
    place = refusal(read_xml, long).place
    assert place == f"{'a' * 200}...{'b' * 80}"
    exact = f"{'a' * 150}/{'b' * 149}"
    assert refusal(read_xml, exact).place == exact
