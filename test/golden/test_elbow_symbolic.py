"""The elbow arm of Sciavicco 1994, section 7, against first principles and against print."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.description.drive_records import WheelRecord
from geared_dynamics.model.model import GearedModel
from naive import elbow as printed
from naive.bodies import locked_parameters
from naive.drives import ratios_scaled
from naive.measure import holds
from naive.symbolic import DHRow, Equations, RigidBody, derive, exact, exact_matrix

# Relative to each element of M, C and g, the oracle being exact to the last digit.
RELATIVE = 1e-12
# Elements whose terms cancel to less than this part of the largest one carry its rounding.
CANCELLED = 1e-3
# A ratio 1 % off must show in M and C at least this much, relative to the whole matrix.
NEGATIVE = 1e-6
# Columns and rows that are zero by structure may not even carry rounding.
EXACT = 0.0
# Rank decisions: singular values relative to the largest.
RANK = 1e-10

A2, A3 = 0.45, 0.4
RATIOS = (120.0, 100.0, 80.0)
LINKS = ("link_1", "link_2", "link_3")
GRAVITY = -9.81
STATES = np.random.default_rng(7).uniform(-3, 3, (6, 3, 3))


class State(NamedTuple):
    """A random state."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]


@pytest.fixture(scope="module")
def arm(published: Callable[[str], GearedModel]) -> GearedModel:
    """The published robot."""
    return published("elbow")


@pytest.fixture(params=range(len(STATES)))
def state(request: pytest.FixtureRequest) -> State:
    """Six random states."""
    return State(*STATES[request.param])


@pytest.fixture(scope="module")
def derived(arm: GearedModel) -> Equations:
    """Lagrange's equations of three links and three rotors as bodies of their own."""
    rows = [DHRow(0, 1, 0, 0), DHRow(exact(A2), 0, 1, 0), DHRow(exact(A3), 0, 1, 0)]
    gravity = exact_matrix([0, 0, GRAVITY])
    return derive(rows, [*link_bodies(arm), *rotor_bodies(arm)], gravity)


def link_bodies(arm: GearedModel) -> list[RigidBody]:
    """The links as the URDF states them: its frames are those the oracle wants."""
    records = {link.name: link.inertia for link in arm.records.robot.links}
    bodies = []
    for number, name in enumerate(LINKS, start=1):
        body = records[name]
        assert body is not None
        tensor = exact_matrix(body.tensor)
        bodies.append(RigidBody(number, exact(body.mass), exact_matrix(body.com), tensor))
    return bodies


def rotor_bodies(arm: GearedModel) -> list[RigidBody]:
    """Rotor i in link i - 1."""
    return [rotor_body(i, wheel) for i, wheel in enumerate(arm.records.drivetrain.wheels)]


def rotor_body(i: int, wheel: WheelRecord) -> RigidBody:
    """The rotor of joint i + 1."""
    assert wheel.carrier == ("base_link", *LINKS)[i]
    axis = exact_matrix(wheel.axis)
    along = axis * axis.T
    tensor = exact(wheel.axial) * along + exact(wheel.transverse) * (sp.eye(3) - along)
    position = exact_matrix(wheel.position)
    return RigidBody(i, exact(wheel.mass), position, tensor, axis, i, exact(RATIOS[i]))


