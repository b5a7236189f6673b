"""The contact wrench as the node tells it: right numbers in the frame's axes, or none."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.dynamics.frames import pose
from geared_dynamics.ros.observer_topics import wrench
from geared_dynamics.runtime.observer_estimates import Level, ObserverOutput, Sensed
from geared_dynamics.runtime.observer_loop import ObserverLoop
from observer_node_arm import Plant, arm, ready

FORCE = np.array([3.0, -2.0, 5.0])  # in the frame's axes [N]


@functools.cache
def pushed(frame: str) -> tuple[ObserverOutput, np.ndarray]:
    """The estimate under a force at a frame that keeps its direction in it, and where it is."""
    plant = Plant()
    loop = ObserverLoop(ready(feedback="motor", torque_kind="motor_torque"))
    for cycle in range(900):
        turn = pose(plant.model, plant.q, frame)[:3, :3]
        lever = gd.jacobian(plant.model, plant.q, frame)[:3]
        plant.push = lever.T @ turn @ FORCE * (cycle > 300)
        plant.step()
        output = loop.cycle(plant.time, Sensed(plant.time, plant.phi, plant.tau_m))
    return output._replace(level=Level.GOOD), plant.q.copy()  # whether it is, is tested elsewhere


def test_a_force_at_the_tip_is_told_in_its_axes() -> None:
    output, _ = pushed("tip")
    found = wrench(arm(), output, "tip", moment=False)
    np.testing.assert_allclose(found[:3], FORCE, atol=0.5)
    np.testing.assert_array_equal(found[3:], 0.0)


def test_what_two_joints_do_not_determine_is_not_told() -> None:
    """The origin of link_3 is moved by two joints: of least norm was 0.03 N for 3 N."""
    output, q = pushed("link_3")
    found = wrench(arm(), output, "link_3", moment=False)
    turn = pose(arm(), q, "link_3")[:3, :3]
    moved = np.linalg.svd(turn.T @ gd.jacobian(arm(), q, "link_3")[:3])
    across = np.abs(moved.U[:, moved.S < 1e-9]).max(axis=1) > 1e-6
    assert across.any()
    np.testing.assert_array_equal(np.isnan(found[:3]), across)
    np.testing.assert_allclose(found[:3][~across], FORCE[~across], atol=0.3)


def test_three_joints_do_not_tell_a_force_from_a_moment() -> None:
    output, _ = pushed("tip")
    found = wrench(arm(), output, "tip", moment=True)
    assert np.isnan(found[:3]).all()


@pytest.mark.parametrize("level", Level)
def test_only_trusted_estimates_have_a_wrench(level: Level) -> None:
    output, _ = pushed("tip")
    found = wrench(arm(), output._replace(level=level), "tip", moment=False)
    assert np.isfinite(found).all() == (level in (Level.GOOD, Level.DEGRADED))
