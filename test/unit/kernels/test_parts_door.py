"""Doors of contacts: what they take gives what the functions behind give, all else goes there."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import Q, V, planar, tip, wall
from geared_dynamics import kernels
from geared_dynamics.dynamics.contact import motion
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.kernels import door, parts_door
from naive.lagrangian import LagrangianTwin
from random_contacts import SETS, touching
from random_robots import random_robot, random_state

pytestmark = pytest.mark.skipif(bool(door.fault()), reason=door.fault())
contact = gd.contact
TAU = np.array([30.0, 10.0])
HIT, PUSH = (motion.IMPACT, contact.impact), (motion.MOTION, contact.constrained_dynamics)


class Behind:
    """A door whose function only says that it was asked."""

    def __init__(self, which: tuple[Any, Any]) -> None:
        self.asked = 0

        def function(*_arguments: Any, **_named: Any) -> str:
            self.asked += 1
            return "behind"

        kind = type(contact.prepare(planar(), wall()))
        self.door: Any = parts_door.make_door(function, which[0], kind, lambda _ready: None)


def same(found: Any, expected: Any) -> None:
    """Equal to the last bit, of the same types and shapes."""
    assert type(found) is type(expected)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
        assert one.flags.writeable


@pytest.fixture
def ready() -> Any:
    return contact.prepare(planar(), wall())


def calls(friction: bool) -> Iterator[tuple[tuple[Any, Any], tuple[Any, ...], dict[str, Any]]]:
    """Functions with numbers by place and by name."""
    mu = 0.3 if friction else 0.0
    yield HIT, (), {}
    yield HIT, (0.5,), {}
    yield HIT, (0.5, mu), {}
    yield HIT, (0.5,), {"friction": mu, "t": 0.0, "tolerance": 1e-5}
    yield HIT, (), {"tolerance": np.float64(1e-5), "restitution": np.float64(0.25)}
    yield PUSH, (), {}
    yield PUSH, (0.0, mu), {}
    yield PUSH, (0.0,), {"tolerance": np.inf, "friction": mu}


# -- what a door takes ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_door_gives_what_the_function_behind_gives(seed: int) -> None:
    model = random_robot(seed, joints=6).load()
    twin, kinds = LagrangianTwin(*model.records, model.gravity), SETS[seed % len(SETS)]
    q, v, tau = random_state(model.n, seed)
    touched = touching(model, twin, q, seed, kinds, moving=False, bilateral=seed % 2 > 0).contacts
    try:
        ready = contact.prepare(model, touched)
        contact.constrained_dynamics(model, ready, q, v, tau)
    except GearedDynamicsError:
        pytest.skip("contacts that this arm cannot have")
    for which, numbers, named in calls(ready.smooth < 0):
        state = (q, v) if which is HIT else (q, v, tau)
        try:
            expected = which[1].__wrapped__(model, ready, *state, *numbers, **named)
        except GearedDynamicsError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                which[1](model, ready, *state, *numbers, **named)
            continue
        same(which[1](model, ready, *state, *numbers, **named), expected)
        bare = Behind(which)
        if ready.plain:
            same(bare.door(model, ready, *state, *numbers, **named), expected)
            assert bare.asked == 0


def test_results_outlive_what_they_came_from(ready: Any) -> None:
    contact.impact(ready.model, ready, Q, V)
    v, gears = contact.impact(ready.model, ready, Q, V)[:4:3]
    expected = v.tobytes(), gears.tobytes()
    del ready
    gc.collect()
    junk = [np.full(30, 7.0) for _ in range(1000)]
    assert (v.tobytes(), gears.tobytes()) == expected
    assert len(junk) == 1000


# -- what it leaves to the function behind --------------------------------------------------------


def test_other_arguments_go_behind(ready: Any) -> None:
    model = ready.model
    contact.impact(model, ready, Q, V)
    contact.constrained_dynamics(model, ready, Q, V, TAU)
    hit, push = Behind(HIT), Behind(PUSH)
    odd = [Q.tolist(), Q.astype(np.float32), Q.astype(">f8"), np.zeros(4)[::2], np.zeros(3)]
    odd += [np.ma.array(Q), np.stack([Q, Q]), None, "text", 1.0, Q.astype(int), np.full(2, np.nan)]
    tries: list[tuple[Behind, tuple[Any, ...], dict[str, Any]]] = []
    for value in odd:
        tries += [(hit, (model, ready, value, V), {}), (hit, (model, ready, Q, value), {})]
        tries += [(push, (model, ready, Q, V, value), {})]
    for number in (1, True, None, "0.5", np.float32(0.5), np.nan, -1.0, 2.0, 1j):
        tries += [(hit, (model, ready, Q, V, number), {})]
        tries += [(hit, (model, ready, Q, V), {"restitution": number})]
    other = planar()
    tries += [(hit, (other, ready, Q, V), {}), (hit, (None, ready, Q, V), {})]
    tries += [(hit, (model, wall(), Q, V), {}), (hit, (model, [wall()], Q, V), {})]
    tries += [(hit, (model, ready, Q, V), {"order": "simultaneous"})]
    tries += [(hit, (model, ready, Q, V), {"depth": None})]
    tries += [(hit, (model, ready, Q, V, 0.5), {"restitution": 0.5})]
    tries += [(hit, (model, ready, Q, V, 0.5, 0.0, 0.0), {}), (hit, (model, ready, Q), {})]
    tries += [(hit, (model,), {}), (hit, (), {}), (push, (model, ready, Q, V), {"tau": TAU})]
    every = {"t": 0.0, "tolerance": 1e-6, "friction": 0.0, "restitution": 0.0}
    tries += [(hit, (model, ready, Q, V), every)]  # more names than are looked at
    tries += [(hit, (model, ready, Q, V), {"".join(["restit", "ution"]) + "_": 0.5})]
    for bare, arguments, named in tries:
        assert bare.door(*arguments, **named) == "behind", (arguments, named)
    assert hit.asked + push.asked == len(tries)


def test_friction_goes_behind_where_a_contact_has_no_law() -> None:
    model = planar()
    held = contact.Surface("tip", tip(), (1.0, 0.0, 0.0))
    line = contact.Line("tip", tip(), (0.0, 1.0, 0.0), tool_axis=(0.0, 1.0, 0.0))
    ready = contact.prepare(model, [held])
    assert ready.smooth < 0
    rough = dataclasses.replace(ready, smooth=0)
    contact.impact(model, rough, Q, V)
    bare = Behind(HIT)
    assert bare.door(model, rough, Q, V, 0.0, 0.2) == "behind"
    assert bare.door(model, rough, Q, V, 0.0, 0.0) != "behind"
    with pytest.raises(GearedDynamicsError, match="friction"):
        contact.impact(model, contact.prepare(model, line), Q, V, 0.0, 0.2)


def test_contacts_that_python_computes_make_no_record() -> None:
    model = planar()
    ready = contact.prepare(model, contact.Constraint(lambda q, _t: q[0] - Q[0], bilateral=False))
    for _ in range(2):
        contact.impact(model, ready, Q, V)
    assert not hasattr(ready, "entry")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"restitution": 1.5}, "restitution"),
        ({"friction": -0.1}, "friction"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"t": np.inf}, "t"),
        ({"restitution": float("nan")}, "restitution"),
    ],
)
def test_errors_are_those_of_the_function(ready: Any, named: dict[str, Any], words: str) -> None:
    for _ in range(2):  # before and after there is a record
        with pytest.raises(GearedDynamicsError, match=words) as behind:
            contact.impact.__wrapped__(ready.model, ready, Q, V, **named)  # type: ignore[attr-defined]
        with pytest.raises(GearedDynamicsError) as front:
            contact.impact(ready.model, ready, Q, V, **named)
        assert str(front.value) == str(behind.value)
        contact.impact(ready.model, ready, Q, V)
    inside = contact.prepare(ready.model, wall(2e-6))
    for _ in range(2):
        with pytest.raises(GearedDynamicsError, match="tolerance"):
            contact.impact(ready.model, inside, Q, V)


def test_copies_have_their_own_records(ready: Any) -> None:
    expected = contact.impact(ready.model, ready, Q, V)
    assert hasattr(ready, "entry")
    for other in (copy.copy(ready), copy.deepcopy(ready), pickle.loads(pickle.dumps(ready))):
        assert not hasattr(other, "entry")
        for _ in range(2):
            same(contact.impact(other.model, other, Q, V), expected)


def test_a_kernel_that_numba_has_not_compiled_leaves_the_door_closed(
    monkeypatch: pytest.MonkeyPatch, ready: Any
) -> None:
    compiled = kernels.contact_impact
    monkeypatch.setattr(kernels, "contact_impact", lambda *x: compiled(*x))
    for _ in range(3):
        contact.impact(ready.model, ready, Q, V)
    assert not hasattr(ready, "entry")


def test_there_is_no_door_where_numbers_lie_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_door, "numbers_as_read", lambda: False)
    answer = parts_door.parts_door(motion.IMPACT, object, lambda _ready: None)
    assert answer(test_copies_have_their_own_records) is test_copies_have_their_own_records


# -- no references lost, no memory kept -----------------------------------------------------------


def test_calls_keep_nothing(ready: Any) -> None:
    model, bad = ready.model, np.full(2, np.nan)
    hit, push = Behind(HIT).door, Behind(PUSH).door
    contact.impact(model, ready, Q, V)
    contact.constrained_dynamics(model, ready, Q, V, TAU)
    restitution = 0.5
    held = [Q, V, TAU, bad, model, ready, ready.entry, contact.Impact, hit, restitution]
    held += [np.dtype(float), np.ndarray, contact.ConstrainedMotion]

    def once() -> None:
        hit(model, ready, Q, V)
        hit(model, ready, Q, V, restitution, tolerance=1e-6)
        push(model, ready, Q, V, TAU)
        push(model, ready, Q, bad, TAU)
        hit(model, ready, Q, V, 2.0)
        hit(model, ready, Q, None)

    for _ in range(200):
        once()
    gc.collect()
    counts, blocks = [sys.getrefcount(x) for x in held], sys.getallocatedblocks()
    for _ in range(4000):
        once()
    gc.collect()
    assert [sys.getrefcount(x) for x in held] == counts
    assert abs(sys.getallocatedblocks() - blocks) < 200


def test_threads_call_at_once(ready: Any) -> None:
    model = ready.model
    expected = [contact.impact(model, ready, Q, k * V).v.tobytes() for k in (1.0, 2.0, 3.0)]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(3000):
            if contact.impact(model, ready, Q, (k + 1.0) * V).v.tobytes() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
