"""The plant node: a simulated arm on the ROS graph (docs/demo.md)."""
