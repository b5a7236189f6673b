"""What a compiled model is: taken everywhere, its numbers in a table, plain when it must be."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import subprocess
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import readonly
from geared_dynamics.errors import ArrayError, GearedDynamicsWarning, ModelError, UnknownNameError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.trace import cache, compiled
from geared_dynamics.trace.compiled import CompiledModel, Layout
from geared_dynamics.trace.structure import ANY, CONSTANT, SIGNED, STRUCTURAL
from random_robots import random_state
from traced_arms import any_arm, code_of, difference

ROOT = Path(__file__).parents[3]
RIGID = ("inverse_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "forward_dynamics")


@pytest.fixture(scope="module")
def elbow() -> gd.GearedModel:
    urdf = ROOT / "urdf"
    return gd.load_model(urdf / "elbow.urdf", urdf / "elbow.drivetrain.yaml")


@pytest.fixture(scope="module")
def fast(elbow: gd.GearedModel) -> gd.GearedModel:
    return gd.compiled(elbow)


def agree(one: gd.GearedModel, other: gd.GearedModel) -> None:
    """Compare the torques of two models."""
    q, v, a = random_state(one.n, 5)
    expected = gd.inverse_dynamics(one, q, v, a)
    assert difference(gd.inverse_dynamics(other, q, v, a), expected) <= 1e-13
    assert difference(gd.mass_matrix(other, q), gd.mass_matrix(one, q)) <= 1e-13


# -- what it takes, and what it leaves to the kernels ---------------------------------------------


def test_public_functions_use_the_code(
    fast: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geared_dynamics import kernels

    q, v, a = random_state(fast.n, 0)
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        monkeypatch.setattr(kernels, name, None, raising=False)
    assert gd.inverse_dynamics(fast, q, v, a).shape == (3,)
    assert gd.bias_forces(fast, q, v).shape == gd.gravity_forces(fast, q).shape == (3,)
    assert gd.mass_matrix(fast, q).shape == (3, 3)
    assert gd.forward_dynamics(fast, q, v, a).shape == (3,)


def odd_calls(x: np.ndarray) -> dict[str, Any]:
    """Arguments that plain code does not take, of the same meaning as x."""
    wide = np.zeros(2 * len(x))
    wide[::2] = x
    unaligned = np.zeros(8 * len(x) + 1, np.uint8)[1:].view(np.float64)
    unaligned[:] = x
    return {
        "list": x.tolist(),
        "strided": wide[::2],
        "big-endian": x.astype(">f8"),
        "single": x.astype(np.float32).astype(np.float64).astype(np.float32),
        "batch": np.stack([x, x]),
        "unaligned": unaligned,
        "masked": np.ma.array(x),
        "backwards": x[::-1].copy()[::-1],
    }


def test_other_arguments_give_what_the_kernels_give(
    elbow: gd.GearedModel, fast: gd.GearedModel
) -> None:
    q, v, a = random_state(3, 2)
    for name, odd in odd_calls(q).items():
        assert code_of(fast, "inverse_dynamics")(odd, v, a, None) is None, name
        expected = gd.inverse_dynamics(elbow, odd, v, a)
        assert np.array_equal(gd.inverse_dynamics(fast, odd, v, a), expected), name


@pytest.mark.parametrize(
    "arguments",
    [
        (np.array([0.0, np.nan, 0.0]), np.zeros(3), np.zeros(3)),
        (np.zeros(3), np.array([np.inf, 0.0, 0.0]), np.zeros(3)),
        (np.zeros(3), np.zeros(3), np.full(3, 1e308)),
        (np.zeros(2), np.zeros(3), np.zeros(3)),
        (np.zeros(3), "text", np.zeros(3)),
    ],
    ids=["nan", "infinite", "overflow", "short", "text"],
)
def test_errors_are_those_of_the_kernels(
    elbow: gd.GearedModel, fast: gd.GearedModel, arguments: Any
) -> None:
    with pytest.raises(ArrayError) as plain:
        gd.inverse_dynamics(elbow, *arguments)
    with pytest.raises(ArrayError) as quick:
        gd.inverse_dynamics(fast, *arguments)
    assert str(quick.value) == str(plain.value)


def test_outputs_are_checked_as_before(elbow: gd.GearedModel, fast: gd.GearedModel) -> None:
    q, v, a = random_state(3, 3)
    room = np.zeros(12)
    locked = np.zeros(3)
    locked.setflags(write=False)
    outs = [q, room[1:4], locked, np.zeros(4), np.zeros((1, 3)), np.zeros(3, ">f8"), [0.0] * 3]
    room[:3] = q
    for out in outs:
        inputs = room[:3] if out is outs[1] else q
        if out is not outs[1]:
            assert code_of(fast, "inverse_dynamics")(inputs, v, a, out) is None
        errors = []
        for model in (elbow, fast):
            with pytest.raises(ArrayError) as caught:
                gd.inverse_dynamics(model, inputs, v, a, out=out)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]
    apart = room[3:6]
    assert gd.inverse_dynamics(fast, room[:3], v, a, out=apart) is apart


def test_a_model_without_a_positive_mass_matrix_is_refused_as_before(
    elbow: gd.GearedModel,
) -> None:
    tree = elbow.tree
    for seed in range(20):
        random = np.random.default_rng(seed)
        parameters = tree.parameters * random.choice([1.0, -1.0, 0.0], tree.parameters.shape)
        spoilt = dataclasses.replace(
            elbow, tree=dataclasses.replace(tree, parameters=readonly(parameters))
        )
        quick = gd.compiled(spoilt, ["forward_dynamics"])
        q, v, tau = random_state(3, seed)
        error, expected = outcome(spoilt, q, v, tau)
        same, got = outcome(quick, q, v, tau)
        assert same == error
        assert difference(got, expected) <= 1e-10


def outcome(model: gd.GearedModel, *state: np.ndarray) -> tuple[str, np.ndarray]:
    """The error of a forward dynamics, or its result."""
    try:
        return "", gd.forward_dynamics(model, *state)
    except ModelError as error:
        return str(error), np.zeros(0)


def test_wrong_names_and_things_are_refused(elbow: gd.GearedModel) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'inverse_dynamics'"):
        gd.compiled(elbow, ["inverse_dynamic"])
    with pytest.raises(ModelError, match="not a GearedModel"):
        gd.compiled("elbow")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="motors"):
        gd.compiled(any_arm(0), ["motor_commands"])
    assert "motor_commands" not in repr(gd.compiled(any_arm(0)))


def test_what_is_too_large_is_left_to_the_kernels(
    elbow: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LARGEST", 60)
    doubled = dataclasses.replace(elbow, gravity=readonly([1.0, 2.0, 3.0]))
    with pytest.warns(GearedDynamicsWarning, match="inverse_dynamics .* more than 60 operations"):
        quick = gd.compiled(doubled, ["inverse_dynamics", "gravity_forces"])
    assert "compiled: gravity_forces>" in repr(quick)
    agree(doubled, quick)


def test_no_door_leaves_the_model_as_it_is(
    elbow: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "fault", lambda: "arrays lie otherwise")
    with pytest.warns(GearedDynamicsWarning, match="not compiled: arrays lie otherwise"):
        assert gd.compiled(elbow) is elbow


# -- numbers in the table, zeros in the code ------------------------------------------------------


def test_a_payload_at_the_tip_is_another_table(
    fast: gd.GearedModel, elbow: gd.GearedModel
) -> None:
    load = (3.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    carrying = fast.with_payload(*load)
    assert isinstance(carrying, CompiledModel)
    for name, entry in carrying.entries.items():
        assert entry.code is fast.entries[name].code  # type: ignore[attr-defined]
    agree(elbow.with_payload(*load), carrying)
    agree(elbow, fast)


def test_every_zero_of_the_pattern_can_become_something_else() -> None:
    """Each number that the code takes for zero: it is then not run, and the kernels answer."""
    model = any_arm(9)
    layout = Layout(model, dense=False)
    structure = layout.structure("motor_commands")
    forms = layout.forms("motor_commands")
    assert structure.holds(forms)
    tried = 0
    for name, kinds in zip(structure.names, structure.kinds, strict=True):
        numbers, places = forms[name]
        for place in np.flatnonzero((places != STRUCTURAL) & (kinds == CONSTANT)):
            other = numbers.copy()
            other[place] = 0.37  # for zero, or for no limit
            assert not structure.holds(forms | {name: forms[name]._replace(numbers=other)})
            tried += 1
        for place in np.flatnonzero((places == SIGNED) & (kinds > ANY)):
            other = numbers.copy()
            other[place] *= -1.0
            assert not structure.holds(forms | {name: forms[name]._replace(numbers=other)})
            other[place] = 0.0
            assert not structure.holds(forms | {name: forms[name]._replace(numbers=other)})
            tried += 1
    assert tried > 50


def test_zeros_of_the_bodies_become_something_through_a_load_on_any_link(
    elbow: gd.GearedModel, fast: gd.GearedModel
) -> None:
    load = (2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    for link in elbow.body_names:
        expected = elbow.with_payload(*load, link=link)
        agree(expected, fast.with_payload(*load, link=link))
        agree(expected, gd.compiled(expected))


def test_a_load_elsewhere_compiles_nothing(
    elbow: gd.GearedModel, fast: gd.GearedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control loop must not wait for a compiler: what is not there is the kernels' again."""

    def refused(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(compiled, "there", lambda _: None)
    monkeypatch.setattr(compiled, "made", refused)
    load, link = (2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])), elbow.body_names[0]
    carrying = fast.with_payload(*load, link=link)
    assert set(getattr(carrying, "entries", {})) < set(fast.entries)  # type: ignore[attr-defined]
    agree(elbow.with_payload(*load, link=link), carrying)


