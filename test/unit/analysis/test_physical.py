"""Physical parameters: bodies, by the torques, and by the files where these say nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from geared_dynamics.analysis import physical
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.parameter_columns import column_names, prior
from geared_dynamics.analysis.physical import (
    bare_links,
    coordinates,
    inside,
    margins,
    nearest_bodies,
    physical_parameters,
    pseudo_inertia,
    ten_of,
)
from geared_dynamics.errors import ModelError
from geared_dynamics.model.inertia import parameters_of
from geared_dynamics.recordings.recording import recording_from_arrays
from recorded_motions import elbow, motion, torques

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
FILES, NAMES = prior(MODEL), column_names(MODEL)
MASSES = [k for k, name in enumerate(NAMES) if name.endswith(".m")]
T, Q, V, A = motion(40.0, 200.0)
CLOSE = 0.03  # of a mass, which motion hardly tells


@cache
def found_with(noise: float) -> Identified:
    """Identify a robot whose files are the truth."""
    random = np.random.default_rng(0)
    tau = torques(MODEL, FILES, Q, V, A) + noise * random.normal(size=Q.shape)
    return identify(MODEL, [recording_from_arrays(T, Q, tau)], Settings(holdout=0.0))


def again(found: Identified, x: np.ndarray | None = None, **options: float) -> physical.Physical:
    """Physical parameters once more, otherwise."""
    root = np.linalg.cholesky(np.linalg.inv(found.solution.covariance)).T
    return physical_parameters(MODEL, found.base, found.x if x is None else x, root, **options)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_files_that_are_right_stay(noise: float) -> None:
    found = found_with(noise)
    assert found.physical is not None
    assert found.physical.status == "Solved"
    np.testing.assert_allclose(found.physical.x[MASSES], FILES[MASSES], rtol=CLOSE)
    np.testing.assert_allclose(found.residual[2], found.residual[1], rtol=0.03)


def test_without_the_files_masses_are_anything() -> None:
    """The control: what the files' part is for."""
    x = again(found_with(0.3), near=1e-8).x
    assert np.abs(x[MASSES] / FILES[MASSES] - 1.0).max() > 10 * CLOSE
    with pytest.raises(ModelError, match="near: is 0"):
        again(found_with(0.3), near=0.0)


def test_what_motion_cannot_tell_is_as_the_files_say() -> None:
    """The null space: a change of link 3 alone, which motion sees, leaves the others."""
    found = found_with(0.02)
    change = np.zeros(len(FILES))
    change[NAMES.index("link_3.mcx")] = 0.15  # of 0.75
    change[NAMES.index("link_3.Iyy")] = change[NAMES.index("link_3.Izz")] = 0.06
    wanted = found.base.combinations @ (FILES + change)
    x = again(found, wanted).x
    np.testing.assert_allclose(found.base.combinations @ x, wanted, atol=3 * found.sigma.max())
    silent = ~found.base.combinations.any(axis=0)
    assert silent.sum() >= 9
    np.testing.assert_allclose(x[silent], FILES[silent], rtol=0.01, atol=1e-3)
    first = silent & np.array([name.startswith("link_1") for name in NAMES])
    np.testing.assert_allclose(x[first], FILES[first], rtol=0, atol=1e-6)
    np.testing.assert_allclose(x[MASSES], FILES[MASSES], rtol=0.05)


def test_base_parameters_of_no_body_give_bodies() -> None:
    """Even those of an arm turned inside out, with wheels and friction that push."""
    found = found_with(0.02)
    for factor in (1.0, -1.0, 20.0):
        result = again(found, factor * found.x)
        for body in bare_links(MODEL, result.x):
            P = pseudo_inertia(body)
            assert np.linalg.eigvalsh(P)[0] >= -1e-9 * np.trace(P)
        assert (result.least >= -1e-15).all()  # kg m^2: rounding of what is zero
        signed = [k for k, name in enumerate(NAMES) if name.endswith((".J", "viscous", "coulomb"))]
        assert (result.x[signed] >= 0.0).all()


def test_a_solver_that_finds_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clarabel = pytest.importorskip("clarabel")
    usual = clarabel.DefaultSettings

    def hurried() -> object:
        settings = usual()
        settings.max_iter = 1
        return settings

    found = found_with(0.02)
    monkeypatch.setattr(clarabel, "DefaultSettings", hurried)
    with pytest.raises(ModelError, match=r"were found \(MaxIterations\); record a longer"):
        again(found, -found.x)


def test_a_solution_somewhat_outside_is_pulled_in() -> None:
    """What a solver calls solved or almost solved may be no body by its tolerance."""
    found = found_with(0.02)
    space = coordinates(MODEL, found.base, found.x)
    u = np.zeros(space.scale.shape[1])
    u[0] = -space.bodies[0][0, 0] - 1e-3
    assert margins(MODEL, space.start + space.scale @ u).min() < -1e-7
    full = space.start + space.scale @ inside(space, u)
    assert margins(MODEL, full).min() > -1e-15
    np.testing.assert_allclose(inside(space, u), u, rtol=2e-3)
    np.testing.assert_array_equal(inside(space, 1e-3 * u), 1e-3 * u)  # inside already


def test_almost_solved_is_said_and_still_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    found, usual = found_with(0.02), physical.nearest_allowed

    def almost(space: physical.SphereCoordinates, *rest: np.ndarray) -> tuple[np.ndarray, str]:
        u, _ = usual(space, *rest)
        u[0] = -space.bodies[0][0, 0] - 1e-4
        u[space.one_sided[0]] = space.bounds[0] - 1e-4
        return u, "AlmostSolved"

    monkeypatch.setattr(physical, "nearest_allowed", almost)
    result = again(found)
    assert result.status == "AlmostSolved"
    assert result.least.min() > -1e-15
    assert result.x[NAMES.index("rotor_1.J")] >= 0.0


def test_what_no_arm_has_is_named() -> None:
    space = coordinates(MODEL, (found := found_with(0.02)).base, found.x)
    u = np.zeros(space.scale.shape[1])
    assert physical.beyond_limits(MODEL, space, u) == ()
    u[0] = -space.bodies[0][0, 0] - 1e-3
    (named,) = physical.beyond_limits(MODEL, space, u)
    assert named == f"{MODEL.body_names[0]}: a mass distribution that no body can have"


def test_nearest_bodies_to_what_is_none() -> None:
    body = parameters_of(3.0, (0.1, 0.0, 0.2), np.diag([0.02, 0.03, 0.015]))
    wrong = parameters_of(3.0, (0.1, 0.0, 0.2), np.diag([0.02, 0.30, 0.015]))  # no triangle
    nearest, roots = nearest_bodies(np.stack([body, wrong, np.zeros(10)]))
    np.testing.assert_allclose(ten_of(nearest[0]), body, rtol=1e-12, atol=1e-15)
    assert np.linalg.eigvalsh(pseudo_inertia(wrong))[0] < -0.01
    assert all(np.linalg.eigvalsh(P)[0] > 0.0 for P in nearest)
    assert abs(nearest[1][3, 3] / 3.0 - 1.0) < 0.1
    assert np.abs(nearest[2]).max() < 1e-5  # no body in the files: hardly one
    np.testing.assert_allclose(roots[0] @ roots[0].T, nearest[0], rtol=1e-9, atol=1e-12)
