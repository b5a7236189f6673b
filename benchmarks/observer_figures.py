"""Figures of docs/observer_figures.md: observers of an elastic arm beside the usual practice.

The plant is MuJoCo's (``observer_plant``). Usual practice: link position = motor position over the
ratio; link velocity = its difference through the low-pass (first or second order) that is best on
the very data, found by search. Errors are rms after half a second; factors are practice over
observer, the worst joint and all joints together.

Run: python benchmarks/observer_figures.py [errors|split|start|order|force|nees|load|rest ...]
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from observer_plant import DT, TURN, Arm, Row, changed, elbow, moving, ratios
from scipy import signal, stats

import geared_dynamics as gd
from geared_dynamics.observers.readings import at_rest
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism

ob = gd.observers
SKIP = 500  # instants before errors count
NOISE = 0.3 * TURN  # of the encoders, beside their resolution
FINE = 2 * np.pi / 2**20  # resolution of the links' encoders, where there are any [rad]
SENSOR = 0.05  # noise of the joint torque sensors, where there are any [N m]
CASES = {
    "exact": (1.0, 1.0, 1.0),
    "K +20 %, links +10 %": (1.2, 1.1, 1.0),
    "K +20 %, links -10 %": (1.2, 0.9, 1.0),
    "K -20 %, links +10 %": (0.8, 1.1, 1.0),
    "K -20 %, links -10 %": (0.8, 0.9, 1.0),
    "K -20 %, links and rotors -10 %": (0.8, 0.9, 0.9),
    "K -20 %, links +10, rotors -10 %": (0.8, 1.1, 0.9),
    "K +20 %, links and rotors +10 %": (1.2, 1.1, 1.1),
}
SENSORS = {"motors": (False, False), "and links": (True, False), "and torques": (True, True)}


def rms(error: np.ndarray) -> np.ndarray:
    """Of each joint."""
    return np.sqrt(np.mean(error[SKIP:] ** 2, axis=0))


def practice(arm: Arm, row: Row) -> tuple[np.ndarray, np.ndarray]:
    """Errors of position and velocity of the usual practice (n,)."""
    theta = row.phi @ np.linalg.inv(ratios(arm)).T
    steps = np.vstack([0 * theta[:1], np.diff(theta, axis=0)]) / DT
    best = np.full(theta.shape[1], np.inf)
    for cutoff in np.geomspace(2.0, 490.0, 80):
        for order in (1, 2):
            smooth = signal.lfilter(*signal.butter(order, 2 * cutoff * DT), steps, axis=0)
            best = np.minimum(best, rms(smooth - row.v))
    return rms(theta - row.q), best


def factors(before: np.ndarray, after: np.ndarray) -> str:
    """Worst joint's and common factor."""
    whole = np.sqrt(np.mean(before**2) / np.mean(after**2))
    return f"{np.min(before / after):8.2f} {whole:8.2f}"


def measurements(row: Row, links: bool, torques: bool, seed: int = 1) -> list[gd.Measurement]:
    """What the sensors show."""
    random = np.random.default_rng(seed)
    link = FINE * np.round(row.q / FINE)
    torque = row.spring + SENSOR * random.normal(size=row.spring.shape)
    return [
        gd.Measurement(
            row.phi[k], row.tau_m[k], link[k] if links else None, torque[k] if torques else None
        )
        for k in range(len(row.q))
    ]


def kalman(
    arm: Arm,
    row: Row,
    sensors: str = "motors",
    model: gd.GearedModel | None = None,
    change: Callable[[ob.KalmanGains], ob.KalmanGains] = lambda gains: gains,
    **tuning: float,
) -> tuple[np.ndarray, ob.KalmanState]:
    """States (t, k) of the filter along a motion, and the last state."""
    links, torques = SENSORS[sensors]
    model = gd.load_model(arm.urdf, arm.drives) if model is None else model
    gains = ob.kalman_gains(
        model,
        resolution=TURN,
        noise=NOISE,
        link_noise=FINE / 12**0.5 if links else None,
        joint_torque_noise=SENSOR if torques else None,
        **tuning,
    )
    observer = ob.kalman_observer(model, gains=change(gains))
    state, means = None, []
    for measurement in measurements(row, links, torques):
        if state is None:
            state = observer.start(measurement)
        else:
            state = observer.step(state, measurement, DT)
        means.append(state.mean)
    return np.array(means), state


