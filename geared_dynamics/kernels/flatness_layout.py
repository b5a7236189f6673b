"""Where each number of a feedforward's plan stands, one float64 array.

    header | joint | compliance | retardation | stiffness | damping | shares

It belongs to a packed model (see ``layout``) of the coordinates x = (q, theta), and holds
what the springs between link and shaft do: te = K (theta - q) + D (theta' - q').
"""

# Header.
JOINTS = 0  # number of coordinates q, n
SHAFTS = 1  # number of coordinates theta, n_e
MOTORS = 2  # number of motors, m
ROUNDS = 3  # how often the springs' stretch is inserted into the links' equations
JOINT = 4  # where the coordinates in q of each theta begin (n_e)
COMPLIANCE = 5  # W = 1/K (n_e, n_e)
RETARDATION = 6  # W D (n_e, n_e) [s]
STIFFNESS = 7  # K (n_e, n_e)
DAMPING = 8  # D (n_e, n_e)
SHARES = 9  # what each motor gives per force on x (n + n_e, m)
DAMPED = 10  # 1 where D is not zero
HEADER_SIZE = 11

# Rows of n_e numbers in a result, before the motors' torque (m).
MOTION_ROWS = 3
