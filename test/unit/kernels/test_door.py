"""Doors: what they take gives what the functions behind give, all else goes to these."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.actuation.motor_commands import command_rows
from geared_dynamics.dynamics.rigid import torque_terms
from geared_dynamics.errors import ArrayError, GearedDynamicsError, ModelError
from geared_dynamics.kernels import door
from geared_dynamics.kernels.door_code import CLOSED, Record
from geared_dynamics.trace.derivatives import inverse_rows
from random_robots import random_state
from traced_arms import any_arm

pytestmark = pytest.mark.skipif(bool(door.fault()), reason=door.fault())
FUNCTIONS: dict[str, tuple[Any, int]] = {
    "inverse_dynamics": (gd.inverse_dynamics, 3),
    "forward_dynamics": (gd.forward_dynamics, 3),
    "mass_matrix": (gd.mass_matrix, 1),
    "coriolis_matrix": (gd.coriolis_matrix, 2),
    "gravity_forces": (gd.gravity_forces, 1),
    "bias_forces": (gd.bias_forces, 2),
    "torque_terms": (torque_terms, 3),
    "regressor": (gd.regressor, 3),
    "motor_commands": (command_rows, 3),
    "inverse_dynamics_derivatives": (inverse_rows, 3),
}


@pytest.fixture(scope="module")
def arm() -> gd.GearedModel:
    return any_arm(3)


class Behind:
    """A door whose function only says that it was asked."""

    def __init__(self, name: str, inputs: int) -> None:
        self.asked = 0

        def function(model: Any, *_arguments: Any, out: Any = None) -> str:
            self.asked += 1
            return "behind"

        self.door: Any = door.make_door(function, name, inputs, None, None)


def odd(x: np.ndarray) -> Iterator[Any]:
    """Arguments of the same meaning, or of none, that a door must not take."""
    wide = np.zeros(2 * len(x))
    wide[::2] = x
    unaligned = np.zeros(8 * len(x) + 1, np.uint8)[1:].view(np.float64)
    unaligned[:] = x
    yield from (x.tolist(), wide[::2], x.astype(">f8"), x.astype(np.float32), unaligned)
    yield from (np.stack([x, x]), np.ma.array(x), x.view(np.matrix), x[:-1], np.append(x, 0.0))
    yield from (None, "text", 1.0, np.float64(1.0), object(), x.astype(complex), np.array(1.0))
    yield from (x.astype(int), x.view(np.int64), type("Own", (np.ndarray,), {}), x[:, None])


# -- what a door takes ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("seed", [1, 3, 4, 9])
def test_a_door_gives_what_the_function_behind_gives(name: str, seed: int) -> None:
    model, (function, inputs) = any_arm(seed), FUNCTIONS[name]
    state = random_state(model.n, seed)[:inputs]
    try:
        expected = function.__wrapped__(model, *state)
    except GearedDynamicsError as error:
        with pytest.raises(type(error), match="motors"):
            function(model, *state)
        return
    bare = Behind(name, inputs)
    function(model, *state)  # leaves the record
    got = bare.door(model, *state)
    assert bare.asked == 0
    assert got.tobytes() == expected.tobytes()
    assert got.shape == expected.shape
    assert got.flags.owndata
    out = np.full_like(expected, np.nan)
    assert bare.door(model, *state, out=out) is out
    assert out.tobytes() == expected.tobytes()
    assert bare.door(model, *state, out=None).tobytes() == expected.tobytes()
    assert bare.asked == 0
    state[0][0] += 0.3  # the door reads its arguments, not what it was shown first
    assert bare.door(model, *state).tobytes() == function.__wrapped__(model, *state).tobytes()


@pytest.mark.validate
@pytest.mark.parametrize("name", FUNCTIONS)
def test_doors_of_many_random_arms(name: str) -> None:
    for seed in range(20, 320):
        test_a_door_gives_what_the_function_behind_gives(name, seed)


def test_read_only_inputs_and_views_of_other_arrays_are_taken(arm: gd.GearedModel) -> None:
    room = np.zeros(4 * arm.n)
    q, v, a, out = (room[k * arm.n : (k + 1) * arm.n] for k in range(4))
    q[:], v[:], a[:] = random_state(arm.n, 4)
    expected = gd.inverse_dynamics(arm, q, v, a)
    locked = [x.copy() for x in (q, v, a)]
    for x in locked:
        x.setflags(write=False)
    bare = Behind("inverse_dynamics", 3)
    assert bare.door(arm, q, v, a, out=out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(bare.door(arm, *locked), expected)
    assert bare.asked == 0


# -- what it leaves to the function behind --------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, 2])
def test_other_inputs_go_behind(arm: gd.GearedModel, place: int) -> None:
    state = list(random_state(arm.n, 1))
    gd.inverse_dynamics(arm, *state)
    bare = Behind("inverse_dynamics", 3)
    values = list(odd(state[place]))
    for value in values:
        changed = [*state[:place], value, *state[place + 1 :]]
        assert bare.door(arm, *changed) == "behind", type(value)
    assert bare.asked == len(values)
    for number in (np.nan, np.inf, 1e308):
        changed = [x.copy() for x in state]
        changed[place][-1] = number
        if not (place == 0 and number == 1e308):
            assert bare.door(arm, *changed) == "behind"


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "motor_commands"])
def test_other_results_go_behind(arm: gd.GearedModel, name: str) -> None:
    function, inputs = FUNCTIONS[name]
    state = random_state(arm.n, 2)[:inputs]
    good = np.array(function(arm, *state))
    locked = good.copy()
    locked.setflags(write=False)
    shape = good.shape
    room = np.zeros(good.size + arm.n)
    bare = Behind(name, inputs)
    outs = [locked, good.tolist(), good.astype(">f8"), good.astype(np.float32), np.ma.array(good)]
    outs += [np.zeros((*shape, 1)), np.zeros(good.size + 1), np.zeros((1, *shape)), "text", 0]
    outs += [np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2], np.zeros(8 * good.size, np.int8)]
    if len(shape) == 2:
        outs += [np.zeros(shape[::-1]).T, np.zeros(good.size)]
    for out in outs:
        assert bare.door(arm, *state, out=out) == "behind"
    for shift in (0, arm.n // 2, good.size - 1):  # a result that shares memory with an input
        q = room[shift : shift + arm.n]
        out = room[: good.size].reshape(shape)
        assert bare.door(arm, q, *state[1:], out=out) == "behind"
    assert not room.any()
    apart = room[good.size :]
    assert bare.door(arm, apart, *state[1:], out=room[: good.size].reshape(shape)) is not None
    assert bare.asked == len(outs) + 3


def test_other_calls_go_behind(arm: gd.GearedModel) -> None:
    q, v, a = random_state(arm.n, 3)
    gd.inverse_dynamics(arm, q, v, a)
    bare = Behind("inverse_dynamics", 3)
    out = np.zeros(arm.n)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((arm, q, v), {}),
        ((arm, q, v, a, None), {}),
        ((arm, q, v), {"out": out}),
    ]
    calls += [((wrong, q, v, a), {}) for wrong in (None, q, "arm", type(arm), object())]
    for arguments, named in calls:
        assert bare.door(*arguments, **named) == "behind"
    assert bare.asked == len(calls)
    for named in ({"f_ext": None}, {"a": a}, {"out": out, "f_ext": None}, {"output": out}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            bare.door(arm, q, v, a, **named)
    with pytest.raises(TypeError, match="model"):
        bare.door()
    same = gd.inverse_dynamics(model=arm, q=q, v=v, a=a, out=out)
    assert same is out
    assert np.array_equal(gd.inverse_dynamics(arm, q, v, a=a), out)
    name = "".join(["o", "ut"])  # another object than the name that the door knows
    assert gd.inverse_dynamics(arm, q, v, a, **{name: out}) is out


def test_subclasses_of_models_and_copies_go_behind_or_their_own_way(arm: gd.GearedModel) -> None:
    q, v, a = random_state(arm.n, 3)
    expected = gd.inverse_dynamics(arm, q, v, a)
    kind = type("Own", (gd.GearedModel,), {})
    own = object.__new__(kind)
    own.__dict__.update(arm.__dict__)
    assert np.array_equal(gd.inverse_dynamics(own, q, v, a), expected)
    assert Behind("inverse_dynamics", 3).door(own, q, v, a) == "behind"
    for other in (copy.copy(arm), copy.deepcopy(arm), pickle.loads(pickle.dumps(arm))):
        assert not hasattr(other, "entry")
        assert np.array_equal(gd.inverse_dynamics(other, q, v, a), expected)
    loaded = arm.with_payload(1.0, link=arm.tips[0])
    assert not np.allclose(gd.gravity_forces(loaded, q), gd.gravity_forces(arm, q))


def test_batches_make_no_record() -> None:
    model = any_arm(4)
    states = np.zeros((2, model.n))
    assert gd.mass_matrix(model, states).shape == (2, model.n, model.n)
    assert not hasattr(model, "entry")
    gd.mass_matrix(model, states[0])
    assert hasattr(model, "entry")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((np.array([np.nan, 0.0]), np.zeros(2), np.zeros(2)), ArrayError),
        ((np.zeros(2), np.zeros(2), np.full(2, 1e308)), ArrayError),
        ((np.zeros(3), np.zeros(2), np.zeros(2)), ArrayError),
        ((np.zeros(2), "text", np.zeros(2)), ArrayError),
    ],
)
def test_errors_are_those_of_the_function(arguments: Any, error: type[Exception]) -> None:
    model = two_joints()
    for _ in range(2):  # before and after the model has its record
        with pytest.raises(error) as behind:
            gd.inverse_dynamics.__wrapped__(model, *arguments)  # type: ignore[attr-defined]
        with pytest.raises(error) as front:
            gd.inverse_dynamics(model, *arguments)
        assert str(front.value) == str(behind.value)
        names = [frame.name for frame in front.traceback]
        assert "inverse_dynamics" in names
        gd.inverse_dynamics(model, np.zeros(2), np.zeros(2), np.zeros(2))
    with pytest.raises(ModelError, match="not a GearedModel"):
        gd.mass_matrix(None, np.zeros(2))  # type: ignore[arg-type]


def two_joints() -> gd.GearedModel:
    """Some arm of two joints."""
    return next(model for model in map(any_arm, range(1, 60)) if model.n == 2)


def test_a_kernel_that_numba_has_not_compiled_leaves_the_door_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = any_arm(5)
    compiled = kernels.coriolis_matrix
    monkeypatch.setattr(kernels, "coriolis_matrix", lambda *x: compiled(*x))
    q, v, _ = random_state(model.n, 1)
    expected = gd.coriolis_matrix.__wrapped__(model, q, v)  # type: ignore[attr-defined]
    for _ in range(3):
        assert np.array_equal(gd.coriolis_matrix(model, q, v), expected)
    row: Any = model.entry
    assert row[door.ENTRIES.index("coriolis_matrix")][0] == CLOSED == Record().way


# -- no references lost, no memory kept -----------------------------------------------------------


def test_calls_keep_nothing(arm: gd.GearedModel) -> None:
    q, v, a = random_state(arm.n, 1)
    out, matrix, bad = np.empty(arm.n), np.empty((arm.n, arm.n)), np.full(arm.n, np.nan)
    bare, other = Behind("inverse_dynamics", 3).door, Behind("mass_matrix", 1).door
    gd.inverse_dynamics(arm, q, v, a)
    gd.mass_matrix(arm, q)
    slopes = gd.inverse_dynamics_derivatives(arm, q, v, a)
    held = [q, v, a, out, matrix, bad, arm, arm.entry, slopes, slopes.rows, bare, None]

    def once() -> None:
        bare(arm, q, v, a, out=out)
        bare(arm, q, v, a)
        other(arm, q, out=matrix)
        other(arm, bad)
        bare(arm, bad, v, a)
        bare(arm, bad, v, a, out=out)
        bare(arm, q, v, a, out=q)
        bare(arm, q, v, a, out=None)
        bare(None, q)

    for _ in range(100):
        once()
    gc.collect()
    counts = [sys.getrefcount(x) for x in held]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(12_000):
        once()
    for _ in range(1000):
        gd.inverse_dynamics_derivatives(arm, q, v, a, out=slopes)
        gd.inverse_dynamics_derivatives(arm, q, v, a)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    after = [sys.getrefcount(x) for x in held]
    assert after[:-1] == counts[:-1]
    assert abs(after[-1] - counts[-1]) < 1000  # of None
    assert grown < 20_000


def test_threads_call_at_once(arm: gd.GearedModel) -> None:
    states = [random_state(arm.n, seed) for seed in range(4)]
    expected = [gd.inverse_dynamics(arm, *state).tobytes() for state in states]
    wrong: list[int] = []

    def work(k: int) -> None:
        out = np.empty(arm.n)
        for _ in range(4000):
            if gd.inverse_dynamics(arm, *states[k], out=out).tobytes() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_calls_too(arm: gd.GearedModel) -> None:
    q, v, a = random_state(arm.n, 1)
    expected = gd.inverse_dynamics(arm, q, v, a).tobytes()
    child = os.fork()
    if child == 0:
        same = gd.inverse_dynamics(arm, q, v, a).tobytes() == expected
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
