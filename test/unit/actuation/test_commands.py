"""gd.motor_commands against a plain evaluation of its formulas, and its edges."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import JOINT, MOTOR, driven_arm, state
from geared_dynamics.errors import ArrayError, ModelError
from naive.drives import one_ratio_scaled


def law(given: dict, rate: float, position: float, load: float) -> float:
    """The friction formula of the documentation, written out."""
    friction = given["friction"]
    side = 0 if rate >= 0 else 1
    level = friction["coulomb"][side] + friction.get("load", 0.0) * abs(load)
    if "stribeck" in friction:
        excess = friction["stribeck"]["static"][side] - friction["coulomb"][side]
        level += excess * math.exp(-((rate / friction["stribeck"]["speed"]) ** 2))
    force = friction["viscous"] * rate + friction.get("offset", 0.0)
    force += level * math.tanh(rate / friction["smoothing"])
    for wave in friction.get("ripple", ()):
        force += wave["amplitude"] * math.sin(wave["order"] * position + wave["phase"])
    return force


def friction(model: gd.GearedModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Joint friction by the formula; a mimic joint's acts on its leader's coordinate."""
    total = np.array([law(JOINT, v[d], q[d], tau[d]) for d in range(model.n)])
    for joint in model.records.robot.joints:
        if joint.mimic is not None and joint.friction is not None:
            d, k = model.joint_names.index(joint.mimic.leader), joint.mimic.multiplier
            viscous, coulomb = joint.friction.viscous, joint.friction.coulomb
            total[d] += k * (viscous * k * v[d] + coulomb * math.tanh(k * v[d] / 1e-3))
    return total


