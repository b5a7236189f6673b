"""Derivatives of inverse and forward dynamics: against complex steps, and by their identities."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.kernels import inverse
from geared_dynamics.trace import derivatives
from geared_dynamics.trace.compiled import CompiledModel
from geared_dynamics.trace.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from geared_dynamics.trace.run import Tracer
from random_robots import random_robot, random_state
from traced_arms import any_arm, code_of, difference

EXACT = 1e-13
BOTH = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


class Complex:
    """The mathematical functions that the kernel calls, of complex numbers."""

    sin, cos = staticmethod(np.sin), staticmethod(np.cos)


def complex_force(model: gd.GearedModel, *motion: Any) -> np.ndarray:
    """Inverse dynamics of complex numbers: the kernel's source without any graph."""
    tracer = Tracer()
    tracer._twins["math"] = Complex
    arrays = [list(packed(model).tolist()), *[list(x) for x in motion]]
    return np.array(tracer.run(inverse.inverse_dynamics, arrays[:1], arrays[1:], model.n))


def steps(model: gd.GearedModel, *motion: np.ndarray) -> list[np.ndarray]:
    """Derivatives by each of q, v, a, from steps along the imaginary axis: no differences."""
    found = []
    for k in range(3):
        columns = []
        for d in range(model.n):
            shifted = [x.astype(complex) for x in motion]
            shifted[k][d] += 1e-40j
            columns.append(complex_force(model, *shifted).imag / 1e-40)
        found.append(np.array(columns).T)
    return found


def pair(seed: int) -> tuple[gd.GearedModel, gd.GearedModel]:
    """An arm, and the same one compiled."""
    model = any_arm(seed)
    return model, gd.compiled(model, BOTH, dense=seed % 3 == 0)


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_are_those_of_complex_steps(seed: int) -> None:
    check(seed)


@pytest.mark.validate
def test_derivatives_of_many_arms_are_those_of_complex_steps() -> None:
    for seed in range(6, 306):
        check(seed)


def check(seed: int) -> None:
    """Compare both ways of getting the derivatives of one arm with complex steps."""
    model, fast = pair(seed)
    assert isinstance(fast, CompiledModel)
    motion = random_state(model.n, seed)
    expected = steps(model, *motion)
    tau = gd.inverse_dynamics(model, *motion)
    for way in (model, fast):
        got = inverse_dynamics_derivatives(way, *motion)
        assert difference(got.tau, tau) <= EXACT
        for block, by in zip((got.dtau_dq, got.dtau_dv, got.dtau_da), expected, strict=True):
            assert difference(block, by) <= EXACT, seed
        assert difference(got.dtau_da, gd.mass_matrix(model, motion[0])) <= EXACT
    forward(model, fast, motion, expected, seed)


def forward(
    model: gd.GearedModel,
    fast: gd.GearedModel,
    motion: tuple[np.ndarray, ...],
    slopes: list[np.ndarray],
    seed: int,
) -> None:
    """M da/dq = -dID/dq and so on, at the acceleration that the force gives."""
    q, v, tau = motion
    M = gd.mass_matrix(model, q)
    allowed = EXACT * max(1.0, np.linalg.cond(M) / 1e3)
    a = gd.forward_dynamics(model, q, v, tau)
    by_q, by_v, _ = steps(model, q, v, a)
    for way in (model, fast):
        got = forward_dynamics_derivatives(way, q, v, tau)
        assert difference(got.a, a) <= allowed, seed
        for block, right in (
            (got.da_dq, -by_q),
            (got.da_dv, -by_v),
            (got.da_dtau, np.eye(model.n)),
        ):
            expected = np.linalg.solve(M, right)
            assert difference(block, expected) <= allowed, seed
    assert slopes[2].shape == M.shape


def test_an_arm_that_differs_has_other_derivatives() -> None:
    model, _ = pair(1)
    heavier = dataclasses.replace(model, gravity=model.gravity * 1.01)
    motion = random_state(model.n, 1)
    one, other = (inverse_dynamics_derivatives(m, *motion) for m in (model, heavier))
    assert difference(other.dtau_dq, one.dtau_dq) > 1e4 * EXACT


