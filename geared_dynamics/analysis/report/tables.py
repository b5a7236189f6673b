"""Numbers of an analysis as CSV, and all its samples as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.figures import joint_figures, motor_figures
from geared_dynamics.analysis.comparison.prediction import TERMS
from geared_dynamics.analysis.comparison.span import Kept
from geared_dynamics.dynamics.terms import MODELS


def write_summary(analysis: Analysis, path: Path) -> None:
    """Write a row per joint and one per motor.

    Args:
        analysis: What ``analyze`` gives.
        path: The file.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        names = [model.replace(" ", "_") for model in MODELS]
        heads = ["joint", "unit", "rms", "peak"]
        heads += [f"residual_rms_{name}" for name in names]
        heads += [f"nrmse_percent_{name}" for name in names]
        heads += [f"residual_peak_{name}" for name in names]
        heads += [f"share_percent_{term}" for term in TERMS]
        out.writerow([*heads, "nrmse_percent_if_fitted", "saturated_percent", "delay_s"])
        for joint in joint_figures(analysis):
            numbers = [
                joint.rms,
                joint.peak,
                *joint.residual,
                *joint.percent,
                *joint.residual_peak,
            ]
            numbers += [*joint.shares.values(), joint.fitted, joint.saturated, joint.delay]
            out.writerow([joint.joint, joint.unit, *map(repr, numbers)])
        motors = motor_figures(analysis)
        if motors:
            out.writerow([])
            units = ("Nm", "A", "V")
            heads = [f"{kind}_{unit}" for kind in ("rms", "peak") for unit in units]
            out.writerow(["motor", *heads, "exceeded_percent"])
            for motor in motors:
                out.writerow([motor.motor, *map(repr, (*motor.rms, *motor.peak, motor.exceeded))])


class SamplesFile:
    """All samples as CSV: time, and per joint what the columns say."""

    def __init__(self, path: Path, joints: Sequence[str]) -> None:
        """Open it and write the headings."""
        self.stream = path.open("w", encoding="utf-8", newline="")
        kinds = ("q", "v", "a", "tau_measured", "tau_no_rotors", "tau_armature", "tau_model")
        heads = ["time", *(f"{kind}.{joint}" for kind in kinds for joint in joints)]
        self.stream.write(",".join(heads) + "\n")

    def add(self, part: Kept) -> None:
        """Write samples."""
        table = np.hstack([part.q, part.v, part.a, part.measured, *part.models])
        for stamp, row in zip(part.stamp.tolist(), table.tolist(), strict=True):
            numbers = ",".join(f"{value:.9g}" for value in row)
            self.stream.write(f"{stamp // 10**9}.{stamp % 10**9:09d},{numbers}\n")

    def __enter__(self) -> SamplesFile:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.stream.close()
