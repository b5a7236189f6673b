"""Known forces on the joints."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.balancers import balancer_forces
from geared_dynamics.model import GearedModel


def outside(model: GearedModel, tau: Array, mean: Array) -> Array:
    """Known force on the joints with that of the balancers at a state's q (n,)."""
    if model.drivetrain.balancers:
        return np.asarray(tau + balancer_forces(model, np.ascontiguousarray(mean[: model.n])))
    return tau
