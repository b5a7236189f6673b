"""The observer node's cycle without ROS: what it tells, and what it does when readings are bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from geared_dynamics.nodes.observer.loop import Loop
from geared_dynamics.nodes.observer.values import Level, Output, Sensed
from geared_dynamics.observers import Fault
from observer_node_arm import DT, Plant, ready

MOTOR = {"feedback": "motor", "torque_kind": "motor_torque"}
Change = Callable[[Plant, Sensed], Sensed | None]


def sensed(plant: Plant) -> Sensed:
    return Sensed(plant.time, plant.phi, plant.tau_m)


class Bench:
    """A plant, an observer's loop, and a steady clock that goes with the plant."""

    def __init__(self, **given: Any) -> None:
        self.plant, self.loop = Plant(), Loop(ready(**MOTOR | given))
        self.output = self.loop.output

    def run(self, cycles: int, change: Change | None = None) -> list[Output]:
        """Outputs of cycles; a change returns other readings, or none."""
        found = []
        for _ in range(cycles):
            self.plant.step()
            reading: Sensed | None = sensed(self.plant)
            if change is not None:
                reading = change(self.plant, reading)
            if reading is not None:
                self.output = self.loop.cycle(self.plant.time, reading)
            else:
                silent = self.loop.silence(self.plant.time)
                self.output = self.output if silent is None else silent[0]
            found.append(self.output)
        return found

    def off(self) -> float:
        """Largest error of the links' positions [rad]."""
        assert self.output.estimate is not None
        return float(np.abs(self.output.estimate.q - self.plant.q).max())


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
    bench.run(200, jumped)
    found = bench.run(300)
    assert {output.level for output in found} == {Level.INVALID}
    assert "~/reset" in found[-1].why
    bench.loop.reset()
    bench.run(300)
    assert bench.output.level is Level.GOOD


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
    loop, plant = Loop(ready(**MOTOR)), Plant()
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
    given = {f"joints__joint_{k}__link_encoder_noise": noise for k in (1, 2)}
    bench = Bench(**given, joints__joint_2__torque_sensor_noise=0.05)

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
@pytest.mark.parametrize("late", [0, 3, 10])
def test_sensors_beside_late_encoders_belong_to_their_own_instants(
    sensors: str, late: int
) -> None:
    """They make the estimate better, as they do where nothing is late, and never worse."""
    given: dict[str, Any] = {f"motors__motor_{k}__encoder_delay": late * DT for k in (1, 2, 3)}
    alone = Bench(**given)
    for k in (1, 2):
        if "torque" in sensors:
            given[f"joints__joint_{k}__torque_sensor_noise"] = 0.05
        if "link" in sensors:
            given[f"joints__joint_{k}__link_encoder_noise"] = 1e-5
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
        (0.0, 980.0),
        (1e-6, 1e3),
        (1e-5, 1e3),
        (1e-4, 1e3),
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
