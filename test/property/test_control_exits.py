"""Random histories with every exit: no command beyond a limit, none that changes too fast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from safety_rig import LIMIT, RATE, Rig, policy

S = gd.control.safety
WILD = np.array([0.0, 0.3, -1.0, 2.5, 300.0, math.nan, math.inf, 1e200, 1e300])
REACTIONS = np.array(["hold", "ramp_to_gravity", "zero"])
OPTIONS = [name for name in S.Policy.__dataclass_fields__ if name.startswith("on_")]


def history(seed: int) -> tuple[int, int]:
    """Cycles of a history, and commands of it that were not allowed."""
    random = np.random.default_rng(seed)
    options: dict[str, Any] = {name: str(random.choice(REACTIONS)) for name in OPTIONS}
    options["open_loop_end"] = str(random.choice(["gravity", "zero"]))
    rig = Rig(policy(**options))
    before, count, bad = None, int(random.integers(20, 60)), 0
    exit_at = int(random.integers(5, count))
    leaving = str(random.choice(["gravity", "zero"]))
    stop = False
    for k in range(count):
        kind = random.integers(12)
        dt = float(random.choice([0.001, 0.004, 0.02, 0.06, 0.4], p=[0.6, 0.2, 0.1, 0.07, 0.03]))
        facts: dict[str, Any] = {}
        if kind == 0:
            facts = {"fresh": False, "wanted": None}
        elif kind == 1:
            facts = {"wanted": random.choice(WILD, 2)}
        elif kind == 2:
            facts = {"q": random.choice(WILD, 2), "v": random.choice(WILD, 2)}
        elif kind == 3:
            facts = {"wanted": random.normal(size=2) * 300.0}
        elif kind == 4:
            stop = not stop
        elif kind == 5:
            facts = {"failed": True, "wanted": None}
        elif kind == 6:
            facts = {"names_missing": True}
        elif kind == 7:
            rig.broken = not rig.broken
        elif kind == 8:
            rig.v = random.normal(size=2)
        facts["emergency_stop"], facts["acknowledged"] = stop, bool(random.integers(2))
        if k >= exit_at:
            facts |= {"leaving": leaving, "hurried": k > exit_at + 20}
        command = rig.cycle(dt, look_twice=False, **facts).command
        if command is None:
            continue
        bad += not (np.isfinite(command).all() and (np.abs(command) <= LIMIT).all())
        if before is not None:
            bad += bool((np.abs(command - before) > RATE * min(dt, 0.1) + 1e-9).any())
        before = command
    return count, bad


def test_no_command_is_beyond_its_limits() -> None:
    found = np.array([history(seed) for seed in range(300)])
    assert found[:, 0].sum() > 5000
    assert found[:, 1].sum() == 0


@pytest.mark.validate
def test_none_of_many() -> None:
    assert sum(history(seed)[1] for seed in range(1000, 101_000)) == 0


def test_a_step_without_limits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    room = __import__("sys").modules["geared_dynamics.control.safety.step"]
    monkeypatch.setattr(room, "limited", lambda _policy, target, _before, _dt: (target, 0))
    assert sum(history(seed)[1] for seed in range(300)) > 0
