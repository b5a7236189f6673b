"""Where each number of the drives stands in their packed form, one float64 array.

    header | motors | joints' friction laws | rotors' friction laws | ripples | envelopes

Lists are named by where they begin and end. Indices and flags are stored as floats.
"""

# Header.
COUNT = 0  # number of motors, m
MOTORS = 1  # where their blocks begin
MOTOR_SIZE = 2  # size of a block: it holds two rows of n numbers
JOINT_LAWS, JOINT_LAWS_END = 3, 4
HEADER_SIZE = 5

# Motor block.
CARRIER = 0  # body that carries the rotor, -1 for the root
AXIS = 1  # in the carrier's kernel frame (3)
INERTIA = 4  # of the rotor, upstream of the gear [kg m^2]
COUPLED = 5  # 1: the carrier's own rotation counts, 0: not
RESISTANCE = 6
INDUCTANCE = 7
TORQUE_CONSTANT = 8
BACK_EMF = 9
DRIVING = 10  # loss of the gear: 1 / efficiency - 1
BACKDRIVING = 11  # 1 - efficiency
SMOOTHING = 12  # speed within which the loss changes its sign [rad/s]
ZERO = 13  # encoder's angle at q = 0 [rad]
POLE_PAIRS = 14
LIMITS = 15  # voltage, current, torque, speed (4), infinite where not given
ENVELOPE, ENVELOPE_END = 19, 20  # list of (speed, torque)
LAW = 21  # its friction law, 0 where it has none
ROWS = 22  # row of A' (n), then row of the distribution tau -> tau_m (n)

# Friction law; see FrictionRecord for the formula.
INDEX = 0  # coordinate or motor
MULTIPLIER = 1
SHIFT = 2  # position = MULTIPLIER * coordinate + SHIFT
VISCOUS = 3
COULOMB = 4  # for positive, negative rates (2)
EXCESS = 6  # static - coulomb for positive, negative rates (2)
STRIBECK_SPEED = 8
LOAD = 9
OFFSET = 10
ROUNDING = 11  # rate within which the sign is smoothed
RIPPLES, RIPPLES_END = 12, 13  # list of (order, amplitude, phase)
LAW_SIZE = 14
RIPPLE_SIZE = 3

# What a command says of each motor: rows of the result, one column a motor.
TORQUE, CURRENT, VOLTAGE, SPEED, ANGLE, SHAFT, TRANSMITTED, BINDING = range(8)
RESULT_ROWS = 8

# Bits of BINDING: which limits the command exceeds.
OVER_VOLTAGE, OVER_CURRENT, OVER_TORQUE, OVER_SPEED, OVER_ENVELOPE = 1, 2, 4, 8, 16
