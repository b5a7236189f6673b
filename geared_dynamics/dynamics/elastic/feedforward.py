"""What motors of elastic joints must do so that the links follow a path: flatness.

Formulas, and which derivatives each method needs: docs/feedforward.md.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.dynamics.balancer_packing import refuse_balancer
from geared_dynamics.dynamics.border import as_input, refuse
from geared_dynamics.dynamics.elastic.feedforward_plan import Method, Plan, plan_of
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import flatness_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.balancer_layout import FAULT
from geared_dynamics.model import GearedModel

FLOAT = np.dtype(np.float64)
FRICTIONLESS = readonly([])


class Feedforward:
    """Motion of the shafts (..., n_e), joint side, and the motors' torque (..., m)."""

    __slots__ = ("_shafts", "_values")

    def __init__(self, values: Array, shafts: int) -> None:
        """Wrap the kernel's result (..., 3 n_e + m)."""
        self._values = values
        self._shafts = shafts

    def __repr__(self) -> str:
        """Show position and torque."""
        return f"Feedforward(theta={self.theta}, tau_m={self.tau_m})"

    @property
    def theta(self) -> Array:
        """Position of the shafts behind the springs (..., n_e) [rad or m], joint side."""
        return self._values[..., : self._shafts]

    @property
    def vtheta(self) -> Array:
        """Their velocity (..., n_e)."""
        return self._values[..., self._shafts : 2 * self._shafts]

    @property
    def atheta(self) -> Array:
        """Their acceleration (..., n_e)."""
        return self._values[..., 2 * self._shafts : 3 * self._shafts]

    @property
    def tau_m(self) -> Array:
        """Torque at each motor's shaft (..., m) [N m], motor side, lossless gears."""
        return self._values[..., at.MOTION_ROWS * self._shafts :]


def feedforward(
    model: GearedModel,
    derivatives: ArrayLike,
    method: Method = "reduced",
    order: int | None = None,
    *,
    friction: bool = False,
) -> Feedforward:
    """Motion of the shafts and torque of the motors for a motion of the links.

    Algebraic: no differential equation is solved and no difference taken. Rigid joints and
    motors that turn with several joints are taken along, and the arm's balancers.

    Args:
        model: Geared model with elastic joints.
        derivatives: Joint position and its time derivatives (..., k+1, n): rows q, v, a, jerk
            and on [rad/s^i or m/s^i], k at least ``derivatives_needed``; more are not looked at.
        method: ``reduced`` is exact for the arm with S = 0 (``uncoupled``), k = 4.
            ``expanded`` is that of the model as it is, in powers of S, of the springs'
            compliance 1/K and of D/K, k = 2 order + 2. ``exact`` solves the model as it is
            joint by joint, where S is strictly triangular; k = 2 n + 2 or less.
        order: Of ``expanded``; 1 if not given.
        friction: Whether joint friction counts, with the smooth law of ``friction_forces``.

    Raises:
        ArrayError: if the path has too few derivatives.
        ModelError: if the springs are damped (``reduced`` and ``exact``), S is not strictly
            triangular (``exact``), a joint is passive or has backlash, the motors cannot turn
            all shafts and rigid joints, or a balancer has no force at a posture.

    References:
        A. De Luca, "Feedforward/feedback laws for the control of flexible robots", ICRA 2000.
    """
    plan = plan_of(model, method, order)
    drives = plan.drives if friction else FRICTIONLESS
    count = int(plan.plan[at.SHAFTS])
    width = at.MOTION_ROWS * count + len(model.motor_names)
    try:
        flat = np.empty(width)
        if derivatives.dtype is FLOAT and derivatives.shape == (plan.rows, model.n):  # type: ignore[union-attr]
            path = derivatives.reshape(-1)  # type: ignore[union-attr]
            if kernels.elastic_feedforward(plan.packed, plan.plan, drives, path, flat) == 0:
                return Feedforward(flat, count)
    except kernels.NOT_TAKEN:
        pass  # not a plain float64 array: convert it below
    path = enough(model, derivatives, plan, method, plan.rows)
    return Feedforward(run("elastic_feedforward", model, plan, drives, path, width), count)


def derivatives_needed(
    model: GearedModel, method: Method = "reduced", order: int | None = None
) -> int:
    """Highest time derivative of q that ``feedforward`` reads: 4 of ``reduced``.

    With that many continuous derivatives the motors' torque is continuous.

    Args:
        model: Geared model with elastic joints.
        method: As of ``feedforward``.
        order: Likewise.
    """
    return plan_of(model, method, order).rows - 1


def enough(
    model: GearedModel, derivatives: ArrayLike, plan: Plan, method: str, rows: int
) -> Array:
    """Convert the path to float64 (..., rows, n), surplus rows cut off."""
    n = model.n
    path = as_input("derivatives", derivatives, n)
    shape = f"(..., {plan.rows}, {n})"
    if path.ndim < 2:
        remedy = f"give shape {shape}: q and its time derivatives, row by row"
        raise ArrayError("derivatives", f"has shape {path.shape}", remedy)
    if path.shape[-2] < plan.rows:
        finding = (
            f"has shape {path.shape}, derivatives of q up to order {path.shape[-2] - 1}; method "
            f"{method!r} needs them up to order {plan.rows - 1} of this arm"
        )
        remedy = f"give shape {shape} from a reference that is smooth enough (gd.trajectory)"
        raise ArrayError("derivatives", finding, remedy)
    return path[..., :rows, :]


def run(
    name: str, model: GearedModel, plan: Plan, drives: Array, path: Array, width: int
) -> Array:
    """Run a kernel over one path (rows, n) or a batch of them; refuse what it refuses."""
    lead, flat_width = path.shape[:-2], path.shape[-2] * path.shape[-1]
    result = np.empty((*lead, width))
    if not result.size:
        return result
    # A strided path is copied here.
    flat = path.reshape(*((result.size // width,) if lead else ()), flat_width)
    target = result.reshape((*flat.shape[:-1], width))
    status = getattr(kernels, name)(plan.packed, plan.plan, drives, flat, target)
    if status >= FAULT:
        refuse_balancer(status, model, path[..., 0, :])
    if status != layout.OK:
        refuse(status, {"derivatives": path}, result)
    return result
