"""Functions of inputs with several lengths in machine code: against kernels and dual numbers."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from functools import partial
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import JOINT, driven_arm
from dual_numbers import dual_run
from elastic_arms import elastic_arm, elbow, state
from flat_arms import flat_arm
from geared_dynamics.dynamics.elastic.flatness import FRICTIONLESS, plan_of
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from geared_dynamics.kernels import flatness
from geared_dynamics.trace import elastic_derivatives, joined
from geared_dynamics.trace.compiled import CompiledModel
from geared_dynamics.trace.joined_functions import JOINED
from long_cases import cases
from random_robots import random_robot, random_state
from traced_arms import difference

EXACT = 1e-13
OF_SPRINGS = [name for name in JOINED if name.startswith("elastic.") and "feed" not in name]
OF_MOTORS = ["motor_commands_derivatives", "friction_forces", "external_forces"]
BY_PARAMETERS = "forward_dynamics_parameter_derivatives"


def test_the_oldest_instructions_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made last is kept, so that the next arm of its structure finds it."""
    kept: OrderedDict[tuple[str, bytes], joined.Instructions] = OrderedDict()
    monkeypatch.setattr(joined, "_known", kept)
    monkeypatch.setattr(joined, "KEPT", 2)
    made: list[str] = []

    def program(name: str, structure: Any) -> Any:
        made.append(name)
        return JOINED["external_forces"].program(structure)

    for name in ("one", "two", "three", "three", "two", "one"):
        model = random_robot(3).load()
        joined.tape(model, name, JOINED["external_forces"].forms(model), partial(program, name))
    assert made == ["one", "two", "three", "one"]
    assert [name for name, _ in kept] == ["three", "one"]


def compiled(model: gd.GearedModel, names: list[str], **options: Any) -> CompiledModel:
    """The model with these functions in machine code."""
    fast = gd.compiled(model, names, **options)
    assert isinstance(fast, CompiledModel)
    assert set(fast.joined_code) == set(names)
    return fast


def parts(result: Any) -> list[np.ndarray]:
    """Arrays of a result."""
    if isinstance(result, gd.MotorCommandsDerivatives):
        return [result.dtorque_dq, result.dtorque_dv, result.dtorque_da]
    return [result] if isinstance(result, np.ndarray) else list(result)


def same(fast: Any, slow: Any, allowed: float = EXACT) -> None:
    """Compare results array by array."""
    for got, expected in zip(parts(fast), parts(slow), strict=True):
        assert got.shape == expected.shape
        assert difference(got, expected) <= allowed


def elastic_calls(model: gd.GearedModel, seed: int, rows: int | None = None) -> list[Any]:
    """Calls of all functions with springs, for one state or several."""
    many = [state(model, seed + k) for k in range(rows or 1)]
    q, theta, v, vtheta, a, atheta = (
        np.array(x) if rows else x[0] for x in zip(*many, strict=True)
    )
    now = gd.State(q, v, theta, vtheta)
    random = np.random.default_rng(seed)
    tau_m = random.normal(size=(*q.shape[:-1], len(model.motor_names)))
    tau = random.normal(size=q.shape)
    of = gd.elastic
    return [
        lambda m: of.inverse_dynamics(m, now, a, atheta),
        lambda m: of.forward_dynamics(m, now, tau_m, tau=tau),
        lambda m: of.inverse_dynamics_derivatives(m, now, a, atheta),
        lambda m: of.forward_dynamics_derivatives(m, now, tau_m, tau=tau),
    ]


