"""``geared-dynamics tune-observer``: a recording through the observer of an elastic arm."""

from __future__ import annotations

import argparse
from math import pi
from typing import TYPE_CHECKING

from rich.console import Console

from geared_dynamics.analysis.observing.replay import replay, stretches
from geared_dynamics.analysis.observing.tuning import (
    Suggestion,
    Verdict,
    gains_of,
    suggest,
    verdict,
)
from geared_dynamics.cli.console import numeric_table, open_console, print_table
from geared_dynamics.cli.recordings import (
    add_recording_options,
    add_robot_options,
    load_with_payload,
    meaning_of,
    open_one,
    progress_bar,
    show_payload_frame,
)
from geared_dynamics.description.urdf_prune import number_or_none
from geared_dynamics.model import GearedModel

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "tune-observer",
        help="replay a recording through the elastic joints' observer and judge its tuning",
        description=(
            "Replay motors' positions and torques through the Kalman filter; tell whether its "
            "innovations are white and no larger than it says, and which noise fits. Exit "
            "code 0, or 1 where they are larger with the tuning given."
        ),
    )
    parser.add_argument("recording", metavar="BAG", help="bag or table with positions and efforts")
    add_robot_options(parser)
    add_recording_options(parser)
    group = parser.add_argument_group("observer")
    group.add_argument(
        "--resolution", type=positive, default=2.0 * pi / 2**17, metavar="RAD",
        help="of the motors' encoders, motor side, default 17 bits",
    )  # fmt: skip
    group.add_argument("--noise", type=positive, metavar="RAD", help="beside it, default a third")
    group.add_argument(
        "--force-bandwidth", type=positive, default=30.0, metavar="HZ",
        help="up to which forces are followed, default 30",
    )  # fmt: skip
    group.add_argument(
        "--seconds", type=positive, default=30.0, help="of the recording to judge, default 30"
    )
    group.add_argument(
        "--search-seconds", type=positive, default=3.0,
        help="of the recording to compare bandwidths with, default 3",
    )  # fmt: skip
    parser.set_defaults(run=run)


def positive(text: str) -> float:
    """Read a number above zero."""
    value = number_or_none(text)
    if value is None or not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def run(args: argparse.Namespace) -> int:
    """Replay, judge, find the noise that fits."""
    model = load_with_payload(args)
    recording, meaning = open_one(args, model, args.recording), meaning_of(args, model)
    noise = args.resolution / 3.0 if args.noise is None else args.noise
    rate = recording.rate
    samples = stretches(model, recording, meaning, args.seconds)
    gains = gains_of(model, args.resolution, noise, args.force_bandwidth, rate)
    judged = verdict(replay(model, gains, samples))
    console = open_console()
    show_payload_frame(console, model, args)
    show(console, model, judged, f"as given: {args.force_bandwidth:g} Hz, noise {noise:.2g} rad")
    short = stretches(model, recording, meaning, args.search_seconds)
    with progress_bar("search") as progress:
        best = suggest(
            model, short, args.resolution, noise, args.force_bandwidth, rate, progress=progress
        )
    title = f"with the noise that fits: {best.bandwidth:g} Hz, noise {best.noise:.2g} rad"
    show(console, model, best.verdict, title)
    console.print(about_bandwidth(best))
    console.print("for the node:")
    console.print(f"  bandwidth: {best.bandwidth}")
    console.print(f"  encoder_resolution: {args.resolution:.4g}")
    console.print(f"  encoder_noise: {best.noise:.4g}")
    console.print(f"  update_rate: {rate:.6g}")
    return 0 if judged.consistent else 1


def about_bandwidth(found: Suggestion) -> str:
    """What the recording says of the bandwidth; the wanted one is kept whatever it says."""
    kept = f"{found.bandwidth:g} Hz, as given, is kept"
    if found.at_edge:
        return (
            f"bandwidth: the likelihood is largest at {found.likeliest:g} Hz, the end of what was "
            f"tried: this recording does not tell it; {kept}"
        )
    return f"bandwidth: {found.likeliest:g} Hz is the likeliest for this recording; {kept}"


def show(console: Console, model: GearedModel, found: Verdict, title: str) -> None:
    """Print a verdict."""
    table = numeric_table("motor", "innovation\n[rad]", "expected\n[rad]", "lag 1", "white lags")
    for j, name in enumerate(model.motor_names):
        table.add_row(
            name,
            f"{found.rms[j]:.3g}",
            f"{found.expected[j]:.3g}",
            f"{found.correlation[j]:.2f}",
            f"{100 * found.white[j]:.0f} %",
        )
    print_table(console, title, table)
    low, high = found.bounds
    word = "consistent" if found.consistent else "not consistent"
    remedy = ""
    if not found.consistent:
        remedy = (
            "; the model is wrong by more than the tuning admits: correct it, raise the "
            "bandwidth, or state more noise, which widens the covariance and changes no estimate"
        )
    elif found.careful:
        remedy = "; careful: the forces that the bandwidth admits do not act in this recording"
    console.print(
        f"NIS by reading {found.ratio:.3f}, 95 % bounds {low:.3f} to {high:.3f}: {word}{remedy}; "
        f"{found.samples} samples, {found.starts} starts"
    )
    console.print()
