"""A reading that stood still for a while and is where the prediction went: when it counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from geared_dynamics.observers.screening import Examination

LAST, NEAR = 1.0, 0.25


@pytest.mark.parametrize(
    ("travel", "row", "apart", "wanted"),
    [
        (0.5, 1.5, 0.0, True),
        (-0.5, 0.5, 0.0, True),
        (0.5, 1.75, 0.0, True),  # the bound itself counts
        (0.5, 1.25, 0.0, True),
        (0.5, 1.8, 0.0, False),
        (0.2, 1.2, 0.0, True),
        (0.125, 1.125, 0.0, False),  # it went no farther than what is near anyway
        (0.1, 1.1, 0.0, False),
        (0.5, 1.5, 0.25, True),
        (0.5, 1.5, 0.3, False),
    ],
)
def test_how_far_it_may_be(travel: float, row: float, apart: float, wanted: bool) -> None:
    """|row - last - travel| <= near < 2 |travel|, and the prediction as near."""
    examined: Any = SimpleNamespace(
        _before=SimpleNamespace(travel=np.array([travel])),
        _past=SimpleNamespace(rows=[np.array([LAST])]),
        _step=SimpleNamespace(row=np.array([row]), apart=np.array([apart])),
        _near=lambda _j: NEAR,
    )
    assert Examination._caught_up(examined, 0) is wanted
