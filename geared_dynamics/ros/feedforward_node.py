"""The node of ``feedforward.py`` as a program; ROS is imported only when it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from geared_dynamics.ros import run_program

PACKAGES = ("trajectory_msgs", "diagnostic_msgs", "lifecycle_msgs")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; ``--ros-args`` as for any node."""
    return run_program("feedforward_node", "feedforward", *PACKAGES, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