def nonlinear(arm: Arm, row: Row, bandwidth: float, start: float = 0.0) -> np.ndarray:
    """States (t, 2N) of the nonlinear observer along a motion."""
    model = gd.load_model(arm.urdf, arm.drives)
    observer = ob.nonlinear_observer(model, resolution=TURN, bandwidth=bandwidth)
    state, means = None, []
    for measurement in measurements(row, False, False):
        if state is None:
            state = observer.start(measurement, q=row.q[0] + start)
        else:
            state = observer.step(state, measurement, DT)
        means.append(state.mean)
    return np.array(means)


def errors() -> None:
    """Exact parameters and wrong ones; sensors."""
    arm = elbow()
    row = moving(arm, 10.0, noise=NOISE)
    n, (position, velocity) = len(arm.joints), practice(arm, row)
    model = gd.load_model(arm.urdf, arm.drives)
    held = gd.elastic.modes(model, np.zeros(n), rotors="held")[1]
    print(f"joints with held rotors: {', '.join(f'{f:.0f}' for f in held)} Hz; 10 s at 1 kHz,")
    print(f"rates to {np.abs(row.v).max():.1f} rad/s; practice {1e3 * position.max():.1f} mrad, ")
    print(f"{velocity.max():.3f} rad/s\n{'':33} {'sensors':12} position: worst, all   velocity")
    for name, (K, links, rotors) in CASES.items():
        for sensors in SENSORS:
            found, state = kalman(changed(arm, K, links, rotors), row, sensors)
            good = f"ratio {state.ratio:6.1f}{'' if state.health.valid else ' INVALID'}"
            p = factors(position, rms(found[:, :n] - row.q))
            v = factors(velocity, rms(found[:, 2 * n : 3 * n] - row.v))
            print(f"{name:33} {sensors:12} {p}   {v}   {good}")
    found = nonlinear(arm, row, 30.0)
    p = factors(position, rms(found[:, :n] - row.q))
    print(f"{'exact':33} {'nonlinear':12} {p}   {factors(velocity, rms(found[:, 6:9] - row.v))}")


def split() -> None:
    """Part of the missing force given to the shafts: what it does to errors and to 5 N m."""
    arm, cases = elbow(), ((0.8, 0.9, 0.9), (0.8, 1.1, 0.9), (0.8, 1.1, 1.0))
    row = moving(arm, 4.5, noise=NOISE)
    pushed = moving(arm, 2.4, noise=NOISE, push=lambda t: 5.0 * (t > np.array([0.8, 1.2, 1.6])))
    position, model = practice(arm, row)[0], gd.load_model(arm.urdf, arm.drives)
    for share in (0.0, 0.3, 1.0, 2.0):

        def change(gains: ob.KalmanGains, share: float = share) -> ob.KalmanGains:
            return on_shafts(model, gains, share)

        found, _ = kalman(arm, pushed, change=change)
        line = f"walk {share:3.1f}: of 5 N m found {found[-400:, 12:15].mean(axis=0).round(1)};"
        for case in cases:
            found, _ = kalman(changed(arm, *case), row, change=change)
            factor = position / rms(found[:, :3] - row.q)
            line += f"  K, links, rotors {case}: position {factor.round(1)}"
        print(line)


