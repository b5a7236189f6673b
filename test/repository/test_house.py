"""The figures of the house, on a small package of which they are known."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "__init__.py": "",
    "arm.py": '''"""An arm.

Not counted.
"""

# Nor this.
from geared_dynamics.rooms import Motor
from geared_dynamics.wheel import turn


class Arm:
    """Of one motor."""

    def spin(self, motor: Motor) -> float:
        """Its motor's turn."""
        return turn(
            motor,
        )
''',
    "wheel.py": '''"""A wheel."""


def turn(x):
    """Turn it."""
    from geared_dynamics.arm import Arm

    return Arm and x
''',
    "rooms/__init__.py": '"""Two."""\n\nfrom geared_dynamics.rooms.motor import Motor\n',
    "rooms/motor.py": '"""A motor."""\n\n\nclass Motor:\n    """It."""\n',
    "rooms/lamp.py": "class Motor:\n    pass\n\n\nclass Arm2:\n    pass\n",
}


@pytest.fixture(scope="module")
def tree() -> Any:
    sys.path.insert(0, str(ROOT / "tools" / "house"))
    try:
        yield importlib.import_module("tree")
    finally:
        sys.path.remove(str(ROOT / "tools" / "house"))
        sys.modules.pop("tree", None)


@pytest.fixture(scope="module")
def house(tree: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("house")
    for name, text in SOURCES.items():
        path = root / "geared_dynamics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tree.House(root)


def test_lines_are_code_and_nothing_else(house: Any) -> None:
    arm = house.modules["geared_dynamics.arm"]
    assert (len(arm.code), len(arm.import_lines), arm.functions) == (7, 2, [4])
    assert house.modules["geared_dynamics.rooms.motor"].code == {4}


def test_importers_are_found_behind_lists_of_names(house: Any) -> None:
    assert house.importers["geared_dynamics.rooms.motor"] == {"geared_dynamics.arm"}
    assert house.importers["geared_dynamics.rooms.lamp"] == set()
    assert house.lonely() == [f"geared_dynamics.{m}" for m in ("arm", "rooms.motor", "wheel")]


def test_circles_and_names_twice(house: Any, tree: Any) -> None:
    assert house.circles() == [["geared_dynamics.arm", "geared_dynamics.wheel"]]
    assert house.classes_twice() == {"Motor": 2}
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(tree.circles(edges)) == [["a", "b", "c"], ["d", "e"]]


def test_rooms(house: Any, tree: Any) -> None:
    assert tree.rooms(house)["rooms"] == (3, 6)


def test_the_walks_are_those_of_real_calls() -> None:
    """A call of the package counts, what it does between rooms too, and libraries do not."""
    sys.path.insert(0, str(ROOT / "tools" / "house"))
    try:
        walks = importlib.import_module("walks")
        call = walks.inverse()
        call()
        walk = walks.walked("inverse", call)
        behind = walks.walked("behind", walks.inverse(inspect.unwrap))
        loaded = walks.walked("load", walks.load)
    finally:
        sys.path.remove(str(ROOT / "tools" / "house"))
        sys.modules.pop("walks", None)
    assert (behind.calls, behind.switches) == (2, 1)
    assert (walk.calls, walk.switches) == (0, 0)  # from the door straight to the kernel
    assert loaded.switches > 2
    assert loaded.files > loaded.depth > 3


ROOMS = {
    "arrays.py": "def frozen(x):\n    return x\n",
    "one/first.py": """
from arrays import frozen
from two.second import Fact, helper

def walk():
    for _ in range(3):
        own()
        helper()
        helper()
    return Fact().value, frozen(1), own()

def own():
    return 1
""",
    "two/second.py": """
class Fact:
    @property
    def value(self):
        return 1

def helper():
    return 2
""",
}


def test_a_change_of_room_is_one_between_consecutive_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There and back count once, however often; the ground and facts do not."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "house"))
    monkeypatch.syspath_prepend(str(tmp_path))
    walks = importlib.import_module("walks")
    for name, text in ROOMS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(walks, "PACKAGE", f"{tmp_path}/")
    call = importlib.import_module("one.first").walk
    found = walks.walked("walk", call)
    assert (found.files, found.calls, found.depth) == (3, 13, 2)
    assert found.switches == 2  # own -> helper, helper -> own
    for name in ("walks", "one.first", "one", "two.second", "two", "arrays"):
        sys.modules.pop(name, None)
