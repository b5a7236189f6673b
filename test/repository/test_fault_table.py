"""Each row of the tables of docs/safety.md is provoked by a test, which this table names."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from geared_dynamics.control.safety import Event

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "safety.md"
# The beginning of a row's first cell, and the tests that provoke it: over DDS where that can be.
NAMED = """\
## Events
STALE_STATE
    ros/test_feedforward_safety: test_joint_states_that_end
    ros/test_exits: test_a_stall_of_the_process
BAD_STATE
    ros/test_feedforward_safety: test_nan_in_joint_states
    ros/test_feedforward_safety: test_arrays_of_the_wrong_size
NAMES_MISSING
    ros/test_feedforward_safety: test_a_joint_that_vanishes
NAMES_REORDERED
    ros/test_feedforward_safety: test_names_in_another_order
IMPOSSIBLE_STATE
    ros/test_exits: test_two_drivers_on_one_topic
NO_REFERENCE
    ros/test_feedforward_modes: test_without_reference_it_holds_by_gravity
STALE_REFERENCE
    ros/test_feedforward_safety: test_a_reference_that_ends
BAD_COMMAND
    unit/control/test_safety: test_latched_events
POSITION_NEAR
    unit/control/test_safety: test_near_limits_are_told
POSITION_LIMIT
    ros/test_feedforward_safety: test_beyond_a_position_limit
VELOCITY_NEAR
    unit/control/test_safety: test_near_limits_are_told
VELOCITY_LIMIT
    ros/test_feedforward_safety: test_beyond_a_velocity_limit
COMMAND_LIMIT
    ros/test_limits_from_the_network: test_limits_are_lowered_and_raised_again
COMMAND_RATE
    ros/test_limits_from_the_network: test_a_command_takes_its_time
TRACKING_ERROR
    ros/test_feedforward_safety: test_a_tracking_error
    ros/test_faults: test_a_weak_motor_is_a_tracking_error
RESUME_ERROR
    ros/test_feedforward_safety: test_away_from_the_reference_after_a_silence_is_told
TIME_JUMP
    ros/test_feedforward_safety: test_the_clock_is_reset
    ros/test_feedforward_safety: test_the_clock_stands_still
COMPUTATION
    ros/test_unforeseen: test_an_exception_in_the_loop
EMERGENCY_STOP
    ros/test_feedforward_safety: test_emergency_stop_and_release
ENDING
    ros/test_exits: test_a_signal_in_motion
## Faults from the ROS graph
`joint_states` cut short
    ros/test_unforeseen: test_a_damaged_joint_state_is_a_bad_state
    ros/test_unforeseen: test_the_observer_meets_damaged_messages_and_defects
a joint's name that is not UTF-8
    ros/test_unforeseen: test_a_name_that_is_no_text_is_not_ours
a damaged trajectory
    ros/test_unforeseen: test_a_damaged_trajectory_is_refused
a trajectory beyond limits
    ros/test_feedforward_safety: test_a_trajectory_further_beyond_a_limit_is_refused
the same, or beyond limits of effort
    ros/test_annotate: test_what_is_beyond_limits_is_refused
    ros/test_annotate: test_a_jump_to_the_first_point_is_refused
a trajectory while the last joint state
    ros/test_annotate: test_a_posture_that_is_old_is_not_begun_with
    ros/test_feedforward_safety: test_a_trajectory_while_the_cause_stays_is_refused
a stamp in the past or future
    ros/test_annotate: test_a_stamp_changes_the_motion_as_it_does_for_the_controller
a replacement in motion
    ros/test_annotate: test_a_replacement_in_motion_does_not_step_back
a trajectory after `~/emergency_stop`
    ros/test_annotate: test_the_emergency_stop_stops_further_trajectories
`~/contact_wrench` with
    ros/test_contact_force: test_what_is_refused
    ros/test_contact_force: test_a_damaged_message_and_the_node_s_end
`~/contact_wrench` stops
    ros/test_contact_force: test_the_input_ends
the surface that is pressed on ends
    ros/test_contact_force: test_the_wall_goes
emergency stop, any event
    ros/test_contact_force: test_the_emergency_stop_under_force
NaN in `effort`
    ros/test_annotate: test_effort_is_the_models_whatever_it_was
a trajectory of thousands of points
    ros/test_long_trajectories: test_joint_states_are_answered_while_it_is_read
    ros/test_long_trajectories: test_more_points_than_there_may_be_are_refused
trajectories that come faster than joint states
    ros/test_trajectory_floods: test_between_two_joint_states_one_is_taken_and_then_the_newest
    ros/test_trajectory_floods: test_the_newest_is_not_lost_where_a_long_one_before_it_is_ready
    ros/test_trajectory_floods: test_where_no_joint_state_comes_the_newest_is_taken_by_the_watch
an exception in a callback
    ros/test_unforeseen: test_an_exception_in_another_callback
    ros/test_unforeseen: test_an_exception_in_the_loop_for_long
an event of the first table
    ros/test_action: test_a_violated_limit_aborts_the_goal
    ros/test_action: test_joint_states_that_end_abort_the_goal
in the mode `annotate`, a controller that is gone
    ros/test_action_relay: test_a_controller_that_goes_away_ends_its_goals_and_no_more_are_accepted
    ros/test_action_relay: test_a_controller_that_starts_again_ends_its_goals
    ros/test_action_relay: test_a_controller_that_does_not_answer_ends_the_goal
