"""What a feedforward needs of a model, worked out once: springs, shares, number of rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.balancer_packing import packed_balancers
from geared_dynamics.dynamics.drives import pack_drives
from geared_dynamics.dynamics.elastic.extended import extended
from geared_dynamics.dynamics.elastic.feedforward_checks import (
    refuse_damping,
    refuse_unfit,
)
from geared_dynamics.dynamics.elastic.motors import motor_torques
from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.dynamics.elastic.triangular import depths
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError, UnknownNameError
from geared_dynamics.kernels import drive_layout
from geared_dynamics.kernels import flatness_layout as at
from geared_dynamics.model import GearedModel

Method = Literal["reduced", "expanded", "exact"]
MOST_ROUNDS = 80  # 2 rounds + 4 rows of q: what factorials in float64 allow


@dataclass(frozen=True, eq=False)
class Plan:
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


def plan_of(model: GearedModel, method: Method, order: int | None) -> Plan:
    """Return the plan, made at first use and kept on the model."""
    kept = model.flatness
    if kept is None:
        kept = {}
        # Derived from frozen fields, as the packed model is.
        object.__setattr__(model, "flatness", kept)
    try:
        return cast("Plan", kept[method, order])
    except (KeyError, TypeError):
        pass  # not made yet, or arguments that nothing can be looked up by
    plan = make_plan(model, method, order)
    kept[method, order] = plan
    return plan


def make_plan(model: GearedModel, method: Method, order: int | None) -> Plan:
    """Check model and method, lay out what the kernels read."""
    if not isinstance(method, str) or method not in get_args(Method):
        raise UnknownNameError("method", "feedforward", method, get_args(Method))
    refuse_order(method, order)
    arm = extended(model)  # refuses an arm without springs
    refuse_unfit(model)
    if method != "expanded":
        refuse_damping(model, method)
    if method == "reduced" and model.elastic_model == "complete":
        arm = extended(model.with_elasticity("uncoupled"))
    rounds = order or 1
    if method == "exact":
        rounds = 1 + max(depths(model))
    plan = pack_plan(model, rounds)
    drives = drives_behind_springs(model, arm)
    return Plan(2 * rounds + 3, packed(arm), plan, readonly(drives))


def refuse_order(method: Method, order: int | None) -> None:
    """Raise unless the order belongs to the method and is a small whole number."""
    if order is None:
        return
    if method != "expanded":
        finding, remedy = f"has no meaning for method {method!r}", "leave it out"
        raise ArrayError("order", finding, remedy)
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)):
        raise ArrayError("order", f"is {order!r}", "give a whole number from 1 on")
    if not 1 <= order <= MOST_ROUNDS:
        raise ArrayError("order", f"is {order}", f"give 1 to {MOST_ROUNDS}; 1 or 2 serve practice")


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


def shares_behind_springs(model: GearedModel) -> Array:
    """What each motor gives per force on x (n + n_e, m)."""
    unit = np.eye(model.n + model.elasticity.joint.size)
    return motor_torques(model, unit[:, : model.n], unit[:, model.n :])


def drives_behind_springs(model: GearedModel, arm: GearedModel) -> Array:
    """Drives whose motors' rows read x = (q, theta)."""
    drives = pack_drives(arm).copy()
    size, count = arm.n, len(model.motor_names)
    start, width = int(drives[drive_layout.MOTORS]), int(drives[drive_layout.MOTOR_SIZE])
    blocks = drives[start : start + count * width].reshape(count, width)
    blocks[:, drive_layout.ROWS : drive_layout.ROWS + size] = structure_matrix(model).T
    blocks[:, drive_layout.ROWS + size :] = shares_behind_springs(model).T
    if arm.elastic_model != "complete":
        blocks[:, drive_layout.COUPLED] = 0.0
    return drives
