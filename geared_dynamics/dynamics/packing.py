"""What the kernels read of a model, as flat arrays: bodies, wheels, frames, balancers."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.door import admit
from geared_dynamics.model import Frame, GearedModel, require_model

admit(GearedModel, 0)

# -- Order of the model's parameters: the columns of the regressor --------------------------------
#
# Body by body its ten parameters, then the wheels whose last driven coordinate is
# that body's. For a serial arm with each motor before its joint this is the order
# that makes the regressor block upper-triangular (Sciavicco 1994, eq. 31-34). Pinocchio's
# toDynamicParameters has Iyy before Ixz: ours in the order [0, 1, 2, 3, 4, 5, 7, 6, 8, 9].


BODY_PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True)
class ParameterColumns:
    """First column of each body's ten, and the column of each wheel."""

    bodies: tuple[int, ...]
    wheels: tuple[int, ...]
    count: int


def columns_of(model: GearedModel) -> ParameterColumns:
    """Assign columns to bodies and wheels."""
    homes = wheel_homes(model)
    bodies, wheels = [], [0] * len(homes)
    count = 0
    for b in range(len(model.tree.names)):
        bodies.append(count)
        count += len(BODY_PARAMETERS)
        for r, home in enumerate(homes):
            if home == b:
                wheels[r] = count
                count += 1
    return ParameterColumns(tuple(bodies), tuple(wheels), count)


def wheel_homes(model: GearedModel) -> list[int]:
    """Body after which each wheel's parameter comes: the last of those it follows.

    Only a coordinate's own body counts, not its mimics; a wheel that follows frozen
    joints only never spins and comes last. A motor-side coordinate counts as its joint.
    """
    own = model.own_bodies[: model.elasticity.link_spin.shape[1]].tolist()
    own += [max(own[j] for j in np.flatnonzero(row)) for row in model.elasticity.rigid]
    last = len(model.tree.names) - 1
    return [max((own[d] for d in np.flatnonzero(row)), default=last) for row in model.Gamma]


# -- The model in the form the kernels read: one flat array (see kernels.layout) ------------------


NONE = np.array([], np.int64)
TENSOR = (4, 5, 6, 5, 7, 8, 6, 8, 9)  # a tensor's nine elements among the ten parameters
UPPER = ((0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2))
COUPLINGS = ("none", "diagonal", "complete")


def packed(model: GearedModel) -> Array:
    """Return the packed model, made at first use and kept on the model."""
    forms = require_model(model)._forms
    if forms.packed is None:
        if forms.without_parameters is None:
            forms.without_parameters = sealed(layout_without_parameters(model))
        forms.packed = sealed(with_parameters(model, forms.without_parameters))
    return forms.packed


def sealed(array: Array) -> Array:
    """Return an array, read-only from now on."""
    array.setflags(write=False)
    return array


def with_parameters(model: GearedModel, layout: Array) -> Array:
    """Fill the bodies' parameters in."""
    whole = layout.copy()
    end = at.HEADER_SIZE + len(model.tree.names) * at.BODY_SIZE
    blocks = whole[at.HEADER_SIZE : end].reshape(-1, at.BODY_SIZE)
    turns = blocks[:, at.TURN : at.TURN + 9].reshape(-1, 3, 3)
    blocks[:, at.MASS : at.MASS + 10] = turned_parameters(model.tree.parameters, turns)
    return whole


