"""Files that a node is given: regular ones, and nothing of foreign ones is quoted."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
FOREIGN = {
    "shadow": "root:$6$SECRET$abc:19000:0:99999:7:::\nother:*:19000::::::\n",
    "one line": "SECRET",
    "alias": "*SECRET\n",
    "tag": "!SECRET x\n",
    "key": "-----BEGIN SECRET KEY-----\nSECRET==\n",
    "mapping": "SECRET_key: SECRET_value\npassword: [SECRET\n",
    "twice": "SECRET: 1\nSECRET: 2\n",
    "compose": "version: '3'\nSECRET: {password: SECRET}\n",
    "another version": "version: 3\nSECRET: SECRET\n",
    "version within": "SECRET: 5\nentry:\n  version: 1\n",
    "list": "- SECRET\n- version: 1\n",
    "environment": "PATH=/bin\0SECRET=1\0",
    "xml": "<SECRET><b/></SECRET>",
}


def given(**changes: object) -> FeedforwardParameters:
    return feedforward(**{"urdf_path": str(URDF / "elbow.urdf")} | changes)


@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_is_quoted_from_a_file_that_is_no_drivetrain(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.txt"
    file.write_text(FOREIGN[name], encoding="utf-8")
    with pytest.raises(GearedDynamicsError) as caught:
        model_source.load(given(drivetrain=str(file)), None)
    assert str(file) in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "xml"])
def test_nothing_is_quoted_from_a_file_that_is_no_urdf(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.txt"
    file.write_text(FOREIGN[name], encoding="utf-8")
    with pytest.raises(GearedDynamicsError) as caught:
        model_source.load(given(urdf_path=str(file)), None)
    assert "SECRET" not in str(caught.value)


def test_a_drivetrain_files_own_faults_are_still_named(tmp_path: Path) -> None:
    file = tmp_path / "a.drivetrain.yaml"
    file.write_text("version: 1\nwheel: {}\n", encoding="utf-8")
    with pytest.raises(GearedDynamicsError, match="did you mean 'wheels'"):
        model_source.load(given(drivetrain=str(file)), None)
    for text in ("version: 1\n", "{version: 1}", "# words\n'version' : 1.0\n", '{"version": 1}'):
        file.write_text(text, encoding="utf-8")
        assert model_source.load(given(drivetrain=str(file)), None).name == "elbow"


@pytest.mark.skipif(os.name != "posix", reason="POSIX's pipes and devices")
@pytest.mark.parametrize("name", ["urdf_path", "drivetrain"])
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, name: str) -> None:
    """A pipe without a writer: reading from it would wait for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(GearedDynamicsError, match=r"not a regular file|is a directory"):
            model_source.load(given(**{name: str(path)}), None)


def test_files_keep_their_names() -> None:
    drives = str(URDF / "elbow.drivetrain.yaml")
    model = model_source.load(given(drivetrain=drives), None)
    assert (model.records.drivetrain.source, model.records.robot.source) == (
        drives,
        str(URDF / "elbow.urdf"),
    )


@pytest.mark.parametrize(
    ("description", "path", "topic"),
    [
        ("", "", True),
        ("<robot/>", "", False),
        ("", "a.urdf", False),
        ("<robot/>", "a.urdf", False),
    ],
)
def test_the_topic_is_needed_where_neither_parameter_is_set(
    description: str, path: str, topic: bool
) -> None:
    given: Any = SimpleNamespace(robot_description=description, urdf_path=path)
    assert model_source.needs_topic(given) is topic
