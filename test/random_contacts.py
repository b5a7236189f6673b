"""Random contacts on random arms: sets of one to four constrained coordinates that touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import geared_dynamics as gd
from naive.contact import Coordinate, Rows, Thing, rows_of, seen
from naive.lagrangian import LagrangianTwin, turn
from random_parts import Array, rotation, unit_vector

contact = gd.contact
TIME = 0.7
SETS = (("surface",), ("line",), ("surface", "surface"), ("peg",), ("line", "surface"))
PICKED = {"surface": (2,), "line": (0, 1), "peg": (0, 1, 4, 5)}


@dataclass
class Touching:
    """Contacts, and the same as analytic functions."""

    contacts: list[Any] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    picked: list[tuple[int, ...]] = field(default_factory=list)
    functions: list[Coordinate] = field(default_factory=list)
    unilateral: list[bool] = field(default_factory=list)

    def rows(self, q: Array, v: Array, t: float, *, free: bool = False) -> Rows:
        """Constrained coordinates, or those that are left free."""
        parts = []
        for function, picked in zip(self.functions, self.picked, strict=True):
            every = rows_of(function, q, v, t)
            chosen = [i for i in range(6) if (i in picked) != free]
            parts.append([np.asarray(x)[chosen] for x in every])
        return Rows(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def random_thing(
    rng: np.random.Generator, place: Array, tool: Array | None, *, moving: bool
) -> tuple[Thing, Array]:
    """An object that is at ``place`` at TIME, its axis along ``tool`` there."""
    velocity, acceleration, turning = rng.normal(size=(3, 3)) * float(moving)
    axes = rotation(rng.uniform(-3, 3, 3))
    if tool is not None:  # its third axis along the tool
        third = tool
        first = np.cross(third, axes[:, 0])
        first /= np.linalg.norm(first)
        axes = np.column_stack([first, np.cross(third, first), third])
    speed = np.linalg.norm(turning)
    if speed:
        axes = turn(turning / speed, -speed * TIME).real @ axes
    point = place - TIME * velocity - 0.5 * TIME**2 * acceleration
    return Thing(point, axes, velocity, acceleration, turning), axes


def touching(
    model: gd.GearedModel,
    twin: LagrangianTwin,
    q: Array,
    seed: int,
    kinds: tuple[str, ...],
    *,
    moving: bool = True,
    bilateral: bool = True,
) -> Touching:
    """Contacts of some kinds on links of an arm, where it is at q and TIME."""
    rng = np.random.default_rng(seed)
    found = Touching()
    ends = [b for b in model.body_names if len(ancestors(model, b)) > 0]
    ends.sort(key=lambda name: -len(ancestors(model, name)))
    for kind in kinds:
        link = ends[int(rng.integers(min(3, len(ends))))] if kind != "peg" else ends[0]
        rotated, place, *_ = twin.link_pose(q, link)
        axis = unit_vector(rng)
        tool = np.column_stack(completed(axis))
        along = (rotated @ axis).real
        thing, axes = random_thing(
            rng, place.real, along if kind == "peg" else None, moving=moving
        )
        options = {
            "velocity": thing.velocity,
            "acceleration": thing.acceleration,
            "angular_velocity": thing.turning,
            "along": axes[:, 0],
            "tool_axis": axis,
        }
        if kind == "surface":
            made: Any = contact.Surface(
                link, thing.point, axes[:, 2], bilateral=bilateral, **options
            )
        else:
            made = {"line": contact.Line, "peg": contact.Peg}[kind](
                link, thing.point, axes[:, 2], **options
            )
        found.contacts.append(made)
        found.links.append(link)
        found.picked.append(PICKED[kind])
        found.functions.append(seen(twin, link, thing, tool))
        found.unilateral += [kind == "surface" and not bilateral] * len(PICKED[kind])
    return found


def completed(axis: Array) -> tuple[Array, Array, Array]:
    """The axes that the package gives a tool: x across, along y x axis."""
    from geared_dynamics.description.geometry import rotation_with_z

    return tuple(rotation_with_z(axis).T)  # type: ignore[return-value]


def ancestors(model: gd.GearedModel, name: str) -> set[int]:
    """Coordinates that move a body."""
    found, b = set(), model.body_names.index(name)
    while b >= 0:
        found.add(int(model.tree.dof[b]))
        b = int(model.tree.parent[b])
    return found
