"""Motion from torques is the inverse of motor commands, in every quadrant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.actuation.motion_from_torque import DrivenMotion, motion_at
from geared_dynamics.arrays import readonly, readonly_int
from motor_data import JOINT, ROTOR, state, with_motors
from naive.measure import error, holds

ROUND_TRIP = 1e-9


def cases() -> list[dict[str, object]]:
    """Combinations of losses."""
    lossy = {"efficiency": (0.85, 0.7)}
    return [{}, lossy, {"rotor": ROTOR, "joint": JOINT}, {**lossy, "rotor": ROTOR, "joint": JOINT}]


@pytest.mark.parametrize("coupling", ["complete", "diagonal", "none"])
@pytest.mark.parametrize("number", range(4))
def test_inverse_of_motor_commands(
    tx40: gd.GearedModel, elbow: gd.GearedModel, coupling: str, number: int
) -> None:
    arm = elbow if coupling == "none" else tx40  # the bare links of the TX40 make no mass matrix
    model = with_motors(arm.with_coupling(coupling), **cases()[number])  # type: ignore[arg-type]
    q, v, a = state(model, number, 3 * 40).reshape(3, 40, model.n)
    v = v * 10.0 ** np.linspace(-5, 1, 40)[:, None]  # through the rounded sign and beyond
    torque = gd.motor_commands(model, q, v, a).torque
    found = gd.motion_from_torque(model, q, v, torque)
    assert error(found, a) < ROUND_TRIP
    other = gd.motion_from_torque(model, q, v, 1.01 * torque)
    assert error(other, a) > 1e3 * ROUND_TRIP


def test_more_motors_than_joints(elbow: gd.GearedModel) -> None:
    """Two motors on joint 2, the second on a wheel of the same ratio."""
    base = with_motors(elbow, efficiency=(0.85, 0.7), rotor=ROTOR, joint=JOINT)
    motors, laws = base.motors, base.motors.friction
    keys = "zeros resistance inductance torque_constant power_factor back_emf_constant"
    doubled = {
        key: readonly(np.concatenate([getattr(motors, key), getattr(motors, key)[1:2]]))
        for key in f"{keys} efficiency limits thermal".split()
    }
    extra = replace(
        motors,
        names=(*motors.names, "spare"),
        wheel=readonly_int([*motors.wheel, motors.wheel[1]]),
        pole_pairs=readonly_int([*motors.pole_pairs, 0]),
        envelopes=(*motors.envelopes, motors.envelopes[1]),
        friction=laws,
        **doubled,
    )
    model = replace(base, motors=extra)
    assert model.structure_matrix.shape == (3, 4)
    q, v, a = state(model, 3)
    torque = gd.motor_commands(model, q, v, a).torque
    assert error(gd.motion_from_torque(model, q, v, torque), a) < ROUND_TRIP


def test_friction_that_is_not_smoothed(elbow: gd.GearedModel) -> None:
    """Smoothing 0 keeps the sign's jump, as in ``motor_commands``."""
    sharp = replace(ROTOR, smoothing=0.0)
    model = with_motors(elbow, efficiency=(0.85, 0.7), rotor=sharp, joint=JOINT)
    q, v, a = state(model, 8)
    for rate in (v, 0.0 * v):
        torque = gd.motor_commands(model, q, rate, a).torque
        assert error(gd.motion_from_torque(model, q, rate, torque), a) < ROUND_TRIP


def test_without_motors_and_without_states(elbow: gd.GearedModel) -> None:
    """No motor: the arm falls with its friction. No state: no motion."""
    path = Path(__file__).parents[3] / "urdf" / "elbow.urdf"
    bare = with_motors(gd.load_model(path), joint=JOINT)
    q, v, _ = state(bare, 9)
    fall = gd.motion_from_torque(bare, q, v, [])
    need = gd.inverse_dynamics(bare, q, v, fall)
    friction = gd.friction_forces(bare, v, q, need)
    assert error(need, -friction) < ROUND_TRIP
    none = np.zeros((0, 3))
    assert gd.motion_from_torque(elbow, none, none, none).shape == (0, 3)
    model = with_motors(elbow)
    assert gd.driven_rates(model, none, none, none, none).current.shape == (0, 3)
    assert gd.driven_terms(model, none, none).inertia.shape == (0, 3, 3)
    assert gd.power_balance(model, none, none, none, none).residual.shape == (0,)


