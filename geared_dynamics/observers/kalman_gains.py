"""Gains of the Kalman filter from encoders' data and a wanted bandwidth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import ClassVar

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, BoolArray, Frozen, readonly
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.arguments import finite_input
from geared_dynamics.dynamics.elastic.equations import spring_matrix
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.observers.health import FLOOR, Limits, most_by_chance
from geared_dynamics.observers.readings import Sizes, Source, reading_rows, sizes_of, source_of
from geared_dynamics.observers.standing import ringing, stated_levels, stiction_rows
from geared_dynamics.observers.stillness import carried, held_acceleration

# A rotor's reading does not come from a motion if its speed were to be off by so much.
PACE = 50.0  # [rad/s]
LINK_PACE = 5.0  # The same for a link and for a spring's deflection [rad/s or m/s].
# Part of that which the prediction may move while the reading stays the same.
STUCK = 0.2
# An acceleration of a rotor, a link or a twist may begin at once with so much.
SUDDEN, LINK_SUDDEN = 3e3, 3e3  # [rad/s^2], and [rad/s^2 or m/s^2]
FASTEST = 1e6  # [Hz] No encoder shows a force so soon; far beyond it variances overflow.
TURN = 2.0 * pi  # [rad] An encoder whose step or noise is no part of a turn tells nothing.
GATE = 10.0  # standard deviations
FADE = 0.4  # of the bandwidth [rad/s]: at least so fast the filter's slowest errors die out
INTERVAL = 0.3  # periods of the bandwidth: five of them outlast what the filter makes of a step


@dataclass(frozen=True, eq=False)
class KalmanGains(Frozen):
    """What tunes the filter; made by ``kalman_gains``.

    Attributes:
        sizes: Of the arm they were made for.
        source: Its springs, ratios and zeros: for other ones they are refused.
        rows: Readings by state (c, k).
        offsets: And what they show at zero (c,).
        noise: Standard deviation of each reading (c,), infinite where there is none.
        torque_noise: Of the force on x = (q, theta), white (N,) [N m s^0.5 or N s^0.5].
        walk: Of the unaccounted force on x (N,) [N m / s^0.5 or N / s^0.5].
        tuning: The same for the kernels.
        limits: Which readings to believe, and how long to bridge.
        window: Over which consistency is judged [s].
        rate: Readings per second [1/s].
        stiction: What friction may be at rest (p, HEAD + N), a row for each law of joints and
            motors: level [N or N m], smoothing, share in motion, motor or -1, its row over x.
        ringing: How fast a joint vibrates while its motor is at rest (n,) [rad/s].
        interval: In which the friction at rest is one number [s].
        fade: How fast an error dies out that friction has left, at least [1/s].
    """

    MAKER: ClassVar[str] = "kalman_gains"

    sizes: Sizes
    source: Source
    rows: Array
    offsets: Array
    noise: Array
    torque_noise: Array
    walk: Array
    tuning: Array
    limits: Limits
    window: float
    rate: float
    stiction: Array
    ringing: Array
    interval: float
    fade: float

    @cached_property
    def most(self) -> float:
        """Largest ``ratio`` of a consistent state."""
        return most_by_chance(self.window * self.rate)


def kalman_gains(
    model: GearedModel,
    *,
    resolution: ArrayLike,
    noise: ArrayLike = 0.0,
    bandwidth: ArrayLike = 30.0,
    motor_torque_noise: ArrayLike | None = None,
    link_noise: ArrayLike | None = None,
    joint_torque_noise: ArrayLike | None = None,
    rate: float = 1000.0,
    posture: ArrayLike | None = None,
    hold: float = 0.05,
    jump: ArrayLike | None = None,
    window: float = 1.0,
    stiction: ArrayLike | None = None,
    friction_error: float = 0.0,
) -> KalmanGains:
    r"""Gains from what the encoders can tell and how fast forces shall be followed.

    An encoder's variance is noise^2 + resolution^2 / 12. The external force on joint j is a
    random walk whose effect on the motor's reading, over the rigid arm and through the spring,
    equals that noise at the bandwidth w:

        walk_j = r_j \sqrt{1/rate}  w (M_j + B_j) w^2 (1 + w^2 / w_j^2),
        w_j^2 = K_j (M_j + B_j) / (M_j B_j)

    with r_j the encoders' noise at the joint and diagonal elements of M_link and B. White noise
    walk_j / w beside it damps what would overshoot. Where a sensor on the link is given, the
    motor-side coordinate gets a walk as well, r_j sqrt(1/rate) B_j w^3: a model that is a
    little wrong cannot explain both sensors without it.

    Args:
        model: Geared model with elastic joints.
        resolution: Of the motors' encoders (m,) or one for all [rad], motor side.
        noise: Of the motors' encoders beside it, standard deviation (m,) or one [rad].
        bandwidth: Up to which external forces are followed (n,) or one [Hz].
        motor_torque_noise: White noise of the motors' torque (m,) or one [N m s^0.5]; if not
            given, what moves the rotors by their encoders' noise at the bandwidth.
        link_noise: Of the links' encoders (n,) or one, resolution included [rad or m]; NaN
            for a joint without one; None for none.
        joint_torque_noise: Of the joint torque sensors (n_e,) or one [N m or N]; NaN for none.
        rate: How many readings there are per second [1/s].
        posture: Where the formula's inertia is taken (n,); zero if not given.
        hold: For how long prediction bridges missing readings [s].
        jump: A reading of a motor's encoder that leaps by so much from where its own last ones
            lead is not used (m,) or one [rad]; if not given, what 50 noises and a rotor's
            sudden 3000 rad/s^2 / (2 rate^2) make, and three times what it was off by of late
            (``screening``). So far off a prediction may be where a reading has no history; within
            a fifth of it the prediction may move while a reading stays the same.
        window: Over which consistency is judged [s].
        stiction: Level of the motors' friction at rest (m,) or one [N m], motor side; the
            model's if not given. At rest friction is any number within it, and the covariance
            has that. State it where the model has no friction, or too little.
        friction_error: How far friction may be off in motion, as a part of its level at rest.

    Raises:
        ModelError: where a torque sensor is given for a spring with backlash.
    """
    sizes = sizes_of(model)
    m, n, shafts = sizes.motors, sizes.n, sizes.shafts
    steps = positive("resolution", resolution, m, zero=True, below=TURN)
    beside = positive("noise", noise, m, zero=True, below=TURN)
    encoders = np.sqrt(beside**2 + steps**2 / 12.0)
    if not np.all(encoders > 0.0):
        raise ArrayError("resolution", "and noise are both zero", "state one of them")
    links = optional("link_noise", link_noise, n)
    torques = optional("joint_torque_noise", joint_torque_noise, shafts)
    refuse_play(model, torques)
    for name, value in (("rate", rate), ("hold", hold), ("window", window)):
        positive(name, value, 1)
    w = 2.0 * pi * positive("bandwidth", bandwidth, n, below=FASTEST)
    posture_ = np.zeros(n) if posture is None else finite_input("posture", posture, n)
    both = both_sides(model, links, torques)
    at_joint, walk = walks(model, posture_, encoders / np.sqrt(rate), w, both)
    torque = torque_deviation(model, posture_, at_joint, float(np.max(w)), motor_torque_noise)
    pace = np.concatenate([w, np.full(shafts, np.max(w))])
    torque = np.hypot(torque, walk / pace)
    rows, offsets = reading_rows(model)
    every = np.concatenate([encoders, links, torques])
    finite = np.isfinite(every)
    variance = np.where(finite, every, 1.0) ** 2
    limits = gating_limits(
        model, sizes, every, posture_, jump, float(rate), float(hold),
        stated_levels(model, stiction),
    )  # fmt: skip
    return KalmanGains(
        sizes=sizes,
        source=source_of(model),
        rows=readonly(rows),
        offsets=readonly(offsets),
        noise=readonly(every),
        torque_noise=readonly(torque),
        walk=readonly(walk),
        tuning=readonly(np.concatenate([rows.ravel(), torque, walk, variance])),
        limits=limits,
        window=float(window),
        rate=float(rate),
        stiction=readonly(stiction_rows(model, stiction, friction_error)),
        ringing=readonly(ringing(model, posture_)),
        interval=float(max(INTERVAL * 2.0 * pi / np.max(w), 1.0 / float(rate))),
        fade=FADE * float(np.min(w)),
    )


def torque_deviation(
    model: GearedModel, posture: Array, at_joint: Array, fastest: float, noise: ArrayLike | None
) -> Array:
    """White noise of the motors' torque, on x (N,) [N m s^0.5].

    Args:
        model: Geared model with elastic joints.
        posture: Where the inertia is taken (n,).
        at_joint: Encoders' noise on x (N,) [rad s^0.5].
        fastest: Largest bandwidth [rad/s].
        noise: Of the motors' torque (m,); None: what moves the rotors by their encoders' noise.
    """
    A = elastic.structure_matrix(model)
    if noise is not None:
        given = positive("motor_torque_noise", noise, A.shape[1], zero=True)
        return np.asarray(np.sqrt(A**2 @ given**2))
    torque = np.zeros(len(A))
    B = np.diag(elastic.mass_matrix(model, posture))
    driven = np.any(A != 0.0, axis=1)
    torque[driven] = (at_joint * B * fastest**2)[driven]
    return torque


def gating_limits(
    model: GearedModel,
    sizes: Sizes,
    every: Array,
    posture: Array,
    jump: ArrayLike | None,
    rate: float,
    hold: float,
    level: Array,
) -> Limits:
    """Between which bounds a reading is used.

    Args:
        model: Geared model with elastic joints.
        sizes: Its numbers of coordinates and readings.
        every: Deviation of each reading (r,), NaN of one that is not there.
        posture: Where the inertia is taken (n,).
        jump: As of ``kalman_gains``.
        rate: How many readings there are per second [1/s].
        hold: For how long prediction bridges missing readings [s].
        level: Of the motors' friction at rest (m,) [N m].
    """
    m, n, shafts, finite = sizes.motors, sizes.n, sizes.shafts, np.isfinite(every)
    far = PACE / rate + 30.0 * every[:m] if jump is None else positive("jump", jump, m)
    twist = LINK_PACE / rate * np.concatenate([np.ones(n), np.abs(stiffness_of(model))])
    far = np.concatenate([far, twist + 30.0 * np.where(finite, every, 0.0)[m:]])
    floor = FLOOR * np.where(finite, every, 0.0)
    floor[:m] = floor[:m] if jump is None else far[:m]
    sudden = LINK_SUDDEN * np.concatenate([np.ones(n), np.abs(stiffness_of(model))])
    turns = np.full(m, SUDDEN if jump is None else 0.0)
    G = agility(model, posture)
    holding = held_acceleration(model, G, level, every[:m])
    limits = Limits(
        enabled=finite,
        required=np.arange(sizes.readings) < m,
        jump=readonly(far),
        floor=readonly(floor),
        sudden=readonly(np.concatenate([turns, sudden])),
        agility=readonly(np.concatenate([G, np.zeros((n + shafts, m))])),
        rub=readonly(np.concatenate([holding, np.full(n + shafts, np.inf)])),
        carried=readonly(np.concatenate([carried(model, G), np.zeros((n + shafts, n))])),
        arm=model,
        stuck=readonly(STUCK * far),
        gate=GATE,
        hold=hold,
        longest=min(0.01, 5.0 / rate),
        settle=0.0,
    )
    for flags in (limits.enabled, limits.required):
        flags.setflags(write=False)
    return limits


def agility(model: GearedModel, q: Array) -> Array:
    """A' H^-1 A (m, m): what motors' torques accelerate the rotors by [rad/s^2 / (N m)]."""
    A = elastic.structure_matrix(model)
    return np.asarray(A.T @ np.linalg.solve(elastic.mass_matrix(model, q), A))


def stiffness_of(model: GearedModel) -> Array:
    """Torque by twist of the spring before each theta (n_e,) [N m/rad or N/m]."""
    rows, _ = reading_rows(model)
    sizes = sizes_of(model)
    shafts = rows[sizes.motors + sizes.n :, sizes.n : sizes.coordinates]
    return np.diag(shafts)


def both_sides(model: GearedModel, links: Array, torques: Array) -> BoolArray:
    """Before which springs a sensor beside the motor's tells of the link (n_e,)."""
    own = model.elasticity
    seen = np.isfinite(torques)
    seen[: len(own.joint)] |= np.isfinite(links[own.joint])
    return seen


