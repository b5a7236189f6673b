"""Real nodes in real processes on a graph of their own, for the tests in test/ros."""

from ros_harness.environment import ros_environment
from ros_harness.graph import Graph, Inbox
from ros_harness.processes import Process, Processes

__all__ = ["Graph", "Inbox", "Process", "Processes", "ros_environment"]
