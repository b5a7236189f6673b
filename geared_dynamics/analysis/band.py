"""The band of the equations: the one in which torques that were not fitted are predicted best.

Too low a band leaves out motion, and equations; too high a one fills them with noise of the
torques, and of positions that were differentiated twice. Where between them the best band lies
depends on the motion, the sensors, friction that no column has, and on how long a recording is
without a gap, so the recording itself is asked. In each band of a grid the equations are cut into
FOLDS blocks in time, and the parameters that the other blocks give predict a block's torque
(cross-validation, Stone 1974). E(b, c) is the error in band c, over the RMS of the torque there,
of parameters from band b; geometric mean of the joints, blocks taken together.

- E(b, b) is what ``identify`` prints. In torques with noise it falls with the band, also below
  the motion, where gravity and friction are left and inertias mean nothing. So it decides only
- among bands whose parameters are as good as those of any other in one band common to all, that
  of the motion: E(b, m) <= AS_GOOD min E(., m), m the bandwidth of the positions (``signals``).

Each E(b, b) is averaged with those of the two bands beside it, for one alone is by chance the
least. What is held out for validation is not looked at; of long recordings a few spans decide.
Where a block has AGREED times the error that another band gives it, the result is unsure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.identification_rows import (
    PER_BANDWIDTH,
    EquationRows,
    Settings,
    count_of,
    joined_motions,
    spacing,
    thinned,
    together,
    top_speeds,
)
from geared_dynamics.analysis.parameter_columns import base_columns, column_names, matching, prior
from geared_dynamics.arrays import Array, BoolArray, IntArray
from geared_dynamics.recordings.container import spread
from geared_dynamics.recordings.motions import JointMotion, filtered_motion
from geared_dynamics.recordings.samples import Stretch
from geared_dynamics.recordings.signals import HIGHEST_KEPT, WIDER, usable_cutoff
from geared_dynamics.recordings.spans import SETTLING, MotionReader, found_bandwidth, settled

STEP = 1.2  # from one band of the grid to the next: the lowest that can be judged
SKIPPED = 2  # of these steps from there on: errors grow less than a band does
HALVED = 2  # times the step below the lowest band that can be judged
FOLDS = 5  # blocks in time, each predicted from the others
FEWEST = 20  # equations of a joint with which it is validated
HOPELESS = 3.0  # times the least score: higher bands are not tried
SAMPLED = 4  # spans that are looked at
FINE = 16  # samples of a motion to one equation that are enough to compare bands
ROWS = 4000  # equations that are enough to compare bands
ROUNDS = 4  # of weighting joints by their residual
SPARE = 5  # more are asked for: thinning is not the same in the end, by their root or so
SHARE = 0.5  # of a recording that has as many, where none is held out
MOVING = 0.3  # of what is held out: a joint that moves less is not waited for
PER_UNKNOWN = 10  # equations: with fewer, deviations are guesses
AS_GOOD = 1.1  # times the least error
AGREED = 1.2  # times the least error of a block
EXACT = 1e-3  # of the torque: of smaller errors none is better


@dataclass(frozen=True, eq=False)
class Judged:
    """A band [Hz], and all that least squares need of its equations.

    R (folds, n, b + 1, b + 1) with R'R = [Y tau]'[Y tau] of each block and joint, and the number
    of equations of each (folds, n).
    """

    keep: float
    R: Array
    counts: IntArray

    @cached_property
    def parameters(self) -> Array:
        """Parameters (folds, b) that the other blocks give for each."""
        return np.array([without_block(self, block) for block in range(len(self.R))])

    @cached_property
    def size(self) -> Array:
        """Squares of the torque (n,), summed up over all blocks."""
        return np.asarray(np.maximum((self.R[..., -1] ** 2).sum(axis=(0, 2)), 1e-300))

    def left(self, parameters: Array) -> Array:
        """Squares (folds, n) of what each block's parameters (folds, b) leave of its torque."""
        expected = np.einsum("fnij,fj->fni", self.R[..., :-1], parameters)
        return np.asarray(((self.R[..., -1] - expected) ** 2).sum(axis=-1))


