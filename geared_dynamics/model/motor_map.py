"""Between joints and motors: structure matrix, its inverse, and motors that repeat others."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geared_dynamics.arrays import Array, Frozen, readonly
from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model.facts import Follow
from geared_dynamics.model.gears.solve import quoted

# What rounded ratios leave of two terms that cancel, relative to these.
ROUNDED = 1e-9

# -- Between joints and motors --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MotorMap(Frozen):
    """Between the coordinates x (N,) and the motors (m,): tau = A tau_m, phi = A' x + zeros.

    x is q, or (q, theta) of an arm whose springs are coordinates (``GearedModel.with_springs``).

    Attributes:
        A: Structure matrix (N, m) [1 or rad/m].
        zeros: What each motor's encoder shows at x = 0 (m,) [rad].
        rank: Of A, the same in all units.
        inverse: A^+ (m, N): the motor torques of least norm that give a force on the
            coordinates, or come nearest to it (least squares) where motors are missing; and
            its transpose the coordinates that the motors show.
    """

    A: Array
    zeros: Array
    rank: int
    inverse: Array

    @property
    def complete(self) -> bool:
        """Whether the motors move, and show, every coordinate independently."""
        return self.rank == len(self.A)

    def coordinates(self, phi: Array) -> Array:
        """Coordinates x (..., N) that the motors' angles phi (..., m) show."""
        return np.asarray((phi - self.zeros) @ self.inverse)


def motor_map(A: Array, zeros: Array) -> MotorMap:
    """Make the map of a structure matrix.

    Args:
        A: Structure matrix (N, m).
        zeros: The encoders' zeros (m,).
    """
    driven = np.flatnonzero(A.any(axis=1))
    inverse, found = np.zeros(A.shape[::-1]), rank(A)
    inverse[:, driven] = least_norm_inverse(A[driven], found)
    return MotorMap(readonly(A), readonly(zeros), found, readonly(inverse))


def least_norm_inverse(A: Array, found: int) -> Array:
    """Inverse (m, k) of A (k, m) of a known rank: of least norm, of least squares, or both."""
    if found == A.shape[0]:
        return least_norm(A)
    if found == A.shape[1]:
        return least_norm(A.T).T
    return np.asarray(np.linalg.pinv(A))


def least_norm(A: Array) -> Array:
    """S (m, k) with A S = 1, of least norm; units of very different size lose nothing.

    Scaling a row does not change which solution is the least, scaling a column would; of a
    square matrix there is only one.

    Args:
        A: A matrix of full row rank (k, m).
    """
    rows, columns = scales(A)
    if A.shape[0] == A.shape[1]:
        return columns[:, None] * np.linalg.inv(rows[:, None] * A * columns) * rows
    Q, R = np.linalg.qr((rows[:, None] * A).T)
    return np.asarray(Q @ np.linalg.inv(R).T * rows)


# -- Whether motors turn with different combinations of the joints, whatever the units ------------


def refuse_dependent(
    A: Array, held: Array, wheels: Sequence[str], joints: Sequence[str], source: str
) -> None:
    """Raise where motors turn with fewer combinations of the joints than their ratios could.

    Joints without motors, motors that share a joint, and fewer motors than joints are no
    mistake: they bound the rank whatever the ratios. Below that bound it is their values
    that coincide, as of two motors that both turn with j1 + j2. Motors that differ in a joint
    which is held still, for a while perhaps, are no mistake either.

    Args:
        A: Structure matrix (n, m).
        held: The same for joints that were frozen (frozen, m).
        wheels: The motors' wheels (m,).
        joints: Names of the coordinates (n,).
        source: The drivetrain file, for errors.
    """
    whole = np.vstack([A, held])

    def repeat(motors: list[int]) -> bool:
        """Whether some of the motors repeat each other, with and without the frozen joints."""
        return deficient(A[:, motors]) and deficient(whole[:, motors])

    few = list(range(len(wheels)))
    if not repeat(few):
        return
    for motor in tuple(few):  # the least set that is deficient by itself
        others = [k for k in few if k != motor]
        if repeat(others):
            few = others
    moved = [name for name, row in zip(joints, A[:, few], strict=True) if row.any()]
    finding = (
        f"{quoted(wheels[k] for k in few)} repeat each other: their ratios to"
        f" {quoted(moved, 'joint')} make a structure matrix of rank {rank(A[:, few])},"
        f" not {structural_rank(A[:, few])}"
    )
    remedy = "correct the ratios, or leave out the motors that repeat others"
    raise ModelError(f"{source}, motors", finding, remedy)


def refuse_idle(
    A: Array,
    held: Array,
    drivetrain: DrivetrainRecord,
    follow: Mapping[str, Follow],
) -> None:
    """Raise for a motor that turns with no joint, neither a movable nor a frozen one.

    Its ratios are zero, or those to a joint and to one that mimics it cancel: then what
    rounding leaves of their sum is zero, too.

    Args:
        A: Structure matrix (n, m).
        held: The same for joints that were frozen (frozen, m).
        drivetrain: Its motors, m of them, and every wheel's spin.
        follow: How movable joints follow coordinates.
    """
    spins = {spin.wheel: spin for spin in drivetrain.spins}
    for k, motor in enumerate(drivetrain.motors):
        terms = np.zeros(A.shape[0])
        for joint, ratio in spins[motor.wheel].coefficients:
            if joint in follow:
                terms[follow[joint].dof] += abs(ratio * follow[joint].multiplier)
        if np.all(np.abs(A[:, k]) <= ROUNDED * terms) and not held[:, k].any():
            named = quoted((joint for joint, _ in spins[motor.wheel].coefficients), "joint")
            finding = f"its wheel {motor.wheel!r} turns with no joint: the ratios to {named}"
            remedy = "correct the ratios, or leave the motor out"
            place = f"{drivetrain.source}, motors.{motor.name}"
            raise ModelError(place, f"{finding} add up to zero", remedy)


