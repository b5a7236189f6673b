"""Where ``control_msgs`` is not installed the node says so once, and works as without actions."""

from __future__ import annotations

import numpy as np

import geared_dynamics as gd
from feedforward_rig import POSTURE, Rig, elbow

WITHOUT = """
import sys
sys.modules["control_msgs"] = None  # as if it were not installed
from geared_dynamics.ros.feedforward_node import main
sys.exit(main())
"""


def test_without_control_msgs_there_is_a_line_and_no_action(rig: Rig) -> None:
    rig.program = ("-c", WITHOUT)
    process = rig.start()
    rig.until_active()
    gravity = gd.gravity_forces(elbow(), np.array(POSTURE))
    rig.until_command(gravity, "gravity")
    rig.reconfigure(bandwidth=11.0)
    rig.until_active()
    assert process.output.count("control_msgs is not installed") == 1
    # Of the node: clients of another module's test, in the same process, count without it.
    rig.graph.wait_for_node("feedforward_node")
    found = rig.graph.node.get_service_names_and_types_by_node("feedforward_node", "/")
    names = {name for name, _ in found}
    assert f"{rig.node}/emergency_stop" in names
    assert not [name for name in names if "follow_joint_trajectory" in name]
    since = rig.log_length
    rig.go([(0.1, [x + 0.01 for x in POSTURE], [0.0] * 3)])
    rig.until_said("running: following the reference", since)