def on_shafts(model: gd.GearedModel, gains: ob.KalmanGains, share: float) -> ob.KalmanGains:
    """Gains with a walk of the shafts' force, as a share of the joints'."""
    n, N, c = model.n, gains.sizes.coordinates, gains.sizes.readings
    walk, tuning = gains.walk.copy(), gains.tuning.copy()
    walk[n:] = share * walk[model.elasticity.joint]
    tuning[-c - N : -c] = walk
    return replace(gains, walk=walk, tuning=tuning)


def start() -> None:
    """Convergence from 0.1 rad wrong joint positions."""
    arm = elbow()
    row = moving(arm, 1.0, noise=NOISE)
    model = gd.load_model(arm.urdf, arm.drives)
    readings = measurements(row, False, False)
    observer = ob.kalman_observer(model, resolution=TURN, noise=NOISE)
    state = observer.start(readings[0], q=row.q[0] + 0.1, twist=0.1)
    off = [0.1]
    for k, measurement in enumerate(readings[1:], start=1):
        state = observer.step(state, measurement, DT)
        off.append(float(np.abs(state.mean[:3] - row.q[k]).max()))
    report("Kalman filter", np.array(off))
    for bandwidth in (10.0, 30.0):
        found = nonlinear(arm, row, bandwidth, 0.1)
        off = np.abs(found[:, :3] - row.q).max(axis=1)
        report(f"nonlinear, {bandwidth:.0f} Hz", off)
        tube = np.hstack([row.q, row.theta, row.v, row.vtheta])
        tuned = ob.nonlinear_gains(model, resolution=TURN, bandwidth=bandwidth)
        rates = ob.contraction(model, tuned, tube[300:], np.roll(row.tau_m, -1, axis=0)[300:], DT)
        print(
            f"  contraction along the motion: mean {rates.mean():.0f}, median "
            f"{np.median(rates):.0f} 1/s of {tuned.rate:.0f}; below zero "
            f"{100 * np.mean(rates < 0):.1f} %"
        )


def report(name: str, off: np.ndarray) -> None:
    """When the worst joint stays within 1 mrad."""
    late = np.flatnonzero(off > 1e-3)[-1] + 1
    print(f"{name}: from 0.1 rad within 1 mrad after {late} ms, at 300 ms {off[300]:.1e} rad")


def order() -> None:
    """The complete model's observer beside those of reduced ones, ratios 8 to 12."""
    arm = elbow(ratio=0.1)
    row = moving(arm, 6.0, noise=NOISE)
    position, velocity = practice(arm, row)
    for reduced in ("complete", "uncoupled", "spong_truncated"):
        model = gd.load_model(arm.urdf, arm.drives).with_elasticity(reduced)
        found, state = kalman(arm, row, model=model)
        p, v = rms(found[:, :3] - row.q), rms(found[:, 6:9] - row.v)
        print(
            f"{reduced:16} {factors(position, p)}   {factors(velocity, v)}   position "
            f"{1e6 * np.sqrt(np.mean(p**2)):7.1f} µrad, velocity "
            f"{1e3 * np.sqrt(np.mean(v**2)):7.2f} mrad/s, ratio {state.ratio:.1f}"
        )


def force() -> None:
    """A step of 5 N m on each joint, exact friction."""
    arm, starts = elbow(), (0.8, 1.2, 1.6)

    def push(t: float) -> np.ndarray:
        return np.array([5.0 * (s <= t < s + 0.3) for s in starts])

    row = moving(arm, 2.0, noise=NOISE, push=push)
    for sensors in SENSORS:
        found, _ = kalman(arm, row, sensors)
        times = [settled(found[:, 12 + j], round(s / DT)) for j, s in enumerate(starts)]
        quiet = found[SKIP:800, 12:15].std(axis=0)
        print(f"{sensors:12} within 5 % for good after {times} ms; noise {quiet.round(3)} N m")


def settled(d: np.ndarray, at: int) -> int:
    """Instants until d stays within 5 % of 5 N m, of the 300 that it acts."""
    late = np.flatnonzero(np.abs(d[at : at + 300] - 5.0) > 0.25)
    return int(late[-1]) + 1 if late.size else 0


