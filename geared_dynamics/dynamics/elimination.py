"""The elimination plan: which coordinates are open at which body (kernels.elimination)."""

from collections.abc import Iterable

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel

ROOT = -1


def elimination_plan(model: GearedModel) -> Array:
    """Return the plan for the kernel, made at first use and kept on the model."""
    if model.plan is None:
        # Derived from frozen fields, as the packed model is.
        object.__setattr__(model, "plan", make_plan(model))
    return model.plan  # type: ignore[return-value]


def make_plan(model: GearedModel) -> Array:
    """Lay the plan out as kernels.elimination reads it."""
    carried, reflected = entries_of(packed(model))
    open_at, ends = open_coordinates(model, carried, reflected)
    most = max(len(slots) for slots in open_at.values())
    nodes = [*range(len(model.tree.names)), ROOT]
    blocks = [node_block(model, node, open_at, ends, most) for node in nodes]
    slots = np.array([open_at[body].index(d) for body, d in carried], float)
    places = np.array(
        [
            (nodes.index(ends[i]), open_at[ends[i]].index(i), open_at[ends[i]].index(j))
            for i, j in reflected
        ],
        float,
    )
    start = 4 + sum(block.size for block in blocks)
    header = np.array([most, blocks[0].size, start, start + slots.size], float)
    return readonly(np.concatenate([header, *blocks, slots, places.ravel()]))


def entries_of(model: Array) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Carried (body, coordinate) and reflected (i, j) entries of a packed model."""
    carried = []
    for body in range(int(model[at.BODIES])):
        b = at.HEADER_SIZE + body * at.BODY_SIZE
        span = range(int(model[b + at.CARRIED]), int(model[b + at.CARRIED_END]), at.CARRIED_SIZE)
        carried += [(body, int(model[e])) for e in span]
    span = range(int(model[at.REFLECTED]), int(model[at.REFLECTED_END]), at.REFLECTED_SIZE)
    return carried, [(int(model[e]), int(model[e + 1])) for e in span]


def open_coordinates(
    model: GearedModel, carried: list[tuple[int, int]], reflected: list[tuple[int, int]]
) -> tuple[dict[int, list[int]], list[int]]:
    """Coordinates open at each node, those that end there last; and where each ends.

    A coordinate (a joint's, or one that only wheels follow) enters at the parents of its
    joints and at the carriers of its wheels, and ends at the innermost node that is beyond
    all of these, its partners' included when Gamma' J Gamma couples them.
    """
    tree = model.tree
    enters: list[set[int]] = [set() for _ in range(model.n)]
    for b, d in enumerate(tree.dof):
        enters[d].add(int(tree.parent[b]))
    for body, d in carried:
        enters[d].add(body)
    ends = [ROOT] * model.n
    for group in coupled_groups(model.n, reflected):
        nodes = [node for d in group for node in enters[d]]
        end = innermost(model, nodes) if nodes else ROOT
        for d in group:
            ends[d] = end
            if not enters[d]:  # no body and no moving carrier has it: Gamma' J Gamma alone
                enters[d].add(end)
    open_at: dict[int, list[int]] = {node: [] for node in range(ROOT, len(tree.names))}
    for d in range(model.n):
        seen = set()
        for node in enters[d]:
            walk = node
            while walk not in seen:
                seen.add(walk)
                if walk == ends[d]:
                    break
                walk = int(tree.parent[walk])
        for node in seen:
            open_at[node].append(d)
    for node, slots in open_at.items():
        slots.sort(key=lambda d, node=node: (ends[d] == node, d))  # type: ignore[misc]
    return open_at, ends


def coupled_groups(n: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Coordinates that elements (i, j) connect, directly or through others."""
    group = {d: [d] for d in range(n)}
    for i, j in pairs:
        if group[i] is not group[j]:
            group[i] += group[j]
            for d in group[j]:
                group[d] = group[i]
    return list({id(members): members for members in group.values()}.values())


def innermost(model: GearedModel, nodes: list[int]) -> int:
    """Node farthest from the root that is on the way from all given nodes to it."""
    common = path_to_root(model, nodes[0])
    for node in nodes[1:]:
        way = set(path_to_root(model, node))
        common = [node for node in common if node in way]
    return common[0]


def path_to_root(model: GearedModel, node: int) -> list[int]:
    """Return the node, its parent, and so on, down to the root."""
    path = [node]
    while path[-1] != ROOT:
        path.append(int(model.tree.parent[path[-1]]))
    return path


def node_block(
    model: GearedModel, node: int, open_at: dict[int, list[int]], ends: list[int], most: int
) -> Array:
    """One node's block: counts, own slot at the parent, coordinates, their slots there."""
    block = np.zeros(3 + 2 * most)
    slots = open_at[node]
    block[0], block[1] = len(slots), sum(ends[d] == node for d in slots)
    block[3 : 3 + len(slots)] = slots
    if node != ROOT:
        beyond = open_at[int(model.tree.parent[node])]
        block[2] = beyond.index(int(model.tree.dof[node]))
        for k, d in enumerate(slots):
            if ends[d] != node:
                block[3 + most + k] = beyond.index(d)
    return block
