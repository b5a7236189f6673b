"""A recording replayed through the Kalman filter, and the noise that fits its innovations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.innovation_whiteness import Whiteness, noise_alone, white, whiteness
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import ArrayError, RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import KalmanGains, KalmanState, kalman_gains, kalman_observer
from geared_dynamics.recordings.motions import Meaning, joint_torques
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.spans import MotionReader

# -- A recording through the Kalman filter of an elastic arm --------------------------------------


SETTLING = 0.2  # [s] after a start that are not judged
INSTANTS = 8  # at which the innovations of noise alone are computed


class ReplayedStretch(NamedTuple):
    """Samples in order, without gaps.

    Attributes:
        time: (k,) [s].
        phi: The motors' angles (k, m) [rad].
        tau_m: Their torques (k, m) [N m].
    """

    time: Array
    phi: Array
    tau_m: Array


class Replay(NamedTuple):
    """Innovations of the motors' encoders after the filter has settled.

    Attributes:
        innovation: (k, m) [rad]; NaN where a reading was left out.
        deviation: What the filter expects (k, m) [rad].
        nis: Normalised innovation squared by the number of readings (k,).
        after: Whether a row follows the one before at once (k,).
        starts: How often the filter had to start.
        alone: Autocovariance of each innovation by each encoder's noise alone, over ``deviation``
            squared (LAGS + 1, m, m), averaged over some instants.
        noise: Of the encoders' readings as stated, rounding included (m,) [rad].
    """

    innovation: Array
    deviation: Array
    nis: Array
    after: Array
    starts: int
    alone: Array
    noise: Array


def stretches(
    model: GearedModel, recording: Recording, meaning: Meaning, longest: float
) -> list[ReplayedStretch]:
    """The first ``longest`` seconds of a recording, on the motors' side.

    Raises:
        RecordingError: where there is nothing to replay.
    """
    found: list[ReplayedStretch] = []
    left = longest
    back = model.motor_map.inverse
    reader = MotionReader(model, recording, meaning)
    for span in range(recording.spans):
        for part in reader.cleaned(span, 0).stretches:
            if left <= 0.0:
                return found
            time = 1e-9 * (part.samples.stamp - part.samples.stamp[0])
            rows = time <= left
            samples = reader.unwrapped(part).samples.rows(rows)
            q = samples.position
            tau = joint_torques(model, meaning, q, samples.effort)
            phi = q @ model.structure_matrix + model.motor_zeros
            if len(phi) > 2:
                found.append(ReplayedStretch(time[rows], phi, tau @ back.T))
                left -= float(found[-1].time[-1])
    if not found:
        finding = "contains no gap-free interval of three or more positions and efforts"
        remedy = "record joint states with both, without gaps"
        raise RecordingError(recording.path, finding, remedy)
    return found


def replay(model: GearedModel, gains: KalmanGains, given: list[ReplayedStretch]) -> Replay:
    """Run the filter along stretches; it starts again where its estimate became invalid."""
    m = len(model.motor_names)
    rows: list[tuple[Array, Array, float, bool]] = []
    alone: list[Array] = []
    every = max(1, sum(len(stretch.time) for stretch in given) // INSTANTS)
    starts = 0
    for stretch in given:
        since, follows = -1.0, False
        for time, before, after in followed(model, gains, stretch):
            if before is None:
                starts, since, follows = starts + 1, time, False
                continue
            if time - since >= SETTLING and after.used:
                skipped = after.health.channels[:m] != 0
                innovation = np.where(skipped, np.nan, after.innovation[:m])
                if len(rows) % every == 0:
                    shape = noise_alone(model, gains, after, after.health.tau_m)
                    alone += [] if shape is None else [shape]
                rows.append((innovation, after.deviation[:m], after.nis / after.used, follows))
                follows = True
            else:
                follows = False
    if not rows:
        finding = f"the filter never ran for {SETTLING:g} s without a restart ({starts} starts)"
        remedy = "compare --resolution, --rate and the drivetrain with the robot, or record longer"
        raise RecordingError("replay", finding, remedy)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    shape = np.mean(alone, axis=0) if alone else white(m)
    return Replay(columns[0], columns[1], columns[2], columns[3], starts, shape, gains.noise[:m])


def followed(
    model: GearedModel, gains: KalmanGains, stretch: ReplayedStretch
) -> Iterator[tuple[float, KalmanState | None, KalmanState]]:
    """Time [s], state before (None at a start) and after each sample."""
    observer = kalman_observer(model, gains=gains)
    state: KalmanState | None = None
    last = 0.0
    for time, phi, tau_m in zip(*stretch, strict=True):
        measurement = Measurement(phi, tau_m)
        if state is None or not state.health.valid:
            try:
                state, last = observer.start(measurement), time
            except ArrayError:  # an encoder is missing
                state = None
                continue
            yield float(time), None, state
            continue
        before = state
        state, last = observer.step(state, measurement, float(time - last)), time
        if state.health.valid:
            yield float(time), before, state


# -- Consistency of innovations, and the noise of the encoders that fits them ---------------------
#
# The square of a right filter's innovation has the variance that the filter states: NIS / readings
# has the mean 1, within 1.96 sqrt(2 / (readings k)) in 95 of 100 recordings. Where the forces that
# the bandwidth admits do not act it is less, down to what noise of the encoders alone gives
# (``whiteness``): 0.9 at 30 Hz and 1 kHz, 0.65 at 250 Hz. More than 1 is inconsistent, less than
# noise alone gives is careful.
#
# The encoders' noise scales every covariance and no gain. So it explains innovations that are
# white, or as anti-correlated as noise alone makes them, of whatever size; ``whiteness`` computes
# by how much it is misstated for each motor. It explains no others: innovations of another colour
# come from the model, a delay or a force. They are not consistent, and no noise is proposed for
# them.
#
# Bandwidths are compared by their likelihood with the noise that fits each,
# -2 log L = 1 + log mean(nu^2 / S) + mean log S.


BOUND = 1.96  # standard deviations: 95 %
BANDWIDTHS = (5.0, 10.0, 20.0, 30.0, 50.0, 80.0)  # [Hz]
ROUNDS = 4  # With another noise other readings may be left out: it is fitted again.
CLOSE = 0.002  # Noise whose variance changes by less is fitted.


class Verdict(NamedTuple):
    """How good a tuning is.

    Attributes:
        rms: Of each motor's innovation (m,) [rad].
        expected: What the filter says (m,) [rad].
        white: Correlations, and which motors' innovations noise does not explain.
        ratio: Mean of the normalised innovation squared by reading.
        bounds: Of its 95 %, for an exact model: from encoders' noise alone to forces as expected.
        likelihood: Mean of -2 log L by reading with the noise that fits best, without constants:
            less is better.
        starts: How often the filter had to start.
        samples: How many instants were judged.
        skipped: How many readings were left out in them.
    """

    rms: Array
    expected: Array
    white: Whiteness
    ratio: float
    bounds: tuple[float, float]
    likelihood: float
    starts: int
    samples: int
    skipped: int

    @property
    def coloured(self) -> bool:
        """Whether some motor's innovations are correlated beyond what noise explains."""
        return bool(self.white.coloured.any())

    @property
    def consistent(self) -> bool:
        """Whether the innovations are no larger than expected, and such as noise makes them."""
        return self.ratio <= self.bounds[1] and not self.coloured

    @property
    def careful(self) -> bool:
        """Whether they are smaller than noise of the encoders alone would make them."""
        return self.ratio < self.bounds[0] and not self.coloured


