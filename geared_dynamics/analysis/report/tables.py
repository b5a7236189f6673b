"""Numbers of an analysis as CSV, and all its samples as CSV."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.figures import joint_figures, motor_figures
from geared_dynamics.analysis.comparison.prediction import TERMS
from geared_dynamics.analysis.comparison.span import Kept
from geared_dynamics.dynamics.terms import MODELS
from geared_dynamics.files import new_files
from geared_dynamics.model.model import GearedModel

# Columns of all samples, each with its units of revolute and of prismatic joints.
TORQUE = ("N m", "N")
QUANTITIES = {
    "q": ("rad", "m"),
    "v": ("rad/s", "m/s"),
    "a": ("rad/s^2", "m/s^2"),
    "tau_measured": TORQUE,
    "tau_no_rotors": TORQUE,
    "tau_armature": TORQUE,
    "tau_model": TORQUE,
    "tau_residual": TORQUE,
}


def write_summary(analysis: Analysis, path: Path) -> None:
    """Write a row per joint.

    Args:
        analysis: What ``analyze`` gives.
        path: The file.
    """
    names = [model.replace(" ", "_") for model in MODELS]
    heads = ["joint", "unit", "rms", "peak"]
    heads += [f"residual_rms_{name}" for name in names]
    heads += [f"nrmse_percent_{name}" for name in names]
    heads += [f"residual_peak_{name}" for name in names]
    heads += [f"share_percent_{term}" for term in TERMS]
    heads += ["nrmse_percent_if_fitted", "saturated_percent", "delay_s"]
    rows = [
        [
            joint.joint, joint.unit,
            *map(repr, (
                joint.rms, joint.peak, *joint.residual, *joint.percent, *joint.residual_peak,
                *joint.shares.values(), joint.fitted, joint.saturated, joint.delay,
            )),
        ]
        for joint in joint_figures(analysis)
    ]  # fmt: skip
    write_table(path, heads, rows)


def write_motors(analysis: Analysis, path: Path) -> None:
    """Write a row per motor; nan where the drivetrain file does not give its data.

    Args:
        analysis: What ``analyze`` gives, of a robot with motors.
        path: The file.
    """
    units = ("Nm", "A", "V")
    heads = ["motor", *(f"{kind}_{unit}" for kind in ("rms", "peak") for unit in units)]
    rows = [
        [motor.motor, *map(repr, (*motor.rms, *motor.peak, motor.exceeded))]
        for motor in motor_figures(analysis)
    ]
    write_table(path, [*heads, "exceeded_percent"], rows)


def write_table(path: Path, heads: list[str], rows: list[list[str]]) -> None:
    """Write headings and rows."""
    with new_files(path) as (draft,), draft.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([heads, *rows])


class SamplesFile:
    """All samples as CSV: time, and per joint what the columns say, with units.

    It is at its place when its context ends without an error.
    """

    def __init__(self, path: Path, model: GearedModel) -> None:
        """Open it and write the headings."""
        kinds = {joint.name: joint.kind for joint in model.robot.joints}
        heads = ["time [s]"]
        for quantity, units in QUANTITIES.items():
            for joint in model.joint_names:
                heads.append(f"{quantity}.{joint} [{units[kinds[joint] == 'prismatic']}]")
        with ExitStack() as stack:
            (draft,) = stack.enter_context(new_files(path, parents=True))
            self.stream = stack.enter_context(draft.open("w", encoding="utf-8", newline=""))
            csv.writer(self.stream, lineterminator="\n").writerow(heads)
            self.place = stack.pop_all()

    def add(self, part: Kept) -> None:
        """Write samples."""
        residual = part.measured - part.models[-1]
        table = np.hstack([part.q, part.v, part.a, part.measured, *part.models, residual])
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
        """Close the file; after an error, of the closing too, remove it."""
        self.place.__exit__(kind, error, trace)
