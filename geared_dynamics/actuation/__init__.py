"""Motors and what they need: torque, current, voltage, losses, limits.

Takes a model and a motion, gives commands; time is an argument, state a value.
"""
