"""Many states in the lanes of vectors: bits and errors of one state after the other."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics import rigid
from geared_dynamics.errors import ArrayError
from geared_dynamics.trace import batches
from geared_dynamics.trace.batches import lanes
from geared_dynamics.trace.functions import FUNCTIONS
from random_robots import random_robot, random_state
from traced_arms import any_arm, code_of, difference

NAMES = (
    "inverse_dynamics",
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "motor_commands",
    "torque_terms",
    "regressor",
)


def pair(seed: int) -> tuple[gd.GearedModel, gd.GearedModel]:
    """An arm with drives, and the same one compiled for batches."""
    model = any_arm(seed)
    return model, gd.compiled(model, NAMES, batches=True)


def rows(model: gd.GearedModel, name: str, count: int, seed: int = 0) -> list[np.ndarray]:
    """Inputs of a function for many states."""
    return list(random_state(model.n, seed, batch=(count,)))[: len(FUNCTIONS[name].inputs)]


def result(model: gd.GearedModel, name: str, inputs: list[np.ndarray]) -> np.ndarray:
    """Result of a public function as one array."""
    found = (getattr(gd, name, None) or getattr(rigid, name))(model, *inputs)
    return np.asarray(getattr(found, "rows", getattr(found, "_values", found)))


@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_lanes_give_the_bits_of_single_states(name: str, seed: int) -> None:
    model, fast = pair(seed)
    inputs = rows(model, name, 3 * lanes() + 1, seed)
    whole = result(fast, name, inputs)
    door = code_of(fast, name)
    for k in range(len(whole)):
        assert door(*(x[k] for x in inputs), None).tobytes() == whole[k].tobytes(), k
    assert difference(whole, result(model, name, inputs)) <= 1e-12


@pytest.mark.parametrize("count", [0, 1, lanes() - 1, lanes(), lanes() + 1, 5 * lanes() - 1])
def test_any_number_of_states(count: int) -> None:
    model, fast = pair(1)
    inputs = rows(model, "inverse_dynamics", count)
    expected = gd.inverse_dynamics(model, *inputs)
    assert difference(gd.inverse_dynamics(fast, *inputs), expected) <= 1e-13
    room = np.full((count + 2, model.n), np.nan)
    out = room[1:-1]
    assert gd.inverse_dynamics(fast, *inputs, out=out) is out
    assert np.isnan(room[[0, -1]]).all()


def test_batches_do_not_pass_through_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    model, fast = pair(1)
    inputs = rows(model, "forward_dynamics", 2 * lanes())
    expected = gd.forward_dynamics(model, *inputs)
    monkeypatch.setattr(kernels, "forward_dynamics", lambda *_: pytest.fail("the kernel ran"))
    assert difference(gd.forward_dynamics(fast, *inputs), expected) <= 1e-11
    grid = [x.reshape(2, lanes(), model.n) for x in inputs]
    assert gd.forward_dynamics(fast, *grid).shape == (2, lanes(), model.n)
    turned = [np.asfortranarray(x) for x in inputs]
    assert difference(gd.forward_dynamics(fast, *turned), expected) <= 1e-11


def test_states_that_the_code_does_not_take_are_the_kernels() -> None:
    model, fast = pair(1)
    q, v, a = rows(model, "inverse_dynamics", 6 * lanes())
    q[lanes() + 1] += 2e5
    q[-1] += 3e5
    expected = gd.inverse_dynamics(model, q, v, a)
    got = gd.inverse_dynamics(fast, q, v, a)
    assert np.array_equal(got[[lanes() + 1, -1]], expected[[lanes() + 1, -1]])
    assert difference(got, expected) <= 1e-13


def test_errors_are_those_of_the_kernels() -> None:
    model, fast = pair(1)
    q, v, a = rows(model, "inverse_dynamics", 4 * lanes())
    v[2 * lanes() + 3, 1] = np.nan
    texts = []
    for way in (model, fast):
        with pytest.raises(ArrayError) as caught:
            gd.inverse_dynamics(way, q, v, a)
        texts.append(str(caught.value))
        with pytest.raises(ArrayError, match="shares memory"):
            gd.inverse_dynamics(way, q, a, a, out=q)
    assert texts[0] == texts[1]


def test_threads_share_a_batch() -> None:
    model, fast = pair(1)
    inputs = rows(model, "inverse_dynamics", 40 * lanes())
    expected = gd.inverse_dynamics(fast, *inputs)
    parts = [[x[k::4] for x in inputs] for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda part: gd.inverse_dynamics(fast, *part), parts))
    for k, part in enumerate(found):
        assert np.array_equal(part, expected[k::4])


def test_loads_and_pickles_keep_their_batches() -> None:
    model = random_robot(5, joints=3, wheels=3).load()
    fast = gd.compiled(model, ["inverse_dynamics"], batches=True)
    load = (2.0, (0.1, 0.2, 0.3))
    tip = model.body_names[-1]
    inputs = rows(model, "inverse_dynamics", lanes())
    carrying = fast.with_payload(*load, link=tip)
    expected = gd.inverse_dynamics(model.with_payload(*load, link=tip), *inputs)
    assert difference(gd.inverse_dynamics(carrying, *inputs), expected) <= 1e-13
    assert "inverse_dynamics" in pickle.loads(pickle.dumps(fast)).batch_code
    assert gd.compiled(model, ["inverse_dynamics"]).batch_code == {}


# -- threads --------------------------------------------------------------------------------------


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, fast = pair(1)
    monkeypatch.setattr(batches, "SHARE", 2 * lanes())
    several = gd.compiled(model, NAMES, batches=True, threads=3)
    for count in (2 * lanes(), 4 * lanes() - 1, 6 * lanes() + 1, 17 * lanes() + 3):
        for name in NAMES:
            inputs = rows(model, name, count)
            assert np.array_equal(result(several, name, inputs), result(fast, name, inputs))
    inputs = rows(model, "inverse_dynamics", 30 * lanes())
    inputs[0][[5, 11 * lanes(), -1]] += 2e5  # the kernel's, in each part
    expected = gd.inverse_dynamics(fast, *inputs)
    assert np.array_equal(gd.inverse_dynamics(several, *inputs), expected)
    inputs[1][-2, 0] = np.nan
    with pytest.raises(ArrayError, match="v"):
        gd.inverse_dynamics(several, *inputs)


def test_parts_begin_where_vectors_do_and_miss_nothing() -> None:
    for threads in (1, 2, 3, 7):
        for count in (lanes(), batches.SHARE, 2 * batches.SHARE - 1, 2 * batches.SHARE, 99_999):
            parts = batches.parts_of(count, threads)
            assert len(parts) == max(1, min(threads, count // batches.SHARE))
            assert [k for part in parts for k in (part.start, part.stop)][1:-1:2] == [
                part.start for part in parts[1:]
            ]
            assert parts[0].start == 0
            assert parts[-1].stop == count
            assert all(part.start % lanes() == 0 for part in parts)
            assert all(part.stop - part.start >= lanes() for part in parts)


def test_threads_survive_loads_pickles_and_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SHARE", lanes())
    model = random_robot(5, joints=3, wheels=3).load()
    fast = gd.compiled(model, ["inverse_dynamics"], batches=True, threads=2)
    inputs = rows(model, "inverse_dynamics", 9 * lanes())
    expected = gd.inverse_dynamics(fast, *inputs)
    again = pickle.loads(pickle.dumps(fast))
    assert again.threads == fast.with_payload(1.0).threads == 2
    assert np.array_equal(gd.inverse_dynamics(again, *inputs), expected)
    child = os.fork()
    if not child:  # the parent's threads are not here
        os._exit(int(not np.array_equal(gd.inverse_dynamics(fast, *inputs), expected)))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(("threads", "finding"), [(0, "is 0"), (True, "is True"), (1.5, "is 1.5")])
def test_numbers_of_threads_that_are_none(threads: Any, finding: str) -> None:
    with pytest.raises(ArrayError, match=finding):
        gd.compiled(any_arm(1), batches=True, threads=threads)


def test_threads_without_batches_are_refused() -> None:
    with pytest.raises(ArrayError, match="threads: is 2 without batches; give batches=True"):
        gd.compiled(any_arm(1), threads=2)
