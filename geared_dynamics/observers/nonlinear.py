r"""The complete elastic model as an observer, with poles assigned at every posture.

    z- = z + dt phi(A dt) g(z, tau_m) - V f  the model, exponential over the step; f: friction
    z  = z- + G(z) (measured - shown)        motors' encoders alone, see ``pole_assignment``

It needs no covariance and one number, its bandwidth; it assumes that the model is right: what
acts on the links from outside is not estimated. Whether that holds the innovations tell
(``health.coloured``). Convergence: ``contraction``, docs/observers.md.

f, what multiplies the sign of a rate, is found with the step (``kernels/observer_stepping``), so
that A and the gain are those of sliding friction, whatever the rates are. Where friction holds a
rotor its encoder shows nothing of the link: the gain then moves the rotor alone (``standing``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Any, ClassVar, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen
from geared_dynamics.dynamics.arguments import one_state
from geared_dynamics.dynamics.elastic.equations import structure_matrix
from geared_dynamics.dynamics.state import Measurement
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import (
    FLOOR,
    Fault,
    Health,
    Limits,
    coloured,
    healthy,
    held,
    most_by_chance,
    updated_ratio,
)
from geared_dynamics.observers.kalman_gains import PACE, STUCK, SUDDEN, TURN, agility, positive
from geared_dynamics.observers.observer import ModelObserver, fitted
from geared_dynamics.observers.pole_assignment import (
    ATTEMPTS,
    QUICK,
    MeasuredCoordinates,
    calmer,
    excess,
    measured_coordinates,
    next_rate,
    sizes,
    slower,
)
from geared_dynamics.observers.readings import (
    Sizes,
    Source,
    at_rest,
    inputs,
    readings,
    refuse_state,
    sizes_of,
    source_of,
)
from geared_dynamics.observers.screening import prepared, screened
from geared_dynamics.observers.standing import (
    StandingStep,
    gain_of,
    law_count,
    predicted,
    retained_rates,
    stands,
)
from geared_dynamics.observers.stillness import held_acceleration

# The gain is computed again after so much motion [rad or m], or part of dt.
FRESH = 0.02
# Of the decay times of a wrong start: so long all readings are believed.
SETTLE = 15.0
# A state is lost whose corrections, at the tuning's own rate, stay beyond their bounds for so many
# decay times of the quickest rate.
LOST = 8.0


@dataclass(frozen=True, eq=False)
class NonlinearGains(Frozen):
    """Tuning of the observer; made by ``nonlinear_gains``.

    Attributes:
        sizes: Of the arm they were made for.
        source: Its springs, ratios and zeros: for other ones they are refused.
        rate: By which every mode of the error decays faster than the model's own [1/s].
        seen: Which coordinates the encoders tell.
        structure: A' (m, N): what the encoders show of x.
        zeros: What they show at zero (m,) [rad].
        limits: Which readings to believe, and how long to bridge.
        expected: Standard deviation of the innovations where the model is right (m,) [rad].
        window: Over which consistency is judged [s].
        instants: Readings within it.
    """

    MAKER: ClassVar[str] = "nonlinear_gains"

    sizes: Sizes
    source: Source
    rate: float
    seen: MeasuredCoordinates
    structure: Array
    zeros: Array
    limits: Limits
    expected: Array
    window: float
    instants: float

    @cached_property
    def most(self) -> float:
        """Largest ``ratio`` of a consistent state."""
        return most_by_chance(self.instants)


class NonlinearState(NamedTuple):
    """State of the observer, a value.

    Attributes:
        mean: q, theta, v, vtheta (2 N,).
        innovation: Readings of the motors' encoders less their predictions (m,) [rad].
        health: Faults, and what else is known of the inputs.
        gain: G (2 N, m), computed again when the posture or what stands has changed.
        made_at: Joint position, log(dt) and log(rate) it was made for (n + 2,).
        standing: Which friction laws stand, joints' and then rotors' (e,).
        stay: Part of its rate that a law keeps where it stands (e,).
        rate: By which the error decays faster at present, at least the tuning's [1/s].
        ratio: Twice the share of instants within the window in which the innovations' squares
            were above their median: 1 if the model is right, 2 at most (``health.updated_ratio``).
        consistent: Whether chance explains the ratio.
        beyond: Steps of late in which the correction was beyond its bounds at the tuning's own
            rate, less the others; at least 0.
    """

    mean: Array
    innovation: Array
    health: Health
    gain: Array
    made_at: Array
    standing: BoolArray
    stay: Array
    rate: float
    ratio: float = 1.0
    consistent: bool = True
    beyond: int = 0

    @property
    def friction_stands(self) -> BoolArray:
        """Which friction laws stand (e,)."""
        return self.standing

    @property
    def gains_type(self) -> type[NonlinearGains]:
        """Of the gains that its observer has."""
        return NonlinearGains


def nonlinear_gains(
    model: GearedModel,
    *,
    resolution: ArrayLike,
    noise: ArrayLike | None = None,
    bandwidth: float = 30.0,
    rate: float = 1000.0,
    hold: float = 0.05,
    jump: ArrayLike | None = None,
    window: float = 1.0,
) -> NonlinearGains:
    """Gains from a wanted bandwidth.

    Args:
        model: Geared model with elastic joints, each with a motor of its own.
        resolution: Of the motors' encoders (m,) or one [rad], motor side.
        noise: Beside it, standard deviation (m,) or one [rad]; if not given, a resolution. It
            says above what innovations the estimate is no longer consistent, and nothing else.
        bandwidth: Of the error [Hz].
        rate: How many readings there are per second [1/s].
        hold: For how long prediction bridges missing readings [s].
        jump: A reading of a motor's encoder that leaps by so much from where its own last ones
            lead is not used (m,) or one [rad]; if not given, what 50 noises and a rotor's
            sudden 3000 rad/s^2 / (2 rate^2) make, and three times what it was off by of late
            (``screening``). So far off a prediction may be where a reading has no history; within
            a fifth of it the prediction may move while a reading stays the same.
        window: Over which consistency is judged [s].

    Raises:
        ModelError: where a spring has no motor right before it.
    """
    sizes, m = sizes_of(model), len(model.motor_names)
    steps = positive("resolution", resolution, m, below=TURN)
    beside = steps if noise is None else positive("noise", noise, m, zero=True, below=TURN)
    bandwidth, rate, hold, window = (
        float(positive(name, value, 1)[0])
        for name, value in (
            ("bandwidth", bandwidth), ("rate", rate), ("hold", hold), ("window", window)
        )
    )  # fmt: skip
    far = PACE / rate + 30.0 * steps if jump is None else positive("jump", jump, m)
    every = np.ones(m, bool)
    decay = 2.0 * pi * bandwidth
    encoders = np.sqrt(beside**2 + steps**2 / 12.0)
    G = agility(model, np.zeros(sizes.n))
    limits = Limits(
        enabled=every,
        required=every,
        jump=far,
        floor=FLOOR * encoders if jump is None else far,
        sudden=np.full(m, SUDDEN if jump is None else 0.0),
        agility=G,
        rub=held_acceleration(model, G, np.zeros(m), encoders),
        carried=np.zeros((m, sizes.n)),
        arm=model,
        stuck=STUCK * far,
        gate=0.0,
        hold=hold,
        longest=min(0.01, 5.0 / rate),
        settle=SETTLE / decay,
    )
    return NonlinearGains(
        sizes,
        source_of(model),
        decay,
        measured_coordinates(model),
        structure_matrix(model).T,
        model.motor_zeros,
        limits,
        coloured(decay / rate) * encoders,
        window,
        window * rate,
    )


@dataclass(frozen=True, eq=False)
class NonlinearObserver(ModelObserver[NonlinearState]):
    """The nonlinear observer of one arm; made by ``nonlinear_observer``."""

    gains: NonlinearGains

    def start(self, measurement: Measurement, *, q: ArrayLike | None = None) -> NonlinearState:
        """State from the first readings, as ``Observer.start``: springs hold the weight."""
        gains, sizes = self.gains, self.gains.sizes
        y = readings(sizes, measurement)[: sizes.motors]
        tau_m, _ = inputs(sizes, measurement)
        if not np.all(np.isfinite(y)):
            raise ArrayError("motor_angle", "is missing", "start when all encoders are there")
        x = at_rest(self.arm.model, y)
        if q is not None:
            x[: sizes.n] = one_state("q", q, sizes.n)
        mean = np.concatenate([x, np.zeros(sizes.coordinates)])
        return NonlinearState(
            mean,
            np.zeros(len(y)),
            healthy(y - gains.zeros, tau_m),
            np.zeros((len(mean), len(y))),
            np.full(sizes.n + 2, np.inf),
            np.zeros(law_count(self.arm.model), bool),
            np.ones(law_count(self.arm.model)),
            gains.rate,
        )

    def step(
        self,
        state: NonlinearState,
        measurement: Measurement,
        dt: float,
        *,
        known: ArrayLike | None = None,
    ) -> NonlinearState:
        """State after dt with new readings of the motors' encoders, as ``Observer.step``."""
        gains, sizes, limits = self.gains, self.gains.sizes, self.gains.limits
        refuse_state(state, NonlinearState, "nonlinear_observer(...).start", 2 * sizes.coordinates)
        y = readings(sizes, measurement)[: sizes.motors] - gains.zeros
        ready = prepared(sizes, limits, state.health, measurement, dt, known)
        if isinstance(ready, Health):
            return state._replace(health=ready)
        health, tau, count = ready
        mean, steps = state.mean, []
        for _ in range(count):
            step = predicted(self.arm, mean, health.tau_m, tau, dt / count, state.stay)
            if step is None:
                return state._replace(health=held(health, health.faults | Fault.DIVERGED))
            mean = step.mean
            steps.append(step)
        return corrected(self.arm.model, gains, state, mean, steps, health, y, dt)


