"""Numbers as people read them."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from geared_dynamics.analysis.coupling_gap import CouplingGap, Gap, JointGap
from geared_dynamics.apps.cli.check import gap_sentence
from geared_dynamics.checks import percent, percent_cell, plain
from recorded_motions import elbow

WRITTEN = {
    0.0: "0 %", 1e-9: "< 0.01 %", 0.00999: "< 0.01 %", 0.01: "0.01 %", 0.456: "0.46 %",
    0.9999: "1 %", 1.04: "1 %", 4.56: "4.6 %", 9.94: "9.9 %", 9.96: "10 %", 45.6: "46 %",
    99.6: "100 %", 100.0: "100 %", 123.4: "123 %", 98765.4: "98765 %", 1e7: "> 1000000 %",
    -0.46: "-0.46 %", -150.0: "-150 %", -1e-5: "> -0.01 %", math.nan: "-", math.inf: "> 1000000 %",
}  # fmt: skip


@pytest.mark.parametrize("value", WRITTEN)
def test_percentages(value: float) -> None:
    assert percent(value) == WRITTEN[value]
    assert percent_cell(value) == WRITTEN[value].removesuffix(" %")


def test_no_percentage_has_an_exponent() -> None:
    for value in np.geomspace(1e-12, 1e12, 2000):
        text = percent(value)
        assert "e" not in text
        if 0.01 <= value < 1e6:
            assert float(percent_cell(value)) == pytest.approx(value, rel=0.06)


def test_plain_numbers() -> None:
    assert plain([0.4, -1e-17, 1.23456]) == "0.4 0 1.235"


@pytest.mark.parametrize(
    ("value", "said"), [(100.0, "100 %"), (0.456, "0.46 %"), (1e-3, "< 0.01 %"), (234.5, "234 %")]
)
def test_the_gap_in_a_sentence(value: float, said: str) -> None:
    gap, none = Gap(1.0, 2.0, value), Gap(0.0, 0.0, 0.0)
    found = CouplingGap((JointGap("joint_1", "N m", 1.0, gap, none),), 10, 0, cast(Any, None))
    assert f"and by {said} of the RMS force at joint_1" in gap_sentence(elbow(), found)
