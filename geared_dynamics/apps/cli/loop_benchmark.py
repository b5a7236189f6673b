"""``geared-dynamics loop-benchmark``: latency of the whole path over DDS, on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.table import Table

import geared_dynamics as gd
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
)
from geared_dynamics.apps.cli.options import add_files, open_console
from geared_dynamics.apps.latency_run import (
    Measured,
    Options,
    echo,
    elastic_puma,
    feedforward,
    measure,
    observer,
)
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.latency_figures import Result, Subject, default_files, posture

LONGEST = 3600.0  # [s]
FASTEST = 4000  # [1/s] for each of two nodes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Send joint states to the node and receive its commands, over DDS between "
        "processes on this machine, in turn with a bare rclpy node that only sends back "
        "what it gets. Exit code 0, or 1 with --check where a limit is exceeded, 2: wrong "
        "input or a node that failed."
    )
    robot, drivetrain = "your robot, default: the PUMA 560", "its drivetrain file (optional)"
    add_files(parser, robot=robot, drivetrain=drivetrain)
    parser.add_argument(
        "--node",
        choices=("feedforward", "observer", "echo"),
        default="feedforward",
        help="the node to measure; observer: needs a robot with springs; echo: the bare one, "
        "whose ratio to itself shows the noise",
    )
    parser.add_argument(
        "--mode",
        choices=("computed_torque", "stream"),
        help="mode of the feedforward node, default computed_torque; of robots with springs "
        "stream, since feedback of their joints is not stable with default gains",
    )
    parser.add_argument(
        "--goal",
        action="store_true",
        help="the feedforward node follows an action goal, with feedback at 20 Hz, in place of a "
        "trajectory; needs control_msgs",
    )
    parser.add_argument(
        "--rate",
        type=rate,
        default=1000,
        help="joint states per second, for each node, default 1000",
    )
    parser.add_argument(
        "--duration", type=seconds, default=60.0, help="measured time [s], default 60"
    )
    parser.add_argument(
        "--warmup", type=seconds, default=3.0, help="time before the measurement [s], default 3"
    )
    parser.add_argument("--domain", type=domain, help="ROS domain, default: an unused one")
    parser.add_argument(
        "--check", action="store_true", help="exit with code 1 if a limit is exceeded"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print; return 1 if asked to check and a limit is exceeded."""
    if args.goal and args.node != "feedforward":
        finding = f"--goal: the {args.node} node has no action"
        raise gd.GearedDynamicsError("loop-benchmark", finding, "measure --node feedforward")
    urdf, drivetrain = robot_files(args)
    model = gd.load_model(urdf, drivetrain)
    joints, start = model.joint_names, posture(model)
    options = Options(joints, start, args.rate, args.duration, args.warmup, args.domain)
    node = node_of(args, model, urdf, drivetrain, options)
    total = args.warmup + args.duration
    print(f"two nodes at {args.rate} Hz for {total:g} s ...", file=sys.stderr, flush=True)
    result = measure(node, options)
    if args.json:
        print_document("loop-benchmark", result.as_dict())
    else:
        show(result)
    return 1 if args.check and not all(v.passed for v in result.verdicts()) else 0


def node_of(
    args: argparse.Namespace,
    model: GearedModel,
    urdf: Path,
    drivetrain: Path | str | None,
    options: Options,
) -> Measured:
    """Return the node to measure."""
    if args.node == "observer":
        return observer(model, urdf, drivetrain, options)
    if args.node == "echo":
        return echo()
    assert not isinstance(drivetrain, str)  # only the observer's robot has a text
    mode = args.mode or ("stream" if model.elasticity.count else "computed_torque")
    return feedforward(urdf, drivetrain, mode, args.rate, goal=args.goal)


def robot_files(args: argparse.Namespace) -> tuple[Path, Path | str | None]:
    """Return URDF and drivetrain, file or text: the user's, or what comes with the package."""
    if args.robot is None:
        return elastic_puma() if args.node == "observer" else default_files()
    return Path(args.robot), None if args.drivetrain is None else Path(args.drivetrain)


def show(result: Result) -> None:
    """Print the tables."""
    console = open_console()
    console.print(
        f"{result.rate} joint states per second to each node for {result.duration:g} s, "
        f"{result.executor}"
    )
    print_table(console, "Joint state out to command in [us]", trip_table(result))
    print_table(console, "Requirements", check_table(result))


def trip_table(result: Result) -> Table:
    """Round trips of both nodes and their ratio, cycles without an answer in time, costs."""
    table = numeric_table("", result.subject.name, "bare echo", "ratio")
    one, other = result.subject.trip, result.bare.trip
    rows = (
        ("p50", one.p50, other.p50),
        ("p99", one.p99, other.p99),
        ("p99.9", one.p999, other.p999),
        ("max", one.longest, other.longest),
        ("jitter (std. dev.)", one.jitter, other.jitter),
    )
    for name, a, b in rows:
        table.add_row(name, f"{a:.0f}", f"{b:.0f}", f"{a / b:.2f}")
    for name, x, y in (
        ("missed cycles", one.missed, other.missed),
        ("lost", one.lost, other.lost),
    ):
        table.add_row(name, str(x), str(y), "")
    table.add_row("CPU [% of a core]", cpu(result.subject), cpu(result.bare), "")
    table.add_row("memory growth [kB]", growth(result.subject), growth(result.bare), "")
    return table


def check_table(result: Result) -> Table:
    """Each requirement with what was found."""
    table = numeric_table("", "found", "limit", "")
    for check in result.verdicts():
        found, limit = f"{check.found:.3g}", f"{check.limit:.3g}"
        table.add_row(check.name, found, limit, "ok" if check.passed else "EXCEEDED")
    return table


def cpu(subject: Subject) -> str:
    """Write a share of a core in percent."""
    share = subject.usage.cpu
    return "-" if share is None else f"{100 * share:.0f}"


def growth(subject: Subject) -> str:
    """Write a growth of memory in kilobytes."""
    size = subject.usage.growth
    return "-" if size is None else f"{size / 1e3:.0f}"


def rate(text: str) -> int:
    """Read a rate in whole messages per second."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    if not 1 <= number <= FASTEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 to {FASTEST}")
    return number


def seconds(text: str) -> float:
    """Read a positive time."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0 up to {LONGEST:g} s")
    return number


def domain(text: str) -> int:
    """Read a ROS domain that leaves the system's own ports alone."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else -1
    if not 0 <= number <= 101:
        raise argparse.ArgumentTypeError(f"{text!r} is not a ROS domain of 0 to 101")
    return number
