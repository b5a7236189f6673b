"""Where the model comes from: parameter, file or topic, and the drivetrain beside it."""

from __future__ import annotations

import warnings
from typing import cast

from geared_dynamics.description import xml_input, yaml_input
from geared_dynamics.description.source import NamedBytes
from geared_dynamics.errors import GearedDynamicsWarning
from geared_dynamics.load import load_model
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import ParameterError, Values

WAITING = "publish it there, or set the parameter robot_description or urdf_path"


def needs_topic(values: Values) -> bool:
    """Whether the URDF has to come from the topic."""
    return not values["robot_description"] and not values["urdf_path"]


def load(values: Values, published: str | None) -> GearedModel:
    """Load the model that the parameters describe.

    Args:
        values: The parameters.
        published: What the topic brought last; None if nothing.

    Raises:
        GearedDynamicsError: what is wrong with the description.
    """
    source = urdf(values, published)
    locked = cast("list[str]", values["locked_joints"])
    lock = positions(locked, cast("list[float]", values["locked_positions"]))
    joints = cast("list[str]", values["joints"])
    with warnings.catch_warnings():  # the model's notes say the same, for the log
        warnings.simplefilter("ignore", GearedDynamicsWarning)
        return load_model(
            source,
            drivetrain(values),
            gravity=cast("list[float]", values["gravity"]),
            joints=joints or None,
            lock=lock or None,
        )


def drivetrain(values: Values) -> str | bytes | None:
    """The drivetrain: text from the parameter, a regular file's content, or None."""
    given = str(values["drivetrain"]).strip()
    if not given or yaml_input.is_text(given):
        return given or None
    limit = yaml_input.SIZE_LIMIT
    return NamedBytes.of_file(given, "drivetrain file", limit, regular=True)


def urdf(values: Values, published: str | None) -> str | bytes:
    """The URDF: text from the parameter, a regular file's content, or text from the topic."""
    text, path = str(values["robot_description"]), str(values["urdf_path"])
    if text and path:
        remedy = "leave one of the two empty"
        raise ParameterError("urdf_path", "is given beside robot_description", remedy)
    if path:
        return NamedBytes.of_file(path, "URDF file", xml_input.SIZE_LIMIT, regular=True)
    place = "robot_description" if text else str(values["robot_description_topic"])
    found = text or published
    if found is None:
        raise ParameterError(place, "nothing was published on this topic yet", WAITING)
    if not found.lstrip().startswith("<"):  # never a path: anybody may publish
        raise ParameterError(place, "is no XML", "give the URDF's text, or set urdf_path")
    return found


def positions(names: list[str], values: list[float]) -> dict[str, float]:
    """Where the locked joints are."""
    if values and len(values) != len(names):
        finding = f"has {len(values)} numbers, locked_joints {len(names)} names"
        raise ParameterError("locked_positions", finding, "give one for each, or none")
    return dict(zip(names, values or [0.0] * len(names), strict=True))
