"""Faults of the plant, switched on by its services, and what the feedforward node does then.

Rows of docs/safety.md, end to end: plant, DDS, node, DDS, plant.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from feedforward_rig import POSTURE
from plant_rig import PlantRig, position, stamp
from ros_harness import Graph, Processes

GOAL = [0.6, 0.9, -0.8]
TOLERANCE = {f"constraints__joint_{k}__trajectory": 0.1 for k in (1, 2, 3)}


@pytest.fixture
def rig(graph: Graph, processes: Processes) -> PlantRig:
    return PlantRig(graph, processes)


@pytest.fixture
def moving(rig: PlantRig) -> PlantRig:
    """The arm on a long way, the node running, in real time."""
    rig.start_plant(driven=True)
    rig.start_node(**TOLERANCE)
    rig.until_said(rig.node, "holding: no reference")
    rig.move(GOAL, 8.0)
    rig.until_said(rig.node, "running: following the reference")
    return rig


def test_the_arm_arrives(rig: PlantRig) -> None:
    rig.start_plant(driven=True)
    rig.start_node()
    rig.until_said(rig.node, "holding: no reference")
    rig.move(GOAL, 0.5)
    rig.next_state(lambda state: np.abs(position(state) - GOAL).max() < 0.01)


def test_lost_states_make_the_node_blind_until_they_are_back(moving: PlantRig) -> None:
    node = moving.node
    assert node is not None
    since = len(node.output)
    moving.switch("drop_states", True)
    moving.until_said(node, "open_loop: stale state", since)
    since = len(node.output)
    moving.switch("drop_states", False)
    moving.until_said(node, "holding", since)


def test_a_few_lost_states_do_not_matter(moving: PlantRig) -> None:
    node = moving.node
    assert node is not None
    moving.graph.set_parameters("/plant_node", {"faults.lost_part": 0.3})
    since = len(node.output)
    moving.switch("drop_states", True)
    for _ in range(50):
        moving.next_state()
    assert "open_loop" not in node.output[since:]
    assert "holding" not in node.output[since:]


def test_a_frozen_encoder_is_a_tracking_error(moving: PlantRig) -> None:
    node = moving.node
    assert node is not None
    moving.graph.set_parameters("/plant_node", {"faults.motors": ["motor_2"]})
    moving.switch("freeze_encoders", True)
    moving.until_said(node, "tracking error")
    seen = moving.next_state()
    assert abs(seen.position[1] - POSTURE[1]) < 0.4
    # The arm has moved on, unseen; when it is seen again nothing goes on by itself.
    since = len(node.output)
    moving.switch("freeze_encoders", False)
    moving.next_state(lambda state: abs(state.position[1] - seen.position[1]) > 0.1)
    for _ in range(50):
        moving.next_state()
    assert "running" not in node.output[since:]


def test_a_weak_motor_is_a_tracking_error(moving: PlantRig) -> None:
    node = moving.node
    assert node is not None
    moving.graph.set_parameters(
        "/plant_node", {"faults.motors": ["motor_2"], "faults.torque_limit": 0.0}
    )
    moving.switch("saturate_motors", True)
    moving.until_said(node, "tracking error")


def test_lost_commands_are_a_tracking_error(moving: PlantRig) -> None:
    """The plant goes on with the last command, as a forward command controller does."""
    node = moving.node
    assert node is not None
    moving.switch("drop_commands", True)
    moving.until_said(node, "tracking error")


def test_a_reset_in_simulated_time_is_a_jump_of_time(rig: PlantRig) -> None:
    rig.start_plant(driven=True, pace="lock_step")
    node = rig.start_node(use_sim_time=True)
    rig.until_said(node, "holding: no reference")
    rig.move(GOAL, 1e4)
    rig.until_said(node, "running")
    since = len(node.output)
    rig.reset()
    rig.until_said(node, "time jump", since)
    since = len(node.output)
    rig.move(GOAL, 1e4)  # the acknowledgement; refused before the clocks agree again
    refused = "time jump is still active"

    def runs() -> bool:
        nonlocal since
        if refused in node.output[since:]:
            since = len(node.output)
            rig.move(GOAL, 1e4)
        return "running" in node.output[since:]

    rig.graph.until(runs, "running")


def test_a_pause_is_no_fault(moving: PlantRig) -> None:
    """Joint states go on in a pause, and the trajectory's time as well."""
    node = moving.node
    assert node is not None
    since = len(node.output)
    moving.switch("pause", True)
    paused = time.time()  # states from before may still be waiting to be read
    first = moving.next_state(lambda state: stamp(state) > paused)
    for _ in range(5):
        np.testing.assert_array_equal(moving.next_state().position, first.position)
    moving.switch("pause", False)
    assert "open_loop" not in node.output[since:]