def expected(model: gd.GearedModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Torque, current and voltage (3, m), step by step as documented."""
    tau = gd.inverse_dynamics(model, q, v, a)
    need = tau + friction(model, q, v, tau)
    lossless = np.linalg.solve(model.structure_matrix, need)
    speed, angle = gd.motor_speeds(model, v), gd.motor_angles(model, q)
    rows = []
    for r, wheel in enumerate(model.motor_wheel):
        carrier = model.wheels.carrier[wheel]
        spin_change = model.structure_matrix[:, r] @ a
        if carrier >= 0:
            link = model.body_names[carrier]
            turn = gd.jacobian(model, q, link)[3:]
            alpha = turn @ a + gd.jacobian_drift(model, q, v, link)[3:]
            rotation = gd.pose(model, q, link)[:3, :3]
            spin_change += (rotation @ model.wheels.axis[wheel]) @ alpha
        transmitted = lossless[r] - model.J[wheel] * spin_change
        eta = MOTOR["efficiency"]
        driving = transmitted * speed[r] > 0
        part = 1 / eta["driving"] - 1 if driving else 1 - eta["backdriving"]
        loss = abs(transmitted) * part * math.tanh(speed[r] / MOTOR["friction"]["smoothing"])
        torque = lossless[r] + loss + law(MOTOR, speed[r], angle[r], transmitted)
        current = torque / MOTOR["torque_constant"]
        voltage = MOTOR["resistance"] * current + MOTOR["torque_constant"] * speed[r]
        rows.append((torque, current, voltage))
    return np.array(rows).T


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("slow", [1.0, 1e-3])
def test_formulas(seed: int, slow: float) -> None:
    """Torque, current and voltage agree with the formulas, fast and near standstill."""
    model = driven_arm(seed)
    q, v, a = state(model, seed)
    v = slow * v
    commands = gd.motor_commands(model, q, v, a)
    found = np.array([commands.torque, commands.current, commands.voltage])
    wanted = expected(model, q, v, a)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(commands.speed, gd.motor_speeds(model, v), rtol=1e-13)


def test_a_wrong_ratio_shows() -> None:
    """Negative control: one per cent of one ratio."""
    model = driven_arm(3)
    q, v, a = state(model, 3)
    wrong = gd.motor_commands(one_ratio_scaled(model, 1.01), q, v, a).torque
    right = gd.motor_commands(model, q, v, a).torque
    assert np.abs(wrong / right - 1).max() > 1e-3


def test_batches_and_lists() -> None:
    """A batch gives the same as its states; lists are taken; leading dimensions broadcast."""
    model = driven_arm(1)
    q, v, a = np.random.default_rng(0).normal(size=(3, 2, 5, model.n))
    batch = gd.motor_commands(model, q, v, a[0, 0])
    assert batch.torque.shape == (2, 5, len(model.motor_names))
    one = gd.motor_commands(model, q[1, 2].tolist(), v[1, 2], a[0, 0])
    np.testing.assert_array_equal(batch.voltage[1, 2], one.voltage)


def test_without_losses_it_is_motor_torques() -> None:
    """Ideal gears and no friction: the torque is A^-1 tau."""
    model = driven_arm(2, friction={"viscous": 0.0}, efficiency={"driving": 1.0})
    q, v, a = state(model, 2)
    need = gd.inverse_dynamics(model, q, v, a)
    need = need + gd.friction_forces(model, v, q, need)
    np.testing.assert_allclose(
        gd.motor_commands(model, q, v, a).torque, gd.motor_torques(model, need), rtol=1e-12
    )


@pytest.mark.parametrize("coupling", ["none", "diagonal", "complete"])
def test_couplings(coupling: str) -> None:
    """The rotor's own torque follows the model's coupling; without losses it drops out."""
    model = driven_arm(4, friction={"viscous": 0.0}, efficiency={"driving": 1.0})
    model = model.with_coupling(coupling)
    q, v, a = state(model, 4)
    need = gd.inverse_dynamics(model, q, v, a)
    need = need + gd.friction_forces(model, v, q, need)
    np.testing.assert_allclose(
        gd.motor_commands(model, q, v, a).torque, gd.motor_torques(model, need), rtol=1e-11
    )


def test_limits_are_named() -> None:
    """Each limit that a command exceeds is named, no other, and a batch gathers them."""
    plain = driven_arm(5)
    q, v, a = state(plain, 5)
    c = gd.motor_commands(plain, q, v, a)
    worst = {
        "voltage": np.abs(c.voltage),
        "current": np.abs(c.current),
        "torque": np.abs(c.torque),
        "speed": np.abs(c.speed),
    }
    for key, values in worst.items():
        top = np.sort(values)
        limit = float(0.5 * (top[-1] + top[-2]))
        model = driven_arm(5, limits={key: limit})
        commands = gd.motor_commands(model, q, v, a)
        motor = model.motor_names[int(values.argmax())]
        assert commands.exceeded == {motor: gd.Limit[key.upper()]}
        still = gd.motor_commands(model, [q, q], [v, 0 * v], [a, 0 * a])
        assert still.exceeded[motor] & gd.Limit[key.upper()]
        assert (commands.binding != 0).sum() == 1


def test_envelope() -> None:
    """Between its points the envelope is straight, beyond its end nothing is left."""
    plain = driven_arm(5)
    q, v, a = state(plain, 5)
    c = gd.motor_commands(plain, q, v, a)
    fast, torque = float(np.abs(c.speed).max()), float(np.abs(c.torque).max())
    roomy = [[0.0, 1.01 * torque], [1.1 * fast, 1.01 * torque]]
    assert not gd.motor_commands(driven_arm(5, limits={"envelope": roomy}), q, v, a).exceeded
    short = [[0.0, 1.01 * torque], [0.99 * fast, 1.01 * torque]]
    exceeded = gd.motor_commands(driven_arm(5, limits={"envelope": short}), q, v, a).exceeded
    assert exceeded == {plain.motor_names[int(np.abs(c.speed).argmax())]: gd.Limit.ENVELOPE}


def test_what_is_not_given_is_refused() -> None:
    """Torques need no electrics; currents and voltages name what is missing."""
    model = driven_arm(0, resistance=None, torque_constant=None, inductance=None)
    q, v, a = state(model, 0)
    commands = gd.motor_commands(model, q, v, a)
    assert np.all(np.isfinite(commands.torque))
    with pytest.raises(ModelError, match=r"torque_constant.*motor_"):
        _ = commands.current
    with pytest.raises(ModelError, match=r"motors\.motor_0"):
        _ = commands.voltage


def test_too_few_motors(root: Path) -> None:
    """An arm with a joint that no motor drives is refused, naming the joint."""
    model = gd.load_model(root / "urdf/elbow.urdf")
    with pytest.raises(ModelError, match="joint_1"):
        gd.motor_commands(model, np.zeros(3), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("q", "match"),
    [
        ([0.0, np.nan, 0.0, 0.0], "q"),
        ([0.0, 0.0], "shape"),
        ("abcd", "real numbers"),
    ],
)
def test_bad_input(q: object, match: str) -> None:
    """Bad arrays are refused by name."""
    model = driven_arm(0)
    zero = np.zeros(model.n)
    with pytest.raises(ArrayError, match=match):
        gd.motor_commands(model, q, zero, zero)  # type: ignore[arg-type]
    with pytest.raises(ArrayError):
        gd.motor_commands(model, zero, zero, np.full(model.n, 1e308))
