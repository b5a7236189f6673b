"""A recording through the Kalman filter of an elastic arm: its innovations, instant by instant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.observing.whiteness import noise_alone, white
from geared_dynamics.analysis.reading.cleaning import Stretch as Cleaned
from geared_dynamics.analysis.reading.cleaning import clean
from geared_dynamics.analysis.reading.meaning import (
    Meaning,
    joint_positions,
    joint_torques,
)
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.analysis.signals.turns import without_turns
from geared_dynamics.arrays import Array
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import (
    KalmanGains,
    KalmanState,
    Measurement,
    kalman_start,
    kalman_step,
)

SETTLING = 0.2  # [s] after a start that are not judged
INSTANTS = 8  # at which the innovations of noise alone are computed


class Stretch(NamedTuple):
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
) -> list[Stretch]:
    """The first ``longest`` seconds of a recording, on the motors' side.

    Raises:
        RecordingError: where there is nothing to replay.
    """
    found: list[Stretch] = []
    left = longest
    back = np.linalg.pinv(model.structure_matrix)
    for span in range(recording.spans):
        read = recording.read(span, 0)
        for part in clean(read.samples, read.core, recording.period).stretches:
            if left <= 0.0:
                return found
            time = 1e-9 * (part.samples.stamp - part.samples.stamp[0])
            rows = time <= left
            samples = part.samples.rows(rows)
            q = joint_positions(model, meaning, samples.position)
            joints = Cleaned(samples._replace(position=q), part.core[rows])
            q = without_turns(model, meaning, joints)[0].samples.position
            tau = joint_torques(model, meaning, q, samples.effort)
            phi = q @ model.structure_matrix + model.motor_zeros
            if len(phi) > 2:
                found.append(Stretch(time[rows], phi, tau @ back.T))
                left -= float(found[-1].time[-1])
    if not found:
        remedy = "record joint states with positions and efforts"
        raise RecordingError(recording.path, "has no stretch of samples without gaps", remedy)
    return found


def replay(model: GearedModel, gains: KalmanGains, given: list[Stretch]) -> Replay:
    """Run the filter along stretches; it starts anew where its estimate became invalid."""
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
        finding = f"in no instant the filter had run for {SETTLING:g} s ({starts} starts)"
        remedy = "compare --resolution, --rate and the drivetrain with the robot, or record longer"
        raise RecordingError("replay", finding, remedy)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    shape = np.mean(alone, axis=0) if alone else white(m)
    return Replay(columns[0], columns[1], columns[2], columns[3], starts, shape, gains.noise[:m])


def followed(
    model: GearedModel, gains: KalmanGains, stretch: Stretch
) -> Iterator[tuple[float, KalmanState | None, KalmanState]]:
    """Time [s], state before (None at a start) and after each sample."""
    state: KalmanState | None = None
    last = 0.0
    for time, phi, tau_m in zip(*stretch, strict=True):
        measurement = Measurement(phi, tau_m)
        if state is None or not state.health.valid:
            try:
                state, last = kalman_start(model, gains, measurement), time
            except ArrayError:  # an encoder is missing
                state = None
                continue
            yield float(time), None, state
            continue
        before = state
        state, last = kalman_step(model, gains, state, measurement, float(time - last)), time
        if state.health.valid:
            yield float(time), before, state
