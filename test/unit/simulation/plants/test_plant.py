"""Plants: commands, measurements, delays, faults, and that a seed settles everything."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elbow
from plant_arms import example, hold, pendulum

S = gd.simulation
Settings = S.PlantSettings


def plant(model: gd.GearedModel | None = None, command: str = "torque", **settings: object):
    """A plant of our own equations."""
    model = pendulum() if model is None else model
    return S.Plant(model, command=command, engine="equations", settings=Settings(**settings))


def test_measurements_are_those_of_the_model() -> None:
    model = example("brisk6")
    arm = plant(model)
    q, v = np.array([0.1, 0.5, 0.8, -0.3, 0.4, 0.2]), np.array([0.3, 0.2, -0.4, 1.0, 0.5, -0.6])
    arm.reset(gd.State(q, v))
    seen = arm.read()
    shown = seen.joint_state(model)
    np.testing.assert_allclose(shown.q, q, atol=1e-12)
    np.testing.assert_allclose(shown.v, v, atol=1e-12)
    np.testing.assert_allclose(seen.motor_angle, gd.motor_angles(model, q), atol=1e-12)
    np.testing.assert_allclose(seen.motor_speed, gd.motor_speeds(model, v), atol=1e-12)
    torque = hold(model, q)
    arm.step(torque, 1e-3)
    seen = arm.read()
    assert seen.time == pytest.approx(1e-3)
    np.testing.assert_allclose(seen.motor_torque, torque, atol=1e-12)
    np.testing.assert_allclose(seen.current, torque / model.motors.torque_constant, atol=1e-9)
    np.testing.assert_allclose(seen.joint_state(model).q, arm.state.q, atol=1e-12)


def test_all_kinds_of_commands_mean_the_same_motion() -> None:
    model = pendulum(motor={"inductance": 0.0})
    torque = 0.2
    ends = {}
    for kind, value in {"effort": 10 * torque, "torque": torque, "current": 10 * torque}.items():
        arm = plant(model, kind)
        arm.reset([0.4])
        for _ in range(100):
            arm.step([value], 1e-3)
        ends[kind] = arm.state.q[0]
    assert len({round(end, 12) for end in ends.values()}) == 1
    arm = plant(model, "voltage")
    arm.reset([0.4])
    last = np.zeros(1)
    for _ in range(100):
        speed = arm.read().motor_speed
        middle, last = 1.5 * speed - 0.5 * last, speed  # of the coming step
        arm.step(10 * torque * 0.5 + 0.1 * middle, 1e-3)
    assert arm.state.q[0] == pytest.approx(ends["torque"], abs=1e-4)


def test_a_step_of_voltage_gives_the_windings_current() -> None:
    """Blocked rotor: i = u/R (1 - exp(-t R/L)), whatever the step."""
    model = pendulum(joints={"j": {"friction": {"coulomb": 1e4}}}, gravity=(0, 0, 0))
    for step in (1e-4, 1e-3, 1e-2):
        arm = plant(model, "voltage", timestep=step)
        for _ in range(round(1e-2 / step)):
            arm.step([2.0], step)
        assert arm.read().current[0] == pytest.approx(4.0 * (1 - np.exp(-5.0)), rel=1e-9)


@pytest.mark.parametrize("engine", ["equations", "mujoco"])
def test_back_emf_limits_the_speed(engine: str) -> None:
    """u = k_e s without load, at steps longer than L/R as well."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    model = pendulum(motor={"inductance": 1e-5}, gravity=(0, 0, 0))
    free = Settings(end_stops=False)
    arm = S.Plant(model, command="voltage", engine=engine, settings=free)
    for _ in range(4000):
        arm.step([3.0], 1e-3)
    assert arm.read().motor_speed[0] == pytest.approx(30.0, rel=1e-3)


def test_limits_bind_and_are_reported() -> None:
    limits = {"limits": {"torque": 0.3, "voltage": 12.0}}
    arm = plant(pendulum(motor=limits, gravity=(0, 0, 0)))
    arm.step([5.0], 1e-3)
    assert arm.read().motor_torque[0] == pytest.approx(0.3)
    assert arm.read().limited[0]
    free = plant(pendulum(motor=limits, gravity=(0, 0, 0)), saturate=False)
    free.step([5.0], 1e-3)
    assert free.read().motor_torque[0] == pytest.approx(5.0)
    assert not free.read().limited[0]