def worst(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Largest error of an element relative to it, or to CANCELLED of the largest element."""
    scale = np.maximum(np.abs(expected), CANCELLED * np.abs(expected).max())
    return float((np.abs(found - expected) / scale).max())


def augmented(arm: GearedModel) -> NDArray[np.float64]:
    """The 33 parameters (31) of the augmented links, from the explicit bodies."""
    parts = []
    for link, wheel in zip(LINKS, arm.records.drivetrain.wheels, strict=True):
        parts.append([*locked_parameters(*arm.records, link), wheel.axial])
    return np.concatenate(parts)


def test_published_robot_is_the_papers(arm: GearedModel) -> None:
    """Rotor axes z_0, y_1, x_2; I-hat diagonal; first moments of links 2, 3 along x."""
    assert [wheel.axis for wheel in arm.records.drivetrain.wheels] == [
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
    ]
    np.testing.assert_array_equal(arm.Gamma, np.diag(RATIOS))
    np.testing.assert_allclose(augmented(arm)[printed.zero_columns()], 0, atol=1e-17)


def test_mass_matrix(arm: GearedModel, derived: Equations, state: State) -> None:
    found = worst(gd.mass_matrix(arm, state.q), derived.mass_matrix(state.q))
    assert holds("elbow, every element of M", found, RELATIVE)


def test_coriolis_matrix(arm: GearedModel, derived: Equations, state: State) -> None:
    found = gd.coriolis_matrix(arm, state.q, state.v)
    error = worst(found, derived.coriolis_matrix(state.q, state.v))
    assert holds("elbow, every element of C", error, RELATIVE)


def test_gravity_forces(arm: GearedModel, derived: Equations, state: State) -> None:
    found = worst(gd.gravity_forces(arm, state.q), derived.gravity_forces(state.q))
    assert holds("elbow, every element of g", found, RELATIVE)


def test_inverse_dynamics(arm: GearedModel, derived: Equations, state: State) -> None:
    q, v, a = state
    terms = derived.mass_matrix(q) @ a, derived.coriolis_matrix(q, v) @ v
    expected = sum(terms, derived.gravity_forces(q))
    assert worst(gd.inverse_dynamics(arm, q, v, a), expected) < RELATIVE


@pytest.mark.parametrize("joint", range(3))
def test_a_ratio_one_percent_off_fails(arm: GearedModel, derived: Equations, joint: int) -> None:
    wrong = ratios_scaled(arm, joint, 1.01)
    q, v, _ = State(*STATES[0])
    M, C = derived.mass_matrix(q), derived.coriolis_matrix(q, v)
    assert np.abs(gd.mass_matrix(wrong, q) - M).max() > NEGATIVE * np.abs(M).max()
    if joint == 2:  # rotor 3 is the only one whose interaction depends on the posture
        assert np.abs(gd.coriolis_matrix(wrong, q, v) - C).max() > NEGATIVE * np.abs(C).max()


@pytest.mark.parametrize("coupling", ["none", "diagonal"])
def test_skew_rotors_need_the_complete_model(
    arm: GearedModel, derived: Equations, coupling: str
) -> None:
    approximate = arm.with_coupling(coupling)
    q, v, _ = State(*STATES[0])
    M, C = derived.mass_matrix(q), derived.coriolis_matrix(q, v)
    assert np.abs(gd.mass_matrix(approximate, q) - M).max() > NEGATIVE * np.abs(M).max()
    assert np.abs(gd.coriolis_matrix(approximate, q, v) - C).max() > NEGATIVE * np.abs(C).max()


def test_printed_elements(arm: GearedModel, state: State) -> None:
    """Each element of B, H and g as printed, with pi_1 to pi_9 of this robot."""
    q, v, _ = state
    pi = printed.combinations(A2, RATIOS) @ augmented(arm)
    B, H = printed.inertia_matrix(q, pi, A2, RATIOS), gd.coriolis_matrix(arm, q, v)
    assert worst(gd.mass_matrix(arm, q), B) < RELATIVE
    assert worst(H, printed.coriolis_matrix(q, v, pi, A2, RATIOS)) < RELATIVE
    assert worst(gd.gravity_forces(arm, q), printed.gravity_forces(q, pi, GRAVITY)) < RELATIVE


def test_parameters_are_the_papers(arm: GearedModel) -> None:
    """Eleven per link, eq. 31: the augmented link's ten, then its joint's rotor."""
    np.testing.assert_allclose(gd.parameters(arm), augmented(arm), rtol=1e-15, atol=1e-17)


def test_regressor_is_block_upper_triangular(arm: GearedModel, state: State) -> None:
    """Eq. 34: torque i does not depend on the eleven parameters of the links before i."""
    blocks = gd.regressor(arm, *state).reshape(3, 3, 11)
    for i in range(3):
        for link in range(i):
            assert np.abs(blocks[i, link]).max() <= EXACT
        assert np.abs(blocks[i, i]).max() > 1


def printed_regressor(state: State) -> NDArray[np.float64]:
    """Y9 (3, 9) with tau = Y9 pi, from the printed elements and unit parameters."""
    q, v, a = state
    columns = []
    for pi in np.eye(9):
        B = printed.inertia_matrix(q, pi, A2, RATIOS)
        H = printed.coriolis_matrix(q, v, pi, A2, RATIOS)
        columns.append(B @ a + H @ v + printed.gravity_forces(q, pi, GRAVITY))
    return np.column_stack(columns)


def test_regressor_is_printed_times_combinations(arm: GearedModel, state: State) -> None:
    """Y = Y9 K where section 7 has parameters: pi_1 to pi_9 are all that acts."""
    kept = np.setdiff1d(np.arange(33), printed.zero_columns())
    Y = gd.regressor(arm, *state)[:, kept]
    K = printed.combinations(A2, RATIOS)[:, kept]
    expected = printed_regressor(state) @ K
    assert np.abs(Y - expected).max() < RELATIVE * np.abs(expected).max()


def zero_names(arm: GearedModel) -> list[str]:
    """Names of the parameters that section 7 takes to be zero."""
    names = gd.parameter_names(arm)
    return [names[k] for k in printed.zero_columns()]


def test_base_parameters_span_pi_1_to_pi_9(arm: GearedModel) -> None:
    base = gd.base_parameters(arm, zero=zero_names(arm))
    pi = printed.combinations(A2, RATIOS)
    assert base.rank == 9
    assert rank(base.combinations) == rank(pi) == rank(np.vstack([base.combinations, pi])) == 9


def test_base_parameters_without_zeros_are_more(arm: GearedModel) -> None:
    """The negative control: without section 7's zeros the span is another."""
    base = gd.base_parameters(arm)
    assert base.rank > 9
    assert rank(base.combinations) == base.rank


def rank(rows: NDArray[np.float64]) -> int:
    """Rank, of rows scaled to length one."""
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return int(np.linalg.matrix_rank(scaled, tol=RANK))
