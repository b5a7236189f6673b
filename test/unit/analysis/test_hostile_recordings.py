"""Hundreds of recordings made by hand to do harm: refused in words, or read as they are meant.

They run in processes of bounded memory, each within 5 s; ``test/hostile`` holds them.
"""

from __future__ import annotations

import importlib.util

import pytest

from hostile.cases import Case, bag_of
from hostile.drive import results
from hostile.run import cases_of

if not all(map(importlib.util.find_spec, ("lz4", "backports"))):
    pytest.skip("needs geared_dynamics[analysis]", allow_module_level=True)


def problems(how: str, *, heavy: bool = False) -> dict[str, str]:
    """Cases that did not end as they must."""
    every = cases_of("all", heavy=heavy)
    found = {each["name"]: each["problem"] for each in results("all", how, heavy=heavy)}
    assert list(found) == list(every)
    return {f"{name} ({every[name].reason})": text for name, text in found.items() if text}


def test_what_is_read_of_them() -> None:
    assert problems("read") == {}


@pytest.mark.validate
@pytest.mark.parametrize("how", ["read", "analyze"])
def test_what_is_read_of_all_and_what_the_command_says(how: str) -> None:
    assert problems(how, heavy=True) == {}


def test_there_are_hundreds_and_each_has_a_reason() -> None:
    every = cases_of("all", heavy=True)
    assert len(every) > 500
    assert all(case.reason for case in every.values())


def test_a_wrong_expectation_is_noticed() -> None:
    """The negative control of the judgement itself."""
    from hostile.run import outcome

    good = bag_of([])
    for case in (Case("refused, not read", good, 3), Case("with other words", good, None, "xyz")):
        assert outcome("none", "none", case, "read")["problem"]
