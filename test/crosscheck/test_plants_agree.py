"""Both plants, with motors and friction: the same motion, and not that of the armature model."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from naive.measure import holds
from plant_arms import example, hold
from simulated_arms import arm

pytest.importorskip("mujoco")
S = gd.simulation

START = np.array([0.0, 0.6, 0.9, 0.3, 0.5, 0.2])
RATE = np.array([0.5, -0.4, 0.6, 1.0, -1.0, 2.0])
BEAT = 2 * np.pi * np.array([1.0, 1.3, 0.7, 1.7, 2.0, 2.3])
SWING = {"voltage": [6.0, 6.0, 6.0, 4.0, 4.0, 4.0], "torque": [0.8, 0.8, 0.8, 0.1, 0.1, 0.1]}
# Largest difference of a joint over 1 s [rad]: friction's reversals are met to a step; without
# the back-EMF, which brakes, such differences grow.
CLOSE = {"voltage": 1e-3, "torque": 1e-2}


def run(
    model: gd.GearedModel, kind: str, engine: str, samples: int = 1000, **settings: object
) -> np.ndarray:
    """Joint positions at every ms."""
    free = S.PlantSettings(end_stops=False, **settings)  # MuJoCo's stops give way, ours do not
    plant = S.Plant(model, command=kind, engine=engine, settings=free)
    plant.reset(gd.State(START, RATE))
    base = hold(model, START)
    if kind == "voltage":
        base = base * model.motors.resistance / model.motors.torque_constant
    path = []
    for k in range(samples):
        plant.step(base + SWING[kind] * np.sin(1e-3 * k * BEAT), 1e-3)
        path.append(plant.state.q)
    return np.array(path)


@pytest.mark.parametrize("kind", ["voltage", "torque"])
def test_engines_agree_and_the_armature_model_does_not(kind: str) -> None:
    model = example("brisk6")
    bodies = run(model, kind, "mujoco")
    own = run(model, kind, "equations")
    armature = run(model.with_coupling("diagonal"), kind, "equations")
    apart, off = np.abs(own - bodies).max(), np.abs(armature - bodies).max()
    print(f"\nfigure: brisk6, {kind}, 1 s: engines {apart:.1e} rad, armature {off:.1e} rad apart")
    assert np.ptp(bodies, axis=0).min() > 0.1
    assert holds(f"plants with friction, {kind}", apart, CLOSE[kind])
    assert off > 20.0 * CLOSE[kind]


def test_without_friction_they_agree_to_the_integrators_error() -> None:
    """Of second order in the step: that of the windings."""
    model = example("brisk6")
    exact = run(model, "voltage", "equations", friction=False, timestep=1e-4)
    errors = []
    for step in (1e-3, 5e-4):
        own = run(model, "voltage", "equations", friction=False, timestep=step)
        bodies = run(model, "voltage", "mujoco", friction=False, timestep=step)
        assert np.abs(own - bodies).max() < 3e-6
        errors.append(np.abs(own - exact).max())
    assert errors[0] < 2e-4
    assert errors[0] > 3.0 * errors[1]


@pytest.mark.parametrize(("step", "close"), [(2.5e-4, 5e-4), (1e-4, 1e-4)])
def test_as_driven_step(step: float, close: float) -> None:
    """The room named actuation steps the same arm with another scheme; friction that reverses
    makes both of first order."""
    model = example("brisk6")
    path = run(model, "voltage", "equations", samples=30, timestep=step)
    state = gd.State(START, RATE, current=np.zeros(6))
    base = hold(model, START) * model.motors.resistance / model.motors.torque_constant
    found = []
    for k in range(30):
        voltage = base + SWING["voltage"] * np.sin(1e-3 * k * BEAT)
        for _ in range(round(1e-3 / step)):
            state = gd.driven_step(model, state, voltage, step, mode="exact")
        found.append(state.q)
    assert np.abs(np.array(found) - path).max() < close


@pytest.mark.parametrize(
    ("options", "close"),
    [
        ({}, 1e-12),  # no tie, no friction: the same equations in the same scheme
        ({"elastic": (2,)}, 1e-6),
        ({"friction": True}, 2e-4),
        ({"friction": True, "backlash": 2e-3}, 5e-4),
    ],
)
def test_elastic_arms(options: dict[str, object], close: float) -> None:
    """Springs on all joints or one, driven by voltages, with play and friction."""
    model = arm(**options)
    ends = []
    for engine in ("mujoco", "equations"):
        plant = S.Plant(model, command="voltage", engine=engine)
        plant.reset(gd.State([0.3, -0.5, 0.8], [0.4, -0.3, 0.5]))
        for k in range(400):
            plant.step(np.array([2.0, 6.0, 3.0]) * np.sin(0.02 * k), 1e-3)
        ends.append(np.concatenate([plant.state.q, plant.state.theta]))
    assert np.abs(ends[1][:3] - [0.3, -0.5, 0.8]).max() > 0.1
    assert np.abs(ends[0] - ends[1]).max() < close


def test_balancers() -> None:
    """Forces of springs between links, held over a step in MuJoCo's plant."""
    balancers = {"coil": {"joint": "joint_2", "torsion": {"stiffness": 30.0, "rest": 0.2}}}
    ends = []
    for engine, extra in (("mujoco", balancers), ("equations", balancers), ("equations", None)):
        plant = S.Plant(arm(balancers=extra), command="voltage", engine=engine)
        plant.reset([0.3, -0.5, 0.8])
        for _ in range(200):
            plant.step(np.zeros(3), 1e-3)
        ends.append(plant.state.q)
    assert np.abs(ends[0] - ends[1]).max() < 1e-3
    assert np.abs(ends[1] - ends[2]).max() > 1e-2


