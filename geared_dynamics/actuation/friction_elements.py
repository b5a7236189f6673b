"""Arm, gears, rotors and friction at one state, ready for the equations of motion.

    arm      M a + h - springs + joint friction = A (m + beta) + external      (n)
    motor    T = m + loss + rotor friction + beta                              (m)

with beta = rows a + drift the rotors' inertial torque and m what the gears transmit. Loss
and friction are base + slope |load|; the loads are m, and the joint force t = M a + h -
springs - external before friction.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.dynamics.arguments import call
from geared_dynamics.dynamics.drive_packing import packed_drives
from geared_dynamics.dynamics.friction_and_balancers import balancer_forces
from geared_dynamics.dynamics.rigid import bias_forces, mass_matrix
from geared_dynamics.errors import GearedDynamicsWarning
from geared_dynamics.model import GearedModel
from geared_dynamics.model.drive_arrays import FrictionLaws
from geared_dynamics.model.motor_map import MotorMap

# -- What the drives add to the equations of motion at one state, from kernels.plant --------------


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
    joints, rotors = joint_elements(laws, model.n), rotor_elements(model)
    first, second = first & rough(joints), second & rough(rotors)
    pairs = zip(joints, rotors, strict=True)
    return Resting(*(np.concatenate([one[first], two[second]]) for one, two in pairs))


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


def joint_elements(laws: FrictionLaws, n: int) -> Resting:
    """Every joint law as an element."""
    k = laws.count
    return Resting(
        rows=laws.multiplier[:, None] * np.eye(n)[laws.index],
        joint=np.array(laws.index),
        motor=np.full(k, -1),
        share=np.array(laws.multiplier),
        level=np.array(laws.static),
        slope=np.broadcast_to(laws.load[:, None, None], (k, 2, 2)),
    )


def rotor_elements(model: GearedModel) -> Resting:
    """Every rotor with its gear as an element: friction and the gear's own loss together."""
    laws, losses = model.motors.friction, gear_losses(model)
    m = len(losses)
    level, load = np.zeros((m, 2)), np.zeros(m)
    level[laws.index], load[laws.index] = laws.static, laws.load
    slope = np.stack([losses, losses[:, ::-1]], axis=1) + load[:, None, None]
    return Resting(
        rows=model.structure_matrix.T.copy(),
        joint=np.full(m, -1),
        motor=np.arange(m),
        share=np.ones(m),
        level=level,
        slope=slope,
    )
