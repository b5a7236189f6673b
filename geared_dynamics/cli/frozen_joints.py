"""Joints that the model holds still and a bag does not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import Recording, open_recording
from geared_dynamics.cli.arguments import locked_joints
from geared_dynamics.cli.recordings import once
from geared_dynamics.model.model import GearedModel

STILL = 0.01  # [rad or m]
TABLES = (".csv", ".txt", ".tsv")  # their columns may be numbered, so they are not looked at


def moving_frozen_joints(
    args: argparse.Namespace, model: GearedModel, paths: Sequence[str]
) -> list[str]:
    """Say which frozen joints (``--joints``, ``--lock``) are elsewhere in the bags.

    Their motion is in the torques of the others, and in no equation.
    """
    if not (args.joints or args.lock) or args.positions == "motor":
        return []
    locked, called = locked_joints(args.lock), once("--rename", args.rename)
    frozen = [joint.name for joint in model.robot.joints if joint.kind == "fixed"]
    notes = []
    for path in paths:
        if Path(path).suffix.lower() in TABLES:
            continue
        for joint in frozen:
            try:
                bag = open_recording(path, [called.get(joint, joint)], topic=args.topic)
            except RecordingError:  # the bag has no such joint: it may be fixed in the URDF
                continue
            low, high = extent(bag)
            at = locked.get(joint, 0.0)
            if max(high, at) - min(low, at) > STILL:
                notes.append(
                    f"{joint} is frozen at {at:g} but goes from {low:.3g} to {high:.3g} in "
                    f"{Path(path).name}: unfreeze it, or record it at rest there (--lock)"
                )
    return notes


def extent(bag: Recording) -> tuple[float, float]:
    """Least and greatest position of a recording's only joint; NaN where there is none."""
    low, high = np.inf, -np.inf
    for piece in range(bag.reader.pieces):
        position = bag.reader.read(piece).position
        position = position[np.isfinite(position)]
        if len(position):
            low, high = min(low, float(position.min())), max(high, float(position.max()))
    return (low, high) if low <= high else (np.nan, np.nan)
