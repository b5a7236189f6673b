"""Motor commands of arms with elastic joints."""

from __future__ import annotations

from geared_dynamics.actuation.commands import MotorCommands
from geared_dynamics.arrays import ArrayLike
from geared_dynamics.dynamics.elastic.feedforward import enough, run
from geared_dynamics.dynamics.elastic.feedforward_plan import Method, plan_of
from geared_dynamics.errors import ModelError
from geared_dynamics.kernels import drive_layout as at
from geared_dynamics.model import GearedModel


def motor_commands(
    model: GearedModel,
    derivatives: ArrayLike,
    method: Method = "reduced",
    order: int | None = None,
) -> MotorCommands:
    """Torque, current and voltage of every motor for a motion of the links behind springs.

    As ``gd.motor_commands``: friction of joints (on v) and rotors (on their own speed), the
    gears' losses, limits. ``saturate`` takes the result. With one derivative more than
    ``derivatives_needed`` the current's derivative follows exactly; without it the current is
    taken as steady: L di/dt is left out of the voltage.

    Args:
        model: Geared model with elastic joints and without balancers.
        derivatives: Joint position and its time derivatives (..., k+1, n), as of
            ``feedforward``.
        method: As of ``feedforward``.
        order: Likewise.

    Raises:
        ArrayError: as ``feedforward``.
        ModelError: as ``feedforward``; if the arm has balancers.

    References:
        Paper 004, eq. (20.62)-(20.69); formulas in kernels.drive and kernels.flatness.
    """
    plan = plan_of(model, method, order)
    refuse_balancers(model)
    path = enough(model, derivatives, plan, method, plan.rows + 1)
    count = len(model.motor_names)
    values = run("elastic_motor_commands", plan, plan.drives, path, at.RESULT_ROWS * count)
    return MotorCommands(model, values.reshape(*path.shape[:-2], at.RESULT_ROWS, count))


def refuse_balancers(model: GearedModel) -> None:
    """Raise for springs between links, whose force has no derivatives of every order here."""
    balancers = model.drivetrain.balancers
    if balancers:
        place = f"{model.drivetrain.source}, balancers.{balancers[0].name}"
        finding = "elastic joints' commands do not count balancers"
        remedy = "take it out, or use the rigid motor_commands"
        raise ModelError(place, finding, remedy)
