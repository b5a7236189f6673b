r"""A healthy arm that shows what one with a stuck encoder shows, under another push.

In the run an encoder is stuck while its rotor creeps. In the healthy world this rotor rests where
its encoder stands, held by its friction, and its link is as much nearer to it as the spring asks:

    q' = q + (\theta_0 - \theta) - e / K,

with e what the run's free torque of the rotor exceeds its friction by, smoothed. All other rotors
move as they did, under the same torques. What must act on the links for that follows from their
equations, the friction of the resting rotor from its own. Then the arm is integrated forward under
just these forces: what its encoders show is compared with the run, not assumed.
"""

from typing import NamedTuple

import numpy as np
from observer_push_arm import PARTS, Run
from scipy.ndimage import gaussian_filter1d

import geared_dynamics as gd

SMOOTH = 8e-3  # [s], of what the spring gives way by
COUPLED = 2e-3  # the same of the springs of rotors that the link carries
HELD = 0.88  # part of its level that friction is asked for
ROUNDS = 200
LEAD = 0.03  # [s] before the encoder sticks in which the worlds may differ already
OTHER = 0.2  # of the push, by which the one in the healthy world may differ


class HealthyWorld(NamedTuple):
    """How far a healthy arm is from the run.

    Attributes:
        speed: Of the resting rotor at the beginning, in the run [rad/s].
        torque: By how much its motor's torque changes, in levels of its friction: two at most
            are held without any change of the spring's torque.
        friction: Of the same rotor, the largest, in levels.
        readings: Largest difference of what a rotor's encoder shows [rad].
        force: Largest difference of a force on a link, as a part of the run's largest,
            which counts as 1 N m at least.
        link: Largest difference of a link's angle [rad].
    """

    speed: float
    torque: float
    friction: float
    readings: float
    force: float
    link: float


class Window(NamedTuple):
    """Part of a run, each row the beginning of a step of the plant.

    Attributes:
        dt: Of such a step [s].
        states: q, theta and their rates (t, 4 n).
        forces: On the joints (t, n) [N m].
        tau_m: Of the motors (t, m) [N m].
    """

    dt: float
    states: np.ndarray
    forces: np.ndarray
    tau_m: np.ndarray


def window(run: Run, at: int, until: int) -> Window:
    """A run from one instant to another."""
    rows = slice(PARTS * at, PARTS * until)
    torques = np.repeat(run.tau_m[1:], PARTS, axis=0)[rows]
    return Window(1.0 / (PARTS * run.rate), run.states[rows], run.forces[rows], torques)


def accelerations(
    model: gd.GearedModel, state: np.ndarray, tau_m: np.ndarray, forces: np.ndarray
) -> np.ndarray:
    """Of both sides (..., 2 n), under the model's friction."""
    q, theta, v, rate = np.split(state, 4, axis=-1)
    at = gd.State(q, v, theta, rate)
    joint, rotor = gd.elastic.friction_forces(model, at)
    found = gd.elastic.forward_dynamics(model, at, tau_m - rotor, tau=forces - joint)
    return np.concatenate(found, axis=-1)


def on_links(model: gd.GearedModel, state: np.ndarray, change: np.ndarray) -> np.ndarray:
    """What acts on links, friction of joints included, and on rotors (..., 2 n)."""
    q, theta, v, rate = np.split(state, 4, axis=-1)
    at, half = gd.State(q, v, theta, rate), change.shape[-1] // 2
    tau, tau_theta = gd.elastic.inverse_dynamics(model, at, change[..., :half], change[..., half:])
    return np.concatenate([tau + gd.elastic.friction_forces(model, at)[0], tau_theta], axis=-1)


def eased(model: gd.GearedModel, run: Window, motor: int) -> np.ndarray:
    """What friction cannot hold of the rotor's free torque, smoothed, with two rates (3, t)."""
    n = model.n
    ratio = gd.elastic.structure_matrix(model)[n + motor, motor]
    level = HELD * ratio * float(model.motors.friction.coulomb[motor].max())
    change = accelerations(model, run.states, run.tau_m, run.forces)
    acting = on_links(model, run.states, change)[:, n + motor]
    inertia = gd.elastic.mass_matrix(model, run.states[0, :n])[n + motor, n + motor]
    free = ratio * run.tau_m[:, motor] - acting + inertia * change[:, n + motor]
    width, e, excess = SMOOTH / run.dt, np.zeros(len(free)), np.zeros(len(free))
    for _ in range(ROUNDS):
        excess += (free - e) - np.clip(free - e, -level, level)
        e = gaussian_filter1d(excess, width, mode="nearest")
    return np.array(
        [
            gaussian_filter1d(excess, width, order=order, mode="nearest") / run.dt**order
            for order in range(3)
        ]
    )


