"""Parts of the observer node's loop: delays, names, sides, rest, restarts."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from geared_dynamics.observers import Fault
from geared_dynamics.observers.health import healthy
from geared_dynamics.runtime.joint_readings import Picker, motor_angle_map, motor_torques
from geared_dynamics.runtime.observer_estimates import (
    Loss,
    Rest,
    no_trouble,
    obstacle,
    torque_names,
)
from geared_dynamics.runtime.parameters import ParameterError
from geared_dynamics.runtime.sample_times import PastReadings, lagrange
from observer_node_arm import arm, ready, values

NAN = float("nan")


def test_readings_of_all_delays_are_brought_to_one_instant() -> None:
    """Cubics are exact; the newest instant that all readings know is 4 ms ago."""
    delays = np.array([0.004, 0.001, 0.0])
    past = PastReadings(delays, 1e-3)

    def truth(t: float) -> np.ndarray:
        return np.array([t**3, 2.0 * t**3 - t, t**2])

    assert past.delay == 0.004
    for k in range(12):
        t = 1e-3 * k
        shown = np.array([truth(t - d)[i] for i, d in enumerate(delays)])
        past.add(t, shown, np.full(3, float(k)))
        assert past.spans == (k >= 4)
    np.testing.assert_allclose(past.aligned(), truth(0.011 - 0.004), atol=1e-15)


def test_torques_are_means_over_their_time() -> None:
    past = PastReadings(np.array([0.0025]), 1e-3)
    for k in range(6):
        past.add(1e-3 * k, np.zeros(1), np.array([float(k)]))
    assert past.torque(0.0025, 0.0035)[0] == pytest.approx(3.5)
    pieces = past.since(0.0025, 0.01)
    assert len(pieces) == 1
    assert pieces[0][0] == pytest.approx(0.0025)
    assert pieces[0][1][0] == pytest.approx((0.5 * 3 + 4 + 5) / 2.5)
    assert sum(span for span, _ in past.since(0.001, 0.0015)) == pytest.approx(0.004)


def test_weights_of_samples_sum_to_one() -> None:
    weights = lagrange(np.array([0.0, 1.0, 2.0, 3.0]), 1.3)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(lagrange(np.array([0.0, 1.0]), 1.0), [0.0, 1.0])


def test_names_in_any_order_some_missing() -> None:
    picker = Picker(["a", "b"])
    picked = picker.picked(["c", "b", "a"], array("d", [1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(picked, [3.0, 2.0])  # type: ignore[arg-type]
    picked = picker.picked(["b"], array("d", [5.0]))
    np.testing.assert_array_equal(picked, [NAN, 5.0])  # type: ignore[arg-type]
    assert picker.absent == ("a",)
    assert picker.picked(["b"], array("d")) is None
    assert picker.foreign(["x"])
    assert not picker.foreign(["a"])


def test_a_name_that_is_there_twice_is_not_guessed() -> None:
    picker = Picker(["a", "b"])
    for _ in range(2):
        picked = picker.picked(["a", "b", "x", "b", "x"], array("d", [1.0, 2.0, 0.0, 9.0, 0.0]))
        np.testing.assert_array_equal(picked, [1.0, NAN])  # type: ignore[arg-type]
    assert picker.trouble == "names b more than once; publish it once"
    assert not picker.foreign(["b", "b"])
    assert "lacks a" in picker.trouble
    picked = picker.picked(["b", "a", "x", "x"], array("d", [2.0, 1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(picked, [1.0, 2.0])  # type: ignore[arg-type]
    assert picker.trouble == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("motors.motor_2.encoder_offset", NAN),
        ("motors.motor_2.encoder_offset", np.inf),
        ("motors.motor_1.encoder_offset", -np.inf),
        ("sensors.joint_3.link_encoder_offset", NAN),
        ("sensors.joint_1.link_encoder_offset", np.inf),
        ("motors.motor_1.encoder_resolution", -1.0),
        ("motors.motor_3.encoder_resolution", np.inf),
        ("motors.motor_2.encoder_resolution", 0.0),
        ("motors.motor_2.encoder_noise", -1e-3),
        ("motors.motor_2.encoder_noise", np.inf),
        ("sensors.joint_1.link_encoder_noise", 0.0),
        ("sensors.joint_1.link_encoder_noise", np.inf),
        ("sensors.joint_2.torque_sensor_noise", -0.1),
        ("sensors.joint_2.torque_sensor_noise", 0.0),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ParameterError) as caught:
        ready(**{name.replace(".", "__"): value})
    assert str(caught.value).startswith(f"{name}: is {value:g}")


def test_numbers_that_make_sense() -> None:
    given = {"motors__motor_2__encoder_resolution": 0.0, "encoder_noise": 1e-5}
    assert ready(**given).observer.gains is not None
    offset = ready(feedback="motor", motors__motor_2__encoder_offset=-7.5)
    assert offset.angles.shift[1] == 7.5


def test_nan_stays_with_what_depends_on_it() -> None:
    model = arm()
    side = motor_angle_map(model, "joint", np.zeros(3), np.ones(3))
    q = np.array([0.1, NAN, 0.3])
    alone = np.isnan(side(q))
    np.testing.assert_array_equal(alone, model.structure_matrix.T[:, 1] != 0.0)
    whole = side(np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(side(q)[~alone], whole[~alone])


@pytest.mark.parametrize("kind", ["joint_torque", "motor_torque", "motor_current"])
def test_torques_of_all_kinds(kind: str) -> None:
    model, tau_m = arm(), np.array([0.1, -0.2, 0.3])
    given = {
        "joint_torque": model.structure_matrix @ tau_m,
        "motor_torque": -tau_m,
        "motor_current": -tau_m / 0.1,
    }[kind]
    signs = np.ones(3) if kind == "joint_torque" else -np.ones(3)
    np.testing.assert_allclose(motor_torques(model, kind, signs)(given), tau_m, atol=1e-12)


def test_order_and_names_of_commands() -> None:
    given = values(command_joints=["joint_3", "joint_1", "joint_2"])
    assert torque_names(given, arm()) == (("joint_3", "joint_1", "joint_2"), (2, 0, 1))
    given = values(command_joints=["x", "y", "z"], joints=["joint_2", "joint_1", "joint_3"])
    assert torque_names(given, arm()) == (("x", "y", "z"), (1, 0, 2))
    with pytest.raises(ParameterError, match="2 names"):
        torque_names(values(command_joints=["x", "y"]), arm())


def test_rest_is_a_tenth_of_a_second_without_motion() -> None:
    rest = Rest(np.eye(2))
    for k in range(200):
        rest.add(1e-3 * k, np.array([1.0, 2.0]))
        assert rest.resting == (k >= 100)
    for k in range(200, 250):
        rest.add(1e-3 * k, np.array([1.0, 2.0 + 1e-4 * (k - 200)]))
    assert not rest.resting


def test_what_is_in_the_way_of_a_start() -> None:
    no = np.zeros(2, bool)
    shown = np.array([1.0, 2.0])
    stuck = Loss(Fault.STUCK, no, np.array([True, False]), shown)
    jumped = Loss(Fault.JUMP, np.array([True, False]), no, shown)
    assert obstacle(None, shown, auto=True) == ""
    assert "missing" in obstacle(None, np.array([NAN, 0.0]), auto=True)
    assert "stuck" in obstacle(stuck, shown, auto=True)
    assert obstacle(stuck, shown + 0.1, auto=True) == ""
    assert "jumped" in obstacle(jumped, shown + 0.1, auto=True)
    assert "~/reset" in obstacle(Loss(Fault.GAP, no, no, shown), shown, auto=False)


def test_how_trouble_began_is_kept_until_it_ends() -> None:
    health = healthy(np.zeros(2), np.zeros(2))

    def step(*channels: Fault) -> object:
        return health._replace(channels=np.array([int(c) for c in channels]))

    onset = no_trouble(2).after(step(Fault.STUCK, Fault.NONE), False)  # type: ignore[arg-type]
    onset = onset.after(step(Fault.STUCK | Fault.JUMP, Fault.JUMP), True)  # type: ignore[arg-type]
    np.testing.assert_array_equal(onset.first, [int(Fault.STUCK), int(Fault.JUMP)])
    np.testing.assert_array_equal(onset.doubted, [False, True])
    onset = onset.after(step(Fault.NONE, Fault.JUMP), False)  # type: ignore[arg-type]
    np.testing.assert_array_equal(onset.first, [0, int(Fault.JUMP)])
