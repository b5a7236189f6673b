"""The terms of a controller add up, and each switch takes away its own."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms, sample
from geared_dynamics.control.terms import compensated_force, compensated_friction

ARMS = arms()
NAMES = {
    "use_gravity_compensation": "gravity",
    "use_coriolis_compensation": "coriolis",
    "use_inertia_feedforward": "inertia",
    "use_rotor_inertia": "rotor_inertia",
    "use_rotor_coupling": "rotor_coupling",
    "use_friction": "friction",
}
# Sums and differences of a few recursions.
TOLERANCE = 1e-11


def complete(model: gd.GearedModel, q, v, a) -> np.ndarray:
    """What the joints' drives have to give, from the public functions."""
    tau = gd.inverse_dynamics(model, q, v, a) - gd.balancer_forces(model, q)
    return tau + gd.friction_forces(model, v, q, tau)


def close(found, wanted, size) -> bool:
    return bool(np.abs(found - wanted).max() <= TOLERANCE * np.abs(size).max())


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", range(3))
def test_all_terms_are_the_complete_inverse_dynamics(name: str, seed: int) -> None:
    model = ARMS[name]
    q, v, a = sample(model, seed)
    parts = gd.control.term_torques(model, q, v, a)
    whole = complete(model, q, v, a)
    assert close(sum(parts), whole, whole)


@pytest.mark.parametrize("name", ARMS)
def test_rotor_terms_are_the_differences_of_the_couplings(name: str) -> None:
    model = ARMS[name]
    q, v, a = sample(model)
    parts = gd.control.term_torques(model, q, v, a)
    variants = ("none", "diagonal", "complete")
    kept = variants[: variants.index(model.coupling) + 1]
    none, *others = [gd.inverse_dynamics(model.with_coupling(c), q, v, a) for c in kept]
    diagonal = others[0] if others else none
    last = others[-1] if others else none
    assert close(parts.rotor_inertia, diagonal - none, none)
    assert close(parts.rotor_coupling, last - diagonal, none)


@pytest.mark.parametrize("name", ARMS)
def test_every_combination_of_switches_is_the_sum_of_its_terms(name: str) -> None:
    model = ARMS[name]
    q, v, a = sample(model)
    parts = gd.control.term_torques(model, q, v, a)._asdict()
    whole = complete(model, q, v, a)
    reference = gd.control.Reference(q, v, a)
    for switches in product([True, False], repeat=len(NAMES)):
        on = dict(zip(NAMES, switches, strict=True))
        given = gd.control.controller(model, terms=gd.control.Terms(**on))
        _, found = given.step(given.start(), None, reference, 0.0)
        wanted = sum(parts[NAMES[key]] for key, chosen in on.items() if chosen)
        assert close(found.command, wanted, whole), on


def test_every_term_is_there() -> None:
    """Negative control: none of the terms is zero in the arm with everything."""
    model = ARMS["complete"]
    parts = gd.control.term_torques(model, *sample(model))
    assert all(np.abs(part).max() > 1e-3 for part in parts)


def test_a_wrong_ratio_shows() -> None:
    """Negative control: one percent of a ratio is seen in the sum."""
    model = ARMS["complete"]
    q, v, a = sample(model)
    from dataclasses import replace

    wheels = replace(model.wheels, spin=model.wheels.spin * 1.01)
    wrong = replace(model, wheels=wheels)
    whole = complete(model, q, v, a)
    assert not close(sum(gd.control.term_torques(wrong, q, v, a)), whole, whole)


def test_friction_does_not_depend_on_other_switches() -> None:
    """Friction that grows with the load sees the load, whoever carries it."""
    model = ARMS["complete"]
    q, v, a = sample(model)
    off = gd.control.Terms(use_gravity_compensation=False, use_rotor_coupling=False)
    found = [
        compensated_friction(gd.control.compensation(model, terms), q, v, a, v)
        for terms in (None, off)
    ]
    np.testing.assert_array_equal(*found)
    bare = compensated_force(gd.control.compensation(model, off), q, v, a)
    assert not np.allclose(bare, gd.inverse_dynamics(model, q, v, a))
