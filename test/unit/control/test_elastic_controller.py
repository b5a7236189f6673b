"""Controllers of elastic arms: values, bad input, feedback where motors turn several joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms
from elastic_arms import elastic_arm
from geared_dynamics.control.elastic_gains import unstable
from geared_dynamics.control.gains import by_joint, driven
from geared_dynamics.errors import ArrayError, GearedDynamicsError, ModelError
from motor_data import with_motors
from simulated_arms import arm

control = gd.control
Q, V = np.array([0.2, -0.4, 0.6]), np.array([0.3, 0.1, -0.2])


def gains(model: gd.GearedModel, **changes: Any) -> control.Gains:
    given = {"kp": np.linspace(300.0, 500.0, model.n), "kv": np.linspace(20.0, 40.0, model.n)}
    return control.Gains(**given | changes, kind="torque")


def reference(made: control.ElasticController, q: Any) -> control.Reference:
    """At rest."""
    path = np.zeros((made.derivatives_needed + 1, made.model.n))
    path[0] = q
    return control.Reference(*path[:3], derivatives=path)


def coupled() -> gd.GearedModel:
    """Motors turn two joints, of which some are elastic: A_d is not symmetric."""
    model = elastic_arm(8, 4, share=0.4, extra=False)
    shares = driven(model).shares
    assert np.abs(shares - shares.T).max() > 1e-3
    return model


def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Row by row: sum_k M_ik x_k."""
    return np.array([sum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix])


def test_feedback_of_driven_coordinates_that_several_joints_turn() -> None:
    """A_d^-1 (Kp E_d e - Kv E_d y'), row by row, in the fallback and in a cycle."""
    model = coupled()
    found, given = driven(model), gains(model)
    rng = np.random.default_rng(4)
    posture, q, v = rng.normal(size=(3, model.n))
    made = control.elastic_controller(model, gains=given, saturation="none")
    force = given.kp * product(found.rigid, posture - q) - given.kv * product(found.rigid, v)
    wanted = made.hold(posture, None, None) + product(found.shares, force)
    np.testing.assert_allclose(made.hold(posture, q, v), wanted, rtol=1e-9)
    # In a cycle, at rest with springs twisted: x_d of the motors against what is planned.
    target = reference(made, posture)
    assert target.derivatives is not None
    planned = gd.elastic.feedforward(
        model, target.derivatives, made.method, made.order, friction=True
    )
    theta = planned.theta + 0.01 * rng.normal(size=len(planned.theta))
    state = gd.State(q, v, theta, np.zeros(len(theta)))
    open_loop = control.elastic_controller(model, "flatness", saturation="none")
    base = open_loop.step(open_loop.start(), state, target, 0.0)[1].command
    x = np.concatenate([posture - q, planned.theta - theta])[found.rows]
    rate = np.concatenate([-v, np.zeros(len(theta))])[found.rows]
    correction = product(found.shares, given.kp * x + given.kv * rate)
    command = made.step(made.start(), state, target, 0.0)[1].command
    np.testing.assert_allclose(command, base + correction, rtol=1e-8)


def test_a_controller_is_a_value() -> None:
    """with_... change one thing and leave the rest, and the first, as they were."""
    plant = arm(friction=True)
    made = control.elastic_controller(
        plant, gains=gains(plant), order=2, command_type="motor_current", saturation="none"
    )
    theta = plant.elasticity.rigid @ Q + 1e-3
    state = gd.State(Q, V, theta, plant.elasticity.rigid @ V)
    target = reference(made, Q + 0.05)
    start = made.start()
    assert start.integral.tolist() == [0.0, 0.0, 0.0]
    memory, before = made.step(start, state, target, 1e-3)
    assert memory is start  # these laws have no integral
    others = {
        "model": made.with_model(plant.with_payload(1.0, link=plant.body_names[-1])),
        "gains": made.with_gains(gains(plant, kp=100.0)),
        "terms": made.with_terms(control.Terms(use_gravity_compensation=False)),
    }
    for name, other in others.items():
        command = other.step(start, state, target, 1e-3)[1].command
        assert np.abs(command - before.command).max() > 1e-6, name
        for field in ("law", "command_type", "saturation", "feedback", "method", "order"):
            assert getattr(other, field) == getattr(made, field)
        for field in {"model", "terms"} - {name}:
            assert getattr(other, field) is getattr(made, field)
        if name != "gains":
            np.testing.assert_array_equal(other.gains.kp, made.gains.kp)
    np.testing.assert_array_equal(made.step(start, state, target, 1e-3)[1].command, before.command)


