"""Contacts: batches, functions, supports that yield, release; elastic and driven arms."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import SLIDING, TAU, Q, V, planar, tip, wall
from random_robots import random_robot, random_state

contact = gd.contact
X = (1.0, 0.0, 0.0)


# -- forms of calls ------------------------------------------------------------------------------


def same(one: Any, other: Any) -> None:
    """Compare two results to the last digit but one."""
    for x, y in zip(one, other, strict=True):
        if isinstance(x, tuple):
            same(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_batches_are_single_states(friction: float) -> None:
    model = planar()
    surface = contact.prepare(model, wall())
    q, v = np.tile(Q, (2, 3, 1)), np.random.default_rng(0).normal(size=(2, 3, 2))
    tau = np.array([30.0, 10.0])
    moved = contact.constrained_dynamics(model, surface, q, v, tau, friction=friction)
    hit = contact.impact(model, surface, q, v, 0.5, friction)
    seen = contact.coordinates(model, surface, q, v)
    assert moved.wrench.shape == (2, 3, 1, 6)
    assert hit.loss.shape == (2, 3)
    assert hit.bearing_impulse.shape == (2, 3, 2, 6)
    assert seen.jacobian.shape == (2, 3, 1, 2)
    assert seen.free.jacobian.shape == (2, 3, 5, 2)
    for k in np.ndindex(2, 3):
        one = contact.constrained_dynamics(model, surface, Q, v[k], tau, friction=friction)
        same(one, [x[k] for x in moved])
        same(contact.impact(model, surface, Q, v[k], 0.5, friction), [x[k] for x in hit])


def test_lists_and_unprepared_contacts_are_taken() -> None:
    model = planar()
    prepared = contact.prepare(model, [wall()])
    one = contact.impact(model, prepared, Q, V)
    same(one, contact.impact(model, wall(), Q.tolist(), tuple(V)))
    same(one, [x[0] for x in contact.impact(model, (wall(),), Q[None], V)])
    assert contact.prepare(model, prepared) is prepared
    assert contact.impact(model, prepared, np.zeros((0, 2)), V).loss.shape == (0,)


def test_contacts_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps([wall(), contact.Line("tip", tip(), X)]))
    same(contact.impact(planar(), again[0], Q, V), contact.impact(planar(), wall(), Q, V))


def test_effective_mass_of_batches() -> None:
    model = random_robot(2, joints=5).load()
    q = random_state(5, 1, batch=(3,))[0]
    link = model.body_names[-1]
    mass = contact.effective_mass(model, q[:, None], link, np.eye(3))
    assert mass.shape == (3, 3)
    assert mass[1, 2] == pytest.approx(contact.effective_mass(model, q[1], link, (0, 0, 7.0)))


# -- functions -----------------------------------------------------------------------------------


def moving_plane(pose: np.ndarray, t: float) -> float:
    """The moving wall below, as a function of the tip's pose."""
    angle = 0.4 * t
    normal = np.array([np.cos(angle), np.sin(angle), 0.0])
    return float(normal @ (pose[:3, 3] - tip() - t * np.array([0.3, 0.1, 0.0])))


@pytest.mark.parametrize("frame", ["tip", None])
def test_functions_are_what_surfaces_are(frame: str | None) -> None:
    model, t = planar(), 0.0
    surface = wall(velocity=(0.3, 0.1, 0.0), angular_velocity=(0, 0, 0.4), bilateral=True)

    def of_joints(q: np.ndarray, t: float) -> float:
        return moving_plane(gd.pose(model, q, "tip"), t)

    given = contact.Constraint(moving_plane if frame else of_joints, frame=frame)
    one = contact.coordinates(model, surface, Q, V, t)
    two = contact.coordinates(model, given, Q, V, t)
    np.testing.assert_allclose(two.s, one.s, atol=1e-12)
    for x, y in zip(two[1:4], one[1:4], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-10)
    for function, args in (
        (contact.impact, (Q, V, 0.5)),
        (contact.constrained_dynamics, (Q, V, TAU)),
    ):
        first, second = function(model, surface, *args), function(model, given, *args)
        np.testing.assert_allclose(second[0], first[0], atol=1e-9)
        np.testing.assert_allclose(second[1], first[1], atol=1e-8)
        expected = first.wrench if frame else 0.0 * first.wrench
        np.testing.assert_allclose(second.wrench, expected, atol=1e-8)


