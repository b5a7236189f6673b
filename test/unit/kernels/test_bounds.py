"""No kernel reads or writes outside its memory, or reads what was not written.

All of them, on arms of several kinds, interpreted with checked pointers beside the compiled code
(``checked_kernels``). The last tests break a kernel on purpose, and see that it is found. Between
them each kernel gets what its entry has to refuse: wrong widths, NaN, outputs over inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from checked_kernels import Checked, OutsideError, broken
from control_arms import balancers
from driven_arms import driven_arm
from flat_arms import flat_arm
from geared_dynamics import kernels
from geared_dynamics.actuation.friction_elements import drive_terms
from geared_dynamics.dynamics.rigid import torque_terms
from geared_dynamics.kernels import control_cycle, layout
from random_robots import random_robot
from simulated_arms import arm

DT = 1e-3
ROWS = [(), (3,)]  # one state, a batch


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Checked]:
    """Kernels that run both ways."""
    found = Checked(monkeypatch)
    yield found
    assert found.calls


def motion(model: gd.GearedModel, rows: tuple[int, ...], count: int, seed: int = 0) -> Any:
    """q, v, a, ... (count, *rows, n)."""
    return np.random.default_rng(seed).normal(size=(count, *rows, model.n))


def rigid(model: gd.GearedModel, rows: tuple[int, ...]) -> None:
    """Everything of a rigid arm without motors."""
    q, v, a, s = motion(model, rows, 4)
    gd.inverse_dynamics(model, q, v, a)
    wrenches = np.ones((*rows, len(model.body_names), 6))
    gd.inverse_dynamics(model, q, v, a, wrenches)
    torque_terms(model, q, v, a)
    gd.inverse_dynamics_time_derivatives(model, np.stack([q, v, a, s], axis=len(rows)))
    gd.forward_dynamics(model, q, v, a)
    gd.forward_dynamics_derivatives(model, q, v, a)
    gd.mass_matrix(model, q)
    gd.coriolis_matrix(model, q, v)
    gd.kinetic_energy(model, q, v)
    gd.regressor(model, q, v, a)
    gd.external_forces(model, q, wrenches)
    for link in model.body_names:
        gd.pose(model, q, link)
        gd.jacobian(model, q, link)
        gd.jacobian_drift(model, q, v, link)


def touched(model: gd.GearedModel, rows: tuple[int, ...]) -> None:
    """Contacts of every kind, alone and together, with friction and without."""
    contact, (q, v, tau) = gd.contact, motion(model, (), 3)
    link, other = model.body_names[-1], model.body_names[-2]
    X, Y = gd.pose(model, q, link), gd.pose(model, q, other)
    along, across = X[:3, :3] @ (0.3, 0.5, 0.8), Y[:3, :3] @ (0.4, -0.5, 0.6)
    wall = contact.Surface(link, X[:3, 3], along, velocity=(0.1, 0.2, 0.3))
    turning = contact.Surface(other, Y[:3, 3], across, angular_velocity=(0.3, 0.2, 0.1))
    support = contact.Environment(wall, 1e4, damping=9.0, mass=0.5)
    soft = contact.Environment(wall, 1e4, mass=0.5, tool_stiffness=2e4)
    pose = contact.Constraint(lambda x, t: x[:2, 3] - X[:2, 3], 2, frame=link)
    stop = contact.Constraint(lambda x, t: x[0] - q[0], bilateral=False)
    sets = [[wall, turning], [contact.Line(link, X[:3, 3], along), turning], [support, turning]]
    sets += [[contact.Peg(link, X[:3, 3], X[:3, 2])], [pose, stop], [soft]]
    sets += [[contact.LockedGear(model.motor_names[0]), wall], [contact.Environment(wall, 1e3)]]
    one = {"q": np.tile(q, (*rows, 1)), "v": np.tile(v, (*rows, 1))}
    for things in sets:
        ready = contact.prepare(model, things)
        depth = np.array([[-1e-3, 0.1]]) if soft in things else None
        mu = 0.0 if ready.smooth >= 0 else 0.4
        contact.coordinates(model, ready, **one)
        contact.impact(model, ready, **one, restitution=0.5, friction=mu)
        contact.impact(model, ready, **one, order="successive")
        for rate in (one["v"], 0.0 * one["v"]):
            state = (one["q"], rate, 10.0 * tau)
            contact.constrained_dynamics(model, ready, *state, friction=mu, depth=depth)
            contact.constrained_dynamics(model, ready, *state, depth=depth)


def driven(model: gd.GearedModel, rows: tuple[int, ...]) -> None:
    """What motors, friction and balancers add."""
    q, v, a, jerk = motion(model, rows, 4)
    gd.friction_forces(model, v, q=q)
    gd.motor_commands(model, q, v, a)
    gd.motor_commands(model, q, v, a, jerk=jerk)
    gd.motor_commands_derivatives(model, q, v, a)
    with suppress(gd.GearedDynamicsError):  # at rest, where friction has kinks
        gd.motor_commands_derivatives(model, q, 0.0 * v, a)
    gd.balancer_forces(model, q)
    gd.balancer_force_rates(model, q, v)
    gd.balancer_energy(model, q)
    if not rows:
        drive_terms(model, q, v, v, None)
        drive_terms(model, q, v, v, 0.1)
        gd.driven_acceleration(model, q, v, np.ones(len(model.motor_names)))


def elastic(model: gd.GearedModel) -> None:
    """Springs, and the feedforward behind them."""
    count, random = model.elasticity.count, np.random.default_rng(1)
    q, v = random.normal(size=(2, model.n))
    theta = model.elasticity.rigid @ q + 1e-3 * random.normal(size=count)
    speed = model.elasticity.rigid @ v
    torque = random.normal(size=len(model.motor_names))
    gd.elastic.forward_dynamics(model, gd.State(q, v, theta, speed), torque)
    gd.elastic.forward_dynamics_derivatives(model, gd.State(q, v, theta, speed), torque)
    gd.elastic.joint_torque(model, gd.State(q, v, theta, speed))
    path = random.normal(size=(7, model.n))
    for method in ("expanded", "exact"):
        try:
            gd.elastic.feedforward(model, path, method, 2, friction=True)
            gd.elastic.motor_commands(model, path, method, 2)
        except gd.GearedDynamicsError:
            assert method == "exact"
    gd.elastic.friction_forces(model, gd.State(q, v, theta, speed))


def observed(model: gd.GearedModel) -> None:
    """A Kalman filter on an arm that stands, and on one that moves."""
    ob, shown = gd.observers, gd.motor_angles(model, np.full(model.n, 0.2))
    observer = ob.kalman_observer(model, resolution=1e-4, noise=1e-4)
    weight = gd.motor_torques(model, gd.gravity_forces(model, np.full(model.n, 0.2)))
    for speed in (0.0, 30.0):
        measured = gd.Measurement(shown, weight)
        state = observer.start(measured)
        for k in range(3):
            measured = gd.Measurement(shown + speed * DT * k, weight)
            state = observer.step(state, measured, DT)
        assert observer.extrapolate(state, [(DT, weight)]) is not None
    assigned = ob.nonlinear_observer(model, resolution=1e-4, bandwidth=20.0)
    assigned.step(assigned.start(measured), measured, DT)


def controlled(model: gd.GearedModel) -> None:
    """Laws, and the quick look of the safety step."""
    control = gd.control
    q, v, a = motion(model, (), 3)
    gains = control.Gains(np.full(model.n, 9.0), np.full(model.n, 6.0), kind="acceleration")
    for law in ("feedforward", "computed_torque", "pd_plus_feedforward"):
        given = None if law == "feedforward" else gains
        for side in ("motor_torque", "joint_torque"):
            made = control.controller(model, law, gains=given, command_type=side)
            state, wanted = gd.State(q + 0.1, v), control.Reference(q, v, a)
            made.step(made.start(), state, wanted, DT)
    table = np.random.default_rng(1).normal(size=24 * model.n)
    kernels.segment_values(table, 0.5, np.empty(4 * model.n))
    safety = control.safety
    policy, memory = safety.default_policy(model), safety.START
    for k in range(4):
        seen = safety.Observation(1.0 + DT * k, 1.0 + DT * k, q, v, 1.0 + DT * k, q, 1.0 + DT * k)
        memory, _ = safety.step(policy, memory, seen, np.zeros(model.n), lambda p, *_: 0.0 * p)


def chain(joints: int) -> gd.GearedModel:
    """A serial arm: one of more than twelve joints is eliminated."""
    row = {"a": 0.1, "alpha": 0.3, "d": 0.1, "mass": 1.0, "tensor": np.eye(3)}
    return gd.from_dh([row] * joints)


PARTS: dict[str, tuple[Callable[..., None], Callable[[], gd.GearedModel]]] = {
    "rigid tree": (rigid, lambda: random_robot(4, joints=5).load()),
    "long chain": (rigid, lambda: chain(14)),
    "one joint": (rigid, lambda: random_robot(6, joints=1, mimics=0, wheels=0).load()),
    "touching": (touched, lambda: driven_arm(6, 6)),
    "driven": (driven, lambda: driven_arm(4, 3, balancers=balancers(driven_arm(4, 3)))),
    "driven, plain": (driven, lambda: driven_arm(2, 2, friction=None, efficiency=None)),
}
SINGLE: dict[str, tuple[Callable[..., None], Callable[[], gd.GearedModel]]] = {
    "elastic": (elastic, lambda: flat_arm(3, 3, friction=True, motor=MOTOR)),
    "partly elastic": (elastic, lambda: arm(elastic=(2,), friction=True)),
    "observed": (observed, lambda: arm(friction=True)),
    "controlled": (controlled, lambda: driven_arm(3, 3)),
}
MOTOR: dict[str, Any] = {"resistance": 0.8, "inductance": 1e-3, "torque_constant": 0.06}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("case", PARTS)
def test_batches_and_single_states_stay_in_their_memory(
    checked: Checked, case: str, rows: tuple[int, ...]
) -> None:
    work, make = PARTS[case]
    work(make(), rows)


@pytest.mark.parametrize("case", SINGLE)
def test_steps_stay_in_their_memory(checked: Checked, case: str) -> None:
    work, make = SINGLE[case]
    work(make())


def test_no_kernel_is_left_out(checked: Checked) -> None:
    for work, make in PARTS.values():
        work(make(), ())
    for work, make in SINGLE.values():
        work(make())
    assert set(kernels.KERNELS) - set(checked.calls) == set()


# -- what each entry refuses ----------------------------------------------------------------------

Call = tuple[Any, ...]  # arguments of a kernel: constants, inputs, numbers, the output
OPEN = {"nominal_check": (0, 1, 2, 5)}  # inputs of states; its outputs are commands


@pytest.fixture(scope="module")
def calls() -> dict[str, list[Call]]:
    """For each kernel arguments that it takes: one state, and a batch where there is one."""
    found: dict[tuple[str, int], Call] = {}

    def kept(name: str, kernel: Any) -> Any:
        def call(*arguments: Any) -> int:
            copies = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in arguments)
            status = int(kernel(*arguments))
            if status == layout.OK:
                found.setdefault((name, arguments[-1].ndim), copies)
            return status

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in kernels.KERNELS:
            patch.setattr(kernels, name, kept(name, getattr(kernels, name)))
        for work, make in PARTS.values():
            work(make(), ())
            work(make(), (3,))
        for work, make in SINGLE.values():
            work(make())
    return {name: [c for (own, _), c in found.items() if own == name] for name in kernels.KERNELS}


def entry(name: str, arguments: Call) -> int:
    """Status of a kernel."""
    return int(getattr(kernels, name)(*arguments))


def inputs(name: str) -> range:
    """Where a kernel's inputs stand among its arguments."""
    _, constants, count = kernels.KERNELS[name]
    return range(1 + constants, 1 + constants + count)


