"""A desired contact force in the node's loop: what acts, what is refused, what ends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from contact_bench import (
    ALONG,
    BEGIN,
    HELD,
    PRESSING,
    TILT,
    arm,
    line,
    slide,
    walled_plant,
)
from geared_dynamics.control.safety import Mode
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.contact_force import ContactForce, contact_setup
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import controller_of, feedforward_setup
from geared_dynamics.runtime.parameters import ParameterError
from long_cases import cases
from naive.measure import holds
from node_values import feedforward
from plant_arms import example

STILL = np.zeros(6)
CONFIG = Path(__file__).resolve().parents[3] / "config"


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return arm()


def following(model: gd.GearedModel, **given: Any) -> FeedforwardLoop:
    """A loop that follows a motion that rests for a minute."""
    loop = FeedforwardLoop(feedforward_setup(feedforward(model, **PRESSING | given), model))
    loop.cycle(0.0, 0.0, BEGIN.copy(), STILL.copy())
    loop.accept(line(model, BEGIN, ALONG, 0.1, rest=60.0), 0.0, 0.0)
    for k in range(1, 400):
        loop.cycle(1e-3 * k, 1e-3 * k, BEGIN.copy(), STILL.copy())
    assert loop.following
    return loop


def take(loop: FeedforwardLoop, force: Any, now: float, torque: Any = (0, 0, 0),
         frame: str = "base_link") -> None:  # fmt: skip
    loop.contact.take(loop.setup.contact, force, torque, frame, now, loop.following)


def cycles(loop: FeedforwardLoop, begin: float, end: float, send: Any = None) -> list[np.ndarray]:
    """Commands of cycles with the arm at BEGIN; ``send`` is wanted before each of them."""
    found = []
    for t in np.arange(begin, end, 1e-3):
        if send is not None:
            take(loop, send, float(t))
        command = loop.cycle(float(t), float(t), BEGIN.copy(), STILL.copy())
        found.append(np.array(command))
    return found


def test_without_a_message_nothing_changes(model: gd.GearedModel) -> None:
    one, other = (following(model, contact_force__max_force=x) for x in (0.0, 40.0))
    for a, b in zip(cycles(one, 0.4, 0.45), cycles(other, 0.4, 0.45), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_command_gets_what_the_wall_shall_give(model: gd.GearedModel) -> None:
    """Less J'F, ramped by force_rate after feedback has gone; back to what it was at the end."""
    loop = following(model, contact_force__force_rate=100.0, output="joint_torque")
    before = cycles(loop, 0.4, 0.41)[-1]
    ramp = np.array(cycles(loop, 0.41, 1.2, 20.0 * TILT)) - before
    J = gd.jacobian(model, BEGIN, "tool")[:3]
    np.testing.assert_allclose(ramp[-1], -20.0 * TILT @ J, atol=1e-6)
    size = ramp @ (TILT @ J) / -((TILT @ J) @ (TILT @ J))
    assert np.abs(size[:195]).max() < 1e-6  # feedback goes first
    assert np.abs(np.diff(size)).max() < 0.1 + 1e-6  # 100 N/s
    cycles(loop, 1.2, 1.29)
    np.testing.assert_allclose(cycles(loop, 1.29, 1.3)[0] - before, ramp[-1], atol=1e-6)
    ended = cycles(loop, 1.3, 2.0)
    assert loop.contact.idle
    np.testing.assert_allclose(ended[-1], before, atol=1e-9)
    assert "none any more" in loop.contact.news


