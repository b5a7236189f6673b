"""Feedforward of elastic joints with springs between the links: the links carry their force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import MOTOR
from elastic_arms import URDF, elastic_arm, elbow, elbow_drives
from flat_arms import flat_arm, later, path
from geared_dynamics.description.drive_records import LineElementRecord, TorsionSpringRecord
from naive.measure import derivative, error
from random_springs import random_springs, with_springs

BALANCE = 1e-11  # of the largest force
SLOPE = 1e-7  # differences of eighth order
METHODS = [("reduced", None), ("expanded", 5), ("exact", None)]
SMOOTH = {**MOTOR, "friction": {**MOTOR["friction"], "smoothing": 30.0}}


def sprung(arm: gd.GearedModel, seed: int, kind: str = "") -> gd.GearedModel:
    """The arm with random springs, or with those of one kind."""
    springs = random_springs(arm, seed)
    kept = [s for s in springs if getattr(s, "kind", "torsion").startswith(kind)]
    return with_springs(arm, *kept)


ARMS = {
    "all elastic": sprung(flat_arm(0), 0),
    "some elastic": sprung(flat_arm(1, 5, share=0.4), 1),
    "branched, sliding": sprung(flat_arm(3, 5, share=0.7, branched=True, prismatic=True), 2),
    "one joint": sprung(flat_arm(4, 1), 3),
    **{kind: sprung(elbow(), 4, kind) for kind in ("coil", "gas", "constant", "torsion")},
    "no free length": with_springs(
        elbow(),
        LineElementRecord(
            "coil",
            "coil",
            (("link_1", (0.1, 0.2, 0.0)), ("link_3", (0.3, 0.0, 0.1))),
            length=0.2,
            stiffness=400.0,
            preload=80.0,
        ),
    ),
}


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize(("method", "order"), METHODS)
def test_links_carry_the_balancers(arm: gd.GearedModel, method: Any, order: int | None) -> None:
    """Forces balance; vtheta, atheta are derivatives, so that the balancers' ones are right."""
    model = arm.with_elasticity("uncoupled") if method == "reduced" else arm
    order = 12 if order and len(arm.elasticity.joint) > 3 else order
    rows = 1 + gd.elastic.derivatives_needed(arm, method, order)
    given = path(arm, rows)
    given[5:] *= 0.3

    def at(t: float) -> gd.elastic.Feedforward:
        return gd.elastic.feedforward(arm, later(given, t), method, order)

    found = at(0.0)
    now = gd.State(given[0], given[1], found.theta, found.vtheta)
    link, shaft = gd.elastic.inverse_dynamics(model, now, given[2], found.atheta)
    A = gd.elastic.structure_matrix(arm) @ found.tau_m
    balancers = gd.balancer_forces(arm, given[0])
    scale = np.abs(A).max()
    assert np.abs(balancers).max() > 1e-3 * scale
    assert error(link - balancers, A[: arm.n], scale) < BALANCE
    assert error(shaft, A[arm.n :], scale) < BALANCE
    assert error(derivative(lambda t: at(t).theta, 1e-3), found.vtheta) < SLOPE
    assert error(derivative(lambda t: at(t).vtheta, 1e-3), found.atheta) < SLOPE


def test_mimic_joints_and_motors_anywhere() -> None:
    arm = sprung(elastic_arm(1, 5, share=0.4), 5)
    given = path(arm, 27)
    given[4:] = 0.0
    found = gd.elastic.feedforward(arm, given, "expanded", 12)
    now = gd.State(given[0], given[1], found.theta, found.vtheta)
    link, shaft = gd.elastic.inverse_dynamics(arm, now, given[2], found.atheta)
    A = gd.elastic.structure_matrix(arm) @ found.tau_m
    link = link - gd.balancer_forces(arm, given[0])
    assert error(link, A[: arm.n], np.abs(A).max()) < BALANCE
    assert error(shaft, A[arm.n :], np.abs(A).max()) < BALANCE


