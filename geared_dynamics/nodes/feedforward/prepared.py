"""What a cycle reads and the user can change: one frozen value, exchanged as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from geared_dynamics.arrays import Array
from geared_dynamics.control import ElasticController
from geared_dynamics.control.safety import Policy
from geared_dynamics.model import GearedModel
from geared_dynamics.nodes.common.parameters import Values
from geared_dynamics.nodes.common.values import loaded
from geared_dynamics.nodes.feedforward.settings import (
    AnyController,
    controller_of,
    law_of,
    policy_of,
    rules_of,
)
from geared_dynamics.nodes.feedforward.tolerated import deceleration_of, tolerances_of
from geared_dynamics.trajectory import Rules, Tolerances

POLICY = ("safety.", "joint_limits.", "constraints.", "cmd_timeout", "output")


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a cycle reads.

    Attributes:
        bare: The model without payload.
        values: The parameters that all this was made from.
        control: The law, warmed up.
        policy: What is safe.
        rules: How trajectories are read.
        period: Given time between joint states [s]; 0: as measured.
        continued: Whether a new trajectory continues the old reference.
        elastic: Whether the arm is driven as one with elastic joints.
        clock_timeout: How long ROS time may stand still in a motion [s].
        tolerances: Of trajectories that bring none along.
        deceleration: With which a cancelled motion is stopped (n,); None: none is given.
        open_loop: Whether the law has no feedback.
    """

    bare: GearedModel
    values: Values
    control: AnyController
    policy: Policy
    rules: Rules
    period: float
    continued: bool
    elastic: bool
    clock_timeout: float
    tolerances: Tolerances
    deceleration: Array | None
    open_loop: bool


def prepared(
    values: Values,
    model: GearedModel,
    old: Prepared | None = None,
    carrying: GearedModel | None = None,
) -> Prepared:
    """Make all that a cycle reads; takes less than a millisecond once kernels are compiled.

    Args:
        values: The parameters.
        model: Without payload.
        old: What is in use: what did not change is taken over.
        carrying: The model with the payload, where it is made already.

    Raises:
        GearedDynamicsError: for parameters that do not go together.
    """
    rate = int(values["update_rate"])  # type: ignore[arg-type]
    same = old is not None and old.bare is model and not differ(old.values, values, POLICY)
    control = controller_of(values, carrying or loaded(model, values))
    return Prepared(
        bare=model,
        values=values,
        control=control,
        policy=old.policy if old is not None and same else policy_of(values, model),
        rules=rules_of(values, model),
        period=1.0 / rate if rate else 0.0,
        continued=bool(values["interpolate_from_desired_state"]),
        elastic=isinstance(control, ElasticController),
        clock_timeout=float(values["safety.clock_timeout"]),  # type: ignore[arg-type]
        tolerances=tolerances_of(values, model),
        deceleration=deceleration_of(values, model),
        open_loop=law_of(values) == "feedforward",
    )


def differ(before: Values, after: Values, beginnings: tuple[str, ...]) -> bool:
    """Whether a parameter whose name begins so was set."""
    return any(
        value is not before.get(name)
        for name, value in after.items()
        if name.startswith(beginnings)
    )
