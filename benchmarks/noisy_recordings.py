"""Recordings of simulated arms whose truth is known: noise, repeated samples, gaps, drivers.

Positions, velocities and torques are exact along the motion, then spoilt as sensors, drivers and
publishers do it. The torques have friction that no column of the identification stands for
(Stribeck effect, ripple over the angle), as real gears do.
"""

import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import geared_dynamics as gd
from geared_dynamics.analysis.excitation import MotionBounds, limits_of, within
from geared_dynamics.analysis.parameter_columns import column_names, columns, prior
from geared_dynamics.recordings.recording import recording_from_arrays

ROOT = Path(__file__).resolve().parents[1]
BLOCK = 8192  # samples whose columns are held at a time
FARTHEST, FASTEST = 2.5, 2.0  # [rad], [rad/s] where a URDF says nothing
INSTALLED = {
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}
ONLY = {
    "panda": [f"panda_joint{k}" for k in range(1, 8)],
    "z1": [f"joint{k}" for k in range(1, 7)],
}


@dataclass(frozen=True)
class Case:
    """A recording.

    Attributes:
        arm: Of urdf/, or of INSTALLED.
        motion: ``fourier`` (one long series), ``periodic`` (10 s, repeated), ``slow``, or ``pick``
            (and place: moves between rests).
        seed: Of motion, truth and noise.
        seconds: Of motion.
        rate: Samples per second.
        counts: Encoder counts in a turn of the joint; 0: exact.
        noise: Of positions, RMS [rad].
        repeated: Share of samples that are the one before again.
        of: What of it: ``row``, ``position`` only, or ``stamp`` as well.
        intervals: Seconds between gaps, from, to.
        torque_noise: RMS, share of the torque's standard deviation.
        quantum: Step of the torque.
        lowpass: Of the driver, order 1 [Hz]; 0: none.
        velocity: ``none``, ``noisy``, or ``difference`` of positions.
        recorded: Whether velocities are used.
        unmodelled: Stribeck effect and ripple, share of Coulomb friction.
        acceleration: Largest [rad/s^2].
    """

    arm: str
    motion: str = "fourier"
    seed: int = 0
    seconds: float = 40.0
    rate: float = 1000.0
    counts: float = 0.0
    noise: float = 0.0
    repeated: float = 0.0
    of: str = "row"
    intervals: tuple[float, float] | None = None
    torque_noise: float = 0.0
    quantum: float = 0.0
    lowpass: float = 0.0
    velocity: str = "none"
    recorded: bool = False
    unmodelled: float = 0.0
    acceleration: float = 5.0


def arm(name):
    """An arm of urdf/ with its drivetrain, or an installed one with a rotor for each joint."""
    urdf = ROOT / "urdf" / f"{name}.urdf"
    if urdf.exists():
        return gd.load_model(urdf, urdf.with_suffix(".drivetrain.yaml"))
    place = Path(sysconfig.get_paths()["purelib"])
    found = [*place.glob(f"cmeel.prefix/share/example-robot-data/robots/{INSTALLED[name]}")]
    if not found:
        raise SystemExit(f"{name} is not there: install example-robot-data")
    bare = gd.load_model(found[0], joints=ONLY.get(name))
    with tempfile.TemporaryDirectory() as folder:
        drive = Path(folder) / f"{name}.drivetrain.yaml"
        drive.write_text(rotors(bare), "utf-8")
        return gd.load_model(found[0], drive, joints=ONLY.get(name))


def rotors(model):
    """A drivetrain file: a rotor on the link before each joint, about its axis."""
    joints = {joint.name: joint for joint in model.records.robot.joints}
    wheels, spins, motors = [], [], []
    for k, name in enumerate(model.joint_names):
        axis, own = list(map(float, joints[name].axis)), 2e-4 / (1 + k)
        wheels.append(
            f"  rotor_{name}: {{carrier: {joints[name].parent}, axis: {axis}, mass: 0.3, "
            f"inertia: {{axial: {own}, transverse: {0.6 * own}}}}}"
        )
        spins.append(f"  - {{wheel: rotor_{name}, joint: {name}, ratio: 101}}")
        motors.append(f"  motor_{name}: {{wheel: rotor_{name}}}")
    parts = (["version: 1", "wheels:"], wheels, ["spins:"], spins, ["motors:"], motors)
    return "\n".join(line for part in parts for line in part) + "\n"


def motion_of(model, case, random):
    """Times (k,), positions, velocities, accelerations (k, n), exact."""
    t, limits = np.arange(round(case.seconds * case.rate)) / case.rate, reach(model, case)
    if case.motion == "pick":
        return (t, *picked(limits, t, random))
    harmonics, period = {
        "fourier": (max(5, int(case.seconds / 4)), case.seconds),
        "periodic": (5, 10.0),
        "slow": (6, case.seconds),
    }[case.motion]
    tried = random.normal(size=(2, model.n, harmonics)) / np.sqrt(np.arange(1, harmonics + 1))
    return (t, *within(model, limits, period, tried)[0].at(t))


def reach(model, case):
    """Limits of the motion; torques have none."""
    one = np.ones(model.n)
    try:
        found = limits_of(model, case.acceleration)
    except gd.GearedDynamicsError:
        found = MotionBounds(-2.0 * one, 2.0 * one, FASTEST * one, case.acceleration * one, one)
    low, high = np.maximum(found.lower, -FARTHEST), np.minimum(found.upper, FARTHEST)
    return found._replace(lower=low, upper=high, torque=np.inf * one)


