"""Arm, gears, rotors and friction at one state, ready for the equations of motion.

    arm      M a + h - springs + joint friction = A (m + beta) + external      (n)
    motor    T = m + loss + rotor friction + beta                              (m)

with beta = rows a + drift the rotors' inertial torque and m what the gears transmit. Loss
and friction are base + slope |load|; the loads are m, and the joint force t = M a + h -
springs - external before friction.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.arguments import call
from geared_dynamics.dynamics.drives import balancer_forces, packed_drives
from geared_dynamics.dynamics.rigid import bias_forces, mass_matrix
from geared_dynamics.errors import GearedDynamicsWarning
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import FrictionLaws, joined_laws
from geared_dynamics.model.motor_map import MotorMap

# -- What the drives add to the equations of motion at one state, from kernels.drive --------------


class Rotors(NamedTuple):
    """Inertial torque of the motors' rotors, upstream of the gears' losses.

    beta = rows a + drift = J (s' + e . alpha_carrier) (m,) [N m], motor side. With the
    coupling ``diagonal`` the carrier's turn is left out, with ``none`` all is zero, as in the
    model's mass matrix.

    Attributes:
        rows: J (A' + Z_m) (m, n) [kg m^2].
        drift: J times the carriers' angular acceleration about the axes at a = 0 (m,).
    """

    rows: Array
    drift: Array


class DriveTerms(NamedTuple):
    """Rotors' inertia, and friction as base + slope |load|, against the motion.

    Attributes:
        rotors: See ``Rotors``.
        joint_base: Joint friction without load (n,) [N m or N].
        joint_slope: Per load's magnitude (n,).
        rotor_base: Rotor friction without load (m,) [N m].
        rotor_slope: Per |m| (m,).
        turn: What stands for the signs of the rotors' speeds (m,).
    """

    rotors: Rotors
    joint_base: Array
    joint_slope: Array
    rotor_base: Array
    rotor_slope: Array
    turn: Array


def drive_terms(
    model: GearedModel, q: Array, v: Array, way: Array, band: float | None
) -> DriveTerms:
    """Terms at one state; arguments as ``plant_at``."""
    n, m = model.structure_matrix.shape
    inputs = {
        "q": (q, n),
        "v": (v, n),
        "way": (way, n),
        "band": (np.array([-1.0 if band is None else band]), 1),
    }
    size = m * n + 4 * m + 2 * n
    flat = call("drive_terms", model, inputs, (size,), constants=(packed_drives(model),))
    ends = np.cumsum([m * n, m, n, n, m, m])
    rows, drift, *rest = np.split(flat, ends)
    return DriveTerms(Rotors(rows.reshape(m, n), drift), *rest)


# -- One table of friction: its laws, what they act on, and their levels --------------------------
#
#     force against a motion at rate v:  viscous v + constant + f
#     f = level sign(v) in motion,  |f| <= level at rest
#
# A law with two levels has their mean as ``level`` and half their difference as a constant. Two
# solvers read the table: ``piecewise_linear`` finds accelerations under friction that depends on
# the load, ``simulation.equations_engine`` impulses at the end of a step.


@dataclass(frozen=True, eq=False)
class FrictionTable:
    """Friction of joints, then of rotors, one law a row, k of them.

    Attributes:
        laws: The laws; their index is that of a coordinate, or n and that of a motor.
        n: Number of coordinates.
    """

    laws: FrictionLaws
    n: int

    @property
    def count(self) -> int:
        """Number of laws."""
        return self.laws.count

    @cached_property
    def motor(self) -> IntArray:
        """Motor of each law (k,), negative of joints."""
        return self.laws.index - self.n

    def rows(self, structure: Array) -> Array:
        """Rates of the laws per rate of the coordinates x (k, N).

        Args:
            structure: The motors' structure matrix over x (N, m).
        """
        every = np.vstack([np.eye(self.n, len(structure)), structure.T])
        return np.asarray(self.laws.multiplier[:, None] * every[self.laws.index])

    def of(self, joints: Array, rotors: Array) -> Array:
        """Rates of the laws (k,) from those of the joints (n,) and the rotors (m,)."""
        return np.asarray(self.laws.multiplier * np.append(joints, rotors)[self.laws.index])

    def positions(self, joints: Array, encoders: Array) -> Array:
        """Positions of the laws (k,) from those of the joints (n,) and the encoders (m,)."""
        shift = np.where(self.motor < 0, self.laws.shift, 0.0)  # encoders have it in them
        return self.of(joints, encoders) + shift

    def levels(self, position: Array, rate: Array) -> tuple[Array, Array]:
        """Level f (k,), and constant force (k,) against the positive direction.

        Args:
            position: (k,) [rad or m].
            rate: (k,).
        """
        laws = self.laws
        if self.steady:
            level, constant = self.mean, self.bias
        else:
            fade = np.exp(-((rate / laws.stribeck_speed) ** 2))[:, None]
            pair = laws.coulomb + (laws.static - laws.coulomb) * fade
            level = 0.5 * (pair[:, 0] + pair[:, 1])
            constant = 0.5 * (pair[:, 0] - pair[:, 1]) + laws.offset
        if laws.ripple.size:
            law = laws.ripple[:, 0].astype(int)
            constant = constant.copy()
            order, amplitude, phase = laws.ripple[:, 1:].T
            np.add.at(constant, law, amplitude * np.sin(order * position[law] + phase))
        return level, constant

    @cached_property
    def steady(self) -> bool:
        """Whether no level depends on the rate."""
        return bool(np.array_equal(self.laws.static, self.laws.coulomb))

    @cached_property
    def mean(self) -> Array:
        """Level in motion, of both directions (k,)."""
        return np.asarray(self.laws.coulomb.mean(axis=1))

    @cached_property
    def bias(self) -> Array:
        """Half the difference of the two directions' levels, and the offset (k,)."""
        return np.asarray(self.laws.coulomb @ [0.5, -0.5] + self.laws.offset)


def friction_table(model: GearedModel) -> FrictionTable:
    """The friction of a model."""
    laws = joined_laws(model.joint_friction, model.motors.friction, model.n)
    return FrictionTable(laws, model.n)


# -- Arm, gears, rotors and friction at one state, ready for the equations of motion --------------


RIGID = (
    "{}: the model has elastic joints, which this function takes as rigid (theta = q); "
    "gd.simulation.elastic_rates and elastic_step move their springs"
)


def warn_if_elastic(model: GearedModel, function: str) -> None:
    """Warn the caller's caller that a function of rigid arms leaves the joints' springs out."""
    if model.elasticity.count:
        warnings.warn(RIGID.format(function), GearedDynamicsWarning, stacklevel=3)


class Resting(NamedTuple):
    """Elements at rest, e of them: friction anywhere between two levels.

    Where one breaks loose its rate changes by ``rows`` a. Against a positive rate it
    gives at most level[:, 0] + slope[:, 0, 0] m+ + slope[:, 0, 1] m-, against a negative
    one the same with [:, 1]; m+ and m- are the load's positive and negative part.

    Attributes:
        rows: Acceleration of the element per a (e, n).
        joint: Coordinate that its force acts on (e,), -1 for a rotor.
        motor: Motor whose rotor it acts on (e,), -1 for a joint.
        share: Force on the coordinate per force of the element (e,), 1 for a rotor.
        level: Breakaway level without load (e, 2).
        slope: Per load, by direction and by the load's sign (e, 2, 2).
    """

    rows: Array
    joint: IntArray
    motor: IntArray
    share: Array
    level: Array
    slope: Array


class ArmAtState(NamedTuple):
    """The arm and its drives at a state.

    Attributes:
        mass: M (n, n).
        free: h - springs - external (n,).
        motors: Between joints and motors.
        rotors: Inertial torque of the rotors.
        joint_base: Joint friction without load (n,).
        joint_slope: Joint friction per load's magnitude (n,).
        rotor_base: Rotor friction without load (m,).
        rotor_slope: Rotor friction per |m| (m,).
        toward: Torque into the gear and against the load-dependent friction, per m, for
            m > 0 and m < 0 (m, 2).
        speed: s = A' v (m,).
        resting: Elements at rest.
    """

    mass: Array
    free: Array
    motors: MotorMap
    rotors: Rotors
    joint_base: Array
    joint_slope: Array
    rotor_base: Array
    rotor_slope: Array
    toward: Array
    speed: Array
    resting: Resting

    @property
    def structure(self) -> Array:
        """A (n, m): joint force tau = A tau_m."""
        return self.motors.A


def plant_at(
    model: GearedModel,
    q: Array,
    v: Array,
    external: Array,
    band: float | None = None,
    way: Array | None = None,
) -> ArmAtState:
    """Gather the plant at one state q, v (n,); see ``Plant``.

    Args:
        model: Geared model.
        q: Joint position (n,).
        v: Joint velocity (n,).
        external: Joint force from outside (n,).
        band: None: friction smooth in the rate. Else exact friction, and elements with
            a rate within the band, in their own units, are at rest.
        way: Velocity that says which way friction acts and what is at rest (n,), v if not
            given: within a step, that at its beginning.
    """
    terms = drive_terms(model, q, v, v if way is None else way, band)
    return ArmAtState(
        mass=mass_matrix(model, q),
        free=bias_forces(model, q, v) - balancer_forces(model, q) - external,
        motors=model.motor_map,
        rotors=terms.rotors,
        joint_base=terms.joint_base,
        joint_slope=terms.joint_slope,
        rotor_base=terms.rotor_base,
        rotor_slope=terms.rotor_slope,
        toward=into_the_gear(terms.turn, gear_losses(model), terms.rotor_slope),
        speed=v @ model.structure_matrix,
        resting=nothing(model.n)
        if band is None
        else resting(model, v if way is None else way, band),
    )


def gear_losses(model: GearedModel) -> Array:
    """Loss per transmitted torque, driving and backdriving (m, 2)."""
    driving, backdriving = model.motors.efficiency.T
    return np.column_stack([1.0 / driving - 1.0, 1.0 - backdriving])


def into_the_gear(turn: Array, losses: Array, load_slope: Array) -> Array:
    """Torque into the gear and against its friction, per m > 0 and m < 0 (m, 2).

    m (1 + sign loss) for m > 0, m (1 - sign loss) for m < 0, with the driving loss where
    m and the speed have one sign, else the backdriving one; friction that grows with the
    load adds its slope too.
    """
    forward = np.where(turn > 0.0, losses[:, 0], losses[:, 1])
    backward = np.where(turn > 0.0, losses[:, 1], losses[:, 0])
    return np.column_stack([1.0 + turn * forward + load_slope, 1.0 - turn * backward - load_slope])


def resting(model: GearedModel, way: Array, band: float) -> Resting:
    """Elements with a rate within the band that have any friction to stick with."""
    laws = model.joint_friction
    first = np.abs(laws.multiplier * way[laws.index]) <= band
    second = np.abs(way @ model.structure_matrix) <= band
    if not (first.any() or second.any()):
        return nothing(model.n)
    every = elements(model)
    slow = np.concatenate([first, second]) & rough(every)
    return Resting(*(part[slow] for part in every))  # type: ignore[arg-type]


def nothing(n: int) -> Resting:
    """No element at rest."""
    none = np.zeros(0, dtype=np.int64)
    return Resting(
        np.zeros((0, n)), none, none, np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2, 2))
    )


