"""Small vibrations about a posture: eigenfrequencies, shapes, and their decay."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.checks import choice
from geared_dynamics.dynamics.arguments import finite_input
from geared_dynamics.dynamics.elastic.equations import mass_matrix, spring_matrix
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel

Rotors = Literal["free", "held"]
STEP = 1e-3  # [rad or m]; of a fourth-order difference of sines, near the best of both errors
# Share of the largest square of a frequency that is rounding: a rigid-body mode's is zero.
ROUNDING = 1e-13


class Modes(NamedTuple):
    """Undamped modes, slowest first; k of them.

    Attributes:
        squares: Squared frequencies (k,) [1/s^2]: 0 moves without force, negative falls over.
        frequency: Their roots (k,) [rad/s], 0 where a square is not positive.
        hertz: The same (k,) [Hz].
        shapes: Columns (n + n_e, k) in x = (q, theta), scaled to shape' H shape = 1.
        damping_ratio: Share of the critical damping (k,) [1], as far as damping does not
            couple the modes; 0 where the frequency is.
    """

    squares: Array
    frequency: Array
    hertz: Array
    shapes: Array
    damping_ratio: Array


def modes(
    model: GearedModel, q: ArrayLike, *, rotors: Rotors = "free", gravity: bool = False
) -> Modes:
    """Eigenfrequencies and mode shapes at a posture: (K - omega^2 H) shape = 0.

    Play in the springs is taken as used up. Free rotors give n modes that are the rigid
    arm's (frequency 0 unless gravity counts) and n_e of the springs; held ones take away a
    mode for each shaft that a motor turns.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        rotors: ``free``: without torque; ``held``: the shafts that motors turn are fixed, as
            by brakes (all shafts where there are no motors).
        gravity: Whether dg/dq counts as a stiffness.

    Raises:
        ModelError: if the mass matrix is not positive definite.

    References:
        Melhem 2001, eq. (18)-(21), linearised.
    """
    H, K, D, free = linearised(model, q, rotors, gravity)
    # H = L L', y = L' x: the symmetric problem L^-1 K L^-T y = omega^2 y.
    L = np.linalg.cholesky(H)
    half = np.linalg.solve(L, K)
    squares, y = np.linalg.eigh(symmetric(np.linalg.solve(L, half.T)))
    squares = np.where(np.abs(squares) <= ROUNDING * np.abs(squares).max(), 0.0, squares)
    frequency = np.sqrt(np.maximum(squares, 0.0))
    inner = np.linalg.solve(L.T, y)
    shapes = np.zeros((len(free), len(squares)))
    shapes[free] = inner
    decay = np.einsum("ik,ij,jk->k", inner, D, inner)
    moving = frequency > 0.0
    ratio = np.where(moving, decay / (2.0 * np.where(moving, frequency, 1.0)), 0.0)
    return Modes(squares, frequency, frequency / (2.0 * np.pi), shapes, ratio)


def poles(
    model: GearedModel, q: ArrayLike, *, rotors: Rotors = "free", gravity: bool = False
) -> NDArray[np.complex128]:
    """Poles of the damped vibration (2k,) [1/s]: (H s^2 + D s + K) shape = 0.

    Sorted by magnitude. A pole s decays as exp(Re s t) at |Im s| rad/s.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        rotors: As in ``modes``.
        gravity: As in ``modes``.
    """
    H, K, D, _ = linearised(model, q, rotors, gravity)
    n = len(H)
    system = np.zeros((2 * n, 2 * n))
    system[:n, n:] = np.eye(n)
    system[n:] = np.linalg.solve(H, -np.hstack([K, D]))
    found = np.linalg.eigvals(system).astype(complex)
    return found[np.argsort(np.abs(found))]


def linearised(
    model: GearedModel, q: ArrayLike, rotors: Rotors, gravity: bool
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """H, K, D (k, k) of the coordinates that move, and which of x these are (n + n_e,)."""
    choice("rotors", "choice", rotors, get_args(Rotors))
    posture = finite_input("q", q, model.n)
    if posture.ndim != 1:
        finding, remedy = f"has shape {posture.shape}", "give one posture (n,)"
        raise ArrayError("q", finding, remedy)
    elastic = model.elasticity
    H = mass_matrix(model, posture)
    K, D = spring_matrix(model, elastic.stiffness), spring_matrix(model, elastic.damping)
    if gravity:
        K[: model.n, : model.n] += gravity_stiffness(model, posture)
    refuse_singular(model, H)
    free = np.ones(len(H), bool)
    if rotors == "held":
        free[model.n :] = ~held_shafts(model)
    square = np.ix_(free, free)
    return H[square], symmetric(K[square]), D[square], free


def held_shafts(model: GearedModel) -> NDArray[np.bool_]:
    """Which shafts brakes on the motors fix (n_e,)."""
    elastic = model.elasticity
    if not len(model.motor_wheel):
        return np.ones(elastic.count, bool)
    return np.asarray(np.any(elastic.shaft_spin[model.motor_wheel] != 0.0, axis=0))


def refuse_singular(model: GearedModel, H: Array) -> None:
    """Raise unless H is positive definite."""
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        remedy = "add inertia to the massless links or wheels"
        if model.coupling == "none":
            remedy = (
                "use model.with_coupling('complete'); this coupling leaves out the rotors' inertia"
            )
        finding = "is not positive definite at this position"
        raise ModelError(f"mass matrix (coupling {model.coupling!r})", finding, remedy) from None


def gravity_stiffness(model: GearedModel, q: Array) -> Array:
    """dg/dq (n, n), a difference of fourth order; mimics that turn faster get smaller steps."""
    fastest = np.ones(model.n)
    np.maximum.at(fastest, model.tree.dof, np.abs(model.tree.multiplier))
    columns = []
    for unit, step in zip(np.eye(model.n), STEP / fastest, strict=True):
        near, far = (
            gravity_forces(model, q + k * step * unit) - gravity_forces(model, q - k * step * unit)
            for k in (1, 2)
        )
        columns.append((8.0 * near - far) / (12.0 * step))
    return symmetric(np.stack(columns, axis=-1))


def symmetric(matrix: Array) -> Array:
    """Average of a matrix and its transpose."""
    return np.asarray(0.5 * (matrix + matrix.T))