def test_dense_code_takes_any_numbers(elbow: gd.GearedModel) -> None:
    dense = gd.compiled(elbow, RIGID, dense=True)
    load = (2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    for link in elbow.body_names:
        carrying = dense.with_payload(*load, link=link)
        for name, entry in dense.entries.items():  # type: ignore[attr-defined]
            assert carrying.entries[name].code is entry.code  # type: ignore[attr-defined]
        agree(elbow.with_payload(*load, link=link), carrying)


def test_models_of_one_structure_share_their_code(elbow: gd.GearedModel) -> None:
    heavier = dataclasses.replace(
        elbow,
        tree=dataclasses.replace(elbow.tree, parameters=readonly(1.5 * elbow.tree.parameters)),
    )
    one, other = gd.compiled(elbow, RIGID), gd.compiled(heavier, RIGID)
    for name in RIGID:
        assert one.entries[name].code is other.entries[name].code  # type: ignore[attr-defined]
    agree(heavier, other)


# -- copies, pickles, other models of its fields --------------------------------------------------


def test_other_models_of_its_fields_are_plain_and_say_so(
    fast: gd.GearedModel, elbow: gd.GearedModel
) -> None:
    for make in (
        lambda: dataclasses.replace(fast, gravity=fast.gravity),
        lambda: fast.with_coupling("diagonal"),
        lambda: fast.with_elasticity("uncoupled"),
    ):
        with pytest.warns(GearedDynamicsWarning, match="call gd.compiled again"):
            other = make()
        assert type(other) is gd.GearedModel
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the library makes such models for itself
        gd.parameters(fast)
        gd.base_parameters(fast)
        gd.inverse_dynamics(fast, *random_state(3, 0), f_ext=np.ones((3, 6)))


def test_pickles_and_copies_find_their_code_again(fast: gd.GearedModel) -> None:
    for other in (pickle.loads(pickle.dumps(fast)), copy.copy(fast), copy.deepcopy(fast)):
        assert isinstance(other, CompiledModel)
        agree(fast, other)


def test_a_pickle_without_code_at_hand_is_a_plain_model(
    elbow: gd.GearedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = pickle.dumps(gd.compiled(elbow))
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "_loaded", {})
    other = pickle.loads(text)
    assert type(other) is gd.GearedModel
    agree(elbow, other)


def test_importing_the_package_loads_none_of_it() -> None:
    code = "import sys, geared_dynamics.api; print([m for m in sys.modules if '.trace' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- many calls, many threads ---------------------------------------------------------------------


def test_calls_keep_nothing(fast: gd.GearedModel) -> None:
    q, v, a = random_state(3, 1)
    out = np.empty(3)
    held = [q, v, a, out, None]
    door = code_of(fast, "inverse_dynamics")
    bad = np.array([np.nan, 0.0, 0.0])
    for _ in range(10):
        door(q, v, a, out)
    gc.collect()
    counts = [sys.getrefcount(x) for x in held]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100_000):
        door(q, v, a, out)
        door(q, v, a, None)
        door(bad, v, a, None)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    after = [sys.getrefcount(x) for x in held]
    assert after[:-1] == counts[:-1]
    assert abs(after[-1] - counts[-1]) < 1000
    assert grown < 10_000