def nonlinear_observer(
    model: GearedModel, *, gains: NonlinearGains | None = None, **tuning: Any
) -> NonlinearObserver:
    """Return the nonlinear observer of an arm.

    See ``kalman_observer`` for the arguments; ``tuning`` are those of ``nonlinear_gains``.
    """
    return NonlinearObserver(*fitted(model, gains, NonlinearGains, nonlinear_gains, tuning))


def corrected(
    model: GearedModel,
    gains: NonlinearGains,
    state: NonlinearState,
    mean: Array,
    steps: list[StandingStep],
    health: Health,
    y: Array,
    dt: float,
) -> NonlinearState:
    """State with the readings y (m,) taken in, from the prediction and its steps."""
    N = gains.sizes.coordinates
    shown = gains.structure @ mean[:N]
    moved = shown - gains.structure @ state.mean[:N]
    health, used = screened(health, gains.limits, y, shown, moved, gains.expected, dt)
    innovation = y - shown
    if not health.valid:
        return state._replace(innovation=innovation, health=health)
    taken = np.where(used, innovation, 0.0)
    try:
        state, change, over = quickest(model, gains, state, mean, steps, taken, used, dt)
    except np.linalg.LinAlgError:  # steps of a state far outside
        return state._replace(health=held(health, health.faults | Fault.DIVERGED))
    if not np.all(np.isfinite(change)):
        return state._replace(health=held(health, health.faults | Fault.DIVERGED))
    rate, beyond = calmer(gains.rate, state.rate, dt), state.beyond
    if used.all():
        rate = next_rate(gains.rate, state.rate, *sizes(change), dt)
        beyond = max(0, beyond + (1 if over > 1.0 else -1))
    if beyond > LOST / QUICK:
        health = held(health, health.faults | Fault.DIVERGED)
        return state._replace(innovation=innovation, health=health)
    health = health._replace(pull=gains.structure @ change[N:] / dt)
    ratio = state.ratio
    if Fault.SETTLING not in health.faults:
        scaled, number = (taken / gains.expected).tolist(), int(np.count_nonzero(used))
        square = sum(x * x for x in scaled)  # NumPy would warn where it overflows
        ratio = updated_ratio(ratio, square, number, dt / gains.window)
    return state._replace(
        mean=mean + change,
        innovation=innovation,
        health=health,
        rate=rate,
        ratio=ratio,
        consistent=ratio <= gains.most,
        beyond=beyond,
    )


