"""Where each number of prepared contacts stands in their packed form, one float64 array.

    header | contacts | rows of Gamma of locked gears | motors | joints

Frames and bodies are given in kernel frames (see ``layout``). ``given`` below is the kernels'
input with what Python computed for a state: derivatives of the user's functions; of a support
with a mass its k and b where they are functions, then 1, y, y', or 0, 0, 0 of one on the tool.
"""

# Header.
CONTACTS = 0  # number of contacts, c
ROWS = 1  # number of constrained coordinates, m
FREE = 2  # number of free coordinates, f
GIVEN = 3  # width of the input ``given``
MOTORS, MOTORS_AT = 4, 5  # number of motors, and where their list begins
JOINTS, JOINTS_AT = 6, 7  # number of joints with a body, and where the list begins
STABILISATION = 8  # rate at which drift decays [1/s]
HEADER_SIZE = 9

# Contact block.
KIND = 0
BODY = 1  # body of the frame, -1 where a function of q has none
ROTATION = 2  # the tool's axes in the body's kernel frame (9)
POSITION = 11  # the frame's origin there (3) [m]
AXES = 14  # the object's axes in the root frame at t = 0 (9); its third column is the normal
POINT = 23  # the object's point at t = 0 (3) [m]
VELOCITY = 26  # of the point (3) [m/s]
ACCELERATION = 29  # of the point (3) [m/s^2]
OMEGA = 32  # angular velocity of the object (3) [rad/s], root axes
COUNT = 35  # number of constrained coordinates
PICK = 36  # which of the six (4)
UNILATERAL = 40  # 1: it pushes only; 0: it may pull; -1: it may pull without friction
SUPPORT = 41  # RIGID, MASS, MASSLESS or COORDINATE
MASS = 42  # of the support [kg]
STIFFNESS = 43  # [N/m]
DAMPING = 44  # [N s/m]
OUTER = 45  # stiffness between tool and mass, of COORDINATE [N/m]
START = 46  # where the contact's part of ``given`` begins
NONLINEAR = 47  # 1: stiffness and damping come first there
SPIN = 48  # where the row of Gamma of a locked gear begins
CONTACT_SIZE = 49

GEOMETRIC, OF_POSE, OF_JOINTS, LOCK = 0, 1, 2, 3  # KIND
RIGID, MASSIVE, MASSLESS, COORDINATE = 0, 1, 2, 3  # SUPPORT
OF_POSE_SIZE = 9  # numbers in ``given`` per row: gradient (6), s, its rate at rest, second part

# A motor's rotor: carrier, axis in its kernel frame (3), J, then its row of Gamma (n).
MOTOR_CARRIER = 0
MOTOR_AXIS = 1
MOTOR_INERTIA = 4
MOTOR_ROW = 5

# Row of a coordinate in the workspace: gradient by the frame's motion, root axes (6), s, rate,
# drift, then its row of the Jacobian (n).
ROW_S = 6
ROW_RATE = 7
ROW_DRIFT = 8
ROW_J = 9

# What a kernel returns where contact k fails: FAULT + REASONS k + reason.
FAULT = 1000
INSIDE = 0  # the posture violates a rigid contact
DEPENDENT = 1  # its coordinate follows from those before
GIMBAL = 2  # yaw and roll have no rates
JAMMED = 3  # friction leaves no force
UNSOLVED = 4  # the forces were not found
REASONS = 5
