"""The planar arm in contact: numbers checked in reduced and in maximal coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import SLIDING, TAU, Q, V, planar, tip, wall

contact = gd.contact
EXACT = {"rtol": 0, "atol": 1e-10}
# Arm, coupling, restitution, wall's velocity, v after, impulse, loss.
IMPACTS: dict[str, tuple[Any, ...]] = {
    "A": (
        *("A", "complete", 0.0, 0.0),
        *((0.893640804125, -1.430528494778), 0.859204165428, 0.188686289694),
    ),
    "A half elastic": (
        *("A", "complete", 0.5, 0.0),
        *((0.840461206188, -1.895792742167), 1.288806248141, 0.141514717270),
    ),
    "A armature": (
        *("A", "diagonal", 0.0, 0.0),
        *((0.892121555083, -1.428096500809), 0.857390957498, None),
    ),
    "B": (
        *("B", "complete", 0.0, 0.0),
        *((0.908730862361, -1.454684462360), 0.874706825163, 0.192090764978),
    ),
    "B armature": (
        *("B", "diagonal", 0.0, 0.0),
        *((0.892652474135, -1.428946389074), 0.857651986008, None),
    ),
    "A moving wall": (
        *("A", "complete", 0.0, 0.3),
        *((0.820993026476, -2.066118362007), 1.446076533648, 0.534478394555),
    ),
}


@pytest.mark.parametrize(
    ("order", "bilateral"),
    [("simultaneous", False), ("simultaneous", True), ("successive", False)],
)
@pytest.mark.parametrize("case", IMPACTS)
def test_impact(case: str, order: Any, bilateral: bool) -> None:
    kind, coupling, e, speed, v, impulse, loss = IMPACTS[case]
    model = planar(kind).with_coupling(coupling)
    surface = wall(velocity=(speed, 0, 0), bilateral=bilateral)
    found = contact.impact(model, surface, Q, V, e, order=order)
    np.testing.assert_allclose(found.v, v, **EXACT)
    np.testing.assert_allclose(found.impulse, [impulse], **EXACT)
    np.testing.assert_allclose(found.wrench, [[impulse, 0, 0, 0, 0, 0]], **EXACT)
    if loss is not None:
        np.testing.assert_allclose(found.loss, loss, **EXACT)


def test_impulses_into_the_rotors() -> None:
    found = contact.impact(planar("A"), wall(), Q, V)
    np.testing.assert_allclose(found.gear_impulse, [-0.00106359195875, -0.0037327498987], **EXACT)


def test_a_ratio_one_percent_off_is_seen() -> None:
    model = planar("A")
    spin = model.Gamma * np.array([[1.0], [1.01]])
    wrong = replace(model, wheels=replace(model.wheels, spin=spin))
    found = contact.impact(wrong, wall(), Q, V)
    assert np.abs(found.v - IMPACTS["A"][4]).max() > 1e-6


@pytest.mark.parametrize(("kind", "shaft"), [("A", -0.501511542454), ("B", -0.515115424536)])
def test_impact_of_elastic_joints(kind: str, shaft: float) -> None:
    arm = planar(kind, stiffness=1e3).with_springs()
    found = contact.impact(arm, wall(), np.append(Q, Q), np.append(V, V))
    after = [1.060461698143, -1.697573196984, 1.0, shaft]
    np.testing.assert_allclose(found.v, after, **EXACT)
    np.testing.assert_allclose(found.impulse, [0.459923806110], **EXACT)
    np.testing.assert_allclose(found.loss, 0.101001973697, **EXACT)
    np.testing.assert_allclose(found.gear_impulse, 0.0, atol=1e-14)


def test_impact_with_a_free_mass() -> None:
    support = contact.Environment(wall(), 2e4, damping=50.0, mass=2.0)
    found = contact.impact(planar("A"), support, Q, V)
    np.testing.assert_allclose(found.v, [0.946232198816, -0.970410392740], **EXACT)
    np.testing.assert_allclose(found.impulse, [0.434353779783], **EXACT)
    np.testing.assert_allclose(found.loss, 0.095386645479, **EXACT)


@pytest.mark.parametrize("bilateral", [False, True])
@pytest.mark.parametrize(
    ("friction", "a", "force"),
    [
        (0.0, (-4.737890715755, 7.179234819257), 21.844659771390),
        (0.3, (-6.059101489176, 9.294211720783), 20.766529841907),
    ],
)
def test_constrained_motion(
    friction: float, a: tuple[float, float], force: float, bilateral: bool
) -> None:
    surface = wall(bilateral=bilateral)
    found = contact.constrained_dynamics(planar(), surface, Q, SLIDING, TAU, friction=friction)
    np.testing.assert_allclose(found.a, a, **EXACT)
    np.testing.assert_allclose(found.force, [force], **EXACT)
    sliding = gd.jacobian(planar(), Q, "tip")[1] @ SLIDING
    expected = [force, -friction * force * np.sign(sliding), 0, 0, 0, 0]
    np.testing.assert_allclose(found.wrench[0], expected, **EXACT)


def test_feedforward_with_a_contact_force() -> None:
    model, wanted = planar(), [0.5, -1.205512035219]
    seen = contact.coordinates(model, wall(), Q, SLIDING)
    tau = gd.inverse_dynamics(model, Q, SLIDING, wanted) - seen.jacobian.T @ [20.0]
    np.testing.assert_allclose(tau, [37.628113932035, 8.257424302466], **EXACT)


def test_dynamic_environment() -> None:
    support = contact.Environment(wall(1e-3), 2e4, damping=50.0, mass=2.0)
    found = contact.constrained_dynamics(planar(), support, Q, V, TAU)
    np.testing.assert_allclose(found.a, [-5.962824496359, -4.200433285015], **EXACT)
    np.testing.assert_allclose(found.force, [31.883349040012], **EXACT)
    np.testing.assert_allclose(found.acceleration, [5.038619645567], **EXACT)
    np.testing.assert_allclose(found.support, [5.038619645567], **EXACT)


def test_effective_mass() -> None:
    model, sides = planar(), np.eye(3)[:2]
    expected = [1.956241227402, 9.545616936789]
    np.testing.assert_allclose(contact.effective_mass(model, Q, "tip", sides), expected, **EXACT)
    armature = contact.effective_mass(model.with_coupling("diagonal"), Q, "tip", sides)
    np.testing.assert_allclose(armature, [1.952112904649, 9.571210924869], **EXACT)
    elastic = contact.effective_mass(planar(stiffness=1e3), Q, "tip", (3.0, 0, 0))
    np.testing.assert_allclose(elastic, 1.047157296460, **EXACT)
    arm = planar(stiffness=1e3).with_springs()
    again = contact.effective_mass(arm, np.append(Q, Q), "tip", (1.0, 0, 0))
    np.testing.assert_allclose(again, elastic, rtol=1e-14)


def test_the_wall_is_where_the_tip_is() -> None:
    place = gd.pose(planar(), Q, "tip")[:3, 3]
    np.testing.assert_allclose(place, tip(), atol=1e-15)
