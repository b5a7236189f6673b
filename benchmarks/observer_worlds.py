r"""A healthy arm that shows what one with a stuck encoder shows, under another push.

In the run an encoder is stuck while its rotor creeps. In the healthy world this rotor comes to
rest where its encoder stands, held by its friction, and its link is as much nearer to it as the
spring asks:

    q' = q + (\theta' - \theta) - e / K,

with e what the torque that the rotor then needs exceeds its friction by, smoothed. All other
rotors move as they did, under the same torques. What must act on the links for that follows from
their equations, the friction of the resting rotor from its own. Then the arm is integrated forward
under just these forces: what its encoders show is compared with the run, not assumed.
"""

from typing import NamedTuple

import numpy as np
from observer_push_arm import PARTS, Run
from scipy.ndimage import gaussian_filter1d

import geared_dynamics as gd

SMOOTH = 8e-3  # [s], of what the spring gives way by
COUPLED = 2e-3  # the same of the springs of rotors that the link carries
TAILS = 8.0  # deviations of the smoothing that count
HELD = 0.88  # part of its level that friction is asked for
ROUNDS = 200
LEAD = 0.03  # [s] before the encoder sticks in which the worlds may differ already
STOP = 6e-3  # [s] in which a rotor that creeps comes to rest,
EARLY = 7.0 / 16.0  # of it before its encoder sticks: then it is as near as can be all the time
CREEP = 1e-3  # [rad/s]: slower than that a rotor rests
OTHER = 0.2  # of the push, by which the one in the healthy world may differ
LEVELS = 2.0  # of friction: so much a torque may change without a change of the spring's
ALIKE = 0.01  # of the push: closer than that none is known, whatever the torque does


class HealthyWorld(NamedTuple):
    """How far a healthy arm is from the run.

    Attributes:
        speed: Of the stuck rotor when it begins to stop, before its encoder sticks [rad/s].
        torque: By how much its motor's torque changes, in levels of its friction.
        friction: Of the same rotor from then on, the largest, in levels.
        driven: By how much of it friction drives that rotor on before it rests, in levels: none.
        readings: Largest difference of what a rotor's encoder shows [rad].
        force: Largest difference of a force on a link, as a part of the run's largest,
            which counts as 1 N m at least.
        link: Largest difference of a link's angle [rad].
    """

    speed: float
    torque: float
    friction: float
    driven: float
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


def smoothed(values: np.ndarray, width: float, order: int = 0) -> np.ndarray:
    """A derivative (t, ...) of smooth values; cut so late that it is also that of its integral."""
    return gaussian_filter1d(values, width, axis=0, order=order, mode="nearest", truncate=TAILS)


def slowing(run: Window) -> tuple[np.ndarray, np.ndarray]:
    """Part of its speed that a rotor keeps as it comes to rest, and that part's rate (t,)."""
    t = run.dt * np.arange(len(run.states)) - LEAD + EARLY * STOP
    x = np.clip(t / STOP, 0.0, 1.0)
    return 1.0 - x**3 * (10.0 - 15.0 * x + 6.0 * x**2), -30.0 * (x * (1.0 - x)) ** 2 / STOP


