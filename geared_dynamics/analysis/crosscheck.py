"""``cross_check``: every rigid function compared with Pinocchio over random states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.analysis import pinocchio_reference
from geared_dynamics.analysis.pinocchio_tree import SpanningTree, spanning_tree
from geared_dynamics.analysis.report import table
from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.dynamics.packing import BODY_PARAMETERS
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.model.model import GearedModel

# -- Comparing one quantity with its reference, and judging the difference ------------------------


SINGLES = 3  # states which are also evaluated one by one, not only in the batch
VANISHING = 1e-9  # a quantity below this share of its companion counts as zero

# Ours takes (model, ...) and the reference (tree, ...); both end in arrays of a state.
Function = Callable[..., Any]


class Quantity(NamedTuple):
    """Comparison of one quantity.

    Attributes:
        name: What is compared.
        error: Worst error of an element over the states, relative to ``scale``.
        scale: Largest magnitude of an element over the states (reference) [SI]. A
            quantity that vanishes (gravity of a planar arm, say) is measured by its
            companion: forces by the joint forces, energies by the kinetic energy.
        state: Index of the state with the worst error.
        passed: Whether ``error`` is within the tolerance.
    """

    name: str
    error: float
    scale: float
    state: int
    passed: bool


class Comparison(NamedTuple):
    """Values of one quantity.

    Attributes:
        name: What is compared.
        ours: Our values, the batch (N, ...) followed by the single states'.
        expected: The reference's values for the same rows.
        companion: What to measure a vanishing quantity by.
        states: N.
    """

    name: str
    ours: Array
    expected: Array
    companion: Array
    states: int


class ModelPair(NamedTuple):
    """A model and its reference."""

    model: GearedModel
    ref: SpanningTree

    def compare(
        self,
        name: str,
        ours: Function,
        theirs: Function,
        inputs: tuple[Array, ...],
        companion: Array | None = None,
    ) -> Comparison:
        """Evaluate ours as a batch and, for the first states, singly; theirs state by state."""
        expected = each(theirs, self.ref, *inputs)
        batch = np.asarray(ours(self.model, *inputs))
        singles = each(ours, self.model, *(x[:SINGLES] for x in inputs))
        return Comparison(
            name,
            np.concatenate([batch, singles]),
            np.concatenate([expected, expected[:SINGLES]]),
            expected if companion is None else companion,
            len(expected),
        )


def each(function: Function, subject: GearedModel | SpanningTree, *inputs: Array) -> Array:
    """Evaluate a function state by state, (N, ...)."""
    rows = zip(*inputs, strict=True)
    return np.stack([np.array(function(subject, *row), dtype=np.float64) for row in rows])


def judge(comparison: Comparison, tolerance: float) -> Quantity:
    """Find the worst element; a value that is not finite fails."""
    name, ours, expected, companion, states = comparison
    own, other = (float(np.abs(x).max(initial=0.0)) for x in (expected, companion))
    scale = own if own > VANISHING * other else other
    errors = np.abs(ours - expected).reshape(len(ours), -1).max(axis=1, initial=0.0)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    row = int(np.argmax(errors))
    error = float(errors[row]) / scale if scale > 0 else float(errors[row])
    return Quantity(name, error, scale, row % states, error <= tolerance)


# -- Random states of a robot in a physical range -------------------------------------------------


DEFAULT_SPEED = 1.0  # [rad/s or m/s] where the URDF gives no velocity limit
LARGEST_SPEED = 10.0  # [rad/s or m/s] a limit beyond this is taken as this
TIME_TO_SPEED = 0.5  # [s] accelerations: top speed is reached in this time
FREE_ANGLE, FREE_STROKE = np.pi, 1.0  # [rad], [m] without finite position limits


class Ranges(NamedTuple):
    """What the random states are drawn from, uniformly, per joint (n,).

    Attributes:
        lower: Lowest position [rad or m].
        upper: Highest position.
        velocity: Largest speed [rad/s or m/s].
        acceleration: Largest acceleration [rad/s^2 or m/s^2].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


class States(NamedTuple):
    """Positions, velocities and accelerations of N states, each (N, n)."""

    q: Array
    v: Array
    a: Array


def state_ranges(model: GearedModel) -> Ranges:
    """Return physical ranges of the robot's joints.

    Positions: the URDF's limits, else ±pi rad or ±1 m. Speeds: the URDF's velocity
    limit (at most 10 rad/s or m/s), else 1. Accelerations: top speed in 0.5 s.
    """
    limits = model.limits
    free = np.where(model.prismatic, FREE_STROKE, FREE_ANGLE)
    lower = np.where(limits.bounded, np.maximum(limits.lower, -2.0 * free), -free)
    upper = np.where(limits.bounded, np.minimum(limits.upper, 2.0 * free), free)
    fastest = np.minimum(limits.velocity, LARGEST_SPEED)
    velocity = np.where(np.isinf(limits.velocity), DEFAULT_SPEED, fastest)
    return Ranges(lower, upper, velocity, velocity / TIME_TO_SPEED)


def random_states(model: GearedModel, count: int, seed: int) -> States:
    """Draw ``count`` states uniformly from the robot's ``state_ranges``."""
    if not isinstance(count, (int, np.integer)) or count < 1:
        raise ArrayError("states", f"is {shown(count)}", "ask for one state or more")
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArrayError("seed", f"is {shown(seed)}", "give a whole number of 0 or more")
    rng = np.random.default_rng(seed)
    ranges = state_ranges(model)
    shape = (count, model.n)
    q = rng.uniform(ranges.lower, ranges.upper, shape)
    v = rng.uniform(-ranges.velocity, ranges.velocity, shape)
    a = rng.uniform(-ranges.acceleration, ranges.acceleration, shape)
    return States(q, v, a)