@pytest.mark.parametrize(
    ("force", "torque", "frame", "words"),
    [
        ((0, 0, 41), (0, 0, 0), "base_link", r"of 41 N, and contact_force\.max_force is 40"),
        ((0, 0, 1), (0, 1, 0), "base_link", r"of 1 N m, and contact_force\.max_torque is 0"),
        ((0, np.nan, 0), (0, 0, 0), "base_link", "is not finite; check its sender"),
        ((0, 0, np.inf), (0, 0, 0), "base_link", "is not finite"),
        ((0, 0, 5), (0, 0, 0), "world", "header.frame_id: there is no link 'world'"),
        ((0, 0, 5), (0, 0, 0), "rotor_1", "header.frame_id: there is no link 'rotor_1'"),
        ((0, 0, 5), (0, 0, 0), "tool", "changes under force; send zero in 'base_link'"),
    ],
)  # fmt: skip
def test_what_is_refused_is_never_acted_on(
    model: gd.GearedModel, force: Any, torque: Any, frame: str, words: str
) -> None:
    loop = following(model)
    before = cycles(loop, 0.41, 1.2, 10.0 * TILT)[-1]
    with pytest.raises(GearedDynamicsError, match=words):
        take(loop, force, 1.2, torque, frame)
    np.testing.assert_allclose(cycles(loop, 1.2, 1.21)[-1], before, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"contact_force__max_force": 0.0}, "max_force and max_torque are 0; restart the node"),
        ({"mode": "annotate"}, "has no effect in the mode annotate"),
    ],
)
def test_where_none_is_accepted(model: gd.GearedModel, given: Any, words: str) -> None:
    values = feedforward(model, **PRESSING | given)
    setup = contact_setup(values, controller_of(values, model))
    with pytest.raises(GearedDynamicsError, match=words):
        ContactForce().take(setup, (0, 0, 1), (0, 0, 0), "base_link", 0.0)


def test_elastic_arms_and_several_tips() -> None:
    wave = example("wave6")
    values = feedforward(wave, **PRESSING | {"feedback": "motor"})
    refusal = contact_setup(values, controller_of(values, wave)).refusal
    assert refusal is not None
    assert "is not read by laws of elastic arms; set use_elasticity" in str(refusal)
    brisk = arm()
    with pytest.raises(ParameterError, match=r"contact_force\.tool: there is no link 'tol'"):
        feedforward_setup(feedforward(brisk, **PRESSING | {"contact_force__tool": "tol"}), brisk)


def test_the_example_file_accepts_a_force(model: gd.GearedModel) -> None:
    given = yaml.safe_load((CONFIG / "contact" / "pressing.yaml").read_text("utf-8"))
    own = given["/**"]["ros__parameters"]
    names = {f"contact_force__{name}": value for name, value in own.pop("contact_force").items()}
    values = feedforward(model, **own | names)
    assert contact_setup(values, controller_of(values, model)).refusal is None
    assert values.contact_force.max_force == 40.0


def test_not_without_a_trajectory(model: gd.GearedModel) -> None:
    loop = FeedforwardLoop(feedforward_setup(feedforward(model, **PRESSING), model))
    loop.cycle(0.0, 0.0, BEGIN.copy(), STILL.copy())
    with pytest.raises(GearedDynamicsError, match="while the arm follows no trajectory"):
        take(loop, (0, 0, 5), 0.0)
    take(loop, (0, 0, 0), 0.0)  # nothing is wanted: nothing to say


def test_a_stop_forgets_it(model: gd.GearedModel) -> None:
    """Emergency stop, exit: held without the force in the next cycle, within the rates."""
    for act in (lambda x: setattr(x, "emergency_stop", True), lambda x: x.leave("gravity")):
        loop = following(model)
        cycles(loop, 0.41, 1.2, 10.0 * TILT)
        act(loop)
        if loop.emergency_stop:
            loop.motion = None
        cycles(loop, 1.2, 1.21)
        assert loop.contact.idle
        assert not loop.contact.acting.any()
        assert not loop.following


def test_a_bound_that_is_lowered_under_force(model: gd.GearedModel) -> None:
    loop = following(model)
    cycles(loop, 0.41, 1.2, 20.0 * TILT)
    values = feedforward(model, **PRESSING | {"contact_force__max_force": 8.0})
    loop.exchange(feedforward_setup(values, model))
    cycles(loop, 1.2, 1.29)
    cycles(loop, 1.29, 1.4, 8.0 * TILT)
    assert np.linalg.norm(loop.contact.acting[:3]) == pytest.approx(8.0)