def test_motor_commands_count_balancers_and_their_rates() -> None:
    """In the limit of stiff springs as the rigid ones; L di/dt by differences."""
    drives = [elbow_drives(factor=f) for f in (1e2, 1e4, 1e6)]
    errors = []
    for drive in drives:
        arm = sprung(gd.load_model(URDF / "elbow.urdf", drive), 6)
        given = path(arm, 9)
        rigid = gd.motor_commands(arm, *given[:3], jerk=given[3])
        errors.append(error(gd.elastic.motor_commands(arm, given, "exact").torque, rigid.torque))
    assert errors[1] < 0.02 * errors[0]
    assert errors[2] < 1e-5
    arm = sprung(flat_arm(0, 3, friction=True, motor=SMOOTH), 7)
    given = path(arm, 6, 2)
    given[1] += np.sign(given[1]) * 0.5
    full = gd.elastic.motor_commands(arm, given)
    steady = gd.elastic.motor_commands(arm, given[:5])
    wanted = SMOOTH["inductance"] * derivative(
        lambda t: gd.elastic.motor_commands(arm, later(given, t)).current, 5e-4
    )
    assert error(full.voltage - steady.voltage, wanted) < 1e-6


@pytest.mark.parametrize("missing", [False, True])
def test_open_loop_motion_follows(missing: bool) -> None:
    """The simulated plant has its balancers; a feedforward that leaves one out does not follow."""
    bare = elbow()
    plant = sprung(bare, 8)
    some = replace(plant.records.drivetrain, balancers=plant.records.drivetrain.balancers[1:])
    known = with_springs(bare, *some.balancers) if missing else plant
    k = gd.elastic.derivatives_needed(plant, "exact")
    reference = gd.trajectory.rest_to_rest(np.zeros(3), [0.5, -0.3, 0.4], 0.4, continuous=k + 1)
    times = np.linspace(0.0, 0.2, 5)

    def torque(t: float) -> np.ndarray:
        return gd.elastic.feedforward(known, reference.derivatives(t, k), "exact").tau_m

    begin = gd.elastic.feedforward(known, reference.derivatives(0.0, k), "exact")
    state = gd.State(np.zeros(3), np.zeros(3), begin.theta, begin.vtheta)
    run = gd.simulation.simulate_elastic(
        plant, state, times, torque=torque, method="DOP853", rtol=1e-10, atol=1e-12
    )
    off = np.abs(run.q - reference.derivatives(times, 0)[:, 0]).max()
    assert off > 1e-4 if missing else off < 1e-9


def test_posture_without_force_is_refused_by_name() -> None:
    anchors = (("base_link", (0.0, 0.0, 0.5)), ("link_2", (0.1, 0.0, 0.4)))
    gas = {"area": 1e-3, "pressure": 1e6, "volume": 1e-6, "length": 0.01}
    arm = with_springs(elbow(), LineElementRecord("strut", "gas", anchors, **gas))
    good = with_springs(elbow(), TorsionSpringRecord("turn", "joint_1", 30.0, 0.1, 2.0))
    for call in (gd.elastic.feedforward, gd.elastic.motor_commands):
        assert call(good, path(good, 5)) is not None
        with pytest.raises(gd.GearedDynamicsError, match=r"balancers\.strut: its gas has no vol"):
            call(arm, path(arm, 5))
        with pytest.raises(gd.GearedDynamicsError, match=r"no volume left at q\[0\]"):
            call(arm, [path(arm, 5), path(arm, 5)])


@pytest.mark.parametrize(("method", "order"), METHODS)
def test_a_coil_without_free_length_passes_where_its_anchors_meet(
    method: Any, order: int | None
) -> None:
    """Its force is its stiffness times the way between them: smooth, also at no length."""
    bare, point = elbow(), np.array([0.1, 0.2, 0.05])
    given = path(bare, 1 + gd.elastic.derivatives_needed(bare, method, order))
    given[5:] *= 0.3
    first, last = (gd.pose(bare, given[0], link) for link in ("link_1", "link_3"))
    met = np.linalg.solve(last, first @ np.append(point, 1.0))[:3]
    coil = LineElementRecord(
        "coil",
        "coil",
        (("link_1", tuple(point)), ("link_3", tuple(met))),
        length=0.2,
        stiffness=400.0,
        preload=80.0,
    )
    arm = with_springs(bare, coil)
    at = gd.elastic.feedforward(arm, given, method, order)
    assert np.isfinite(at.tau_m).all()
    assert error(at.tau_m, gd.elastic.feedforward(bare, given, method, order).tau_m) > 1e-6
    step = 1e-5
    around = [gd.elastic.feedforward(arm, later(given, s * step), method, order) for s in (-1, 1)]
    mean = 0.5 * (around[0].tau_m + around[1].tau_m)
    np.testing.assert_allclose(at.tau_m, mean, rtol=1e-6, atol=1e-6 * np.abs(mean).max())
