"""What goes into a plant and what comes out of it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from geared_dynamics.arrays import Array, ArrayLike, BoolArray
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plants.electrics import CommandKind


class PlantState(NamedTuple):
    """Where an arm is; parts left out are zero, or at rest behind springs.

    Attributes:
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        theta: Shafts behind springs (n_e,), joint side; None: springs relaxed.
        vtheta: Their velocity (n_e,); None: springs relaxed.
        current: Of the motors (m,) [A]; None: none.
    """

    q: ArrayLike
    v: ArrayLike | None = None
    theta: ArrayLike | None = None
    vtheta: ArrayLike | None = None
    current: ArrayLike | None = None


class Command(NamedTuple):
    """A command with its kind, so that no plant takes one for another.

    Attributes:
        kind: ``effort`` joint force [N m or N] (n,), ``torque`` [N m], ``current`` [A] or
            ``voltage`` [V] of the motors (m,).
        values: The numbers.
    """

    kind: CommandKind
    values: ArrayLike


class Measurement(NamedTuple):
    """What the drives and sensors of an arm report.

    Joint values are those that the motors' encoders show, carried through the gears (of elastic
    joints the shaft's, not the link's); a joint without a motor has an encoder of its own.

    Attributes:
        time: When it was taken [s].
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        effort: Joint force of the motors' torques, A tau_m (n,) [N m or N].
        motor_angle: (m,) [rad], zeros as ``gd.motor_angles``.
        motor_speed: (m,) [rad/s].
        motor_torque: Electromagnetic torque, mean over the last step (m,) [N m].
        current: (m,) [A], NaN without torque constant.
        voltage: (m,) [V], NaN where the windings are not described.
        limited: Whether a limit bound during the last step (m,).
    """

    time: float
    q: Array
    v: Array
    effort: Array
    motor_angle: Array
    motor_speed: Array
    motor_torque: Array
    current: Array
    voltage: Array
    limited: BoolArray


class Mechanism(Protocol):
    """Bodies in motion, x = (q, theta): what stands behind a plant.

    Attributes:
        model: Geared model.
        timestep: Of one step [s].
    """

    model: GearedModel
    timestep: float

    def place(self, x: Array, rate: Array) -> None:
        """Put the arm at a position with a velocity (n + n_e,)."""

    @property
    def x(self) -> Array:
        """Position (n + n_e,)."""

    @property
    def rate(self) -> Array:
        """Velocity (n + n_e,)."""

    @property
    def angle(self) -> Array:
        """Rotors' angles relative to their links (m,), 0 at q = 0."""

    @property
    def speed(self) -> Array:
        """Rotors' speeds (m,)."""

    def advance(self, drive: Array, drag: Array) -> None:
        """Move on by one step under the torques drive - drag * speed."""
