"""Contacts of random arms against maximal coordinates: every link and wheel a body of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from naive.bodies import Array
from naive.contact import MaximalArm, constrained, impulses, rotor_impulse, through_joint
from naive.drives import one_ratio_scaled
from naive.lagrangian import LagrangianTwin
from naive.measure import error, holds
from random_contacts import SETS, TIME, Touching, touching
from random_gears import random_gears
from random_robots import random_robot, random_state

contact = gd.contact
ARMS, FEW = 40, 6  # of each of the five sets of contacts, in the long and in the usual run
ROUNDING = 1e-10
WORST = 1e10  # condition of a posture that is no posture for this test


def arm_of(seed: int, kinds: tuple[str, ...]) -> tuple[gd.GearedModel, LagrangianTwin]:
    """An arm that can have the contacts: wheels anywhere, coupled, sliding joints, branches."""
    least = 5 if kinds == ("peg",) else 4
    case = random_robot(
        seed,
        joints=least + seed % 4,
        mimics=seed % 2,
        fixed=seed % 3 == 0,
        wheels=6,
        branched=seed % 5 == 4 and kinds != ("peg",),
        prismatic=seed % 3 > 0,
    )
    drive = {**case.drivetrain, "motors": {}}
    for name in list(drive["wheels"])[:3]:
        drive["motors"][f"motor of {name}"] = {"wheel": name}
    model = gd.load_model(case.urdf, drive, gravity=case.gravity)
    return model, LagrangianTwin(*model.records, model.gravity)


def condition(model: gd.GearedModel, q: Array, J: Array) -> float:
    """Of the contacts' mobility."""
    half = np.linalg.solve(np.linalg.cholesky(gd.mass_matrix(model, q)), J.T)
    lengths = np.linalg.norm(half, axis=0)
    return float(np.linalg.cond(half / lengths) ** 2) if lengths.all() else np.inf


def allowed(model: gd.GearedModel, q: Array, J: Array) -> float:
    """Rounding of a posture: in proportion where its condition is beyond a million."""
    worst = max(condition(model, q, J), np.linalg.cond(gd.mass_matrix(model, q)))
    return ROUNDING * max(1.0, worst / 1e6) if worst < WORST else np.inf


def case_of(
    seed: int, kinds: tuple[str, ...], *, bilateral: bool, resting: bool = False
) -> tuple[gd.GearedModel, LagrangianTwin, Touching, Any]:
    """Arm, contacts and a state at which they can be."""
    for attempt in range(200):
        model, twin = arm_of(seed + 997 * attempt, kinds)
        q, v, tau = random_state(model.n, seed + attempt)
        found = touching(model, twin, q, seed, kinds, bilateral=bilateral)
        rows = found.rows(q, v, TIME)
        if resting:  # to its objects
            v = v - np.linalg.pinv(rows.jacobian) @ rows.rate
            rows = found.rows(q, v, TIME)
        # Far from gimbal lock, where the differences of the rates are not exact.
        steep = np.abs(found.rows(q, v, TIME, free=True).jacobian).max() > 5.0
        possible = allowed(model, q, rows.jacobian) < 1e-6
        if possible and not steep and np.abs(v).max() < 20.0:
            return model, twin, found, (q, v, 10.0 * tau, rows)
    raise AssertionError("no such arm")


def compare_coordinates(model: gd.GearedModel, touched: Touching, q: Array, v: Array) -> float:
    """Distance of the functional coordinates and their derivatives."""
    found = contact.coordinates(model, touched.contacts, q, v, TIME)
    worst = 0.0
    for ours, free in ((found, False), (found.free, True)):
        theirs = touched.rows(q, v, TIME, free=free)
        for x, y, angle in zip(ours[:4], theirs, (True, False, False, False), strict=True):
            turned = np.round((x - y) / (2 * np.pi)) * 2 * np.pi if angle else 0.0
            worst = max(worst, error(x - turned, y, 1.0))
    return worst


def compare_motion(model: gd.GearedModel, arm: MaximalArm, touched: Touching, state: Any) -> float:
    """Distance of accelerations and forces, relative to the largest."""
    q, v, tau, rows = state
    found = contact.constrained_dynamics(model, touched.contacts, q, v, tau, TIME)
    a, F = constrained(arm, tau, rows, touched.unilateral)
    scale = np.abs(gd.forward_dynamics(model, q, v, tau)).max()
    push = sum(
        gd.jacobian(model, q, link).T @ wrench
        for link, wrench in zip(touched.links, found.wrench, strict=True)
    )
    return max(
        error(found.a, a, scale),
        error(found.force, F, np.abs(tau).max()),
        error(push, rows.jacobian.T @ F, np.abs(tau).max()),
        error(found.acceleration, rows.jacobian @ a + rows.drift, scale),
    )