def test_the_voltage_limits_the_speed_under_torque_commands() -> None:
    """Torque beyond what the voltage drives: the rotor ends at u / k_e."""
    arm = plant(pendulum(motor={"limits": {"voltage": 3.0}}, gravity=(0, 0, 0)))
    for _ in range(3000):
        arm.step([0.2], 1e-3)
    assert arm.read().motor_speed[0] == pytest.approx(30.0, rel=1e-2)


def test_encoders_show_whole_counts() -> None:
    arm = plant(encoder_counts=1000)
    arm.reset([0.3])
    for _ in range(50):
        arm.step([0.0], 1e-3)
        angle = arm.read().motor_angle[0]
        assert angle / (2 * np.pi / 1000) == pytest.approx(round(angle / (2 * np.pi / 1000)))
        assert abs(angle - 10 * arm.state.q[0]) <= np.pi / 1000 + 1e-12
    assert arm.read().joint_state(arm.model).q[0] == pytest.approx(angle / 10)
    speeds = set()
    for _ in range(5):
        arm.step([0.0], 1e-3)
        speeds.add(round(arm.read().motor_speed[0] / (2 * np.pi / 1000 / 1e-3), 9))
    assert all(speed == round(speed) for speed in speeds)


def test_noise_has_its_size_and_its_seed() -> None:
    def run(seed: int) -> np.ndarray:
        arm = plant(angle_noise=1e-3, speed_noise=0.1, current_noise=0.01, seed=seed)
        arm.reset([np.pi])
        rows = []
        for _ in range(400):
            arm.step([0.0], 1e-3)
            seen, true = arm.read(), arm.state
            rows.append(
                [seen.motor_angle[0] - 10 * true.q[0], seen.motor_speed[0], seen.current[0]]
            )
        return np.array(rows)

    first, again, other = run(3), run(3), run(4)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-4
    np.testing.assert_allclose(first.std(axis=0), [1e-3, 0.1, 0.01], rtol=0.15)


def test_reset_repeats_the_noise() -> None:
    arm = plant(angle_noise=1e-3, seed=7)
    runs = []
    for _ in range(2):
        arm.reset([0.2])
        arm.step([0.1], 1e-3)
        runs.append(arm.read().motor_angle[0])
    assert runs[0] == runs[1]


def test_latencies() -> None:
    """A command acts, and a measurement arrives, a latency later, to the moment."""
    arm = plant(pendulum(gravity=(0, 0, 0)), command_latency=2.5e-3, measurement_latency=4e-3)
    arm.step([0.5], 1e-3)
    for _ in range(9):
        arm.step([0.5], 1e-3)
        assert arm.read().time == pytest.approx(max(0.0, arm.time - 4e-3))
    assert arm.state.q[0] > 0.0
    free = plant(pendulum(gravity=(0, 0, 0)))
    for _ in range(15):
        free.step([0.5], 5e-4)
    assert arm.state.q[0] == pytest.approx(free.state.q[0], rel=1e-9)  # 10 ms - 2.5 ms


def test_a_frozen_encoder_and_its_thaw() -> None:
    model = example("brisk6")
    arm = plant(model)
    arm.reset(gd.State(np.full(6, 0.2), np.full(6, 0.5)))
    still = arm.read().motor_angle.copy()
    arm.faults = S.Faults().frozen("motor_3")
    for _ in range(20):
        arm.step(hold(model, arm.state.q), 1e-3)
    seen = arm.read()
    moved = seen.motor_angle != still
    assert moved.tolist() == [True, True, False, True, True, True]
    assert seen.motor_speed[2] == 0.0
    wrong = np.abs(seen.joint_state(model).q - arm.state.q) > 1e-6
    assert wrong.tolist() == [False, False, True, False, False, False]  # seen through the gears
    arm.faults = S.Faults()
    arm.step(hold(model, arm.state.q), 1e-3)
    np.testing.assert_allclose(arm.read().joint_state(arm.model).q, arm.state.q, atol=1e-12)


def test_a_weak_motor() -> None:
    for kind, value in (("torque", 1.0), ("voltage", 20.0)):
        arm = plant(pendulum(gravity=(0, 0, 0)), kind)
        arm.faults = S.Faults().saturated("motor", 0.05)
        for _ in range(30):
            arm.step([value], 1e-3)
        assert arm.read().motor_torque[0] == pytest.approx(0.05)
        assert arm.read().limited[0]


