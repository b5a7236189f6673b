"""The arm that an observer follows: its readings as rows of the state, and its start at rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from geared_dynamics.actuation.driven_dynamics import refuse_losses
from geared_dynamics.arrays import Array, ArrayLike, Frozen
from geared_dynamics.dynamics.arguments import FLOAT, as_numbers
from geared_dynamics.dynamics.drives import balancer_forces, packed_drives
from geared_dynamics.dynamics.elastic.equations import (
    own_stretch,
    packed_springs,
    spring_matrix,
    structure_matrix,
)
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import Limits

# -- What an observer reads, and which numbers of its state that is -------------------------------
#
#     state     x = (q, theta) (N), x' (N), unaccounted force on x (N): k = 3 N
#     readings  motors' encoders (m), links' encoders (n), joint torques (n_e): c = m + n + n_e
#
# All readings are linear in the state: phi - phi(0) = A' x, q, and te = K z + D z' of the spring
# before each theta, less what the springs' rests put there.


class Sizes(NamedTuple):
    """Numbers of coordinates and readings of an arm.

    Attributes:
        n: Joints.
        shafts: Motor-side coordinates of the springs, n_e.
        motors: Motors, m.
    """

    n: int
    shafts: int
    motors: int

    @property
    def coordinates(self) -> int:
        """Number of coordinates: N = n + n_e."""
        return self.n + self.shafts

    @property
    def state(self) -> int:
        """Size of the filter's state, x, x' and d: 3 N."""
        return 3 * self.coordinates

    @property
    def readings(self) -> int:
        """Number of readings: m + n + n_e."""
        return self.motors + self.n + self.shafts


def sizes_of(model: GearedModel) -> Sizes:
    """Sizes of an arm that an observer can follow.

    Raises:
        ModelError: where no joint is elastic, or a loss depends on the load.
    """
    model.with_springs()
    refuse_losses(model, remedy="observe it without: put the loss into coulomb friction")
    return Sizes(model.n, model.elasticity.count, len(model.motor_names))


@dataclass(frozen=True, eq=False)
class ObservedArm(Frozen):
    """An arm as the observers' kernels read it, packed once.

    Attributes:
        model: Geared model with elastic joints.
        sizes: Its sizes.
        forms: Packed: the arm with coordinates x = (q, theta), its springs, its drives.
        balanced: Whether balancers act on it.
    """

    model: GearedModel
    sizes: Sizes
    forms: tuple[Array, Array, Array]
    balanced: bool

    def known_force(self, tau: Array, x: Array) -> Array:
        """Known force on the joints (n,): tau, and that of the balancers at x = (q, ...)."""
        if not self.balanced:
            return tau
        return np.asarray(tau + balancer_forces(self.model, np.ascontiguousarray(x[: len(tau)])))


def observed_arm(model: GearedModel) -> ObservedArm:
    """Pack an arm for observers.

    Raises:
        ModelError: as ``sizes_of``.
    """
    sizes = sizes_of(model)
    forms = packed(model.with_springs()), packed_springs(model), packed_drives(model)
    return ObservedArm(model, sizes, forms, bool(model.balancers.names))


class Source(NamedTuple):
    """What gains were made from; they hold for every arm with the same.

    Attributes:
        springs: Springs and ratios, packed for the kernels; not the links' inertia, which a
            payload changes.
        zeros: What the motors' encoders show at zero (m,) [rad].
        name: The arm's.
    """

    springs: Array
    zeros: Array
    name: str


def source_of(model: GearedModel) -> Source:
    """What gains depend on."""
    return Source(packed_springs(model), model.motor_zeros, model.name)


class ObserverGains(Protocol):
    """Tuning of any of the observers."""

    MAKER: ClassVar[str]

    @property
    def sizes(self) -> Sizes:
        """Of the arm they were made for."""

    @property
    def source(self) -> Source:
        """What they were made from."""

    @property
    def limits(self) -> Limits:
        """Which readings to believe, and how long to bridge."""

    @property
    def most(self) -> float:
        """Largest ``ratio`` of a state that chance explains."""


def refuse_other(model: GearedModel, gains: ObserverGains, kind: type[ObserverGains]) -> None:
    """Refuse gains of another observer, and those that were made for another arm.

    Args:
        model: Geared model.
        gains: To be judged.
        kind: What they must be.
    """
    if not isinstance(gains, kind):
        finding = f"are {type(gains).__name__}, not {kind.__name__}"
        raise ArrayError("gains", finding, f"make them with {kind.MAKER}")
    springs, zeros, name = gains.source
    same = packed_springs(model)
    if springs is same and zeros is model.motor_zeros:
        return
    if not (np.array_equal(springs, same) and np.array_equal(zeros, model.motor_zeros)):
        finding = f"belong to another arm ({name}): springs, ratios or encoder zeros differ"
        raise ArrayError("gains", finding, f"make them from this model ({model.name})")


def refuse_state(state: object, kind: type, maker: str, width: int) -> None:
    """Refuse a state of another observer, and one of an arm with other sizes.

    Args:
        state: To be judged; with a ``mean`` where it is of its kind.
        kind: What it must be.
        maker: What makes the first one.
        width: How many numbers its mean has.
    """
    if not isinstance(state, kind):
        finding = f"is {type(state).__name__}, not {kind.__name__}"
        raise ArrayError("state", finding, f"begin with {maker}")
    refuse_mean(state.mean, (width,), maker)  # type: ignore[attr-defined]


def refuse_mean(mean: object, widths: tuple[int, ...], maker: str) -> None:
    """Refuse what is no mean of a state with one of these numbers of entries, as steps make it."""
    if type(mean) is not np.ndarray or mean.dtype != np.float64 or mean.ndim != 1:
        finding = f"has a mean of type {type(mean).__name__}"
        raise ArrayError("state", finding, f"give a float64 array, or begin with {maker}")
    if len(mean) not in widths:
        finding = f"has {len(mean)} numbers, not {' or '.join(map(str, widths))}"
        raise ArrayError("state", finding, f"begin with {maker}")
    if not mean.flags.c_contiguous:
        raise ArrayError("state", "has a mean that is not contiguous", "give a copy of it")


def reading_rows(model: GearedModel) -> tuple[Array, Array]:
    """Rows (c, k) and offsets (c,) of the readings: y = rows s + offsets."""
    sizes, elastic = sizes_of(model), model.elasticity
    n, m, size = sizes.n, sizes.motors, sizes.coordinates
    rows, offsets = np.zeros((sizes.readings, sizes.state)), np.zeros(sizes.readings)
    rows[:m, :size] = structure_matrix(model).T
    offsets[:m] = model.motor_zeros
    rows[m : m + n, :n] = np.eye(n)
    own = own_stretch(model).T
    rows[m + n :, :size] = own * elastic.stiffness @ elastic.stretch
    rows[m + n :, size : 2 * size] = own * elastic.damping @ elastic.stretch
    offsets[m + n :] = -own @ (elastic.stiffness * elastic.rest)
    return rows, offsets


def readings(sizes: Sizes, measurement: Measurement) -> Array:
    """All readings (c,), NaN for what is missing; infinity counts as missing."""
    motors = _part("motor_angle", measurement.motor_angle, sizes.motors)
    links = _part("link_position", measurement.link_position, sizes.n)
    torques = _part("joint_torque", measurement.joint_torque, sizes.shafts)
    return np.concatenate([motors, links, torques])


def inputs(
    sizes: Sizes, measurement: Measurement, known: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Torque of the motors (m,), NaN where missing, and the known force on the joints (n,)."""
    tau_m = _part("motor_torque", measurement.motor_torque, sizes.motors)
    if known is None:
        return tau_m, np.zeros(sizes.n)
    tau = _part("known", known, sizes.n)
    if not np.all(np.isfinite(tau)):
        raise ArrayError(
            "known", "contains NaN or infinity", "give the known torques, zero for the others"
        )
    return tau_m, tau


