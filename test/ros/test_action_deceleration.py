"""A goal that is cancelled in motion, of an arm that moves: ``decelerate_on_cancel``.

Needs ``control_msgs``, which is not on PyPI: the test is skipped where it is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

from feedforward_rig import POSTURE
from goal_client import CANCELED, GoalClient
from plant_rig import NODE, PlantRig, stamp
from ros_harness import Graph, Processes

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
FAR = [x + 0.8 for x in POSTURE]
DECELERATION = 2.0  # [rad/s^2]


def test_a_cancelled_goal_stops_by_its_decelerations(graph: Graph, processes: Processes) -> None:
    """``decelerate_on_cancel``: on the plant, in its own time."""
    arm = PlantRig(graph, processes)
    arm.start_plant(driven=True, pace="lock_step")
    most = {f"constraints__joint_{k}__max_deceleration_on_cancel": DECELERATION for k in (1, 2, 3)}
    arm.start_node(
        use_sim_time=True, constraints__decelerate_on_cancel=True,
        safety__state_timeout=10.0, **most,
    )  # fmt: skip
    client = GoalClient(graph, f"{NODE}/follow_joint_trajectory")
    client.wait()
    arm.until_said(arm.node, "holding: no reference")
    goal = client.send([(2.0, FAR, STILL)])
    arm.next_state(lambda state: min(state.velocity) > 0.5)
    goal.handle.cancel_goal_async()
    graph.until(lambda: goal.answer, "the end of the goal")
    assert goal.end == (CANCELED, 0)
    arm.next_state(lambda state: max(np.abs(state.velocity)) < 1e-3)
    states = list(arm.states.messages)
    time, speed = np.array([stamp(s) for s in states]), np.array([s.velocity for s in states])
    fastest = speed[:, 0].argmax()
    stopping = (np.arange(len(time)) > fastest) & (speed > 0.1).all(axis=1)
    stopping &= (speed < 0.8 * speed.max(axis=0)).all(axis=1)
    assert stopping.sum() > 10
    slopes = np.polyfit(time[stopping], speed[stopping], 1)[0]
    np.testing.assert_allclose(slopes, -DECELERATION, rtol=0.05)
