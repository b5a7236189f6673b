"""The observer node's cycle without ROS: what it tells, and what it does when readings are bad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from geared_dynamics.observers import Fault
from geared_dynamics.runtime.observer_estimates import Level, Sensed
from geared_dynamics.runtime.observer_loop import ObserverLoop
from observer_bench import MOTOR, Bench, sensed
from observer_node_arm import DT, Plant, ready


@pytest.mark.parametrize(("observer", "most"), [("kalman", 2e-5), ("nonlinear", 2e-5)])
def test_it_knows_the_links_from_the_motors_alone(observer: str, most: float) -> None:
    bench = Bench(observer=observer)
    first = bench.run(50)
    assert {output.level for output in first} == {Level.INVALID}  # settling
    bench.run(350)
    assert bench.output.level is Level.GOOD
    twist = np.abs(bench.plant.z[3:5] - bench.plant.q[:2]).max()
    assert bench.off() < most < twist / 20.0


def test_the_same_from_the_joints_side_and_with_signs_and_offsets() -> None:
    """A driver that divides by the ratios, an encoder that counts backwards from elsewhere."""
    given: dict[str, Any] = {"motors__motor_2__encoder_sign": -1}
    given["motors__motor_2__encoder_offset"] = 0.7
    bench = Bench(**given)

    def turned(plant: Plant, reading: Sensed) -> Sensed:
        shown = reading.positions.copy()
        shown[1] = 0.7 - shown[1]
        return reading._replace(positions=shown)

    bench.run(300, turned)
    assert bench.output.level is Level.GOOD
    assert bench.off() < 2e-5
    other = Bench(feedback="joint", torque_kind="joint_torque", **given)
    A, zeros = other.plant.model.structure_matrix, other.plant.model.motor_zeros

    def joints(plant: Plant, reading: Sensed) -> Sensed:
        shown = turned(plant, reading).positions
        q = np.linalg.solve(A.T, shown - zeros)
        return reading._replace(positions=q, torques=A @ plant.tau_m)

    other.run(300, joints)
    assert other.output.level is Level.GOOD
    assert other.off() < 2e-5


@pytest.mark.parametrize("late", [(3, 3, 3), (0, 4, 2)])
def test_delays_of_the_encoders_are_made_up_for(late: tuple[int, ...]) -> None:
    """Told that the readings are late, the estimate is of now; untold, it is behind."""
    delays = {f"motors__motor_{k + 1}__encoder_delay": DT * late[k] for k in range(3)}
    told, untold = Bench(**delays), Bench()
    for bench in (told, untold):
        seen: list[np.ndarray] = []

        def old(plant: Plant, reading: Sensed, seen: list[np.ndarray] = seen) -> Sensed:
            seen.append(reading.positions)
            shown = [seen[max(len(seen) - 1 - late[k], 0)][k] for k in range(3)]
            return reading._replace(positions=np.array(shown))

        bench.run(400, old)
    assert told.output.level is Level.GOOD
    assert told.off() < 1e-4
    assert untold.output.estimate is None or untold.off() > 10.0 * told.off()


def missing(plant: Plant, reading: Sensed) -> Sensed:
    shown = reading.positions.copy()
    shown[1] = np.nan
    return reading._replace(positions=shown)


def jumped(plant: Plant, reading: Sensed) -> Sensed:
    shown = reading.positions.copy()
    shown[1] += 3.0
    return reading._replace(positions=shown)


def uncommanded(plant: Plant, reading: Sensed) -> Sensed:
    return reading._replace(torques=None)


def silent(plant: Plant, reading: Sensed) -> None:
    return None


class Stuck:
    """An encoder that shows what it showed first."""

    def __init__(self) -> None:
        self.shown: float | None = None

    def __call__(self, plant: Plant, reading: Sensed) -> Sensed:
        shown = reading.positions.copy()
        self.shown = shown[1] if self.shown is None else self.shown
        shown[1] = self.shown
        return reading._replace(positions=shown)


BAD = {
    "missing": (missing, Fault.MISSING),
    "jumped": (jumped, Fault.JUMP),
    "stuck": (Stuck, Fault.STUCK),
    "uncommanded": (uncommanded, Fault.COMMAND),
    "silent": (silent, Fault.MISSING),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_readings_are_bridged_then_invalid(name: str) -> None:
    """Valid by prediction for 50 ms and flagged; then no numbers at all."""
    change, fault = BAD[name]
    bench = Bench()
    bench.run(430)  # in motion
    found = bench.run(200, change() if isinstance(change, type) else change)
    bridged = [k for k, output in enumerate(found) if output.level is Level.BRIDGED]
    assert bridged
    assert all(fault in found[k].faults for k in bridged)
    assert all(output.why for output in found if output.level is not Level.GOOD)
    gone = [k for k, output in enumerate(found) if output.level is Level.INVALID]
    assert gone
    assert max(bridged) < min(gone) <= 80
    assert gone == list(range(min(gone), 200))
    assert all(found[k].estimate is None for k in gone)


@pytest.mark.parametrize("name", ["missing", "jumped", "uncommanded", "silent"])
def test_a_bridge_leads_back(name: str) -> None:
    """After 30 ms without, the estimate is as good as before."""
    bench = Bench()
    bench.run(400)
    bench.run(30, BAD[name][0])
    assert bench.off() < 5e-3
    bench.run(60)
    assert bench.output.level is Level.GOOD
    assert bench.off() < 5e-5


@pytest.mark.parametrize("name", ["missing", "uncommanded", "silent", "stuck"])
def test_it_starts_anew_when_the_readings_are_back(name: str) -> None:
    bench = Bench()
    bench.run(430)
    change = BAD[name][0]
    bench.run(200, change() if isinstance(change, type) else change)
    assert bench.output.level is Level.INVALID
    again = bench.run(300)
    assert {output.level for output in again[:90]} == {Level.INVALID}  # it settles first
    assert bench.output.level is Level.GOOD
    assert bench.off() < 5e-5


def test_after_a_jump_somebody_must_say_that_the_encoder_is_right() -> None:
    bench = Bench()
    bench.run(400)
    found = bench.run(500, jumped)
    assert {output.level for output in found[60:]} == {Level.INVALID}
    assert "~/reset" in found[-1].why
    bench.loop.reset()
    bench.run(300, jumped)
    assert bench.output.level is Level.GOOD  # with the offset: it was told so


@pytest.mark.parametrize(("left", "level"), [(0.0, Level.GOOD), (0.01, Level.INVALID)])
@pytest.mark.parametrize("observer", ["kalman", "nonlinear"])
def test_an_encoder_that_jumped_back_is_right_again(
    observer: str, left: float, level: Level
) -> None:
    """Back where it was it needs no reset; 10 mrad beside that it does."""
    bench = Bench(observer=observer)
    bench.run(400)
    found = bench.run(200, jumped)
    assert found[-1].level is Level.INVALID

    def beside(plant: Plant, reading: Sensed) -> Sensed:
        return reading._replace(positions=np.add(reading.positions, [0.0, left, 0.0]))

    found = bench.run(400, beside)
    assert found[-1].level is level
    assert level is Level.INVALID or bench.off() < 5e-5


def test_an_encoder_that_jumped_and_was_not_watched_is_not_used_again() -> None:
    """Nobody saw what it did in a pause longer than ``hold``."""
    bench = Bench()
    bench.run(400)
    bench.run(200, jumped)
    bench.run(60, silent)
    assert {output.level for output in bench.run(300)} == {Level.INVALID}


def backwards(plant: Plant, reading: Sensed) -> Sensed:
    return jumped(plant, reading)._replace(time=reading.time - 10.0)


@pytest.mark.parametrize("pause", [silent, backwards])
@pytest.mark.parametrize("seen", [1, 10])
def test_a_jump_is_not_forgotten_in_a_pause(seen: int, pause: Any) -> None:
    """It is bridged still when the joint states stop, or begin again at an earlier time."""
    bench = Bench()
    bench.run(400)
    assert {output.level for output in bench.run(seen, jumped)} == {Level.BRIDGED}
    bench.run(60, pause)
    after = bench.run(300, jumped if pause is silent else pause)
    assert {output.level for output in after} == {Level.INVALID}
    assert "~/reset" in after[-1].why


def test_without_a_jump_a_pause_needs_no_reset() -> None:
    """The negative control, with stamps that go back as well."""
    bench = Bench()
    bench.run(400)
    bench.run(60, silent)
    bench.run(300)
    assert bench.output.level is Level.GOOD

    def earlier(plant: Plant, reading: Sensed) -> Sensed:
        return reading._replace(time=reading.time - 10.0)

    bench.run(300, earlier)
    assert bench.output.level is Level.GOOD


@pytest.mark.parametrize("observer", ["kalman", "nonlinear"])
def test_a_hard_push_is_told_as_lag_and_needs_no_reset(observer: str) -> None:
    """200 N m on a joint, followed up to 5 Hz or not at all: never lost, not good in its lag."""
    bench = Bench(observer=observer, bandwidth=5.0 if observer == "kalman" else 30.0)
    bench.run(600)
    found, off = [], []
    for k in range(150):
        bench.plant.push = np.array([0.0, 200.0, 0.0]) * min(1.0, k / 5)
        found += bench.run(1)
        off.append(bench.off())
    assert Level.INVALID not in {output.level for output in found}
    assert not any(Fault.JUMP in output.faults for output in found)
    worst = max(x for x, output in zip(off, found, strict=True) if output.level is Level.GOOD)
    assert max(off) > 3e-3
    assert worst < 1e-4


def test_restart_only_by_reset() -> None:
    bench = Bench(restart="reset")
    bench.run(300)
    bench.run(100, missing)
    assert bench.run(300)[-1].why == "waits for ~/reset"
    bench.loop.reset()
    assert bench.run(300)[-1].level is Level.GOOD


def test_a_stuck_encoder_is_not_believed_at_a_new_start() -> None:
    bench = Bench()
    bench.run(430)
    found = bench.run(800, Stuck())
    first = next(k for k, output in enumerate(found) if output.level is Level.INVALID)
    assert {output.level for output in found[first:]} == {Level.INVALID}


@pytest.mark.parametrize("step", [0.0, -0.01])
def test_stamps_that_do_not_go_on(step: float) -> None:
    """Flagged at once; invalid after 50 ms."""
    bench = Bench()
    bench.run(300)
    time = bench.plant.time

    def still(plant: Plant, reading: Sensed) -> Sensed:
        return reading._replace(time=time + step)

    found = bench.run(100, still)
    assert found[0].level is Level.BRIDGED
    assert Fault.INTERVAL in found[0].faults
    assert {output.level for output in found[52:]} == {Level.INVALID}


def test_a_gap_of_a_second_and_stamps_that_begin_anew() -> None:
    bench = Bench()
    bench.run(300)
    shift = 1.0

    def later(plant: Plant, reading: Sensed) -> Sensed:
        return reading._replace(time=reading.time + shift)

    found = bench.run(300, later)
    assert found[0].level is Level.INVALID
    assert Fault.GAP in found[0].faults
    assert found[-1].level is Level.GOOD
    shift = -5.0
    found = bench.run(300, later)
    assert found[0].level is Level.INVALID
    assert found[-1].level is Level.GOOD
    assert bench.off() < 5e-5


def test_at_rest_the_torque_may_be_unknown() -> None:
    """What holds the weight is assumed, and told; in motion nothing is."""
    loop, plant = ObserverLoop(ready(**MOTOR)), Plant()
    for _ in range(400):
        plant.time += DT
        output = loop.cycle(plant.time, sensed(plant)._replace(torques=None))
    assert output.level is Level.BRIDGED
    assert "assumed" in output.why
    assert output.estimate is not None
    assert np.abs(output.estimate.q - plant.q).max() < 1e-5
    for _ in range(200):
        plant.step()
        output = loop.cycle(plant.time, sensed(plant)._replace(torques=None))
    assert output.level is Level.INVALID


def test_sensors_on_the_links() -> None:
    """They are used, left out when they go, and believed again when they are back."""
    noise = 1e-5
    given = {f"sensors__joint_{k}__link_encoder_noise": noise for k in (1, 2)}
    bench = Bench(**given, sensors__joint_2__torque_sensor_noise=0.05)

    def beside(plant: Plant, reading: Sensed) -> Sensed:
        sensors = np.array([np.nan, plant.spring[1], np.nan])
        return reading._replace(links=plant.q.copy(), links_time=plant.time, sensors=sensors)

    bench.run(300, beside)
    assert bench.output.level is Level.GOOD
    assert bench.off() < 2e-5
    found = bench.run(100)
    assert found[-1].level is Level.DEGRADED
    assert bench.off() < 1e-3
    bench.run(100, beside)
    assert bench.output.level is Level.GOOD


def test_a_payload_changes_the_model_in_the_middle() -> None:
    bench = Bench()
    bench.run(300)
    bench.loop.exchange(ready(**MOTOR, payload__mass=0.001))
    assert bench.run(5)[-1].level is Level.GOOD


def test_a_slow_observer_that_diverges_starts_again_by_itself() -> None:
    """Thrown off by 4 rad it stayed lost and valid; now it is invalid at once and soon right."""
    bench = Bench(observer="nonlinear", bandwidth=5.0)
    bench.run(600)
    assert bench.loop.state is not None
    wrong = bench.loop.state.mean.copy()
    wrong[3] += 4.0
    bench.loop.state = bench.loop.state._replace(mean=wrong)
    found = bench.run(60)
    assert any(one.level is Level.INVALID and Fault.DIVERGED in one.faults for one in found)
    assert (bench.loop.counters.starts, bench.loop.counters.losses) == (2, 1)
    bench.run(700)
    assert bench.loop.counters.starts == 2
    assert bench.off() < 1e-4