def declines(fast: CompiledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a test fail where a call goes on to the tape."""
    monkeypatch.setattr(
        "geared_dynamics.trace.joined.played", lambda *_: pytest.fail("played a tape")
    )


@pytest.mark.parametrize("seed", cases([0, 1], [2]))
def test_elastic_functions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_elastic(seed, monkeypatch)


def test_six_elastic_joints_with_full_tensors_have_code_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = elastic_arm(6, 6, coupled=False, extra=False)
    fast = compiled(model, [elastic_derivatives.FORWARD_DERIVATIVES])
    call = elastic_calls(model, 6)[-1]
    slow = call(model)
    declines(fast, monkeypatch)
    same(call(fast), slow)


@pytest.mark.validate
def test_elastic_functions_of_many_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3, 43):
        with monkeypatch.context() as patch:
            check_elastic(seed, patch)


def check_elastic(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare an arm's compiled functions with the others, one state and ten."""
    model = elastic_arm(seed, 2 + seed % 3, share=0.7, belts=seed % 2)
    q = state(model, seed)[0]
    cond = np.linalg.cond(gd.elastic.mass_matrix(model, q))
    allowed = EXACT * max(1.0, 10.0 * cond / 1e3)
    for rows in (None, 10):
        expected = [call(model) for call in elastic_calls(model, seed, rows)]
        fast = compiled(model, OF_SPRINGS, batches=rows is not None)
        with monkeypatch.context() as patch:
            declines(fast, patch)
            found = [call(fast) for call in elastic_calls(model, seed, rows)]
        for got, wanted in zip(found, expected, strict=True):
            same(got, wanted, allowed)


@pytest.mark.parametrize("seed", cases([0, 1], [2]))
def test_motors_friction_and_parameters(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = driven_arm(seed, joints=2 + seed)
    for batch in ((), (10,)):
        q, v, a = random_state(model.n, seed, batch=batch)
        wrenches = np.random.default_rng(seed).normal(size=(*batch, len(model.body_names), 6))
        calls = [
            lambda m, q=q, v=v, a=a: gd.motor_commands_derivatives(m, q, v, a),
            lambda m, q=q, v=v, a=a: gd.friction_forces(m, v, q, a),
            lambda m, q=q, f=wrenches: gd.external_forces(m, q, f),
            lambda m, q=q, v=v, a=a: gd.forward_dynamics_parameter_derivatives(m, q, v, a),
        ]
        fast = compiled(model, [*OF_MOTORS, BY_PARAMETERS], batches=bool(batch))
        expected = [call(model) for call in calls]
        declines(fast, monkeypatch)
        allowed = EXACT * max(1.0, np.linalg.cond(gd.mass_matrix(model, q)).max() / 1e2)
        # A ripple's phase, 7 times the rotor's angle, is rounded by as much as it is large.
        phase = 7.0 * np.abs(gd.motor_commands(model, q, v, a).angle).max()
        allowed = max(allowed, 2.0 * np.finfo(float).eps * phase)
        for call, wanted in zip(calls, expected, strict=True):
            same(call(fast), wanted, allowed)
        monkeypatch.undo()


METHODS = [("reduced", None, False), ("expanded", 1, False), ("exact", None, False)]


@pytest.mark.parametrize(("method", "order", "friction"), [*METHODS, ("reduced", None, True)])
def test_feedforward_has_the_derivatives_of_dual_numbers(
    method: Any, order: int | None, friction: bool
) -> None:
    check_feedforward(flat_arm(1, 2, friction=friction), 1, method, order, friction)


@pytest.mark.validate
def test_feedforward_of_many_arms() -> None:
    for seed in range(2, 22):
        method, order, friction = METHODS[seed % 3]
        arm = flat_arm(seed, 2 + seed % 2, share=0.7)
        check_feedforward(arm, seed, method, order, friction)


def check_feedforward(
    model: gd.GearedModel, seed: int, method: Any, order: int | None, friction: bool
) -> None:
    """Compare values and slopes with those of dual numbers."""
    plan = plan_of(model, method, order)
    path = np.random.default_rng(seed).normal(size=(plan.rows, model.n))
    found = gd.elastic.feedforward_derivatives(model, path, method, order, friction=friction)
    drives = plan.drives if friction else FRICTIONLESS
    constants = [plan.packed, plan.plan, np.array(drives)]
    width = len(found.values)
    values, slopes = dual_run(flatness.elastic_feedforward, constants, [path.ravel()], width)
    assert difference(found.values, values) <= EXACT
    ends = np.cumsum([len(x) for x in found[1:-1]])
    for got, expected in zip(found[1:], np.split(slopes, ends), strict=True):
        assert difference(got.reshape(-1, path.size), expected) <= EXACT
    again = gd.elastic.feedforward_derivatives(
        model, np.stack([path, path]), method, order, friction=friction
    )
    assert difference(again.dtau_m[1], found.dtau_m) <= EXACT


def test_feedforward_in_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    model = flat_arm(3, 3)
    names = ["elastic.feedforward", "elastic.feedforward_derivatives"]
    fast = compiled(model, names, batches=True)
    for shape in ((5, 3), (9, 5, 3), (7, 3)):
        path = np.random.default_rng(0).normal(size=shape)
        expected = gd.elastic.feedforward_derivatives(model, path)
        values = gd.elastic.feedforward(model, path)
        with monkeypatch.context() as patch:
            declines(fast, patch)
            same(gd.elastic.feedforward_derivatives(fast, path), expected)
        got = gd.elastic.feedforward(fast, path)
        assert difference(got.tau_m, values.tau_m) <= EXACT
        assert difference(got.theta, values.theta) <= EXACT
    out = gd.elastic.feedforward_derivatives(model, path)
    other = gd.elastic.feedforward_derivatives(fast, 2.0 * path, out=out)
    assert other is out
    assert (
        difference(out.dtau_m, gd.elastic.feedforward_derivatives(model, 2 * path).dtau_m) < 1e-9
    )


def test_results_are_filled_again() -> None:
    model = driven_arm(1, joints=2)
    one, two = (random_state(2, seed) for seed in (1, 2))
    out = gd.motor_commands_derivatives(model, *one)
    expected = gd.motor_commands_derivatives(model, *two)
    assert gd.motor_commands_derivatives(model, *two, out=out) is out
    same(out, expected, 0.0)
    assert np.array_equal(out.commands.torque, expected.commands.torque)
    with pytest.raises(ArrayError, match="out: is of another model"):
        gd.motor_commands_derivatives(driven_arm(1, joints=2), *two, out=out)
    with pytest.raises(ArrayError, match="out: is a tuple"):
        gd.motor_commands_derivatives(model, *two, out=())  # type: ignore[arg-type]


def test_kinks_are_refused_in_machine_code_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOINT, "friction", {"viscous": 0.3, "coulomb": 0.8, "smoothing": 0.01})
    smooth = {"viscous": 2e-5, "coulomb": 0.02, "smoothing": 0.5}
    lossy = {"efficiency": {"driving": 0.85, "backdriving": 0.7}, "friction": smooth}
    fast = compiled(driven_arm(1, joints=2, **lossy), ["motor_commands_derivatives"])
    q, v, a = random_state(2, 0, batch=(4,))
    gd.motor_commands_derivatives(fast, q, v, a)
    v[2] = 0.0
    with pytest.raises(ArrayError, match=r"v of state 2.*motor 'motor_0' has no derivative by v"):
        gd.motor_commands_derivatives(fast, q, v, a)
    plain = driven_arm(1, joints=2, efficiency=None, friction=smooth)
    smooth_one = compiled(plain, ["motor_commands_derivatives"])
    at_rest = gd.motor_commands_derivatives(smooth_one, q[0], np.zeros(2), a[0])
    same(at_rest, gd.motor_commands_derivatives(plain, q[0], np.zeros(2), a[0]))


def test_loads_and_pickles() -> None:
    model = elbow(damping=2.0)
    fast = compiled(model, OF_SPRINGS)
    load = (1.5, (0.1, 0.0, 0.2))
    loaded, again = fast.with_payload(*load), pickle.loads(pickle.dumps(fast))
    assert isinstance(loaded, CompiledModel)
    assert isinstance(again, CompiledModel)
    assert set(loaded.joined_code) == set(again.joined_code) == set(OF_SPRINGS)
    for call in elastic_calls(model, 0):
        same(call(loaded), call(model.with_payload(*load)), 1e-12)
        same(call(again), call(fast), 0.0)


def test_errors_are_those_of_any_model() -> None:
    model = elbow(damping=2.0)
    fast = compiled(model, OF_SPRINGS)
    zero = np.zeros(3)
    now = gd.State(zero, zero, zero, zero)
    wrong = [
        (now, [np.nan, 0.0, 0.0], zero),
        (now, [0.0, 0.0], zero),
        (gd.State(zero, zero), zero, zero),
        (now, "a", zero),
        (gd.State(zero, zero + 1e200, zero, zero), zero, zero),
    ]
    for name in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        for arguments in wrong:
            texts = []
            for arm in (model, fast):
                with pytest.raises(ArrayError) as caught:
                    getattr(gd.elastic, name)(arm, *arguments)
                texts.append(str(caught.value))
            assert texts[0] == texts[1]
    for arm in (model, fast):
        with pytest.raises(ArrayError, match="tau_m: has shape"):
            gd.elastic.forward_dynamics_derivatives(arm, now, zero[:2])


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("observer_update", "an observer keeps memory"),
        ("observers.KalmanObserver", "number of its steps depends on the readings"),
        ("contact.impact", "which contacts hold is searched for"),
        ("control.Controller", "keeps memory from cycle to cycle"),
        ("simulate", "number of its steps depends on the motion"),
    ],
)
def test_what_cannot_be_traced_says_why(name: str, finding: str, tmp_path: Any) -> None:
    model = elbow()
    for refused in (
        lambda: gd.compiled(model, [name]),
        lambda: gd.export_c(model, tmp_path, [name]),
        lambda: gd.to_casadi(model, name),
    ):
        with pytest.raises(ArrayError, match=finding) as caught:
            refused()
        assert repr(name) in str(caught.value)
    with pytest.raises(UnknownNameError, match="function"):
        gd.compiled(model, ["inverse_dynamic"])


def test_arms_that_lack_what_a_function_needs() -> None:
    rigid = random_robot(1, joints=2, mimics=0).load()
    with pytest.raises(ModelError, match="no joint of this arm is elastic"):
        gd.compiled(rigid, ["elastic.inverse_dynamics"])
    with pytest.raises(ModelError, match="motors"):
        gd.compiled(rigid, ["motor_commands_derivatives"])
