"""Laws of contact that need no second implementation: energy, frames, symmetry, friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import geared_dynamics as gd
from contact_arms import SLIDING, TAU, Q, V, planar, tip, wall
from naive.bodies import Array
from random_parts import rotation, unit_vector
from random_robots import random_robot, random_state

contact = gd.contact
FEW, MANY = 400, 10_000  # oblique impacts in the usual run, and in the long one


def energy(model: gd.GearedModel, q: Array, v: Array) -> float:
    """Kinetic energy by the mass matrix."""
    return float(0.5 * v @ gd.mass_matrix(model, q) @ v)


def surface_at(model: gd.GearedModel, q: Array, seed: int, **options: Any) -> Any:
    """A surface of any direction that the last link touches at q."""
    rng = np.random.default_rng(seed)
    link = model.body_names[-1]
    place = gd.pose(model, q, link)[:3, 3]
    return contact.Surface(link, place, unit_vector(rng), **options)


def oblique(count: int, first: int = 0) -> None:
    """Impacts with friction on random arms: losses, and what friction and wall may do."""
    arms = [random_robot(seed, joints=4 + seed % 3, wheels=5).load() for seed in range(10)]
    jammed = 0
    for k in range(first, first + count):
        model, rng = arms[k % len(arms)], np.random.default_rng(k)
        q, v, _ = random_state(model.n, k)
        e, mu = (
            rng.choice([0.0, 1.0, rng.random()]),
            float(rng.choice([0.1, 0.5, rng.random() * 2])),
        )
        wall_speed = rng.normal(size=3) * (k % 2)
        surface = surface_at(model, q, k, velocity=wall_speed)
        try:
            found = contact.impact(model, surface, q, v, e, mu)
        except gd.GearedDynamicsError as error:
            if "jams" not in str(error):
                raise
            jammed += 1
            continue
        before, after = energy(model, q, v), energy(model, q, found.v)
        force = found.wrench[0, :3]
        normal = surface.normal
        assert found.loss >= 0.0
        # The wall's work includes that of friction, which acts where the wall moves.
        balance = before - after + wall_speed @ force - found.loss
        assert abs(balance) < 1e-10 * (before + after)
        along = force - (force @ normal) * normal
        assert force @ normal >= 0.0
        assert np.linalg.norm(along) <= mu * (force @ normal) * (1 + 1e-9)
        jacobian = gd.jacobian(model, q, surface.frame)
        change = gd.mass_matrix(model, q) @ (found.v - v) - jacobian.T @ found.wrench[0]
        assert (
            np.abs(change).max() < 1e-9 * np.abs(v).max() * np.abs(gd.mass_matrix(model, q)).max()
        )
        parting = normal @ (jacobian[:3] @ found.v - wall_speed)
        assert parting >= -1e-9
    assert jammed < 0.02 * count


def test_no_oblique_impact_creates_energy() -> None:
    oblique(FEW)


@pytest.mark.validate
def test_none_of_many_oblique_impacts_creates_energy() -> None:
    oblique(MANY, first=FEW)


def keller(G: Array, u: Array, mu: float, e: float) -> tuple[Array, float]:
    """Impulse and loss by the equations of Keller and Stronge, for sliding that does not end."""

    def rates(_: float, z: Array) -> list[float]:
        slip = z[1:3] / np.linalg.norm(z[1:3])
        f = np.array([1.0, *(-mu * slip)])
        du = G @ f
        return [*du, *f, z[0], -f[1:] @ z[1:3]]

    def compressed(_: float, z: Array) -> float:
        return float(z[0])

    compressed.terminal, compressed.direction = True, 1.0  # type: ignore[attr-defined]
    options: dict[str, Any] = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
    start = np.array([*u, 0.0, 0.0, 0.0, 0.0, 0.0])
    first = solve_ivp(rates, (0.0, 1e3), start, events=compressed, **options).y[:, -1]
    goal = (1.0 - e * e) * first[6]

    def given_back(_: float, z: Array) -> float:
        return float(z[6] - goal)

    given_back.terminal = True  # type: ignore[attr-defined]
    if e > 0.0:
        first = solve_ivp(rates, (0.0, 1e3), first, events=given_back, **options).y[:, -1]
    return first[3:6], float(-first[6] + first[7])


@pytest.mark.parametrize("seed", range(12))
def test_sliding_that_turns(seed: int) -> None:
    """Stronge's law in three dimensions, integrated by another scheme."""
    rng, mu, e = np.random.default_rng(seed), 0.2, 0.5 * (seed % 3)
    model = random_robot(seed, joints=5, wheels=5, prismatic=False).load()
    q = random_state(model.n, seed)[0]
    surface = surface_at(model, q, seed)
    axes = np.column_stack([surface.normal, *np.linalg.svd(surface.normal[None])[2][1:]])
    J = axes.T @ gd.jacobian(model, q, surface.frame)[:3]
    G = J @ np.linalg.solve(gd.mass_matrix(model, q), J.T)
    u = np.array([-1.0, *(8.0 * unit_vector(rng)[:2] + 4.0)])
    found = contact.impact(model, surface, q, np.linalg.pinv(J) @ u, e, mu)
    P, loss = keller(G, u, mu, e)
    np.testing.assert_allclose(axes.T @ found.wrench[0, :3], P, atol=1e-9 * np.abs(P).max())
    np.testing.assert_allclose(found.loss, loss, rtol=1e-8)


