"""Files of an analysis: CSV, PNG, and its torques as a bag."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from geared_dynamics.analysis.compare import Analysis
from geared_dynamics.analysis.comparison_numbers import joint_figures, motor_figures
from geared_dynamics.analysis.comparison_report import COLOURS, DRAWN, envelope
from geared_dynamics.analysis.span_comparison import TERMS, Kept
from geared_dynamics.arrays import Array
from geared_dynamics.checks import or_dash
from geared_dynamics.dynamics.rigid import MODELS
from geared_dynamics.errors import RecordingError, drawable, extra
from geared_dynamics.files import MARK, new_files
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.bag_writer import Bag, Storage
from geared_dynamics.recordings.container import JOINT_STATE
from geared_dynamics.recordings.joint_state_codec import serialised

# -- Measured, predicted and residual torques as a bag, for PlotJuggler and Foxglove --------------


TOPICS = ("tau_model", "tau_measured", "tau_residual")


class TorqueBag(ExitStack):
    """A bag with three topics of JointState, whose stamps are the recording's.

    It is at its place, with its metadata, when its context ends without an error, of closing too;
    else it is removed.
    """

    def __init__(
        self,
        path: Path,
        joints: Sequence[str],
        *,
        namespace: str = "/analysis",
        storage: Storage | None = None,
        replace: bool = False,
    ) -> None:
        """Open the bag; as MCAP where nothing is said, as SQLite without the package rosbags.

        Raises:
            RecordingError: If the folder is there already, and ``replace`` is not given.
            MissingPackageError: MCAP is wanted, and the package rosbags is not installed.
        """
        super().__init__()
        if not replace:
            refuse_existing(path)
        self.joints = tuple(joints)
        self.topics = [f"{namespace}/{topic}" for topic in TOPICS]
        with ExitStack() as stack:
            (draft,) = stack.enter_context(new_files(path, parents=True))
            made = Bag(draft, dict.fromkeys(self.topics, JOINT_STATE), storage)
            self.writer = stack.enter_context(made)
            self.push(stack.pop_all())

    def add(self, part: Kept) -> None:
        """Write samples: the model's torque with position and velocity, the others alone."""
        model = part.models[-1]
        moving: tuple[Array | None, Array | None] = part.q, part.v
        rows = [
            serialised(part.stamp, self.joints, (*moving, model)),
            serialised(part.stamp, self.joints, (None, None, part.measured)),
            serialised(part.stamp, self.joints, (None, None, part.measured - model)),
        ]
        for k, stamp in enumerate(np.asarray(part.stamp).tolist()):
            for topic, messages in zip(self.topics, rows, strict=True):
                self.writer.write(topic, stamp, messages[k])


def refuse_existing(path: Path) -> None:
    """Raise if there is something where a bag is to be made.

    Raises:
        RecordingError: If so.
    """
    if path.exists():
        raise RecordingError(str(path), "already exists", "give a folder that does not exist yet")


# -- Numbers of an analysis as CSV, and all its samples as CSV ------------------------------------


# With what our tables begin: by that they are known when they are written again.
HEADS = ("joint,unit,rms,peak,residual_rms_", "motor,rms_Nm,", "time [s],q.")

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


class SamplesFile(ExitStack):
    """All samples as CSV: time, and per joint what the columns say, with units.

    It is at its place when its context ends without an error, of closing too; else it is removed.
    """

    def __init__(self, path: Path, model: GearedModel) -> None:
        """Open it and write the headings."""
        super().__init__()
        heads = ["time [s]"]
        for quantity, units in QUANTITIES.items():
            for joint, slides in zip(model.joint_names, model.prismatic, strict=True):
                heads.append(f"{quantity}.{joint} [{units[bool(slides)]}]")
        with ExitStack() as stack:
            (draft,) = stack.enter_context(new_files(path, parents=True))
            self.stream = stack.enter_context(draft.open("w", encoding="utf-8", newline=""))
            csv.writer(self.stream, lineterminator="\n").writerow(heads)
            self.push(stack.pop_all())

    def add(self, part: Kept) -> None:
        """Write samples."""
        residual = part.measured - part.models[-1]
        table = np.hstack([part.q, part.v, part.a, part.measured, *part.models, residual])
        for stamp, row in zip(part.stamp.tolist(), table.tolist(), strict=True):
            numbers = ",".join(f"{value:.9g}" for value in row)
            self.stream.write(f"{stamp // 10**9}.{stamp % 10**9:09d},{numbers}\n")


# -- An analysis as a picture: measured and predicted torques, and the residual -------------------


def write_png(analysis: Analysis, path: Path) -> None:
    """Draw each joint's torques over time.

    Args:
        analysis: What ``analyze`` gives.
        path: The file.
    """
    figures = extra("matplotlib.figure", "PNG")
    n = analysis.model.n
    figure = figures.Figure(figsize=(11, 1.9 * n + 0.8), layout="constrained")
    axes = figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]
    for j, (ax, joint) in enumerate(zip(axes, joint_figures(analysis), strict=True)):
        for k, name in enumerate(DRAWN):
            if name != "without rotors":
                ax.plot(*envelope(analysis, k, j), color=COLOURS[k], lw=0.8, label=name)
        ax.set_ylabel(f"{drawable(joint.joint)}\n[{joint.unit}]", fontsize="small")
        ax.grid(alpha=0.3)
        ax.margins(x=0)
        ax.set_title(
            f"residual {or_dash(joint.percent[-1], '.1f')} %", fontsize="small", loc="right"
        )
    axes[0].legend(
        fontsize="small", ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False
    )
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(drawable(Path(analysis.recording.path).name))
    with new_files(path) as (draft,):
        figure.savefig(draft, dpi=110, format="png", metadata={"Software": MARK})
