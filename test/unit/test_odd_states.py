"""States and settings that fit neither arm nor law are refused by the package's own errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elastic_arms
import geared_dynamics as gd
from plant_arms import example

ob, ct, tr = gd.observers, gd.control, gd.trajectory
Q = np.zeros(3)


def measured(model: gd.GearedModel) -> gd.Measurement:
    m = len(model.motor_names)
    return gd.Measurement(model.motor_zeros, np.zeros(m))


@pytest.mark.parametrize("kind", ["kalman", "nonlinear"])
@pytest.mark.parametrize(
    "mean", [5, [0.0] * 18, np.zeros(4), np.zeros((18, 1)), np.zeros(18, int), np.zeros(36)[::2]]
)
def test_an_estimate_of_a_state_that_is_none(kind: str, mean: Any) -> None:
    model = elastic_arms.elbow(2.0)
    gains = getattr(ob, f"{kind}_gains")(model, resolution=1e-4)
    state = getattr(ob, f"{kind}_start")(model, gains, measured(model))
    ob.estimate(model, state, gains)
    wrong = state._replace(mean=mean)
    with pytest.raises(gd.GearedDynamicsError, match=f"{kind}_observer|observer's start|a copy"):
        ob.estimate(model, wrong, gains)
    with pytest.raises(gd.GearedDynamicsError, match=f"{kind}_observer|a copy"):
        getattr(ob, f"{kind}_step")(model, gains, wrong, measured(model), 1e-3)


@pytest.mark.parametrize("kind", ["kalman", "nonlinear"])
def test_a_start_takes_one_posture(kind: str) -> None:
    model = elastic_arms.elbow(2.0)
    gains = getattr(ob, f"{kind}_gains")(model, resolution=1e-4)
    with pytest.raises(gd.GearedDynamicsError, match=r"q: has shape \(2, 3\)"):
        getattr(ob, f"{kind}_start")(model, gains, measured(model), q=np.zeros((2, 3)))


def test_an_integral_of_another_arm() -> None:
    made = ct.controller(
        example("elbow"), "computed_torque", gains=ct.gains_from_bandwidth(20.0, integral=0.1)
    )
    for integral in (np.zeros(6), None, "x", np.full(3, np.nan)):
        with pytest.raises(gd.GearedDynamicsError, match=r"memory\.integral"):
            made.step(ct.Memory(integral), gd.State(Q, Q), ct.Reference(Q, Q, Q), 1e-3)
    with pytest.raises(gd.GearedDynamicsError, match="dt"):
        made.step(made.start(), gd.State(Q, Q), ct.Reference(Q, Q, Q), 10**400)


@pytest.mark.parametrize(
    "wrong", [np.zeros((1, 3)), "x", np.zeros(2), 10**400, [[1.0], [2.0, 3.0]]]
)
@pytest.mark.parametrize("field", ["q", "v", "theta", "vtheta"])
def test_a_measured_state_of_an_elastic_arm(field: str, wrong: Any) -> None:
    model = elastic_arms.elbow(2.0)
    made = ct.elastic_controller(model, gains=ct.gains_from_modes(model, Q))
    path = np.zeros((made.derivatives_needed + 1, 3))
    state, wanted = gd.State(Q, Q, Q, Q), ct.Reference(Q, Q, Q, derivatives=path)
    made.step(made.start(), state, wanted, 1e-3)
    with pytest.raises(gd.GearedDynamicsError, match=rf"state\.{field}"):
        made.step(made.start(), state._replace(**{field: wrong}), wanted, 1e-3)
    for rows in (path[None], [[1.0], [2.0, 3.0]], "x"):
        with pytest.raises(gd.GearedDynamicsError, match=r"reference\.derivatives"):
            made.step(made.start(), state, wanted._replace(derivatives=rows), 1e-3)


def test_times_that_no_loop_has() -> None:
    model = elastic_arms.elbow(2.0)
    with pytest.raises(gd.GearedDynamicsError, match="sample_time"):
        ct.closed_loop_poles(model, ct.gains_from_modes(model, Q), Q, sample_time=1e300)
    with pytest.raises(gd.GearedDynamicsError, match="bandwidth"):
        ob.kalman_gains(model, resolution=1e-4, bandwidth=10**400)
    state = gd.State(Q, Q, Q, Q)
    with pytest.raises(gd.GearedDynamicsError, match="dt"):
        gd.simulation.elastic_step(model, state, np.array([[1e-3]]))


@pytest.mark.parametrize("t", ["x", None, [0.1], np.zeros(2), 10**400, 1j, np.datetime64("2001")])
def test_times_of_a_motion_that_are_none(t: Any) -> None:
    spline = tr.rest_to_rest(Q, Q + 1.0, 1.0, continuous=3)
    with pytest.raises(gd.GearedDynamicsError, match="t: is"):
        tr.derivatives_into(tr.prepare(spline, 3), t, np.empty((4, 3)))
    rules = tr.Rules(("a",))
    points = [tr.Point(1.0, [0.5])]
    found = tr.checked(tr.JointTrajectory(["a"], points), rules, 0.0)
    reference = tr.follow(found, tr.state([0.0]), 0.0, rules)
    with pytest.raises(gd.GearedDynamicsError, match="t: is"):
        tr.sample_into(reference, t, tr.SampleBuffer(1))


def test_times_too_uneven_for_a_spline() -> None:
    with pytest.raises(gd.GearedDynamicsError, match="times: are spaced so unevenly"):
        tr.through([0.0, 1e-320, 1.0], np.zeros((3, 1)), continuous=2)