def nees(runs: int = 40, instants: int = 400) -> None:
    """Normalised estimation error squared where the model is exact: plant is ``elastic_step``."""
    arm = elbow(friction=False)
    model = gd.load_model(arm.urdf, arm.drives)
    gains = ob.kalman_gains(model, resolution=0.0, noise=TURN)
    values = np.array([one_run(model, gains, seed, instants) for seed in range(runs)])[:, 50:]
    k = 15  # what is not known to be zero
    low, high = stats.chi2.ppf([0.025, 0.975], k * runs) / runs
    mean = values.mean(axis=0)
    inside = np.mean((mean > low) & (mean < high))
    print(f"NEES of {k} numbers, {runs} runs: mean {mean.mean():.2f}, 95 % bounds {low:.2f} to ")
    print(f"{high:.2f}, {100 * inside:.0f} % of the instants within them")


def one_run(model: gd.GearedModel, gains: ob.KalmanGains, seed: int, instants: int) -> list[float]:
    """NEES at each instant, with noise of the size that the filter assumes."""
    random, n = np.random.default_rng(seed), model.n
    A = gd.elastic.structure_matrix(model)[n:]
    P = np.r_[np.full(6, 0.02), np.full(6, 0.3), gains.walk]
    mean = np.r_[random.uniform(-0.5, 0.5, 3), np.zeros(15)]
    mean[3:6] = mean[:3]
    truth = mean + P * random.normal(size=18)
    first = gd.Measurement(A.T @ truth[3:6], np.zeros(3))
    observer = ob.kalman_observer(model, gains=gains)
    state = observer.start(first)._replace(mean=mean, root=np.diag(P).ravel())
    found = []
    for _ in range(instants):
        torque = 0.05 * random.normal(size=3)
        white = gains.torque_noise / np.sqrt(DT) * random.normal(size=6)
        moved = gd.simulation.elastic_step(
            model,
            gd.State(truth[:3], truth[6:9], truth[3:6], truth[9:12]),
            DT,
            torque=torque + np.linalg.solve(A, white[3:]),
            external=truth[12:15] + white[:3],
        )
        walk = gains.walk * np.sqrt(DT) * random.normal(size=6)
        truth = np.concatenate([moved.x, moved.rate, truth[12:] + walk])
        shown = A.T @ truth[3:6] + gains.noise[:3] * random.normal(size=3)
        state = observer.step(state, gd.Measurement(shown, torque), DT)
        off = (truth - state.mean)[:15]  # the shafts' unaccounted force is zero, and known to be
        found.append(float(off @ np.linalg.solve(state.covariance[:15, :15], off)))
    return found


