"""Why a trajectory is refused, with the result codes of ``control_msgs/FollowJointTrajectory``."""

from __future__ import annotations

from geared_dynamics.errors import GearedDynamicsError

INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3


class TrajectoryError(GearedDynamicsError):
    """A trajectory, or the rules for it, cannot be followed.

    Attributes:
        code: INVALID_GOAL (-1), INVALID_JOINTS (-2) or OLD_HEADER_TIMESTAMP (-3).
    """

    def __init__(self, place: str, finding: str, remedy: str, code: int = INVALID_GOAL) -> None:
        """Keep the three parts and the code."""
        super().__init__(place, finding, remedy)
        self.code = code