def _part(name: str, value: ArrayLike | None, width: int) -> Array:
    """A part of the readings, copied; missing ones become NaN."""
    if value is None:
        return np.full(width, np.nan)
    if type(value) is np.ndarray and value.dtype is FLOAT and value.shape == (width,):
        return value.copy()
    array = as_numbers(name, value, f"give {width} real numbers, NaN for what is missing")
    if array.shape != (width,):
        raise ArrayError(name, f"has shape {array.shape}", f"give shape ({width},)")
    return array.copy()


# -- Where an arm at rest is, from its motors' encoders: springs that hold the weight -------------


ROUNDS = 20


def at_rest(model: GearedModel, shown: Array) -> Array:
    """Coordinates x (N,) with A' x = shown - phi(0) and springs that hold the links.

    Where the encoders leave coordinates open (a passive joint, a shaft in a drive), the springs
    settle them too: the free ones minimise the energy.

    Args:
        model: Geared model with elastic joints.
        shown: What the motors' encoders show (m,) [rad].
    """
    n, own = model.n, model.elasticity
    goal = model.elastic_motor_map.coordinates(shown)
    _, s, vt = np.linalg.svd(model.elastic_motor_map.A.T)
    rank = int(np.sum(s > 1e-12 * s[0])) if s.size else 0
    free = vt[rank:].T  # directions that the encoders do not see
    K = spring_matrix(model, own.stiffness)
    rest = own.stretch.T @ (own.stiffness * own.rest)
    x = goal
    if not free.shape[1]:
        return np.asarray(x)
    solve = np.linalg.pinv(free.T @ K @ free)
    x = goal + free @ (solve @ (free.T @ (rest - K @ goal)))
    for _ in range(ROUNDS):
        weight = np.zeros(len(x))
        weight[:n] = gravity_forces(model, x[:n])
        if model.balancers.names:
            weight[:n] -= balancer_forces(model, x[:n])
        following = goal + free @ (solve @ (free.T @ (rest - weight - K @ goal)))
        change = float(np.max(np.abs(following - x)))
        x = following
        if change < 1e-12:
            break
    return np.asarray(x)
