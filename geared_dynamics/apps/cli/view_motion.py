"""Which motion ``view`` shows: of a recording, of the demo, or none."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from geared_dynamics.apps.cli.recording_options import (
    add_recording_options,
    frequency,
    meaning_of,
    open_one,
)
from geared_dynamics.apps.demo_motion import demanding
from geared_dynamics.dynamics.drives import motor_torques
from geared_dynamics.errors import GearedDynamicsError, RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.motions import (
    Meaning,
    joint_positions,
    joint_torques,
    joint_velocities,
)
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Samples, joined
from geared_dynamics.scene.motion import ArmMotion, computed


def add_motion_options(parser: argparse.ArgumentParser) -> None:
    """Add what chooses the motion, and what says how recordings are read."""
    group = parser.add_argument_group("motion (default: back and forth within the joint limits)")
    group.add_argument("--bag", metavar="RECORDING", help="replay a bag or a table, with torques")
    group.add_argument("--demo", action="store_true", help="replay the motion of the demo")
    group.add_argument(
        "--seconds", type=frequency, default=30.0, metavar="S",
        help="seconds of the recording to show, default 30",
    )  # fmt: skip
    group.add_argument(
        "--begin",
        type=frequency,
        default=0.0,
        metavar="S",
        help="seconds to leave out at the beginning of the recording",
    )
    add_recording_options(parser)


def motion_of(args: argparse.Namespace, model: GearedModel) -> ArmMotion | None:
    """The motion that the arguments name, None: back and forth."""
    if args.demo:
        if not model.motor_names:
            remedy = "write a drivetrain file (docs/drivetrain.md), or leave --demo out"
            raise GearedDynamicsError("--demo", "no motors are described", remedy)
        times, q, v, a = demanding(model)
        return computed(model, "the demo's, at the motors' limits", times, q, v, a)
    if args.bag is None:
        return None
    meaning = meaning_of(args, model)
    try:
        recording = open_one(args, model, args.bag)
    except RecordingError:
        recording = open_one(args, model, args.bag, efforts=False)
    return recorded(model, recording, meaning, args.begin, args.seconds)


def recorded(
    model: GearedModel, recording: Recording, meaning: Meaning, begin: float, seconds: float
) -> ArmMotion:
    """Part of a recording, with the torques that it holds.

    Args:
        model: Geared model.
        recording: Of its joints.
        meaning: Of the recording's numbers.
        begin: What is left out at the beginning [s].
        seconds: How much of the rest is shown [s].
    """
    samples = window(recording, begin, seconds)
    if len(samples.stamp) < 2:
        finding = f"has fewer than two samples from {begin:g} s on, {seconds:g} s long"
        raise RecordingError(recording.path, finding, "choose another --begin or --seconds")
    time = (samples.stamp - samples.stamp[0]) * 1e-9
    q = joint_positions(model, meaning, samples.position)
    v = joint_velocities(model, meaning, samples.velocity)
    if not np.isfinite(v).all():
        v = np.gradient(q, time, axis=0)
    torque, motors = np.full(q.shape, np.nan), np.full((len(q), len(model.motor_names)), np.nan)
    words = "not recorded"
    if np.isfinite(samples.effort).all():
        words = f"recorded ({meaning.effort.replace('_', ' ')})"
        torque = joint_torques(model, meaning, q, samples.effort)
        if model.motor_names and model.motor_map.complete:
            motors = motor_torques(model, torque)
    name = Path(recording.path).name
    return ArmMotion(f"recorded in {name}", words, time, q, v, torque, motors)


def window(recording: Recording, begin: float, seconds: float) -> Samples:
    """Samples between two times, in order, each time once, those without positions left out."""
    parts: list[Samples] = []
    zero: int | None = None
    for span in range(recording.spans):
        samples, core = recording.read(span, 0)
        own = samples.rows(core & np.isfinite(samples.position).all(axis=1))
        if not len(own.stamp):
            continue
        zero = int(own.stamp.min()) if zero is None else zero
        since = (own.stamp - zero) * 1e-9
        parts.append(own.rows((since >= begin) & (since <= begin + seconds)))
        if since.min() > begin + seconds:
            break
    if not parts:
        return recording.read(0, 0).samples.rows(slice(0, 0))
    every = joined(parts)
    _, first = np.unique(every.stamp, return_index=True)
    return every.rows(first)
