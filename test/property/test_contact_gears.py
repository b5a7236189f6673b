"""Gears with losses in a blow, from the friction at their teeth: no model of the package in it.

A screw is the gear whose teeth are known best: thread of lead angle a, radius r, Coulomb friction
mu = tan(rho) between rotor (inertia J) and slide (mass M). Its efficiencies are tan(a) / tan(a +
rho) where the rotor drives the slide and tan(a - rho) / tan(a) where it is driven back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import Q, V, drives, planar, urdf, wall
from naive.bodies import Array

contact = gd.contact
RADIUS, INERTIA, MASS = 0.01, 2e-4, 3.0  # [m], [kg m^2], [kg]
STEEP, SHALLOW = np.radians(20.0), np.radians(5.0)


def after(lead: float, mu: float, speed: float, blow: float, steps: int = 40_000) -> float:
    """Speed of the slide after an impulse along its way, given bit by bit.

    The thread gives the slide n (cos - s f sin) and turns the rotor back by r n (sin + s f cos),
    f = mu for one flank and -mu for the other (n < 0), s the direction of the sliding.
    """
    way = RADIUS * np.tan(lead)  # of the slide per turn of the rotor [m/rad]
    turning = speed / way
    for _ in range(steps):
        changes = []
        for s in [np.sign(turning)] if turning else [1.0, -1.0]:
            for flank in (1.0, -1.0):
                push = np.cos(lead) - s * flank * mu * np.sin(lead)
                back = np.sin(lead) + s * flank * mu * np.cos(lead)
                n = -blow / steps / (push + MASS * RADIUS * way * back / INERTIA)
                change = -RADIUS * n * back / INERTIA
                # The flank that was assumed is pressed, and what rests slides as was assumed.
                if n * flank > 0.0 and (turning or change * s > 0.0):
                    changes.append(change)
        change = changes[0] if changes else 0.0  # else friction holds it
        turning = 0.0 if turning * (turning + change) < 0.0 else turning + change
    return turning * way


def slide(share: float, lead: float) -> gd.GearedModel:
    """A slide that moves along x behind the screw; the rotor has a share of its inertia."""
    urdf = (
        '<robot name="slide"><link name="base"/><link name="table"><inertial>'
        f'<mass value="{MASS}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="way" type="prismatic"><parent link="base"/>'
        '<child link="table"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" effort="1" velocity="9"/></joint></robot>'
    )
    inertia = {"axial": INERTIA * share}
    screw = {"carrier": "base", "axis": [1, 0, 0], "mass": 1.0, "inertia": inertia}
    drive = {
        "version": 1,
        "wheels": {"screw": screw},
        "spins": [{"wheel": "screw", "joint": "way", "ratio": 1 / (RADIUS * np.tan(lead))}],
        "motors": {"motor": {"wheel": "screw"}},
    }
    return gd.load_model(urdf, drive)


def efficiencies(lead: float, mu: float) -> tuple[float, float]:
    """Driving, backdriving."""
    rho = np.arctan(mu)
    return np.tan(lead) / np.tan(lead + rho), np.tan(lead - rho) / np.tan(lead)


def mass(share: float, lead: float) -> float:
    """What a blow feels of slide and rotor."""
    return float(contact.effective_mass(slide(share, lead), np.zeros(1), "table", (1, 0, 0)))


@pytest.mark.parametrize("mu", [0.05, 0.2, 0.3])
def test_a_lossy_gear_is_a_rotor_of_another_inertia(mu: float) -> None:
    """Driving J where the blow brakes it, J / backdriving where it drives it back."""
    driving, backdriving = efficiencies(STEEP, mu)
    for speed, blow, share in (
        (0.05, -0.02, driving),
        (0.05, 0.02, 1 / backdriving),
        (0.0, 0.02, 1 / backdriving),
        (0.0, -0.02, 1 / backdriving),
    ):
        expected = speed + blow / mass(share, STEEP)
        found = after(STEEP, mu, speed, blow, 400)
        assert found == pytest.approx(expected, rel=1e-9)
        assert found != pytest.approx(speed + blow / mass(1.0, STEEP), rel=1e-3)
        energy = 0.5 * mass(1.0, STEEP)
        work = blow * (speed + found) / 2
        assert energy * (found**2 - speed**2) < work, "friction takes energy"


def test_a_lossy_gear_that_is_turned_round_does_the_one_and_then_the_other() -> None:
    driving, backdriving = efficiencies(STEEP, 0.2)
    speed, blow = 0.004, -0.2
    rest = blow + mass(driving, STEEP) * speed
    expected = rest / mass(1 / backdriving, STEEP)
    assert after(STEEP, 0.2, speed, blow) == pytest.approx(expected, rel=1e-3)


def test_a_wall_brakes_the_gear() -> None:
    """The impact with the rotor's other inertia: impulse and speeds are those of the screw."""
    driving, _ = efficiencies(STEEP, 0.2)
    model, speed = slide(driving, STEEP), np.array([0.05])
    surface = contact.Surface("table", (0, 0, 0), (-1, 0, 0))
    hit = contact.impact(model, surface, np.zeros(1), speed)
    assert after(STEEP, 0.2, 0.05, -hit.impulse[0] * (1 - 1e-9)) == pytest.approx(0.0, abs=1e-9)


