"""Loads that the arm cannot hold, refused by the parameter's name."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.limits import extent, holdable_mass, weights
from geared_dynamics.model import GearedModel
from geared_dynamics.model.payload import tips
from geared_dynamics.nodes.common.parameters import ParameterError, Values


def refuse_too_heavy(model: GearedModel, values: Values, tensor: Array, link: str) -> None:
    """Refuse a payload that the command limits do not hold, or of impossible inertia.

    The largest mass is that whose weight the limits hold where its centre of mass is. With a
    ``payload.max_mass`` that is larger than this for a load at the link's origin, the limits
    count as larger in proportion. Neither the distance of the centre of mass nor the radius of
    gyration may exceed ``extent``.

    Args:
        model: Without the payload.
        values: The parameters.
        tensor: The payload's inertia about its centre of mass (3, 3) [kg m^2].
        link: In whose frame the payload is given.

    Raises:
        ParameterError: naming the parameter that is too large.
    """
    com = cast("list[float]", values["payload.center_of_mass"])
    mass, own = cast(float, values["payload.mass"]), cast(float, values["payload.max_mass"])
    most = holdable_mass(model, com, link)
    why = "whose weight the command limits hold there"
    if not math.isnan(own):
        usual = holdable_mass(model, link=link)
        if own > usual > 0.0:
            most *= own / usual
        if own < most:
            most, why = own, "of payload.max_mass"
    if mass > most:
        finding = f"is {mass:g} kg, above the {most:.3g} kg {why}"
        remedy = "check mass and centre of mass; on a robot that carries more, start the node "
        remedy += "with a larger payload.max_mass"
        raise ParameterError("payload.mass", finding, remedy)
    widest, away = extent(model), float(np.linalg.norm(com))
    if away > widest:
        finding = f"is {away:g} m away from the link, beyond the {widest:.3g} m of arm and tool"
        raise ParameterError("payload.center_of_mass", finding, "give it in metres")
    if np.abs(tensor).max() > mass * widest**2:
        finding = f"is that of {mass:g} kg more than {widest:.3g} m away from their centre"
        raise ParameterError("payload.inertia", finding, "give it in kg m^2")


def warm_up(model: GearedModel, values: Values) -> None:
    """Compute weights before the arm moves, where it is known which link carries a payload.

    Raises:
        ParameterError: for a ``payload.max_mass`` that is none.
    """
    own = cast(float, values["payload.max_mass"])
    if own < 0.0:
        remedy = "give a mass [kg], or NaN for what the command limits hold"
        raise ParameterError("payload.max_mass", f"is {own:g}", remedy)
    ends = [str(values["payload.link"])] if values["payload.link"] else tips(model)
    if len(ends) == 1:
        weights(model, ends[0])