def compare_impact(
    model: gd.GearedModel, arm: MaximalArm, touched: Touching, state: Any, e: float
) -> float:
    """Distance of velocities and of all impulses."""
    q, v, _, rows = state
    found = contact.impact(model, touched.contacts, q, v, e, t=TIME)
    jump, dv, P = impulses(arm, rows, e)
    gears = [rotor_impulse(arm, jump, model.wheel_names[r]) for r in model.motor_wheel]
    links = {joint.name: joint.child for joint in model.records.robot.joints}
    wrenches = list(zip(touched.links, found.wrench, strict=True))
    bearings = [through_joint(arm, jump, links[j], wrenches) for j in model.joint_names]
    energy = 0.5 * v @ gd.mass_matrix(model, q) @ v
    after = 0.5 * found.v @ gd.mass_matrix(model, q) @ found.v
    wall = -(rows.rate - rows.jacobian @ v) @ P
    size = np.abs(dv).max()
    return max(
        error(found.v - v, dv),
        error(found.impulse, P),
        error(found.gear_impulse, gears, np.abs(model.J).max() * size),
        error(found.bearing_impulse, bearings),
        error(found.loss, energy - after + wall, energy + after + abs(wall)),
    )


@pytest.mark.parametrize("kinds", SETS, ids=["+".join(k) for k in SETS])
def test_random_arms(kinds: tuple[str, ...]) -> None:
    """Bilateral contacts of objects that move and turn."""
    compare(kinds, range(ARMS, ARMS + FEW))


@pytest.mark.validate
@pytest.mark.parametrize("kinds", SETS, ids=["+".join(k) for k in SETS])
def test_many_random_arms(kinds: tuple[str, ...]) -> None:
    compare(kinds, range(ARMS))


def compare(kinds: tuple[str, ...], seeds: range) -> None:
    """Compare everything for some arms."""
    worst = {"coordinates": 0.0, "motion": 0.0, "impact": 0.0}
    for seed in seeds:
        model, twin, touched, state = case_of(seed, kinds, bilateral=True)
        q, v, _, rows = state
        arm, limit = MaximalArm(twin, q, v), allowed(model, q, rows.jacobian) / ROUNDING
        found = {
            "coordinates": compare_coordinates(model, touched, q, v),
            "motion": compare_motion(model, arm, touched, state) / limit,
            "impact": compare_impact(model, arm, touched, state, 0.5 * (seed % 3)) / limit,
        }
        worst = {key: max(worst[key], value) for key, value in found.items()}
    for key, value in worst.items():
        assert holds(f"contacts {'+'.join(kinds)}: {key}", value, ROUNDING)


@pytest.mark.parametrize("seed", range(9))
def test_contacts_that_only_push(seed: int) -> None:
    """Up to three surfaces: of all sets that may push, the one that satisfies every condition."""
    kinds = ("surface",) * (1 + seed % 3)
    model, twin, touched, state = case_of(seed, kinds, bilateral=False, resting=True)
    q, v, _, rows = state
    distance = compare_motion(model, MaximalArm(twin, q, v), touched, state)
    assert distance <= allowed(model, q, rows.jacobian)


@pytest.mark.parametrize("seed", range(4))
def test_a_ratio_one_percent_off_fails(seed: int) -> None:
    model, twin, touched, state = case_of(seed, ("surface",), bilateral=True)
    arm = MaximalArm(twin, *state[:2])
    wrong = one_ratio_scaled(model, 1.01)
    assert compare_motion(wrong, arm, touched, state) > 1e-8
    assert compare_impact(wrong, arm, touched, state, 0.0) > 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_gear_trains(seed: int) -> None:
    """Planetary sets and meshes: the wheels' spins are solved, and their bodies stand apart."""
    model = random_gears(seed).load()
    twin = LagrangianTwin(*model.records, model.gravity)
    q, v, tau = random_state(model.n, seed)
    touched = touching(model, twin, q, seed, ("surface",))
    rows, arm = touched.rows(q, v, TIME), MaximalArm(twin, q, v)
    limit = allowed(model, q, rows.jacobian)
    assert compare_motion(model, arm, touched, (q, v, tau, rows)) <= limit
    assert compare_impact(model, arm, touched, (q, v, tau, rows), 0.3) <= limit
