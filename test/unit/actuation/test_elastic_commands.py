"""gd.elastic.motor_commands: from the feedforward to current and voltage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import MOTOR
from elastic_arms import elbow
from flat_arms import flat_arm, later, path
from naive.measure import derivative, error

SMOOTH = {**MOTOR, "friction": {**MOTOR["friction"], "smoothing": 30.0}}
EXACT = 1e-11
METHODS = [("reduced", None), ("expanded", 3), ("exact", None)]
ARMS = {
    "all elastic": flat_arm(0, 3, friction=True, motor=SMOOTH),
    "some elastic": flat_arm(1, 4, share=0.3, friction=True, motor=SMOOTH),
    "sliding, one rotor each": flat_arm(
        2, 3, share=0.6, coupled=False, prismatic=True, friction=True, motor=SMOOTH
    ),
}


def law(rate: float, position: float, load: float) -> float:
    """Friction of a rotor, by the formula of the documentation."""
    given = SMOOTH["friction"]
    side = 0 if rate >= 0 else 1
    level = given["coulomb"][side] + given["load"] * abs(load)
    excess = given["stribeck"]["static"][side] - given["coulomb"][side]
    level += excess * math.exp(-((rate / given["stribeck"]["speed"]) ** 2))
    (wave,) = given["ripple"]
    wavy = wave["amplitude"] * math.sin(wave["order"] * position + wave["phase"])
    steady = given["viscous"] * rate + given["offset"]
    return steady + level * math.tanh(rate / given["smoothing"]) + wavy


def carrier_change(model: gd.GearedModel, motor: int, given: np.ndarray) -> float:
    """Angular acceleration of a motor's carrier about its axis."""
    wheel = model.motor_wheel[motor]
    carrier = int(model.wheels.carrier[wheel])
    if carrier < 0:
        return 0.0
    link = model.body_names[carrier]
    alpha = gd.jacobian(model, given[0], link)[3:] @ given[2]
    alpha += gd.jacobian_drift(model, given[0], given[1], link)[3:]
    rotation = gd.pose(model, given[0], link)[:3, :3]
    return float((rotation @ model.wheels.axis[wheel]) @ alpha)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize(("method", "order"), METHODS)
def test_formulas(name: str, method: Any, order: int | None) -> None:
    """Torque, current, voltage step by step, from the shafts' motion."""
    model = ARMS[name]
    rows = 1 + gd.elastic.derivatives_needed(model, method, order)
    given = path(model, rows, 1)
    ff = gd.elastic.feedforward(model, given, method, order, friction=True)
    found = gd.elastic.motor_commands(model, given, method, order)
    state = gd.State(given[0], given[1], ff.theta, ff.vtheta)
    speed = gd.elastic.motor_speeds(model, state)
    angle = gd.elastic.motor_angles(model, state)
    change = np.r_[given[2], ff.atheta] @ gd.elastic.structure_matrix(model)
    for r, wheel in enumerate(model.motor_wheel):
        turn = 0.0 if method == "reduced" else carrier_change(model, r, given)
        passed = ff.tau_m[r] - model.J[wheel] * (change[r] + turn)
        eta = SMOOTH["efficiency"]
        part = 1 / eta["driving"] - 1 if passed * speed[r] > 0 else 1 - eta["backdriving"]
        shaft = ff.tau_m[r] + abs(passed) * part * math.tanh(speed[r] / 30.0)
        torque = shaft + law(speed[r], angle[r], passed)
        current = torque / SMOOTH["torque_constant"]
        voltage = SMOOTH["resistance"] * current + SMOOTH["torque_constant"] * speed[r]
        for value, expected in (
            (found.speed, speed[r]),
            (found.angle, angle[r]),
            (found.transmitted_torque, passed),
            (found.shaft_torque, shaft),
            (found.torque, torque),
            (found.current, current),
            (found.voltage, voltage),
        ):
            scale = np.abs(value).max()
            assert error(value[r], expected, scale) < EXACT


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize(("method", "order"), METHODS)
def test_one_derivative_more_gives_the_inductive_voltage(
    name: str, method: Any, order: int | None
) -> None:
    model = ARMS[name]
    rows = 1 + gd.elastic.derivatives_needed(model, method, order)
    given = path(model, rows + 1, 2)
    given[1] += np.sign(given[1]) * 0.5
    full = gd.elastic.motor_commands(model, given, method, order)
    steady = gd.elastic.motor_commands(model, given[:rows], method, order)
    np.testing.assert_allclose(full.torque, steady.torque, rtol=1e-12)

    def current(t: float) -> np.ndarray:
        return gd.elastic.motor_commands(model, later(given, t), method, order).current

    wanted = SMOOTH["inductance"] * derivative(current, 5e-4)
    assert error(full.voltage - steady.voltage, wanted) < 1e-6
    longer = gd.elastic.motor_commands(model, [*given, 0 * given[0]], method, order)
    np.testing.assert_array_equal(longer.voltage, full.voltage)


def test_stiff_springs_need_what_rigid_joints_need() -> None:
    """The rigid limit, friction and losses included."""
    given = path(elbow(), 9)
    errors = []
    for factor in (1e2, 1e4, 1e6):
        model = elbow(factor=factor)
        expected = gd.motor_commands(model, *given[:3], jerk=given[3])
        found = gd.elastic.motor_commands(model, given, "exact")
        errors.append(error(found.torque, expected.torque))
    assert errors[1] < 0.02 * errors[0]
    assert errors[2] < 1e-5


def test_limits_and_saturation() -> None:
    limits = {"torque": 0.5, "speed": 1.0}
    model = flat_arm(0, 3, friction=True, motor={**SMOOTH, "limits": limits})
    given = path(model, 9)
    commands = gd.elastic.motor_commands(model, [given, 0 * given], "expanded", 2)
    assert commands.torque.shape == (2, 3)
    assert gd.Limit.SPEED in commands.exceeded["motor_0"]
    fits = gd.saturate(commands)
    assert np.all(np.abs(fits.torque) <= 0.5)
    assert np.any(fits.limited)


def test_refused() -> None:
    model = ARMS["all elastic"]
    with pytest.raises(gd.GearedDynamicsError, match="'exact' needs them up to order"):
        gd.elastic.motor_commands(model, path(model, 4), "exact")
    bad = path(model, 9)
    bad[3, 0] = np.inf
    with pytest.raises(gd.GearedDynamicsError, match=r"derivatives\[3, 0\]"):
        gd.elastic.motor_commands(model, bad, "exact")
    plain = gd.elastic.motor_commands(elbow(), path(elbow(), 5))
    with pytest.raises(gd.GearedDynamicsError, match="torque_constant"):
        plain.current  # noqa: B018