def test_threads_call_at_once(fast: gd.GearedModel) -> None:
    q, v, a = random_state(3, 1)
    expected = gd.inverse_dynamics(fast, q, v, a).tobytes()
    wrong: list[bytes] = []

    def work() -> None:
        for _ in range(3000):
            got = gd.inverse_dynamics(fast, q, v, a).tobytes()
            if got != expected:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_code_outlives_the_model_that_it_was_made_for(elbow: gd.GearedModel) -> None:
    other = dataclasses.replace(elbow, gravity=readonly([0.5, 0.1, -9.0]))
    door = code_of(gd.compiled(other, ["gravity_forces"]), "gravity_forces")
    gc.collect()
    q, _, _ = random_state(3, 4)
    assert difference(door(q, None), gd.gravity_forces(other, q)) <= 1e-13


def test_motor_commands_show_what_the_kernels_show() -> None:
    model = any_arm(7)
    fast = gd.compiled(model, ["motor_commands"])
    q, v, a = random_state(model.n, 3)
    one, other = gd.motor_commands(model, q, v, a), gd.motor_commands(fast, q, v, a)
    assert difference(other.torque, one.torque) <= 1e-13
    assert difference(other.voltage, one.voltage) <= 1e-13
    assert np.array_equal(other.binding, one.binding)
    assert other._values.shape == (at.RESULT_ROWS, len(model.motor_names))
