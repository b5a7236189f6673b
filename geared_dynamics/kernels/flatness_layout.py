"""Where each number of a feedforward's plan stands, one float64 array.

    header | joints of the shafts | springs | shares | balancers

It belongs to a packed model (see ``layout``) of the coordinates x = (q, theta), and holds
what the springs between link and shaft do: te = K (theta - q) + D (theta' - q').
"""

# Header.
JOINTS = 0  # number of coordinates q, n
SHAFTS = 1  # number of coordinates theta, n_e
MOTORS = 2  # number of motors, m
ROUNDS = 3  # how often the springs' stretch is inserted into the links' equations
JOINT = 4  # where the coordinates in q of each theta begin (n_e)
SPRINGS, SPRINGS_END = 5, 6  # where the list of springs begins and ends
SHARES, SHARES_END = 7, 8  # where the motors' shares per force on x begin and end
BALANCERS = 9  # where the packed balancers begin (see balancer_layout), 0 without any
HEADER_SIZE = 10

# Springs: an entry per element (row, column) where one of the matrices (n_e, n_e) is not zero.
ROW, COLUMN = 0, 1
COMPLIANCE = 2  # W = 1/K
RETARDATION = 3  # W D [s]
STIFFNESS = 4  # K
DAMPING = 5  # D
SPRING_SIZE = 6

# Shares: an entry per non-zero element: coordinate of x, motor, share.
SHARE_SIZE = 3

# Rows of n_e numbers in a result, before the motors' torque (m).
MOTION_ROWS = 3
