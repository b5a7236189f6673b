"""Drives and balancers at the joints: both sides of the gears, friction, their packed form."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.dynamics.arguments import as_input, by_own_code, call, coordinates, deliver
from geared_dynamics.dynamics.packing import packed_balancers, sealed
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.model.drive_arrays import ROTOR_SMOOTHING, FrictionLaws

# -- Between the joints' and the motors' side of the gears ----------------------------------------


def motor_torques(model: GearedModel, tau: ArrayLike, *, out: Array | None = None) -> Array:
    """Motor torques tau_m with A tau_m = tau, before efficiency.

    With more motors than coordinates the solution of least norm is returned.

    Args:
        model: Geared model.
        tau: Generalised joint force (..., n) [N m or N], joint side.
        out: Result array (..., m), returned.

    Returns:
        Torque at each motor's shaft (..., m) [N m], motor side.

    Raises:
        ModelError: if the motors cannot produce every joint force.

    References:
        Chen 1998, eq. (12): tau = A tau_m.
    """
    return checked("tau", tau, coordinates(model), motor_shares(model), out=out)


def motor_shares(model: GearedModel) -> Array:
    """What each motor gives per joint force, S' (n, m), of least norm.

    Raises:
        ModelError: if the motors do not move all coordinates independently.
    """
    shares = require_model(model).motor_map
    if not shares.complete:
        refuse_underactuated(model, shares.rank)
    return shares.inverse.T


def refuse_underactuated(model: GearedModel, moved: int) -> NoReturn:
    """Name the coordinates that no motor moves, or say that they do not move by themselves."""
    idle = [
        name
        for name, row in zip(model.joint_names, model.structure_matrix, strict=True)
        if not row.any()
    ]
    count = len(model.motor_names)
    motors = f"{count} motor{'s' if count != 1 else ''} move{'s' if count == 1 else ''}"
    finding = f"{motors} {moved} of {model.n} coordinates"
    detail = f" (none acts on {', '.join(idle)})" if idle else " independently of each other"
    remedy = "declare the missing motors" if idle else "declare more motors, or let a joint mimic"
    raise ModelError(f"{model.drivetrain_source}, motors", finding + detail, remedy)


def motor_angles(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """What the motors' encoders show: phi = A' q + phi(0), relative to their carriers.

    Args:
        model: Geared model; phi(0), ``model.motor_zeros``, is A' (-offset) with each motor's
            own offsets of its joints.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., m), returned.

    Returns:
        Rotor angle of each motor (..., m) [rad], motor side.
    """
    return checked("q", q, coordinates(model), model.structure_matrix, model.motor_zeros, out)


def motor_speeds(model: GearedModel, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotor speed of each motor relative to its carrier: A' v (..., m) [rad/s], motor side.

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        out: Result array (..., m), returned.

    References:
        Chen 1998, eq. (12).
    """
    return checked("v", v, coordinates(model), model.structure_matrix, out=out)


def checked(
    name: str,
    value: ArrayLike,
    width: int,
    matrix: Array,
    added: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Convert an input (..., width) to float64 and return input @ matrix + added, in ``out``."""
    array = as_input(name, value, width)
    with np.errstate(over="ignore", invalid="ignore"):
        result = array @ matrix
        if added is not None:
            result = result + added
    refuse_infinite(name, array, result)
    return deliver(np.asarray(result), out, {name: value})


def refuse_infinite(name: str, array: Array, result: Array) -> None:
    """Raise for NaN and infinity in an input or in what it gives."""
    # Squares summed are finite only if every number is: a quick look that settles most calls.
    if math.isfinite(np.vdot(array, array) + np.vdot(result, result)):
        return
    if not np.isfinite(array).all():
        raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    if not np.isfinite(result).all():
        raise ArrayError(name, "is so large that the result overflows", "use SI units")


# -- Springs between links and on joints: what they do to the joints ------------------------------
#
# They appear as M a + C v + g + friction = tau + balancer_forces; the rigid functions
# leave them out.


def balancer_forces(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Force of the model's springs on the joints: -dU/dq (..., n) [N m or N], joint side.

    A drive has that much less to give: tau = M a + C v + g - balancer_forces.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n), returned.

    Raises:
        ModelError: naming the element whose anchors meet or whose gas has no volume left.
    """
    n = coordinates(model)
    return call("balancer_forces", model, {"q": (q, n)}, (n,), out, (packed_balancers(model),))


def balancer_force_rates(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    """Time derivative of ``balancer_forces`` along a motion (..., n) [N m/s or N/s].

    What ``inverse_dynamics_time_derivatives`` leaves out of d tau/dt.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (..., n), returned.

    Raises:
        ModelError: as ``balancer_forces``.
    """
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n)}
    return call("balancer_rates", model, inputs, (n,), out, (packed_balancers(model),))


