"""The observer node's loop where sensors are late, and where stamps are not even."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from geared_dynamics.runtime.observer_estimates import Level, Sensed
from long_cases import cases
from observer_bench import Bench, Change
from observer_node_arm import DT, Plant


class Late:
    """Readings of everything, ``late`` cycles old; joint_2 also has a torque sensor."""

    def __init__(self, late: int, sensors: str) -> None:
        self.late, self.sensors = late, sensors
        self.seen: list[np.ndarray] = []

    def __call__(self, plant: Plant, reading: Sensed) -> Sensed:
        self.seen.append(reading.positions)
        shown = self.seen[max(len(self.seen) - 1 - self.late, 0)]
        reading = reading._replace(positions=shown)
        if "torque" in self.sensors:
            torques = np.array([*plant.spring, np.nan])
            reading = reading._replace(sensors=torques, sensors_time=plant.time)
        if "link" in self.sensors:
            reading = reading._replace(links=plant.q.copy(), links_time=plant.time)
        return reading


@pytest.mark.parametrize("sensors", ["torque", "link", "torque and link"])
@pytest.mark.parametrize("late", cases([3], [0, 10]))
def test_sensors_beside_late_encoders_belong_to_their_own_instants(
    sensors: str, late: int
) -> None:
    """They make the estimate better, as they do where nothing is late, and never worse."""
    given: dict[str, Any] = {f"motors__motor_{k}__encoder_delay": late * DT for k in (1, 2, 3)}
    alone = Bench(**given)
    for k in (1, 2):
        if "torque" in sensors:
            given[f"sensors__joint_{k}__torque_sensor_noise"] = 0.05
        if "link" in sensors:
            given[f"sensors__joint_{k}__link_encoder_noise"] = 1e-5
    both = Bench(**given)
    worst = []
    for bench, change in ((alone, Late(late, "")), (both, Late(late, sensors))):
        bench.run(200, change)
        errors = []
        for _ in range(300):
            bench.run(1, change)
            assert bench.output.level is Level.GOOD
            errors.append(bench.off())
        worst.append(max(errors))
    assert worst[1] < worst[0] < 2e-5


class Jitter:
    """Stamps off by up to so much [s]."""

    def __init__(self, most: float) -> None:
        self.most, self.random = most, np.random.default_rng(0)

    def __call__(self, plant: Plant, reading: Sensed) -> Sensed:
        return reading._replace(time=reading.time + self.most * self.random.uniform(-1.0, 1.0))


def worst_of(bench: Bench, change: Change) -> tuple[float, float]:
    """Largest wrong velocity [rad/s] and external force [N m] from half a second on."""
    bench.run(500, change)
    velocity, force = [], []
    for output in bench.run(1000, change):
        if output.estimate is not None:
            force.append(np.abs(output.estimate.external).max())
    for _ in range(200):
        bench.run(1, change)
        if bench.output.estimate is not None:
            velocity.append(np.abs(bench.output.estimate.v - bench.plant.v).max())
    return max(velocity, default=np.inf), max(force, default=np.inf)


@pytest.mark.parametrize(
    ("jitter", "told"),
    [
        (0.0, 1e3),
        (0.0, 1020.0),
        pytest.param(0.0, 980.0, marks=pytest.mark.validate),
        pytest.param(1e-6, 1e3, marks=pytest.mark.validate),
        (1e-5, 1e3),
        pytest.param(1e-4, 1e3, marks=pytest.mark.validate),
        (1e-4, 980.0),
    ],
)
def test_a_host_that_stamps_unevenly_makes_no_force(jitter: float, told: float) -> None:
    """As good as with exact stamps, whose worst here is 0.1 N m and 0.0006 rad/s."""
    bench = Bench(update_rate=told)
    velocity, force = worst_of(bench, Jitter(jitter))
    assert bench.output.level is Level.GOOD
    assert velocity < 8e-4
    assert force < 0.15


def test_stamps_believed_exactly_make_forces() -> None:
    """Negative control: what 10 us do where they are taken for times."""
    bench = Bench(stamps="exact")
    velocity, force = worst_of(bench, Jitter(1e-5))
    assert bench.output.level is Level.INCONSISTENT
    assert velocity > 0.02
    assert force > 3.0


def test_samples_that_are_lost_among_uneven_stamps() -> None:
    """One, two, and five in a row: bridged where the torque in between is not known."""
    bench, change = Bench(), Jitter(5e-5)
    bench.run(1000, change)
    for lost in (1, 2, 5):
        bench.run(lost, lambda plant, reading: None)
        bench.run(150, change)
        assert bench.output.level is Level.GOOD
        assert bench.off() < 5e-5
