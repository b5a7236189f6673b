"""Order of the model's parameters: the columns of the regressor.

Body by body its ten parameters, then the wheels whose last driven coordinate is
that body's. For a serial arm with each motor before its joint this is the order
that makes the regressor block upper-triangular (paper 000, eq. 31-34).
"""

from dataclasses import dataclass

import numpy as np

from geared_dynamics.model import GearedModel

BODY_PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True)
class Columns:
    """First column of each body's ten, and the column of each wheel."""

    bodies: tuple[int, ...]
    wheels: tuple[int, ...]
    count: int


def columns_of(model: GearedModel) -> Columns:
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
    return Columns(tuple(bodies), tuple(wheels), count)


def wheel_homes(model: GearedModel) -> list[int]:
    """Body after which each wheel's parameter comes: the last of those it follows.

    Only a coordinate's own body counts, not its mimics; a wheel that follows frozen
    joints only never spins and comes last. A coordinate behind a spring counts as its joint.
    """
    child = {joint.name: joint.child for joint in model.robot.joints}
    joints = model.elasticity.link_spin.shape[1]
    own = [model.tree.names.index(child[name]) for name in model.joint_names[:joints]]
    own += [max(own[j] for j in np.flatnonzero(row)) for row in model.elasticity.rigid]
    last = len(model.tree.names) - 1
    return [max((own[d] for d in np.flatnonzero(row)), default=last) for row in model.Gamma]
