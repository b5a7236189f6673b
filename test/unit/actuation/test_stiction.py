"""Friction with its jump: what sticks, by complementarity and by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.actuation.friction_elements import drive_terms, resting
from geared_dynamics.actuation.piecewise_linear import Pieces, PiecewiseSolution, follow
from geared_dynamics.description.drive_records import FrictionRecord
from motor_data import ROTOR, state, with_motors
from naive.measure import error, holds
from shafts import WHEEL

JOINT = FrictionRecord(viscous=0.3, coulomb=0.8, static=1.1, static_negative=0.9, load=0.0)
BARE = FrictionRecord()


def by_enumeration(model: gd.GearedModel, q: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
    """Accelerations from rest of every consistent pattern of sticking and slipping joints."""
    M, h = gd.mass_matrix(model, q), gd.bias_forces(model, q, np.zeros(model.n))
    found = []
    for pattern in product((-1, 0, 1), repeat=model.n):
        way = np.array(pattern)
        slip, stuck = np.flatnonzero(way), np.flatnonzero(way == 0)
        friction = np.where(way > 0, 1.1, np.where(way < 0, -0.9, 0.0))
        a = np.zeros(model.n)
        rest = (tau - h - friction)[slip]
        a[slip] = np.linalg.solve(M[np.ix_(slip, slip)], rest) if slip.size else []
        held = (tau - h - M @ a)[stuck]
        if np.all(a[slip] * way[slip] > 0) and np.all((held <= 1.1) & (held >= -0.9)):
            found.append(a)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_joints_by_enumeration(elbow: gd.GearedModel, seed: int) -> None:
    """Of all patterns just one is consistent, and it is the one found."""
    model = with_motors(elbow, rotor=BARE, joint=JOINT)
    q, push = state(model, seed, 2)
    tau = gd.gravity_forces(model, q) + 1.5 * push
    (expected,) = by_enumeration(model, q, tau)
    found = gd.sticking(model, q, np.zeros(3), gd.motor_torques(model, tau))
    assert error(found.a, expected, 1.0) < 1e-12
    moving = [name for name, a in zip(model.joint_names, expected, strict=True) if a == 0.0]
    assert list(found.joints) == moving


@pytest.mark.parametrize("seed", range(12))
def test_coupled_gears_and_friction_obey_the_law(tx40: gd.GearedModel, seed: int) -> None:
    """At rest with everything that sticks, each element's friction is within its levels.

    The motors' balance gives what rotor and gear take; what breaks loose has its level.
    """
    model = with_motors(tx40, efficiency=(0.85, 0.7), rotor=ROTOR, joint=BARE)
    q, _, torque = state(model, seed)
    found = gd.sticking(model, q, np.zeros(6), 0.3 * torque)
    m, a = found.transmitted, found.a
    beta = drive_terms(model, q, np.zeros(6), np.zeros(6), None).rotors
    angle = gd.motor_angles(model, q)
    offset = ROTOR.offset + 0.003 * np.sin(7.0 * angle + 0.4)
    taken = 0.3 * torque - beta.rows @ a - beta.drift - m - offset
    up = 0.05 + np.where(m > 0, 1 / 0.85 - 1, 0.3) * np.abs(m) + 0.01 * np.abs(m)
    down = 0.06 + np.where(m > 0, 0.3, 1 / 0.85 - 1) * np.abs(m) + 0.01 * np.abs(m)
    change = a @ model.structure_matrix
    slack = 1e-9
    for r, name in enumerate(model.motor_names):
        if name in found.motors:
            assert abs(change[r]) < 1e-9
            assert -down[r] - slack <= taken[r] <= up[r] + slack
        else:
            assert abs(taken[r] - (up[r] if change[r] > 0 else -down[r])) < slack
    need = gd.inverse_dynamics(model, q, np.zeros(6), a)
    assert holds(
        "arm's balance with stiction",
        error(model.structure_matrix @ (m + beta.rows @ a + beta.drift), need),
        1e-10,
    )


@pytest.mark.parametrize("seed", range(6))
def test_self_locking_wrist(tx40: gd.GearedModel, seed: int) -> None:
    """Coupled gears that lock themselves hold the arm without any torque."""
    model = with_motors(tx40, efficiency=(0.4, -0.3), rotor=BARE, joint=BARE)
    q = state(model, seed, 1)[0]
    found = gd.sticking(model, q, np.zeros(6), np.zeros(6))
    assert np.abs(found.a).max() < 1e-9
    # Joint 6 has nothing to hold: without load its gear has no friction either.
    assert set(found.motors) >= set(model.motor_names[:5])


def test_band(elbow: gd.GearedModel) -> None:
    """Within the band a joint rests, beyond it it rubs."""
    model = with_motors(elbow, rotor=BARE, joint=JOINT)
    q = np.zeros(3)
    hold = gd.motor_torques(model, gd.gravity_forces(model, q))
    creep = np.array([1e-4, 0.0, 0.0])
    assert model.joint_names[0] in gd.sticking(model, q, creep, hold, band=1e-3).joints
    loose = gd.sticking(model, q, creep, hold, band=1e-6)
    assert model.joint_names[0] not in loose.joints
    assert loose.a[0] < 0.0


def test_what_moves_at_the_bands_speed_rests(elbow: gd.GearedModel) -> None:
    """The band is closed, of joints and of rotors, either way round."""
    band = 2.0**-10
    joints = with_motors(elbow, rotor=BARE, joint=JOINT)
    motors = with_motors(elbow, rotor=ROTOR, joint=BARE)
    for sign in (1.0, -1.0):
        creep = np.array([sign * band, 1.0, 1.0])
        assert resting(joints, creep, band).joint.tolist() == [0]
        rates = np.abs(creep @ motors.structure_matrix)
        slowest = int(np.argmin(rates))
        assert resting(motors, creep, rates[slowest]).motor.tolist() == [slowest]
        assert not resting(motors, creep, np.nextafter(rates[slowest], 0.0)).motor.size


def test_one_state_only(elbow: gd.GearedModel) -> None:
    z = np.zeros((2, 3))
    with pytest.raises(gd.GearedDynamicsError, match=r"q: has shape \(2, 3\)"):
        gd.sticking(elbow, z, z, z)


def test_arm_comes_to_rest(elbow: gd.GearedModel) -> None:
    """Steps with exact friction end in rest and stay there."""
    model = with_motors(elbow, rotor=BARE, joint=FrictionRecord(viscous=5.0, coulomb=20.0))
    x = gd.State(np.array([0.0, 1.3, 0.2]), np.array([0.5, 0.5, -0.5]), current=np.zeros(3))
    hold = gd.motor_torques(model, gd.gravity_forces(model, x.q)) * 0.8 / 0.06
    for _ in range(400):
        x = gd.driven_step(model, x, hold, 2e-3, mode="exact")
    later = gd.driven_step(model, x, hold, 2e-3, mode="exact")
    assert np.abs(x.v).max() < 1e-9
    np.testing.assert_allclose(later.q, x.q, atol=1e-11)


def test_pieces_of_one_unknown() -> None:
    """2 x + |x - 1| = c has one solution for every c; x + 2 |x| = -1 has none."""
    for c in (-5.0, 1.9, 2.0, 2.1, 7.0):
        pieces = Pieces(*(np.array(x) for x in ([[2.0]], [-c], [[1.0]], [[1.0]], [-1.0])))
        found = follow(pieces, np.array([30.0]))
        assert isinstance(found, PiecewiseSolution)
        x = found.x[0]
        assert abs(2.0 * x + abs(x - 1.0) - c) < 1e-12
    folded = Pieces(*(np.array(x) for x in ([[1.0]], [1.0], [[2.0]], [[1.0]], [0.0])))
    assert not isinstance(follow(folded, np.array([3.0])), PiecewiseSolution)


PENDULUM = """<robot name="p"><link name="base"/><link name="rod"><inertial><origin xyz="0 1 0"/>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
</joint></robot>"""
LOADS = [
    # of the joint's load; torque beyond gravity's [N m]; acceleration
    (0.0, 1.99, 0.0),
    (0.0, 2.12, 0.12 / 12.0),
    (0.5, 2.12, 0.0),
    (0.5, 6.90, 0.0),
    (0.5, -6.90, 0.0),
    (0.5, 7.0, (7.0 - 2.0 - 0.5 * 9.81) / (12.0 + 6.0)),
    (0.5, -7.0, -(7.0 - 2.0 - 0.5 * 9.81) / (12.0 - 6.0)),
]


@pytest.mark.parametrize(("load", "beyond", "expected"), LOADS)
def test_the_load_presses_a_joint_at_rest(load: float, beyond: float, expected: float) -> None:
    """|M a - beyond| <= 2 + load |9.81 + M a|, M = 1 + 1 + 100^2 1e-3 = 12 kg m^2."""
    model = gd.load_model(
        PENDULUM,
        {
            "version": 1,
            "wheels": {"m": WHEEL},
            "spins": [{"wheel": "m", "joint": "j", "ratio": 100}],
            "motors": {"m": {"wheel": "m"}},
            "joints": {"j": {"friction": {"coulomb": 2.0, "load": load}}},
        },
    )
    found = gd.sticking(model, [0.0], [0.0], [(9.81 + beyond) / 100.0])
    np.testing.assert_allclose(found.a, [expected], rtol=1e-9, atol=1e-12)
    assert found.joints == (() if expected else ("j",))
