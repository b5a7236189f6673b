"""A trajectory that has been checked, as arrays in the order of the rules' joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geared_dynamics.arrays import Array, BoolArray, Frozen
from geared_dynamics.trajectory.errors import INVALID_JOINTS, TrajectoryError
from geared_dynamics.trajectory.rules import Rules

FIELDS = ("positions", "velocities", "accelerations", "effort")


@dataclass(frozen=True, eq=False)
class Waypoints(Frozen):
    """Waypoints of all n joints; made by ``checked``, taken by ``follow``.

    Values that are not given are zero, and ``has_...`` says so.

    Attributes:
        joint_names: The rules' joints (n,).
        start: Time of departure [s], None for now.
        times: After the start (p,) [s], rising.
        positions: (p, n) [rad or m].
        velocities: (p, n) [rad/s or m/s].
        accelerations: (p, n) [rad/s² or m/s²].
        effort: (p, n) [Nm or N].
        has_positions: Whether each point gives them (p,).
        has_velocities: Likewise (p,).
        has_accelerations: Likewise (p,).
        has_effort: Likewise (p,).
        held: Joints that the trajectory does not name (n,): they stay where they are.
    """

    joint_names: tuple[str, ...]
    start: float | None
    times: Array
    positions: Array
    velocities: Array
    accelerations: Array
    effort: Array
    has_positions: BoolArray
    has_velocities: BoolArray
    has_accelerations: BoolArray
    has_effort: BoolArray
    held: BoolArray

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def duration(self) -> float:
        """Time of the last point after the start [s]."""
        return float(self.times[-1])

    @property
    def independent(self) -> bool:
        """Whether all but the way to the first waypoint, and held joints, is known without it.

        Not so where positions or the first velocity are integrated from the state before.
        """
        rate = self.has_velocities[0] or not self.has_accelerations[0]
        return bool(self.has_positions.all() and rate)

    @property
    def first(self) -> Waypoints:
        """The first waypoint alone."""
        names = ("times", *FIELDS, *(f"has_{field}" for field in FIELDS))
        return replace(self, **{name: getattr(self, name)[:1] for name in names})

    def refuse_other(self, rules: Rules) -> None:
        """Raise if they were checked by rules for other joints."""
        if rules.joints != self.joint_names:
            finding = f"are for {', '.join(rules.joints)}"
            remedy = (
                f"give those that the waypoints were checked by: {', '.join(self.joint_names)}"
            )
            raise TrajectoryError("rules", finding, remedy, INVALID_JOINTS)