def test_lost_messages() -> None:
    arm = plant(pendulum(gravity=(0, 0, 0)))
    arm.step([0.5], 1e-3)
    arm.faults = S.Faults(drop_commands=1.0, drop_measurements=1.0)
    before = arm.read()
    for _ in range(10):
        arm.step([-0.5], 1e-3)
    assert arm.read() is before
    assert arm.state.v[0] > 0.0  # the last command that arrived goes on
    arm.faults = S.Faults(drop_measurements=0.5)
    times = set()
    for _ in range(100):
        arm.step([0.0], 1e-3)
        times.add(arm.read().time)
    assert 30 < len(times) < 70


def test_pause() -> None:
    arm = plant()
    arm.reset([0.5])
    arm.faults = S.Faults(paused=True)
    before, state = arm.time, arm.state
    arm.step([1.0], 1.0)
    assert arm.time == before
    np.testing.assert_array_equal(arm.state.q, state.q)
    arm.faults = S.Faults()
    arm.step([1.0], 1e-3)
    assert arm.time == pytest.approx(1e-3)


def test_stiction_holds_and_breaks_loose() -> None:
    """Static friction above Coulomb's: holds 0.9 of it, and slides on below it once moving."""
    law = {"coulomb": 0.1, "stribeck": {"static": 0.2, "speed": 0.05}}
    model = pendulum(joints={"j": {"friction": law}}, gravity=(0, 0, 0))
    arm = plant(model, "effort")
    for _ in range(100):
        arm.step([0.18], 1e-3)
    assert arm.state.v[0] == 0.0
    assert abs(arm.state.q[0]) < 1e-15
    for _ in range(500):
        arm.step([0.22], 1e-3)
    assert arm.state.v[0] > 0.2
    for _ in range(300):
        arm.step([0.15], 1e-3)
    assert arm.state.v[0] > 0.05


def test_friction_brakes_as_coulomb_says() -> None:
    """Constant deceleration c / M to a stop, at v^2 M / (2 c)."""
    model = pendulum(joints={"j": {"friction": {"coulomb": 0.1}}}, gravity=(0, 0, 0))
    arm = plant(model)
    arm.reset(gd.State([0.0], [0.3]))
    M = gd.mass_matrix(model, np.zeros(1))[0, 0]
    for _ in range(2000):
        arm.step([0.0], 1e-3)
    assert arm.state.v[0] == 0.0
    assert arm.state.q[0] == pytest.approx(0.3**2 * M / 0.2, rel=2e-3)


def test_directions_and_offset_of_friction() -> None:
    law = {"coulomb": [0.1, 0.3], "offset": 0.05}
    model = pendulum(joints={"j": {"friction": law}}, gravity=(0, 0, 0))
    for effort, moves in ((0.14, 0), (0.16, 1), (-0.24, 0), (-0.26, -1)):
        arm = plant(model, "effort")
        for _ in range(50):
            arm.step([effort], 1e-3)
        assert np.sign(arm.state.v[0]) == moves


def test_elastic_arms_move_as_simulate_elastic_says() -> None:
    pytest.importorskip("scipy")
    model = elbow(damping=3.0)
    q, v = np.array([0.3, -0.5, 0.8]), np.array([0.4, -0.3, 0.5])
    R = model.elasticity.rigid
    torque = np.array([0.05, 0.3, 0.1])
    run = S.simulate_elastic(
        model, gd.State(q, v, R @ q, R @ v), [0.0, 0.05], torque=torque, rtol=1e-9
    )
    arm = plant(model, friction=False)
    arm.reset(gd.State(q, v))
    for _ in range(50):
        arm.step(torque, 1e-3)
    np.testing.assert_allclose(arm.state.q, run.end.q, atol=1e-6)
    np.testing.assert_allclose(arm.state.theta, run.end.theta, atol=1e-6)
    shown = model.structure_matrix.T @ arm.read().joint_state(arm.model).q
    np.testing.assert_allclose(
        shown,
        gd.elastic.motor_angles(model, gd.State(run.end.q, run.end.v, run.end.theta)),
        atol=1e-4,
    )


def test_energy_is_kept_without_friction_and_motors() -> None:
    model = example("brisk6")
    arm = plant(model, friction=False)
    arm.reset(gd.State(np.full(6, 0.3), np.full(6, 0.2)))

    def energy() -> float:
        q, v = arm.state.q, arm.state.v
        return float(gd.kinetic_energy(model, q, v) + gd.potential_energy(model, q))

    before = energy()
    for _ in range(300):
        arm.step(np.zeros(6), 1e-3)
    assert energy() == pytest.approx(before, abs=1e-4)
