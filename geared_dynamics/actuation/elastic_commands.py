"""Motor commands of arms with elastic joints."""

from __future__ import annotations

from geared_dynamics.actuation.motor_commands import MotorCommands
from geared_dynamics.arrays import ArrayLike
from geared_dynamics.dynamics.elastic.flatness import Method, enough, plan_of, run
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
    gears' losses, balancers, limits. ``saturate`` takes the result. With one derivative more than
    ``derivatives_needed`` the current's derivative follows exactly; without it the current is
    taken as steady: L di/dt is left out of the voltage.

    Args:
        model: Geared model with elastic joints.
        derivatives: Joint position and its time derivatives (..., k+1, n), as of
            ``feedforward``.
        method: As of ``feedforward``.
        order: Order of the method ``expanded``.

    Raises:
        ArrayError: as ``feedforward``.
        ModelError: as ``feedforward``.

    References:
        Vukobratovic 2002, eq. (20.62)-(20.69); formulas in kernels.drive and kernels.flatness.
    """
    plan = plan_of(model, method, order)
    path = enough(model, derivatives, plan, method, plan.rows + 1)
    count = len(model.motor_names)
    values = run("elastic_motor_commands", model, plan, plan.drives, path, at.RESULT_ROWS * count)
    return MotorCommands(model, values.reshape(*path.shape[:-2], at.RESULT_ROWS, count))