def test_springs(balanced: gd.GearedModel) -> None:
    """Balancers help the motors, and both ways know of them."""
    model = with_motors(balanced, efficiency=(0.85, 0.7), rotor=ROTOR, joint=JOINT)
    q, v, a = state(model, 4)
    assert np.abs(gd.balancer_forces(model, q)).max() > 1.0
    torque = gd.motor_commands(model, q, v, a).torque
    assert error(gd.motion_from_torque(model, q, v, torque), a) < ROUND_TRIP


def test_wheels_without_inertia(elbow: gd.GearedModel) -> None:
    model = replace(elbow, wheels=replace(elbow.wheels, inertia=readonly(np.zeros(3))))
    model = with_motors(model, efficiency=(0.85, 0.7), rotor=ROTOR)
    q, v, a = state(model, 5)
    torque = gd.motor_commands(model, q, v, a).torque
    assert error(gd.motion_from_torque(model, q, v, torque), a) < ROUND_TRIP


@pytest.mark.parametrize("mode", ["smooth", "exact"])
def test_external_force_and_batches(tx40: gd.GearedModel, mode: str) -> None:
    model = with_motors(tx40, efficiency=(0.85, 0.7))
    q, v, torque, external = state(model, 6, 4 * 5).reshape(4, 5, 6)
    every = gd.motion_from_torque(model, q, v, torque, external=external, mode=mode)
    for k in range(5):
        one = gd.motion_from_torque(model, q[k], v[k], torque[k], external=external[k], mode=mode)
        np.testing.assert_array_equal(one, every[k])


def test_a_mass_matrix_that_is_not_positive(tx40: gd.GearedModel) -> None:
    """The links of the TX40 are what was identified: without the rotors they are no arm."""
    z = np.zeros(6)
    with pytest.raises(gd.GearedDynamicsError, match="mass matrix: is not positive definite"):
        gd.motion_from_torque(with_motors(tx40.with_coupling("none")), z, z, z)


SHAFT = """<robot name="shaft"><link name="base"/><link name="load"><inertial>
<mass value="1"/><inertia ixx="1.5" iyy="1.5" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint" type="continuous"><parent link="base"/><child link="load"/>
<axis xyz="1 0 0"/></joint></robot>"""


def shaft(rotor: float, efficiency: tuple[float, float], ratio: float = 2.0) -> gd.GearedModel:
    """A rotor geared to a load of 1.5 kg m^2."""
    drives = {
        "version": 1,
        "wheels": {
            "rotor": {"carrier": "base", "axis": [1, 0, 0], "mass": 1, "inertia": {"axial": rotor}}
        },
        "spins": [{"wheel": "rotor", "joint": "joint", "ratio": ratio}],
        "motors": {"motor": {"wheel": "rotor"}},
    }
    model = gd.load_model(SHAFT, drives)
    return with_motors(model, efficiency=efficiency, rotor=replace(ROTOR, **PLAIN))


PLAIN = {
    "viscous": 0.0,
    "coulomb": 0.0,
    "coulomb_negative": None,
    "static": None,
    "static_negative": None,
    "load": 0.0,
    "offset": 0.0,
    "ripple": (),
}


@pytest.mark.parametrize(("way", "pull"), list(product((1.0, -1.0), repeat=2)))
def test_four_quadrants(way: float, pull: float) -> None:
    """Vukobratovic 2002 after (20.69): N eta' driving, N / eta'' backdriven."""
    J, inertia, ratio, driving, backdriving = 1e-3, 1.5, 2.0, 0.8, 0.6
    model = shaft(J, (driving, backdriving), ratio)
    external, v = np.array([-3.0 * pull]), np.array([5.0 * way])
    part = 1.0 / driving if way * pull > 0 else backdriving  # torque into the gear per m
    T = 0.3 * pull
    a = (ratio * T / part + external[0]) / (inertia + J * ratio**2 / part)
    m = (inertia * a - external[0]) / ratio
    assert m * pull > 0
    found = gd.motion_from_torque(model, [0.0], v, [T], external=external)
    assert holds(f"gear in quadrant {way:+.0f} {pull:+.0f}", abs(found[0] / a - 1), 1e-12)


SMOOTH_JUMP = 0.02  # of a step 100 times as small, per jump: 0.01 and room for curvature


def jumps(at: Callable[[float], np.ndarray], center: float) -> tuple[float, float]:
    """What a function changes by over a step through the centre, and one 100 times as small."""
    coarse, fine = (np.abs(at(center + h) - at(center - h)).max() for h in (1e-6, 1e-8))
    return float(coarse), float(fine)