class Suggestion(NamedTuple):
    """Noise for a wanted bandwidth, and what the recording says of the bandwidth.

    Attributes:
        bandwidth: As it was wanted [Hz].
        noise: Of each motor's encoder with which the innovations are as large as expected
            (m,) [rad]; None where they are coloured: no noise explains them.
        verdict: Of both; of the last noise that was tried where they are coloured.
        likeliest: The bandwidth of largest likelihood among those tried [Hz].
        at_edge: Whether that is the first or last of them: the recording then does not tell it.
        coloured: Those at which noise does not explain the innovations, or the arm is lost [Hz].
    """

    bandwidth: float
    noise: Array | None
    verdict: Verdict
    likeliest: float
    at_edge: bool
    coloured: tuple[float, ...]


def verdict(found: Replay, resolution: ArrayLike) -> Verdict:
    """Judge innovations; ``resolution`` is of the motors' encoders (m,) or of all [rad]."""
    k, m = found.innovation.shape
    scaled = found.innovation / found.deviation
    spread = float(BOUND * np.sqrt(2.0 / (m * k)))
    steps = np.broadcast_to(np.asarray(resolution, np.float64), (m,))
    return Verdict(
        rms=np.sqrt(np.nanmean(found.innovation**2, axis=0)),
        expected=np.sqrt(np.mean(found.deviation**2, axis=0)),
        white=whiteness(
            found.innovation, found.deviation, found.after, found.alone, found.noise, steps
        ),
        ratio=float(np.mean(found.nis)),
        bounds=(float(np.mean(np.sum(found.alone[0], axis=1))) - spread, 1.0 + spread),
        likelihood=float(
            1.0 + np.log(np.nanmean(scaled**2)) + np.mean(2.0 * np.log(found.deviation))
        ),
        starts=found.starts,
        samples=k,
        skipped=int(np.count_nonzero(np.isnan(scaled))),
    )