class Sampled(NamedTuple):
    """Stretches of a recording that decide, and whether they are all of it."""

    reader: MotionReader
    stretches: list[Stretch]
    whole: bool


def band_found(
    readers: Sequence[MotionReader],
    settings: Settings,
    known: Sequence[str] = (),
) -> tuple[float | None, list[str]]:
    """The band in which torques are predicted best [Hz], and what is doubtful about it.

    None where no band leaves equations enough to be judged.

    Args:
        readers: Of recordings of the same robot and meaning; of their model's parameters only
            those that are known matter.
        settings: How they become equations.
        known: Names or patterns of parameters that are not to be found.
    """
    judged = judged_bands(readers, settings, known)
    if not judged:
        return None, [
            "unsure: too few equations to compare bands, so the band is what the positions say: "
            "record longer motions of all joints, with fewer gaps"
        ]
    reach = max(map(found_bandwidth, readers))
    best = chosen(judged, reach)
    notes = differing(judged, best)
    rate = max(reader.recording.rate for reader in readers)
    if best.keep >= HIGHEST_KEPT * rate:
        notes.append(
            f"unsure: torques are predicted best in the highest band that {rate:.4g} Hz allow, "
            f"{best.keep:.3g} Hz: record more samples per second if the motion is that fast"
        )
    return best.keep, notes


def judged_bands(
    readers: Sequence[MotionReader],
    settings: Settings,
    known: Sequence[str] = (),
) -> list[Judged]:
    """Bands of the grid that can be judged, from low to high; empty if none can."""
    model = readers[0].model
    sampled = [sampled_of(reader, settings, len(readers)) for reader in readers]
    base, names = base_columns(model, known=known), column_names(model)
    taken = np.zeros(len(names))
    known_columns = matching(names, known)
    taken[known_columns] = prior(model)[known_columns]
    unknown = len(base.selection)

    def judged_in(keep: float) -> Judged | None:
        found = equations_in(sampled, settings, keep, unknown)
        if found is None:
            return None
        rows, used, fold = found
        table = np.concatenate(
            [rows.Y[..., list(base.selection)], (rows.tau - rows.Y @ taken)[..., None]],
            axis=-1,
        )
        return Judged(keep, *triangles(table, used, fold))

    judged: list[Judged] = []
    grid, k, least = grid_of(sampled, settings), 0, np.inf
    while k < len(grid):
        found = judged_in(float(grid[k]))
        if found is not None:
            if not judged and k:
                judged += lowest_between(judged_in, float(grid[k - 1]), float(grid[k]))
            judged.append(found)
            score = float(np.exp(errors(judged[-1:])[0, 0]))
            least = min(least, score)
            if score > HOPELESS * least:
                break
        k += SKIPPED if judged else 1
    return judged


def lowest_between(
    judged_in: Callable[[float], Judged | None], low: float, high: float
) -> list[Judged]:
    """The lowest band that can be judged between one that cannot and one that can [Hz]; or none.

    Where noise decides, errors grow faster than bands do, and the lowest band is the best.
    """
    lowest = []
    for _ in range(HALVED):
        middle = float(np.sqrt(low * high))
        between = judged_in(middle)
        if between is None:
            low = middle
        else:
            lowest, high = [between], middle
    return lowest


