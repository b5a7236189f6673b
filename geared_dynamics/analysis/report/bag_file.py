"""Measured, predicted and residual torques as a bag, for PlotJuggler and Foxglove."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from geared_dynamics.analysis.comparison.span import Kept
from geared_dynamics.analysis.reading.container import JOINT_STATE
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.report.joint_state import serialised
from geared_dynamics.arrays import Array
from geared_dynamics.bags import Bag, Storage
from geared_dynamics.files import new_files

TOPICS = ("tau_model", "tau_measured", "tau_residual")


class TorqueBag:
    """A bag with three topics of JointState, whose stamps are the recording's.

    It is at its place when its context ends without an error.
    """

    def __init__(
        self,
        path: Path,
        joints: Sequence[str],
        *,
        namespace: str = "/analysis",
        storage: Storage | None = None,
    ) -> None:
        """Open the bag; as MCAP where nothing is said, as SQLite without the package rosbags.

        Raises:
            RecordingError: If the folder is there already.
            MissingPackageError: MCAP is wanted, and the package rosbags is not installed.
        """
        refuse_existing(path)
        self.joints = tuple(joints)
        self.topics = [f"{namespace}/{topic}" for topic in TOPICS]
        with ExitStack() as stack:
            (draft,) = stack.enter_context(new_files(path, parents=True))
            made = Bag(draft, dict.fromkeys(self.topics, JOINT_STATE), storage)
            self.writer = stack.enter_context(made)
            self.place = stack.pop_all()

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

    def __enter__(self) -> TorqueBag:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the bag, complete with its metadata; after an error, of this too, remove it."""
        self.place.__exit__(kind, error, trace)


def refuse_existing(path: Path) -> None:
    """Raise if there is something where a bag is to be made.

    Raises:
        RecordingError: If so.
    """
    if path.exists():
        raise RecordingError(str(path), "is there already", "name a folder that is not")
