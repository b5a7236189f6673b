"""The observer node: encoders and torques in, the motion and the forces of an elastic arm out."""
