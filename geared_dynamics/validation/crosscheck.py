"""The user's robot against Pinocchio: every rigid function over random states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.errors import ArrayError
from geared_dynamics.model.model import GearedModel
from geared_dynamics.validation import reference
from geared_dynamics.validation.comparison import Comparison, Function, Pair, Quantity, each, judge
from geared_dynamics.validation.spanning_tree import SpanningTree, spanning_tree
from geared_dynamics.validation.states import random_states

FRAME_STATES = 3  # states at which every link's and wheel's frame is compared
LARGEST_LOAD = 10.0  # [N, N m] external forces on every body
PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True)
class CrossCheck:
    """Result of ``cross_check``."""

    quantities: tuple[Quantity, ...]
    states: int
    seed: int
    tolerance: float

    @property
    def worst(self) -> Quantity:
        """The quantity with the largest relative error."""
        return max(self.quantities, key=lambda quantity: quantity.error)

    @property
    def passed(self) -> bool:
        """Whether every quantity agrees."""
        return all(quantity.passed for quantity in self.quantities)

    @property
    def verdict(self) -> str:
        """One line: agreement or not, and the worst error."""
        words = (
            "PASS: agrees with Pinocchio to" if self.passed else "FAIL: differs from Pinocchio by"
        )
        return (
            f"{words} {self.worst.error:.1e} ({self.worst.name}; tolerance {self.tolerance:.0e})"
        )


def cross_check(
    model: GearedModel,
    *,
    states: int = 100,
    seed: int = 0,
    tolerance: float = 1e-10,
    urdf: str | None = None,
    drivetrain: DrivetrainRecord | None = None,
) -> CrossCheck:
    """Compare every rigid function with Pinocchio's spanning tree, wheels as bodies.

    All states are compared as a batch, the first three by single calls as well.

    Args:
        model: Geared model; its coupling must be complete, or it will disagree.
        states: Number of random states.
        seed: Seed of the states, joint forces and loads.
        tolerance: Largest relative error allowed, see ``Quantity``.
        urdf: The robot's own URDF text, so that its reading is checked as well.
        drivetrain: Wheels and ratios of the reference instead of the model's own.

    Raises:
        MissingPackageError: Pinocchio is not installed.
        ModelError: Pinocchio cannot read the URDF.
        ArrayError: States, seed or tolerance is out of range.
    """
    if not 0.0 <= tolerance < np.inf:
        finding, remedy = f"is {tolerance!r}", "give a finite number of 0 or more"
        raise ArrayError("tolerance", finding, remedy)
    pair = Pair(model, spanning_tree(model, urdf=urdf, drivetrain=drivetrain))
    compared = _comparisons(pair, states, seed)
    quantities = tuple(judge(comparison, tolerance) for comparison in compared)
    return CrossCheck(quantities, states, seed, tolerance)


def _comparisons(pair: Pair, states: int, seed: int) -> Iterator[Comparison]:
    """Evaluate everything, ours and the reference."""
    q, v, a = random_states(pair.model, states, seed)
    rng = np.random.default_rng([seed, 1])
    force = each(reference.inverse_dynamics, pair.ref, q, v, a)
    tau = np.abs(force).max() * rng.uniform(-1, 1, q.shape)
    loads = rng.uniform(-LARGEST_LOAD, LARGEST_LOAD, (states, len(pair.model.body_names), 6))
    work = np.abs(force * v).sum(axis=-1)
    checks: list[tuple[str, Function, Function, tuple[Array, ...], Array | None]] = [
        ("mass matrix", gd.mass_matrix, reference.mass_matrix, (q,), None),
        ("Coriolis matrix", gd.coriolis_matrix, reference.coriolis_matrix, (q, v), force),
        ("gravity forces", gd.gravity_forces, reference.gravity_forces, (q,), force),
        ("bias forces", gd.bias_forces, reference.bias_forces, (q, v), force),
        ("inverse dynamics", gd.inverse_dynamics, reference.inverse_dynamics, (q, v, a), None),
        ("ID with loads", gd.inverse_dynamics, _loaded(pair.model), (q, v, a, loads), None),
        ("forward dynamics", gd.forward_dynamics, reference.forward_dynamics, (q, v, tau), None),
        ("kinetic energy", gd.kinetic_energy, reference.kinetic_energy, (q, v), None),
        ("potential energy", gd.potential_energy, reference.potential_energy, (q,), work),
        ("regressor", gd.regressor, _regressor(pair.model), (q, v, a), None),
    ]
    for check in checks:
        yield pair.compare(*check)
    yield from _frames(pair, q[:FRAME_STATES], v[:FRAME_STATES])


def _loaded(model: GearedModel) -> Function:
    """Reference of inverse dynamics with loads on the model's bodies."""

    def loaded(ref: SpanningTree, q: Array, v: Array, a: Array, loads: Array) -> Array:
        return reference.loaded_inverse_dynamics(ref, q, v, a, loads, model.body_names)

    return loaded


def _regressor(model: GearedModel) -> Function:
    """Reference of the regressor, its columns in the order of the model's parameters."""
    links, wheels = model.body_names, model.wheel_names
    names = [f"{link}.{parameter}" for link in links for parameter in PARAMETERS]
    names += [f"{wheel}.J" for wheel in wheels]
    order = [names.index(name) for name in gd.parameter_names(model)]

    def regressor(ref: SpanningTree, q: Array, v: Array, a: Array) -> Array:
        return reference.regressor(ref, q, v, a, links, wheels)[:, order]

    return regressor


def _frames(pair: Pair, q: Array, v: Array) -> Iterator[Comparison]:
    """Poses, Jacobians and Jacobian drifts of every link; positions, Jacobians of wheels."""
    links = tuple(link.name for link in pair.model.robot.links)
    jacobians = each(_over(links, reference.jacobian), pair.ref, q)
    checks: list[tuple[str, tuple[str, ...], Function, Function, tuple[Array, ...]]] = [
        ("link poses", links, gd.pose, reference.pose, (q,)),
        ("link Jacobians", links, gd.jacobian, reference.jacobian, (q,)),
        ("Jacobian drifts", links, gd.jacobian_drift, reference.jacobian_drift, (q, v)),
    ]
    wheels = pair.model.wheel_names
    if wheels:
        checks += [
            ("wheel positions", wheels, _position, reference.wheel_position, (q,)),
            ("wheel Jacobians", wheels, gd.jacobian, reference.wheel_jacobian, (q,)),
        ]
    for name, frames, ours, theirs, inputs in checks:
        yield pair.compare(name, _over(frames, ours), _over(frames, theirs), inputs, jacobians)


def _over(frames: tuple[str, ...], function: Function) -> Function:
    """Let a function of one frame return all the frames' values side by side, flat."""

    def all_frames(subject: GearedModel | SpanningTree, *state: Array) -> Array:
        leading = state[0].shape[:-1]
        values = [np.reshape(function(subject, *state, name), (*leading, -1)) for name in frames]
        return np.concatenate(values, axis=-1)

    return all_frames


def _position(model: GearedModel, q: Array, wheel: str) -> Array:
    """Position of a frame's origin (..., 3)."""
    return gd.pose(model, q, wheel)[..., :3, 3]