def test_a_self_locking_gear() -> None:
    """From rest it is locked; braked it is as others; driven on it is slowed down to a stop."""
    driving, backdriving = efficiencies(SHALLOW, 0.2)
    assert backdriving < 0.0
    model = slide(1.0, SHALLOW)
    surface = contact.Surface("table", (0, 0, 0), (1, 0, 0), velocity=(0.05, 0, 0))
    locked = [surface, contact.LockedGear("motor")]
    assert after(SHALLOW, 0.2, 0.0, 0.02, 400) == after(SHALLOW, 0.2, 0.0, -0.02, 400) == 0.0
    held = contact.impact(model, contact.LockedGear("motor"), np.zeros(1), np.array([0.05]))
    assert held.v == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(gd.GearedDynamicsError, match="depend"):  # nothing is left to move
        contact.impact(model, locked, np.zeros(1), np.zeros(1))
    braked = 0.05 - 0.02 / mass(driving, SHALLOW)
    assert after(SHALLOW, 0.2, 0.05, -0.02, 400) == pytest.approx(braked, rel=1e-9)
    # A blow that drives it on presses the teeth so that their friction stops it.
    assert after(SHALLOW, 0.2, 0.005, 0.02, 400) < 0.005
    assert after(SHALLOW, 0.2, 0.005, 10.0) == 0.0


def balance(share: Array) -> tuple[Array, Array]:
    """Plastic impact of arm A: what gears pass on is scaled, what rotors give carriers is not.

    (M_locked + D Gamma'J (Gamma + Z) + Z'J Gamma) dv = J'P, D the shares.
    """
    model = planar()
    spin, carried, J = np.diag([50.0, 40.0]), np.array([[0.0, 0.0], [1.0, 0.0]]), [2e-4, 1e-4]
    M = gd.mass_matrix(model, Q)
    M = M + (np.diag(share) - np.eye(2)) @ spin.T @ np.diag(J) @ (spin + carried)
    row = gd.jacobian(model, Q, "tip")[0]
    half = np.linalg.solve(M, row)
    return V - half * (row @ V) / (row @ half), M


@pytest.mark.parametrize("share", [0.5, 0.8, 1.5])
def test_rotors_on_moving_links_are_nearly_so(share: float) -> None:
    """The rotor's other inertia changes what its carrier feels too, by 1 / N of the change."""
    exact, _ = balance(np.full(2, share))
    scaled = contact.impact(scaled_arm(share), wall(), Q, V)
    lossless = contact.impact(planar(), wall(), Q, V)
    change = np.abs(exact - lossless.v).max()
    assert np.abs(scaled.v - exact).max() < change / 40.0
    assert np.abs(scaled.v - exact).max() > 0.0
    np.testing.assert_allclose(balance(np.ones(2))[0], lossless.v, rtol=1e-12)


def scaled_arm(share: float) -> gd.GearedModel:
    """Arm A with other inertias of its rotors."""
    drive: Any = drives("A")
    for wheel in drive["wheels"].values():
        wheel["inertia"]["axial"] *= share
    return gd.load_model(urdf(), drive, gravity=(0.0, -9.81, 0.0))
