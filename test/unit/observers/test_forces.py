"""Momentum observer, alarm, contact wrench and payload."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm
from observer_arms import DT, drive, moved
from simulated_arms import arm

ob = gd.observers
FINE = 2.5e-4  # so that springs of 300 Hz are seen by the sums of the momentum [s]


def pushed(
    model: gd.GearedModel, observer: gd.GearedModel, push: np.ndarray, steps: int = 400, **how: Any
) -> Any:
    """State of the momentum observer after a push on the joints from the start on."""
    n, N = model.n, model.n + model.elasticity.count
    A = gd.elastic.structure_matrix(model)
    q = np.linspace(-0.4, 0.5, n)
    z = np.concatenate([q, model.elasticity.rigid @ q, 0.2 * np.ones(N)])
    goal, state, tau_m = A.T @ z[:N], None, np.zeros(len(model.motor_names))
    for _ in range(steps):
        te = gd.elastic.joint_torque(model, *np.split(z, [n, N, N + n]))
        moving = ob.Moving(*np.split(z, [n, N, N + n]), tau_m, te if how.get("torque") else None)
        if state is None:
            state = ob.momentum_start(observer, moving)
        else:
            state = ob.momentum_step(observer, 30.0, state, moving, FINE)
        tau_m = drive(model, z, goal)
        z = moved(model, z, tau_m, push, dt=FINE, parts=2)
    return state


@pytest.mark.parametrize("seed", [1, 2])
def test_momentum_finds_a_push_on_any_arm(seed: int) -> None:
    model = elastic_arm(seed, joints=3, share=0.7, extra=False)
    push = np.array([5.0, -3.0, 4.0])
    state = pushed(model, model, push)
    np.testing.assert_allclose(state.links(model), push, atol=0.25)
    np.testing.assert_allclose(state.whole(model), push, atol=0.25)


def test_both_sides_of_the_springs() -> None:
    """A wrong stiffness shows on both sides and not in the whole, nor with a torque sensor."""
    model, soft, push = arm(), arm(factor=0.8), np.array([0.0, 5.0, 0.0])
    wrong = pushed(model, soft, push)
    assert np.abs(wrong.links(soft) - push).max() > 1.0
    np.testing.assert_allclose(wrong.whole(soft), push, atol=0.3)
    right = pushed(model, soft, push, torque=True)
    np.testing.assert_allclose(right.links(soft), push, atol=0.3)
    np.testing.assert_allclose(right.shafts(soft), 0.0, atol=0.3)


def test_the_reduced_momentum_is_not_enough() -> None:
    """Negative control: without the coupling of rotors and links, there are false forces."""
    model = elastic_arm(1, joints=3, share=1.0, extra=False)
    push = np.zeros(3)
    complete = pushed(model, model, push, 200)
    reduced = pushed(model, model.with_elasticity("uncoupled"), push, 200)
    found, false = complete.links(model), reduced.links(model)
    assert np.abs(false).max() > 10 * np.abs(found).max()


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_a_step_that_is_none_holds_the_residual(dt: float) -> None:
    model = arm()
    state = pushed(model, model, np.array([1.0, 0.0, 0.0]), 60)
    moving = ob.Moving(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))
    after = ob.momentum_step(model, 30.0, state, moving, dt)
    assert not after.valid
    np.testing.assert_array_equal(after.residual, state.residual)
    again = ob.momentum_step(model, 30.0, after, moving, DT)
    assert again.valid
    np.testing.assert_array_equal(again.residual, state.residual)
    lost = moving._replace(q=np.array([np.nan, 0.0, 0.0]))
    assert not ob.momentum_step(model, 30.0, state, lost, DT).valid
    with pytest.raises(gd.GearedDynamicsError, match="bandwidth"):
        ob.momentum_step(model, 0.0, state, moving, DT)


def test_alarm_allows_for_friction() -> None:
    model = arm(friction=True)
    v = np.array([0.0, 1.0, 0.0])
    quiet = ob.alarm(model, np.full(3, 0.9), v, v, floor=1.0)
    assert not quiet.any()
    loud = ob.alarm(model, np.array([1.2, 1.2, 9.0]), v, v, floor=1.0)
    np.testing.assert_array_equal(loud, [False, False, True])
    bare = ob.alarm(model, np.array([1.2, 1.2, 9.0]), v, v, floor=1.0, share=0.0)
    assert bare.all()


def raised_by(forces: list[float], **how: Any) -> list[bool]:
    """Whether joint 2's alarm is raised after each instant of a force on it, floor 1 N m."""
    model, state, found = arm(), ob.alarm_start(arm()), []
    for force in forces:
        external = np.array([0.0, force, 0.0])
        still = np.zeros(3)
        state = ob.alarm_step(model, state, external, still, still, DT, floor=1.0, **how)
        assert not state.raised[[0, 2]].any()
        found.append(bool(state.raised[1]))
    return found


def test_a_force_must_last_to_raise_the_alarm() -> None:
    assert raised_by([2.0] * 10 + [0.5]) == [False] * 9 + [True, False]
    assert raised_by([-2.0] * 5, lasting=0.005) == [False] * 4 + [True]
    assert raised_by([0.5, -2.0, 2.0], lasting=0.0) == [False, True, True]


