"""ROS time as the safety step sees it: what is a pause, what a jump, what a stop."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.runtime.loop_time import EvenClock

JUMP, TIMEOUT, RATE = 1.0, 1.0, 100


def fed(
    clock: EvenClock,
    begin: float,
    end: float,
    ros: float | None = None,
    fresh: bool = True,
    moving: bool = True,
) -> list[float]:
    """Steady times at which the clock went back; ROS time stands at ``ros`` where given."""
    back, before = [], clock.time
    for k in range(round(begin * RATE), round(end * RATE)):
        now = k / RATE
        clock.advance(now, now if ros is None else ros, JUMP, TIMEOUT, fresh, moving)
        if clock.time < before:
            back.append(now)
        before = clock.time
    return back


def test_a_clock_that_goes_on_is_followed() -> None:
    clock = EvenClock()
    assert fed(clock, 0.0, 3.0) == []
    assert clock.time == pytest.approx(3.0 - 1 / RATE)
    assert not clock.stopped


def test_a_clock_that_stands_still_goes_back_after_the_time_out() -> None:
    clock = EvenClock()
    fed(clock, 0.0, 1.0)
    back = fed(clock, 1.0, 3.0, ros=0.99)
    assert back[0] == pytest.approx(0.99 + TIMEOUT, abs=1.5 / RATE)
    assert len(back) >= 0.9 * RATE, "in every cycle until it goes on"
    assert clock.stopped
    clock.advance(3.0, 1.0, JUMP, TIMEOUT, True, True)
    assert not clock.stopped


@pytest.mark.parametrize(("fresh", "moving"), [(False, True), (True, False)])
def test_a_stop_counts_with_joint_states_and_in_a_motion_only(fresh: bool, moving: bool) -> None:
    clock = EvenClock()
    fed(clock, 0.0, 1.0)
    assert fed(clock, 1.0, 5.0, ros=0.99, fresh=fresh, moving=moving) == []
    assert clock.stopped is fresh


def test_a_pause_of_the_process_is_no_stop() -> None:
    """The joint state may be read before the clock's message."""
    clock = EvenClock()
    fed(clock, 0.0, 1.0)
    before = clock.time
    clock.advance(11.0, 0.99, JUMP, TIMEOUT, True, True)
    assert not clock.stopped
    clock.advance(11.01, 10.99, JUMP, TIMEOUT, True, True)
    assert clock.time >= before


@pytest.mark.parametrize(("factor", "step"), [(0.1, 0.01), (0.1, 0.1), (0.1, 0.15), (0.02, 0.02)])
def test_a_slow_simulation_is_no_stop(factor: float, step: float) -> None:
    """Its clock goes in steps, of up to 1.5 s of steady time here; joint states come faster."""
    clock = EvenClock()
    for k in range(30 * RATE):
        now = k / RATE
        before = clock.time
        ros = step * np.floor(factor * now / step + 1e-9)
        clock.advance(now, float(ros), JUMP, TIMEOUT, True, now > 2.0 * step / factor)
        assert clock.time >= before, now


def test_a_long_stop_is_not_what_is_usual() -> None:
    """The next one is found almost as soon."""
    clock = EvenClock()
    fed(clock, 0.0, 1.0)
    fed(clock, 1.0, 60.0, ros=0.99)
    fed(clock, 60.0, 61.0)
    back = fed(clock, 61.0, 64.0, ros=60.99)
    assert back[0] < 60.99 + TIMEOUT + 2.0 / RATE
