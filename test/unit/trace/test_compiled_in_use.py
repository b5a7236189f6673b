"""What uses models uses compiled ones: controllers, plants, analysis, identification, commands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.compare import analyze
from geared_dynamics.analysis.identification import identify
from geared_dynamics.dynamics.state import State
from geared_dynamics.recordings.recording import recording_from_arrays
from geared_dynamics.trace import batches, compiled
from geared_dynamics.trace.compiled import CompiledModel, attempt
from plant_arms import example
from recorded_motions import elbow, motion
from traced_arms import difference

FREE = ("feedforward", "gravity_compensation")
SAME = 1e-12


@pytest.fixture(scope="module")
def arms() -> tuple[gd.GearedModel, gd.GearedModel]:
    """brisk6, and the same compiled."""
    model = example("brisk6")
    return model, gd.compiled(model)


@pytest.mark.parametrize(
    "command", ["joint_torque", "motor_torque", "motor_current", "motor_voltage"]
)
@pytest.mark.parametrize("law", [*FREE, "computed_torque"])
def test_controllers_send_the_same(
    arms: tuple[gd.GearedModel, gd.GearedModel], law: str, command: Any
) -> None:
    gains = None if law in FREE else gd.control.gains_from_bandwidth(10.0)
    rng = np.random.default_rng(0)
    makers = [gd.control.controller(m, law, gains=gains, command_type=command) for m in arms]
    for _ in range(20):
        q, v, a, q_d, v_d, jerk = 0.3 * rng.normal(size=(6, arms[0].n))
        reference = gd.control.Reference(q_d, v_d, a, jerk)
        sent = [made.step(made.start(), State(q, v), reference, 1e-3)[1] for made in makers]
        assert difference(sent[1].command, sent[0].command) <= SAME


def test_plants_move_the_same(arms: tuple[gd.GearedModel, gd.GearedModel]) -> None:
    plants = [gd.simulation.Plant(m, command="joint_torque", engine="equations") for m in arms]
    tau = gd.gravity_forces(arms[0], np.zeros(arms[0].n)) + 50.0
    for _ in range(50):
        for plant in plants:
            plant.step(tau, 1e-3)
    for name in ("q", "v"):
        plain, fast = (getattr(plant.state, name) for plant in plants)
        assert np.abs(plain).max() > 1e-4
        assert difference(fast, plain) <= SAME
    plants[1].attach_payload(1.0)
    assert isinstance(plants[1].model, CompiledModel)


def test_contact_is_simulated_the_same() -> None:
    model = elbow()
    fast = gd.compiled(model)
    away = gd.contact.Surface(model.tips[0], (0.0, 0.0, -5.0), (0.0, 0.0, 1.0))
    times = np.linspace(0.0, 0.1, 5)
    runs = [gd.contact.simulate(m, away, np.zeros(3), np.ones(3), times) for m in (model, fast)]
    assert difference(runs[1].q, runs[0].q) <= 1e-9  # of an adaptive step, rtol 1e-9


@pytest.fixture(scope="module")
def recorded() -> tuple[gd.GearedModel, Any]:
    """An arm, and a recording of its motion."""
    pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
    model = elbow()
    t, q, v, a = motion(30.0, 200.0)
    noise = np.random.default_rng(0).normal(size=q.shape)
    return model, recording_from_arrays(t, q, gd.inverse_dynamics(model, q, v, a) + noise, v)


def test_analyses_find_the_same(
    recorded: tuple[gd.GearedModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, recording = recorded
    names = ["torque_terms", "inverse_dynamics"]
    fast = gd.compiled(model, names, batches=True)
    assert fast.with_coupling("complete") is fast
    expected = analyze(model, recording, bandwidth_hz=20.0)
    run = []
    part = batches.Batch._part
    monkeypatch.setattr(batches.Batch, "_part", lambda *x: run.append(1) or part(*x))
    found = analyze(fast, recording, bandwidth_hz=20.0)
    assert run
    assert difference(found.drawn, expected.drawn) <= SAME


def test_identification_finds_the_same(
    recorded: tuple[gd.GearedModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, recording = recorded
    fast = gd.compiled(model, ["regressor"], batches=True)
    expected = identify(model, [recording], physical=False)
    run = []
    part = batches.Batch._part
    monkeypatch.setattr(batches.Batch, "_part", lambda *x: run.append(1) or part(*x))
    found = identify(fast, [recording], physical=False)
    assert run
    # Parameters follow from equations of a condition that multiplies the last digits.
    assert difference(found.x, expected.x) <= 1e-9


# -- where it fails -------------------------------------------------------------------------------


def test_an_attempt_says_what_was_compiled_and_how_long_it_took() -> None:
    model = elbow()
    found = attempt(model, ["mass_matrix", "gravity_forces"])
    assert found.done
    assert isinstance(found.model, CompiledModel)
    assert found.line.startswith("compiled mass_matrix, gravity_forces in 0.")
    assert found.line.endswith(" s")


def failing(*_arguments: Any, **_named: Any) -> Any:
    """Stand for a compiler that has a defect."""
    raise RuntimeError("no code for this processor")


def test_what_cannot_be_compiled_is_left_to_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    model = elbow()
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "one_state", failing)
        patch.setattr(compiled, "there", lambda _key: None)
        patch.setattr(compiled, "made", lambda _key, make: make())
        found = attempt(model, ["mass_matrix"])
    assert found == (
        model,
        "not compiled, the kernels answer: no code for this processor",
        False,
    )
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "fault", lambda: "this Python has other objects")
        found = attempt(model)
    assert found.model is model
    assert "the kernels answer: compiled: 'elbow' stays as it is" in found.line
    assert "this Python has other objects" in found.line


def test_what_is_too_large_is_told_beside_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "LARGEST", 10)
    monkeypatch.setattr(compiled, "there", lambda _key: None)
    found = attempt(elbow(), ["mass_matrix"])
    assert not found.done
    assert "mass_matrix of 'elbow' take more than 10 operations" in found.line


class Log:
    """What a node logged, by severity."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def info(self, text: str) -> None:
        self.lines.append(("info", text))

    def warning(self, text: str) -> None:
        self.lines.append(("warning", text))


def test_nodes_log_what_became_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rclpy", reason="needs ROS 2")
    from geared_dynamics.ros.lifecycle_node import compiled_model

    model, log = elbow(), Log()
    node = SimpleNamespace(get_logger=lambda: log)
    assert isinstance(compiled_model(node, model), CompiledModel)
    monkeypatch.setattr(compiled, "compiled", failing)
    assert compiled_model(node, model) is model
    (first, told), refused = log.lines
    assert first == "info"
    assert told.startswith("compiled inverse_dynamics, mass_matrix, ")
    text = "not compiled, the kernels answer: no code for this processor"
    assert refused == ("warning", text)
