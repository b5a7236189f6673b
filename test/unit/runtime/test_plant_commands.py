"""Commands of the plant node by place and by name, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from geared_dynamics.errors import ArrayError
from geared_dynamics.runtime.plant_node_settings import CommandReader

NAMES = ["a", "b", "c"]


@pytest.fixture
def reader() -> CommandReader:
    return CommandReader(NAMES, "motor_voltage")


def test_names_in_any_order_and_again_in_another(reader: CommandReader) -> None:
    assert reader.named(["c", "a", "b"], [3.0, 1.0, 2.0]).tolist() == [1.0, 2.0, 3.0]
    assert reader.named(["b", "c", "a"], [2.0, 3.0, 1.0]).tolist() == [1.0, 2.0, 3.0]
    assert reader.flat([1.0, 2.0, 3.0], "motor_voltage").tolist() == [1.0, 2.0, 3.0]


def test_a_command_is_a_copy(reader: CommandReader) -> None:
    """Messages may be written to again."""
    numbers = np.ones(3)
    found = reader.flat(numbers), reader.named(NAMES, numbers)
    numbers[:] = 9.0
    assert all(values.tolist() == [1.0] * 3 for values in found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("flat", [1.0] * 3, "motor_torque"), "is of kind motor_torque, and this plant takes"),
        (("named", NAMES, [1.0] * 3, "joint_torque"), "with output:=motor_voltage"),
        (("flat", [1.0] * 2), "has 2 numbers; give 3: motor_voltage of a, b, c"),
        (("flat", [1.0, np.nan, 0.0]), "is not finite for b"),
        (("flat", [np.inf, 0.0, 0.0]), "is not finite for a"),
        (("flat", [0.0, -1e9, 0.0]), "contains the number 1e+09; send SI units, below"),
        (("named", ["a", "b", "x"], [1.0] * 3), "names a, b, x; send motor_voltage"),
        (("named", ["a", "b"], [1.0] * 2), "names a, b"),
        (("named", ["a", "b", "b"], [1.0] * 3), "names a, b, b"),
        (("named", [], []), "names no joints"),
        (("named", NAMES, []), "has 0 numbers for 3 names; put one into effort"),
    ],
)
def test_refusals(reader: CommandReader, call: tuple[Any, ...], said: str) -> None:
    name, *arguments = call
    with pytest.raises(ArrayError) as raised:
        getattr(reader, name)(*arguments)
    assert said in str(raised.value)
