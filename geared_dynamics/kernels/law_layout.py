"""Where each number of a control law stands in its packed form; see ``control_cycle``.

header | Kp (n) | Kv (n) | 1/(2 pi) of continuous joints, 0 of others (n)
"""

KIND = 0  # which law
RATE = 1  # at which velocity friction is taken
LOADED = 2  # whether friction grows with the load, 0 or 1
HEADER_SIZE = 3

FEEDFORWARD, COMPUTED_TORQUE, PD_FORCE, PD_ACCELERATION = 0, 1, 2, 3  # KIND
HOLD_FORCE, HOLD_ACCELERATION = 4, 5  # a posture: gravity and feedback of either kind
NO_FRICTION, REFERENCE, MEASURED = 0, 1, 2  # RATE