def test_a_ringing_force_raises_no_alarm() -> None:
    ringing = [5.0 * np.sin(2 * np.pi * 50.0 * k * DT) for k in range(200)]
    assert not any(raised_by(ringing))
    assert any(raised_by(ringing, lasting=0.005)), "negative control"
    assert not any(raised_by(([2.0] * 9 + [0.5]) * 5)), "an interruption starts the time anew"


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_no_time_changes_no_alarm(dt: float) -> None:
    model, loud, still = arm(), np.full(3, 9.0), np.zeros(3)
    begun = ob.alarm_step(model, ob.alarm_start(model), loud, still, still, DT, floor=1.0)
    same = ob.alarm_step(model, begun, loud, still, still, dt, floor=1.0)
    np.testing.assert_array_equal(same.lasted, begun.lasted)
    for bad in (
        {"lasting": -1.0},
        {"lasting": np.nan},
        {"external": [np.nan, 0.0, 0.0]},
        {"floor": np.nan},
        {"floor": [1.0, 2.0]},
        {"share": -0.1},
        {"v": np.zeros(2), "external": still},
        {"vtheta": [np.nan, 0.0, 0.0], "external": still},
    ):
        given = {"external": loud, "v": still, "vtheta": still, "dt": DT, "floor": 1.0} | bad
        with pytest.raises(gd.GearedDynamicsError, match=next(iter(bad))):
            ob.alarm_step(model, begun, **given)


def test_a_force_at_the_tip_comes_back() -> None:
    model, q = arm(), np.array([0.3, -0.5, 0.8])
    force = np.array([10.0, -5.0, 20.0])
    tau = gd.jacobian(model, q, "tip")[:3].T @ force
    found = ob.contact_wrench(model, q, tau, "tip", moment=False)
    np.testing.assert_allclose(found.force, force, atol=1e-9)
    np.testing.assert_array_equal(found.moment, 0.0)
    assert found.seen.shape == (6, 3)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    noise = ob.contact_wrench(model, q, tau, "tip", moment=False, covariance=4.0 * np.eye(3))
    np.testing.assert_allclose(noise.covariance, 4.0 * _unit(model, q), rtol=1e-9)


def _unit(model: gd.GearedModel, q: np.ndarray) -> np.ndarray:
    return ob.contact_wrench(model, q, np.zeros(3), "tip", moment=False).covariance


def test_a_wrench_on_six_joints_comes_back() -> None:
    model = gd.load_model(*_six())
    q = np.array([0.2, -0.5, 0.9, 0.4, 0.7, -0.3])
    wrench = np.array([10.0, -5.0, 20.0, 1.0, 2.0, -3.0])
    tau = gd.jacobian(model, q, "flange").T @ wrench
    found = ob.contact_wrench(model, q, tau, "flange", length=0.3)
    np.testing.assert_allclose(np.r_[found.force, found.moment], wrench, atol=1e-6)
    assert found.seen.shape == (6, 6)


def _six() -> tuple[Any, Any]:
    from elastic_arms import URDF

    return URDF / "kr300.urdf", URDF / "kr300.drivetrain.yaml"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"covariance": -np.eye(3)}, "covariance"),
        ({"covariance": np.ones((3, 2))}, "covariance"),
        ({"length": 0.0}, "length"),
        ({"frame": "nowhere"}, "nowhere"),
        ({"external": [np.nan, 0.0, 0.0]}, "external"),
    ],
)
def test_contact_refuses_what_is_none(change: dict[str, Any], says: str) -> None:
    given = {"q": np.zeros(3), "external": np.zeros(3), "frame": "tip"} | change
    with pytest.raises(gd.GearedDynamicsError, match=says):
        ob.contact_wrench(arm(), **given)


@pytest.mark.parametrize("link", ["tip", "link_3"])
def test_a_load_is_found_in_its_links_frame(link: str) -> None:
    bare = arm()
    mass, com = 2.5, np.array([0.02, 0.05, -0.03])
    loaded = bare.with_payload(mass, com, np.zeros((3, 3)), link=link)
    random, state = np.random.default_rng(0), ob.payload_start()
    assert not ob.payload_estimate(state).seen
    for _ in range(40):
        q, v, a = random.uniform(-1, 1, (3, 3))
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(loaded, q, v, a)
        state = ob.payload_step(bare, state, link, q, v, a, missing, DT)
    found = ob.payload_estimate(state)
    assert found.seen
    # The load's turning inertia about its link's frame is not modelled.
    assert found.mass == pytest.approx(mass, rel=0.02)
    np.testing.assert_allclose(found.com, com, atol=0.01)
    still = ob.payload_start()
    for _ in range(10):
        still = ob.payload_step(bare, still, link, q, 0 * v, 0 * a, missing, DT)
    assert not ob.payload_estimate(still).seen


def test_a_load_on_no_link_is_refused() -> None:
    zero = np.zeros(3)
    for link in ("base_link", "rotor_2", "nowhere"):
        with pytest.raises(gd.GearedDynamicsError, match=link):
            ob.payload_step(arm(), ob.payload_start(), link, zero, zero, zero, zero, DT)
    with pytest.raises(gd.GearedDynamicsError, match="dt"):
        ob.payload_step(arm(), ob.payload_start(), "tip", zero, zero, zero, zero, 0.0)