def chosen(judged: Sequence[Judged], reach: float) -> Judged:
    """The band that predicts best, of those whose parameters are as good as any.

    Errors below ``EXACT`` do not say which is best: of such bands the one whose parameters have
    the least deviation, by error over the root of the number of equations.

    Args:
        judged: Bands, from low to high.
        reach: Up to where there is motion [Hz].
    """
    E = errors(judged)
    common = E[:, max(0, sum(band.keep <= reach for band in judged) - 1)]
    as_good = common <= common.min() + np.log(AS_GOOD)
    scores = E.diagonal()
    own = np.array([scores[max(0, k - 1) : k + 2].mean() for k in range(len(scores))])
    own = np.where(as_good, own, np.inf)
    if own.min() < np.log(EXACT):
        equations = np.array([band.counts.sum() for band in judged])
        own = np.where(own < np.log(EXACT), own - 0.5 * np.log(equations), np.inf)
    return judged[int(np.argmin(own))]


def grid_of(sampled: Sequence[Sampled], settings: Settings) -> Array:
    """Bands [Hz] from the lowest that has equations enough to the highest that the rate allows."""
    seconds = sum(
        len(part.core) / item.reader.recording.rate for item in sampled for part in item.stretches
    )
    share = settings.holdout or SHARE
    lowest = FEWEST / (PER_BANDWIDTH * share * max(seconds, 1e-9))
    highest = HIGHEST_KEPT * max(item.reader.recording.rate for item in sampled)
    lowest = min(lowest, highest)
    count = int(np.log(max(highest / lowest, 1.0)) / np.log(STEP)) + 1
    return np.asarray(np.append(lowest * STEP ** np.arange(count), highest))


