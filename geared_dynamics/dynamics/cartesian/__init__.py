"""The arm in redundant Cartesian coordinates: every body with velocities of its own.

Melhem 2001 with the gyroscopic terms that its print leaves out. It is the same mechanics as
the functions of ``elastic`` and the rigid ones, in other coordinates. Formulas, order of the
coordinates and sources: docs/cartesian.md.
"""

from geared_dynamics.dynamics.cartesian.coordinates import coordinate_names
from geared_dynamics.dynamics.cartesian.equations import (
    CartesianModel,
    Forces,
    Motion,
    accelerations,
    dynamics,
)
from geared_dynamics.dynamics.cartesian.properties import Properties, left_inverse, properties

__all__ = [
    "CartesianModel",
    "Forces",
    "Motion",
    "Properties",
    "accelerations",
    "coordinate_names",
    "dynamics",
    "left_inverse",
    "properties",
]
