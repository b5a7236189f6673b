"""The nodes' loops, settings and parameters, without ROS."""