def test_a_stop_of_a_joint_is_a_function() -> None:
    """s = q2 - 1: the impulse acts in the joint, between its two links."""
    model = planar()
    stop = contact.Constraint(lambda q, t: q[1] - Q[1], bilateral=False)
    found = contact.impact(model, stop, Q, V)
    assert found.v[1] == pytest.approx(0.0, abs=1e-12)
    drives = -model.Gamma[model.motor_wheel].T @ found.gear_impulse
    along = found.bearing_impulse[:, 5] - drives
    np.testing.assert_allclose(along, [0.0, found.impulse[0]], atol=1e-12)
    opening = contact.impact(model, stop, Q, -V)
    np.testing.assert_array_equal(opening.v, -V)


# -- touching and letting go ---------------------------------------------------------------------


def test_free_where_it_does_not_touch() -> None:
    model, free = planar(), gd.forward_dynamics(planar(), Q, SLIDING, TAU)
    away = contact.Surface("tip", tip() - [2e-6, 0, 0], X)
    found = contact.constrained_dynamics(model, away, Q, SLIDING, TAU)
    np.testing.assert_allclose(found.a, free, rtol=1e-12)
    assert found.force[0] == 0.0
    assert contact.impact(model, away, Q, V).impulse[0] == 0.0
    parting = contact.constrained_dynamics(model, wall(), Q, -V, TAU)
    assert parting.force[0] == 0.0
    assert contact.impact(model, wall(), Q, -V).impulse[0] == 0.0


def test_what_touches_twice_and_is_not_pushed_needs_no_force() -> None:
    """Forces of two contacts that are one are not unique, but where there are none they are."""
    model, still = planar(gravity=(0.0, 0.0, 0.0)), np.zeros(2)
    stop = contact.Constraint(lambda q, t: q[1] - Q[1], bilateral=False)
    found = contact.constrained_dynamics(model, [stop, stop], Q, still, still)
    np.testing.assert_array_equal(found.force, 0.0)
    np.testing.assert_array_equal(found.a, 0.0)


def test_released_where_a_force_would_pull() -> None:
    model = planar()
    pulling = contact.constrained_dynamics(model, wall(bilateral=True), Q, SLIDING, -TAU)
    assert pulling.force[0] < 0.0
    released = contact.constrained_dynamics(model, wall(), Q, SLIDING, -TAU)
    assert released.force[0] == 0.0
    assert released.acceleration[0] > 0.0


@pytest.mark.parametrize("depth", [0.9e-6, -0.9e-6])
def test_drift_decays(depth: float) -> None:
    """s'' = -w^2 s - 2 w s' within the tolerance."""
    model = planar()
    for w in (0.0, 20.0, 300.0):
        ready = contact.prepare(model, wall(depth, bilateral=True), stabilisation=w)
        found = contact.constrained_dynamics(model, ready, Q, SLIDING, TAU)
        rate = contact.coordinates(model, ready, Q, SLIDING).rate
        assert found.acceleration[0] == pytest.approx(w * w * depth - 2 * w * rate[0], abs=1e-10)


def test_what_moves_along_is_at_rest_to_it() -> None:
    """A wall that recedes as fast as the tip comes is not hit."""
    speed = gd.jacobian(planar(), Q, "tip")[:3] @ V
    found = contact.impact(planar(), wall(velocity=speed), Q, V, 1.0, 0.5)
    np.testing.assert_allclose(found.v, V, atol=1e-12)


# -- supports ------------------------------------------------------------------------------------


