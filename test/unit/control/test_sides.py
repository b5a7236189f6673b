"""Commands on the motors' side, and bad input at the border."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms, sample
from driven_arms import driven_arm

control = gd.control
ROOT = Path(__file__).resolve().parents[3]
GAINS = control.gains_from_bandwidth(8.0)


@pytest.mark.parametrize("side", ["torque", "current", "voltage"])
@pytest.mark.parametrize("name", ["complete", "balanced", "low ratio"])
def test_feedforward_is_that_of_the_motors(side: str, name: str) -> None:
    """Losses, friction, balancers and inductance as ``motor_commands`` counts them."""
    model = arms()[name]
    q, v, a = sample(model)
    jerk = np.linspace(-2.0, 3.0, model.n)
    made = control.controller(model, command_type=f"motor_{side}")
    _, out = made.step(made.start(), None, control.Reference(q, v, a, jerk), 0.0)
    wanted = getattr(gd.motor_commands(model, q, v, a, jerk=jerk), side)
    np.testing.assert_allclose(out.command, wanted, rtol=1e-9)


@pytest.mark.parametrize("name", ["complete", "balanced"])
def test_computed_torque_moves_the_arm_as_asked(name: str) -> None:
    """Torques of the motors through all losses give the acceleration that was wanted."""
    model = arms()[name]
    q, v, a = sample(model)
    made = control.controller(
        model,
        "computed_torque",
        gains=GAINS,
        command_type="motor_torque",
        friction_rate="measured",
    )
    reference = control.Reference(q + 0.01, v - 0.02, a)
    _, out = made.step(made.start(), gd.State(q, v), reference, 0.0)
    moved = gd.motion_from_torque(model, q, v, out.command)
    np.testing.assert_allclose(moved, a + 64.0 * 0.01 - 16.0 * 0.02, rtol=1e-7, atol=1e-9)


def test_voltage_counts_the_measured_speed() -> None:
    model = driven_arm(2)
    q, v, a = sample(model)
    made = control.controller(model, "computed_torque", gains=GAINS, command_type="motor_voltage")
    currents = control.controller(
        model, "computed_torque", gains=GAINS, command_type="motor_current"
    )
    args = (made.start(), gd.State(q, v), control.Reference(q, v + 0.3, a), 0.0)
    u, i = (c.step(*args)[1].command for c in (made, currents))
    motors = model.motors
    back_emf = motors.back_emf_constant * gd.motor_speeds(model, v)
    np.testing.assert_allclose(u, motors.resistance * i + back_emf, rtol=1e-9)


@pytest.mark.parametrize("inside", [True, False])
def test_voltage_counts_the_currents_rate(inside: bool) -> None:
    limits = {} if inside else {"limits": {"torque": 0.3}}
    model = driven_arm(2, **limits)
    q, v, a = sample(model)
    jerk = np.array([4.0, -3.0, 2.0, 1.0])
    made = control.controller(model, "computed_torque", gains=GAINS, command_type="motor_voltage")
    reference = control.Reference(q, v, a, jerk)
    _, out = made.step(made.start(), gd.State(q, v), reference, 0.0)
    commands = gd.motor_commands(model, q, v, a, jerk=jerk)
    wanted = commands.voltage if inside else gd.saturate(commands, "each").voltage
    np.testing.assert_allclose(out.command, wanted, rtol=1e-9)
    assert inside != bool(commands.exceeded)
    assert np.abs(commands.inductive_voltage).min() > 1e-6


def test_switched_off_friction_is_gone_on_the_motors_side_too() -> None:
    model = driven_arm(2)
    q, v, a = sample(model)
    reference = control.Reference(q, v, a)
    terms = control.Terms(use_friction=False)
    made = control.controller(model, terms=terms, command_type="motor_torque")
    plain = driven_arm(2, friction=None)
    off = made.step(made.start(), None, reference, 0.0)[1].command
    wanted = gd.motor_commands(control.outputs.without_friction(plain), q, v, a).torque
    np.testing.assert_allclose(off, wanted, rtol=1e-9)


@pytest.mark.parametrize("saturation", ["each", "direction", "none"])
def test_motor_limits(saturation: str) -> None:
    model = driven_arm(2, limits={"torque": 0.5, "current": 6.0, "voltage": 30.0})
    q, v, a = sample(model)
    made = control.controller(model, command_type="motor_torque", saturation=saturation)
    _, out = made.step(made.start(), None, control.Reference(q, v, 20 * a), 0.0)
    commands = gd.motor_commands(model, q, v, 20 * a)
    wanted = commands if saturation == "none" else gd.saturate(commands, saturation)
    np.testing.assert_allclose(out.command, wanted.torque, rtol=1e-9)
    assert control.limit_names(model, out.exceeded) == commands.exceeded
    assert commands.exceeded


BAD_STEPS = {
    "nan in q": ({"q": [np.nan, 0, 0, 0]}, "state.q"),
    "inf in v": ({"v": [0, np.inf, 0, 0]}, "state.v"),
    "nan in a": ({"a": [0, 0, 0, np.nan]}, "reference.a"),
    "short q": ({"q": [0, 0, 0]}, "state.q"),
    "batch": ({"q_d": np.zeros((2, 4))}, "reference.q"),
    "text": ({"v_d": ["a"] * 4}, "reference.v"),
    "dt": ({"dt": -1.0}, "dt"),
    "nan dt": ({"dt": np.nan}, "dt"),
    "no state": ({"q": None}, "state"),
}


@pytest.mark.parametrize("law", ["computed_torque", "pd_plus_feedforward"])
@pytest.mark.parametrize("case", BAD_STEPS)
def test_bad_input_of_a_cycle_is_refused_by_name(case: str, law: str) -> None:
    facts, place = BAD_STEPS[case]
    model = driven_arm(2)
    gains = control.gains_from_bandwidth(8.0, integral=0.1)
    made = control.controller(model, law, gains=gains)
    zero = np.zeros(4)
    given = {"q": zero, "v": zero, "q_d": zero, "v_d": zero, "a": zero, "dt": 1e-3} | facts
    state = None if given["q"] is None else gd.State(given["q"], given["v"])
    reference = control.Reference(given["q_d"], given["v_d"], given["a"])
    with pytest.raises(gd.GearedDynamicsError) as caught:
        made.step(made.start(), state, reference, given["dt"])
    assert caught.value.place.startswith(place)


BAD_CONTROLLERS = {
    "law": ({"law": "computed-torque"}, "computed_torque"),
    "command type": ({"command_type": "volts"}, "motor_voltage"),
    "saturation": ({"saturation": "some"}, "direction"),
    "rate": ({"friction_rate": "real"}, "measured"),
    "no gains": ({"law": "computed_torque"}, "gains_from_bandwidth"),
    "wrong gains": ({"law": "computed_torque", "gains": 3.0}, "Gains"),
    "gains of forces": (
        {"law": "computed_torque", "gains": control.Gains(1.0, 1.0, kind="torque")},
        "acceleration",
    ),
    "gains of others": (
        {"law": "computed_torque", "gains": control.Gains([1.0] * 3, 1.0)},
        "gains.kp",
    ),
    "terms": ({"terms": {"use_friction": False}}, "Terms"),
}


@pytest.mark.parametrize("case", BAD_CONTROLLERS)
def test_bad_controllers_are_refused(case: str) -> None:
    options, text = BAD_CONTROLLERS[case]
    with pytest.raises(gd.GearedDynamicsError, match=text):
        control.controller(driven_arm(2), **options)


BAD_VALUES = {
    "negative": lambda: control.Gains(-1.0, 1.0),
    "nan": lambda: control.Gains(1.0, np.nan),
    "kind": lambda: control.Gains(1.0, 1.0, kind="position"),
    "matrix": lambda: control.Gains(np.eye(3), 1.0),
    "text": lambda: control.Gains("high", 1.0),
    "bandwidth": lambda: control.gains_from_bandwidth(0.0),
    "damping": lambda: control.gains_from_bandwidth(1.0, -0.5),
    "unstable": lambda: control.gains_from_bandwidth(1.0, integral=1.0),
    "switch": lambda: control.Terms(use_friction=1),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values_are_refused(case: str) -> None:
    with pytest.raises(gd.GearedDynamicsError):
        BAD_VALUES[case]()


def test_missing_constants_are_refused_when_prepared() -> None:
    model = gd.load_model(ROOT / "urdf/elbow.urdf", ROOT / "urdf/elbow.drivetrain.yaml")
    with pytest.raises(gd.GearedDynamicsError, match="torque_constant"):
        control.controller(model, command_type="motor_current")


def test_gains_of_a_law_without_feedback_are_refused() -> None:
    with pytest.raises(gd.GearedDynamicsError, match="no feedback"):
        control.controller(driven_arm(2)).with_gains(GAINS)


def test_models_of_other_joints_are_refused() -> None:
    made = control.controller(driven_arm(2))
    with pytest.raises(gd.GearedDynamicsError, match="in this order"):
        made.with_model(driven_arm(2, joints=3))


def test_gravity_compensation_needs_no_reference_and_the_others_do() -> None:
    model = driven_arm(2)
    q, v, _ = sample(model)
    floating = control.controller(model, "gravity_compensation")
    _, out = floating.step(floating.start(), gd.State(q, v), None, 0.0)
    np.testing.assert_allclose(out.command, gd.gravity_forces(model, q), rtol=1e-12)
    made = control.controller(model)
    with pytest.raises(gd.GearedDynamicsError, match="desired motion"):
        made.step(made.start(), gd.State(q, v), None, 0.0)


def test_term_torques_are_those_where_the_law_evaluates_the_model() -> None:
    model = driven_arm(2)
    q, v, a = sample(model)
    reference = control.Reference(q + 0.1, v - 0.2, a)
    forward = control.controller(model)
    parts = forward.term_torques(gd.State(q, v), reference)
    _, out = forward.step(forward.start(), None, reference, 0.0)
    np.testing.assert_allclose(sum(parts), out.command, rtol=1e-9, atol=1e-9)
    closed = control.controller(model, "computed_torque", gains=GAINS)
    parts = closed.term_torques(gd.State(q, v), reference)
    at_state = control.term_torques(model, q, v, a, rate=reference.v)
    np.testing.assert_array_equal(parts, at_state)
