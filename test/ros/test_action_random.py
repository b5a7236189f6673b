"""A hundred goals over DDS, each ended by something at random, end with a controller's codes.

Needs ``control_msgs``, which is not on PyPI: the test is skipped where it is not installed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from feedforward_rig import POSTURE, Rig
from goal_client import ABORTED, CANCELED, SUCCEEDED, Goal, GoalClient

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")

STILL = [0.0] * 3
NEAR = [x + 0.05 for x in POSTURE]
LONG = [(9.0, NEAR, STILL)]
CODES = {
    "reached": (SUCCEEDED, 0),
    "cancel": (CANCELED, 0),
    "goal": (ABORTED, -1),
    "topic": (ABORTED, -1),
    "path": (ABORTED, -4),
    "late": (ABORTED, -5),
    "stop": (ABORTED, -1),
    "speed": (ABORTED, -1),
    "damaged": (SUCCEEDED, 0),
    "deactivate": (ABORTED, -1),
    "refused": None,
}


def ended(rig: Rig, goal: Goal) -> Any:
    rig.feed_until(lambda: goal.answer or goal.accepted is False, "the end of the goal")
    return goal.end if goal.accepted else None


def one(rig: Rig, client: GoalClient, kind: str, wait: float) -> Any:
    """Send a goal, let something happen to it, and return its status and code."""
    from std_srvs.srv import SetBool, Trigger

    rig.q, rig.v = list(POSTURE), list(STILL)
    options: dict[str, Any] = {"points": LONG}
    if kind in {"reached", "damaged"}:
        options = {"points": [(wait, POSTURE, STILL)]}
    elif kind == "late":
        options |= {"points": [(wait, NEAR, STILL)], "end": [("joint_3", 0.01)], "time": 0.05}
    elif kind == "path":
        options |= {"path": [("joint_1", 0.02)]}
    elif kind == "refused":
        options = {"points": [(wait, [np.nan] * 3)]}
    goal = client.send(options.pop("points"), **options)
    if kind in {"reached", "late", "refused"}:
        return ended(rig, goal)
    rig.feed_until(lambda: goal.feedback, "feedback")
    if kind == "cancel":
        goal.handle.cancel_goal_async()
    elif kind == "goal":
        found = client.send([(wait, POSTURE, STILL)])
        assert ended(rig, found) == (SUCCEEDED, 0)
    elif kind == "topic":
        rig.go([(wait, POSTURE, STILL)])
    elif kind == "path":
        rig.q = [x + 0.03 for x in POSTURE]
    elif kind == "speed":
        rig.v = [0.0, 0.0, 8.0]  # joint_3 may have 6 rad/s; twice that would be impossible
    elif kind == "damaged":
        rig.q = [float("nan")] * 3
        rig.send()
        rig.q = list(POSTURE)
    elif kind == "stop":
        rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=True))
        found = ended(rig, goal)
        rig.graph.call(f"{rig.node}/emergency_stop", SetBool, SetBool.Request(data=False))
        rig.graph.call(f"{rig.node}/reset", Trigger)
        return found
    elif kind == "deactivate":
        assert rig.graph.change_state(rig.node, "deactivate")
        assert rig.graph.change_state(rig.node, "activate")
        rig.until_active()
    found = ended(rig, goal)
    if kind == "speed":
        rig.v = list(STILL)
        rig.until_known()
    return found


@pytest.mark.validate
def test_a_hundred_goals_end_with_the_codes_of_a_controller(rig: Rig) -> None:
    rig.start(**{"safety.resume_error": 3.0})
    rig.until_active()
    client = GoalClient(rig.graph, f"{rig.node}/follow_joint_trajectory")
    client.wait()
    rng = np.random.default_rng(1)
    seen: Counter[str] = Counter()
    for number in range(100):
        kind = str(rng.choice(list(CODES)))
        found = one(rig, client, kind, float(rng.uniform(0.05, 0.4)))
        assert found == CODES[kind], f"goal {number}, {kind}: {rig.processes.report()}"
        seen[kind] += 1
    assert set(seen) == set(CODES)
