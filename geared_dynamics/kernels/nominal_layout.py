"""Where each number of a safety policy stands in its packed form; see ``nominal_cycle``.

header | a row per joint | a row per command
"""

JOINTS = 0  # n
COMMANDS = 1  # m
HEADER_SIZE = 2

# A joint's row.
LOWER, UPPER = 0, 1  # positions beyond which a limit is near [rad or m]
SPEED = 2  # speed above which its limit is near [1/s]
ERROR = 3  # largest position error without an event [rad or m]
ENDLESS = 4  # whether the joint turns endlessly, 0 or 1
FASTEST = 5  # speed beyond which a state is impossible [1/s]
STEP = 6  # distance per time beyond which two positions are impossible [1/s]
JOINT_SIZE = 7

# A command's row.
MOST = 0  # largest magnitude, in the unit that is sent
RATE = 1  # largest rate of change per second
COMMAND_SIZE = 2

NOT_NOMINAL = -1  # returned where an event is to be reported, or cannot be decided here
