"""``geared-dynamics tune-observer``: a recording through the observer of an elastic arm."""

from __future__ import annotations

import argparse
from math import pi

import numpy as np
from rich.console import Console

from geared_dynamics.analysis.observer_tuning import (
    Suggestion,
    Verdict,
    gains_of,
    replay,
    stretches,
    suggest,
    verdict,
)
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import open_console
from geared_dynamics.apps.cli.recording_options import (
    add_recording_options,
    add_recordings,
    add_robot_options,
    load_with_payload,
    meaning_of,
    open_one,
    progress_bar,
    show_payload_frame,
)
from geared_dynamics.arrays import Array
from geared_dynamics.description.urdf_checks import number_or_none
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel

ALIKE = 1.1  # Largest noise over the least of encoders for which one number is proposed.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Replay motors' positions and torques through the Kalman filter. Check that its "
        "innovations are white and not larger than their stated deviations, and propose "
        "the encoder noise that fits. If they are not white, no noise is proposed. Exit "
        "code 0, or 1 if the innovations are not consistent with the given tuning."
    )
    add_recordings(parser)
    add_robot_options(parser, recorded=True)
    add_recording_options(parser)
    group = parser.add_argument_group("observer")
    group.add_argument(
        "--resolution", type=positive, default=2.0 * pi / 2**17, metavar="RAD",
        help="resolution of the motor encoders, motor side, default 17 bits (4.8e-5)",
    )  # fmt: skip
    group.add_argument(
        "--noise",
        type=positive,
        metavar="RAD",
        help="standard deviation of the noise added to --resolution, default a third of it",
    )
    group.add_argument(
        "--force-bandwidth", type=positive, default=30.0, metavar="HZ",
        help="bandwidth of the estimated external forces, default 30",
    )  # fmt: skip
    group.add_argument(
        "--seconds",
        type=positive,
        default=30.0,
        help="seconds of the recording to replay, default 30",
    )
    group.add_argument(
        "--search-seconds", type=positive, default=3.0,
        help="seconds of the recording for comparing bandwidths, default 3",
    )  # fmt: skip
    add_json_option(parser)


def positive(text: str) -> float:
    """Read a number above zero."""
    value = number_or_none(text)
    if value is None or not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def run(args: argparse.Namespace) -> int:
    """Replay, judge, find the noise that fits."""
    model = load_with_payload(args)
    (path,) = only_one(args.recordings)
    recording, meaning = open_one(args, model, path), meaning_of(args, model)
    noise = args.resolution / 3.0 if args.noise is None else args.noise
    rate = recording.rate
    samples = stretches(model, recording, meaning, args.seconds)
    gains = gains_of(model, args.resolution, noise, args.force_bandwidth, rate)
    judged = verdict(replay(model, gains, samples), args.resolution)
    console = open_console(quiet=args.json)
    show_payload_frame(console, model, args)
    title = f"as given: {args.force_bandwidth:g} Hz, noise {noise:.2g} rad"
    show(console, model, judged, title, rate)
    short = stretches(model, recording, meaning, args.search_seconds)
    with progress_bar("search") as progress:
        best = suggest(
            model, samples, args.resolution, noise, args.force_bandwidth, rate,
            search=short, progress=progress,
        )  # fmt: skip
    if args.json:
        print_document("tune-observer", document(model, judged, best))
        return 0 if judged.consistent else 1
    if best.noise is None:
        show(console, model, best.verdict, f"with any noise: {best.bandwidth:g} Hz", rate)
    else:
        title = f"with the noise that fits: {best.bandwidth:g} Hz, noise {listed(best.noise)} rad"
        show(console, model, best.verdict, title, rate)
    console.print(about_bandwidth(best))
    propose(console, model, best, args.resolution, rate)
    return 0 if judged.consistent else 1


def only_one(recordings: list[str]) -> list[str]:
    """Refuse several recordings."""
    if len(recordings) > 1:
        raise GearedDynamicsError(recordings[1], "is a second recording", "give one")
    return recordings


def propose(
    console: Console, model: GearedModel, best: Suggestion, resolution: float, rate: float
) -> None:
    """Print the node's parameters where some noise fits, and that there are none otherwise."""
    if best.noise is None:
        console.print("no noise is proposed: none explains these innovations")
        return
    if best.coloured:
        tried = ", ".join(f"{one:g}" for one in best.coloured)
        console.print(
            f"at {tried} Hz noise does not explain the innovations: the model or the torques "
            f"are wrong by what the filter follows as a force at {best.bandwidth:g} Hz; its "
            "deviations do not count that"
        )
    console.print("for the node:")
    console.print(f"  bandwidth: {best.bandwidth}")
    console.print(f"  encoder_resolution: {resolution:.4g}")
    if alike(best.noise):
        console.print(f"  encoder_noise: {np.max(best.noise):.4g}")
    else:
        for name, noise in zip(model.motor_names, best.noise, strict=True):
            console.print(f"  motors.{name}.encoder_noise: {noise:.4g}")
    console.print(f"  update_rate: {rate:.6g}")