def load() -> None:
    """A load of 2 kg on the tip, found from the external force of the filter."""
    arm, bare = elbow(), elbow()
    at = (0.0, 0.05, 0.02)
    inertial = (
        f'<link name="tip"><inertial><origin xyz="{at[0]} {at[1]} {at[2]}"/><mass value="2.0"/>'
        '<inertia ixx="2e-3" iyy="2e-3" izz="2e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    arm = arm._replace(urdf=arm.urdf.replace('<link name="tip"/>', inertial))
    row = moving(arm, 6.0, noise=NOISE)
    model = gd.load_model(bare.urdf, bare.drives)
    found, _ = kalman(bare, row)
    state = ob.payload_start()
    for k in range(SKIP, len(row.q), 5):
        q, v, d = found[k, :3], found[k, 6:9], found[k, 12:15]
        a = (found[k, 6:9] - found[k - 5, 6:9]) / (5 * DT)
        state = ob.payload_step(model, state, "tip", q, v, a, d, 5 * DT, window=3.0)
    load_ = ob.payload_estimate(state)
    print(f"load 2 kg at {at} m: found {load_.mass:.3f} kg at {load_.com.round(4)}")
    print(f"  deviations {load_.mass_deviation:.3f} kg, {load_.com_deviation.round(4)} m")


def rest() -> None:
    """Rest to rest (0.8, 0.6, -0.7 rad in 1.5 s), rotors held by Coulomb friction at both ends."""
    for coulomb in (0.01, 0.02, 0.05, 0.1):
        arm = elbow()
        for motor in arm.drives["motors"].values():
            motor["friction"] = {"viscous": 0.0, "coulomb": coulomb}
        model = gd.load_model(arm.urdf, arm.drives)
        for engine in (EquationsMechanism, MujocoMechanism):
            q, readings = rest_to_rest(model, engine(model, 2e-4))
            for bandwidth in (10.0, 30.0):
                observer = ob.nonlinear_observer(model, resolution=TURN, bandwidth=bandwidth)
                kalman = ob.kalman_observer(model, resolution=TURN, bandwidth=bandwidth)
                state, second = observer.start(readings[0]), None
                off, told, stated, flags = [], [], [], []
                for true, measurement in zip(q[1:], readings[1:], strict=True):
                    state = observer.step(state, measurement, DT)
                    if second is None:
                        second = kalman.start(readings[0])
                    second = kalman.step(second, measurement, DT)
                    off.append(np.abs(state.mean[:3] - true).max())
                    apart = np.abs(second.mean[:3] - true)
                    told.append(apart.max())
                    stated.append((apart / second.deviations[:3]).max())
                    flags.append(state.health.valid and state.consistent)
                name = f"{coulomb:5.2f} N m, {engine.__name__:18} {bandwidth:3.0f} Hz"
                print(
                    f"{name}: nonlinear {1e3 * max(off):7.4f} mrad, valid and consistent "
                    f"{all(flags)}; Kalman filter {1e3 * max(told):7.4f} mrad, "
                    f"at most {max(stated[100:]):.1f} deviations, valid {second.health.valid}"
                )


def rest_to_rest(
    model: gd.GearedModel, arm: EquationsMechanism | MujocoMechanism
) -> tuple[np.ndarray, list[gd.Measurement]]:
    """True q (t, 3) and readings along the motion, with half a second of rest behind it."""
    A, S = gd.elastic.structure_matrix(model), model.structure_matrix
    x, inverse, move = at_rest(model, np.zeros(3)), np.linalg.inv(S), np.array([0.8, 0.6, -0.7])
    arm.place(x, np.zeros(6))
    offset = A.T @ x
    inertia = 1.0 / np.diag(A.T @ np.linalg.solve(gd.elastic.mass_matrix(model, x[:3]), A))
    tau_m, q, readings = inverse @ gd.gravity_forces(model, x[:3]), [], []
    for k in range(2050):
        q.append(np.array(arm.x[:3]))
        shown = TURN * np.round(A.T @ arm.x / TURN)
        readings.append(gd.Measurement(shown, tau_m))
        s = min(max((k * DT - 0.05) / 1.5, 0.0), 1.0)
        v = move * (140 * s**3 - 420 * s**4 + 420 * s**5 - 140 * s**6) / 1.5
        a = move * (420 * s**2 - 1680 * s**3 + 2100 * s**4 - 840 * s**5) / 1.5**2
        goal = move * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
        behind = 1600.0 * (S.T @ goal + offset - A.T @ arm.x) + 56.0 * (S.T @ v - A.T @ arm.rate)
        tau_m = inverse @ gd.inverse_dynamics(model, goal, v, a) + inertia * behind
        for _ in range(5):
            arm.advance(tau_m, np.zeros(3))
    return np.array(q), readings


def main() -> None:
    """Print the figures that are named, or all."""
    every = {f.__name__: f for f in (errors, split, start, order, force, nees, load, rest)}
    for name in sys.argv[1:] or every:
        print(f"\n{name}: {every[name].__doc__}")
        every[name]()


if __name__ == "__main__":
    main()
