"""Approach, impact, contact and release of simulated arms: events, drift, energy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import Q, V, planar, tip, wall
from random_robots import random_robot, random_state

contact = gd.contact
LONG = pytest.mark.validate
TIMES = np.linspace(0.0, 0.5, 51)
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def press(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Weight, a push towards smaller x, and damping."""
    model = ARM
    return gd.gravity_forces(model, q) - 20.0 * gd.jacobian(model, q, "tip")[0] - 1.0 * v


ARM = planar()


def balance(run: Any) -> float:
    """What the account leaves open, of the largest energy in it."""
    account = run.energy
    open_ = account.end - account.start - account.work - account.contact_work + account.loss
    return abs(open_) / max(1.0, *map(abs, account))


def kinds(run: Any) -> list[str]:
    """Kinds of the events."""
    return [event.kind for event in run.events]


def test_an_impact_and_sliding_along_the_wall() -> None:
    run = contact.simulate(ARM, wall(), Q, V, TIMES, press)
    assert kinds(run) == ["impact", "contact"]
    first = run.events[0]
    expected = contact.impact(ARM, wall(), Q, V)
    np.testing.assert_allclose(first.impulse, expected.impulse, rtol=1e-12)
    np.testing.assert_allclose(first.jump, expected.v - V, rtol=1e-12)
    seen = contact.coordinates(ARM, wall(), run.q, run.v, free=False)
    assert np.abs(seen.s).max() < 1e-9
    assert (run.force > 0.0).all()
    assert balance(run) < 1e-8


def test_an_approach_ends_at_the_wall_and_not_within_it() -> None:
    """The instant of the impact is that of free motion; the wall stands 20 mm ahead."""
    ahead = contact.Surface("tip", tip() - [0.02, 0, 0], X)
    run = contact.simulate(ARM, ahead, Q, V, TIMES, press)
    event = run.events[0]
    assert event.kind == "impact"
    assert 0.0 < event.time < 0.1
    near = contact.simulate(ARM, ahead, Q, V, [0.0, event.time], press)
    assert abs(contact.coordinates(ARM, ahead, near.q[-1], near.v[-1], free=False).s[0]) < 1e-9
    assert contact.coordinates(ARM, ahead, run.q, run.v, free=False).s.min() > -1e-9
    assert balance(run) < 1e-8


def test_bouncing_comes_to_rest() -> None:
    run = contact.simulate(ARM, wall(), Q, V, TIMES, press, restitution=0.5)
    impacts = [event for event in run.events if event.kind == "impact"]
    assert len(impacts) > 5
    assert kinds(run)[-1] == "contact"
    losses = [event.loss for event in impacts]
    assert min(losses) >= 0.0
    assert contact.coordinates(ARM, wall(), run.q, run.v, free=False).s.min() > -1e-9
    assert balance(run) < 1e-8


