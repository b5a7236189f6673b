"""gd.elastic.feedforward at its border: friction, rests, batches, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import URDF, elastic_arm, elbow, elbow_drives
from flat_arms import FRICTION, flat_arm, later, path
from geared_dynamics.dynamics.elastic.flatness import depths
from naive.measure import derivative, error

EXACT = 1e-11
SLOPE = 1e-7


def elbow_with(**joint_2: Any) -> gd.GearedModel:
    """The elastic elbow with other keys of its second joint."""
    drives = elbow_drives()
    drives["joints"]["joint_2"] |= joint_2
    return gd.load_model(URDF / "elbow.urdf", drives)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["reduced", "expanded", "exact"])
def test_friction_acts_on_the_links(seed: int, method: Any) -> None:
    """The springs carry it, and its derivatives reach vtheta, atheta and the torque."""
    arm = flat_arm(seed, 3, share=0.6, friction=True)
    model = arm.with_elasticity("uncoupled") if method == "reduced" else arm
    order = 5 if method == "expanded" else None
    rows = 1 + gd.elastic.derivatives_needed(arm, method, order)
    given = path(arm, rows, seed) * np.array([1.0, 0.5, *[0.3] * (rows - 2)])[:, None]

    def at(t: float) -> gd.elastic.Feedforward:
        return gd.elastic.feedforward(arm, later(given, t), method, order, friction=True)

    found, (q, v, a) = at(0.0), given[:3]
    link, shaft = gd.elastic.inverse_dynamics(
        model, gd.State(q, v, found.theta, found.vtheta), a, found.atheta
    )
    te = np.zeros(arm.n)
    te[arm.elasticity.joint] = gd.elastic.joint_torque(
        arm, gd.State(q, v, found.theta, found.vtheta)
    )
    # A joint's friction grows with the load before friction: what the links alone need.
    rub = gd.friction_forces(arm, v, q, link + te)
    A = gd.elastic.structure_matrix(arm) @ found.tau_m
    scale = np.abs(A).max()
    assert np.abs(rub).max() > 1e-3 * scale
    assert error(link + rub, A[: arm.n], scale) < EXACT
    assert error(shaft, A[arm.n :], scale) < EXACT
    assert error(derivative(lambda t: at(t).theta), found.vtheta) < SLOPE
    assert error(derivative(lambda t: at(t).vtheta), found.atheta) < SLOPE


@pytest.mark.parametrize("term", [None, *FRICTION])
def test_friction_far_from_and_near_standstill(term: str | None) -> None:
    """Each term of the law alone, its series beside differences, also where the tanh ends."""
    kept = {k: FRICTION[k] for k in ("smoothing", "coulomb") if term in ("stribeck", k, None)}
    law = {"smoothing": 0.7, **kept, **({term: FRICTION[term]} if term else {"smoothing": 0.01})}
    arm = elbow_with(friction=law)
    for speed in (0.02, 0.4, -3.0):
        given = path(arm, 9, 3)
        given[1] = speed

        def at(t: float, given: np.ndarray = given) -> gd.elastic.Feedforward:
            return gd.elastic.feedforward(arm, later(given, t), "exact", friction=True)

        # Within one hundredth of a radian per second the tanh bends in milliseconds.
        step = 1e-4 if term is None else 1e-3
        found = at(0.0)
        assert error(derivative(lambda t: at(t).theta, step), found.vtheta) < SLOPE
        if term is not None:
            assert error(derivative(lambda t: at(t).vtheta, step), found.atheta) < 1e-6


def test_a_sign_that_jumps_is_constant_beside_the_jump() -> None:
    arm = elbow_with(friction={"coulomb": [4.0, 6.0], "smoothing": 0})
    given = path(arm, 5)
    for v, expected in ((0.3, 4.0), (-0.3, -6.0), (0.0, 0.0)):
        given[1, 1] = v
        with_it = gd.elastic.feedforward(arm, given, friction=True)
        without = gd.elastic.feedforward(arm, given)
        assert error(7.0e3 * (with_it.theta - without.theta)[1], expected, 1e3) < EXACT
        assert error(with_it.vtheta, without.vtheta) < EXACT


def test_reduced_is_the_uncoupled_arms_exact_one() -> None:
    arm = elbow()
    given = path(arm, 5)
    reduced = gd.elastic.feedforward(arm, given)
    uncoupled = arm.with_elasticity("uncoupled")
    assert gd.elastic.derivatives_needed(uncoupled, "exact") == 4
    exact = gd.elastic.feedforward(uncoupled, given, "exact")
    np.testing.assert_array_equal(reduced.tau_m, exact.tau_m)
    truncated = arm.with_elasticity("spong_truncated")
    both = [gd.elastic.feedforward(truncated, given, m).tau_m for m in ("reduced", "exact")]  # type: ignore[arg-type]
    np.testing.assert_array_equal(*both)
    assert np.any(both[0] != reduced.tau_m)


def test_stiff_springs_are_rigid_joints() -> None:
    """The rigid limit: the motors' torque is that of the rigid arm."""
    given = path(elbow(), 9)
    rigid = gd.motor_torques(elbow(), gd.inverse_dynamics(elbow(), *given[:3]))
    errors = [
        error(gd.elastic.feedforward(elbow(factor=f), given, "exact").tau_m, rigid)
        for f in (1e2, 1e4, 1e6)
    ]
    assert errors[1] < 0.02 * errors[0]
    assert errors[2] < 1e-5


