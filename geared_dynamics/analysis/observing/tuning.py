"""Whiteness and consistency of innovations, and the noise that fits them.

An innovation of a filter that is right is white, and its square has the variance that the filter
says: NIS / readings has the mean 1, within 1.96 sqrt(2 / (readings k)) in 95 of 100 recordings. It
is less where the forces that the bandwidth admits do not act: at 30 Hz and 1 kHz about half of the
expected variance is theirs. That is careful, not wrong; only more than 1 is inconsistent.

The encoders' noise scales every covariance and no gain: what fits follows at once from the NIS.
Bandwidths are compared by their likelihood with the noise that fits each,
-2 log L = 1 + log mean(nu^2 / S) + mean log S.
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
BANDWIDTHS = (5.0, 10.0, 20.0, 30.0, 50.0, 80.0)  # [Hz]
ROUNDS = 4  # With another noise other readings may be left out: it is fitted again.


class Verdict(NamedTuple):
    """How good a tuning is.

    Attributes:
        rms: Of each motor's innovation (m,) [rad].
        expected: What the filter says (m,) [rad].
        correlation: Of each innovation with the one before (m,).
        white: Share of the lags 1 to 20 within the bounds of white noise (m,); near 0.95.
        ratio: Mean of the normalised innovation squared by reading.
        bounds: Of its 95 %, for an exact model.
        likelihood: Mean of -2 log L by reading with the noise that fits best, without constants:
            less is better.
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
        """Whether the innovations are no larger than expected."""
        return self.ratio <= self.bounds[1]

    @property
    def careful(self) -> bool:
        """Whether they are smaller than expected."""
        return self.ratio < self.bounds[0]


class Suggestion(NamedTuple):
    """Noise for a wanted bandwidth, and what the recording says of the bandwidth.

    Attributes:
        bandwidth: As it was wanted [Hz].
        noise: With which the innovations are as large as expected [rad].
        verdict: Of both.
        likeliest: The bandwidth of largest likelihood among those tried [Hz].
        at_edge: Whether that is the first or last of them: the recording then does not tell it.
    """

    bandwidth: float
    noise: float
    verdict: Verdict
    likeliest: float
    at_edge: bool


def verdict(found: Replay) -> Verdict:
    """Judge innovations."""
    k, m = found.innovation.shape
    scaled = found.innovation / found.deviation
    spread = float(BOUND * np.sqrt(2.0 / (m * k)))
    lags = np.array([autocorrelation(scaled, found.after, lag) for lag in range(1, LAGS + 1)])
    white = np.mean(np.abs(lags) <= BOUND / np.sqrt(k), axis=0)
    return Verdict(
        rms=np.sqrt(np.nanmean(found.innovation**2, axis=0)),
        expected=np.sqrt(np.mean(found.deviation**2, axis=0)),
        correlation=lags[0],
        white=white,
        ratio=float(np.mean(found.nis)),
        bounds=(1.0 - spread, 1.0 + spread),
        likelihood=float(
            1.0 + np.log(np.nanmean(scaled**2)) + np.mean(2.0 * np.log(found.deviation))
        ),
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


def fitting_noise(noise: float, resolution: float, ratio: float) -> float:
    """Noise beside the resolution that makes the mean NIS one where it was ``ratio`` [rad].

    With motors alone walk, torque noise and reading noise are all proportional to the encoders'
    deviation: it scales the covariance and leaves the gain as it is.
    """
    steps = resolution**2 / 12.0
    return float(np.sqrt(max(0.0, ratio * (noise**2 + steps) - steps)))


def suggest(
    model: GearedModel,
    given: list[Stretch],
    resolution: float,
    noise: float,
    bandwidth: float,
    rate: float,
    *,
    bandwidths: Sequence[float] = BANDWIDTHS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Suggestion:
    """The noise that fits a wanted bandwidth, and the likelihood of other bandwidths.

    Args:
        model: Geared model with elastic joints.
        given: Samples.
        resolution: Of the motors' encoders [rad].
        noise: Beside it, where to begin [rad].
        bandwidth: Wanted [Hz].
        rate: Of the samples [1/s].
        bandwidths: To compare [Hz].
        progress: Told how many of how many are done.

    Raises:
        RecordingError: where the filter does not run with the wanted bandwidth.
    """
    likelihoods: dict[float, float] = {}
    grid = sorted(bandwidths)
    for done, other in enumerate(grid, start=1):
        gains = gains_of(model, resolution, noise, other, rate)
        try:
            likelihoods[other] = verdict(replay(model, gains, given)).likelihood
        except RecordingError:  # this tuning loses the arm all the time
            likelihoods[other] = np.inf
        progress(done, len(grid))
    likeliest = min(grid, key=likelihoods.__getitem__)
    judged = verdict(replay(model, gains_of(model, resolution, noise, bandwidth, rate), given))
    for _ in range(ROUNDS):
        noise = fitting_noise(noise, resolution, judged.ratio)
        judged = verdict(replay(model, gains_of(model, resolution, noise, bandwidth, rate), given))
        if judged.consistent:
            break
    return Suggestion(bandwidth, noise, judged, likeliest, likeliest in (grid[0], grid[-1]))


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