def test_without_sliding_friction_only_takes() -> None:
    """An elastic impact that does not slide loses nothing, though friction acts."""
    model, surface = planar(), wall()
    J = gd.jacobian(model, Q, "tip")[:2]
    v = np.linalg.solve(J, [-1.0, 0.0])  # straight on
    found = contact.impact(model, surface, Q, v, 1.0, 5.0)
    np.testing.assert_allclose(found.loss, 0.0, atol=1e-13)
    np.testing.assert_allclose(J[1] @ found.v, 0.0, atol=1e-13)
    assert abs(found.wrench[0, 1]) > 0.01


def test_turned_arm_turns_its_results() -> None:
    """The whole arm on a turned base: forces turn with it, motion stays."""
    turn = rotation(np.array([0.3, -0.8, 1.1]))
    model = random_robot(3, joints=5).load()
    q, v, tau = random_state(model.n, 1)
    link = model.body_names[-1]
    place, normal = gd.pose(model, q, link)[:3, 3], unit_vector(np.random.default_rng(2))
    still = v - gd.jacobian(model, q, link)[:3].T @ np.zeros(3)
    here = contact.Surface(link, place, normal, bilateral=True)
    text = model.records.robot
    from dataclasses import replace

    from geared_dynamics.arrays import readonly

    roots = model.tree.parent < 0
    tree = replace(
        model.tree,
        rotation=readonly(
            np.where(roots[:, None, None], turn @ model.tree.rotation, model.tree.rotation)
        ),
        position=readonly(
            np.where(roots[:, None], model.tree.position @ turn.T, model.tree.position)
        ),
    )
    wheels = replace(
        model.wheels,
        axis=readonly(
            np.where(
                model.wheels.carrier[:, None] < 0, model.wheels.axis @ turn.T, model.wheels.axis
            )
        ),
    )
    other = replace(model, tree=tree, wheels=wheels, gravity=readonly(turn @ model.gravity))
    there = contact.Surface(link, turn @ place, turn @ normal, bilateral=True)
    assert text is other.records.robot
    for function, args in (
        (contact.constrained_dynamics, (q, still, tau)),
        (contact.impact, (q, still, 0.4)),
    ):
        one, two = function(model, here, *args), function(other, there, *args)
        np.testing.assert_allclose(one[0], two[0], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(one[1], two[1], rtol=1e-9)
        np.testing.assert_allclose(
            turn @ one.wrench[0, :3], two.wrench[0, :3], rtol=1e-9, atol=1e-10
        )


def test_order_of_contacts_does_not_count() -> None:
    model = random_robot(8, joints=6).load()
    q, v, tau = random_state(model.n, 5)
    surfaces = [surface_at(model, q, seed, bilateral=True) for seed in (1, 2)]
    for function, args in ((contact.constrained_dynamics, (q, v, tau)), (contact.impact, (q, v))):
        one, two = function(model, surfaces, *args), function(model, surfaces[::-1], *args)
        np.testing.assert_allclose(one[0], two[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(one[1], two[1][::-1], rtol=1e-10)


def test_an_impact_is_a_short_strong_push() -> None:
    """A stiff support without mass, integrated, gives the plastic impulse's limit with damping."""
    model, surface = planar(gravity=(0, 0, 0)), wall()
    rigid = contact.impact(model, surface, Q, V)
    stiffness = 1e8
    mass = contact.effective_mass(model, Q, "tip", (1, 0, 0))
    support = contact.prepare(
        model, contact.Environment(surface, stiffness, damping=200 * np.sqrt(stiffness * mass))
    )

    def rates(_: float, x: Array) -> Array:
        a = contact.constrained_dynamics(model, support, x[:2], x[2:], np.zeros(2)).a
        return np.concatenate([x[2:], a])

    motion = solve_ivp(rates, (0.0, 2e-5), [*Q, *V], "LSODA", rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(motion.y[2:, -1], rigid.v, atol=1e-4)


def test_friction_opposes_sliding_and_takes_energy() -> None:
    model, surface = planar(), wall()
    found = contact.constrained_dynamics(model, surface, Q, SLIDING, TAU, friction=0.3)
    assert found.wrench[0, :3] @ gd.jacobian(model, Q, "tip")[:3] @ SLIDING < 0.0


def test_a_locked_gear_stops_and_holds() -> None:
    """A jam is a plastic impact of the gear; afterwards its joint does not accelerate."""
    model = planar(efficiency={"driving": 0.4, "backdriving": -0.3})
    lock = contact.LockedGear("motor_2")
    found = contact.impact(model, lock, Q, V)
    assert abs(found.v[1]) < 1e-15
    np.testing.assert_allclose(
        found.loss, energy(model, Q, V) - energy(model, Q, found.v), rtol=1e-12
    )
    assert found.loss > 0.0
    held = contact.constrained_dynamics(model, lock, Q, found.v, TAU)
    assert abs(held.a[1]) < 1e-13
    both = contact.impact(model, [lock, wall()], Q, V, friction=0.2)
    assert abs(both.v[1]) < 1e-13
    assert both.v[0] * gd.jacobian(model, Q, "tip")[0, 0] >= -1e-13


def test_bearings_carry_what_gears_do_not() -> None:
    """Along each revolute axis the joint's impulse is what its drives give: -Gamma' J jump."""
    model = planar()
    found = contact.impact(model, wall(), Q, V, 0.3)
    given = -model.Gamma[model.motor_wheel].T @ found.gear_impulse
    np.testing.assert_allclose(found.bearing_impulse[:, 5], given, atol=1e-14)


def test_bouncing_between_two_walls_comes_to_an_end() -> None:
    """Successive impacts of two frames: every one takes energy, and nothing approaches at last."""
    model = random_robot(12, joints=6).load()
    q, v, _ = random_state(model.n, 12)
    surfaces = [surface_at(model, q, seed) for seed in (1, 2, 3)]
    for e in (0.0, 0.6):
        found = contact.impact(model, surfaces, q, v, e, order="successive")
        seen = contact.coordinates(model, surfaces, q, found.v)
        assert seen.rate.min() > -1e-10
        assert (found.impulse >= 0.0).all()
        lost = energy(model, q, v) - energy(model, q, found.v)
        np.testing.assert_allclose(found.loss, lost, atol=1e-11 * energy(model, q, v))


def test_tip_is_where_the_wall_is() -> None:
    assert contact.coordinates(planar(), wall(), Q, V).s == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(tip()[2], 0.0)


# ‖Δq‖ to the rigid constraint at 0.1 s, by the support's stiffness.
TOWARDS_RIGID = {1e5: 4.77e-4, 1e6: 4.72e-5, 1e7: 4.70e-6, 1e8: 4.63e-7}


def on_a_support(stiffness: float, damping: float) -> tuple[Array, list[float]]:
    """q at 0.1 s, and times at which the tool left; damping in units of sqrt(k (m_e + m))."""
    model, own = planar(), 0.5
    mass = contact.effective_mass(model, Q, "tip", (1, 0, 0))
    support = contact.Environment(
        wall(), stiffness, damping=damping * np.sqrt(stiffness * (own + mass)), mass=own
    )
    ready = contact.prepare(model, support)
    start = contact.impact(model, ready, Q, V)

    def rates(_: float, x: Array) -> Array:
        # What is left by the tool stands at s = 0: it is touched from there on.
        a = contact.constrained_dynamics(model, ready, x[:2], x[2:], TAU, tolerance=0.0).a
        return np.concatenate([x[2:], a])

    motion = solve_ivp(
        rates, (0.0, 0.1), [*Q, *start.v], "LSODA", rtol=1e-10, atol=1e-13, max_step=1e-3
    )
    forces = [
        contact.constrained_dynamics(model, ready, x[:2], x[2:], TAU, tolerance=0.0).force[0]
        for x in motion.y.T
    ]
    left = [float(t) for t, force in zip(motion.t, forces, strict=True) if force == 0.0]
    return motion.y[:2, -1], left


def on_rigid_ground() -> Array:
    """q at 0.1 s, sliding along the wall after a plastic impact."""
    model = planar()
    ready = contact.prepare(model, wall(bilateral=True))
    start = contact.impact(model, ready, Q, V)

    def rates(_: float, x: Array) -> Array:
        a = contact.constrained_dynamics(model, ready, x[:2], x[2:], TAU, tolerance=np.inf).a
        return np.concatenate([x[2:], a])

    motion = solve_ivp(rates, (0.0, 0.1), [*Q, *start.v], "DOP853", rtol=1e-12, atol=1e-14)
    return np.asarray(motion.y[:2, -1])


@pytest.mark.parametrize("stiffness", [1e5, 1e6])
def test_damped_supports_approach_the_rigid_wall(stiffness: float) -> None:
    q, left = on_a_support(stiffness, 6.0)
    assert not left
    distance = np.linalg.norm(q - on_rigid_ground())
    np.testing.assert_allclose(distance, TOWARDS_RIGID[stiffness], rtol=5e-3)


@pytest.mark.validate
@pytest.mark.parametrize("stiffness", [1e7, 1e8])
def test_stiff_damped_supports_approach_the_rigid_wall(stiffness: float) -> None:
    test_damped_supports_approach_the_rigid_wall(stiffness)


def test_with_less_damping_the_tool_rebounds() -> None:
    _, left = on_a_support(1e7, 2.0)
    assert left


@pytest.mark.validate
def test_drift_over_ten_seconds() -> None:
    """Stages of the integrator may leave the wall, the motion along it does not."""
    model = planar()
    ready = contact.prepare(model, wall(bilateral=True))
    start = contact.impact(model, ready, Q, V)

    def rates(_: float, x: Array) -> Array:
        tau = np.array([20.0, 8.0]) - 2.0 * x[2:]
        a = contact.constrained_dynamics(model, ready, x[:2], x[2:], tau, tolerance=np.inf).a
        return np.concatenate([x[2:], a])

    motion = solve_ivp(rates, (0.0, 10.0), [*Q, *start.v], "DOP853", rtol=1e-9, atol=1e-11)
    seen = contact.coordinates(model, ready, motion.y[:2].T, motion.y[2:].T, free=False)
    assert np.abs(seen.s).max() < 1e-8
