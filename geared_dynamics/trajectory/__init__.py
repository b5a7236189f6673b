"""References: waypoints followed as ros2_controllers does, and motions with many derivatives.

Time is an argument; a reference is a value.
"""

from geared_dynamics.trajectory.bounds import MotionLimits, refuse_beyond
from geared_dynamics.trajectory.deceleration import decelerating
from geared_dynamics.trajectory.errors import (
    INVALID_GOAL,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    TrajectoryError,
)
from geared_dynamics.trajectory.motions import rest_to_rest, through
from geared_dynamics.trajectory.piecewise import Piecewise
from geared_dynamics.trajectory.points import JointTrajectory, Point, PointArrays
from geared_dynamics.trajectory.prepared import Prepared, derivatives_into, prepare
from geared_dynamics.trajectory.profiles import jerk_bounded, trapezoidal
from geared_dynamics.trajectory.reference import Reference, follow, led_in
from geared_dynamics.trajectory.rules import Rules
from geared_dynamics.trajectory.sample import Sample, SampleBuffer, state
from geared_dynamics.trajectory.sampling import (
    Dense,
    derivatives,
    resample,
    sample,
    sample_into,
)
from geared_dynamics.trajectory.smooth import smooth
from geared_dynamics.trajectory.spline import Spline
from geared_dynamics.trajectory.tolerances import (
    JointTolerance,
    ToleranceError,
    Tolerances,
    default_tolerances,
    goal_tolerances,
    violation,
)
from geared_dynamics.trajectory.turns import shortest_way
from geared_dynamics.trajectory.validation import checked
from geared_dynamics.trajectory.waypoints import Waypoints

__all__ = [
    "INVALID_GOAL",
    "INVALID_JOINTS",
    "OLD_HEADER_TIMESTAMP",
    "Dense",
    "JointTolerance",
    "JointTrajectory",
    "MotionLimits",
    "Piecewise",
    "Point",
    "PointArrays",
    "Prepared",
    "Reference",
    "Rules",
    "Sample",
    "SampleBuffer",
    "Spline",
    "ToleranceError",
    "Tolerances",
    "TrajectoryError",
    "Waypoints",
    "checked",
    "decelerating",
    "default_tolerances",
    "derivatives",
    "derivatives_into",
    "follow",
    "goal_tolerances",
    "jerk_bounded",
    "led_in",
    "prepare",
    "refuse_beyond",
    "resample",
    "rest_to_rest",
    "sample",
    "sample_into",
    "shortest_way",
    "smooth",
    "state",
    "through",
    "trapezoidal",
    "violation",
]