def layout_without_parameters(model: GearedModel) -> Array:
    """Lay the model out for the kernels, all but the bodies' parameters."""
    columns = columns_of(model)
    turns = rotation_with_z(model.tree.axis)
    reflected = reflected_entries(model)
    carried = carried_entries(model, turns)
    wheels = wheel_blocks(model, turns, columns)
    bodies = body_blocks(model, turns, columns)
    start = at.HEADER_SIZE + bodies.size
    header = np.zeros(at.HEADER_SIZE)
    header[at.BODIES], header[at.COORDINATES] = len(model.tree.names), model.n
    header[at.GRAVITY : at.GRAVITY + 3] = model.gravity
    header[at.REFLECTED], header[at.REFLECTED_END] = start, start + reflected.size
    start += reflected.size
    for b, entries in enumerate(carried):
        bodies[b, at.CARRIED], bodies[b, at.CARRIED_END] = start, start + entries.size
        start += entries.size
    header[at.WHEELS], header[at.WHEELS_END] = start, start + wheels.size
    header[at.COUPLING] = COUPLINGS.index(model.coupling)
    header[at.PARAMETERS] = columns.count
    parts = [header, bodies, reflected, *carried, wheels]
    return readonly(np.concatenate([part.ravel() for part in parts]))


def body_blocks(model: GearedModel, turns: Array, columns: ParameterColumns) -> Array:
    """Bodies (nb, BODY_SIZE) in kernel frames; parameters and carried spin unset."""
    tree = model.tree
    blocks = np.zeros((len(tree.names), at.BODY_SIZE))
    blocks[:, at.PARENT] = tree.parent
    blocks[:, at.DOF] = tree.dof
    blocks[:, at.MULTIPLIER] = tree.multiplier
    blocks[:, at.OFFSET] = tree.offset
    blocks[:, at.PRISMATIC] = tree.prismatic
    blocks[:, at.COLUMN] = columns.bodies
    # Index -1, the root, finds the identity at the end.
    back = np.concatenate([turns, np.eye(3)[None]])[tree.parent].swapaxes(1, 2)
    blocks[:, at.ROTATION : at.ROTATION + 9] = (back @ tree.rotation @ turns).reshape(-1, 9)
    blocks[:, at.POSITION : at.POSITION + 3] = (back @ tree.position[:, :, None])[:, :, 0]
    blocks[:, at.TURN : at.TURN + 9] = turns.reshape(-1, 9)
    return blocks


def turned_parameters(parameters: Array, turns: Array) -> Array:
    """Ten parameters of each body (nb, 10) in its kernel frame: m, R' m c, R' I R."""
    moment = parameters[:, None, 1:4] @ turns
    tensor = turns.swapaxes(1, 2) @ parameters[:, TENSOR].reshape(-1, 3, 3) @ turns
    return np.concatenate([parameters[:, :1], moment[:, 0], tensor[:, UPPER[0], UPPER[1]]], axis=1)


def reflected_entries(model: GearedModel) -> Array:
    """Non-zero elements of Gamma' J Gamma: rows i, j, value."""
    reflected = model.reflected_inertia
    if model.coupling == "none":
        reflected = np.zeros_like(reflected)
    elif model.coupling == "diagonal":
        reflected = np.diag(np.diag(reflected))
    i, j = np.nonzero(reflected)
    return np.column_stack([i, j, reflected[i, j]])


def carried_entries(model: GearedModel, turns: Array) -> list[Array]:
    """Per body, rows d, h_d (3): sum of e J Gamma_rd over the wheels it carries."""
    wheels = model.wheels
    entries = []
    coupled = model.coupling == "complete"
    for b in range(len(model.tree.names)):
        on_body = np.flatnonzero(wheels.carrier == b) if coupled else NONE
        spin = wheels.spin[on_body]
        d = np.flatnonzero(spin.any(axis=0))
        axis = wheels.axis[on_body] @ turns[b]
        momentum = (axis.T * wheels.inertia[on_body] @ spin[:, d]).T
        entries.append(np.column_stack([d, momentum])[momentum.any(axis=1)])
    return entries


def wheel_blocks(model: GearedModel, turns: Array, columns: ParameterColumns) -> Array:
    """Wheels (w, WHEEL_ROW + n) for the regressor."""
    wheels = model.wheels
    blocks = np.zeros((len(wheels.names), at.WHEEL_ROW + model.n))
    turn = np.concatenate([turns, np.eye(3)[None]])[wheels.carrier]
    blocks[:, at.WHEEL_CARRIER] = wheels.carrier
    blocks[:, at.WHEEL_AXIS : at.WHEEL_AXIS + 3] = (wheels.axis[:, None] @ turn)[:, 0]
    blocks[:, at.WHEEL_COLUMN] = columns.wheels
    blocks[:, at.WHEEL_ROW :] = wheels.spin
    return blocks