def document(model: GearedModel, judged: Verdict, best: Suggestion) -> dict[str, object]:
    """Both verdicts and the proposed noise for ``--json``."""
    return {
        "robot": robot_part(model),
        "given": verdict_part(model, judged),
        "best": verdict_part(model, best.verdict),
        "bandwidth": best.bandwidth,
        "likeliest_bandwidth": best.likeliest,
        "encoder_noise": best.noise,
    }


def verdict_part(model: GearedModel, judged: Verdict) -> dict[str, object]:
    """A verdict: innovations by motor [rad], and the mean of their normalised squares."""
    white = judged.white
    return {
        "consistent": judged.consistent,
        "nis": judged.ratio,
        "bounds": judged.bounds,
        "samples": judged.samples,
        "starts": judged.starts,
        "motors": [
            {
                "name": name,
                "innovation": judged.rms[j],
                "expected": judged.expected[j],
                "lag_1": white.first[j],
                "largest": white.largest[j],
                "at_lag": white.lag[j],
                "coloured": white.coloured[j],
            }
            for j, name in enumerate(model.motor_names)
        ],
    }


def alike(noise: Array) -> bool:
    """Whether one number stands for the noise of all encoders (m,)."""
    return bool(np.max(noise) <= ALIKE * np.min(noise))


def listed(noise: Array) -> str:
    """Noise of the encoders (m,) as a text: one number, or one for each."""
    return ", ".join(f"{one:.2g}" for one in (noise[:1] if alike(noise) else noise))


def about_bandwidth(suggestion: Suggestion) -> str:
    """What the recording says of the bandwidth; the wanted one is kept whatever it says."""
    kept = f"{suggestion.bandwidth:g} Hz, as given, is kept"
    if suggestion.at_edge:
        return (
            f"bandwidth: the likelihood is largest at {suggestion.likeliest:g} Hz, the end of "
            f"what was tried: this recording does not determine it; {kept}"
        )
    return f"bandwidth: {suggestion.likeliest:g} Hz is the likeliest for this recording; {kept}"


def show(console: Console, model: GearedModel, judged: Verdict, title: str, rate: float) -> None:
    """Print a verdict."""
    table = numeric_table(
        "motor", "innovation\n[rad]", "expected\n[rad]", "lag 1", "largest\nat lag",
        "is", "by noise", "bound",
    )  # fmt: skip
    white = judged.white
    for j, name in enumerate(model.motor_names):
        table.add_row(
            name,
            f"{judged.rms[j]:.3g}",
            f"{judged.expected[j]:.3g}",
            f"{white.first[j]:.2f}",
            f"{white.lag[j]}",
            f"{white.largest[j]:.2f}",
            f"{white.explained[j]:.2f}",
            f"{white.bound[j]:.2f}",
        )
    print_table(console, title, table)
    low, high = judged.bounds
    word = "consistent" if judged.consistent else "not consistent"
    remedy = ""
    if judged.coloured:
        remedy = f"; {about_colour(model, judged, rate)}"
    elif not judged.consistent:
        remedy = (
            "; the innovations are as white as encoder noise makes them but larger than "
            "stated: state more noise, which widens the covariance without changing the estimate"
        )
    elif judged.careful:
        remedy = (
            "; the encoder noise is smaller than stated: the estimate states too large deviations"
        )
    console.print(
        f"NIS by reading {judged.ratio:.3f}, 95 % bounds {low:.3f} (noise of encoders alone) to "
        f"{high:.3f} (with forces as the bandwidth admits): {word}{remedy}; "
        f"{judged.samples} samples, {judged.starts} starts"
    )
    console.print()


def about_colour(model: GearedModel, judged: Verdict, rate: float) -> str:
    """Which motors' innovations noise does not explain, at which lag, and possible causes."""
    white = judged.white
    motors = ", ".join(
        f"{name} {white.largest[j]:.2f} at lag {white.lag[j]} ({1e3 * white.lag[j] / rate:g} ms; "
        f"lag 1: {white.first[j]:.2f})"
        for j, name in enumerate(model.motor_names)
        if white.coloured[j]
    )
    return (
        f"the innovations are correlated as no noise makes them: {motors}. The cause is the model "
        "(stiffness, inertia, payload, friction, ratio), a delay between torques and encoders, a "
        "filter in an encoder, or a contact: correct it, leave that part of the recording out, or "
        "raise the bandwidth"
    )