@pytest.mark.parametrize(("engine", "creep"), [("mujoco", 2e-5), ("equations", 1e-9)])
def test_friction_holds_what_it_can(engine: str, creep: float) -> None:
    """Loads below breakaway: the arm settles and stays; a load above moves it."""
    model = example("brisk6")
    plant = S.Plant(model, command="torque", engine=engine)
    plant.reset(START)
    load = np.array([0.05, 0.05, 0.05, 0.01, 0.01, 0.01])
    for _ in range(200):
        plant.step(hold(model, START) + load, 1e-3)
    before = plant.state.q
    for _ in range(500):
        plant.step(hold(model, START) + load, 1e-3)
    assert np.abs(plant.state.q - before).max() < 0.5 * creep
    assert np.abs(before - START).max() < 1e-4
    for _ in range(100):
        plant.step(hold(model, START) + 10.0 * load, 1e-3)
    assert np.abs(plant.state.q - before).max() > 1e-3


@pytest.mark.parametrize("engine", ["mujoco", "equations"])
def test_a_load_changes_the_motion_from_then_on(engine: str) -> None:
    model = example("brisk6")
    plant = S.Plant(model, command="torque", engine=engine)
    plant.reset(START)
    before = plant.state
    plant.attach_payload(2.0, (0.0, 0.0, 0.05), link="link_6")
    assert np.abs(plant.state.q - before.q).max() < 1e-12
    for _ in range(100):
        plant.step(hold(model, START), 1e-3)
    assert np.abs(plant.state.q - START).max() > 0.01
    plant.reset(START)
    plant.attach_payload(1.0, (0.0, 0.0, 0.02), link="link_5")
    plant.attach_payload(2.0, (0.0, 0.0, 0.05), link="link_6")  # in its place
    loaded = model.with_payload(2.0, (0.0, 0.0, 0.05), link="link_6")
    for _ in range(100):
        plant.step(hold(loaded, START), 1e-3)
    assert np.abs(plant.state.q - START).max() < 1e-4
    with pytest.warns(DeprecationWarning, match="attach_payload"):
        plant.load(0.0, link="link_6")
    np.testing.assert_array_equal(plant.model.tree.parameters, model.tree.parameters)
