"""What motors of elastic joints must do so that the links follow a path: flatness.

Formulas, and which derivatives each method needs: docs/feedforward.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike, readonly
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.arguments import as_input, by_own_code, refuse
from geared_dynamics.dynamics.elastic.equations import (
    coriolis_matrix,
    mass_matrix,
    structure_matrix,
)
from geared_dynamics.dynamics.elastic.motors import drives_behind_springs, shares_behind_springs
from geared_dynamics.dynamics.packing import packed, packed_balancers, refuse_balancer
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError, shown
from geared_dynamics.kernels import flatness_layout as at
from geared_dynamics.kernels import layout
from geared_dynamics.kernels.balancer_layout import FAULT
from geared_dynamics.model import GearedModel

# -- In which order shafts can be solved: which equations contain the motion of which shafts ------


# S and the gyroscopic terms are analytic in the posture: they are zero everywhere where they
# are at a few random states. Relative to the shafts' momentum J Gamma_theta.
STATES, NOTHING = 4, 1e-10


def depths(model: GearedModel) -> list[int]:
    """How many shafts, one after the other, must be known before each shaft (n_e,).

    0 where the joint's equation holds no shaft's motion, else one more than the deepest
    shaft in it. Solvable by substitution means that no equation waits for its own shaft.

    Raises:
        ModelError: if S is not strictly triangular in any order of the joints.
    """
    heard = motor_side_coupling(model)
    found: dict[int, int] = {}
    while len(found) < len(heard):
        ready = [
            k
            for k in range(len(heard))
            if k not in found
            and all(other in found for other in np.flatnonzero(heard[k]).tolist())
        ]
        if not ready:
            refuse_circle(model, heard, found)
        level = {
            k: 1 + max([found[j] for j in np.flatnonzero(heard[k]).tolist()], default=-1)
            for k in ready
        }
        found |= level
    return [found[k] for k in range(len(heard))]


def motor_side_coupling(model: GearedModel) -> NDArray[np.bool_]:
    """Whether shaft k's own equation holds the motion of shaft l (n_e, n_e).

    That is, S_jl is not zero, or a force S' brings about with vtheta_l, in a row j that the
    spring of k carries.
    """
    arm, elastic, n = model.with_springs(), model.elasticity, model.n
    rows = elastic.joint
    momentum = np.abs(arm.wheels.inertia[:, None] * arm.wheels.spin[:, n:]).sum(axis=0)
    felt = np.zeros((rows.size, rows.size))
    random = np.random.default_rng(0)
    for q, v in random.uniform(-3.0, 3.0, (STATES, 2, n)):
        H = mass_matrix(model, q)[rows, n:]
        C = coriolis_matrix(model, State(q, v, vtheta=np.zeros(rows.size)))[rows, n:]
        felt = np.maximum(felt, np.maximum(np.abs(H), np.abs(C)))
    return np.asarray(linked(model) @ (felt > NOTHING * momentum) > 0)


def linked(model: GearedModel) -> Array:
    """1 where a link's row enters a shaft's equation through the springs (n_e, n_e)."""
    pull = model.elasticity.stretch[:, model.n :]
    stiffness = pull.T @ (model.elasticity.stiffness[:, None] * pull)
    return np.asarray(np.linalg.inv(stiffness) != 0.0, float)


def refuse_circle(model: GearedModel, heard: NDArray[np.bool_], found: dict[int, int]) -> None:
    """Name the joints whose equations wait for each other."""
    waiting = np.array([k not in found for k in range(len(heard))])
    # What only waits for the circle is peeled off from the other end.
    while True:
        needed = waiting & np.any(heard & waiting[:, None], axis=0)
        if np.array_equal(needed, waiting):
            break
        waiting = needed
    names = [model.joint_names[j] for j in model.elasticity.joint[waiting]]
    finding = f"the motor of {names[0]} accelerates its own link"
    if len(names) > 1:
        finding = f"motors accelerate each other's links ({', '.join(names)})"
    finding += ", so that S is not strictly triangular"
    remedy = "use method='expanded', or mount each motor before its joint"
    raise ModelError(f"{model.drivetrain_source}, wheels", finding, remedy)


# -- Elastic arms whose motors' motion does not follow from that of the links ---------------------


def refuse_unfit(model: GearedModel) -> None:
    """Raise for shafts without a joint, passive joints, backlash, motors beside their spring."""
    elastic, source = model.elasticity, model.drivetrain_source
    if elastic.shaft_spin.shape[1] != elastic.joint.size:
        finding = (
            "there are wheels between two springs, and feedforward supports one spring per joint"
        )
        remedy = "describe the compliance of each drive by the stiffness of its joint"
        raise ModelError(f"{source}, springs", finding, remedy)
    for j in elastic.passive:
        name = model.joint_names[j]
        finding = f"joint {name!r} is passive: its motion cannot be prescribed"
        remedy = "lock the joint when the model is loaded (lock=)"
        raise ModelError(f"{source}, joints.{name}.passive", finding, remedy)
    for k, gap in enumerate(elastic.gap):
        if gap > 0.0:
            d = int(np.flatnonzero(elastic.stretch[k, : model.n])[0])
            name = model.joint_names[d]
            finding = f"joint {name!r} has backlash: its motor would have to jump through it"
            raise ModelError(f"{source}, joints.{name}.backlash", finding, "remove the backlash")
    A = structure_matrix(model)
    for j in elastic.joint:
        for motor, ratio in zip(model.motor_names, A[j], strict=True):
            if ratio != 0.0:
                finding = f"it turns with the link of the elastic joint {model.joint_names[j]!r}"
                remedy = "put its wheel on the motor side of the spring (side: motor)"
                raise ModelError(f"{source}, motors.{motor}", finding, remedy)


def refuse_damping(model: GearedModel, method: str, remedy: str = "use method='expanded'") -> None:
    """Raise where a spring is damped: the shaft then solves a differential equation."""
    elastic = model.elasticity
    damped = np.any(elastic.stretch[elastic.damping > 0.0] != 0.0, axis=0)
    names = [
        name for name, is_so in zip(model.joint_names, damped[: model.n], strict=True) if is_so
    ]
    if names:
        finding = (
            f"the springs of {', '.join(names)} are damped, and method {method!r} supports only "
            "springs without damping"
        )
        remedy += ", or set joints.<name>.damping to 0"
        raise ModelError(f"{model.drivetrain_source}, joints.{names[0]}.damping", finding, remedy)


# -- What a feedforward needs of a model, worked out once: springs, shares, number of rounds ------


Method = Literal["reduced", "expanded", "exact"]
MOST_ROUNDS = 80  # 2 rounds + 4 rows of q: what factorials in float64 allow


@dataclass(frozen=True, eq=False)
class FeedforwardPlan:
    """A model's feedforward by one method.

    Attributes:
        rows: Rows of q and its derivatives that it needs.
        packed: The extended arm (see kernels.layout).
        plan: See kernels.flatness_layout.
        drives: Drives over x = (q, theta) (see kernels.drive_layout).
    """

    rows: int
    packed: Array
    plan: Array
    drives: Array


def plan_of(model: GearedModel, method: Method, order: int | None) -> FeedforwardPlan:
    """Return the plan, made at first use and kept on the model."""
    kept = model._forms.flatness
    try:
        return cast("FeedforwardPlan", kept[method, order])
    except (KeyError, TypeError):
        pass  # not made yet, or arguments that nothing can be looked up by
    plan = make_plan(model, method, order)
    kept[method, order] = plan
    return plan


def make_plan(model: GearedModel, method: Method, order: int | None) -> FeedforwardPlan:
    """Check model and method, lay out what the kernels read."""
    choice("method", "feedforward", method, get_args(Method))
    refuse_order(method, order)
    arm = model.with_springs()  # refuses an arm without springs
    refuse_unfit(model)
    if method != "expanded":
        refuse_damping(model, method)
    if method == "reduced" and model.elastic_model == "complete":
        arm = model.with_elasticity("uncoupled").with_springs()
    rounds = order or 1
    if method == "exact":
        rounds = 1 + max(depths(model))
    drives = readonly(drives_behind_springs(model, arm))
    return FeedforwardPlan(2 * rounds + 3, packed(arm), pack_plan(model, rounds), drives)


def refuse_order(method: Method, order: int | None) -> None:
    """Raise unless the order belongs to the method and is a small whole number."""
    if order is None:
        return
    if method != "expanded":
        raise ArrayError("order", f"has no meaning for method {method!r}", "leave it out")
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)):
        raise ArrayError("order", f"is {shown(order)}", "give a whole number from 1 on")
    if not 1 <= order <= MOST_ROUNDS:
        raise ArrayError(
            "order", f"is {shown(order)}", f"give 1 to {MOST_ROUNDS}; 1 or 2 are usual"
        )


def pack_plan(model: GearedModel, rounds: int) -> Array:
    """Springs, shares and balancers for the kernels (see kernels.flatness_layout)."""
    elastic = model.elasticity
    pull = elastic.stretch[:, model.n :]
    stiffness = pull.T @ (elastic.stiffness[:, None] * pull)
    damping = pull.T @ (elastic.damping[:, None] * pull)
    compliance = np.linalg.inv(stiffness)
    matrices = np.array([compliance, compliance @ damping, stiffness, damping])
    rows, columns = np.nonzero(np.any(matrices != 0.0, axis=0))
    springs = np.column_stack([rows, columns, *matrices[:, rows, columns]])
    share = shares_behind_springs(model)
    d, motor = np.nonzero(share)
    shares = np.column_stack([d, motor, share[d, motor]])
    header = np.zeros(at.HEADER_SIZE)
    header[at.JOINTS], header[at.SHAFTS] = model.n, elastic.joint.size
    header[at.MOTORS], header[at.ROUNDS] = len(model.motor_names), rounds
    start = at.HEADER_SIZE + elastic.joint.size
    header[at.JOINT], header[at.SPRINGS] = at.HEADER_SIZE, start
    header[at.SPRINGS_END] = header[at.SHARES] = start + springs.size
    header[at.SHARES_END] = start + springs.size + shares.size
    parts = [header, elastic.joint, springs.ravel(), shares.ravel()]
    if model.balancers.names:
        header[at.BALANCERS] = start + springs.size + shares.size
        parts.append(packed_balancers(model))
    return readonly(np.concatenate(parts))


# -- What motors of elastic joints must do so that the links follow a path: flatness --------------


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
        """Position of the motor side of the springs (..., n_e) [rad or m], joint side."""
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
    if model.joined_code and (method, order, friction) == ("reduced", None, False):
        path, size = enough(model, derivatives, plan, method, plan.rows), plan.rows * model.n
        given = {"derivatives": (path.reshape(*path.shape[:-2], size), size)}
        if (found := by_own_code(model, "elastic.feedforward", given)) is not None:
            return Feedforward(found, count)
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
        order: Order of the method ``expanded``.
    """
    return plan_of(model, method, order).rows - 1


def enough(
    model: GearedModel, derivatives: ArrayLike, plan: FeedforwardPlan, method: str, rows: int
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
    name: str, model: GearedModel, plan: FeedforwardPlan, drives: Array, path: Array, width: int
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
