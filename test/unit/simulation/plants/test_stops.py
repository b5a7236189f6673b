"""End stops of both plants: inside the limits, at rest against them, and no energy from them."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import balancers
from driven_arms import driven_arm
from elastic_arms import elbow
from geared_dynamics.description.drive_records import FrictionRecord
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from geared_dynamics.simulation.motor_stage import stops_of
from motor_data import with_motors
from plant_arms import example, pendulum

S = gd.simulation
PERIOD = 1e-3
LOW, HIGH = -0.5, 0.7  # of the pendulum
# What MuJoCo's stops give way at the speeds of these tests: they are stiff, not rigid.
SOFT = {"equations": 1e-3, "mujoco": 0.05}
RECENT = 60  # steps of a contact: what MuJoCo's stops store, they give back within it
ENGINES = ("equations", "mujoco")
MIMIC = """<robot name="r"><link name="base"/>
  <link name="one"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="two"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="three"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="b" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
    <limit lower="-0.3" upper="0.9" effort="1" velocity="1"/>
    <mimic joint="a" multiplier="-2" offset="0.1"/></joint>
  <joint name="c" type="continuous"><parent link="two"/><child link="three"/><axis xyz="0 0 1"/>
    <limit effort="1" velocity="1"/></joint>
</robot>"""  # noqa: E501


def swinging(engine: str, **settings: object) -> S.Plant:
    """A pendulum with end stops, upside down: gravity pulls it to q = 0."""
    model = pendulum(limits=(LOW, HIGH), gravity=(0.0, 0.0, 9.81))
    chosen = S.PlantSettings(**{"friction": False, "saturate": False, **settings})  # type: ignore[arg-type]
    return S.Plant(model, command="torque", engine=engine, settings=chosen)  # type: ignore[arg-type]


def energy(arm: S.Plant) -> float:
    """Kinetic and potential energy [J], springs included."""
    model, state = arm.model, arm.state
    if not model.elasticity.count:
        return float(
            gd.kinetic_energy(model, state.q, state.v) + gd.potential_energy(model, state.q)
        )
    moving = gd.elastic.kinetic_energy(model, gd.State(state.q, state.v, vtheta=state.vtheta))
    return float(
        moving + gd.elastic.potential_energy(model, gd.State(state.q, state.v, state.theta))
    )


def limits(model: gd.GearedModel) -> np.ndarray:
    """Lower and upper limits (2, n)."""
    by_name = {joint.name: joint.limit for joint in model.records.robot.joints}
    found = [by_name[name] for name in model.joint_names]
    return np.array([[limit.lower, limit.upper] for limit in found]).T  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["elbow", "brisk6"])
def test_an_arm_thrown_against_its_stops_gains_no_energy(engine: str, name: str) -> None:
    """Random throws without drives and friction: only the stops can change the energy."""
    model = example(name)
    low, high = limits(model)
    chosen = S.PlantSettings(friction=False, saturate=False)
    arm = S.Plant(model, command="torque", engine=engine, settings=chosen)  # type: ignore[arg-type]
    random, idle, lost = np.random.default_rng(3), np.zeros(len(model.motor_names)), 0.0
    for _ in range(2):
        q = low + (high - low) * random.uniform(0.1, 0.9, model.n)
        arm.reset(gd.State(q, 3.0 * random.normal(size=model.n)))
        history = [energy(arm)]
        for _ in range(700):
            arm.step(idle, PERIOD)
            history.append(energy(arm))
            now = arm.state.q
            assert np.all((low - SOFT[engine] <= now) & (now <= high + SOFT[engine]))
            assert history[-1] <= max(history[-RECENT - 1 : -1]) + 1e-4
        lost += history[0] - history[-1]
    assert lost > 1.0  # it did reach them


def test_an_elastic_arm_gains_no_energy() -> None:
    model = elbow()
    low, high = limits(model)
    chosen = S.PlantSettings(friction=False, saturate=False)
    arm = S.Plant(model, command="torque", engine="equations", settings=chosen)
    arm.reset(gd.State(0.5 * (low + high), 0.9 * (high - low) / 0.3))
    history = [energy(arm)]
    for _ in range(300):
        arm.step(np.zeros(len(model.motor_names)), PERIOD)
        history.append(energy(arm))
        assert np.all((low - 1e-3 <= arm.state.q) & (arm.state.q <= high + 1e-3))
        # Springs and dampers take energy too, and give none.
        assert history[-1] <= history[-2] + 1e-6 * history[0]


@pytest.mark.parametrize("name", ["rigid", "elastic", "with balancers"])
def test_the_error_of_a_step_at_a_stop_drives_nothing(name: str) -> None:
    """What is too much is taken from the motion, which keeps its direction; no less is left."""
    model = elbow() if name == "elastic" else driven_arm(3, 3)
    if name == "with balancers":
        model = driven_arm(3, 3, balancers=balancers(model))
    model = with_motors(model, rotor=FrictionRecord(), joint=FrictionRecord())
    arm, random = EquationsMechanism(model, PERIOD), np.random.default_rng(4)
    x, rate = random.normal(size=(2, model.n + model.elasticity.count))
    q, theta = np.split(x, [model.n])
    v, vtheta = np.split(rate, [model.n])
    if model.elasticity.count:
        state = gd.State(q, v, theta, vtheta)
        kinetic = gd.elastic.kinetic_energy(model, state)
        potential = gd.elastic.potential_energy(model, state)
    else:
        kinetic, potential = gd.kinetic_energy(model, q, v), gd.potential_energy(model, q)
        if model.balancers.names:
            potential = potential + gd.balancer_energy(model, q)
    np.testing.assert_allclose(arm._energy(x, rate), (kinetic, kinetic + potential), rtol=1e-12)
    for share, left in ((-0.1, 1.0), (0.0, 1.0), (0.75, 0.5), (1.5, 0.0)):
        slower = arm._tamed(x, rate, float(potential + (1.0 - share) * kinetic))
        np.testing.assert_allclose(slower, left * rate, atol=1e-7 * np.abs(rate).max())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("friction", [True, False])
def test_it_rests_against_a_stop_and_leaves_it(engine: str, friction: bool) -> None:
    arm = swinging(engine, friction=friction)
    for torque, stop in ((0.5, HIGH), (-0.5, LOW)):
        for _ in range(1500):
            arm.step([torque], PERIOD)
        assert arm.state.q[0] == pytest.approx(stop, abs=2e-4)
        assert abs(arm.state.v[0]) < 1e-6  # type: ignore[index]
    for _ in range(200):
        arm.step([0.0], PERIOD)
    assert arm.state.q[0] > LOW + 0.05


@pytest.mark.parametrize("engine", ENGINES)
def test_without_stops_it_turns_on(engine: str) -> None:
    arm = swinging(engine, end_stops=False)
    for _ in range(1500):
        arm.step([0.5], PERIOD)
    assert arm.state.q[0] > 3.0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_start_beyond_a_limit_is_no_jump(engine: str) -> None:
    """The arm stays where it was put, whatever pushes it out, and can come back."""
    arm = swinging(engine)
    arm.reset([1.0])
    for _ in range(1000):
        arm.step([0.5], PERIOD)
    assert arm.state.q[0] == pytest.approx(1.0, abs=2e-4)
    for _ in range(300):
        arm.step([0.0], PERIOD)
    assert arm.state.q[0] < 0.9


def test_the_free_motion_is_the_same_to_the_last_digit() -> None:
    found = []
    for stops in (True, False):
        arm = swinging("equations", end_stops=stops)
        arm.reset([0.3])
        for _ in range(300):
            arm.step([0.0], PERIOD)
        found.append(arm.state.q[0])
    assert found[0] == found[1]


def test_limits_of_mimic_joints_count_and_continuous_joints_have_none() -> None:
    """b = 0.1 - 2 a within -0.3 and 0.9 leaves a between -0.4 and 0.2, inside of its own."""
    model = gd.load_model(MIMIC)
    stops = stops_of(model)
    assert stops.rows.shape == (4, 2)
    assert not stops.rows[:, list(model.joint_names).index("c")].any()
    for a, inside in ((-0.39, True), (0.19, True), (-0.41, False), (0.21, False)):
        q = np.array([a if name == "a" else 99.0 for name in model.joint_names])
        assert (stops.gap(q) >= 0.0).all() == inside
        assert (stops.beyond(q).size == 0) == inside