def balancer_energy(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Potential energy U of the model's springs, shape (...) [J].

    A spring between links has none at its stated length, a spring on a joint none where
    its coordinate is zero.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (...), returned; ``np.empty(())`` for one state.

    Raises:
        ModelError: naming the element whose gas has no volume left.
    """
    inputs, constants = {"q": (q, coordinates(model))}, (packed_balancers(model),)
    energy = call("balancer_energy", model, inputs, (1,), None, constants)
    return deliver(energy[..., 0], out, {"q": q})


# -- Joint friction, which the rigid functions leave out ------------------------------------------


def friction_forces(
    model: GearedModel,
    v: ArrayLike,
    q: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Joint friction as control needs it: smooth in the velocity.

    See ``FrictionRecord`` for the law; the sign of the rate is tanh(v / smoothing).

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        q: Joint position (..., n) [rad or m], read by friction that ripples with it; zero
            where not given.
        tau: Joint force (..., n) [N m or N] before friction, read by friction that grows
            with the load; zero where not given.
        out: Result array (..., n), returned.

    Returns:
        Force that opposes the motion (..., n) [N m or N], joint side: the sign
        convention is M a + C v + g + friction = tau.
    """
    n = coordinates(model)
    still = np.zeros(n)
    inputs = {
        "q": (still if q is None else q, n),
        "v": (v, n),
        "tau": (still if tau is None else tau, n),
    }
    if model.joined_code:
        found = by_own_code(
            model, "friction_forces", {key: inputs[key] for key in ("v", "q", "tau")}
        )
        if found is not None:
            return deliver(found, out, {key: value for key, (value, _) in inputs.items()})
    return call("friction_forces", model, inputs, (n,), out, (packed_drives(model),))


# -- The drives in the form the kernels read (see kernels.drive_layout) ---------------------------


def packed_drives(model: GearedModel) -> Array:
    """Return the packed drives, made at first use and kept on the model."""
    forms = model._forms
    if forms.drives is None:
        forms.drives = sealed(pack_drives(model))
    return forms.drives


def pack_drives(model: GearedModel) -> Array:
    """Lay the drives out.

    Where the motors cannot produce every joint force, the rows of the distribution are
    zero: ``motor_commands`` refuses such a model, friction does not mind.
    """
    count = len(model.motor_names)
    size = at.ROWS + 2 * model.n
    joints, rotors = model.joint_friction, model.motors.friction
    starts = np.cumsum(
        [
            at.HEADER_SIZE,
            count * size,
            joints.count * at.LAW_SIZE,
            rotors.count * at.LAW_SIZE,
            at.RIPPLE_SIZE * len(joints.ripple),
            at.RIPPLE_SIZE * len(rotors.ripple),
        ]
    )
    header = np.zeros(at.HEADER_SIZE)
    header[at.COUNT], header[at.MOTORS], header[at.MOTOR_SIZE] = count, starts[0], size
    header[at.JOINT_LAWS], header[at.JOINT_LAWS_END] = starts[1], starts[2]
    motors = motor_blocks(model, size)
    motors[rotors.index, at.LAW] = starts[2] + at.LAW_SIZE * np.arange(rotors.count)
    envelopes = [points.ravel() for points in model.motors.envelopes]
    ends = starts[5] + np.cumsum([0, *[points.size for points in envelopes]])
    motors[:, at.ENVELOPE], motors[:, at.ENVELOPE_END] = ends[:-1], ends[1:]
    parts = [
        header,
        motors.ravel(),
        law_blocks(joints, int(starts[3])).ravel(),
        law_blocks(rotors, int(starts[4])).ravel(),
        joints.ripple[:, 1:].ravel(),
        rotors.ripple[:, 1:].ravel(),
        *envelopes,
    ]
    return np.concatenate(parts)


def motor_blocks(model: GearedModel, size: int) -> Array:
    """Motors (m, size), their envelopes unset."""
    motors, wheels = model.motors, model.wheels
    blocks = np.zeros((len(motors.names), size))
    carriers = wheels.carrier[motors.wheel]
    blocks[:, at.CARRIER] = carriers
    for block, carrier, axis in zip(blocks, carriers, wheels.axis[motors.wheel], strict=True):
        turn = np.eye(3) if carrier < 0 else rotation_with_z(model.tree.axis[carrier])
        block[at.AXIS : at.AXIS + 3] = turn.T @ axis
    if model.coupling != "none":
        blocks[:, at.INERTIA] = model.J[motors.wheel]
    blocks[:, at.COUPLED] = model.coupling == "complete"
    # What a file does not give is neutral here; MotorCommands refuses to show it.
    blocks[:, at.RESISTANCE] = with_default(motors.resistance, 0.0)
    blocks[:, at.INDUCTANCE] = motors.inductance
    blocks[:, at.TORQUE_CONSTANT] = with_default(motors.torque_constant, 1.0)
    blocks[:, at.BACK_EMF] = with_default(motors.back_emf_constant, 0.0)
    driving, backdriving = motors.efficiency.T
    blocks[:, at.DRIVING] = 1.0 / driving - 1.0
    blocks[:, at.BACKDRIVING] = 1.0 - backdriving
    blocks[:, at.SMOOTHING] = ROTOR_SMOOTHING
    blocks[motors.friction.index, at.SMOOTHING] = motors.friction.smoothing
    blocks[:, at.ZERO] = motors.zeros
    blocks[:, at.POLE_PAIRS] = motors.pole_pairs
    blocks[:, at.LIMITS : at.LIMITS + 4] = motors.limits
    blocks[:, at.ROWS : at.ROWS + model.n] = model.structure_matrix.T
    try:
        blocks[:, at.ROWS + model.n :] = motor_shares(model).T
    except ModelError:
        pass  # see pack_drives
    return blocks


def with_default(values: Array, neutral: float) -> Array:
    """Return the values with ``neutral`` where a file gives none."""
    return np.where(np.isnan(values), neutral, values)


def law_blocks(laws: FrictionLaws, ripples: int) -> Array:
    """Friction laws (k, LAW_SIZE); their ripples begin at ``ripples``."""
    blocks = np.zeros((laws.count, at.LAW_SIZE))
    blocks[:, at.INDEX] = laws.index
    blocks[:, at.MULTIPLIER] = laws.multiplier
    blocks[:, at.SHIFT] = laws.shift
    blocks[:, at.VISCOUS] = laws.viscous
    blocks[:, at.COULOMB : at.COULOMB + 2] = laws.coulomb
    blocks[:, at.EXCESS : at.EXCESS + 2] = laws.static - laws.coulomb
    blocks[:, at.STRIBECK_SPEED] = laws.stribeck_speed
    blocks[:, at.LOAD] = laws.load
    blocks[:, at.OFFSET] = laws.offset
    blocks[:, at.ROUNDING] = laws.smoothing
    counts = [int(np.sum(laws.ripple[:, 0] == k)) for k in range(laws.count)]
    ends = ripples + at.RIPPLE_SIZE * np.cumsum([0, *counts])
    blocks[:, at.RIPPLES], blocks[:, at.RIPPLES_END] = ends[:-1], ends[1:]
    return blocks
