"""A reference whose position is no position of the arm is none."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from safety_rig import running

S = gd.control.safety

NO_POSITIONS = {
    "longer": np.zeros(3),
    "shorter": np.zeros(1),
    "a column": np.zeros((2, 1)),
    "a number": np.array(0.4),
    "empty": np.zeros(0),
    "a list": [0.3, 0.4],
    "text": "0.3",
}


@pytest.mark.parametrize("tracking", [(0.2, 0.2), (np.inf, np.inf)])
@pytest.mark.parametrize("case", NO_POSITIONS)
def test_a_reference_of_another_shape_is_none(case: str, tracking: tuple[float, float]) -> None:
    rig = running((1.98, 0.4), tracking=tracking)
    decision = rig.cycle(q_d=NO_POSITIONS[case])
    assert decision.events & S.Event.NO_REFERENCE
    assert decision.mode is S.Mode.HOLDING
    assert np.isfinite(decision.command).all()
    rig.q = np.array([2.1, 0.4])  # beyond a limit, where the reference may lead back
    assert rig.cycle(q_d=NO_POSITIONS[case]).events & S.Event.POSITION_LIMIT