def test_a_force_in_a_direction_that_no_joint_moves_ends_it() -> None:
    """The planar arm cannot push out of its plane: the law goes on without the force."""
    from contact_arms import planar

    model = planar()
    loop = FeedforwardLoop(feedforward_setup(feedforward(model, mode="computed_torque",
                           contact_force__max_force=40.0), model))  # fmt: skip
    q = np.array([0.5, 1.0])
    loop.cycle(0.0, 0.0, q, np.zeros(2))
    from geared_dynamics.trajectory import JointTrajectory, Point

    loop.accept(JointTrajectory(model.joint_names, [Point(9.0, q, np.zeros(2), None)]), 0.0, 0.0)
    said = []
    for k in range(1, 800):
        t = 1e-3 * k
        if k == 400:
            take(loop, (0.0, 0.0, 10.0), t, frame="base")
        loop.cycle(t, t, q, np.zeros(2))
        said.append(loop.contact.news)
    words = "contact force ended: reference.contact.jacobian[0]: moves no joint"
    assert any(words in line for line in said)
    assert loop.decision is not None
    assert loop.decision.mode is Mode.RUNNING


@pytest.mark.parametrize("off", cases([3e-3], [0.0]))
def test_it_slides_with_the_force(model: gd.GearedModel, off: float) -> None:
    """Our own engine: 50 mm/s, 20 N, a wall with friction where planned and 3 mm lower."""
    plant = walled_plant(model, BEGIN, TILT, off=off, engine="equations")
    found, _ = slide(plant, BEGIN, TILT, ALONG, 2.2, length=0.1, rest=0.8)
    force = found.force[(found.time > 1.4) & (found.time < 2.1)]
    name = f"contact in the loop, wall {1e3 * off:g} mm lower"
    assert holds(f"{name}: mean force off 20 N", abs(force.mean() / HELD - 1.0), 0.05)
    assert found.place[-1, 0] == pytest.approx(-off - HELD / 1e5, abs=1e-4)


def test_feedback_along_all_coordinates_does_not_hold_it(model: gd.GearedModel) -> None:
    """Without the hybrid law a wall 3 mm lower is not touched: the negative control."""
    plant = walled_plant(model, BEGIN, TILT, off=3e-3, engine="equations")
    found, _ = slide(plant, BEGIN, TILT, ALONG, 1.5, wanted=lambda t: None, rest=0.8)
    assert found.force[found.time > 1.0].max() < 1.0


def test_a_wall_that_goes(model: gd.GearedModel) -> None:
    """The tool runs away at max_speed at most, up to max_distance, and comes back."""
    plant = walled_plant(model, BEGIN, TILT, engine="equations")

    def remove(t: float, loop: Any, plant: Any) -> None:
        if abs(t - 0.9) < 5e-4:
            plant.walled = False

    def wanted(t: float) -> float | None:
        return HELD if 0.3 < t < 1.0 else None

    found, loop = slide(plant, BEGIN, TILT, ALONG, 2.0, wanted=wanted, at=remove, rest=9.0)
    speed = np.diff(found.place[:, 0]) / 1e-3
    assert -0.105 < speed.min() < -0.05  # in steps of a cycle
    assert -0.035 < found.place[:, 0].min()
    assert abs(found.place[-1, 0]) < 2e-3
    assert set(found.modes[500:]) == {Mode.RUNNING}
    assert loop.contact.idle


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-170])
def test_a_force_whose_square_is_zero(model: gd.GearedModel, size: float) -> None:
    """It has a direction, and no command is anything but a number."""
    loop = following(model)
    take(loop, (0.0, size, size), 0.4)
    commands = cycles(loop, 0.4, 0.7)
    assert np.isfinite(commands).all()
    assert not loop.contact.lost


@pytest.mark.filterwarnings("error")
def test_a_force_whose_square_is_infinite(model: gd.GearedModel) -> None:
    loop = following(model)
    with pytest.raises(GearedDynamicsError, match="is a force of"):
        take(loop, (0.0, 1e300, 1e300), 0.4)
