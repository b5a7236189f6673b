"""The model in the form the kernels read: one flat array (see kernels.layout)."""

from types import MappingProxyType

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.columns import Columns, columns_of
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import Frame, GearedModel, require_model
from geared_dynamics.model.geometry import rotation_with_z

NONE = np.array([], np.int64)
TENSOR = (4, 5, 6, 5, 7, 8, 6, 8, 9)  # a tensor's nine elements among the ten parameters
UPPER = ((0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2))
COUPLINGS = ("none", "diagonal", "complete")


def packed(model: GearedModel) -> Array:
    """Return the packed model, made at first use and kept on the model."""
    if require_model(model).packed is None:
        if model.skeleton is None:
            keep_on(model, "skeleton", skeleton(model))
        keep_on(model, "packed", fleshed(model, model.skeleton))  # type: ignore[arg-type]
    return model.packed  # type: ignore[return-value]


def keep_on(model: GearedModel, name: str, value: object) -> None:
    """Keep on the model, read-only, what follows from its frozen fields: it never changes."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    object.__setattr__(model, name, value)


def fleshed(model: GearedModel, bones: Array) -> Array:
    """Fill the bodies' parameters in."""
    whole = bones.copy()
    end = at.HEADER_SIZE + len(model.tree.names) * at.BODY_SIZE
    blocks = whole[at.HEADER_SIZE : end].reshape(-1, at.BODY_SIZE)
    turns = blocks[:, at.TURN : at.TURN + 9].reshape(-1, 3, 3)
    blocks[:, at.MASS : at.MASS + 10] = turned_parameters(model.tree.parameters, turns)
    return whole


def skeleton(model: GearedModel) -> Array:
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


def body_blocks(model: GearedModel, turns: Array, columns: Columns) -> Array:
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


def wheel_blocks(model: GearedModel, turns: Array, columns: Columns) -> Array:
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
        return model.packed_frames[name]  # type: ignore[index]
    except (KeyError, TypeError, AttributeError):
        block = pack_frame(model, require_model(model).frame(name))
    block.setflags(write=False)
    known = model.packed_frames or {}
    keep_on(model, "packed_frames", MappingProxyType({**known, name: block}))
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
