"""What the cycle tells the safety step: each fact at its own place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control import State
from geared_dynamics.control.safety import Observation
from geared_dynamics.runtime import feedforward_loop
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
Q, V = np.array([0.3, 0.5, -0.4]), np.array([0.1, 0.2, 0.3])


@pytest.fixture(scope="module")
def loop() -> FeedforwardLoop:
    model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
    return FeedforwardLoop(feedforward_setup(feedforward(model, mode="stream"), model))


FLAGS = ("emergency_stop", "acknowledged", "hurried")


@pytest.mark.parametrize("flag", [None, *FLAGS, "names_reordered"])
def test_facts_stand_in_their_places(
    loop: FeedforwardLoop, flag: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Observation] = []
    step = feedforward_loop.safety.step

    def told(policy: Any, memory: Any, observed: Observation, *others: Any) -> Any:
        seen.append(observed)
        return step(policy, memory, observed, *others)

    for name in FLAGS:
        monkeypatch.setattr(loop, name, name == flag)
    monkeypatch.setattr(feedforward_loop.safety, "step", told)
    loop.cycle(2.0, 3.0, Q, V, flag == "names_reordered", 7.0)
    facts: dict[str, Any] = {name: name == flag for name in (*FLAGS, "names_reordered")}
    expected = Observation(
        now=2.0, state_stamp=2.0, q=Q, v=V, clock=loop.clock.time, sampled=7.0, **facts
    )
    assert seen == [expected]


def test_a_state_has_its_quantities_in_their_places(loop: FeedforwardLoop) -> None:
    made = loop.setup.control.state(Q, V)
    assert isinstance(made, State)
    assert made == State(q=Q, v=V)
