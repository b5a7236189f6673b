"""Elastic arms under flatness feedforward and motor-side feedback, on the simulated arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from simulated_arms import arm

control = gd.control
DT, LENGTH = 1e-3, 0.6
START, GOAL = np.array([0.2, -0.4, 0.6]), np.array([0.6, 0.1, 0.2])


def reference(k: int) -> gd.trajectory.Spline:
    return gd.trajectory.rest_to_rest(START, GOAL, 0.5, continuous=k)


def path(spline: gd.trajectory.Spline, t: float, k: int) -> np.ndarray:
    return spline.derivatives(min(t, 0.5), k)


def wanted(derivatives: np.ndarray) -> control.Reference:
    return control.Reference(*derivatives[:3], derivatives=derivatives)


def track(plant, made, *, offset: float = 0.0, shut: bool = False) -> np.ndarray:
    """Errors of the joints (steps, n), commands held for a millisecond; ``shut``: hold only."""
    k = made.derivatives_needed
    spline = reference(k)
    planned = gd.elastic.feedforward(plant, path(spline, 0.0, k), made.method, friction=True)
    still = np.zeros(3)
    now = gd.State(START + offset, still, planned.theta + offset, still)
    memory, found = made.start(), []
    for i in range(round(LENGTH / DT)):
        measured = gd.State(now.q, now.v, now.theta, now.vtheta)
        if shut:
            command = made.hold(START, *made.measured(measured))
        else:
            # The command is held: that of the middle of the cycle is the mean.
            target = wanted(path(spline, (i + 0.5) * DT, k))
            memory, out = made.step(memory, measured, target, DT)
            command = out.command
        now = gd.simulation.elastic_step(plant, now, DT, torque=command)
        found.append(now.q - (START if shut else path(spline, (i + 1) * DT, 0)[0]))
    return np.array(found)


@pytest.mark.parametrize("friction", [False, True])
def test_flatness_and_motor_feedback_track(friction: bool) -> None:
    plant = arm(friction=friction)
    gains = control.gains_from_modes(plant, START)
    made = control.elastic_controller(plant, gains=gains, order=2)
    assert np.abs(track(plant, made)).max() < 2e-3
    ends = np.abs(track(plant, made, offset=0.02)[-1]).max()
    assert ends < 3e-3
    if not friction:
        free = control.elastic_controller(plant, "flatness", order=2)
        assert np.abs(track(plant, free, offset=0.02)[-1]).max() > 1e-2


def test_a_wrong_ratio_shows() -> None:
    """Negative control: gains low, one percent of one ratio off."""
    plant = arm()
    drives_off = arm()
    elastic = drives_off.elasticity
    wrong = replace(
        drives_off,
        wheels=replace(drives_off.wheels, spin=1.01 * drives_off.wheels.spin),
        elasticity=replace(elastic, shaft_spin=1.01 * elastic.shaft_spin),
    )
    errors = [
        np.abs(track(plant, control.elastic_controller(m, "flatness", order=2))).max()
        for m in (plant, wrong)
    ]
    assert errors[1] > 3 * errors[0]


def test_hold_is_stable_and_carries_gravity() -> None:
    plant = arm()
    gains = control.gains_from_modes(plant, START)
    made = control.elastic_controller(plant, gains=gains, order=2)
    swing = track(plant, made, offset=0.02, shut=True)
    # The posture is the motors': the springs' deflection is left.
    bent = gd.gravity_forces(plant, START) / plant.elasticity.stiffness
    assert np.abs(swing[-1] + bent).max() < 5e-4 < np.abs(bent).max()
    blind = made.hold(START, None, None)
    np.testing.assert_allclose(
        plant.structure_matrix @ blind, gd.gravity_forces(plant, START), rtol=1e-10, atol=1e-12
    )


def test_gains_are_below_the_resonance_and_stable() -> None:
    plant = arm()
    gains = control.gains_from_modes(plant, START, fraction=0.5, damping_ratio=0.7)
    lowest = gd.elastic.modes(plant, START, rotors="held").frequency.min()
    inertia = np.diag(gd.mass_matrix(plant, START))
    np.testing.assert_allclose(np.sqrt(gains.kp / inertia), 0.5 * lowest)
    poles = control.closed_loop_poles(plant, gains, START)
    assert poles.real.max() < 0.0
    # As simulated: the linearised arm's slowest pole says how fast errors die away.
    assert len(poles) == 12


def test_joint_feedback_is_refused_where_it_is_unstable() -> None:
    plant = arm(damping=0.05)
    with pytest.raises(gd.GearedDynamicsError, match="motor-side feedback"):
        control.gains_from_modes(plant, START, fraction=0.5, feedback="joint")
    damped = arm(damping=30.0)
    gains = control.gains_from_modes(damped, START, fraction=0.05, feedback="joint")
    poles = control.closed_loop_poles(damped, gains, START, feedback="joint")
    assert poles.real.max() < 0.0


def test_sides_agree_with_the_motors_equations() -> None:
    plant = arm(friction=True)
    gains = control.gains_from_modes(plant, START)
    spline = reference(6)
    derivatives = spline.derivatives(0.2, 6)
    planned = gd.elastic.feedforward(plant, derivatives, "expanded", 2, friction=True)
    exact = gd.State(derivatives[0], derivatives[1], planned.theta, planned.vtheta)
    commands = gd.elastic.motor_commands(plant, derivatives, "expanded", 2)
    for side in ("torque", "current", "voltage"):
        made = control.elastic_controller(
            plant, gains=gains, order=2, command_type=f"motor_{side}"
        )
        _, out = made.step(made.start(), exact, wanted(derivatives), DT)
        np.testing.assert_allclose(out.command, getattr(commands, side), rtol=1e-9)


def test_switches_of_elastic_arms() -> None:
    plant = arm(friction=True)
    derivatives = reference(6).derivatives(0.2, 6)
    full, light, smooth, coupled = (
        made.step(made.start(), None, wanted(derivatives), DT)[1].command
        for made in (
            control.elastic_controller(plant, "flatness", order=2, terms=terms)
            for terms in (
                None,
                control.Terms(use_gravity_compensation=False),
                control.Terms(use_friction=False),
                control.Terms(use_rotor_coupling=False),
            )
        )
    )
    gravity = gd.motor_torques(plant, gd.gravity_forces(plant, derivatives[0]))
    np.testing.assert_allclose(full - light, gravity, rtol=1e-9, atol=1e-12)
    bare = gd.elastic.feedforward(plant, derivatives, "expanded", 2).tau_m
    np.testing.assert_allclose(smooth, bare, rtol=1e-9)
    assert np.abs(coupled - full).max() > 1e-3 * np.abs(full).max()
    with pytest.raises(gd.GearedDynamicsError, match="use_rotor_inertia"):
        control.elastic_controller(plant, terms=control.Terms(use_rotor_inertia=False))


def test_gravity_behind_coupled_drives_with_springs() -> None:
    """A motor that turns with two joints: tau_m = S g is not S' g. What they give is g again."""
    plant = elastic_arm(11, 3)
    A = plant.structure_matrix
    assert np.abs(A - A.T).max() > 1.0
    q = np.array([0.3, -0.7, 0.5])
    gravity = gd.gravity_forces(plant, q)
    still = np.zeros((7, 3))
    still[0] = q
    on, off = (
        control.elastic_controller(
            plant, "flatness", terms=control.Terms(use_gravity_compensation=given)
        )
        for given in (True, False)
    )
    np.testing.assert_allclose(A @ on.hold(q, None, None), gravity, rtol=1e-9)
    assert not off.hold(q, None, None).any()
    whole, rest = (
        made.step(made.start(), None, wanted(still[: made.derivatives_needed + 1]), DT)[1].command
        for made in (on, off)
    )
    np.testing.assert_allclose(A @ whole, gravity, rtol=1e-6)
    np.testing.assert_allclose(A @ (whole - rest), gravity, rtol=1e-6)
