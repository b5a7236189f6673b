"""Electrical power in = what is stored and what is lost."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.drive_records import FrictionRecord
from motor_data import JOINT, ROTOR, state, with_motors
from naive.measure import derivative, error, holds

BALANCE = 1e-9


def losses(model: gd.GearedModel, **more: object) -> gd.GearedModel:
    """Everything that loses."""
    return with_motors(
        model,
        inductance=1.5e-3,
        efficiency=(0.85, 0.7),
        rotor=ROTOR,
        joint=JOINT,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("mode", ["smooth", "exact"])
@pytest.mark.parametrize(
    "motor",
    [{}, {"power_factor": 1.5, "back_emf_constant": 0.04}, {"back_emf_constant": 0.05}],
)
def test_balance_at_random_states(
    tx40: gd.GearedModel, mode: str, motor: dict[str, float]
) -> None:
    model = losses(tx40, **motor)
    q, v, current, u, external = state(model, 11, 5 * 20).reshape(5, 20, 6)
    given = {"external": external, "mode": mode}
    a, slope = gd.driven_rates(model, q, v, current, 24.0 * u, **given)
    found = gd.power_balance(model, q, v, a, current, current_rate=slope, **given)
    size = np.abs(np.array(found)).max()
    figure = float(np.abs(found.residual).max() / size)
    assert holds("power balance at random states", figure, BALANCE)
    supplied = model.motors.power_factor * 24.0 * u * current
    assert error(found.electrical, supplied.sum(axis=-1)) < BALANCE
    for name in ("copper", "gears", "joint_friction"):
        assert np.all(getattr(found, name) >= 0.0)
    if motor.get("back_emf_constant") != 0.05:
        assert np.abs(found.conversion).max() < 1e-12 * size
    wrong = gd.power_balance(model, q, v, 1.01 * a, current, current_rate=slope, **given)
    assert np.abs(wrong.residual).max() > 1e3 * BALANCE * size


def test_mechanical_power_is_the_change_of_energy(tx40: gd.GearedModel) -> None:
    """Against differences of the energies along the motion."""
    model = losses(tx40)
    q, v, a, current = state(model, 12, 4)

    def energy(t: float) -> float:
        at, rate = q + v * t + 0.5 * a * t * t, v + a * t
        return float(gd.kinetic_energy(model, at, rate) + gd.potential_energy(model, at))

    found = gd.power_balance(model, q, v, a, current)
    assert error(found.mechanical, derivative(energy)) < BALANCE


def test_springs_store_energy(balanced: gd.GearedModel) -> None:
    """Their power is the change of their energy, and the balance counts it."""
    model = losses(balanced)
    q, v, current, u = state(model, 14, 4)
    a, slope = gd.driven_rates(model, q, v, current, u)
    found = gd.power_balance(model, q, v, a, current, current_rate=slope)
    change = derivative(lambda t: float(gd.balancer_energy(model, q + v * t)))
    assert error(found.springs, change) < BALANCE
    assert abs(found.springs) > 1.0
    assert abs(found.residual) < BALANCE * np.abs(np.array(found)).max()


def test_balance_along_a_simulation(tx40: gd.GearedModel) -> None:
    """Energy supplied = energy stored + lost; Simpson's rule over the steps."""
    smooth = FrictionRecord(viscous=0.3, coulomb=0.8, smoothing=0.5)
    model = with_motors(tx40, inductance=1.5e-3, joint=smooth)
    u = 24.0 * state(model, 13, 1)[0]
    x = gd.State(np.zeros(6), np.full(6, 0.5), current=np.zeros(6))
    dt, steps, flows = 2.5e-5, 400, []

    def powers(s: gd.State) -> gd.PowerBalance:
        a, slope = gd.driven_rates(model, s.q, s.v, s.current, u)
        return gd.power_balance(model, s.q, s.v, a, s.current, current_rate=slope)

    def stored(s: gd.State) -> float:
        magnetic = 0.5 * model.motors.inductance @ s.current**2
        return float(
            gd.kinetic_energy(model, s.q, s.v) + gd.potential_energy(model, s.q) + magnetic
        )

    begin = stored(x)
    flows.append(powers(x))
    for _ in range(steps):
        x = gd.driven_step(model, x, u, dt)
        flows.append(powers(x))
    weights = np.full(steps + 1, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    supplied, lost = (
        dt / 3.0 * weights @ [getattr(flow, name) for flow in flows]
        for name in ("supplied", "lost")
    )
    figure = abs(stored(x) - begin - supplied + lost) / abs(supplied)
    assert holds("energy balance along a simulation", figure, BALANCE)