def packed_frame(model: GearedModel, name: str) -> Array:
    """Return a frame in the kernels' form, made at first use and kept on the model."""
    try:
        return model._forms.frames[name]
    except (KeyError, TypeError, AttributeError):
        block = sealed(pack_frame(model, require_model(model).frame(name)))
    forms = model._forms
    forms.frames = MappingProxyType({**forms.frames, name: block})
    return block


def pack_frame(model: GearedModel, frame: Frame) -> Array:
    """Lay a frame out for the kernels; a link's spin axis and ratios are zero."""
    block = np.zeros(at.FRAME_ROW + model.n)
    turn = np.eye(3)
    if frame.body >= 0:
        start = at.HEADER_SIZE + frame.body * at.BODY_SIZE + at.TURN
        turn = packed(model)[start : start + 9].reshape(3, 3)
    block[at.FRAME_BODY] = frame.body
    block[at.FRAME_ROTATION : at.FRAME_ROTATION + 9] = (turn.T @ frame.rotation).ravel()
    block[at.FRAME_POSITION : at.FRAME_POSITION + 3] = turn.T @ frame.position
    if frame.wheel >= 0:
        block[at.FRAME_AXIS : at.FRAME_AXIS + 3] = turn.T @ model.wheels.axis[frame.wheel]
        block[at.FRAME_ROW :] = model.wheels.spin[frame.wheel]
    return block


# -- The balancers in the form the kernels read (see kernels.balancer_layout) ---------------------


def packed_balancers(model: GearedModel) -> Array:
    """Return the packed balancers, made at first use and kept on the model."""
    forms = model._forms
    if forms.balancers is None:
        forms.balancers = sealed(pack_balancers(model))
    return forms.balancers


def pack_balancers(model: GearedModel) -> Array:
    """Lay the balancers out for the kernels."""
    given = model.balancers
    lines = np.zeros((len(given.kind), has.LINE_SIZE))
    for line, bodies, points in zip(lines, given.bodies, given.points, strict=True):
        for place, body, point in zip((has.BODY, has.OTHER), bodies, points, strict=True):
            turn = rotation_with_z(model.tree.axis[body]) if body >= 0 else np.eye(3)
            line[place], line[place + 1 : place + 4] = body, turn.T @ point
    lines[:, has.KIND] = given.kind
    lines[:, has.LENGTH :] = given.law
    springs = np.column_stack([given.dof, given.torsion])
    header = np.array([len(lines), len(springs)], float)
    return np.concatenate([header, lines.ravel(), springs.ravel()])


def refuse_balancer(status: int, model: GearedModel, q: Array) -> NoReturn:
    """Name the element that has no force at one of the postures q (..., n), and why."""
    line, reason = divmod(status - has.FAULT, has.REASONS)
    place = f"{model.drivetrain_source}, balancers.{model.balancers.names[line]}"
    where = f"at q{first_failing(status, model, q)}"
    if reason == has.MEETING:
        finding, remedy = f"its anchors meet {where}", "keep the arm away, or move an anchor"
    else:
        finding = f"its gas has no volume left {where}"
        remedy = "keep the arm away, or correct area, volume and length"
    raise ModelError(place, finding, remedy)


def first_failing(status: int, model: GearedModel, q: Array) -> str:
    """Index of the first posture with this status, as it is written; none for one posture."""
    for index in np.ndindex(q.shape[:-1]):
        constants = packed(model), packed_balancers(model)
        if kernels.balancer_forces(*constants, q[index], np.empty(model.n)) == status:
            return f"[{', '.join(map(str, index))}]" if index else ""
    return ""