# -- The user's robot against Pinocchio: every rigid function over random states ------------------


FRAME_STATES = 3  # states at which every link's and wheel's frame is compared
LARGEST_LOAD = 10.0  # [N, N m] external forces on every body


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

    def __repr__(self) -> str:
        """One line."""
        return f"<CrossCheck over {self.states} states: {self.verdict}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        heads = ("quantity", "worst relative error", "at state", "")
        rows = [(q.name, q.error, q.state, "ok" if q.passed else "FAILS") for q in self.quantities]
        return table(self.verdict, heads, rows)


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
        finding, remedy = f"is {shown(tolerance)}", "give a finite number of 0 or more"
        raise ArrayError("tolerance", finding, remedy)
    pair = ModelPair(model, spanning_tree(model, urdf=urdf, drivetrain=drivetrain))
    compared = _comparisons(pair, states, seed)
    quantities = tuple(judge(comparison, tolerance) for comparison in compared)
    return CrossCheck(quantities, states, seed, tolerance)


def _comparisons(pair: ModelPair, states: int, seed: int) -> Iterator[Comparison]:
    """Evaluate everything, ours and the reference."""
    q, v, a = random_states(pair.model, states, seed)
    rng = np.random.default_rng([seed, 1])
    force = each(pinocchio_reference.inverse_dynamics, pair.ref, q, v, a)
    tau = np.abs(force).max() * rng.uniform(-1, 1, q.shape)
    loads = rng.uniform(-LARGEST_LOAD, LARGEST_LOAD, (states, len(pair.model.body_names), 6))
    work = np.abs(force * v).sum(axis=-1)
    checks: list[tuple[str, Function, Function, tuple[Array, ...], Array | None]] = [
        ("mass matrix", gd.mass_matrix, pinocchio_reference.mass_matrix, (q,), None),
        (
            "Coriolis matrix",
            gd.coriolis_matrix,
            pinocchio_reference.coriolis_matrix,
            (q, v),
            force,
        ),
        ("gravity forces", gd.gravity_forces, pinocchio_reference.gravity_forces, (q,), force),
        ("bias forces", gd.bias_forces, pinocchio_reference.bias_forces, (q, v), force),
        (
            "inverse dynamics",
            gd.inverse_dynamics,
            pinocchio_reference.inverse_dynamics,
            (q, v, a),
            None,
        ),
        ("ID with loads", gd.inverse_dynamics, _loaded(pair.model), (q, v, a, loads), None),
        (
            "forward dynamics",
            gd.forward_dynamics,
            pinocchio_reference.forward_dynamics,
            (q, v, tau),
            None,
        ),
        ("kinetic energy", gd.kinetic_energy, pinocchio_reference.kinetic_energy, (q, v), None),
        (
            "potential energy",
            gd.potential_energy,
            pinocchio_reference.potential_energy,
            (q,),
            work,
        ),
        ("regressor", gd.regressor, _regressor(pair.model), (q, v, a), None),
    ]
    for check in checks:
        yield pair.compare(*check)
    yield from _frames(pair, q[:FRAME_STATES], v[:FRAME_STATES])


def _loaded(model: GearedModel) -> Function:
    """Reference of inverse dynamics with loads on the model's bodies."""

    def loaded(ref: SpanningTree, q: Array, v: Array, a: Array, loads: Array) -> Array:
        return pinocchio_reference.loaded_inverse_dynamics(ref, q, v, a, loads, model.body_names)

    return loaded


def _regressor(model: GearedModel) -> Function:
    """Reference of the regressor, its columns in the order of the model's parameters."""
    links, wheels = model.body_names, model.wheel_names
    names = [f"{link}.{parameter}" for link in links for parameter in BODY_PARAMETERS]
    names += [f"{wheel}.J" for wheel in wheels]
    order = [names.index(name) for name in gd.parameter_names(model)]

    def regressor(ref: SpanningTree, q: Array, v: Array, a: Array) -> Array:
        return pinocchio_reference.regressor(ref, q, v, a, links, wheels)[:, order]

    return regressor


def _frames(pair: ModelPair, q: Array, v: Array) -> Iterator[Comparison]:
    """Poses, Jacobians and Jacobian drifts of every link; positions, Jacobians of wheels."""
    links = pair.model.link_names
    jacobians = each(_over(links, pinocchio_reference.jacobian), pair.ref, q)
    checks: list[tuple[str, tuple[str, ...], Function, Function, tuple[Array, ...]]] = [
        ("link poses", links, gd.pose, pinocchio_reference.pose, (q,)),
        ("link Jacobians", links, gd.jacobian, pinocchio_reference.jacobian, (q,)),
        ("Jacobian drifts", links, gd.jacobian_drift, pinocchio_reference.jacobian_drift, (q, v)),
    ]
    wheels = pair.model.wheel_names
    if wheels:
        checks += [
            ("wheel positions", wheels, _position, pinocchio_reference.wheel_position, (q,)),
            ("wheel Jacobians", wheels, gd.jacobian, pinocchio_reference.wheel_jacobian, (q,)),
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