def sampled_of(reader: MotionReader, settings: Settings, among: int) -> Sampled:
    """Read what decides of a recording that is one of several."""
    most = max(1, SAMPLED // among)
    spans = reader.recording.spans
    whole = spans <= most
    numbers = range(spans) if whole else spread(int((1.0 - settings.holdout) * spans), most)
    parts = [part for span in numbers for part in reader.cleaned(span, 0).stretches]
    return Sampled(reader, [reader.unwrapped(part) for part in parts], whole)


def equations_in(
    sampled: Sequence[Sampled],
    settings: Settings,
    keep: float,
    unknown: int,
) -> tuple[EquationRows, BoolArray, IntArray] | None:
    """Rows in a band, which of their equations are used (k, n), blocks (k,); None: too few."""
    every, held, fold = [], [], []
    for item in sampled:
        own = rows_of(item, keep)
        k = count_of(own)
        if not k:
            return None
        place, last = np.arange(k) / k, 1.0 - settings.holdout if item.whole else 1.0
        every.append(together(own))
        held.append(place >= last)
        fold.append((place / last * FOLDS).astype(np.int64))
    rows, kept = together(every), np.concatenate(held)
    used = np.abs(rows.v) > settings.slow * top_speeds(sampled[0].reader.model, rows.v)
    enough = FEWEST + SPARE
    few = used[~kept].sum(axis=0).min() < enough
    if few or used[~kept].sum() < max(PER_UNKNOWN * unknown, 2 * rows.Y.shape[-1]):
        return None
    moving = used[kept].sum(axis=0)
    if (moving[moving > MOVING * kept.sum()] < enough).any():
        return None  # the validation would have too few
    some = np.flatnonzero(~kept)[:: -(-int((~kept).sum()) // ROWS)]
    thin = np.zeros(len(kept), bool)
    thin[some] = True
    chosen_rows = rows.of_samples(thin)
    return chosen_rows, used[some], np.concatenate(fold)[some]


def rows_of(item: Sampled, keep: float) -> list[EquationRows]:
    """Rows of a recording in a band."""
    reader, recording = item.reader, item.reader.recording
    rate, period = recording.rate, recording.period
    cutoff = usable_cutoff(WIDER * keep, rate)
    apart = spacing(recording, keep)
    each = max(1, apart // FINE)
    width = each / rate if each > 1 else 0.0
    parts = []
    for stretch in item.stretches:
        part = filtered_motion(stretch, period, cutoff, velocity=reader.velocity)
        if part is not None:
            parts.append(settled(part, int(np.ceil(SETTLING * rate / cutoff))))
    own, wider = rate / each, apart // each
    return [
        thinned(reader.model, reader.meaning, every(part, each), own, keep, wider, width)
        for part in joined_motions(parts, period)
    ]


def every(part: JointMotion, step: int) -> JointMotion:
    """One sample of ``step`` of a motion."""
    q, v, a, effort, raw = (values[::step] for values in part[1:6])
    return JointMotion(part.stamp[::step], q, v, a, effort, raw, part.core[::step])


def triangles(table: Array, used: BoolArray, fold: IntArray) -> tuple[Array, IntArray]:
    """R of each block and joint (folds, n, b + 1, b + 1), and how many equations (folds, n).

    Args:
        table: Columns and torque (k, n, b + 1).
        used: Which equations count (k, n).
        fold: The block of each sample (k,).
    """
    n, width = table.shape[1:]
    R, counts = np.zeros((FOLDS, n, width, width)), np.zeros((FOLDS, n), np.int64)
    for i in range(FOLDS):
        for j in range(n):
            own = table[(fold == i) & used[:, j], j]
            triangle = np.linalg.qr(own, mode="r")
            R[i, j, : len(triangle)], counts[i, j] = triangle, len(own)
    return R, counts


def errors(judged: Sequence[Judged]) -> Array:
    """Logarithms of E (bands, bands): error of a band's parameters (row) in a band (column)."""
    left = np.array([[c.left(b.parameters).sum(axis=0) / c.size for c in judged] for b in judged])
    return np.asarray(0.5 * np.log(np.maximum(left, 1e-24)).mean(axis=-1))


def differing(judged: Sequence[Judged], best: Judged) -> list[str]:
    """What is doubtful where blocks of the recording differ about the band; else nothing."""
    there = np.array([band.counts >= FEWEST / FOLDS for band in judged]).all(axis=0)  # (folds, n)
    left = np.array([band.left(band.parameters) / band.size for band in judged])
    logs = 0.5 * np.log(np.maximum(left, 1e-24)) * there
    means = logs.sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    own = np.maximum(means + 0.5 * np.log(len(best.R)), np.log(EXACT))  # (bands, folds)
    more = own[judged.index(best)] - own.min(axis=0)
    block = int(np.argmax(more))
    if more[block] <= np.log(AGREED):
        return []
    other = judged[int(np.argmin(own[:, block]))].keep
    return [
        f"unsure which low-pass cut-off is best: filtered below {best.keep:.3g} Hz, part "
        f"{block + 1} of {len(more)} is predicted {np.exp(more[block]):.3g} times worse than "
        f"below {other:.3g} Hz. Repeat with --bandwidth {WIDER * other:.3g} (equations below "
        f"{other:.3g} Hz) and compare, or record a longer motion."
    ]


def without_block(band: Judged, block: int) -> Array:
    """Parameters (b,) that the other blocks give, joints weighted by their residual."""
    others = np.arange(len(band.R)) != block
    R, counts = band.R[others], np.maximum(band.counts[others].sum(axis=0), 1)
    size = np.sqrt((R[..., -1] ** 2).sum(axis=(0, 2)) / counts)
    size = np.where(size > 0.0, size, 1.0)  # efforts of zero are refused later
    weight, x = 1.0 / size, np.zeros(R.shape[-1] - 1)
    for _ in range(ROUNDS):
        stacked = (R * weight[:, None, None]).reshape(-1, R.shape[-1])
        scale = np.maximum(np.linalg.norm(stacked[:, :-1], axis=0), 1e-300)
        x = np.linalg.lstsq(stacked[:, :-1] / scale, stacked[:, -1], rcond=None)[0] / scale
        apart = R @ np.append(-x, 1.0)
        own = np.sqrt((apart**2).sum(axis=(0, 2)) / counts)
        weight = 1.0 / np.maximum(own, 1e-12 * size)
    return np.asarray(x)