def held_ratios(
    drivetrain: DrivetrainRecord, wheels: Sequence[str], frozen: frozenset[str]
) -> Array:
    """Ratios of wheels to the joints that were frozen (frozen, wheels) [1 or rad/m]."""
    ratios = {spin.wheel: dict(spin.coefficients) for spin in drivetrain.spins}
    rows = [[ratios[wheel].get(joint, 0.0) for wheel in wheels] for joint in sorted(frozen)]
    return np.array(rows, float).reshape(len(frozen), len(wheels))


def deficient(A: Array) -> bool:
    """Whether the rank is below what the places of the nonzero elements allow."""
    return rank(A) < structural_rank(A)


def rank(A: Array) -> int:
    """Rank of a matrix, the same in all units of its rows and columns.

    The sum of the ranks of parts that share neither rows nor columns: an arm with a motor for
    each joint falls into as many of them, and costs no more than they do.
    """
    scaled = A * np.multiply.outer(*scales(A))
    return sum(rank_of_part(scaled[np.ix_(rows, columns)]) for rows, columns in parts(A))


def parts(A: Array) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the parts of a matrix that nonzero elements connect.

    Rows and columns that are zero are in none.
    """
    rows, columns = (index.tolist() for index in np.nonzero(A))
    columns_of: dict[int, list[int]] = {}
    rows_of: dict[int, list[int]] = {}
    for row, column in zip(rows, columns, strict=True):
        columns_of.setdefault(row, []).append(column)
        rows_of.setdefault(column, []).append(row)
    found = []
    while columns_of:
        waiting, part = [next(iter(columns_of))], (set[int](), set[int]())
        while waiting:
            row = waiting.pop()
            part[0].add(row)
            for column in columns_of.pop(row, ()):
                part[1].add(column)
                waiting += rows_of.pop(column, ())
        found.append((sorted(part[0]), sorted(part[1])))
    return found


def rank_of_part(scaled: Array) -> int:
    """Rank of a matrix whose rows and columns have largest elements near 1.

    Elimination in which an element is zero if it is what rounding leaves of the terms that
    it was summed from, and not if it is merely small.
    """
    left, terms = scaled, np.abs(scaled)
    most: int = min(scaled.shape)
    for found in range(most):
        size = np.where(np.abs(left) > ROUNDED * terms, np.abs(left), 0.0)
        i, j = np.unravel_index(int(np.argmax(size)), size.shape)
        if not size[i, j] > 0.0:
            return found
        factor = left[:, j] / left[i, j]
        left, terms = (
            left - np.multiply.outer(factor, left[i]),
            terms + np.multiply.outer(np.abs(factor), terms[i]),
        )
        left, terms = (np.delete(np.delete(x, i, 0), j, 1) for x in (left, terms))
    return most


def scales(A: Array) -> tuple[Array, Array]:
    """Factors of rows (n,) and columns (m,) after which each has a largest element near 1."""
    rows = inverse(np.abs(A).max(axis=1, initial=0.0))
    return rows, inverse(np.abs(rows[:, None] * A).max(axis=0, initial=0.0))


def inverse(size: Array) -> Array:
    """Powers of 2 next to 1 / size, which multiply without rounding; 1 for zero."""
    _, power = np.frexp(np.where(size > 0.0, size, 0.5))
    return np.asarray(np.ldexp(1.0, -power))


def structural_rank(A: Array) -> int:
    """Largest rank that a matrix with these nonzero elements can have: a matching."""
    joints_of: list[list[int]] = [[] for _ in range(A.shape[1])]
    for joint, motor in zip(*(index.tolist() for index in np.nonzero(A)), strict=True):
        joints_of[motor].append(joint)
    motor_of: dict[int, int] = {}
    return sum(seated(motor, joints_of, motor_of) for motor in range(A.shape[1]))


def seated(motor: int, joints_of: list[list[int]], motor_of: dict[int, int]) -> bool:
    """Give a motor a joint of its own, moving others to further joints; False if it gets none.

    Args:
        motor: Which one.
        joints_of: Joints that each motor turns with.
        motor_of: Whose each joint is; changed.
    """
    asked: dict[int, int] = {}  # joint -> motor that would take it
    before: dict[int, int] = {}  # motor -> joint that it would leave
    waiting = deque([motor])
    while waiting:
        one = waiting.popleft()
        for joint in joints_of[one]:
            if joint in asked:
                continue
            asked[joint] = one
            if joint in motor_of:
                before[motor_of[joint]] = joint
                waiting.append(motor_of[joint])
                continue
            while True:  # everybody on the way here moves on by one
                taker = asked[joint]
                motor_of[joint] = taker
                if taker == motor:
                    return True
                joint = before[taker]
    return False