def test_continuous_through_zero_speed(tx40: gd.GearedModel) -> None:
    """A step through zero speed 100 times as small has a jump as much smaller."""
    model = with_motors(tx40, efficiency=(0.85, 0.4), rotor=ROTOR, joint=JOINT)
    q, v, torque = state(model, 7)
    coarse, fine = jumps(lambda x: gd.motion_from_torque(model, q, x * v, torque), 0.0)
    assert 0.0 < fine < SMOOTH_JUMP * coarse + 1e-9


def test_continuous_through_zero_torque(tx40: gd.GearedModel) -> None:
    """The same where the torque that a gear transmits passes through zero, gear by gear."""
    model = with_motors(tx40, efficiency=(0.85, 0.4), rotor=ROTOR, joint=JOINT)
    q, v, torque = state(model, 7)

    def motion(x: float) -> DrivenMotion:
        return motion_at(model, q, v, np.zeros(6), x * torque, band=None)

    found = 0
    for r in range(6):
        for center in zeros(lambda x, r=r: float(motion(x).transmitted[r]), -3.0, 3.0):
            found += 1
            around = [motion(center + h).transmitted[r] for h in (-1e-8, 1e-8)]
            assert around[0] * around[1] < 0.0  # it does pass through zero there
            coarse, fine = jumps(lambda x: motion(x).a, center)
            assert 0.0 < fine < SMOOTH_JUMP * coarse + 1e-9
            # Its slope jumps: the loss has another factor on the other side.
            before, here, after = (motion(center + h).a for h in (-1e-4, 0.0, 1e-4))
            assert np.abs(after - 2 * here + before).max() > 1e-5 * np.abs(after - before).max()
    assert found >= 5


def zeros(function: Callable[[float], float], low: float, high: float) -> list[float]:
    """Zeros between which a grid of 60 steps sees changes of sign, by bisection."""
    grid = np.linspace(low, high, 61)
    values = [function(x) for x in grid]
    result = []
    for a, b, left, right in zip(grid, grid[1:], values, values[1:], strict=False):
        if left * right < 0.0:
            for _ in range(50):
                middle = 0.5 * (a + b)
                a, b = (a, middle) if function(middle) * left < 0.0 else (middle, b)
            result.append(0.5 * (a + b))
    return result


def test_self_locking_gear_drives() -> None:
    """A worm that cannot be backdriven still lifts its load."""
    model = shaft(1e-3, (0.4, -0.2), 30.0)
    a = 0.7
    torque = gd.motor_commands(model, [0.0], [2.0], [a]).torque
    found = gd.motion_from_torque(model, [0.0], [2.0], torque, external=[0.0])
    np.testing.assert_allclose(found, [a], rtol=1e-12)


def test_self_locking_gear_jams_by_name() -> None:
    """Backdriven fast by a heavy load, with a light rotor, it jams; with a heavy one it brakes."""
    light, heavy = shaft(1e-6, (0.4, -0.2), 30.0), shaft(1e-1, (0.4, -0.2), 30.0)
    for mode in ("smooth", "exact"):
        with pytest.raises(gd.GearedDynamicsError, match=r"motors\.motor: the gear jams"):
            gd.motion_from_torque(light, [0.0], [2.0], [0.0], external=[50.0], mode=mode)
        a = gd.motion_from_torque(heavy, [0.0], [2.0], [0.0], external=[50.0], mode=mode)
        assert a[0] < 0.0  # though the load pulls ahead


def test_self_locking_gear_holds_at_rest() -> None:
    """Whatever the load; a gear that can be backdriven lets go."""
    locking, free = shaft(1e-3, (0.4, -0.05), 30.0), shaft(1e-3, (0.4, 0.3), 30.0)
    for load in (-500.0, -1.0, 1.0, 500.0):
        given = {"external": [load], "mode": "exact"}
        held = gd.motion_from_torque(locking, [0.0], [0.0], [0.0], **given)
        assert abs(held[0]) < 1e-12 * abs(load)
        assert gd.sticking(locking, [0.0], [0.0], [0.0], external=[load]).motors == ("motor",)
        assert gd.motion_from_torque(free, [0.0], [0.0], [0.0], **given)[0] * load > 0.0


def test_unknown_mode_and_bad_band(elbow: gd.GearedModel) -> None:
    z = np.zeros(3)
    with pytest.raises(gd.GearedDynamicsError, match="there is no mode 'exakt'"):
        gd.motion_from_torque(elbow, z, z, z, mode="exakt")  # type: ignore[arg-type]
    with pytest.raises(gd.GearedDynamicsError, match="band: is -1"):
        gd.motion_from_torque(elbow, z, z, z, band=-1.0)
