"""The demo's process on the ROS graph: it sends references and records."""
