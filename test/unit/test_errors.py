"""Errors go from process to process whole, and can be copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unicodedata import category

import pytest

import geared_dynamics as gd
from geared_dynamics import errors
from geared_dynamics.errors import (
    LONGEST_WORD,
    DamagedMessageError,
    DescriptionError,
    GearedDynamicsError,
    GearedDynamicsWarning,
    ModelError,
    Note,
    RecordingError,
    UnknownNameError,
    printable,
    report,
    shown,
    urdf_doubt,
)
from geared_dynamics.runtime.contact_force import ContactForceError
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.trajectory.waypoints import OLD_HEADER_TIMESTAMP, TrajectoryError

ERRORS: dict[str, errors.GearedDynamicsError] = {
    "root": errors.GearedDynamicsError("place", "finding", "remedy"),
    "description": errors.DescriptionError("arm.urdf, link 'one'", "is missing", "add it"),
    "model": errors.ModelError("mass matrix", "is singular", "freeze the joint"),
    "array": errors.ArrayError("q", "has shape (4,)", "give (3,)"),
    "name": errors.UnknownNameError("frame", "link", "tpi", ["tip", "base"]),
    "package": errors.MissingPackageError("check", "pin", "analysis"),
    "trajectory": TrajectoryError("stamp", "is in the past", "send it", OLD_HEADER_TIMESTAMP),
    "recording": RecordingError("run.mcap", "is cut off", "record it again"),
    "message": DamagedMessageError("joint_states", "is cut short", "send it whole"),
    "contact": ContactForceError("~/contact_wrench", "contains NaN", "send finite numbers"),
    "parameter": ParameterError("mode", "is 'follow'", "give stream"),
}
WAYS: dict[str, Callable[[Exception], Exception]] = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def test_every_class_is_here() -> None:
    sources = Path(gd.__file__).parent.rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    classes = set(re.findall(r"^class (\w+Error)\((?!ValueError)", text, re.MULTILINE))
    assert {type(error).__name__ for error in ERRORS.values()} == classes


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ERRORS)
def test_error_is_the_same_afterwards(kind: str, way: str) -> None:
    error = ERRORS[kind]
    error.note = "seen"  # type: ignore[attr-defined]
    other = WAYS[way](error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)


def test_worker_hands_its_error_over() -> None:
    """Its pool would die of an error that cannot be unpickled."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for _ in range(2):
            with pytest.raises(gd.GearedDynamicsError, match=r"no/such/arm\.urdf") as caught:
                pool.submit(gd.load_model, "no/such/arm.urdf").result()
            assert caught.value.place == "no/such/arm.urdf"


def test_characters_that_nobody_sees_are_shown() -> None:
    text = "tab\tline\nAda \u03b8 \u4e2d \U0001f9be a\u0301"
    assert printable(text) == text
    assert printable("\x1b[31m\x7f\x9b2J") == "\\x1b[31m\\x7f\\x9b2J"
    assert printable("a\u200bb\u202ec\ufeff\ud83d") == "a\\u200bb\\u202ec\\ufeff\\ud83d"
    shown = printable("".join(map(chr, range(sys.maxunicode + 1))))
    assert {x for x in shown if category(x) in {"Cc", "Cs", "Zl", "Zp"}} == {"\t", "\n"}


# -- Notes: what was assumed, and what is doubtful ------------------------------------------------


def test_a_note_is_its_line_and_keeps_its_parts() -> None:
    note = Note("arm.urdf, joint 'j'", "looks odd", "correct it")
    for same in (note, copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert isinstance(same, Note)
        assert same == "arm.urdf, joint 'j': looks odd"
        assert (same.place, same.finding, same.remedy) == (
            "arm.urdf, joint 'j'", "looks odd", "correct it",
        )  # fmt: skip
        assert same.error is ModelError


def test_doubts_are_warned_of_in_their_order_and_remarks_are_not() -> None:
    notes = [Note("a", "one", "mend"), Note("b", "two"), urdf_doubt("c", "three")]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        report(notes, strict=False, stacklevel=1)
        report([notes[1]], strict=True, stacklevel=1)
    assert [str(item.message) for item in seen] == ["a: one", "c: three"]
    assert {item.category for item in seen} == {GearedDynamicsWarning}
    assert {item.filename for item in seen} == {__file__}


@pytest.mark.parametrize(
    ("notes", "error", "text"),
    [
        ([Note("b", "two"), Note("a", "one", "mend")], ModelError, "a: one; mend, or load"),
        ([urdf_doubt("c", "three")], DescriptionError, "c: three; correct the URDF, or load"),
    ],
)
def test_strict_refuses_the_first_doubt(
    notes: list[Note], error: type[gd.GearedDynamicsError], text: str
) -> None:
    with pytest.raises(error, match=text) as refused:
        report(notes, strict=True, stacklevel=1)
    assert refused.value.remedy.endswith("or load without strict=True")


class Silent:
    """A value that cannot be written."""

    def __repr__(self) -> str:
        raise RuntimeError


def test_any_value_is_shown() -> None:
    """As Python writes it; shortened; or its type where Python does not write it."""
    assert shown("a") == "'a'"
    assert shown([1.5, None]) == "[1.5, None]"
    assert len(shown("x" * 10_000)) == LONGEST_WORD
    for value in (10**5000, [-(10**5000)], Silent()):
        assert shown(value) == f"a value of type {type(value).__name__} that cannot be written"
    with pytest.raises(
        GearedDynamicsError, match="there is no link a value of type int that cannot be written"
    ):
        raise UnknownNameError("link", "link", 10**5000, ["tip"])