def exchanged(arguments: Call, place: int, value: Any) -> Call:
    """The same with another argument."""
    return (*arguments[:place], value, *arguments[place + 1 :])


def narrower(x: Any) -> Any:
    """One number less in each row."""
    return np.ascontiguousarray(x[..., :-1])


def wider(x: Any) -> Any:
    """One number more in each row."""
    return np.concatenate([x, x[..., -1:]], axis=-1)


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_widths_that_do_not_fit(calls: dict[str, list[Call]], name: str) -> None:
    for good in calls[name]:
        assert entry(name, good) == layout.OK
        for place in (*inputs(name), len(good) - 1):
            changes = [narrower, wider] if good[place].shape[-1] else []
            for change in changes:
                wrong = exchanged(good, place, change(good[place]))
                assert entry(name, wrong) == layout.WRONG_SHAPE, (place, change)
            if good[place].ndim == 2:
                more = np.concatenate([good[place], good[place]])
                assert entry(name, exchanged(good, place, more)) == layout.WRONG_SHAPE


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_inputs_that_are_not_finite(calls: dict[str, list[Call]], name: str) -> None:
    refused = control_cycle.NOT_NOMINAL if name == "nominal_check" else layout.NOT_FINITE
    for good in calls[name]:
        for place in inputs(name):
            for index in (0, -1) if good[place].size else ():
                for value in (np.nan, np.inf, -np.inf):
                    bad = good[place].copy()
                    bad.flat[index] = value
                    assert entry(name, exchanged(good, place, bad)) == refused, (place, index)


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_outputs_over_inputs(calls: dict[str, list[Call]], name: str) -> None:
    """One number in common is refused, memory side by side is not, before and behind."""
    for good in calls[name]:
        result = good[-1].copy()
        assert entry(name, exchanged(good, len(good) - 1, result)) == layout.OK
        for k, place in enumerate(inputs(name)):
            x = good[place]
            if not x.size or k in OPEN.get(name, ()):
                continue
            for common in (0, 1):
                for first, last in ((x, result), (result, x)):
                    memory = np.empty(x.size + result.size - common)
                    parts = memory[: first.size], memory[first.size - common :]
                    before, behind = (
                        p.reshape(a.shape) for p, a in zip(parts, (first, last), strict=True)
                    )
                    given, out = (before, behind) if first is x else (behind, before)
                    given[...] = x
                    status = entry(name, (*exchanged(good, place, given)[:-1], out))
                    assert status == (layout.OVERLAP if common else layout.OK), place
                    if not common:
                        np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_inputs_with_strides(calls: dict[str, list[Call]], name: str) -> None:
    """Every other number of a longer row, backwards, and read-only: the same result."""
    for good in calls[name]:
        result = np.empty_like(good[-1])
        for place in inputs(name):
            x = good[place]
            if x.size:
                apart = np.repeat(x[..., ::-1], 2, axis=-1)[..., ::-2]
                apart.flags.writeable = False
                assert entry(name, (*exchanged(good, place, apart)[:-1], result)) == layout.OK
                plain = np.empty_like(result)
                assert entry(name, (*good[:-1], plain)) == layout.OK
                np.testing.assert_array_equal(result, plain)


