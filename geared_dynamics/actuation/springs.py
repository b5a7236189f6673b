"""What the model's balancers give the joints; the one place where this room asks for it."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


def spring_forces(model: GearedModel, q: Array) -> Array:
    """Force of the balancers on the joints (..., n) [N m or N]."""
    refuse(model)
    return np.zeros(q.shape)


def refuse(model: GearedModel) -> None:
    """Refuse a model with balancers."""
    if model.balancers.names:
        place = f"{model.drivetrain.source}, balancers.{model.balancers.names[0]}"
        raise ModelError(place, "has no force here yet", "take the balancers out")