BAD_STEPS = {
    "no derivatives": (
        {"reference": control.Reference(Q, V, V)}, "reference.derivatives", "up to order",
    ),
    "no state": ({"state": None}, "state", "flatness_plus_pd"),
    "no shafts": ({"state": gd.State(Q, V)}, "state.theta", "joint-side"),
    "no rate of them": ({"state": gd.State(Q, V, Q)}, "state.theta", "joint-side"),
    "q too long": ({"state": gd.State(np.zeros(4), V, Q, V)}, "state.q", r"shape \(4,\)"),
    "v too short": ({"state": gd.State(Q, V[:2], Q, V)}, "state.v", r"shape \(2,\)"),
    "nan": ({"state": gd.State(Q, V, Q, V * np.nan)}, "state.vtheta[0]", "nan"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_STEPS)
def test_bad_input_of_a_cycle_is_refused_by_name(case: str) -> None:
    changes, place, words = BAD_STEPS[case]
    plant = arm()
    made = control.elastic_controller(plant, gains=gains(plant))
    given: dict[str, Any] = {"state": gd.State(Q, V, Q, V), "reference": reference(made, Q)}
    given |= changes
    with pytest.raises(GearedDynamicsError, match=words) as caught:
        made.step(made.start(), given["state"], given["reference"], 0.0)
    assert caught.value.place == place


def test_mixed_feedback_needs_the_shafts_rates() -> None:
    plant = arm(damping=30.0)
    made = control.elastic_controller(plant, gains=gains(plant), feedback="mixed")
    with pytest.raises(ArrayError, match=r"state\.vtheta: is not given"):
        made.step(made.start(), gd.State(Q, V), reference(made, Q), 0.0)


def without_inertia() -> control.Terms:
    return control.Terms(use_inertia_feedforward=False)


BAD_CONTROLLERS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no model": ("arm.urdf", {}, "model"),
    "a rigid arm": (arms()["complete"], {}, "elastic|spring|stiffness"),
    "law": (None, {"law": "computed_torque"}, "flatness_plus_pd"),
    "feedback": (None, {"feedback": "motors"}, "motor"),
    "command type": (None, {"command_type": "volts"}, "motor_voltage"),
    "saturation": (None, {"saturation": "direction"}, "each"),
    "inertia": (None, {"terms": without_inertia()}, "cannot be switched off in an elastic arm"),
    "no gains": (None, {"gains": None}, "are missing"),
    "of accelerations": (None, {"gains": control.Gains(1.0, 1.0)}, "have kind 'acceleration'"),
    "integral": (
        None, {"gains": control.Gains(1.0, 1.0, 0.1, kind="torque")}, "gains.ki: is not zero",
    ),
    "resistance": (
        arm(resistance=None, inductance=None), {"command_type": "motor_voltage"}, "resistance",
    ),
    "torque constant": (
        arm(torque_constant=None, resistance=None, inductance=None),
        {"command_type": "motor_current"},
        "torque_constant",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CONTROLLERS)
def test_bad_controllers_are_refused(case: str) -> None:
    model, options, words = BAD_CONTROLLERS[case]
    given = {"gains": control.Gains(300.0, 30.0, kind="torque")} | options
    with pytest.raises(GearedDynamicsError, match=words):
        control.elastic_controller(arm() if model is None else model, **given)


def test_other_models_are_refused() -> None:
    plant = arm()
    made = control.elastic_controller(plant, gains=gains(plant))
    with pytest.raises(ModelError, match="in this order"):
        made.with_model(elastic_arm(3, 3))
    with pytest.raises(GearedDynamicsError):
        made.with_model("arm.urdf")  # type: ignore[arg-type]


# -- driven coordinates --------------------------------------------------------------------------


def test_driven_coordinates_need_springs() -> None:
    with pytest.raises(GearedDynamicsError, match=r"elastic|spring|stiffness"):
        driven(arms()["complete"])


def test_more_driven_coordinates_than_joints_are_refused() -> None:
    """A belt before one joint only: its motor turns a pulley, the others' the joint as well."""
    with pytest.raises(ModelError, match="drive 4 coordinates of an arm with 3 joints"):
        driven(elastic_arm(1, 3, belts=1, extra=False))


def test_rows_go_in_the_order_of_their_joints_unless_two_move_one() -> None:
    rows = np.array([3, 4, 5])
    rigid = np.zeros((6, 3))
    rigid[3], rigid[4], rigid[5] = (0.1, 2.0, 0.0), (0.0, 0.2, -3.0), (1.0, 0.5, 0.0)
    assert by_joint(rows, rigid).tolist() == [5, 3, 4]
    rigid[5] = 0.0, 0.5, 0.1  # now two move the second most
    assert by_joint(rows, rigid).tolist() == [3, 4, 5]


REMEDIES = {
    ("motor", False): "add damping to the springs",
    ("motor", True): "lower the fraction, add damping to the springs, or sample faster",
    ("joint", False): "lower the fraction, or use mixed or motor-side feedback",
    ("joint", True): "lower the fraction, or use mixed or motor-side feedback, or sample faster",
    ("mixed", False): "lower the fraction, or use motor-side feedback",
}


@pytest.mark.parametrize(("feedback", "sampled"), REMEDIES)
def test_what_to_do_about_an_unstable_loop(feedback: Any, sampled: bool) -> None:
    place, finding, remedy = unstable(feedback, "grows", sampled=sampled)
    side = "" if feedback == "mixed" else "-side"
    assert place == f"closed loop with {feedback}{side} feedback"
    assert finding == "grows as sampled" if sampled else finding == "grows"
    assert remedy.startswith(REMEDIES[feedback, sampled])
    assert ("sample faster" in remedy) == sampled


# -- sides ---------------------------------------------------------------------------------------


def test_voltages_count_the_speeds_of_motors_that_turn_several_joints() -> None:
    """u = R i + k_e A' y', with A not symmetric; without a state the planned speeds."""
    model = with_motors(elastic_arm(8, 4, share=0.4, extra=False))
    rng = np.random.default_rng(6)
    q, v = rng.normal(size=(2, model.n))
    theta, rate = rng.normal(size=(2, model.elasticity.count))
    currents, voltages = (
        control.elastic_controller(model, gains=gains(model), command_type=side, saturation="none")
        for side in ("motor_current", "motor_voltage")
    )
    state, target = gd.State(q, v, theta, rate), reference(currents, q)
    i, u = (m.step(m.start(), state, target, 0.0)[1].command for m in (currents, voltages))
    y = voltages.measured(state)[1]
    speed = [sum(model.structure_matrix[:, k] * y) for k in range(len(i))]
    np.testing.assert_allclose(u, 0.8 * i + 0.06 * np.array(speed), rtol=1e-9)


def test_a_command_at_its_limit_is_none_too_many() -> None:
    free = arm()
    made = control.elastic_controller(free, gains=gains(free))
    theta = free.elasticity.rigid @ Q + 0.01
    state = gd.State(Q, 0.0 * Q, theta, 0.0 * theta)
    command = made.hold(Q, *made.measured(state))
    largest = int(np.abs(command).argmax())
    for factor, told in ((1.0, False), (1.0 - 1e-12, True)):
        bound = arm(limits={"torque": float(factor * np.abs(command[largest]))})
        other = control.elastic_controller(bound, gains=gains(free))
        out = other.sent(command, np.zeros(3), None)
        assert bool(out.exceeded[largest]) == told


def test_gains_of_another_kind_have_no_poles() -> None:
    plant = arm()
    with pytest.raises(ArrayError, match="have kind 'acceleration'"):
        control.closed_loop_poles(plant, control.Gains(1.0, 1.0), Q)
    with pytest.raises(ArrayError, match=r"fraction: has shape \(2,\)"):
        control.gains_from_modes(plant, Q, fraction=[0.1, 0.2])
    with pytest.raises(GearedDynamicsError, match="acceleration"):
        control.Gains(1.0, 1.0, kind=np.array(["torque", "acceleration"]))  # type: ignore[arg-type]


def test_no_desired_motion_is_refused() -> None:
    made = control.elastic_controller(arm(), "flatness")
    with pytest.raises(ArrayError, match="reference: is None; give flatness a desired motion"):
        made.step(made.start(), None, None, 1e-3)
