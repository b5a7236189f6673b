"""``~/quality`` as numbers, and which of them are known when."""

from __future__ import annotations

import numpy as np

from geared_dynamics.observers import KalmanState
from geared_dynamics.runtime.observer_estimates import Level, labels, quality_numbers
from geared_dynamics.runtime.observer_loop import ObserverLoop
from observer_bench import Bench
from observer_node_arm import arm, ready


def parts(loop: ObserverLoop) -> dict[str, np.ndarray]:
    """The numbers of a loop's last output by their labels."""
    sizes = labels(loop.setup)
    numbers = quality_numbers(loop.setup, loop.output)
    assert len(numbers) == sum(size for _, size in sizes)
    ends = np.cumsum([size for _, size in sizes])[:-1]
    return dict(zip([name for name, _ in sizes], np.split(numbers, ends), strict=True))


def test_nothing_is_known_before_the_first_reading() -> None:
    found = parts(ObserverLoop(ready()))
    assert found.pop("level") == Level.INVALID
    found.pop("faults")
    assert all(np.isnan(numbers).all() for numbers in found.values())


def test_numbers_of_a_settled_estimate() -> None:
    bench = Bench()
    bench.run(400)
    found, state = parts(bench.loop), bench.loop.output.state
    assert isinstance(state, KalmanState)
    assert found["level"] == Level.GOOD
    motors = len(arm().motor_names)
    np.testing.assert_array_equal(found["innovation"][:motors], state.innovation[:motors])
    assert 0.0 < found["nis_ratio"] < found["nis_ratio_limit"]
    width = found["link_position_deviation"]
    np.testing.assert_array_equal(width, state.deviations[: arm().n])
    assert (width > 0.0).all()
    assert (found["external_torque_deviation"] > 0.0).all()


def test_the_nonlinear_observer_knows_no_deviations() -> None:
    bench = Bench(observer="nonlinear")
    bench.run(400)
    found = parts(bench.loop)
    assert found["level"] <= Level.DEGRADED
    assert np.isfinite(found["innovation"]).any()
    assert np.isnan(found["innovation_deviation"]).all()
    assert np.isnan(found["link_position_deviation"]).all()


def test_frames_say_the_level_and_good_ones_nothing() -> None:
    assert Level.GOOD.frame == ""
    assert Level.BRIDGED.frame == "bridged"