def test_released_where_the_force_turns_to_pull() -> None:
    def let_go(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        push = 20.0 * np.cos(10.0 * t)
        return gd.gravity_forces(ARM, q) - push * gd.jacobian(ARM, q, "tip")[0] - 1.0 * v

    run = contact.simulate(ARM, wall(), Q, V, TIMES, let_go)
    assert kinds(run)[:3] == ["impact", "contact", "release"]
    (time,) = [event.time for event in run.events if event.kind == "release"][:1]
    before = contact.simulate(ARM, wall(), Q, V, [0.0, time - 1e-7], let_go)
    assert 0.0 <= before.force[-1, 0] < 1e-3
    assert balance(run) < 1e-8


def test_sliding_ends_and_sticks() -> None:
    run = contact.simulate(ARM, wall(), Q, V, TIMES, press, friction=0.6)
    assert "stick" in kinds(run)
    stuck = next(event.time for event in run.events if event.kind == "stick")
    after = run.t > stuck
    still = np.abs(run.v[after]).max() if "slide" not in kinds(run) else 0.0
    assert still < 1e-6
    assert run.energy.contact_work < 0.0
    assert balance(run) < 1e-7


def test_moving_walls_do_work() -> None:
    run = contact.simulate(ARM, wall(velocity=(0.2, 0, 0)), Q, V, TIMES, press)
    assert run.energy.contact_work > 0.0
    assert balance(run) < 1e-8


def test_planned_contact_without_speed() -> None:
    """Braked so that the tip arrives with no speed: no impact, only a contact."""
    J = gd.jacobian(ARM, Q, "tip")[:2]
    reach, time = 0.01, 0.1
    start = gd.pose(ARM, Q, "tip")[:3, 3]

    def brake(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Tip at x = start - reach (2 u - u^2), u = t / time, and held there."""
        u = min(t / time, 1.0)
        a = np.array([2.0 * reach / time**2 if u < 1.0 else -1.0, 0.0])
        moving = gd.jacobian(ARM, q, "tip")[:2]
        drift = gd.jacobian_drift(ARM, q, v, "tip")[:2]
        return gd.inverse_dynamics(ARM, q, v, np.linalg.solve(moving, a - drift))

    surface = contact.Surface("tip", start - [reach, 0, 0], X)
    v = np.linalg.solve(J, [-2.0 * reach / time, 0.0])
    run = contact.simulate(ARM, surface, Q, v, np.linspace(0, 0.2, 21), brake)
    assert kinds(run) == ["contact"]
    assert run.events[0].time == pytest.approx(time, abs=1e-3)
    assert balance(run) < 1e-8


def test_support_with_a_coordinate_of_its_own() -> None:
    support = contact.Environment(wall(), 2e4, damping=200.0, mass=0.5, tool_stiffness=1e5)
    run = contact.simulate(ARM, support, Q, V, TIMES, press)
    assert run.depth.shape == (51, 1, 2)
    assert run.events == ()
    s = contact.coordinates(ARM, support, run.q, run.v, free=False).s[:, 0]
    np.testing.assert_allclose(
        run.force[:, 0], 1e5 * np.maximum(0, run.depth[:, 0, 0] - s), atol=1e-9
    )
    assert balance(run) < 1e-8


def test_in_a_corner_with_friction() -> None:
    """Along the wall down to the floor, and there held by both; each surface has its own slip."""

    def into_the_corner(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        J = gd.jacobian(ARM, q, "tip")[:2]
        return gd.gravity_forces(ARM, q) - J.T @ [20.0, 30.0] - 1.0 * v

    corner = [wall(), contact.Surface("tip", tip() - [0.0, 0.05, 0.0], Y)]
    run = contact.simulate(ARM, corner, Q, V, TIMES, into_the_corner, friction=0.4)
    assert kinds(run)[:2] == ["impact", "contact"]
    met = [event for event in run.events if event.kind == "impact" and 1 in event.contacts]
    assert met
    assert np.abs(run.v[-1]).max() < 1e-5
    # At rest the forces carry the push: along x and y, friction of the other surface included.
    last = contact.constrained_dynamics(
        ARM, corner, run.q[-1], 0.0 * V, into_the_corner(0.5, run.q[-1], 0 * V), friction=0.4
    )
    np.testing.assert_allclose(last.wrench[:, :2].sum(axis=0), [20.0, 30.0], rtol=1e-4)
    assert balance(run) < 1e-7


def whole(run: Any, support: Any) -> np.ndarray:
    """Energy of the arm, the support's mass and its spring, at each time."""
    arm = gd.kinetic_energy(ARM, run.q, run.v) + gd.potential_energy(ARM, run.q)
    y, rate = run.depth[:, 0].T
    return np.asarray(arm + 0.5 * support.mass * rate**2 + 0.5 * support.stiffness * y**2)


def test_a_mass_that_the_tool_hits_swings_by_itself() -> None:
    """Elastic: energy stays; in between the mass swings with its own frequency."""
    model = planar(gravity=(0.0, 0.0, 0.0))
    support = contact.Environment(wall(), 500.0, mass=2.0)
    times = np.linspace(0.0, 0.05, 26)
    run = contact.simulate(model, support, Q, V, times, restitution=1.0)
    first = run.events[0]
    hit = contact.impact(model, support, Q, V, 1.0)
    np.testing.assert_allclose(first.jump, hit.v - V, rtol=1e-12)
    assert kinds(run) == ["impact"]
    omega, speed = np.sqrt(500.0 / 2.0), -hit.impulse[0] / 2.0
    y = speed / omega * np.sin(omega * times)
    np.testing.assert_allclose(run.depth[:, 0, 0], y, atol=1e-9)
    np.testing.assert_allclose(run.depth[:, 0, 1], speed * np.cos(omega * times), atol=1e-9)
    assert np.ptp(run.force) == 0.0
    energy = gd.kinetic_energy(model, run.q, run.v) + 250.0 * y**2 + run.depth[:, 0, 1] ** 2
    np.testing.assert_allclose(energy, gd.kinetic_energy(model, Q, V), rtol=1e-8)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_mass_is_left_and_met_again(e: float) -> None:
    """The whole energy falls in impacts only, by their losses; nothing gets through the mass."""
    support = contact.Environment(wall(), 2e4, mass=0.5)
    run = contact.simulate(ARM, support, Q, V, TIMES, restitution=e)
    impacts = [event for event in run.events if event.kind == "impact"]
    assert len(impacts) > 1
    assert e > 0.0 or "release" in kinds(run)
    drive = run.energy.work
    lost = sum(event.loss for event in impacts)
    assert drive == 0.0
    energy = whole(run, support)
    np.testing.assert_allclose(energy[-1], energy[0] + first_kick(e, support) - lost, rtol=1e-7)
    seen = contact.coordinates(ARM, wall(), run.q, run.v, free=False)
    assert (seen.s[:, 0] - run.depth[:, 0, 0]).min() > -1e-8
    assert run.force.min() > -1e-9
    assert balance(run) < 1e-7


def first_kick(e: float, support: Any) -> float:
    """What the first impact, at the first time, has taken before the first entry of a run."""
    return float(contact.impact(ARM, support, Q, V, e).loss)


REBOUND = 0.11


def rebound(support: Any, releases: list[float]) -> float:
    """Speed of parting per speed of approach, before the mass is hit; 0 without a release."""
    if not releases:
        return 0.0
    end = contact.simulate(ARM, support, Q, V, [0.0, releases[0]], [30.0, 10.0])
    J = gd.jacobian(ARM, Q, "tip")[0]
    return float(-(gd.jacobian(ARM, end.q[-1], "tip")[0] @ end.v[-1]) / (J @ V))


def test_damping_decides_whether_a_stiff_support_lets_go() -> None:
    """b = beta sqrt(k (m + m_eff)): from k = 1e7 on the tool leaves with 2, never with 6, and
    without damping after half a swing of arm and mass together. Prints e = -s'+ / s'-, s'+ at the
    release.
    """
    mass = 0.5 + contact.effective_mass(ARM, Q, "tip", X)
    for beta, k, leaves, e in (
        (6.0, 1e7, False, 0.0),
        (2.0, 1e6, False, 0.0),
        (2.0, 1e7, True, REBOUND),
        (2.0, 1e8, True, REBOUND),
        (0.0, 1e6, True, 1.0 - 0.5 / mass),  # the mass is hit, and swings back without loss
        (0.0, 1e8, True, 1.0 - 0.5 / mass),
    ):
        swing = np.pi * np.sqrt(mass / k)
        support = contact.Environment(wall(), k, damping=beta * np.sqrt(k * mass), mass=0.5)
        run = contact.simulate(ARM, support, Q, V, [0.0, 2.0 * swing], [30.0, 10.0])
        releases = [event.time for event in run.events if event.kind == "release"]
        assert bool(releases) == leaves
        found = rebound(support, releases)
        print(f"support beta {beta:g}, k {k:.0e}: rebounds with e = {found:.3f}")
        assert found == pytest.approx(e, abs=0.02)
        if beta == 0.0:
            assert releases[0] == pytest.approx(swing, rel=0.04)


@pytest.mark.parametrize(("e", "friction"), [(0.0, 0.0), (0.6, 0.0), (0.3, 0.25), (0.0, 0.4)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=LONG) for k in (5, 25, 30))])
def test_random_arms_on_a_floor_and_a_wall(seed: int, e: float, friction: float) -> None:
    """No energy from nowhere, nothing inside floor and moving wall, no force that pulls."""
    model = random_robot(seed, joints=5, wheels=5).load()
    q, v, _ = random_state(model.n, seed)
    link = model.body_names[-1]
    place, rng = gd.pose(model, q, link)[:3, 3], np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    speed = gd.jacobian(model, q, link)[:3] @ v
    floor, side = -np.sign(axes @ speed)[:, None] * axes  # both ahead
    surfaces = [
        contact.Surface(link, place - 0.02 * floor, floor),
        contact.Surface(link, place - 0.05 * side, side, velocity=0.1 * side),
    ]

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        J = gd.jacobian(model, q, link)[:3]
        return gd.gravity_forces(model, q) - J.T @ (30.0 * floor + 20.0 * side) - 2.0 * v

    times = np.linspace(0.0, 0.4, 41)
    run = contact.simulate(model, surfaces, q, v, times, push, restitution=e, friction=friction)
    assert run.events[0].kind == "impact"
    assert balance(run) < 1e-7
    assert min(event.loss for event in run.events) >= 0.0
    assert run.force.min() > -1e-9
    for t, q_t, v_t in zip(run.t, run.q, run.v, strict=True):
        # Surfaces that are reached within 1e-6 m of each other are hit together.
        assert contact.coordinates(model, surfaces, q_t, v_t, t, free=False).s.min() > -1.1e-6


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "unilateral constraint by a function": (
        lambda: contact.simulate(
            ARM, contact.Constraint(lambda q, t: q[0], bilateral=False), Q, V, TIMES
        ),
        "use a Surface",
    ),
    "inside": (lambda: contact.simulate(ARM, wall(1e-3), Q, V, TIMES), "tolerance"),
    "times": (lambda: contact.simulate(ARM, wall(), Q, V, [0.0]), "times"),
    "states": (lambda: contact.simulate(ARM, wall(), [Q, Q], V, TIMES), "q: has shape"),
    "torque": (lambda: contact.simulate(ARM, wall(), Q, V, TIMES, [1.0]), "tau"),
    "restitution": (
        lambda: contact.simulate(ARM, wall(), Q, V, TIMES, restitution=2.0),
        "restitution",
    ),
    "depth": (lambda: contact.simulate(ARM, wall(), Q, V, TIMES, depth=[[0.0, 0.0]]), "depth"),
    "events": (
        lambda: contact.simulate(ARM, wall(), Q, V, TIMES, press, restitution=0.9, max_events=3),
        "events happened up to",
    ),
    "events none": (
        lambda: contact.simulate(ARM, wall(), Q, V, TIMES, max_events=0),
        "max_events: is 0",
    ),
    "evaluations none": (
        lambda: contact.simulate(ARM, wall(), Q, V, TIMES, max_evaluations=0),
        "max_evaluations: is 0",
    ),
    "a time without end": (
        lambda: contact.simulate(ARM, wall(), Q, V, [0.0, 1e16], max_evaluations=500),
        "max_evaluations: 500 evaluations are used up at",
    ),
    "tolerances": (lambda: contact.simulate(ARM, wall(), Q, V, TIMES, rtol=0.0), "rtol"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call()


def test_evaluations_of_all_flights_count_together() -> None:
    """Each bounce takes fewer than fifty."""
    with pytest.raises(gd.GearedDynamicsError, match=r"200 evaluations are used up at 0\.2"):
        contact.simulate(ARM, wall(), Q, V, TIMES, press, restitution=0.9, max_evaluations=200)


def test_without_scipy_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(gd.GearedDynamicsError, match="simulate: needs the package 'scipy'"):
        contact.simulate(ARM, wall(), Q, V, TIMES)


@pytest.mark.parametrize(
    "support",
    [
        contact.Environment(wall(), 1e4, damping=50.0),
        contact.Environment(wall(), 1e4, mass=1.0, tool_stiffness=1e5),
    ],
)
def test_friction_through_a_spring_is_refused(support: Any) -> None:
    """Nothing tells when it sticks; without friction it runs."""
    words = r"contacts\[0\].*: is touched through a spring.*gd\.simulation\.Wall"
    with pytest.raises(gd.GearedDynamicsError, match=words):
        contact.simulate(ARM, support, Q, V, [0.0, 0.01], friction=0.2)
    assert contact.simulate(ARM, support, Q, V, [0.0, 0.01]).q.shape == (2, 2)