def walks(
    model: GearedModel, q: Array, density: Array, w: Array, both: BoolArray
) -> tuple[Array, Array]:
    """Encoders' noise on x (N,) [rad s^0.5] and walk of the unaccounted force (N,)."""
    sizes, own = sizes_of(model), model.elasticity
    H = np.diag(elastic.mass_matrix(model, q))
    shown = model.elastic_motor_map.inverse.T
    on_x = np.sqrt(shown**2 @ density**2)
    M, total, stiffness = H[: sizes.n], H[: sizes.n].copy(), np.full(sizes.n, np.inf)
    noise = on_x[: sizes.n].copy()
    K = np.diag(spring_matrix(model, own.stiffness))
    for shaft, joint in enumerate(own.joint):
        B = H[sizes.n + shaft]
        total[joint] += B
        stiffness[joint] = K[sizes.n + shaft] * total[joint] / (M[joint] * B)
        noise[joint] = np.hypot(noise[joint], on_x[sizes.n + shaft])
    walk = noise * w * total * w**2 * (1.0 + w**2 / stiffness)
    shafts = np.where(both, on_x[sizes.n :] * H[sizes.n :] * np.max(w) ** 3, 0.0)
    return on_x, np.concatenate([walk, shafts])


def positive(
    name: str, value: ArrayLike, width: int, *, zero: bool = False, below: float = np.inf
) -> Array:
    """Positive finite numbers (width,), of one or of all; smaller than ``below``."""
    remedy = f"give one positive number for all, or a list of {width}"
    try:
        array = np.broadcast_to(np.asarray(value, np.float64), (width,)).copy()
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is neither one number nor {width}", remedy) from None
    good = (array < below) & ((array >= 0.0) if zero else (array > 0.0))
    if not good.all():
        limit = f" below {below:.4g}" if below < np.inf else ""
        raise ArrayError(name, f"is {array[~good][0]:g}", remedy + limit)
    return array


def optional(name: str, value: ArrayLike | None, width: int) -> Array:
    """Standard deviations (width,), infinite where there is no sensor."""
    if value is None:
        return np.full(width, np.inf)
    try:
        array = np.broadcast_to(np.asarray(value, np.float64), (width,)).copy()
    except (TypeError, ValueError, OverflowError):
        remedy = f"give one positive number, or a list of {width} with NaN for joints without"
        raise ArrayError(name, "is not a number, or not one for each", remedy) from None
    array[np.isnan(array)] = np.inf
    if not np.all(array > 0.0):
        raise ArrayError(name, "is not above zero", "give a standard deviation, or NaN")
    return array


def refuse_play(model: GearedModel, torques: Array) -> None:
    """Refuse a torque sensor behind a play: within it the torque does not tell the twist."""
    own = model.elasticity
    for shaft, name in enumerate(own.names):
        joints = own.stretch[:, model.n + shaft] != 0.0
        if np.isfinite(torques[shaft]) and np.any(own.gap[joints] > 0.0):
            finding = "has backlash: its torque does not determine its deflection"
            place = f"{model.drivetrain_source}, {name}"
            raise ModelError(place, finding, "give NaN for it in joint_torque_noise")