def stopped(run: Window, theta: int) -> np.ndarray:
    """Angle on its joint of a rotor that comes to rest, and its speed (2, t)."""
    speed = slowing(run)[0] * run.states[:, len(run.states[0]) // 2 + theta]
    steps = 0.5 * run.dt * (speed[1:] + speed[:-1])
    return np.array([run.states[0, theta] + np.concatenate([[0.0], np.cumsum(steps)]), speed])


def eased(model: gd.GearedModel, run: Window, motor: int) -> np.ndarray:
    """What friction cannot hold of the torque that the rotor needs, smoothed, two rates (3, t)."""
    n = model.n
    ratio = gd.elastic.structure_matrix(model)[n + motor, motor]
    level = HELD * ratio * float(model.motors.friction.coulomb[motor].max())
    change = accelerations(model, run.states, run.tau_m, run.forces)
    acting = on_links(model, run.states, change)[:, n + motor]
    inertia = gd.elastic.mass_matrix(model, run.states[0, :n])[n + motor, n + motor]
    rubs = ratio * run.tau_m[:, motor] - acting
    goes, slows = slowing(run)
    slower = (1.0 - goes) * change[:, n + motor] - slows * run.states[:, 3 * n + motor]
    free = rubs + inertia * slower
    level = np.where(goes == 1.0, np.maximum(level, np.abs(rubs)), level)  # as in the run
    width, e, excess = SMOOTH / run.dt, np.zeros(len(free)), np.zeros(len(free))
    for _ in range(ROUNDS):
        excess += (free - e) - np.clip(free - e, -level, level)
        e = smoothed(excess, width)
    return np.array([smoothed(excess, width, order) / run.dt**order for order in range(3)])


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
    rotor, (goes, slows) = stopped(run, theta), slowing(run)
    tau_m, forces, found = run.tau_m[:-1], run.forces[:-1], []
    for rows in (slice(None, -1), slice(1, None)):
        here = run.states[rows]
        change = accelerations(model, here, tau_m, forces)
        slower = goes[rows] * change[:, theta] + slows[rows] * here[:, 2 * n + theta]
        states, faster = here.copy(), change.copy()
        states[:, :n] += shift[0, rows]
        states[:, 2 * n : 3 * n] += shift[1, rows]
        faster[:, :n] += shift[2, rows]
        states[:, motor] += rotor[0, rows] - here[:, theta]
        states[:, 2 * n + motor] += rotor[1, rows] - here[:, 2 * n + theta]
        states[:, theta], states[:, 2 * n + theta] = rotor[:, rows]
        faster[:, motor] += slower - change[:, theta]
        faster[:, theta] = slower
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
        shift[order] += smoothed(carried, width, order) / run.dt**order
    return needed(model, run, motor, shift)[..., :n]


def resting(
    model: gd.GearedModel, state: np.ndarray, tau_m: np.ndarray, forces: np.ndarray, motor: int,
    slower: float,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Accelerations (2 n,) with a rotor's given, and the friction beside the model's for that."""
    one = np.arange(len(tau_m)) == motor
    free = accelerations(model, state, tau_m, forces)
    joint = len(free) // 2 + motor
    held = free - accelerations(model, state, tau_m - one, forces)
    friction = (free[joint] - slower) / held[joint]
    return free - friction * held, float(friction)


def integrated(
    model: gd.GearedModel, run: Window, more: np.ndarray, motor: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """States (t, 4 n) under forces that differ by ``more`` (2, t - 1, n), by a Runge-Kutta method.

    A rotor may come to rest; its friction (t - 1,), motor side, is the second result.
    """
    half, h, states, found = 2 * model.n, run.dt, run.states.copy(), np.zeros(len(run.states) - 1)
    goes, slows = slowing(run)

    def rate(z: np.ndarray, k: int, part: float) -> np.ndarray:
        push = run.forces[k] + (1.0 - part) * more[0, k] + part * more[1, k]
        if motor is None:
            return np.concatenate([z[half:], accelerations(model, z, run.tau_m[k], push)])
        slower = (1.0 - part) * given[0] + part * given[1]
        change, friction = resting(model, z, run.tau_m[k], push, motor, slower)
        if part == 0.0:
            at = gd.State(*z.reshape(4, -1)[[0, 2, 1, 3]])
            found[k] = friction + gd.elastic.friction_forces(model, at)[1][motor]
        return np.concatenate([z[half:], change])

    for k in range(len(states) - 1):
        if motor is not None:
            theta = model.n + motor
            given = [
                goes[r] * accelerations(model, run.states[r], run.tau_m[k], run.forces[k])[theta]
                + slows[r] * run.states[r, half + theta]
                for r in (k, k + 1)
            ]
        z = states[k]
        a = rate(z, k, 0.0)
        b = rate(z + 0.5 * h * a, k, 0.5)
        c = rate(z + 0.5 * h * b, k, 0.5)
        d = rate(z + h * c, k, 1.0)
        states[k + 1] = z + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return states, found


def healthy_world(model: gd.GearedModel, run: Window, motor: int) -> HealthyWorld:
    """How far the healthy world is from the run; both integrated alike.

    Args:
        model: An arm each of whose motors drives one joint through a spring.
        run: From ``LEAD`` before the encoder sticks.
        motor: Whose encoder.
    """
    n, more, theta = model.n, differences(model, run, motor), model.n + motor
    ours, friction = integrated(model, run, more, motor)
    theirs, _ = integrated(model, run, 0.0 * more, None)
    apart, A = np.abs(ours - theirs), np.abs(gd.elastic.structure_matrix(model)[n:])
    level = float(model.motors.friction.coulomb[motor].max())
    stuck = round(LEAD / run.dt)
    apart[stuck:, theta] = np.abs(ours[stuck:, theta] - theirs[stuck, theta])
    begin = int(np.argmax(slowing(run)[0] < 1.0)) - 1
    speed = A[motor, motor] * ours[:-1, 2 * n + theta]
    creeps = np.abs(speed[begin:]) > CREEP
    along = -friction[begin:][creeps] * np.sign(speed[begin:][creeps])
    return HealthyWorld(
        speed=float(abs(speed[begin])),
        torque=float(np.ptp(run.tau_m[:, motor])) / level,
        friction=float(np.abs(friction[begin:]).max()) / level,
        driven=float(along.max(initial=0.0)) / level,
        readings=float((apart[:, n : 2 * n] @ A).max()),
        force=float(np.abs(more).max() / max(1.0, np.abs(run.forces).max())),
        link=float(apart[:, :n].max()),
    )


def hides(world: HealthyWorld, resolution: float) -> bool:
    """Whether no reading tells the run from a healthy arm (docs/observers.md, Stuck at rest).

    A torque that changes by more than friction holds shows a stuck encoder only as far as no
    force goes with it by chance: not where that is much less than anyone knows of the push.
    """
    return (
        (world.torque <= LEVELS or world.force <= ALIKE)
        and world.friction <= 1.0
        and world.driven <= 0.0
        and world.readings <= resolution
        and world.force <= OTHER
    )
