"""End stops: the position limits of the joints as rigid, inelastic stops.

    gap = S q - b >= 0

A joint that reaches a stop loses its velocity towards it. The impulse p >= 0 of the stops is the
one of the least kinetic energy, so it only takes energy away:

    v+ = v + M^-1 S' p,   S v+ >= 0,   p' S v+ = 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, IntArray
from geared_dynamics.model import GearedModel


@dataclass(frozen=True, eq=False)
class Stops:
    """End stops, s of them.

    Attributes:
        rows: Rate of the gap per rate of the joints (s, n).
        bound: Value of ``rows @ q`` at the stop (s,) [rad or m].
    """

    rows: Array
    bound: Array

    def placed(self, q: Array) -> Stops:
        """Return the stops of an arm that starts at q (n,): none is inside of it.

        A joint that starts beyond a limit has its stop where it starts.
        """
        return Stops(self.rows, np.minimum(self.bound, self.rows @ q))

    def gap(self, q: Array) -> Array:
        """Return the distance to each stop (s,) [rad or m]; negative beyond it."""
        return np.asarray(self.rows @ q - self.bound)

    def beyond(self, q: Array) -> IntArray:
        """Return the stops that a position (n,) is beyond."""
        return np.asarray((self.rows @ q < self.bound).nonzero()[0])


def stops_of(model: GearedModel, wanted: bool = True) -> Stops:
    """Return the stops of a model: the limits of its joints, those of mimic joints included.

    Continuous joints, joints without limits and limits that leave no range have none.

    Args:
        model: Geared model.
        wanted: False: no stops.
    """
    tree, rows, bound = model.tree, [], []
    for body, low, high in position_limits(model) if wanted else ():
        row = np.zeros(model.n)
        row[tree.dof[body]] = tree.multiplier[body]
        for sign, limit in ((1.0, low), (-1.0, high)):
            if np.isfinite(limit):
                rows.append(sign * row)
                bound.append(sign * (limit - tree.offset[body]))
    return Stops(np.reshape(rows, (-1, model.n)), np.array(bound))


def position_limits(model: GearedModel) -> list[tuple[int, float, float]]:
    """Return the body in ``model.tree``, the lower and the upper limit of each joint with limits.

    A limit that is not given is infinite.
    """
    joints = {joint.child: joint for joint in model.robot.joints}
    found = []
    for body, name in enumerate(model.tree.names):
        joint = joints[name]
        if joint.kind == "continuous" or joint.limit is None:
            continue
        low = -np.inf if joint.limit.lower is None else joint.limit.lower
        high = np.inf if joint.limit.upper is None else joint.limit.upper
        if low < high:
            found.append((body, float(low), float(high)))
    return found