def picked(limits, t, random):
    """Moves by polynomials of order 5 between random points, with rests of 0.2 to 0.8 s."""
    middle, room = 0.5 * (limits.lower + limits.upper), limits.upper - limits.lower
    q = np.tile(middle, (len(t), 1))
    v, a, here, now = np.zeros(q.shape), np.zeros(q.shape), middle, 0.0
    while now < t[-1]:
        way = middle + random.uniform(-0.45, 0.45, len(middle)) * room - here
        shortest = (np.sqrt(5.78 * np.abs(way) / limits.acceleration)).max()
        shortest = max(shortest, (1.875 * np.abs(way) / limits.speed).max())
        T = shortest * random.uniform(1.05, 1.5)
        s = np.clip((t - now) / T, 0.0, 1.0)[:, None]
        moving, later = (t >= now) & (t < now + T), t >= now
        q[later] = (here + way * (10 * s**3 - 15 * s**4 + 6 * s**5))[later]
        v[moving] = (way * (30 * s**2 - 60 * s**3 + 30 * s**4) / T)[moving]
        a[moving] = (way * (60 * s - 180 * s**2 + 120 * s**3) / T**2)[moving]
        now, here = now + T + random.uniform(0.2, 0.8), here + way
    return q, v, a


def parameters_of(model, q, v, a, random):
    """Parameters of all columns: the files' with other rotors, and friction by the torques."""
    x, names = prior(model), list(column_names(model))
    size = gd.inverse_dynamics(model, q, v, a).std(axis=0)
    size = size + 0.1 * size.max()
    for k, joint in enumerate(model.joint_names):
        x[names.index(f"{joint}.viscous")] = 0.06 * size[k] * random.uniform(0.5, 2.0)
        x[names.index(f"{joint}.coulomb")] = 0.12 * size[k] * random.uniform(0.5, 2.0)
        x[names.index(f"{joint}.offset")] = 0.02 * size[k] * random.normal()
    for k, name in enumerate(names):
        x[k] *= random.uniform(0.8, 1.2) if name.endswith(".J") else 1.0
    return x


def torques(model, x, q, v, a):
    """Torques of parameters along a motion (k, n)."""
    pieces = range(0, len(q), BLOCK)
    parts = [columns(model, *(y[k : k + BLOCK] for y in (q, v, a))) @ x for k in pieces]
    return np.concatenate(parts)


def odd_friction(model, case, x, q, v):
    """What friction has beside the columns: a smooth reversal, Stribeck effect, ripple (k, n)."""
    names = list(column_names(model))
    level = x[[names.index(f"{joint}.coulomb") for joint in model.joint_names]]
    sign = np.tanh(v / 0.01)
    more = case.unmodelled * (np.exp(-((v / 0.1) ** 2)) * sign + 0.3 * np.sin(8.0 * q))
    return level * (sign - np.sign(v) + more)


def recorded(case, x=None):
    """The model, a recording, and the true parameters: ``x`` if they are given."""
    from scipy import signal

    random, model = np.random.default_rng(case.seed), arm(case.arm)
    t, q, v, a = motion_of(model, case, random)
    x = parameters_of(model, q, v, a, random) if x is None else x
    tau = torques(model, x, q, v, a) + odd_friction(model, case, x, q, v)
    size = tau.std(axis=0)
    if case.lowpass:
        b, c = signal.butter(1, case.lowpass, fs=case.rate)
        tau = signal.lfilter(b, c, tau - tau[0], axis=0) + tau[0]
    tau = rounded(
        tau + random.normal(size=tau.shape) * case.torque_noise * size, case.quantum * size
    )
    step = 2.0 * np.pi / case.counts if case.counts else 0.0
    seen = rounded(q + random.normal(size=q.shape) * case.noise, step)
    speed = {
        "none": np.full(q.shape, np.nan),
        "noisy": v + random.normal(size=v.shape) * 0.01 * v.std(axis=0),
        "difference": np.diff(seen, axis=0, prepend=seen[:1]) * case.rate,
    }[case.velocity]
    stamp = t.copy()
    again = np.flatnonzero(random.random(len(t)) < case.repeated)
    for k in again[again > 0]:
        seen[k] = seen[k - 1]
        if case.of != "position":
            tau[k], speed[k] = tau[k - 1], speed[k - 1]
        if case.of == "stamp":
            stamp[k] = stamp[k - 1]
    there = without_gaps(case, t, random)
    return model, recording_from_arrays(*(y[there] for y in (stamp, seen, tau, speed))), x


def rounded(values, step):
    """Values in whole steps; a step of zero is none."""
    step = np.broadcast_to(step, values.shape)
    safe = np.where(step > 0.0, step, 1.0)
    return np.where(step > 0.0, np.rint(values / safe) * safe, values)


def without_gaps(case, t, random):
    """Which samples are there (k,): gaps of 0.05 to 0.5 s between the intervals."""
    there, at = np.ones(len(t), bool), 0.0
    while case.intervals and at < case.seconds:
        at += random.uniform(*case.intervals)
        gap = random.uniform(0.05, 0.5)
        there[(t >= at) & (t < at + gap)] = False
        at += gap
    return there