def fitting_noise(noise: Array, resolution: float, scale: Array) -> Array:
    """Noise beside the resolution whose variance, rounding included, is ``scale`` times as large.

    With motors alone walk, torque noise and reading noise are all proportional to the encoders'
    deviation: it scales the covariance and leaves the gain as it is.
    """
    steps = resolution**2 / 12.0
    return np.asarray(np.sqrt(np.maximum(0.0, scale * (noise**2 + steps) - steps)))


def suggest(
    model: GearedModel,
    given: list[ReplayedStretch],
    resolution: float,
    noise: float,
    bandwidth: float,
    rate: float,
    *,
    search: list[ReplayedStretch] | None = None,
    bandwidths: Sequence[float] = BANDWIDTHS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Suggestion:
    """The noise that fits a wanted bandwidth, and the likelihood of other bandwidths.

    Args:
        model: Geared model with elastic joints.
        given: Samples to fit and judge the noise with.
        resolution: Of the motors' encoders [rad].
        noise: Beside it, where to begin [rad].
        bandwidth: Wanted [Hz].
        rate: Of the samples [1/s].
        search: Samples to compare bandwidths with; ``given`` if not given.
        bandwidths: To compare [Hz].
        progress: Called with how many of how many are done.

    Raises:
        RecordingError: where the filter does not run with the wanted bandwidth.
    """
    likelihoods: dict[float, float] = {}
    coloured: list[float] = []
    grid = sorted(bandwidths)
    for done, other in enumerate(grid, start=1):
        gains = gains_of(model, resolution, noise, other, rate)
        try:
            replayed = replay(model, gains, given if search is None else search)
            found = verdict(replayed, resolution)
            likelihoods[other] = found.likelihood
            coloured += [other] if found.coloured else []
        except RecordingError:  # this tuning loses the arm all the time
            likelihoods[other] = np.inf
            coloured.append(other)
        progress(done, len(grid))
    likeliest = min(grid, key=likelihoods.__getitem__)
    fitted, judged = fitted_noise(model, given, resolution, noise, bandwidth, rate)
    at_edge = likeliest in (grid[0], grid[-1])
    return Suggestion(bandwidth, fitted, judged, likeliest, at_edge, tuple(coloured))


def fitted_noise(
    model: GearedModel,
    given: list[ReplayedStretch],
    resolution: float,
    noise: float,
    bandwidth: float,
    rate: float,
) -> tuple[Array | None, Verdict]:
    """Noise of each motor's encoder (m,) [rad], None where none fits, and the last verdict."""
    beside = np.full(len(model.motor_names), noise)
    for left in reversed(range(ROUNDS + 1)):
        gains = gains_of(model, resolution, beside, bandwidth, rate)
        judged = verdict(replay(model, gains, given), resolution)
        complete = not judged.skipped and judged.starts <= len(given)
        if judged.coloured and complete:  # another noise gives the same innovations
            break
        better = fitting_noise(beside, resolution, judged.white.scale)
        change = np.abs(better**2 - beside**2) / gains.noise[: len(beside)] ** 2
        if not left or np.all(change < CLOSE):
            break
        beside = better
    return None if judged.coloured else beside, judged


def gains_of(
    model: GearedModel, resolution: float, noise: ArrayLike, bandwidth: float, rate: float
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
