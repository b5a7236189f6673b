"""``feedforward_node``: the program. ROS is imported only when it runs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from geared_dynamics.errors import MissingPackageError

NAME = "feedforward_node"
PACKAGES = (
    "rclpy", "sensor_msgs", "std_msgs", "std_srvs", "trajectory_msgs", "diagnostic_msgs",
    "lifecycle_msgs",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; ``--ros-args`` as for any node."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            error = MissingPackageError(NAME, package, "ros")
            print(f"{error}, or source a ROS 2 installation", file=sys.stderr)
            return 2
    from geared_dynamics.ros.feedforward import FeedforwardNode
    from geared_dynamics.ros.process import run

    return run(list(sys.argv if argv is None else argv), NAME, FeedforwardNode)


if __name__ == "__main__":
    sys.exit(main())
