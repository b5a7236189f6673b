"""``identify``: recordings to parameters with uncertainties, validated on what was held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.analysis.identification_equations import Equations, equations, refuse_still
from geared_dynamics.analysis.identification_rows import (
    EquationRows,
    Settings,
    filtered,
    joined_motions,
    span_motions,
)
from geared_dynamics.analysis.least_squares import (
    LeastSquaresFit,
    deviation,
    information_root,
    solve,
)
from geared_dynamics.analysis.parameter_columns import (
    IdentifiableColumns,
    base_columns,
    matching,
    prior,
)
from geared_dynamics.analysis.physical import Physical, physical_parameters
from geared_dynamics.analysis.report import table
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.errors import ModelError, RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.samples import Tally
from geared_dynamics.recordings.spans import TURN, turning_of

# -- Columns of another record of the same motion, at the stamps of the equations -----------------
#
# What is left out of the one record, as samples that were sent twice, is not left out of the
# other: samples are paired by their stamps, never by their number.


SAME_MOTION = 0.2  # of a joint's motion (RMS) by which instruments' positions may be off
FEWEST_RECORDINGS = 0.5  # share of the equations that must have an instrument
REMEDY = "use a recording of the same motion with the same stamps, such as its reference"


def instrument_columns(
    model: GearedModel,
    recordings: Sequence[Recording],
    instruments: Sequence[Recording],
    settings: Settings,
    equations: Equations,
) -> tuple[Array, BoolArray]:
    """Columns of the instruments (i, n, p), and the samples of the equations they are for (k,).

    Args:
        model: The model.
        recordings: What the equations are of.
        instruments: Of the same motions, one for each recording.
        settings: How recordings become equations, with the bandwidths of ``equations``.
        equations: The equations.

    Raises:
        RecordingError: If they are not of the same motions.
    """
    if len(instruments) != len(recordings):
        finding = f"has {len(instruments)} recordings for {len(recordings)}"
        raise RecordingError("instruments", finding, "give one for each recording, in their order")
    Y, q = np.zeros(equations.Y.shape), np.zeros(equations.q.shape)
    there = np.zeros(len(q), bool)
    for run, (recording, instrument) in enumerate(zip(recordings, instruments, strict=True)):
        rows = np.flatnonzero(equations.run == run)
        ahead = clock_difference(recording, instrument)
        for part, index in paired_rows(model, instrument, settings, equations.stamp[rows] + ahead):
            new = ~there[rows[index]]  # a clock that starts again shows a time twice
            at = rows[index[new]]
            Y[at], q[at], there[at] = part.Y[new], part.q[new], True
        refuse_others(model, instrument, q[rows], equations.q[rows], there[rows])
    return Y[there], there


def paired_rows(
    model: GearedModel, instrument: Recording, settings: Settings, stamp: IntArray
) -> list[tuple[EquationRows, IntArray]]:
    """Rows of an instrument that are nearest to stamps (k,) [ns], and which of them they are for.

    Nearest is within half a period.
    """
    cutoff, keep = settings.bandwidth or 0.0, settings.keep or 0.0
    silent = replace(settings.meaning, effort="joint_torque", gains=())  # efforts are not read
    (reader,) = settings.readers(model, [instrument])
    order = np.argsort(stamp, kind="stable")
    later = stamp[order]
    pairs = []
    motions = span_motions(reader, cutoff, lambda: None, [Tally()])
    for part in joined_motions(motions, instrument.period):
        index = nearest(part.stamp, later)
        close = np.abs(part.stamp[index] - later) <= instrument.period // 2
        instants, first = np.unique(index[close], return_index=True)
        rows = filtered(model, silent, part, instrument.rate, keep, instants)
        kept = np.isin(part.stamp[instants], rows.stamp)
        pairs.append((rows, order[np.flatnonzero(close)[first[kept]]]))
    return pairs


def nearest(stamp: IntArray, instants: IntArray) -> IntArray:
    """Which of stamps (k,), that grow, are nearest to others."""
    after = np.clip(np.searchsorted(stamp, instants), 1, len(stamp) - 1)
    before = after - 1
    return np.asarray(np.where(instants - stamp[before] <= stamp[after] - instants, before, after))


def clock_difference(recording: Recording, instrument: Recording) -> int:
    """What is added to a recording's stamps to find them in an instrument [ns].

    Nothing where the two overlap; a repetition, or a reference with a clock of its own, is
    taken from its first sample on.
    """
    (first, last), (other_first, other_last) = ends(recording), ends(instrument)
    overlap = first <= other_last and other_first <= last
    return 0 if overlap else other_first - first


def ends(recording: Recording) -> tuple[int, int]:
    """Stamps of the first and the last sample [ns]."""
    stamps_of_ends = []
    for spans, place in ((range(recording.spans), 0), (range(recording.spans)[::-1], -1)):
        stamps = (recording.read(span, 0).samples.stamp for span in spans)
        stamps_of_ends.append(next((int(stamp[place]) for stamp in stamps if len(stamp)), 0))
    return stamps_of_ends[0], stamps_of_ends[1]


def refuse_others(
    model: GearedModel, instrument: Recording, q: Array, expected: Array, there: BoolArray
) -> None:
    """Raise if an instrument has few of the stamps, or other positions."""
    if there.sum() < FEWEST_RECORDINGS * len(there):
        finding = f"has {there.sum()} of {len(there)} stamps of the recording that it belongs to"
        raise RecordingError(instrument.path, finding, REMEDY)
    apart = q[there] - expected[there]
    turns = np.where(turning_of(model).angular, np.rint(apart / TURN), 0.0)  # one may count them
    off = np.sqrt(np.mean((apart - TURN * turns) ** 2, axis=0))
    far = off > SAME_MOTION * np.maximum(expected.std(axis=0), 1e-6)
    if far.any():
        j = int(np.argmax(far))
        finding = f"shows another motion: {model.joint_names[j]} differs by {off[j]:.2g} (RMS)"
        raise RecordingError(instrument.path, finding, REMEDY)


# -- ``identify`` ---------------------------------------------------------------------------------


FEWEST = 20  # equations of a joint with which it is validated
DOUBTFUL = 0.3  # relative deviation beyond which a parameter is hardly determined
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
            ``identify`` was given one.
        rms: RMS of the measured torque of each joint, over the equations used (n,).
        residual: RMS residual of each joint (6, n): of the files' parameters, the identified
            ones, and the physical ones on what they were fitted to; of the identified, the
            physical and the files' on what was held out (NaN where a joint hardly moves there).
        held_rms: RMS of the held-out torque (n,).
        equations: What it was fitted to.
        held: What it was validated with.
        held_used: Which of these equations count (k, n).
        load: What the payload adds to the columns' parameters of the arm (p,).
        taken: Parameters of the columns that were known, 0 of the others (p,).
        notes: What is missing: of the recordings, or why there are no physical parameters.
    """

    model: GearedModel
    base: IdentifiableColumns
    x: Array
    sigma: Array
    solution: LeastSquaresFit
    files: Array
    physical: Physical | None
    rms: Array
    residual: Array
    held_rms: Array
    equations: Equations
    held: Equations
    held_used: BoolArray
    load: Array
    taken: Array
    notes: tuple[str, ...] = ()

    def expected(self, equations: Equations) -> Array:
        """Torques that the base parameters expect (k, n), with what was taken as known.

        Args:
            equations: Of the same columns.
        """
        Y = equations.Y
        return np.asarray(Y @ self.taken + Y[..., list(self.base.selection)] @ self.x)

    def __repr__(self) -> str:
        """One line."""
        return (
            f"<Identified {self.model.name!r}: {len(self.x)} base parameters, "
            f"condition {self.solution.condition:.3g}, {self.quality}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows = zip(self.base.names, self.x, self.sigma, self.files, strict=True)
        title = f"Base parameters of {self.model.name}: {self.quality}"
        heads = ("combination", "value", "standard deviation", "files")
        return table(title, heads, [(name, *map(float, cells)) for name, *cells in rows])

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
        """Standard deviation of each column by name."""
        names = [self.equations.names[k] for k in self.base.selection]
        return dict(zip(names, self.sigma.tolist(), strict=True))

    @property
    def doubtful(self) -> list[str]:
        """Columns whose value is not distinguished from zero within 30 %."""
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
    system = equations(
        model, recordings, settings, known=known, predicted=instruments is None, progress=progress
    )
    columns = None
    if instruments is not None:
        others = fixed(settings, system)
        columns, there = instrument_columns(model, recordings, instruments, others, system)
        alone = int((~there).sum())
        system = system.of_samples(there)
        if alone:
            said = f"left out: {alone} of {len(there)} instants that the instruments do not have"
            system = system._replace(notes=(*system.notes, said))
    base = base_columns(model, known=known)
    selection = list(base.selection)
    x0 = prior(model)
    taken = np.zeros(len(x0))
    known_columns = matching(system.names, known)
    taken[known_columns] = x0[known_columns]
    rest = system.tau - system.Y @ taken
    fitted = system.used & (True if validate else ~system.held[:, None])
    if settings.holdout and not validate:
        where = f" in the {100 * (1 - settings.holdout):.3g} % that are not held out"
        refuse_still(model, system, fitted, recordings[0].path, where)
    Z = None if columns is None else columns[..., selection]
    solution = solve(system.Y[..., selection], rest, fitted, robust=robust, instruments=Z)
    full, load, notes = None, np.zeros(len(x0)), [*system.notes]
    if physical and not known:
        weight = fitted / np.maximum(solution.sigma, 1e-300)
        root = information_root(system.Y[..., selection], weight, solution.covariance)
        load = x0 - prior(empty or model)
        arm = solution.x - base.combinations @ load
        try:
            full = physical_parameters(empty or model, base, arm, root)
        except ModelError as error:  # the base parameters stand without them
            notes.append(f"partial: no physical parameters: {error}")
    held, held_used = system, system.used & system.held[:, None]
    if validate:
        held = equations(model, validate, fixed(settings, system))
        notes += held.notes
        held_used = held.used
    none = np.full(model.n, np.nan)
    expected = held.Y @ taken + held.Y[..., selection] @ solution.x
    residual = np.stack(
        [
            residual_rms(system, x0, fitted),
            deviation(rest - system.Y[..., selection] @ solution.x, fitted),
            residual_rms(system, full.x + load, fitted) if full else none,
            held_out(held, expected, held_used),
            held_out(held, held.Y @ (full.x + load), held_used) if full else none,
            held_out(held, held.Y @ x0, held_used),
        ]
    )
    return Identified(
        model=model, base=base, x=solution.x,
        sigma=np.sqrt(np.maximum(solution.covariance.diagonal(), 0.0)), solution=solution,
        files=base.combinations @ x0, physical=full, rms=deviation(system.tau, fitted),
        residual=residual, held_rms=deviation(held.tau, held_used), equations=system, held=held,
        held_used=held_used, load=load, taken=taken, notes=tuple(notes),
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


def residual_rms(equations: Equations, x: Array, used: BoolArray) -> Array:
    """RMS residual of each joint with all columns' parameters x (p,)."""
    return deviation(equations.tau - equations.Y @ x, used)


def fixed(settings: Settings, equations: Equations) -> Settings:
    """Return the settings with the bandwidths that were found."""
    cutoff, keep = equations.bandwidth
    return replace(settings, bandwidth=cutoff, keep=keep)
