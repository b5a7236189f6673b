"""Where each number of a model stands in its packed form, one float64 array.

One array, because unpacking arguments is what a call from Python costs. It is a
header, a block per body, then lists that the header and the blocks point into:

    header | bodies | reflected inertia | carried spin | wheels

Body frames here are turned so that z is the joint axis ("kernel frames"): a link
frame's vector x reads ``TURN' x`` in the kernel frame. Indices and flags are
stored as floats; body index -1 is the root.
"""

# Header.
BODIES = 0  # number of bodies, nb
COORDINATES = 1  # number of coordinates, n
GRAVITY = 2  # acceleration of free fall, root frame (3) [m/s^2]
REFLECTED, REFLECTED_END = 5, 6  # where the list of reflected inertia begins and ends
WHEELS, WHEELS_END = 7, 8  # where the list of wheels begins and ends
COUPLING = 9  # 0 none, 1 diagonal, 2 complete
PARAMETERS = 10  # number of columns of the regressor, p
HEADER_SIZE = 11

# Body block; offsets within it.
PARENT = 0
DOF = 1  # the coordinate that drives the body
MULTIPLIER = 2  # joint position = MULTIPLIER * q[DOF] + OFFSET
OFFSET = 3
PRISMATIC = 4  # 0 or 1
ROTATION = 5  # kernel frame in the parent's kernel frame at joint position 0 (9)
POSITION = 14  # its origin there (3) [m]
MASS = 17
MOMENT = 18  # first moment m c (3) [kg m]
INERTIA = 21  # xx xy xz yy yz zz about the origin (6) [kg m^2]
CARRIED, CARRIED_END = 27, 28  # the body's part of the list of carried spin
TURN = 29  # kernel frame in the link frame (9)
COLUMN = 38  # first of its ten columns in the regressor
BODY_SIZE = 39

# Reflected inertia: an entry per non-zero element of Gamma' J Gamma: i, j, value.
REFLECTED_SIZE = 3

# Carried spin: an entry per carrier and coordinate d whose wheels it carries:
# d, and h_d = sum of e J Gamma_rd over those wheels, kernel frame (3) [kg m^2].
CARRIED_SIZE = 4

# Wheels, for the regressor: carrier, axis in its kernel frame (3), column, then
# the wheel's row of Gamma (n).
WHEEL_CARRIER = 0
WHEEL_AXIS = 1
WHEEL_COLUMN = 4
WHEEL_ROW = 5

# A frame, an array of its own: body, rotation in the body's kernel frame (9),
# origin there (3) [m], spin axis there (3), then the spin's row of Gamma (n).
FRAME_BODY = 0
FRAME_ROTATION = 1
FRAME_POSITION = 10
FRAME_AXIS = 13
FRAME_ROW = 16

# An elimination plan, an array of its own: header, then a block per node (bodies, then the
# root), then the slots of the carried entries, then node and slots of the reflected
# entries, both in the model's order.
PLAN_OPEN = 0  # most coordinates open at one node
PLAN_NODE_SIZE = 1  # floats per node
PLAN_CARRIED, PLAN_REFLECTED = 2, 3  # where these lists begin
PLAN_HEADER = 4
NODE_COUNT = 0  # coordinates open at the node; those eliminated there come last
NODE_ELIMINATED = 1
NODE_OWN_SLOT = 2  # the node's own joint's coordinate among the parent's open ones
NODE_LISTS = 3  # coordinates (PLAN_OPEN), then their slots at the parent (PLAN_OPEN)

# What a kernel returns.
OK = 0
WRONG_SHAPE = 1
NOT_FINITE = 2
OVERLAP = 3
NOT_POSITIVE = 4
OVERFLOW = 5
