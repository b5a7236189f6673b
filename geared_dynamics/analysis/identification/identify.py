"""``identify``: parameters of an arm from recordings, with their uncertainty and validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.analysis.identification.columns import Base, base_columns, matching, prior
from geared_dynamics.analysis.identification.equations import (
    Equations,
    Settings,
    equations,
    refuse_still,
)
from geared_dynamics.analysis.identification.instruments import instrument_columns
from geared_dynamics.analysis.identification.least_squares import (
    Solution,
    deviation,
    information_root,
    solve,
)
from geared_dynamics.analysis.identification.physical import Physical, physical_parameters
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel

FEWEST = 20  # equations of a joint with which it is validated
DOUBTFUL = 0.3  # relative deviation beyond which a parameter is hardly told
WORST_CONDITION = 1000.0
UNEXPLAINED = 0.5  # of a joint's torque: a residual above it says that nothing was identified


@dataclass(frozen=True, eq=False)
class Identified:
    """Identified parameters.

    Attributes:
        model: The model they are of.
        base: The combinations that motion can tell.
        x: Their values (b,).
        sigma: Their standard deviations (b,).
        solution: The same with covariance and condition.
        files: What the files say of them (b,).
        physical: Full parameters that an arm can have; of the arm without its load if
            ``identify`` was told of one.
        rms: RMS of the measured torque of each joint, over the equations used (n,).
        residual: RMS residual of each joint (5, n): of the files' parameters, the identified
            ones, and the physical ones on what they were fitted to; of the identified and of
            the physical ones on what was held out (NaN where a joint hardly moves there).
        held_rms: RMS of the held-out torque (n,).
        equations: What it was fitted to.
        held: What it was validated with.
        held_used: Which of these equations count (k, n).
        load: What the payload adds to the columns' parameters of the arm (p,).
        notes: What is missing: of the recordings, or why there are no physical parameters.
    """

    model: GearedModel
    base: Base
    x: Array
    sigma: Array
    solution: Solution
    files: Array
    physical: Physical | None
    rms: Array
    residual: Array
    held_rms: Array
    equations: Equations
    held: Equations
    held_used: BoolArray
    load: Array
    notes: tuple[str, ...] = ()

    def held_residual(self, x: Array) -> Array:
        """RMS residual of each joint on what was held out (n,), NaN where it hardly moves there.

        Args:
            x: All columns' parameters of the arm without its payload (p,).
        """
        return held_out(self.held, self.held.Y @ (x + self.load), self.held_used)

    @property
    def shifts(self) -> dict[str, float]:
        """By how many deviations the physical parameters move each base parameter."""
        if self.physical is None:
            return {}
        moved = self.base.combinations @ (self.physical.x + self.load) - self.x
        apart = moved / np.maximum(self.sigma, 1e-300)
        return dict(zip(self.base.names, apart.tolist(), strict=True))

    @property
    def column_values(self) -> dict[str, float]:
        """Values by the name of the column that carries them."""
        names = [self.equations.names[k] for k in self.base.selection]
        return dict(zip(names, self.x.tolist(), strict=True))

    @property
    def column_sigma(self) -> dict[str, float]:
        """Standard deviations likewise."""
        names = [self.equations.names[k] for k in self.base.selection]
        return dict(zip(names, self.sigma.tolist(), strict=True))

    @property
    def doubtful(self) -> list[str]:
        """Columns whose value is not told apart from zero within 30 %."""
        values, sigma = self.column_values, self.column_sigma
        return [name for name, s in sigma.items() if s > DOUBTFUL * abs(values[name])]

    @property
    def unexplained(self) -> list[str]:
        """Joints with a residual near their torque, in the fit or in what was held out."""
        fit = self.residual[1] / np.maximum(self.rms, 1e-300)
        worst = np.fmax(fit, self.residual[3] / np.maximum(self.held_rms, 1e-300))
        return [
            f"{name} ({100 * share:.0f} %)"
            for name, share in zip(self.model.joint_names, worst, strict=True)
            if share > UNEXPLAINED
        ]

    @property
    def quality(self) -> str:
        """What condition and residuals say of the equations: good, or poor and why."""
        if self.unexplained:
            return (
                f"poor: the residual is near the torque itself for {', '.join(self.unexplained)}: "
                "these joints' parameters mean nothing; check what efforts and positions are, "
                "and compare with another --bandwidth"
            )
        if self.solution.condition < WORST_CONDITION:
            return "good"
        return "poor: make a motion with geared-dynamics excite"


def identify(
    model: GearedModel,
    recordings: Sequence[Recording],
    settings: Settings | None = None,
    *,
    robust: bool = False,
    instruments: Sequence[Recording] | None = None,
    validate: Sequence[Recording] | None = None,
    known: Sequence[str] = (),
    physical: bool = True,
    empty: GearedModel | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Identified:
    """Identify an arm from recordings.

    Args:
        model: Geared model: geometry, Gamma and A are taken as they are.
        recordings: Of the robot in motion.
        settings: How they become equations.
        robust: Give outliers less weight.
        instruments: Recordings of the same motions with other noise, one for each, whose samples
            have the same stamps: the reference, or a repetition.
        validate: Recordings to validate with, instead of the ends of ``recordings``.
        known: Names or patterns (``link_*``) of parameters that are as the files say.
        physical: Whether to find full physical parameters as well; none is known then.
        empty: The same arm without a load that ``model`` has and no file: physical parameters
            are its own, so that they can be written.
        progress: Called with spans done and all spans.
    """
    settings = settings or Settings()
    found = equations(
        model, recordings, settings, known=known, predicted=instruments is None, progress=progress
    )
    columns = None
    if instruments is not None:
        others = fixed(settings, found)
        columns, there = instrument_columns(model, recordings, instruments, others, found)
        alone = int((~there).sum())
        found = found.of_samples(there)
        if alone:
            said = f"left out: {alone} of {len(there)} instants that the instruments do not have"
            found = found._replace(notes=(*found.notes, said))
    base = base_columns(model, known=known)
    selection = list(base.selection)
    x0 = prior(model)
    taken = np.zeros(len(x0))
    given = matching(found.names, known)
    taken[given] = x0[given]
    rest = found.tau - found.Y @ taken
    fitted = found.used & (True if validate else ~found.held[:, None])
    if settings.holdout and not validate:
        where = f" in the {100 * (1 - settings.holdout):.3g} % that are not held out"
        refuse_still(model, found, fitted, recordings[0].path, where)
    Z = None if columns is None else columns[..., selection]
    solution = solve(found.Y[..., selection], rest, fitted, robust=robust, instruments=Z)
    full, load, notes = None, np.zeros(len(x0)), [*found.notes]
    if physical and not known:
        weight = fitted / np.maximum(solution.sigma, 1e-300)
        root = information_root(found.Y[..., selection], weight, solution.covariance)
        load = x0 - prior(empty or model)
        arm = solution.x - base.combinations @ load
        try:
            full = physical_parameters(empty or model, base, arm, root)
        except ModelError as error:  # the base parameters stand without them
            notes.append(f"partial: no physical parameters: {error}")
    held, held_used = found, found.used & found.held[:, None]
    if validate:
        held = equations(model, validate, fixed(settings, found))
        notes += held.notes
        held_used = held.used
    none = np.full(model.n, np.nan)
    expected = held.Y @ taken + held.Y[..., selection] @ solution.x
    residual = np.stack(
        [
            left(found, x0, fitted),
            deviation(rest - found.Y[..., selection] @ solution.x, fitted),
            left(found, full.x + load, fitted) if full else none,
            held_out(held, expected, held_used),
            held_out(held, held.Y @ (full.x + load), held_used) if full else none,
        ]
    )
    return Identified(
        model, base, solution.x, np.sqrt(np.maximum(solution.covariance.diagonal(), 0.0)),
        solution, base.combinations @ x0, full, deviation(found.tau, fitted), residual,
        deviation(held.tau, held_used), found, held, held_used, load, tuple(notes),
    )  # fmt: skip


def held_out(held: Equations, expected: Array, used: BoolArray) -> Array:
    """RMS residual of each joint (n,); NaN where it hardly moves, which says nothing of it.

    Args:
        held: The equations.
        expected: Their right side by a model (k, n).
        used: Which of them count (k, n).
    """
    few = used.sum(axis=0) < FEWEST
    return np.where(few, np.nan, deviation(held.tau - expected, used))


def left(found: Equations, x: Array, used: BoolArray) -> Array:
    """RMS residual of each joint with all columns' parameters x (p,)."""
    return deviation(found.tau - found.Y @ x, used)


def fixed(settings: Settings, found: Equations) -> Settings:
    """Return the settings with the bandwidths that were found."""
    cutoff, keep = found.bandwidth
    return replace(settings, bandwidth=cutoff, keep=keep)
