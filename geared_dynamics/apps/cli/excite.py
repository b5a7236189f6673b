"""``geared-dynamics excite``: an exciting motion as a JointTrajectory."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

from geared_dynamics.analysis.excitation import excite, trajectory_yaml, write_trajectory_bag
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import (
    add_force_option,
    add_robot_arguments,
    load_robot,
    open_console,
    say_replaced,
    seed,
)
from geared_dynamics.apps.cli.recording_options import frequency, jobs, progress_bar
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import MARK, refuse_foreign, write_text

PER_PERIOD = 4  # points in a period of the fastest harmonic; controllers join them smoothly
POOR_MOTION = 1
STYLES = {"good": "bold green", "usable": "bold yellow", "poor": "bold red"}
EXTREMES = ("lower", "upper", "speed", "acceleration")  # of a joint in the motion
PUBLISHER = "geared_dynamics.ros.publish_trajectory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Find a periodic motion within the URDF's limits of position, velocity and effort "
        "that makes identification well conditioned, and write it as a JointTrajectory. "
        "Collisions are not looked at: play it in a simulator first."
    )
    add_robot_arguments(parser)
    parser.add_argument(
        "--duration", type=frequency, default=20.0, help="period of the motion [s], default 20"
    )
    parser.add_argument(
        "--harmonics", type=jobs, default=5, help="harmonics of each joint, 2 or more, default 5"
    )
    parser.add_argument(
        "--acceleration",
        type=frequency,
        default=5.0,
        help="largest acceleration [rad/s^2 or m/s^2], default 5",
    )
    parser.add_argument(
        "--starts", type=jobs, default=20, help="random initial motions, default 20"
    )
    parser.add_argument(
        "--changes",
        type=jobs,
        default=200,
        help="attempts to improve the best of them, default 200",
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the random numbers, default 0")
    parser.add_argument(
        "--rate", type=frequency, default=50.0, help="points per second in the file, default 50"
    )
    parser.add_argument("--repeat", type=jobs, default=1, help="number of periods, default 1")
    parser.add_argument(
        "--check", action="store_true",
        help="exit code 1, and nothing published, if the condition number is poor",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE.yaml", help="file to write"
    )
    parser.add_argument("--bag", type=Path, metavar="DIR", help="also write the message as a bag")
    parser.add_argument(
        "--topic",
        default="/joint_trajectory_controller/joint_trajectory",
        help="topic of the message in the bag",
    )
    parser.add_argument(
        "--publish", metavar="TOPIC",
        help="publish the motion once on TOPIC if the arm is at its first point",
    )  # fmt: skip
    parser.add_argument(
        "--approach", type=frequency, metavar="SECONDS",
        help="with --publish: move to the first point in this time, from wherever the arm is",
    )  # fmt: skip
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find the motion, write it, say how good it is."""
    model = load_robot(args)
    refuse_too_few(args.rate, args.duration, args.harmonics)
    if args.approach is not None and args.publish is None:
        raise GearedDynamicsError("--approach", "nothing is published", "add --publish TOPIC")
    bags = [] if args.bag is None else [args.bag]
    replaced = refuse_foreign(args.output, force=args.force, bags=bags)
    with progress_bar("excite") as progress:
        best = excite(
            model,
            duration=args.duration,
            harmonics=args.harmonics,
            acceleration=args.acceleration,
            starts=args.starts,
            changes=args.changes,
            seed=args.seed,
            progress=progress,
        )
    count = round(args.duration * args.repeat * args.rate)
    times = args.duration * args.repeat * np.arange(count + 1) / count
    motion = best.motion.at(times)
    comment = (
        f"{MARK}\n"
        f"Exciting motion of {model.name}: {args.repeat} period(s) of {args.duration:g} s, "
        f"condition number {best.condition:.4g}.\n"
        "Collisions were not looked at. Move to the first point slowly before it starts.\n"
        "trajectory_msgs/msg/JointTrajectory"
    )
    text = trajectory_yaml(model.joint_names, times, *motion, comment)
    write_text(args.output, text)
    console = open_console(quiet=args.json)
    console.print(best.verdict, style=STYLES[best.grade], soft_wrap=True)
    heads = ("from", "to", "top\nspeed", "top accele-\nration", "unit")
    table = numeric_table("joint", *heads)
    joints = []
    q, v, a = motion
    for j, name in enumerate(model.joint_names):
        numbers = (q[:, j].min(), q[:, j].max(), np.abs(v[:, j]).max(), np.abs(a[:, j]).max())
        unit = "m, m/s, m/s²" if model.prismatic[j] else "rad, rad/s, rad/s²"
        table.add_row(name, *(f"{number:.3g}" for number in numbers), unit)
        joints.append({"name": name, **dict(zip(EXTREMES, numbers, strict=True))})
    print_table(console, "Motion", table)
    console.print(f"first random motion: condition number {best.at_first:.3g}")
    console.print(f"saved {args.output}")
    say_replaced(console, replaced)
    if args.bag is not None:
        write_trajectory_bag(args.bag, args.topic, model.joint_names, times, motion, replace=True)
        console.print(f"saved {args.bag}; play it with: ros2 bag play {args.bag}")
    if args.json:
        files = [args.output, *bags]
        judged = {
            "condition": best.condition,
            "warning": None if best.grade == "good" else best.verdict,
        }
        robot = robot_part(model)
        print_document("excite", {"robot": robot, **judged, "joints": joints, "files": files})
    if args.check and best.grade == "poor":
        return POOR_MOTION
    return 0 if args.publish is None else publish(args.output, args.publish, args.approach)


def refuse_too_few(rate: float, duration: float, harmonics: int) -> None:
    """Raise if the fastest harmonic would have too few points to follow."""
    least = PER_PERIOD * harmonics / duration
    if rate < least * (1.0 - 1e-9):
        finding = f"is {rate:g} points per second, {rate * duration:.3g} in a period"
        remedy = f"harmonic {harmonics} of {duration:g} s needs {least:.4g} per second or more"
        raise GearedDynamicsError("--rate", finding, remedy)


def publish(file: Path, topic: str, approach: float | None) -> int:
    """Publish the file by a program of its own, for ROS belongs to the nodes; its exit code."""
    command = [sys.executable, "-m", PUBLISHER, str(file), "--topic", topic]
    command += [] if approach is None else ["--approach", f"{approach:g}"]
    return subprocess.run(command, check=False).returncode
