"""Whiteness and consistency of innovations, and the tuning that explains them best.

An innovation of a filter that is right is white, and its square has the variance that the filter
says: NIS / readings has the mean 1, within 1.96 sqrt(2 / (readings k)) in 95 of 100 recordings. Of
several tunings the one of largest likelihood is suggested, -2 log L = sum(nu^2 / S + log S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.observing.replay import Replay, Stretch, replay
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import KalmanGains, kalman_gains

LAGS = 20
BOUND = 1.96  # standard deviations: 95 %
BANDWIDTHS = (5.0, 10.0, 20.0, 30.0, 50.0)  # [Hz]
NOISES = (0.3, 1.0, 3.0, 10.0)  # of the resolution


class Verdict(NamedTuple):
    """How good a tuning is.

    Attributes:
        rms: Of each motor's innovation (m,) [rad].
        expected: What the filter says (m,) [rad].
        correlation: Of each innovation with the one before (m,).
        white: Share of the lags 1 to 20 within the bounds of white noise (m,); near 0.95.
        ratio: Mean of the normalised innovation squared by reading.
        bounds: Of its 95 %, for an exact model.
        likelihood: Mean of -2 log L by reading, without constants: less is better.
        starts: How often the filter had to start.
        samples: How many instants were judged.
    """

    rms: Array
    expected: Array
    correlation: Array
    white: Array
    ratio: float
    bounds: tuple[float, float]
    likelihood: float
    starts: int
    samples: int

    @property
    def consistent(self) -> bool:
        """Whether the ratio is within its bounds."""
        return self.bounds[0] <= self.ratio <= self.bounds[1]


class Suggestion(NamedTuple):
    """A tuning and its verdict."""

    bandwidth: float
    noise: float
    verdict: Verdict


def verdict(found: Replay) -> Verdict:
    """Judge innovations."""
    k, m = found.innovation.shape
    scaled = found.innovation / found.deviation
    spread = BOUND * np.sqrt(2.0 / (m * k))
    lags = np.array([autocorrelation(scaled, found.after, lag) for lag in range(1, LAGS + 1)])
    white = np.mean(np.abs(lags) <= BOUND / np.sqrt(k), axis=0)
    return Verdict(
        rms=np.sqrt(np.nanmean(found.innovation**2, axis=0)),
        expected=np.sqrt(np.mean(found.deviation**2, axis=0)),
        correlation=lags[0],
        white=white,
        ratio=float(np.mean(found.nis)),
        bounds=(1.0 - spread, 1.0 + spread),
        likelihood=float(np.nanmean(scaled**2 + 2.0 * np.log(found.deviation))),
        starts=found.starts,
        samples=k,
    )


def autocorrelation(x: Array, after: Array, lag: int) -> Array:
    """Of columns of x (k, m) with themselves ``lag`` rows before, within stretches (m,)."""
    breaks = np.cumsum(~after.astype(bool))
    together = breaks[lag:] == breaks[:-lag]
    a, b = x[lag:][together], x[:-lag][together]
    if not len(a):
        return np.full(x.shape[1], np.nan)
    return np.asarray(np.nanmean(a * b, axis=0) / np.nanmean(x**2, axis=0))


def suggest(
    model: GearedModel,
    given: list[Stretch],
    resolution: float,
    rate: float,
    *,
    bandwidths: Sequence[float] = BANDWIDTHS,
    noises: Sequence[float] = NOISES,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Suggestion:
    """The tuning of largest likelihood on a grid.

    Args:
        model: Geared model with elastic joints.
        given: Samples.
        resolution: Of the motors' encoders [rad].
        rate: Of the samples [1/s].
        bandwidths: To try [Hz].
        noises: To try, as parts of the resolution.
        progress: Told how many of how many are done.

    Raises:
        RecordingError: where no tuning keeps the filter running.
    """
    best: Suggestion | None = None
    grid = [(w, share * resolution) for w in bandwidths for share in noises]
    for done, (bandwidth, noise) in enumerate(grid, start=1):
        gains = gains_of(model, resolution, noise, bandwidth, rate)
        try:
            judged = verdict(replay(model, gains, given))
        except RecordingError:  # this tuning loses the arm all the time
            progress(done, len(grid))
            continue
        if best is None or judged.likelihood < best.verdict.likelihood:
            best = Suggestion(bandwidth, noise, judged)
        progress(done, len(grid))
    if best is None:
        remedy = "compare resolution, units and the drivetrain with the robot"
        raise RecordingError("suggest", "no tuning keeps the filter running", remedy)
    return best


def gains_of(
    model: GearedModel, resolution: float, noise: float, bandwidth: float, rate: float
) -> KalmanGains:
    """Gains of the filter for samples at a rate."""
    return kalman_gains(
        model,
        resolution=resolution,
        noise=noise,
        bandwidth=bandwidth,
        rate=rate,
        hold=max(0.05, 5.0 / rate),
    )
