"""Nodes: the only room with ROS."""
