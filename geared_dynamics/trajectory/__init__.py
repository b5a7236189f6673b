"""References: waypoints followed as ros2_controllers does, and motions with many derivatives.

Time is an argument; a reference is a value.
"""

from typing import Any

from geared_dynamics.checks import warn_former
from geared_dynamics.trajectory.limits import (
    JointTolerance,
    MotionLimits,
    ToleranceError,
    Tolerances,
    default_tolerances,
    goal_tolerances,
    refuse_beyond,
    violation,
)
from geared_dynamics.trajectory.references import (
    ReferenceMotion,
    Sample,
    SampleBuffer,
    follow,
    led_in,
    state,
)
from geared_dynamics.trajectory.sampling import (
    Dense,
    Prepared,
    decelerating,
    derivatives,
    derivatives_into,
    prepare,
    resample,
    sample,
    sample_into,
)
from geared_dynamics.trajectory.spline import Spline, rest_to_rest, smooth, through
from geared_dynamics.trajectory.time_optimal import Piecewise, jerk_bounded, trapezoidal
from geared_dynamics.trajectory.waypoint_checks import checked
from geared_dynamics.trajectory.waypoints import (
    INVALID_GOAL,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    JointTrajectory,
    Point,
    PointArrays,
    Rules,
    TrajectoryError,
    Waypoints,
    shortest_way,
)

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
    "ReferenceMotion",
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


def __getattr__(name: str) -> Any:
    """Former names, for one release."""
    if name == "Reference":
        warn_former("gd.trajectory.Reference", "gd.trajectory.ReferenceMotion")
        return ReferenceMotion
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
