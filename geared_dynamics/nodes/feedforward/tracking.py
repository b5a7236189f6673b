"""How far the arm may be from its reference: given, as in a JTC's file, or by default."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import ParameterError, Values
from geared_dynamics.nodes.common.values import numbers

ANGLE, LENGTH = 0.2, 0.05  # [rad], [m], where the node closes the loop and nothing is given
PATTERN = "constraints.{}.trajectory"
# Given in every JTC's parameter file, and without effect here: what such a file leaves out is
# what a JTC takes for it.
JTC_MARKS = ("command_interfaces", "state_interfaces", "type")


def tracking_of(values: Values, model: GearedModel) -> Array:
    """Largest position errors (n,) [rad or m], infinite for none.

    Args:
        values: The parameters. NaN is not given, 0 is any error.
        model: Whose joints they are for.

    Raises:
        ParameterError: for a negative one.
    """
    given = numbers(values, PATTERN, model.joint_names)
    for name, value in zip(model.joint_names, given.tolist(), strict=True):
        if value < 0.0:
            remedy = "give a tolerance above zero, 0 for any error, or NaN for the default"
            raise ParameterError(PATTERN.format(name), f"is {value:g}", remedy)
    usual = np.where(of_a_jtc(values), 0.0, default_of(values, model))
    found = np.where(np.isnan(given), usual, given)
    return np.where(found > 0.0, found, np.inf)


def default_of(values: Values, model: GearedModel) -> Array:
    """Tolerances where none are given (n,): 0 where somebody else closes the loop."""
    if values["mode"] != "computed_torque":
        return np.zeros(model.n)
    kinds = {joint.name: joint.kind for joint in model.robot.joints}
    sliding = [kinds[name] == "prismatic" for name in model.joint_names]
    return np.where(sliding, LENGTH, ANGLE)


def of_a_jtc(values: Values) -> bool:
    """Whether the parameters are those of a joint trajectory controller."""
    return any(bool(values[name]) for name in JTC_MARKS)


def untracked(values: Values, model: GearedModel) -> list[str]:
    """A line where the node closes the loop of joints that may be anywhere, unasked."""
    if values["mode"] != "computed_torque":
        return []
    silent = np.isnan(numbers(values, PATTERN, model.joint_names))
    free = silent & ~np.isfinite(tracking_of(values, model))
    names = [name for name, is_free in zip(model.joint_names, free, strict=True) if is_free]
    if not names:
        return []
    remedy = f"set {PATTERN.format('<joint>')}, {ANGLE:g} rad or {LENGTH:g} m by default"
    finding = f"position errors of {', '.join(names)} stop nothing, as in a JTC without tolerances"
    return [f"{finding}; {remedy}"]
