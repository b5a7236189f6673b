"""Functions for CasADi: against the kernels, and CasADi's derivatives against ours."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from elastic_arms import elastic_arm, state
from flat_arms import flat_arm
from geared_dynamics.errors import MissingPackageError, ModelError, UnknownNameError
from random_robots import random_robot, random_state
from traced_arms import any_arm, difference

EXACT = 1e-13
RIGID = ("inverse_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "friction_forces")
INVERTED = ("forward_dynamics", "forward_dynamics_derivatives")


def test_missing_casadi_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingPackageError, match=r"to_casadi: needs the package 'casadi'.*pip"):
        gd.to_casadi(random_robot(1, joints=2).load())


def test_unknown_and_impossible_functions_are_refused() -> None:
    pytest.importorskip("casadi")
    model = random_robot(1, joints=2, wheels=1).load()
    with pytest.raises(UnknownNameError, match="there is no function 'inverse'"):
        gd.to_casadi(model, "inverse")
    with pytest.raises(UnknownNameError, match="there is no function 7"):
        gd.to_casadi(model, 7)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="motors"):
        gd.to_casadi(model, "motor_commands")
    with pytest.raises(ModelError, match="no joint of this arm is elastic"):
        gd.to_casadi(model, "elastic.forward_dynamics")
    with pytest.raises(ModelError, match="not a GearedModel"):
        gd.to_casadi("arm")  # type: ignore[arg-type]


def compare(model: gd.GearedModel, name: str, seed: int, allowed: float = EXACT) -> None:
    """Compare a function with that of the library, by names of inputs and outputs."""
    motion = random_state(model.n, seed)
    function = gd.to_casadi(model, name)
    names = [function.name_in(k) for k in range(function.n_in())]
    given = dict(zip(names, motion, strict=False))
    found = function.call(given)
    expected = getattr(gd, name)(model, **given)
    for k in range(function.n_out()):
        key = function.name_out(k)
        whole = expected if isinstance(expected, np.ndarray) else getattr(expected, key)
        got = found[key].full()
        if key == "a":
            assert force_apart(model, got.ravel(), whole, *motion) <= EXACT
        else:
            same = got.reshape(whole.shape) if whole.ndim == 1 else got
            assert difference(same, whole) <= allowed


def force_apart(
    model: gd.GearedModel,
    got: np.ndarray,
    a: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
) -> float:
    """What two accelerations differ by as forces, relative to the forces that they follow from.

    Of tau - h = M a little may remain where tau and h cancel: then a has fewer digits than they.
    """
    M, h = gd.mass_matrix(model, q), gd.bias_forces(model, q, v)
    whole = np.abs(M) @ np.abs(a) + np.abs(tau) + np.abs(h)
    return float(np.abs(M @ (got - a)).max() / whole.max())


def check_rigid(seed: int) -> None:
    """Compare all functions of one arm."""
    model = any_arm(seed)
    for name in RIGID:
        compare(model, name, seed)
    compare(model, "inverse_dynamics_derivatives", seed)
    M = gd.mass_matrix(model, random_state(model.n, seed)[0])
    for name in INVERTED:
        compare(model, name, seed, EXACT * max(1.0, np.linalg.cond(M) / 1e3))
    if model.motor_names and model.motor_map.complete:
        compare(model, "motor_commands", seed)


@pytest.mark.parametrize("seed", range(6))
def test_functions_are_those_of_the_kernels(seed: int) -> None:
    pytest.importorskip("casadi")
    check_rigid(seed)


@pytest.mark.validate
def test_functions_of_many_arms_are_those_of_the_kernels() -> None:
    pytest.importorskip("casadi")
    for seed in range(6, 306):
        check_rigid(seed)


def test_an_arm_that_differs_gives_other_numbers() -> None:
    pytest.importorskip("casadi")
    model = any_arm(1)
    heavier = dataclasses.replace(model, gravity=model.gravity * 1.01)
    motion = random_state(model.n, 1)
    one, other = (gd.to_casadi(arm)(*motion).full() for arm in (model, heavier))
    assert difference(other, one) > 1e4 * EXACT


def jacobians(function: Any, *given: np.ndarray) -> list[np.ndarray]:
    """CasADi's own derivatives of the first output by each input."""
    ca = pytest.importorskip("casadi")
    symbols = [ca.SX.sym(f"x{k}", len(x)) for k, x in enumerate(given)]
    result = function(*symbols)
    first = result[0] if isinstance(result, tuple) else result
    blocks = [ca.jacobian(first, symbol) for symbol in symbols]
    found = ca.Function("slopes", symbols, blocks)(*given)
    return [block.full() for block in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("seed", range(4))
def test_casadis_jacobians_are_our_derivatives(seed: int) -> None:
    pytest.importorskip("casadi")
    model = any_arm(seed)
    q, v, a = random_state(model.n, seed)
    ours = gd.inverse_dynamics_derivatives(model, q, v, a)
    theirs = jacobians(gd.to_casadi(model), q, v, a)
    for block, expected in zip(theirs, list(ours)[1:], strict=True):
        assert difference(block, expected) <= EXACT
    M = gd.mass_matrix(model, q)
    forward = gd.forward_dynamics_derivatives(model, q, v, a)
    theirs = jacobians(gd.to_casadi(model, "forward_dynamics"), q, v, a)
    for block, expected in zip(theirs, list(forward)[1:], strict=True):
        assert difference(block, expected) <= EXACT * max(1.0, np.linalg.cond(M) / 1e3)


@pytest.mark.parametrize("seed", range(3))
def test_casadis_jacobians_of_motor_commands(seed: int) -> None:
    pytest.importorskip("casadi")
    model = driven_arm(seed, joints=3)
    motion = random_state(model.n, seed)
    ours = gd.motor_commands_derivatives(model, *motion)
    theirs = jacobians(gd.to_casadi(model, "motor_commands"), *motion)
    for key, block in zip("qva", theirs, strict=True):
        assert difference(block, getattr(ours, f"dtorque_d{key}")) <= EXACT


@pytest.mark.parametrize("seed", range(4))
def test_elastic_arms(seed: int) -> None:
    pytest.importorskip("casadi")
    model = elastic_arm(seed, 2 + seed, belts=seed % 2, share=0.6)
    q, theta, v, vtheta, a, atheta = state(model, seed)
    now = gd.State(q, v, theta, vtheta)
    function = gd.to_casadi(model, "elastic.inverse_dynamics")
    parts = {"q": q, "theta": theta, "v": v, "vtheta": vtheta}
    found = function.call(parts | {"a": a, "atheta": atheta})
    expected = gd.elastic.inverse_dynamics(model, now, a, atheta)
    for key, whole in zip(("tau", "tau_theta"), expected, strict=True):
        assert difference(found[key].full().ravel(), whole) <= EXACT
    tau_m, tau = np.random.default_rng(seed).normal(size=(2, model.n))
    H = gd.elastic.mass_matrix(model, q)
    function = gd.to_casadi(model, "elastic.forward_dynamics")
    found = function.call(parts | {"tau_m": tau_m, "tau": tau})
    expected = gd.elastic.forward_dynamics(model, now, tau_m, tau=tau)
    for key, whole in zip(("a", "atheta"), expected, strict=True):
        allowed = EXACT * max(1.0, np.linalg.cond(H) / 1e3)
        assert difference(found[key].full().ravel(), whole) <= allowed
    ours = gd.elastic.forward_dynamics_derivatives(model, now, tau_m, tau=tau)
    theirs = jacobians(function, q, theta, v, vtheta, tau_m, tau)
    blocks = [*theirs[4:], np.hstack(theirs[:2]), np.hstack(theirs[2:4])]
    names = ("da_dtau_m", "da_dtau", "da_dx", "da_drate")
    for name, block in zip(names, blocks, strict=True):
        assert difference(block, getattr(ours, name)[: model.n]) <= 1e-11


def test_an_indefinite_mass_matrix_gives_no_numbers() -> None:
    pytest.importorskip("casadi")
    model = random_robot(3, joints=3, wheels=0).load()
    parameters = -model.tree.parameters
    parameters.setflags(write=False)
    tree = dataclasses.replace(model.tree, parameters=parameters)
    motion = random_state(model.n, 0)
    for arm, works in ((model, True), (dataclasses.replace(model, tree=tree), False)):
        a = gd.to_casadi(arm, "forward_dynamics")(*motion).full()
        assert np.isfinite(a).all() if works else np.isnan(a).all()


def test_commands_without_constants_are_left_out() -> None:
    pytest.importorskip("casadi")
    constants = {"inductance": None, "resistance": None}
    for missing, names in (
        (constants, {"voltage"}),
        (constants | {"torque_constant": None}, {"current", "voltage"}),
    ):
        function = gd.to_casadi(driven_arm(1, joints=2, **missing), "motor_commands")
        whole = gd.to_casadi(driven_arm(1, joints=2), "motor_commands")
        assert set(whole.name_out()) - set(function.name_out()) == names
        found = function.call({"q": [0.1, 0.2], "v": [1, 2]})
        expected = whole.call({"q": [0.1, 0.2], "v": [1, 2]})
        for name in function.name_out():
            assert np.array_equal(found[name].full(), expected[name].full())


def test_casadis_derivatives_are_ours() -> None:
    """Of motor commands and of the elastic feedforward, by CasADi's own differentiation."""
    casadi = pytest.importorskip("casadi")
    arm, motion = driven_arm(2, joints=3), random_state(3, 2)
    commands = gd.to_casadi(arm, "motor_commands")
    symbols = [casadi.SX.sym(name, 3) for name in "qva"]
    torque = commands(*symbols)[0]
    slopes = casadi.Function("slopes", symbols, [casadi.jacobian(torque, x) for x in symbols])
    ours = gd.motor_commands_derivatives(arm, *motion)
    expected = (ours.dtorque_dq, ours.dtorque_dv, ours.dtorque_da)
    for got, wanted in zip(slopes(*motion), expected, strict=True):
        assert difference(got.full(), wanted) <= EXACT
    direct = gd.to_casadi(arm, "motor_commands_derivatives")(*motion)[1].full()
    assert difference(direct.reshape(3, 3, 3), np.stack(expected, axis=1)) <= EXACT

    springs = flat_arm(1, 3)
    path = np.random.default_rng(1).normal(size=(5, 3))
    function = gd.to_casadi(springs, "elastic.feedforward")
    symbol = casadi.SX.sym("path", 15)
    by_path = casadi.jacobian(function(symbol)[3], symbol)
    found = casadi.Function("slopes", [symbol], [by_path])(path.ravel()).full()
    flat = gd.elastic.feedforward_derivatives(springs, path)
    assert difference(found.reshape(-1, 5, 3), flat.dtau_m) <= EXACT