def quickest(
    model: GearedModel,
    gains: NonlinearGains,
    state: NonlinearState,
    mean: Array,
    steps: list[StandingStep],
    innovation: Array,
    used: BoolArray,
    dt: float,
) -> tuple[NonlinearState, Array, float]:
    """State with the quickest gain that corrects within bounds; the correction (2N,).

    Also the part of its bounds that it would take: above 1 at the tuning's own rate only.
    """
    over, change = np.inf, state.mean
    for _ in range(ATTEMPTS):
        state = renewed(model, gains, state, mean, steps, innovation, used, dt)
        change = state.gain @ (gains.seen.inverse @ innovation)
        over = excess(*sizes(change), dt)
        if not over > 1.0 or state.rate <= gains.rate:
            break
        state = state._replace(rate=slower(gains.rate, state.rate, over))
    return state, change / max(1.0, over), over


def renewed(
    model: GearedModel,
    gains: NonlinearGains,
    state: NonlinearState,
    mean: Array,
    steps: list[StandingStep],
    innovation: Array,
    used: BoolArray,
    dt: float,
) -> NonlinearState:
    """State with a gain that fits the posture (mean's) and what stands at the end of the steps."""
    here = np.concatenate([mean[: gains.sizes.n], np.log([dt, state.rate])])
    standing = state.standing
    if len(standing):
        standing = stands(model, steps[-1], state.rate, standing, innovation, gains.expected, dt)
        state = state._replace(stay=retained_rates(model, used))
    same = np.array_equal(standing, state.standing)
    if same and np.max(np.abs(here - state.made_at)) < FRESH:
        return state
    gain, _ = gain_of(model, gains.seen, gains.structure, state.rate, steps, standing)
    return state._replace(gain=gain, made_at=here, standing=standing)
