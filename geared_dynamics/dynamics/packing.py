"""The model in the form the kernels read: one flat array (see kernels.layout)."""

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.columns import Columns, columns_of
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import Frame, GearedModel
from geared_dynamics.model.geometry import rotation_with_z
from geared_dynamics.model.inertia import moved

COUPLINGS = ("none", "diagonal", "complete")


def packed(model: GearedModel) -> Array:
    """Return the packed model, made at first use and kept on the model."""
    if model.packed is None:
        # A value derived from frozen fields: no later call can see another one.
        object.__setattr__(model, "packed", pack(model))
    return model.packed  # type: ignore[return-value]


def pack(model: GearedModel) -> Array:
    """Lay the model out for the kernels."""
    columns = columns_of(model)
    turns = np.array([rotation_with_z(axis) for axis in model.tree.axis])
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
    """Bodies (nb, BODY_SIZE) in kernel frames; their lists of carried spin unset."""
    tree = model.tree
    blocks = np.zeros((len(tree.names), at.BODY_SIZE))
    blocks[:, at.PARENT] = tree.parent
    blocks[:, at.DOF] = tree.dof
    blocks[:, at.MULTIPLIER] = tree.multiplier
    blocks[:, at.OFFSET] = tree.offset
    blocks[:, at.PRISMATIC] = tree.prismatic
    blocks[:, at.COLUMN] = columns.bodies
    for b, block in enumerate(blocks):
        outer = turns[tree.parent[b]] if tree.parent[b] >= 0 else np.eye(3)
        block[at.ROTATION : at.ROTATION + 9] = (outer.T @ tree.rotation[b] @ turns[b]).ravel()
        block[at.POSITION : at.POSITION + 3] = outer.T @ tree.position[b]
        block[at.MASS : at.MASS + 10] = moved(tree.parameters[b], turns[b].T, np.zeros(3))
        block[at.TURN : at.TURN + 9] = turns[b].ravel()
    return blocks


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
    for b in range(len(model.tree.names)):
        on_body = np.flatnonzero(wheels.carrier == b)
        momentum = wheels.axis[on_body].T * wheels.inertia[on_body] @ wheels.spin[on_body]
        momentum = turns[b].T @ momentum
        if model.coupling != "complete":
            momentum = np.zeros_like(momentum)
        d = np.flatnonzero(np.any(momentum != 0.0, axis=0))
        entries.append(np.column_stack([d, momentum[:, d].T]))
    return entries


def wheel_blocks(model: GearedModel, turns: Array, columns: Columns) -> Array:
    """Wheels (w, WHEEL_ROW + n) for the regressor."""
    wheels = model.wheels
    blocks = np.zeros((len(wheels.names), at.WHEEL_ROW + model.n))
    for r, block in enumerate(blocks):
        carrier = int(wheels.carrier[r])
        axis = wheels.axis[r] if carrier < 0 else turns[carrier].T @ wheels.axis[r]
        block[at.WHEEL_CARRIER] = carrier
        block[at.WHEEL_AXIS : at.WHEEL_AXIS + 3] = axis
        block[at.WHEEL_COLUMN] = columns.wheels[r]
        block[at.WHEEL_ROW :] = wheels.spin[r]
    return blocks


def pack_frame(model: GearedModel, frame: Frame) -> Array:
    """Lay a frame out for the kernels; a link's spin axis and ratios are zero."""
    block = np.zeros(at.FRAME_ROW + model.n)
    turn = rotation_with_z(model.tree.axis[frame.body]) if frame.body >= 0 else np.eye(3)
    block[at.FRAME_BODY] = frame.body
    block[at.FRAME_ROTATION : at.FRAME_ROTATION + 9] = (turn.T @ frame.rotation).ravel()
    block[at.FRAME_POSITION : at.FRAME_POSITION + 3] = turn.T @ frame.position
    if frame.wheel >= 0:
        block[at.FRAME_AXIS : at.FRAME_AXIS + 3] = turn.T @ model.wheels.axis[frame.wheel]
        block[at.FRAME_ROW :] = model.wheels.spin[frame.wheel]
    return block
