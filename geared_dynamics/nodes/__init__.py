"""ROS 2 nodes: messages to arrays, a pure function, arrays to messages."""
