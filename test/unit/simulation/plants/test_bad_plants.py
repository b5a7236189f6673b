"""What plants refuse, and what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import contact_arms
import geared_dynamics as gd
from elastic_arms import elbow
from plant_arms import URDF, example, pendulum

S = gd.simulation


def make(model: object = None, command: object = "torque", engine: object = "equations", **more):
    """A plant."""
    model = pendulum() if model is None else model
    return S.Plant(model, command=command, engine=engine, settings=S.PlantSettings(**more))


def stepped(command: object, duration: object = 1e-3, kind: str = "torque") -> None:
    make(command=kind).step(command, duration)


def faulty(**faults: object) -> None:
    make().faults = S.Faults(**faults)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no motors": (
        lambda: make(gd.load_model(URDF / "elbow.urdf")),
        "motors: the section is missing.*drivetrain file",
    ),
    "torque for voltage": (
        lambda: stepped(S.Command("torque", [1.0]), kind="voltage"),
        "'motor_torque'.*takes 'motor_voltage'.*command='motor_torque'",
    ),
    "unknown kind": (lambda: make(command="power"), "no command type 'power'.*joint_torque"),
    "unknown engine": (lambda: make(engine="bullet"), "no engine 'bullet'.*mujoco"),
    "no constants": (lambda: make(example("elbow"), "voltage"), "resistance: is not given"),
    "no torque constant": (lambda: make(example("elbow"), "current"), "torque_constant: is not"),
    "losses": (
        lambda: make(pendulum(motor={"efficiency": {"driving": 0.8}})),
        "efficiency.*coulomb friction",
    ),
    "unstable step": (
        lambda: make(elbow(), timestep=0.05),
        r"timestep: of 0.05 s is not stable.*at most 0\.00",
    ),
    "a step of no length": (lambda: make(timestep=0.0), "timestep: is 0"),
    "numbers": (lambda: stepped([1.0, 2.0]), "command"),
    "too large": (lambda: stepped([1e150]), "command: contains the number 1e"),
    "NaN": (lambda: stepped([np.nan]), "command.*NaN"),
    "a batch": (lambda: stepped([[1.0]]), "command"),
    "time backwards": (lambda: stepped([0.0], -1.0), "dt: is -1"),
    "no number": (lambda: stepped([0.0], "soon"), "dt: is 'soon'"),
    "counts": (lambda: make(encoder_counts=0), "encoder_counts: is 0"),
    "noise": (lambda: make(angle_noise=-1.0), "angle_noise: is -1"),
    "infinite noise": (lambda: make(angle_noise=np.inf), "angle_noise: is inf"),
    "more than any float": (lambda: make(angle_noise=-(10**400)), "angle_noise: is -1000"),
    "an integer without end": (lambda: make(timestep=10**5000), "timestep.*cannot be written"),
    "latency": (lambda: make(command_latency=60.0), "command_latency: is 60"),
    "seed": (lambda: make(seed=0.5), "seed: is 0.5"),
    "a flag": (lambda: make(friction="no"), "friction: is 'no'"),
    "another motor": (lambda: faulty(frozen_encoders={"motr"}), "no motor 'motr'.*did you mean"),
    "a text": (lambda: faulty(frozen_encoders="motor"), "is the text 'motor'"),
    "no names": (lambda: faulty(frozen_encoders=3), "frozen_encoders: is 3"),
    "nameless": (lambda: faulty(frozen_encoders=[3]), "frozen_encoders: is"),
    "limits": (lambda: faulty(torque_limits=[1.0]), r"torque_limits: is \[1.0\].*table"),
    "a pause": (lambda: faulty(paused="no"), "paused: is 'no'"),
    "no faults": (lambda: setattr(make(), "faults", None), "faults: is None"),
    "other settings": (
        lambda: S.Plant(pendulum(), command="torque", settings={"seed": 1}),
        "settings: is {'seed': 1}.*PlantSettings",
    ),
    "negative limit": (lambda: faulty(torque_limits={"motor": -1.0}), r"torque_limits.*-1"),
    "part": (lambda: faulty(drop_commands=1.5), "drop_commands: is 1.5"),
    "state": (lambda: make().reset([1.0, 2.0]), "q"),
    "no model": (lambda: make(3), "is a int, not a GearedModel"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call()


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        ("tx40", "link 'link_6'.*principal moments"),
        ("kr300", "link 'link_6'.*principal moments"),
    ],
)
def test_bodies_that_mujoco_cannot_have(robot: str, words: str) -> None:
    pytest.importorskip("mujoco")
    with pytest.raises(gd.GearedDynamicsError, match=f"{words}.*engine 'equations'"):
        make(example(robot), engine="mujoco")


def test_reduced_models_have_no_bodies() -> None:
    pytest.importorskip("mujoco")
    model = pendulum().with_coupling("diagonal")
    with pytest.raises(gd.GearedDynamicsError, match=r"coupling 'diagonal'.*complete model"):
        make(model, engine="mujoco")


def test_what_mujoco_does_not_take_is_said_in_its_words() -> None:
    """A link of 1e-16 kg is above zero, and below MuJoCo's least mass."""
    pytest.importorskip("mujoco")
    urdf, drives = contact_arms.urdf(), contact_arms.drives("A")
    light = gd.load_model(urdf.replace('"3"', '"1e-16"').replace('"0.05"', '"1e-16"'), drives)
    with pytest.raises(gd.GearedDynamicsError, match=r"MuJoCo rejects the model \(.*mjMINVAL"):
        make(light, engine="mujoco")


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(gd.GearedDynamicsError, match="pip install 'mujoco'"):
        make(engine="mujoco")


@pytest.mark.parametrize("engine", ["equations", "mujoco"])
def test_a_motion_that_leaves_all_bounds(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported, not begun again; MuJoCo leaves a log in the current folder."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    plant = make(example("brisk6"), engine=engine, saturate=False)

    def run() -> None:
        for _ in range(200):
            plant.step(np.full(6, 9e8), 1e-3)

    with pytest.raises(gd.GearedDynamicsError, match=r"diverges.*commands"):
        run()


def test_the_step_is_found_where_none_is_given() -> None:
    stiff = make(elbow(factor=100.0))
    assert stiff.timestep < 1e-3
    stiff.reset([0.1, 0.2, 0.3])
    for _ in range(20):
        stiff.step(np.zeros(3), 1e-3)
    assert np.isfinite(stiff.state.q).all()


def test_a_very_short_step_is_warned_of() -> None:
    with pytest.warns(gd.GearedDynamicsWarning, match=r"steps of .* slow; make them softer"):
        make(elbow(factor=1e6))
