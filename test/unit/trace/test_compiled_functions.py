"""Every compiled function against the kernel that it was traced from."""

from __future__ import annotations

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.trace.compiled import USUAL, CompiledModel
from geared_dynamics.trace.functions import FUNCTIONS
from random_robots import random_robot, random_state
from traced_arms import any_arm, calls, code_of, difference

EXACT = 1e-13
FEW, MANY = 9, 300


def magnified(model: gd.GearedModel, a: Array, q: Array, v: Array, tau: Array) -> float:
    """By how much a = M^-1 (tau - h) may magnify rounding.

    cond(M) / 1e3 as elsewhere; where tau and h cancel, what is left has fewer digits than they:
    |M^-1| (|tau| + |h|) / |a|, of which a hundredth is allowed.
    """
    M, h = gd.mass_matrix(model, q), gd.bias_forces(model, q, v)
    whole = np.abs(np.linalg.inv(M)) @ (np.abs(tau) + np.abs(h))
    cancelled = float(whole.max() / np.abs(a).max())
    return max(1.0, float(np.linalg.cond(M)) / 1e3, cancelled / 100.0)


def check(seed: int) -> int:
    """Compare all compiled functions of one arm; return how many calls."""
    model = any_arm(seed)
    fast = gd.compiled(model, dense=seed % 5 == 0)
    assert isinstance(fast, CompiledModel)
    count = 0
    for name in fast.entries:
        for arguments in calls(model, name, 3):
            expected = getattr(gd, name)(model, **arguments)
            got = code_of(fast, name)(*arguments.values(), None)
            assert got is not None, (seed, name)
            if name == "motor_commands":
                rows = expected._values
                assert np.array_equal(got[at.BINDING], rows[at.BINDING]), seed
                pairs = zip(got[: at.BINDING], rows[: at.BINDING], strict=True)
            else:
                pairs = iter([(got, expected)])
            allowed = EXACT
            if name == "forward_dynamics":
                allowed *= magnified(model, expected, **arguments)
            assert max(difference(*pair) for pair in pairs) <= allowed, (seed, name)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(FEW))
def test_random_arms_agree_with_the_kernels(seed: int) -> None:
    assert check(seed) >= 15


@pytest.mark.validate
def test_many_random_arms_agree_with_the_kernels() -> None:
    assert sum(check(seed) for seed in range(FEW, FEW + MANY)) >= 15 * MANY


def test_an_arm_that_differs_by_one_ratio_does_not_agree() -> None:
    case = random_robot(3, joints=4, wheels=4)
    model = case.load()
    case.drivetrain["spins"][0] = other = dict(case.drivetrain["spins"][0])
    if "ratio" in other:
        other["ratio"] *= 1.01
    else:
        other["coefficients"] = {k: 1.01 * x for k, x in other["coefficients"].items()}
    fast = gd.compiled(case.load(), ["mass_matrix"])
    q, _, _ = random_state(4, 0)
    assert difference(gd.mass_matrix(fast, q), gd.mass_matrix(model, q)) > 1e4 * EXACT


def test_elimination_is_compiled_for_long_chains() -> None:
    model = random_robot(5, joints=14, wheels=14, mimics=1).load()
    fast = gd.compiled(model, ["forward_dynamics"])
    q, v, tau = random_state(14, 1)
    expected = gd.forward_dynamics(model, q, v, tau)
    got = code_of(fast, "forward_dynamics")(q, v, tau, None)
    limit = EXACT * max(1.0, np.linalg.cond(gd.mass_matrix(model, q)) / 1e3)
    assert difference(got, expected) <= limit


def test_calls_are_equal_bit_for_bit_and_to_what_out_holds() -> None:
    fast = gd.compiled(any_arm(7))
    for name in USUAL:
        for arguments in calls(fast, name, 2):
            door = code_of(fast, name)
            first = door(*arguments.values(), None)
            out = np.full(FUNCTIONS[name].shape(fast), np.nan)
            assert door(*arguments.values(), out) is out
            assert first.tobytes() == out.tobytes() == door(*arguments.values(), None).tobytes()


def test_the_sine_is_right_up_to_its_limit() -> None:
    """A pendulum's gravity is a sine: at quarters of turns and between them."""
    urdf = (
        '<robot name="p"><link name="a"/><link name="b"><inertial><origin xyz="1 0 0"/>'
        '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    model = gd.load_model(urdf, gravity=(0.0, -1.0, 0.0))
    fast = gd.compiled(model, ["gravity_forces"])
    random = np.random.default_rng(0)
    quarters = np.arange(-63661, 63662, 7) * (np.pi / 2)
    angles = [*quarters, *np.nextafter(quarters[::9], np.inf), *random.uniform(-1e5, 1e5, 4000)]
    for q in angles:
        got = code_of(fast, "gravity_forces")(np.array([q]), None)
        assert abs(got[0] - np.cos(q)) <= 1.2 * np.spacing(abs(np.cos(q))), q
    assert code_of(fast, "gravity_forces")(np.array([1.0001e5]), None) is None
    assert gd.gravity_forces(fast, np.array([3e5])) == gd.gravity_forces(model, np.array([3e5]))