def test_batches_are_their_states() -> None:
    model, fast = pair(4)
    q, v, a = random_state(model.n, 2, batch=(2, 3))
    for function in (inverse_dynamics_derivatives, forward_dynamics_derivatives):
        for way in (model, fast):
            whole = function(way, q, v, a)
            assert [x.shape for x in whole][:2] == [(2, 3, model.n), (2, 3, model.n, model.n)]
            one = function(way, q[1, 2], v[1, 2], a[1, 2])
            for block, part in zip(whole, one, strict=True):
                assert difference(block[1, 2], part) <= 1e-12
        alone = function(model, q[0, 0], v, a)
        assert np.array_equal(alone.rows[0, 0], function(model, q[0, 0], v[0, 0], a[0, 0]).rows)


def test_results_can_be_unpacked_and_filled_again() -> None:
    model, fast = pair(2)
    motion = random_state(model.n, 0)
    for way in (model, fast):
        result = inverse_dynamics_derivatives(way, *motion)
        tau, dq, dv, M = result
        assert tau is result.tau
        assert np.shares_memory(M, result.rows)
        kept = result.rows.copy()
        result.rows[:] = np.nan
        assert inverse_dynamics_derivatives(way, *motion, out=result) is result
        assert np.array_equal(result.rows, kept)
        assert dq.shape == dv.shape == (model.n, model.n)
        assert "dtau_dv=" in repr(result)


def test_wrong_results_and_states_are_refused() -> None:
    model, fast = pair(2)
    q, v, a = random_state(model.n, 0)
    force = forward_dynamics_derivatives(model, q, v, a)
    motion = inverse_dynamics_derivatives(model, q, v, a)
    for way in (model, fast):
        with pytest.raises(ArrayError, match="out: is a ForwardDynamicsDerivatives"):
            inverse_dynamics_derivatives(way, q, v, a, out=force)  # type: ignore[arg-type]
        for function, out in (
            (inverse_dynamics_derivatives, motion),
            (forward_dynamics_derivatives, force),
        ):
            batch = np.stack([q, q])
            with pytest.raises(ArrayError, match="out"):
                function(way, batch, v, a, out=out)  # type: ignore[operator]
            with pytest.raises(ArrayError, match=r"q.*nan"):
                function(way, q * np.nan, v, a)
            with pytest.raises(ArrayError, match="v: has shape"):
                function(way, q, v[:-1], a)
    with pytest.raises(ModelError, match="not a GearedModel"):
        inverse_dynamics_derivatives("arm", q, v, a)  # type: ignore[arg-type]


def test_the_former_function_of_this_name_is_named() -> None:
    model, _ = pair(2)
    path = np.zeros((4, model.n))
    for call in (
        lambda: inverse_dynamics_derivatives(model, path),
        lambda: inverse_dynamics_derivatives(model, derivatives=path),  # type: ignore[call-arg]
    ):
        with pytest.raises(ArrayError, match=r"call gd\.inverse_dynamics_time_derivatives"):
            call()


def test_angles_beyond_the_limit_are_the_tapes() -> None:
    model, fast = pair(2)
    q, v, a = random_state(model.n, 0)
    assert code_of(fast, "inverse_dynamics_derivatives")(q + 2e5, v, a, None) is None
    one, other = (inverse_dynamics_derivatives(m, q + 2e5, v, a) for m in (model, fast))
    assert np.array_equal(one.rows, other.rows)


def test_arms_of_one_structure_share_their_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_robot(11, joints=3, wheels=3).load()
    motion = random_state(3, 0)
    inverse_dynamics_derivatives(model, *motion)
    monkeypatch.setattr(derivatives, "program_of", lambda *_: pytest.fail("traced again"))
    parameters = 1.5 * model.tree.parameters
    parameters.setflags(write=False)
    heavier = dataclasses.replace(
        model, tree=dataclasses.replace(model.tree, parameters=parameters)
    )
    got = inverse_dynamics_derivatives(heavier, *motion)
    assert difference(got.dtau_da, gd.mass_matrix(heavier, motion[0])) <= EXACT
    assert pickle.loads(pickle.dumps(heavier))._forms.slopes is None


def test_kinds_of_results() -> None:
    model, fast = pair(2)
    state = random_state(model.n, 0)
    assert type(gd.forward_dynamics_derivatives(fast, *state)) is ForwardDynamicsDerivatives
    assert type(inverse_dynamics_derivatives(fast, *state)) is InverseDynamicsDerivatives