def test_batches_lists_strides_and_surplus_rows() -> None:
    arm = flat_arm(1, 3)
    given = np.array([path(arm, 11, seed) for seed in range(6)])
    one = [gd.elastic.feedforward(arm, row, "exact") for row in given]
    count = gd.elastic.derivatives_needed(arm, "exact") + 1
    assert count < 11
    for batch in (
        given.reshape(2, 3, 11, 3),
        given[:, :count].reshape(2, 3, count, 3),
        given.reshape(2, 3, 11, 3).tolist(),
        np.asfortranarray(given).reshape(2, 3, 11, 3),
    ):
        found = gd.elastic.feedforward(arm, batch, "exact")
        assert found.theta.shape == found.atheta.shape == (2, 3, 3)
        for k in range(6):
            np.testing.assert_array_equal(found.tau_m.reshape(6, -1)[k], one[k].tau_m)
            np.testing.assert_array_equal(found.vtheta.reshape(6, -1)[k], one[k].vtheta)
    nothing = gd.elastic.feedforward(arm, np.zeros((0, 11, 3)), "exact")
    assert nothing.theta.shape == (0, 3)
    assert "tau_m" in repr(one[0])


def skewless() -> gd.GearedModel:
    """The elbow with its first motor carried by link 1, across its own joint."""
    drives = elbow_drives()
    drives["wheels"]["rotor_1"] |= {"carrier": "link_1", "axis": [1, 0, 0]}
    return gd.load_model(URDF / "elbow.urdf", drives)


def test_substitution_takes_what_the_geometry_allows() -> None:
    """A motor behind its joint and at right angles to it does no harm; along it, it does."""
    assert sorted(depths(elbow())) == [0, 1, 2]
    arm = skewless()
    given = path(arm, 9)
    found = gd.elastic.feedforward(arm, given, "exact")
    longer = np.pad(given, ((0, 6), (0, 0)))
    last = gd.elastic.feedforward(arm, longer, "expanded", 6)
    assert error(found.tau_m, last.tau_m) < EXACT


def with_a_shaft_more() -> gd.GearedModel:
    """The elbow with a fourth theta, as a spring inside a drive would bring it."""
    arm = elbow()
    elastic = arm.elasticity
    spin = np.pad(elastic.shaft_spin, ((0, 0), (0, 1)), constant_values=1.0)
    return replace(arm, elasticity=replace(elastic, shaft_spin=spin))


RIDING = elbow_drives()
RIDING["wheels"]["rotor_2"]["carrier"] = "link_2"
RIDING["wheels"]["rotor_2"]["axis"] = [0, 0, 1]
LINK_SIDE = elbow_drives()
LINK_SIDE["wheels"]["rotor_4"] = {**LINK_SIDE["wheels"]["rotor_3"], "side": "link"}
LINK_SIDE["spins"].append({"wheel": "rotor_4", "joint": "joint_3", "ratio": 5})
LINK_SIDE["motors"]["motor_4"] = {"wheel": "rotor_4"}
PASSIVE = elbow_drives()
PASSIVE["joints"]["joint_3"]["passive"] = True
del PASSIVE["motors"]["motor_3"]
UNDRIVEN = elbow_drives()
UNDRIVEN["motors"] = {}
PATH = path(elbow(), 12)
BAD = PATH.copy()
BAD[2, 1] = np.nan


