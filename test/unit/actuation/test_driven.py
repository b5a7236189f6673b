"""The complete driven model: Vukobratovic's equations against energies, and round trips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from motor_data import JOINT, ROTOR, state, with_motors
from naive import dc_arm
from naive.measure import derivative, error, holds

EXACT = 1e-12
ROUND_TRIP = 1e-9


@pytest.fixture(scope="module")
def planar() -> gd.GearedModel:
    """The 2R arm of naive.dc_arm."""
    model = gd.load_model(dc_arm.urdf(), dc_arm.drivetrain(), gravity=(0, -dc_arm.GRAVITY, 0))
    model = with_motors(
        model,
        resistance=dc_arm.RESISTANCE,
        inductance=dc_arm.INDUCTANCE,
        torque_constant=dc_arm.K,
    )
    friction = replace(model.motors.friction, viscous=np.array(dc_arm.VISCOUS))
    return replace(model, motors=replace(model.motors, friction=friction))


@pytest.mark.parametrize("seed", range(5))
def test_terms_without_inductance(planar: gd.GearedModel, seed: int) -> None:
    """(20.71) to (20.73), with the rotors' coupling in H*."""
    q, v, u = state(planar, seed)
    u = 24.0 * u
    H, h, D = gd.driven_terms(planar, q, v)
    expected = dc_arm.acceleration(q, v, dc_arm.steady_current(v, u))
    assert error(np.linalg.solve(H, D @ u - h), expected) < EXACT
    assert error(gd.driven_acceleration(planar, q, v, u), expected) < EXACT


def test_printed_inertia_fails(planar: gd.GearedModel) -> None:
    """(20.73) as printed keeps the off-diagonal terms of the bare arm; a riding rotor adds."""
    q = state(planar, 0, 1)[0]
    bare = gd.mass_matrix(planar.with_coupling("none"), q)
    printed = bare + np.diag(planar.J * np.array(dc_arm.RATIO) ** 2)
    H = gd.driven_terms(planar, q, np.zeros(2)).inertia
    off = dc_arm.ROTOR[1] * dc_arm.RATIO[1]
    np.testing.assert_allclose(H - printed, [[0, off], [off, 0]], atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_rates_with_inductance(planar: gd.GearedModel, seed: int) -> None:
    """(20.62) and (20.63)."""
    q, v, current, u = state(planar, seed, 4)
    found = gd.driven_rates(planar, q, v, current, 24.0 * u)
    assert error(found.a, dc_arm.acceleration(q, v, current)) < EXACT
    assert error(found.current, dc_arm.current_rate(v, current, 24.0 * u)) < EXACT


def test_terms_refuse_what_depends_on_the_load(tx40: gd.GearedModel) -> None:
    z = np.zeros(6)
    for options, place in (
        ({"efficiency": (0.9, 0.8)}, r"motors\.motor_1\.efficiency"),
        ({"joint": JOINT}, r"joints\.joint_1\.friction\.load"),
        ({"rotor": ROTOR}, r"motors\.motor_1\.friction\.load"),
    ):
        model = with_motors(tx40, **options)  # type: ignore[arg-type]
        with pytest.raises(gd.GearedDynamicsError, match=place):
            gd.driven_terms(model, z, z)


@pytest.mark.parametrize("key", ["resistance", "torque_constant", "back_emf_constant"])
def test_missing_constants(tx40: gd.GearedModel, key: str) -> None:
    model = with_motors(tx40, **{key: np.nan})
    with pytest.raises(gd.GearedDynamicsError, match=rf"motors\.motor_1\.{key}: is not given"):
        gd.driven_acceleration(model, *np.zeros((3, 6)))


def lossy(model: gd.GearedModel, inductance: float) -> gd.GearedModel:
    """Everything that loses, and an inductance."""
    return with_motors(
        model, inductance=inductance, efficiency=(0.85, 0.7), rotor=ROTOR, joint=JOINT
    )


@pytest.mark.parametrize("seed", range(5))
def test_voltage_motion_voltage(tx40: gd.GearedModel, seed: int) -> None:
    """Six joints, a coupled wrist, losses everywhere."""
    model = lossy(tx40, 0.0)
    q, v, u = state(model, seed)
    u = 24.0 * u
    a = gd.driven_acceleration(model, q, v, u)
    back = gd.motor_commands(model, q, v, a).voltage
    assert holds("voltage -> motion -> voltage, TX40", error(back, u), ROUND_TRIP)


@pytest.mark.parametrize("seed", range(3))
def test_voltage_motion_voltage_with_inductance(tx40: gd.GearedModel, seed: int) -> None:
    """The jerk of the driven motion, by differences, gives the voltage back."""
    model = lossy(tx40, 1.5e-3)
    q, v, a, extra = state(model, seed, 4)
    # Loads far from zero and a mild jerk: none changes its sign within the differences.
    steady = gd.motor_commands(model, q, v, 10.0 * a)
    x, u = gd.State(q, v, current=steady.current), steady.voltage + 0.1 * extra
    rates = gd.driven_rates(model, x.q, x.v, x.current, u)

    def acceleration(t: float) -> Array:
        a, i = rates.a, rates.current
        jolted = gd.State(x.q + t * x.v, x.v + t * a, current=x.current + t * i)
        return gd.driven_rates(model, jolted.q, jolted.v, jolted.current, u).a

    jerk = derivative(acceleration, 1e-5)
    commands = gd.motor_commands(model, q, v, rates.a, jerk=jerk)
    assert error(commands.current, x.current) < ROUND_TRIP
    assert holds("voltage -> motion -> voltage with L", error(commands.voltage, u), ROUND_TRIP)


def simulate(model: gd.GearedModel, u: Array, dt: float, time: float) -> gd.State:
    """From rest at constant voltage."""
    still = np.zeros(model.n)
    x = gd.State(still + 0.3, still, current=u / model.motors.resistance)
    for _ in range(round(time / dt)):
        x = gd.driven_step(model, x, u, dt)
    return x


def numbers(state: gd.State) -> Array:
    """All numbers of a rigid arm's state."""
    return np.hstack([state.q, state.v, state.current])


def test_step_is_of_fourth_order(planar: gd.GearedModel) -> None:
    """Halving the step leaves a sixteenth of the error."""
    u = np.array([6.0, -4.0])
    exact = simulate(planar, u, 1.25e-4, 0.02)
    errors = [error(numbers(simulate(planar, u, dt, 0.02)), numbers(exact)) for dt in (1e-3, 5e-4)]
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_step_longer_than_the_windings_time(planar: gd.GearedModel) -> None:
    """L / R a ten-thousandth of the step: stable, and of fourth order still."""
    u = np.array([6.0, -4.0])
    time = 1e-7 * np.array(dc_arm.RESISTANCE)
    tiny = replace(planar, motors=replace(planar.motors, inductance=time))
    none = replace(planar, motors=replace(planar.motors, inductance=np.zeros(2)))
    exact, *steps = (np.hstack(simulate(tiny, u, dt, 0.1)[:2]) for dt in (2e-4, 4e-3, 2e-3))
    assert 12.0 < error(steps[0], exact) / error(steps[1], exact) < 20.0
    assert error(exact, np.hstack(simulate(none, u, 2e-4, 0.1)[:2])) < 1e-5


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan])
def test_step_needs_a_time(planar: gd.GearedModel, dt: float) -> None:
    x = gd.State(*np.zeros((2, 2)), current=np.zeros(2))
    with pytest.raises(gd.GearedDynamicsError, match="dt: is "):
        gd.driven_step(planar, x, np.zeros(2), dt)