def needed(model: gd.GearedModel, run: Window, motor: int, shift: np.ndarray) -> np.ndarray:
    """By what acts on links and rotors differs at both ends of each step (2, t - 1, 2 n).

    Args:
        model: See ``differences``.
        run: See there.
        motor: See there.
        shift: Of the links against the run, beside what the resting rotor takes them along,
            and its rates (3, t, n).
    """
    n, theta = model.n, model.n + motor
    tau_m, forces, found = run.tau_m[:-1], run.forces[:-1], []
    for rows in (slice(None, -1), slice(1, None)):
        here = run.states[rows]
        change = accelerations(model, here, tau_m, forces)
        states, faster = here.copy(), change.copy()
        states[:, :n] += shift[0, rows]
        states[:, 2 * n : 3 * n] += shift[1, rows]
        faster[:, :n] += shift[2, rows]
        states[:, motor] += run.states[0, theta] - here[:, theta]
        states[:, 2 * n + motor] -= here[:, 2 * n + theta]
        states[:, theta], states[:, 2 * n + theta] = run.states[0, theta], 0.0
        faster[:, motor] -= change[:, theta]
        faster[:, theta] = 0.0
        found.append(on_links(model, states, faster) - on_links(model, here, change))
    return np.array(found)


def differences(model: gd.GearedModel, run: Window, motor: int) -> np.ndarray:
    """By what forces on links differ, at the beginning and the end of each step (2, t - 1, n).

    What accelerates the link differently reaches the rotors that it carries: their springs give
    way by as much.

    Args:
        model: An arm each of whose motors drives one joint through a spring.
        run: From ``LEAD`` before the encoder sticks; its rotor rests then.
        motor: Whose encoder.
    """
    n, stiffness = model.n, np.asarray(model.elasticity.stiffness)
    shift = np.zeros((3, len(run.states), n))
    shift[:, :, motor] = -eased(model, run, motor) / stiffness[motor]
    carried = needed(model, run, motor, shift)[0, :, n:] / stiffness
    carried = np.concatenate([carried, carried[-1:]])
    carried[:, motor] = 0.0
    for order in range(3):
        width = COUPLED / run.dt
        smooth = gaussian_filter1d(carried, width, axis=0, order=order, mode="nearest")
        shift[order] += smooth / run.dt**order
    return needed(model, run, motor, shift)[..., :n]


def resting(
    model: gd.GearedModel, state: np.ndarray, tau_m: np.ndarray, forces: np.ndarray, motor: int
) -> tuple[np.ndarray, float]:
    """Accelerations (2 n,) with a rotor held, and the friction that holds it [N m]."""
    one = np.arange(len(tau_m)) == motor
    free = accelerations(model, state, tau_m, forces)
    joint = len(free) // 2 + motor
    held = free - accelerations(model, state, tau_m - one, forces)
    friction = free[joint] / held[joint]
    return free - friction * held, float(friction)


def integrated(
    model: gd.GearedModel, run: Window, more: np.ndarray, motor: int | None
) -> tuple[np.ndarray, float]:
    """States (t, 4 n) under forces that differ by ``more`` (2, t - 1, n), by a Runge-Kutta method.

    A rotor may be held; the friction that holds it at most is the second result, motor side.
    """
    half, h, states, most = 2 * model.n, run.dt, run.states.copy(), 0.0

    def rate(z: np.ndarray, k: int, part: float) -> np.ndarray:
        nonlocal most
        push = run.forces[k] + (1.0 - part) * more[0, k] + part * more[1, k]
        if motor is None:
            return np.concatenate([z[half:], accelerations(model, z, run.tau_m[k], push)])
        change, friction = resting(model, z, run.tau_m[k], push, motor)
        most = max(most, abs(friction))
        return np.concatenate([z[half:], change])

    if motor is not None:
        states[0, half + model.n + motor] = 0.0
    for k in range(len(states) - 1):
        z = states[k]
        a = rate(z, k, 0.0)
        b = rate(z + 0.5 * h * a, k, 0.5)
        c = rate(z + 0.5 * h * b, k, 0.5)
        d = rate(z + h * c, k, 1.0)
        states[k + 1] = z + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return states, most


def healthy_world(model: gd.GearedModel, run: Window, motor: int) -> HealthyWorld:
    """How far the healthy world is from the run; both integrated alike.

    Args:
        model: An arm each of whose motors drives one joint through a spring.
        run: From ``LEAD`` before the encoder sticks.
        motor: Whose encoder.
    """
    n, more = model.n, differences(model, run, motor)
    ours, friction = integrated(model, run, more, motor)
    theirs, _ = integrated(model, run, 0.0 * more, None)
    apart, A = np.abs(ours - theirs), np.abs(gd.elastic.structure_matrix(model)[n:])
    level = float(model.motors.friction.coulomb[motor].max())
    apart[:, n + motor] = np.abs(ours[:, n + motor] - run.states[0, n + motor])
    return HealthyWorld(
        speed=float(A[motor, motor] * abs(run.states[0, 3 * n + motor])),
        torque=float(np.ptp(run.tau_m[:, motor])) / level,
        friction=friction / level,
        readings=float((apart[:, n : 2 * n] @ A).max()),
        force=float(np.abs(more).max() / max(1.0, np.abs(run.forces).max())),
        link=float(apart[:, :n].max()),
    )


def hides(world: HealthyWorld, resolution: float, rate: float) -> bool:
    """Whether no reading tells the run from a healthy arm (docs/observers.md, Stuck at rest)."""
    return (
        world.speed <= resolution * rate
        and world.torque <= 2.0
        and world.friction <= 1.0
        and world.readings <= resolution
        and world.force <= OTHER
    )