def run(model: gd.GearedModel | dict[str, Any], *given: Any) -> Callable[[], object]:
    """A call of feedforward, for later."""
    arm = model if isinstance(model, gd.GearedModel) else gd.load_model(URDF / "elbow.urdf", model)
    return lambda: gd.elastic.feedforward(arm, *given)


# Call, words in the error.
REFUSED: dict[str, tuple[Callable[[], object], list[str]]] = {
    "reduced, up to the jerk": (
        run(elbow(), PATH[:4]),
        ["'reduced'", "up to order 3", "order 4", "(..., 5, 3)"],
    ),
    "exact, up to the snap": (
        run(elbow(), PATH[:5], "exact"),
        ["'exact'", "up to order 4", "order 8"],
    ),
    "expanded twice": (
        run(elbow(), PATH[:6], "expanded", 2),
        ["'expanded'", "up to order 5", "order 6"],
    ),
    "q alone": (run(elbow(), PATH[0]), ["derivatives", "(3,)", "(..., 5, 3)"]),
    "joints": (run(elbow(), PATH[:, :2]), ["derivatives", "(12, 2)", "3"]),
    "text": (run(elbow(), "path"), ["derivatives", "real numbers"]),
    "NaN": (run(elbow(), BAD[:5]), ["derivatives[2, 1]", "nan"]),
    "NaN in a batch": (run(elbow(), [PATH, BAD]), ["derivatives[1, 2, 1]", "nan"]),
    "overflow": (run(elbow(), PATH[:5] * 1e300), ["derivatives", "overflows"]),
    "method": (run(elbow(), PATH, "reduce"), ["method", "'reduce'", "did you mean 'reduced'"]),
    "method is a list": (
        run(elbow(), PATH, ["exact"]),
        ["method", "valid: reduced, expanded, exact"],
    ),
    "order of exact": (run(elbow(), PATH, "exact", 3), ["order", "'exact'", "leave it out"]),
    "order 0": (run(elbow(), PATH, "expanded", 0), ["order", "is 0", "1 to"]),
    "order 1.5": (run(elbow(), PATH, "expanded", 1.5), ["order", "1.5", "whole"]),
    "order True": (run(elbow(), PATH, "expanded", True), ["order", "True", "whole"]),
    "order without end": (run(elbow(), PATH, "expanded", 10**6), ["order", "1 to 80"]),
    "damping, exact": (
        run(elbow(damping=2.0), PATH, "exact"),
        ["joint_1.damping", "joint_1, joint_2, joint_3", "springs without damping", "'expanded'"],
    ),
    "damping, reduced": (
        run(elbow_with(damping=2.0), PATH),
        ["joint_2.damping", "of joint_2 are", "'expanded'"],
    ),
    "motor rides on its link": (
        run(RIDING, PATH, "exact"),
        ["strictly triangular", "motor of joint_2 accelerates its own link", "'expanded'"],
    ),
    "motors anywhere": (
        run(elastic_arm(1, 4, extra=False, damping=0.0), np.zeros((20, 4)), "exact"),
        ["strictly triangular", "each other's links"],
    ),
    "motor on the link side": (run(LINK_SIDE, PATH), ["motors.motor_4", "joint_3", "side: motor"]),
    "passive": (run(PASSIVE, PATH), ["joint_3.passive", "cannot be prescribed"]),
    "backlash": (run(elbow_with(backlash=1e-3), PATH), ["joint_2.backlash", "jump"]),
    "shafts in series": (run(with_a_shaft_more(), PATH), ["springs", "one spring per joint"]),
    "no motors": (
        run(UNDRIVEN, PATH),
        ["motors", "0 of 3", "none drives joint_1, joint_2, joint_3", "declare"],
    ),
    "rigid arm": (
        run(gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml"), PATH),
        ["joints", "elastic", "stiffness"],
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], object], words: list[str]) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy
