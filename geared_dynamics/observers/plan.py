"""What an observer reads, and which numbers of its state that is.

    state     x = (q, theta) (N), x' (N), unaccounted force on x (N): k = 3 N
    readings  motors' encoders (m), links' encoders (n), joint torques (n_e): c = m + n + n_e

All readings are linear in the state: phi - phi(0) = A' x, q, and te = K z + D z' of the spring
before each theta, less what the springs' rests put there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.driven import refuse_losses
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import as_numbers
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.springs import own_stretch, structure_matrix
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel


class Sizes(NamedTuple):
    """Numbers of coordinates and readings of an arm.

    Attributes:
        n: Joints.
        shafts: Shafts behind springs, n_e.
        motors: Motors, m.
    """

    n: int
    shafts: int
    motors: int

    @property
    def coordinates(self) -> int:
        """N = n + n_e."""
        return self.n + self.shafts

    @property
    def state(self) -> int:
        """K = 3 N."""
        return 3 * self.coordinates

    @property
    def readings(self) -> int:
        """C = m + n + n_e."""
        return self.motors + self.n + self.shafts


class Measurement(NamedTuple):
    """What is known at one instant; NaN, and None, for what is not.

    Attributes:
        motor_position: What the motors' encoders show (m,) [rad], motor side.
        tau_m: Electromagnetic torque at the rotors since the instant before (m,) [N m]: the
            command, or k_t i of a measured current.
        link_position: Joint position by encoders on the links (n,) [rad or m].
        joint_torque: Torque that the springs put on the links (n_e,) [N m or N].
        tau: What else is known to act on the joints (n,) [N m or N]; zero where not given.
    """

    motor_position: ArrayLike
    tau_m: ArrayLike
    link_position: ArrayLike | None = None
    joint_torque: ArrayLike | None = None
    tau: ArrayLike | None = None


def sizes_of(model: GearedModel) -> Sizes:
    """Sizes of an arm that an observer can follow.

    Raises:
        ModelError: where no joint is elastic, or a loss depends on the load.
    """
    extended(model)
    refuse_losses(model, remedy="observe it without: put the loss into coulomb friction")
    return Sizes(model.n, model.elasticity.count, len(model.motor_names))


def refuse_other(model: GearedModel, sizes: Sizes) -> None:
    """Refuse gains that were made for another arm."""
    if sizes != (model.n, model.elasticity.count, len(model.motor_names)):
        finding = "are of another arm, with other numbers of joints, springs or motors"
        raise ArrayError("gains", finding, "make them from this model")


def reading_rows(model: GearedModel) -> tuple[Array, Array]:
    """Rows (c, k) and offsets (c,) of the readings: y = rows s + offsets."""
    sizes, elastic = sizes_of(model), model.elasticity
    n, m, size = sizes.n, sizes.motors, sizes.coordinates
    rows, offsets = np.zeros((sizes.readings, sizes.state)), np.zeros(sizes.readings)
    rows[:m, :size] = structure_matrix(model).T
    offsets[:m] = model.motor_zeros
    rows[m : m + n, :n] = np.eye(n)
    own = own_stretch(model).T
    rows[m + n :, :size] = own * elastic.stiffness @ elastic.stretch
    rows[m + n :, size : 2 * size] = own * elastic.damping @ elastic.stretch
    offsets[m + n :] = -own @ (elastic.stiffness * elastic.rest)
    return rows, offsets


def readings(sizes: Sizes, measurement: Measurement) -> Array:
    """All readings (c,), NaN for what is missing; infinity counts as missing."""
    motors = _part("motor_position", measurement.motor_position, sizes.motors)
    links = _part("link_position", measurement.link_position, sizes.n)
    torques = _part("joint_torque", measurement.joint_torque, sizes.shafts)
    return np.concatenate([motors, links, torques])


def inputs(sizes: Sizes, measurement: Measurement) -> tuple[Array, Array]:
    """Torque of the motors (m,), NaN where missing, and the known force on the joints (n,)."""
    tau_m = _part("tau_m", measurement.tau_m, sizes.motors)
    if measurement.tau is None:
        return tau_m, np.zeros(sizes.n)
    tau = _part("tau", measurement.tau, sizes.n)
    if not np.all(np.isfinite(tau)):
        raise ArrayError("tau", "contains NaN or infinity", "give what is known, zero elsewhere")
    return tau_m, tau


def _part(name: str, value: ArrayLike | None, width: int) -> Array:
    """A part of the readings; missing ones become NaN."""
    if value is None:
        return np.full(width, np.nan)
    array = as_numbers(name, value, f"give {width} real numbers, NaN for what is missing")
    if array.shape != (width,):
        raise ArrayError(name, f"has shape {array.shape}", f"give shape ({width},)")
    return array
