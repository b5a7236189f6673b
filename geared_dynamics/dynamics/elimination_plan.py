"""The elimination plan: which coordinates are open at which body (kernels.elimination).

Up to DENSE_LIMIT coordinates, or where so many stay open that elimination costs more
than the factorised mass matrix, the plan is to take the latter: DENSE.
"""

from collections.abc import Iterable

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.packing import packed, sealed
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel

ROOT = -1
DENSE_LIMIT = 12  # shortly beyond, elimination is at par for ordinary arms
DENSE = readonly([])
# Time that both take [us], over n, and over what happens at the nodes; fitted within 25 %
# to the arms of benchmarks/forward.py. Only their ratio matters.
DENSE_TIME = (0.13, 2.7e-3, 7.3e-5)  # per n, n^2, n^3
NODE_TIME, PASS_TIME, PIVOT_TIME = 0.175, 6.5e-4, 4.8e-4
WORSE = 1.25  # so much slower elimination must be to be given up


def elimination_plan(model: GearedModel) -> Array:
    """Return the plan for the kernel, or DENSE; made at first use and kept on the model."""
    forms = model._forms
    if forms.plan is None:
        forms.plan = sealed(choose_plan(model))
    return forms.plan


def choose_plan(model: GearedModel) -> Array:
    """Return the elimination plan if elimination pays, DENSE otherwise."""
    if model.n <= DENSE_LIMIT:
        return DENSE
    plan = make_plan(model)
    n = float(model.n)
    dense = sum(time * n**power for power, time in enumerate(DENSE_TIME, start=1))
    return DENSE if elimination_time(plan) > WORSE * dense else plan


def elimination_time(plan: Array) -> float:
    """Time that elimination takes by a plan [us].

    A node passes on what stays open, as a square matrix, and every pivot updates all that
    is left.
    """
    size = int(plan[at.PLAN_NODE_SIZE])
    nodes = plan[at.PLAN_HEADER : int(plan[at.PLAN_CARRIED])].reshape(-1, size)
    count = nodes[:, at.NODE_COUNT]
    going = count - nodes[:, at.NODE_ELIMINATED]
    pivots = squares(5.0 + count) - squares(5.0 + going)
    passed = going * (going + 1.0)
    return float(NODE_TIME * len(nodes) + PASS_TIME * passed.sum() + PIVOT_TIME * pivots.sum())


def squares(m: Array) -> Array:
    """Sum of the squares from 1 to m."""
    return m * (m + 1.0) * (2.0 * m + 1.0) / 6.0


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
            (ends[i] % len(nodes), open_at[ends[i]].index(i), open_at[ends[i]].index(j))
            for i, j in reflected
        ],
        float,
    )
    start = at.PLAN_HEADER + sum(block.size for block in blocks)
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
    common = nodes[0]
    for node in nodes[1:]:
        other = node
        while common != other:
            # Parents come before children, so the later one cannot be on the other's way.
            common, other = sorted((common, other))
            other = int(model.tree.parent[other])
    return common


def node_block(
    model: GearedModel, node: int, open_at: dict[int, list[int]], ends: list[int], most: int
) -> Array:
    """One node's block: counts, own slot at the parent, coordinates, their slots there."""
    lists, places = at.NODE_LISTS, at.NODE_LISTS + most
    block = np.zeros(lists + 2 * most)
    slots = open_at[node]
    block[at.NODE_COUNT] = len(slots)
    block[at.NODE_ELIMINATED] = sum(ends[d] == node for d in slots)
    block[lists : lists + len(slots)] = slots
    if node != ROOT:
        beyond = open_at[int(model.tree.parent[node])]
        block[at.NODE_OWN_SLOT] = beyond.index(int(model.tree.dof[node]))
        for k, d in enumerate(slots):
            if ends[d] != node:
                block[places + k] = beyond.index(d)
    return block