a goal with wider tolerances
    ros/test_action: test_a_goal_cannot_widen_the_tracking_tolerance
an exception in a report
    ros/test_unforeseen: test_an_exception_in_a_report_stops_nothing
an exception that ends the process
    ros/test_unforeseen: test_an_end_by_an_exception_comes_after_the_last_command
    ros/test_observer_closed_loop: test_the_last_word_reaches_the_feedforward_node
the process is stopped
    ros/test_exits: test_a_stall_of_the_process
a second publisher
    ros/test_exits: test_two_drivers_on_one_topic
    ros/test_exits: test_a_speed_of_1e300
a description with other masses
    ros/test_limits_from_the_network: test_a_second_publisher_changes_no_model_of_an_active_node
    ros/test_limits_from_the_network: test_the_observer_keeps_its_model_too
another node publishes commands
    ros/test_surroundings: test_another_node_that_commands_the_arm_is_named
what is sent has no subscriber
    ros/test_surroundings: test_nobody_listens_to_the_commands
    ros/test_surroundings: test_nobody_listens_to_the_annotated_trajectory
joint states at less than
    ros/test_surroundings: test_slow_joint_states_are_named_with_both_rates
a speed scaling of NaN
    ros/test_surroundings: test_the_reference_goes_as_fast_as_the_robot_allows
a parameter beyond
    ros/test_limits_from_the_network: test_no_parameter_widens_what_the_description_allows
a parameter that takes protection away
    ros/test_limits_from_the_network: test_no_state_of_the_lifecycle_lets_parameters_widen_limits
a payload that
    ros/test_limits_from_the_network: test_no_parameter_widens_what_the_description_allows
    ros/test_limits_from_the_network: test_the_observer_keeps_its_model_too
`urdf_path` or `drivetrain`
    ros/test_limits_from_the_network: test_foreign_files_are_not_quoted_and_pipes_not_waited_for
`use_sim_time` without a `/clock`
    ros/test_odd_moments: test_a_clock_that_comes_late
a `robot_state_publisher` that is restarted
    ros/test_odd_moments: test_a_description_that_goes_and_comes_back
descriptions, transitions and parameters
    ros/test_description_orders: test_any_order
a wrong parameter file
    ros/test_odd_moments: test_a_wrong_parameter_file
a log folder that cannot be written
    ros/test_odd_moments: test_what_a_node_cannot_start_with_is_a_line
## Exits
`deactivate`, `shutdown`
    ros/test_exits: test_a_transition_in_motion
`cleanup`
    ros/test_feedforward_lifecycle: test_impossible_transitions_are_answered
SIGINT, SIGTERM
    ros/test_exits: test_a_signal_in_motion
an exception that leaves
    ros/test_unforeseen: test_an_end_by_an_exception_comes_after_the_last_command
a second SIGINT
    ros/test_exits: test_a_second_signal_ends_it_at_once
    ros/test_exits: test_a_hangup_comes_twice
joint states end
    ros/test_exits: test_joint_states_end_with_the_signal
`EMERGENCY_STOP` or another
    ros/test_exits: test_zero_stays_zero
the mode `annotate`
    ros/test_action_relay: test_a_stop_cancels_the_controllers_goal
a parameter that changes
    ros/test_odd_moments: test_parameters_that_change_in_a_brake
a signal while a model is loaded
    ros/test_odd_moments: test_a_signal_while_a_description_is_taken
SIGKILL
"""


def tables() -> dict[str, dict[str, list[str]]]:
    """What is named, by heading and row: files and tests."""
    found: dict[str, dict[str, list[str]]] = {}
    heading = row = ""
    for line in NAMED.splitlines():
        if line.startswith("## "):
            heading = line
            found[heading] = {}
        elif line.startswith("    "):
            found[heading][row].append(line.strip())
        else:
            row = line
            found[heading][row] = []
    return found


TABLES = tables()
EVENTS = TABLES["## Events"]


@functools.cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the tests of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def rows(heading: str) -> list[str]:
    """First cells of the first table below a heading."""
    lines = PAGE.read_text("utf-8").splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith(heading))
    first = next(k for k in range(begin, len(lines)) if lines[k].startswith("| "))
    found = []
    for line in lines[first + 2 :]:
        if not line.startswith("| "):
            break
        found.append(line[2:].split(" | ")[0].strip())
    return found


@pytest.mark.parametrize("heading", TABLES)
def test_every_row_has_a_test_and_every_test_a_row(heading: str) -> None:
    table, cells = TABLES[heading], rows(heading)
    names = [cell.strip("`") for cell in cells] if table is EVENTS else cells
    for cell in names:
        assert sum(cell.startswith(name) for name in table) == 1, f"no test of the row {cell!r}"
    for name in table:
        assert any(cell.startswith(name) for cell in names), f"no row begins with {name!r}"


@pytest.mark.parametrize("heading", TABLES)
def test_the_named_tests_exist(heading: str) -> None:
    for row, tests in TABLES[heading].items():
        assert tests or row == "SIGKILL"
        for name in tests:
            file, test = name.split(": ")
            path = ROOT / "test" / f"{file}.py"
            assert test in functions_of(path), name


def test_every_event_has_its_row() -> None:
    assert set(EVENTS) == {str(event.name) for event in Event}
