"""From parameter values to arrays, and to a model with its payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.model.payload import PayloadFrame, payload_frame
from geared_dynamics.nodes.common.parameters import ParameterError, Values
from geared_dynamics.nodes.common.payload_limit import refuse_too_heavy
from geared_dynamics.numerals import plain

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


def payload_tensor(values: Values) -> Array:
    """Tensor (3, 3) of the payload about its centre of mass.

    Raises:
        ParameterError: If a list has the wrong length.
    """
    for name, wanted in (("center_of_mass", 3), ("inertia", 6)):
        found = cast("list[float]", values[f"payload.{name}"])
        if len(found) != wanted:
            finding = f"has {len(found)} numbers"
            raise ParameterError(f"payload.{name}", finding, f"give {wanted}")
    tensor = np.zeros((3, 3))
    for (row, column), value in zip(
        AXES, cast("list[float]", values["payload.inertia"]), strict=True
    ):
        tensor[row, column] = tensor[column, row] = value
    return tensor


def payload_place(model: GearedModel, values: Values) -> PayloadFrame:
    """The frame of the payload: that of ``payload.link``, or of the only tip.

    Raises:
        GearedDynamicsError: If there is no such link, or several tips and none is named.
    """
    return payload_frame(model, str(values["payload.link"]) or None, "payload.link")


def payload_words(model: GearedModel | None, values: Values) -> str:
    """What is carried, and where."""
    mass = cast(float, values["payload.mass"])
    if model is None or mass == 0.0:
        return "none"
    com = plain(cast("list[float]", values["payload.center_of_mass"]))
    return f"{mass:g} kg, centre of mass {com} m in the frame of {payload_place(model, values)}"


def loaded(model: GearedModel, values: Values) -> GearedModel:
    """The model with the payload."""
    mass, tensor = cast(float, values["payload.mass"]), payload_tensor(values)
    com = cast("list[float]", values["payload.center_of_mass"])
    if mass == 0.0:
        if tensor.any():
            remedy = "give payload.mass as well, in the same step"
            raise ParameterError("payload.inertia", "is that of a load without mass", remedy)
        return model
    frame = payload_place(model, values)
    refuse_too_heavy(model, values, tensor, frame.link)
    return model.with_payload(mass, com, tensor, link=frame.link)
