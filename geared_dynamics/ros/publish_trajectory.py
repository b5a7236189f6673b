"""``publish_trajectory``: the program. ROS is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from geared_dynamics.errors import GearedDynamicsError, MissingPackageError, printable
from geared_dynamics.runtime.acceptance import read_waypoints

NAME = "publish_trajectory"
PACKAGES = ("rclpy", "builtin_interfaces", "sensor_msgs", "trajectory_msgs")
TOPIC = "/joint_trajectory_controller/joint_trajectory"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments before ``--ros-args``."""
    found = argparse.ArgumentParser(
        prog=NAME,
        description=(
            "Publish a trajectory_msgs/JointTrajectory from a YAML file once: when the topic has "
            "a subscriber and the arm is where the trajectory begins."
        ),
        epilog="ROS's own arguments follow --ros-args.",
    )
    found.add_argument("file", type=Path, metavar="FILE.yaml")
    found.add_argument("--topic", default=TOPIC, help="default %(default)s")
    found.add_argument(
        "--joint-states", default="/joint_states", metavar="TOPIC", help="default %(default)s"
    )
    found.add_argument(
        "--tolerance", type=positive, default=0.02,
        help="of the arm from the first point [rad or m], default %(default)s",
    )  # fmt: skip
    found.add_argument(
        "--timeout", type=positive, default=10.0,
        help="of waiting for states and subscriber [s], default %(default)s",
    )  # fmt: skip
    found.add_argument(
        "--approach", type=positive, metavar="SECONDS",
        help="move to the first point in this time, from wherever the arm is, then continue",
    )  # fmt: skip
    found.add_argument(
        "--no-check", action="store_true", help="publish wherever the arm is: it may jump"
    )
    return found


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Publish; 0: it has arrived, 2: it was not published, said in one line."""
    words = list(sys.argv[1:] if argv is None else argv[1:])
    at = words.index("--ros-args") if "--ros-args" in words else len(words)
    args = parser().parse_args(words[:at])
    try:
        for package in PACKAGES:
            if importlib.util.find_spec(package) is None:
                raise MissingPackageError(NAME, package, "ros")
        found = read_waypoints(args.file, args.approach)
        from geared_dynamics.ros.publisher import run

        run(args, words[at:], found)
    except GearedDynamicsError as error:
        print(printable(f"{NAME}: error: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    done = f"{NAME}: {len(found.times)} points on {args.topic}, {found.duration:g} s"
    print(printable(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
