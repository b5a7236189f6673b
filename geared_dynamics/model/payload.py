"""A tool or load fixed to a link of an existing model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, readonly, real, reals
from geared_dynamics.description.magnitude import refuse_too_large
from geared_dynamics.description.records import InertiaRecord, RobotRecord
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from geared_dynamics.model.inertia import (
    central_tensor,
    doubt,
    moved,
    parameters_of,
    parameters_of_record,
)

# Relative to the largest element, as in the tables: rounding of a turned tensor.
ASYMMETRY = 1e-9

if TYPE_CHECKING:
    from geared_dynamics.model.model import GearedModel, Tree


def load_link(
    model: GearedModel, link: str | None, mass: float, com: ArrayLike, inertia: ArrayLike
) -> GearedModel:
    """Add a payload's ten parameters to a link, in the arrays and in the records."""
    name = tip(model) if link is None else link
    own = payload_parameters(mass, com, inertia)
    links = [record.name for record in model.robot.links]
    if not isinstance(name, str) or name not in links:
        raise UnknownNameError("with_payload: link", "link", name, links)
    frame = model.frame(name)
    if frame.body < 0:
        place, remedy = "with_payload: link", "name a link that moves"
        raise ModelError(place, f"{name!r} is fixed to the root and carries no dynamics", remedy)
    return replace(
        model,
        tree=loaded_tree(model.tree, frame.body, moved(own, frame.rotation, frame.position)),
        robot=loaded_robot(model.robot, name, own),
    )


def payload_parameters(mass: float, com: ArrayLike, inertia: ArrayLike) -> Array:
    """Check a payload and return its ten parameters (10,) in the link's frame."""
    try:
        tensor, centre, scalar = reals(inertia), reals(com), real(mass)
    except (TypeError, ValueError, OverflowError):
        tensor, centre, scalar = np.empty(0), np.empty(0), np.nan
    if tensor.shape != (3, 3) or centre.shape != (3,):
        finding = "mass, com or inertia is not real numbers of the right shape"
        remedy = "give a number, three numbers and a symmetric 3x3 tensor"
        raise ArrayError("with_payload", finding, remedy)
    if not (np.isfinite(scalar) and np.all(np.isfinite(centre)) and np.all(np.isfinite(tensor))):
        raise ArrayError("with_payload", "contains NaN or infinity", "give finite numbers")
    for value in (scalar, np.abs(centre).max(), np.abs(tensor).max()):
        refuse_too_large(float(value), "with_payload")
    if scalar < 0.0:
        remedy = "to take a load off, use the model without it"
        raise ModelError("with_payload: mass", f"is {scalar:g} kg", remedy)
    if np.abs(tensor - tensor.T).max() > ASYMMETRY * np.abs(tensor).max():
        remedy = "give the tensor about the centre of mass, products included on both sides"
        raise ModelError("with_payload: inertia", "is not symmetric", remedy)
    own = parameters_of(scalar, centre, 0.5 * (tensor + tensor.T))
    finding = doubt(own)
    if finding:
        raise ModelError("with_payload", finding, "give the tensor about the centre of mass")
    return own


def tip(model: GearedModel) -> str:
    """Name the only body that carries no other."""
    carrying = set(model.tree.parent.tolist())
    leaves = [name for b, name in enumerate(model.tree.names) if b not in carrying]
    if len(leaves) != 1:
        finding = f"the arm has {len(leaves)} tips: {', '.join(leaves)}"
        raise ModelError("with_payload", finding, "say which with link=...")
    return leaves[0]


def loaded_tree(tree: Tree, body: int, own: Array) -> Tree:
    """Add ten parameters to one body."""
    parameters = tree.parameters.copy()
    parameters[body] += own
    return replace(tree, parameters=readonly(parameters))


def loaded_robot(robot: RobotRecord, link: str, own: Array) -> RobotRecord:
    """Add ten parameters to one link's record."""
    links = tuple(
        replace(item, inertia=record_of(parameters_of_record(item.inertia) + own))
        if item.name == link
        else item
        for item in robot.links
    )
    return replace(robot, links=links)


def record_of(parameters: Array) -> InertiaRecord:
    """Return the record of ten parameters."""
    mass = float(parameters[0])
    com = parameters[1:4] / mass if mass > 0.0 else np.zeros(3)
    x, y, z = (float(component) for component in com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = central_tensor(parameters).tolist()
    return InertiaRecord(mass, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
