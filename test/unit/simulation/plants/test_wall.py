"""The wall of the plants: our engine and MuJoCo's contact against the contact's own equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import ArrayError, GearedDynamicsError, ModelError
from geared_dynamics.runtime import plant_node_settings
from geared_dynamics.runtime.plant_node_settings import PlantParameters
from node_values import parameters
from plant_arms import example

Q = np.array([0.3, -0.6, 1.2, 0.2, 0.8, 0.1])
NORMAL = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
SIDE = np.array([0.1, 1.0, 0.0])
SIDE = (SIDE - (SIDE @ NORMAL) * NORMAL) / np.linalg.norm(SIDE - (SIDE @ NORMAL) * NORMAL)
DT = 1e-3


@pytest.fixture(scope="module")
def arm() -> gd.GearedModel:
    return example("brisk6")


@pytest.fixture(params=["equations", "mujoco"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mujoco":
        pytest.importorskip("mujoco")
    return str(request.param)


def tool(model: gd.GearedModel, q: np.ndarray) -> np.ndarray:
    return gd.pose(model, q, "tool")[:3, 3]


def walled(
    model: gd.GearedModel, engine: Any, gap: float = 0.0, step: float | None = None, **changes: Any
) -> Any:
    """A plant without friction in its joints, at rest at Q, ``gap`` above the wall."""
    surface = gd.contact.Surface("tool", tool(model, Q) - gap * NORMAL, NORMAL)
    wall = gd.simulation.Wall(surface, **changes)
    settings = gd.simulation.PlantSettings(timestep=step, wall=wall, friction=False)
    plant = gd.simulation.Plant(model, command="effort", engine=engine, settings=settings)
    plant.reset(Q)
    return plant


def press(plant: Any, force: np.ndarray, steps: int, damping: float = 20.0) -> np.ndarray:
    """Push the tool with a force for a time; what the wall gives at each step (steps, 3)."""
    found = []
    for _ in range(steps):
        state = plant.state
        J = gd.jacobian(plant.model, state.q, "tool")[:3]
        tau = gd.gravity_forces(plant.model, state.q) + J.T @ force
        plant.step(tau - damping * np.array([1, 1, 1, 0.2, 0.2, 0.02]) * state.v, DT)
        found.append(plant.touch)
    return np.array(found)


def test_it_carries_what_presses_on_it(arm: gd.GearedModel, engine: str) -> None:
    """At rest F is what presses, k deep, and what sticks creeps by less than 20 um/s."""
    plant = walled(arm, engine, 1e-3, stiffness=1e5, damping=500.0, friction=0.3)
    force = press(plant, -20.0 * NORMAL + 4.0 * SIDE, 1000)
    np.testing.assert_allclose(force[-1], 20.0 * NORMAL - 4.0 * SIDE, atol=0.02)
    depth = 1e-3 - NORMAL @ (tool(arm, plant.state.q) - tool(arm, Q))
    assert depth == pytest.approx(1e-3 + 1e-3 + 20.0 / 1e5, abs=2e-6)
    before = tool(arm, plant.state.q)
    press(plant, -20.0 * NORMAL + 4.0 * SIDE, 200)
    assert np.linalg.norm(tool(arm, plant.state.q) - before) < 0.2 * 20e-6


def test_what_slides_is_held_back_by_mu_times_the_force(arm: gd.GearedModel, engine: str) -> None:
    plant = walled(arm, engine, stiffness=1e5, damping=500.0, friction=0.3)
    force = press(plant, -20.0 * NORMAL + 15.0 * SIDE, 300)[-1]
    state = plant.state
    rate = gd.jacobian(arm, state.q, "tool")[:3] @ state.v
    rate -= (rate @ NORMAL) * NORMAL
    assert np.linalg.norm(rate) > 0.01
    along = force - (force @ NORMAL) * NORMAL
    np.testing.assert_allclose(
        along, -0.3 * (force @ NORMAL) * rate / np.linalg.norm(rate), atol=0.01
    )


def test_it_bounces_as_the_support_of_the_contact_equations(
    arm: gd.GearedModel, engine: str
) -> None:
    """``contact.simulate`` integrates the same support with step control and events."""
    q, v = Q, np.linalg.lstsq(gd.jacobian(arm, Q, "tool")[:3], -0.2 * NORMAL, rcond=None)[0]
    plant = walled(arm, engine, 1e-3, 1e-4, stiffness=2e4, damping=20.0)
    plant.reset(gd.State(q, v))
    support = gd.contact.Environment(plant.settings.wall.surface, 2e4, damping=20.0)
    tau = gd.gravity_forces(arm, Q)
    run = gd.contact.simulate(arm, support, q, v, [0.0, 0.05], tau, rtol=1e-8, atol=1e-10)
    deepest = 0.0
    for _ in range(50):
        plant.step(tau, DT)
        deepest = max(deepest, float(plant.touch @ NORMAL))
    assert deepest > 10.0
    assert not plant.touch.any()  # it has left
    np.testing.assert_allclose(plant.state.q, run.q[-1], atol=2e-5)
    np.testing.assert_allclose(plant.state.v, run.v[-1], atol=2e-3)
    assert np.abs(run.v[-1] - v).max() > 0.1


def test_both_engines_slide_alike(arm: gd.GearedModel) -> None:
    pytest.importorskip("mujoco")
    ends = []
    for engine in ("equations", "mujoco"):
        plant = walled(arm, engine, stiffness=1e5, damping=500.0, friction=0.3)
        press(plant, -20.0 * NORMAL + 15.0 * SIDE, 300)
        ends.append(tool(arm, plant.state.q))
    assert np.linalg.norm(ends[0] - tool(arm, Q)) > 5e-3
    np.testing.assert_allclose(ends[0], ends[1], atol=5e-5)


def test_a_wall_can_be_taken_away(arm: gd.GearedModel, engine: str) -> None:
    plant = walled(arm, engine)
    press(plant, -20.0 * NORMAL, 200)
    plant.walled = False
    force = press(plant, -20.0 * NORMAL, 200)
    assert not force[1:].any()
    assert NORMAL @ (tool(arm, plant.state.q) - tool(arm, Q)) < -5e-3
    plant.attach_payload(1.0, link="tool")  # builds its bodies again
    assert not plant.walled
    free = gd.simulation.Plant(arm, command="effort", engine="equations")
    with pytest.raises(ArrayError, match=r"wall: does not exist in this plant; build the plant"):
        free.walled = True


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stiffness": -1.0}, r"wall\.stiffness: is -1; give a finite number of zero or more"),
        ({"stiffness": 0.0}, r"wall\.stiffness: is 0; give 1 to 1e\+08 N/m"),
        ({"damping": float("nan")}, r"wall\.damping: is nan"),
        ({"friction": -0.1}, r"wall\.friction: is -0\.1"),
        ({"surface": "floor"}, r"wall\.surface: is 'floor'; give a gd\.contact\.Surface"),
    ],
)
def test_a_wall_that_there_cannot_be(changes: dict[str, Any], words: str) -> None:
    surface = gd.contact.Surface("tool", (0, 0, 0), (0, 0, 1))
    with pytest.raises(ArrayError, match=words):
        gd.simulation.Wall(**{"surface": surface} | changes)


def test_a_wall_that_moves_or_pulls_is_refused() -> None:
    for options in ({"bilateral": True}, {"velocity": (0, 0, 1)}):
        surface = gd.contact.Surface("tool", (0, 0, 0), (0, 0, 1), **options)
        with pytest.raises(ArrayError, match="only pushes and stands still; leave out bilateral"):
            gd.simulation.Wall(surface)


def test_a_step_that_the_wall_makes_unstable_is_refused(arm: gd.GearedModel) -> None:
    surface = gd.contact.Surface("tool", (0, 0, 0), (0, 0, 1))
    settings = gd.simulation.PlantSettings(timestep=1e-3, wall=gd.simulation.Wall(surface, 1e7))
    with pytest.raises(ModelError, match=r"timestep: of 0\.001 s is not stable .* and wall"):
        gd.simulation.Plant(arm, command="effort", engine="equations", settings=settings)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wall__frame": "tol"}, r"wall\.frame: .*'tol'.*tool"),
        ({"wall__frame": "rotor_1"}, r"wall\.frame: 'rotor_1' is a wheel; name the link"),
        ({"wall__normal": [0.0] * 3}, r"wall\.normal: is zero; give a vector"),
        ({"wall__point": [0.0, 1.0]}, r"wall\.point: has shape \(2,\); give three numbers"),
        ({"wall__point": [0.0, 1.0, float("nan")]}, r"wall\.point: contains NaN or infinity"),
    ],
)
def test_parameters_of_the_plant_node(
    arm: gd.GearedModel, given: dict[str, Any], words: str
) -> None:
    values = {"engine": "equations", "wall__frame": "tool"} | given
    with pytest.raises(GearedDynamicsError, match=words):
        plant_node_settings.plant_of(parameters(PlantParameters, arm, **values), arm)


def test_the_plant_node_has_the_wall_of_its_parameters(arm: gd.GearedModel) -> None:
    values = {"engine": "equations", "wall__frame": "tool", "wall__point": [0.1, 0.2, 0.3],
              "wall__normal": [0.0, 0.0, 2.0], "wall__friction": 0.4}  # fmt: skip
    plant, _ = plant_node_settings.plant_of(parameters(PlantParameters, arm, **values), arm)
    wall = plant.settings.wall
    assert wall is not None
    assert (wall.surface.frame, wall.stiffness, wall.friction) == ("tool", 1e5, 0.4)
    np.testing.assert_allclose(wall.surface.e3, [0.0, 0.0, 1.0])
    bare = plant_node_settings.plant_of(parameters(PlantParameters, arm, engine="equations"), arm)
    assert bare[0].settings.wall is None


@pytest.mark.parametrize("damping", [1e8, 1e300])
def test_a_wall_that_takes_for_ever_is_refused(arm: gd.GearedModel, damping: float) -> None:
    surface = gd.contact.Surface("tool", (0, 0, 0), (0, 0, 1))
    wall = gd.simulation.Wall(surface, damping=damping)
    settings = gd.simulation.PlantSettings(wall=wall)
    with pytest.raises(ArrayError, match=r"wall\.damping: requires steps of .* smaller number"):
        gd.simulation.Plant(arm, command="effort", engine="equations", settings=settings)