def rough(every: Resting) -> BoolArray:
    """Which elements can move and have any friction to stick with (e,).

    A motor of a frozen joint cannot, nor can a mimic that follows with a multiplier of 0.
    """
    sticky = every.level.any(axis=1) | every.slope.any(axis=(1, 2))
    return np.asarray(sticky & every.rows.any(axis=1))


def elements(model: GearedModel) -> Resting:
    """Every joint's law, then every rotor with its gear: friction and the gear's loss together."""
    table, losses = friction_table(model), gear_losses(model)
    laws, m, on_joint = table.laws, len(losses), table.motor < 0
    k = int(np.count_nonzero(on_joint))
    level, load = np.zeros((k + m, 2)), np.zeros(k + m)
    at = np.where(on_joint, np.arange(laws.count), k + table.motor)
    level[at], load[at] = laws.static, laws.load
    slope = load[:, None, None] + np.zeros((k + m, 2, 2))
    slope[k:] = np.stack([losses, losses[:, ::-1]], axis=1) + slope[k:]
    A = model.structure_matrix
    return Resting(
        rows=np.vstack([table.rows(A)[:k], A.T]),
        joint=np.append(laws.index[:k], np.full(m, -1)),
        motor=np.append(np.full(k, -1), np.arange(m)),
        share=np.append(laws.multiplier[:k], np.ones(m)),
        level=level,
        slope=slope,
    )
