"""Commands from messages: by place or by name, of the right kind and size, finite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.errors import ArrayError
from geared_dynamics.nodes.common.joint_map import order
from geared_dynamics.simulation.plants.plant import LARGEST


class CommandReader:
    """Takes commands for known joints or motors.

    A label says what numbers are: in ``layout.dim[0].label`` of a ``Float64MultiArray``, in
    ``header.frame_id`` of a ``JointState``. One without a label counts as right.
    """

    def __init__(self, names: Sequence[str], side: str) -> None:
        """Prepare for commands of one kind.

        Args:
            names: Joints or motors in the plant's order.
            side: ``joint_torque``, ``motor_torque``, ``motor_current`` or ``motor_voltage``.
        """
        self._names, self._side = tuple(names), side
        self._seen: list[str] | None = None
        self._index: IntArray = np.arange(len(self._names))

    def flat(self, numbers: object, label: str = "") -> Array:
        """Numbers in the plant's order (n,) or (m,).

        Args:
            numbers: ``Float64MultiArray.data``.
            label: What they are, empty for unknown.

        Raises:
            ArrayError: for another kind, a wrong count, NaN.
        """
        self._refuse_other(label)
        return self._finite(np.array(numbers, float))

    def named(self, names: list[str], numbers: object, label: str = "") -> Array:
        """The same from numbers by name.

        Args:
            names: ``JointState.name``, in any order.
            numbers: ``JointState.effort``.
            label: What they are, empty for unknown.
        """
        self._refuse_other(label)
        if names != self._seen:
            self._look_up(names)
        values = np.array(numbers, float)
        if len(values) != len(names):
            finding = f"has {len(values)} numbers for {len(names)} names"
            raise ArrayError("command", finding, "put one into effort for each name")
        return self._finite(values[self._index])

    def _refuse_other(self, label: str) -> None:
        if label and label != self._side:
            finding = f"is of kind {label}, and this plant takes {self._side}"
            remedy = (
                f"start the plant with command:={label}, or the node with output:={self._side}"
            )
            raise ArrayError("command", finding, remedy)

    def _look_up(self, names: list[str]) -> None:
        if len(names) != len(self._names) or set(names) != set(self._names):
            finding = f"is for {', '.join(names) or 'nobody'}"
            what = "joints" if self._side == "joint_torque" else "motors"
            remedy = f"this plant takes {self._side} of the {what} {', '.join(self._names)}"
            raise ArrayError("command", finding, remedy)
        self._index, self._seen = order(names, self._names), list(names)

    def _finite(self, values: Array) -> Array:
        if values.shape != (len(self._names),):
            finding = f"has {values.size} numbers"
            remedy = f"give {len(self._names)}: {self._side} of {', '.join(self._names)}"
            raise ArrayError("command", finding, remedy)
        if not np.isfinite(values).all():
            name = self._names[int(np.argmin(np.isfinite(values)))]
            raise ArrayError("command", f"is not finite for {name}", "look at who sends it")
        if np.abs(values).max() >= LARGEST:
            finding = f"has a number of {np.abs(values).max():g}"
            raise ArrayError("command", finding, f"give numbers below {LARGEST:g}, SI units")
        return values