# -- negative controls ---------------------------------------------------------------------------

FAULTS = {
    "one number too few": (
        "np.empty(6 * n + 1 + int(model[layout.BODIES]) * inverse.SIZE)",
        "np.empty(6 * n + int(model[layout.BODIES]) * inverse.SIZE)",
    ),
    "before the first": ("limit = shift(x, 3 * n)\n", "limit = shift(x, -1)\n"),
    "an input is written": (
        "    friction = shift(result, m * n + m)\n",
        "    friction = row(q, k)\n",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_wrong_place_is_noticed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In ``drive_terms`` (``kernels.drive``), whose compiled code goes on with what lies there."""
    before, after = FAULTS[case]
    broken(monkeypatch, before, after)
    Checked(monkeypatch)
    model = driven_arm(4, 3)
    q, v = motion(model, (), 2)
    q.flags.writeable = False
    with pytest.raises(OutsideError):
        drive_terms(model, q, v, v, 0.1)


def test_a_number_that_nobody_wrote_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy left out: compiled, it would be what was there before, often zero."""
    broken(monkeypatch, "            gather(q, k, n, x)\n            & ", "            ")
    Checked(monkeypatch)
    model = driven_arm(4, 3)
    with pytest.raises((AssertionError, ValueError)):
        drive_terms(model, *motion(model, (), 3), 0.1)


def test_sources_as_they_are_raise_nothing_there(checked: Checked) -> None:
    model = driven_arm(4, 3)
    q, v = motion(model, (), 2)
    q.flags.writeable = False
    before = checked.calls["drive_terms"]
    drive_terms(model, q, v, v, 0.1)
    assert checked.calls["drive_terms"] == before + 1