def test_support_without_mass() -> None:
    """Fig. 20.15 b: F = -k s - b s', pushing only, and no impact."""
    model = planar()
    support = contact.Environment(wall(1e-3), 2e4, damping=50.0)
    rate = contact.coordinates(model, support, Q, V).rate[0]
    found = contact.constrained_dynamics(model, support, Q, V, TAU)
    assert found.force[0] == pytest.approx(20.0 - 50.0 * rate, rel=1e-12)
    J = gd.jacobian(model, Q, "tip")
    free = gd.forward_dynamics(model, Q, V, TAU + J[0] * found.force[0])
    np.testing.assert_allclose(found.a, free, rtol=1e-12)
    assert contact.impact(model, contact.Environment(wall(), 2e4), Q, V).impulse[0] == 0.0
    quick = contact.constrained_dynamics(model, support, Q, -100.0 * V, TAU)
    assert quick.force[0] == 0.0


def test_support_with_a_spring_to_its_mass() -> None:
    """Fig. 20.15 d: F = k_t (y - s), m y'' = -F - k y - b y'."""
    support = contact.Environment(wall(1e-3), 2e4, damping=50.0, mass=0.5, tool_stiffness=1e5)
    state = np.array([[-4e-4, 0.02]])
    found = contact.constrained_dynamics(planar(), support, Q, V, TAU, depth=state)
    assert found.force[0] == pytest.approx(1e5 * 6e-4, rel=1e-12)
    assert found.support[0] == pytest.approx(-(60.0 - 8.0 + 1.0) / 0.5, rel=1e-12)
    assert contact.impact(planar(), support, Q, V).impulse[0] == 0.0
    hard = contact.Environment(wall(1e-3), 2e4, mass=0.5, tool_stiffness=1e5)
    parted = contact.constrained_dynamics(planar(), hard, Q, V, TAU, depth=[[-2e-3, 0.0]])
    assert parted.force[0] == 0.0
    assert parted.support[0] == pytest.approx(2e4 * 2e-3 / 0.5)


def test_a_mass_with_a_state_of_its_own() -> None:
    """On the tool it is as without a state; left, it swings alone; hit, it takes the impulse."""
    model, support = planar(), contact.Environment(wall(1e-3), 2e4, damping=50.0, mass=2.0)
    seen = contact.coordinates(model, support, Q, V, free=False)
    on = [[seen.s[0], seen.rate[0]]]
    same(
        contact.constrained_dynamics(model, support, Q, V, TAU, depth=on),
        contact.constrained_dynamics(model, support, Q, V, TAU),
    )
    away = [[seen.s[0] - 1e-3, 0.1]]
    left = contact.constrained_dynamics(model, support, Q, V, TAU, depth=away)
    assert left.force[0] == 0.0
    assert left.support[0] == pytest.approx(-(2e4 * away[0][0] + 50.0 * 0.1) / 2.0, rel=1e-12)
    # Galilei: a mass that moves is hit as one at rest by a wall that moves with it.
    moving = contact.impact(model, support, Q, V, 0.4, depth=[[seen.s[0], 0.3]])
    still = contact.Environment(wall(velocity=(0.3, 0, 0)), 2e4, mass=2.0)
    same(moving, contact.impact(model, still, Q, V, 0.4))
    after = contact.coordinates(model, support, Q, moving.v, free=False).rate[0]
    parting = after - (0.3 - moving.impulse[0] / 2.0)
    assert parting == pytest.approx(-0.4 * (seen.rate[0] - 0.3), rel=1e-10)
    inside = [[seen.s[0] + 1e-3, 0.0]]
    with pytest.raises(gd.GearedDynamicsError, match="tolerance"):
        contact.constrained_dynamics(model, support, Q, V, TAU, depth=inside)


def test_springs_one_behind_the_other() -> None:
    assert contact.springs_in_series(3e4, 6e4) == pytest.approx(2e4)
    assert contact.springs_in_series(5.0) == 5.0


