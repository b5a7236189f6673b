"""Speed scaling in the loop: the reference goes slower, and torque knows how it really moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elbow as elastic_elbow
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from geared_dynamics.runtime.loop_time import RAMP, Pace
from geared_dynamics.trajectory import JointTrajectory, Point, sample
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
REST, GOAL, STILL = np.array([0.3, 0.5, -0.4]), np.array([0.9, 0.1, 0.4]), np.zeros(3)
DT = 1e-3


class Row(NamedTuple):
    """What the loop wanted in a cycle."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    command: np.ndarray
    finished: bool


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def loop_of(model: gd.GearedModel, **changes: Any) -> FeedforwardLoop:
    return FeedforwardLoop(
        feedforward_setup(feedforward(model, update_rate=1000, **changes), model)
    )


def follow(loop: FeedforwardLoop, rates: Any, cycles: int, time: float = 1.0) -> list[Row]:
    """Follow a motion of a second exactly; ``rates`` has the cycles at which a rate is asked."""
    loop.cycle(0.0, 0.0, REST, STILL)
    if 0 in rates:
        loop.pace.ask(rates[0])
    names = loop.setup.rules.joints
    loop.accept(JointTrajectory(names, [Point(time, GOAL, STILL, STILL)]), 0.0, 0.0)
    found, q, v = [], REST, STILL
    for k in range(1, cycles):
        if k in rates:
            loop.pace.ask(rates[k])
        command = loop.cycle(k * DT, k * DT, q.copy(), v.copy())
        q, v = loop.present.q.copy(), loop.present.v.copy()
        a = loop.present.a.copy()
        found.append(Row(q, v, a, np.asarray(command), loop.present.finished))
    return found


def column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in rows])


@pytest.mark.parametrize("rate", [1.0, 0.5, 0.2])
def test_a_motion_takes_so_much_longer(model: gd.GearedModel, rate: float) -> None:
    rows = follow(loop_of(model), {0: rate}, round(1.2 / rate / DT))
    arrived = int(np.argmax(column(rows, "finished"))) + 1
    assert arrived * DT == pytest.approx(1.0 / rate, abs=2 * DT)
    np.testing.assert_allclose(rows[-1].q, GOAL, atol=1e-12)


CHANGES = {0: 0.8, 200: 0.3, 600: 0.0, 1000: 1.0, 1700: 0.5}


def test_velocity_and_acceleration_are_those_of_the_slowed_motion(model: gd.GearedModel) -> None:
    rows = follow(loop_of(model), CHANGES, 2500)
    q, v, a = (column(rows, name) for name in "qva")
    difference = (q[2:] - q[:-2]) / (2 * DT)
    assert np.abs(difference - v[1:-1]).max() < 2e-3 * np.abs(v).max()
    slopes = (v[2:] - v[:-2]) / (2 * DT)
    far = np.abs(slopes - a[1:-1]).max(axis=1) > 0.02 * np.abs(a).max()
    assert far.sum() <= 24, "but where a ramp begins or ends, and at the end of the motion"
    assert np.abs(difference - np.gradient(q, DT, axis=0)[1:-1]).max() < 1e-9


def test_the_rate_never_jumps(model: gd.GearedModel) -> None:
    loop, rates = loop_of(model), []
    follow(loop, {0: 1.0}, 2)
    for k, asked in enumerate((1.0, 0.0, 0.7)):
        loop.pace.ask(asked)
        for j in range(400):
            t = (2 + 400 * k + j) * DT
            loop.cycle(t, t, REST.copy(), STILL.copy())
            rates.append(loop.pace.rate)
    assert np.abs(np.diff(rates)).max() <= RAMP * DT * (1 + 1e-9)
    assert rates[-1] == pytest.approx(0.7)


def test_at_rate_zero_the_arm_is_held_where_it_is(model: gd.GearedModel) -> None:
    """And goes on from there: nothing of the motion is lost."""
    rows = follow(loop_of(model), {300: 0.0, 1500: 1.0}, 3000)
    still = rows[1000:1400]
    assert np.ptp(column(still, "q"), axis=0).max() == 0.0
    assert not column(still, "v").any()
    assert not column(still, "a").any()
    weight = gd.gravity_forces(model, still[0].q)
    np.testing.assert_allclose(still[-1].command, weight, atol=1e-9)
    np.testing.assert_allclose(rows[-1].q, GOAL, atol=1e-12)
    steps = np.abs(np.diff(column(rows, "q"), axis=0)).max()
    assert steps < 2.1 * np.abs(GOAL - REST).max() * DT


def test_the_torque_is_that_of_the_slowed_motion(model: gd.GearedModel) -> None:
    """At half speed for long: v and a are a half and a quarter, one period ahead."""
    loop = loop_of(model)
    rows = follow(loop, {0: 0.5}, 800)
    ahead = loop.motion
    assert ahead is not None
    s = 0.5 * (799 + 1) * DT
    wanted = sample(ahead, s)
    exact = gd.inverse_dynamics(model, wanted.q, 0.5 * wanted.v, 0.25 * wanted.a)
    np.testing.assert_allclose(rows[-1].command, exact, atol=1e-9)
    unscaled = gd.inverse_dynamics(model, wanted.q, wanted.v, wanted.a)
    assert np.abs(exact - unscaled).max() > 0.1


def test_full_speed_is_the_same_to_the_last_bit(model: gd.GearedModel) -> None:
    plain = follow(loop_of(model), {}, 1100)
    asked = follow(loop_of(model), {0: 1.0, 500: 1.0}, 1100)
    assert (column(plain, "command") == column(asked, "command")).all()


def test_a_new_reference_goes_on_at_the_rate_of_the_old_one(model: gd.GearedModel) -> None:
    """No jump of velocity, whether it begins where the arm is or where it was wanted."""
    for continued in (False, True):
        loop = loop_of(model, interpolate_from_desired_state=continued)
        rows = follow(loop, {0: 0.4}, 1000)
        names = loop.setup.rules.joints
        back = JointTrajectory(names, [Point(1.0, REST, STILL, STILL)])
        loop.accept(back, 0.999, 0.999)
        loop.cycle(1.0, 1.0, rows[-1].q, rows[-1].v)
        np.testing.assert_allclose(loop.present.v, rows[-1].v, atol=5e-3)
        np.testing.assert_allclose(loop.present.q, rows[-1].q, atol=2e-3)


def test_elastic_arms_get_all_derivatives() -> None:
    arm = elastic_elbow(2.0)
    loops = [loop_of(arm) for _ in range(2)]
    slow, quick = follow(loops[0], {0: 0.5}, 900, 1.0), follow(loops[1], {}, 900, 2.0)
    # A motion of one second at half speed is one of two seconds.
    np.testing.assert_allclose(column(slow, "q"), column(quick, "q"), atol=1e-3)
    commands = column(slow, "command")[5:], column(quick, "command")[4:-1]
    np.testing.assert_allclose(*commands, atol=0.02 * np.abs(commands[1]).max())


def test_a_pace_begins_as_time_itself_and_a_rate_of_one_leaves_it_so() -> None:
    pace = Pace()
    rows = np.arange(6.0).reshape(3, 2)
    assert pace.even
    assert pace.slow_rows(rows) is rows
    pace.ask(1.0)
    assert pace.even
    assert pace.go(3.0, 3.5) == (3.0, 3.5)
    assert pace.even
    pace.ask(0.5)
    assert not pace.even
