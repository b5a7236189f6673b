"""``publish_trajectory``: the program. ROS is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from geared_dynamics.description.trajectory_file import read_trajectory
from geared_dynamics.errors import GearedDynamicsError, MissingPackageError, printable
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    TrajectoryError,
    Waypoints,
    checked,
)

# -- A trajectory file as checked waypoints, and whether the arm is where they begin --------------


def read_waypoints(path: Path, approach: float | None = None) -> Waypoints:
    """Read a file and check it by the joint trajectory controller's rules.

    Args:
        path: The file.
        approach: Time from the start to the first point [s]: the controller moves the arm there
            from where it is. None: the time that the file says.

    Raises:
        DescriptionError: If it is no JointTrajectory.
        TrajectoryError: If a controller would refuse it.
    """
    data = read_trajectory(path)
    names = tuple(data["joint_names"])
    points = [Point(**point) for point in data["points"]]
    if approach is not None and points:
        later = approach - points[0].time
        points = [point._replace(time=point.time + later) for point in points]
    try:
        return checked(JointTrajectory(names, points), Rules(names), 0.0)
    except TrajectoryError as error:
        place = f"{path}, {error.place}"
        raise TrajectoryError(place, error.finding, error.remedy, error.code) from None


def refuse_elsewhere(found: Waypoints, measured: Mapping[str, float], tolerance: float) -> None:
    """Raise if a joint is not where the waypoints begin: the arm would jump there.

    Args:
        found: The waypoints.
        measured: Position of each of their joints [rad or m].
        tolerance: Largest distance [rad or m].
    """
    begin = dict(zip(found.joint_names, found.positions[0].tolist(), strict=True))
    away = {joint: measured[joint] - place for joint, place in begin.items()}
    worst = max(away, key=lambda joint: abs(np.nan_to_num(away[joint], nan=np.inf)))
    if not abs(away[worst]) <= tolerance:
        finding = (
            f"begins at {begin[worst]:.6g}, and joint {worst!r} is at {measured[worst]:.6g}: "
            "it would jump"
        )
        remedy = "let it move there first with --approach SECONDS, or give a larger --tolerance"
        raise TrajectoryError("trajectory", finding, remedy)


# -- ``publish_trajectory``: the program. ROS is imported only when it runs -----------------------


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