@pytest.mark.parametrize("mass", [0.0, 2.0])
def test_nonlinear_support(mass: float) -> None:
    """k(s) and b(s, s') at the state; constant functions are constants."""
    model, s = planar(), -1e-3
    plain = contact.Environment(wall(1e-3), 2e4, damping=50.0, mass=mass)
    same_again = contact.Environment(
        wall(1e-3), lambda s: 2e4, damping=lambda s, rate: 50.0, mass=mass
    )
    same(
        contact.constrained_dynamics(model, same_again, Q, V, TAU),
        contact.constrained_dynamics(model, plain, Q, V, TAU),
    )
    harder = contact.Environment(wall(1e-3), lambda s: 2e4 - 1e7 * s, damping=50.0, mass=mass)
    constant = contact.Environment(wall(1e-3), 2e4 - 1e7 * s, damping=50.0, mass=mass)
    same(
        contact.constrained_dynamics(model, harder, Q, V, TAU),
        contact.constrained_dynamics(model, constant, Q, V, TAU),
    )


def test_a_support_that_would_pull_lets_go() -> None:
    support = contact.Environment(wall(1e-6), 2e4, mass=2.0)
    found = contact.constrained_dynamics(planar(), support, Q, SLIDING, -10 * TAU)
    assert found.force[0] == 0.0
    assert found.support[0] == pytest.approx(2e4 * 1e-6 / 2.0, rel=1e-6)


def test_elastic_arms_are_warned_of() -> None:
    model = planar(stiffness=1e3)
    with pytest.warns(gd.GearedDynamicsWarning, match="with_springs"):
        contact.impact(model, wall(), Q, V)
    arm = model.with_springs()
    contact.impact(arm.with_coupling("diagonal"), wall(), np.append(Q, Q), np.append(V, V))
    with pytest.raises(gd.GearedDynamicsError, match="no joint"):
        arm.with_springs()


def test_elastic_arm_in_contact_moves_as_its_equations_say() -> None:
    """H (a, atheta) + h = (tau + J'F + springs): the complete matrix with S."""
    model = planar(stiffness=1e3)
    arm = model.with_springs()
    theta, vtheta = Q + np.array([0.01, -0.02]), SLIDING + 0.1
    springs = gd.elastic.spring_forces(model, gd.State(Q, SLIDING, theta, vtheta))
    motors = gd.elastic.structure_matrix(model) @ np.array([0.3, -0.2])
    x, rate = np.append(Q, theta), np.append(SLIDING, vtheta)
    found = contact.constrained_dynamics(arm, wall(bilateral=True), x, rate, springs + motors)
    J = gd.jacobian(model, Q, "tip")[0]
    a, atheta = gd.elastic.forward_dynamics(
        model, gd.State(Q, SLIDING, theta, vtheta), np.array([0.3, -0.2]), tau=J * found.force[0]
    )
    np.testing.assert_allclose(found.a, np.append(a, atheta), rtol=1e-10)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-9)


def test_currents_go_on_over_an_impact_and_back_emf_jumps() -> None:
    """The same motion as of the driven arm with the contact's force from outside."""
    motor = {"resistance": 0.8, "inductance": 1e-3, "torque_constant": 0.06}
    model, current, voltage = planar(**motor), np.array([2.0, -1.0]), np.array([12.0, 5.0])
    tau = model.structure_matrix @ (0.06 * current)
    hit = contact.impact(model, wall(), Q, V)
    held = contact.constrained_dynamics(model, wall(), Q, hit.v, tau)
    push = gd.jacobian(model, Q, "tip")[0] * held.force[0]
    before = gd.driven_rates(model, Q, V, current, voltage)
    after = gd.driven_rates(model, Q, hit.v, current, voltage, external=push)
    np.testing.assert_allclose(after.a, held.a, rtol=1e-9)
    speeds = model.structure_matrix.T @ (hit.v - V)
    np.testing.assert_allclose(after.current - before.current, -0.06 * speeds / 1e-3, rtol=1e-9)
