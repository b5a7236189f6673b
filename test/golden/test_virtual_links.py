"""The mechanism of Chen 1998, from its meshes: against first principles and against print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.arrays import readonly
from geared_dynamics.model.model import GearedModel
from naive import virtual_links as printed
from naive.bodies import locked_parameters
from naive.drives import one_ratio_scaled, ratios_scaled
from naive.geared_mechanism import A2, LINKS, derive_mechanism, forces
from naive.measure import holds
from naive.rolling import Contact, Turn, bevel_contact, rolling_spins
from naive.symbolic import Equations

# Relative to the largest element, the oracle being exact to the last digit.
RELATIVE = 1e-12
# What a misprint, or a ratio 1 % off, must cost in the same measure.
NEGATIVE = 1e-5

# Numbers of teeth in the drivetrain file, with the sides on which the bevels meet.
RATIOS = {"g14": -60 / 20, "g25": 36 / 24, "g76": -27 / 18, "g37": 40 / 16}
WHEELS = ("wheel_4", "wheel_5", "wheel_6", "wheel_7")
STATES = np.random.default_rng(11).uniform(-3, 3, (6, 3, 3))


class State(NamedTuple):
    """A random state."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]


@pytest.fixture(scope="module")
def arm(published: Callable[[str], GearedModel]) -> GearedModel:
    """The robot; the paper has no gravity."""
    return replace(published("virtual_link_arm"), gravity=readonly(np.zeros(3)))


@pytest.fixture(params=range(len(STATES)))
def state(request: pytest.FixtureRequest) -> State:
    """Six random states."""
    return State(*STATES[request.param])


@pytest.fixture(scope="module")
def derived(arm: GearedModel) -> Equations:
    """Lagrange's equations of three links and four gears as bodies of their own."""
    return derive_mechanism(*arm.records, RATIOS)


@pytest.fixture(scope="module")
def derived_locked(arm: GearedModel) -> Equations:
    """The same with the gears locked: the paper's virtual open-loop chain."""
    return derive_mechanism(*arm.records, RATIOS, locked=True)


@pytest.fixture(scope="module")
def inertias(arm: GearedModel) -> dict[int, float]:
    """I_4 to I_7."""
    return {int(w.name[-1]): w.axial for w in arm.records.drivetrain.wheels}


