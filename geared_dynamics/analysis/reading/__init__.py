"""Recordings of joints: bags (SQLite, MCAP) and tables, without ROS, in bounded memory."""
