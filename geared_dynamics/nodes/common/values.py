"""From parameter values to arrays, and to a model with its payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import ParameterError, Values
from geared_dynamics.nodes.common.payload_limit import refuse_too_heavy

AXES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def numbers(values: Values, pattern: str, names: Sequence[str]) -> Array:
    """A parameter's values for several joints or motors; ``{}`` stands for the name."""
    return np.array([cast(float, values[pattern.format(name)]) for name in names], np.float64)


def signs(values: Values, pattern: str, names: Sequence[str]) -> Array:
    """Signs, which are not zero."""
    found = numbers(values, pattern, names)
    if not np.all(np.abs(found) == 1.0):
        name = pattern.format(names[int(np.argmin(np.abs(found)))])
        raise ParameterError(name, "is 0", "give 1 or -1")
    return found


def loaded(model: GearedModel, values: Values) -> GearedModel:
    """The model with the payload."""
    mass = cast(float, values["payload.mass"])
    com = cast("list[float]", values["payload.center_of_mass"])
    six = cast("list[float]", values["payload.inertia"])
    for name, found, wanted in (("center_of_mass", com, 3), ("inertia", six, 6)):
        if len(found) != wanted:
            finding = f"has {len(found)} numbers"
            raise ParameterError(f"payload.{name}", finding, f"give {wanted}")
    if mass == 0.0:
        if any(six):
            remedy = "give payload.mass as well, in the same step"
            raise ParameterError("payload.inertia", "is that of a load without mass", remedy)
        return model
    tensor = np.zeros((3, 3))
    for (row, column), value in zip(AXES, six, strict=True):
        tensor[row, column] = tensor[column, row] = value
    refuse_too_heavy(model, values, tensor)
    return model.with_payload(mass, com, tensor, link=str(values["payload.link"]) or None)