def worst(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Largest error relative to the largest element."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def contacts() -> list[Contact]:
    """Where the pitch surfaces touch, each mesh seen from its arm, and how its members turn.

    Joint rates are rows of the unit matrix; the axis of a joint in its arm's frame.
    """
    x, y, z = np.eye(3)
    t1, t2, t3 = np.eye(3)
    zero, end = np.zeros(3), np.array([A2, 0.0, 0.0])
    spur = Contact(
        [-0.12, 0.0, 0.1], [Turn([-0.16, 0.0, 0.1], z, wheel=0)], [Turn(zero, z, known=t1)]
    )
    # Seen from link 1, wheel 5 turns by its spin in the base less what link 1 turns itself.
    first = Contact(
        bevel_contact(zero, y, z, (0.048, 0.072), 1),
        [Turn(zero, y, wheel=1), Turn(zero, y, known=-t1)],
        [Turn(zero, z, known=t2)],
    )
    second = Contact(
        bevel_contact(zero, z, x, (0.036, 0.054), -1),
        [Turn(zero, z, wheel=2), Turn(zero, z, known=-t2)],
        [Turn(zero, x, wheel=3)],
    )
    third = Contact(
        bevel_contact(end, x, z, (0.032, 0.080), 1),
        [Turn(zero, x, wheel=3)],
        [Turn(end, z, known=t3)],
    )
    return [spur, first, second, third]


def test_spins_from_meshes_are_those_at_which_nothing_slides(arm: GearedModel) -> None:
    assert arm.wheel_names == WHEELS
    error = worst(arm.Gamma, rolling_spins(contacts(), 4, 3))
    assert holds("Chen 1998, spins from meshes (27-30, 45)", error, RELATIVE)


def test_relative_rates(arm: GearedModel) -> None:
    """(27) to (30)."""
    g = RATIOS
    expected = [[g["g14"], 0, 0], [1, g["g25"], 0], [0, 1, g["g76"] * g["g37"]], [0, 0, g["g37"]]]
    np.testing.assert_allclose(arm.Gamma, expected, rtol=1e-15, atol=1e-15)


def test_structure_matrix(arm: GearedModel) -> None:
    """(45)."""
    expected = printed.structure_matrix(RATIOS)
    np.testing.assert_allclose(arm.structure_matrix, expected, rtol=1e-15, atol=1e-15)


def test_whole_mechanism(arm: GearedModel, derived: Equations, state: State) -> None:
    """(46): G_v + G_s = A xi."""
    q, v, a = state
    expected = forces(derived, q, v, a)
    error = worst(gd.mass_matrix(arm, q), derived.mass_matrix(q))
    assert holds("Chen 1998, M of (46)", error, RELATIVE)
    error = worst(gd.coriolis_matrix(arm, q, v), derived.coriolis_matrix(q, v))
    assert holds("Chen 1998, C of (46)", error, RELATIVE)
    tau = gd.inverse_dynamics(arm, q, v, a)
    assert worst(tau, expected) < RELATIVE
    xi = gd.motor_torques(arm, tau)
    assert worst(printed.structure_matrix(RATIOS) @ xi, expected) < RELATIVE
    rotors = arm.Gamma[:3] @ v  # power in is power out
    assert abs(xi @ rotors - expected @ v) < RELATIVE * np.abs(xi * rotors).sum()


def test_gears_part(
    arm: GearedModel,
    derived: Equations,
    derived_locked: Equations,
    inertias: dict[int, float],
    state: State,
) -> None:
    """(44), as printed, as the difference of two derivations, and wheel by wheel."""
    q, v, a = state
    M_s = derived.mass_matrix(q) - derived_locked.mass_matrix(q)
    C_s = (derived.coriolis_matrix(q, v) - derived_locked.coriolis_matrix(q, v)) @ v
    whole = gd.mass_matrix(arm, q)
    parts = gd.wheel_contributions(arm, q, v, a).values()
    for found in (printed.gears_mass(inertias, RATIOS, q), sum(p.relative_mass for p in parts)):
        assert np.abs(found - M_s).max() < RELATIVE * np.abs(whole).max()
    G_s = M_s @ a + C_s
    rates = printed.gears_rates(inertias, RATIOS, q, v)
    scale = np.abs(forces(derived, q, v, a)).max()
    assert np.abs(rates - C_s).max() < RELATIVE * scale
    assert np.abs(sum(p.relative_force for p in parts) - G_s).max() < RELATIVE * scale


@pytest.mark.parametrize("wrong", [ratios_scaled, one_ratio_scaled], ids=lambda f: f.__name__)
def test_a_ratio_one_percent_off_fails(
    arm: GearedModel, derived: Equations, wrong: Callable[..., GearedModel]
) -> None:
    q, v, _ = State(*STATES[0])
    other = wrong(arm, 2, 1.01) if wrong is ratios_scaled else wrong(arm, 1.01)
    assert worst(gd.mass_matrix(other, q), derived.mass_matrix(q)) > NEGATIVE
    assert worst(gd.coriolis_matrix(other, q, v), derived.coriolis_matrix(q, v)) > NEGATIVE


# A wheel on a joint's axis may name either link as its carrier; the meshes do the rest.
OTHER_CARRIERS = {
    "wheel_5": {"carrier": "link_1", "axis": [0, 1, 0], "position": [0, -0.2, 0]},
    "wheel_6": {"carrier": "link_2"},
}


@pytest.mark.parametrize("names", [["wheel_5"], ["wheel_6"], ["wheel_5", "wheel_6"]])
def test_which_coaxial_link_carries_a_wheel_does_not_matter(
    arm: GearedModel, names: list[str], state: State
) -> None:
    urdf = Path(arm.records.robot.source)
    drive = yaml.safe_load(urdf.with_suffix(".drivetrain.yaml").read_text(encoding="utf-8"))
    for name in names:
        drive["wheels"][name] |= OTHER_CARRIERS[name]
    other = gd.load_model(urdf, drive, gravity=(0, 0, 0))
    assert not np.array_equal(other.Gamma, arm.Gamma)
    q, v, _ = state
    assert worst(gd.mass_matrix(other, q), gd.mass_matrix(arm, q)) < RELATIVE
    assert worst(gd.coriolis_matrix(other, q, v), gd.coriolis_matrix(arm, q, v)) < RELATIVE
    assert worst(gd.inverse_dynamics(other, *state), gd.inverse_dynamics(arm, *state)) < RELATIVE


# Entries that are not zero, from 1: M_{j/i} (31), (32), (35), (39) and C_{j/i,r} (33), (36),
# (37), (40) to (42), with what they depend on.
MASS_KINDS = {
    "wheel_4": {(1, 1): "constant"},
    "wheel_5": {(1, 1): "constant", (1, 2): "constant", (2, 2): "constant"},
    "wheel_6": {(2, 2): "constant", (2, 3): "constant", (3, 3): "constant"},
    "wheel_7": {(1, 3): "posture", (3, 3): "constant"},
}
CORIOLIS_KINDS = {"wheel_7": {(1, 2, 3): "posture", (2, 1, 3): "posture", (3, 1, 2): "posture"}}
INNER = {"wheel_4": 0, "wheel_5": 0, "wheel_6": 1, "wheel_7": 2}


@pytest.mark.parametrize("name", WHEELS)
def test_classes_of_the_entries(arm: GearedModel, name: str) -> None:
    part = gd.wheel_contributions(arm, *STATES[0])[name]
    mass, coriolis = np.full((3, 3), "zero", object), np.full((3, 3, 3), "zero", object)
    for (r, k), kind in MASS_KINDS[name].items():
        mass[r - 1, k - 1] = mass[k - 1, r - 1] = kind
    for (r, h, k), kind in CORIOLIS_KINDS.get(name, {}).items():
        coriolis[r - 1, h - 1, k - 1] = coriolis[r - 1, k - 1, h - 1] = kind
    np.testing.assert_array_equal(part.mass_kind, mass)
    np.testing.assert_array_equal(part.coriolis_kind, coriolis)
    assert part.inner_joints == arm.joint_names[: INNER[name]]
    assert part.outer_joints == arm.joint_names[INNER[name] :]


def test_coupling_matrices_of_wheel_7(
    arm: GearedModel, inertias: dict[int, float], state: State
) -> None:
    """(40) to (42)."""
    part = gd.wheel_contributions(arm, *state)["wheel_7"]
    half = 0.5 * inertias[7] * RATIOS["g37"] * np.cos(state.q[1])
    expected = np.zeros((3, 3, 3))
    expected[0, 1, 2] = expected[0, 2, 1] = half
    expected[1, 0, 2] = expected[1, 2, 0] = -half
    expected[2, 0, 1] = expected[2, 1, 0] = half
    scale = inertias[7] * RATIOS["g37"]
    np.testing.assert_allclose(part.coriolis, expected, rtol=0, atol=RELATIVE * scale)


def virtual_links(arm: GearedModel) -> dict[str, float]:
    """Table 3 from the explicit bodies, link 2's frame moved to the end of the link."""
    values = {}
    for number, name in enumerate(LINKS[1:], start=1):
        values[number] = locked_parameters(*arm.records, name)
    table = printed.parameters(A2, values)
    table["r2x"] -= A2
    return table


def test_virtual_links_are_as_table_3_wants(arm: GearedModel) -> None:
    table = virtual_links(arm)
    zero = ["r1x", "I1xy", "I1xz", "r2y", "I2xy", "I2yz", "r3x", "r3y", "I3xy", "I3xz", "I3yz"]
    assert max(abs(table[name]) for name in zero) < 1e-17
    assert min(abs(table[n]) for n in ("r1y", "r1z", "I1yz", "r2x", "r2z", "I2xz", "r3z")) > 1e-3


def test_appendix_corrected(arm: GearedModel, derived_locked: Equations, state: State) -> None:
    """(A1) to (A3) with the corrections are the virtual open-loop chain."""
    expected = forces(derived_locked, *state)
    assert worst(printed.appendix(virtual_links(arm), *state), expected) < RELATIVE
    locked = gd.inverse_dynamics(arm.with_coupling("none"), *state)
    assert worst(locked, expected) < RELATIVE


@pytest.mark.parametrize("misprint", printed.MISPRINTS)
def test_appendix_as_printed_is_wrong(
    arm: GearedModel, derived_locked: Equations, misprint: str
) -> None:
    state = State(*STATES[0])
    found = printed.appendix(virtual_links(arm), *state, misprint)
    assert worst(found, forces(derived_locked, *state)) > NEGATIVE
