"""The feedforward node: joint states and a trajectory in, torques of the complete model out."""
