"""Where each number of the balancers stands in their packed form, one float64 array.

    header | line elements | torsion springs

Anchors are given in kernel frames (see ``layout``); body -1 is the root.
"""

# Header.
LINES = 0  # number of line elements
SPRINGS = 1  # number of torsion springs
HEADER_SIZE = 2

# Line element.
BODY = 0  # body of anchor 0, then its point (3) [m]
OTHER = 4  # body of anchor 1, then its point (3) [m]
KIND = 8  # COIL, GAS or CONSTANT
LENGTH = 9  # [m]
STIFFNESS = 10  # [N/m]
PRELOAD = 11  # [N]
AREA = 12  # [m^2]
PRESSURE = 13  # at LENGTH [Pa]
VOLUME = 14  # at LENGTH [m^3]
EXPONENT = 15
SIGN = 16  # +1 where a gas pulls the anchors together, -1 where it pushes them apart
LINE_SIZE = 17

COIL, GAS, CONSTANT = 0, 1, 2

# Torsion spring: force on its coordinate = FORCE - RATE q.
DOF = 0
RATE = 1
FORCE = 2
SPRING_SIZE = 3

# What a kernel returns when line element k has no force: FAULT + REASONS k + reason.
FAULT = 100  # above every status of ``layout``
MEETING = 0  # its anchors meet, so that its direction is lost
USED_UP = 1  # its gas has no volume left
REASONS = 2
