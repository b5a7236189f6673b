"""Random histories of control cycles: whatever happens, what is sent is within all limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from safety_rig import LIMIT, RATE, Rig, policy

NUMBERS = (0.0, 0.3, -1.0, 2.5, 300.0, np.nan, np.inf, 1e200, 1e308, -1e300)
TIMES = (0.001, 0.001, 0.001, 0.0, 0.03, 0.06, 0.4, 5.0, -0.01)
REACTIONS = ("hold", "ramp_to_gravity", "zero")
OPTIONS = (
    "on_stale_reference", "on_bad_command", "on_position_limit", "on_velocity_limit",
    "on_tracking_error", "on_time_jump", "on_computation", "on_emergency_stop",
)  # fmt: skip
CYCLES = 60


def pair(rng: np.random.Generator) -> Any:
    """Two numbers of any kind, or something of a wrong shape."""
    if rng.random() < 0.1:
        return [None, np.zeros(3), np.zeros((2, 2)), np.array(1.0)][rng.integers(4)]
    return rng.choice(NUMBERS, size=2)


def facts(rng: np.random.Generator) -> dict[str, Any]:
    """What one cycle sees: mostly a healthy arm."""
    found: dict[str, Any] = {}
    if rng.random() < 0.5:
        return found
    for name, make in (("q", pair), ("v", pair), ("wanted", pair), ("q_d", pair)):
        if rng.random() < 0.25:
            found[name] = make(rng)
    for name in ("names_missing", "failed", "emergency_stop", "acknowledged"):
        if rng.random() < 0.1:
            found[name] = True
    if rng.random() < 0.1:
        found["clock"] = float(rng.choice(NUMBERS))
    found["fresh"], found["heard"] = rng.random() < 0.8, rng.random() < 0.8
    return found


def run(case: bytes) -> str:
    """One history; ``AssertionError`` where a command is beyond a limit or a rate."""
    rng = np.random.default_rng(int(case))
    options = {name: str(rng.choice(REACTIONS)) for name in OPTIONS}
    rig = Rig(policy(**options, open_loop_end=str(rng.choice(["gravity", "zero"]))))
    before = None
    for _ in range(CYCLES):
        dt, rig.broken = float(rng.choice(TIMES)), bool(rng.random() < 0.05)
        with np.errstate(over="ignore", invalid="ignore"):  # in the rig's own fallback
            sent = rig.cycle(dt, **facts(rng)).command
        if sent is None:
            continue
        assert np.isfinite(sent).all(), sent
        assert (np.abs(sent) <= LIMIT).all(), sent
        if before is not None:
            reach = RATE * min(max(dt, 0.0), 0.1)
            assert (np.abs(sent - before) <= reach + 1e-9).all(), (before, sent)
        before = sent
    return "safe"
