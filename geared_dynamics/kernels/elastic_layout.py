"""Where each number of the elastic joints stands in their packed form, one float64 array.

    header | springs | stretches | structure

They belong to a packed model (see ``layout``) of the coordinates x = (q, theta).
"""

# Header.
JOINTS = 0  # number of coordinates q, n
SHAFTS = 1  # number of coordinates theta, n_e
MOTORS = 2  # number of motors, m
SPRINGS, SPRINGS_END = 3, 4  # where the list of springs begins and ends
STRUCTURE, STRUCTURE_END = 5, 6  # where the motors' ratios begin and end
HEADER_SIZE = 7

# Spring: law, and its part of the list of stretches.
STIFFNESS = 0  # [N m/rad or N/m]
DAMPING = 1  # [N m s/rad or N s/m]
REST = 2  # [rad or m]
GAP = 3  # half the backlash [rad or m]
STRETCH, STRETCH_END = 4, 5
SPRING_SIZE = 6

# Stretch: an entry per non-zero element of P: coordinate, coefficient.
STRETCH_SIZE = 2

# Structure: an entry per non-zero element of A: coordinate, motor, ratio.
STRUCTURE_SIZE = 3
