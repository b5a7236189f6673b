"""The cycles before the first: all that a later one needs has run."""

from __future__ import annotations

from typing import Any

import pytest

from geared_dynamics import kernels
from geared_dynamics.runtime.observer_estimates import Level
from geared_dynamics.runtime.rehearsal import rehearse_observer
from observer_node_arm import ready


@pytest.mark.parametrize("observer", ["kalman", "nonlinear"])
@pytest.mark.parametrize("delay", [0.0, 0.004])
def test_what_missing_joint_states_need_has_run(
    monkeypatch: pytest.MonkeyPatch, observer: str, delay: float
) -> None:
    """A kernel compiled when joint states fail would keep the node from telling it."""
    called, own = [], kernels.observer_transition

    def noted(*given: Any) -> Any:
        called.append(1)
        return own(*given)

    monkeypatch.setattr(kernels, "observer_transition", noted)
    given = ready(observer=observer, motors__motor_1__encoder_delay=delay, settling_time=5.0)
    output = rehearse_observer(given)
    assert called
    assert output.level is Level.BRIDGED
    assert "overdue" in output.why
    assert output.estimate is not None
