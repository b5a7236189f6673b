"""What ``geared-dynamics tune-observer`` concludes from recordings whose misfit is known.

The plant is MuJoCo's (``observer_plant``): the elbow with three springs and rotors without Coulomb
friction, 3 s at 1 kHz, encoders of 17 bits with noise of one step beside it.

exact: recordings of the filter's own model; how many are called coloured, and how many would be by
the correlations' statistical bound alone, at 5 % in place of 0.1 % (its false-alarm rate).
white: noise misstated by factors, one or each motor's own; noise proposed over the true one, and
the normalised error squared of position and velocity (NEES, over its number) with both.
forces: as the filter expects them, a random walk; noise and NEES as above.
coloured: wrong models, late torques, filtered encoders, contacts; what is concluded, and the
largest correlation. A proposal there is wrong unless the noise in it is the true one, within 5 %.
recorded: KR300, 250 Hz (``observer_recordings``), with the published model and a stiffer one.

Run: python benchmarks/observer_tuning.py [exact|white|forces|coloured|recorded ...] [--seed N]
"""

import argparse
from typing import Any

import numpy as np
from observer_plant import DT, TURN, Arm, Row, changed, elbow, moving
from observer_recordings import STEP, kr300, recorded
from scipy import signal

import geared_dynamics as gd
from geared_dynamics.analysis import innovation_whiteness
from geared_dynamics.analysis.observer_tuning import (
    ReplayedStretch,
    fitted_noise,
    followed,
    gains_of,
    replay,
    verdict,
)

ob = gd.observers
RATE, SECONDS, BANDWIDTHS = 1 / DT, 3.0, (5.0, 10.0, 30.0)
FACTORS = (0.05, 0.3, 1.0, 4.0, 20.0)


def model_of(arm: Arm) -> gd.GearedModel:
    """The filter's model."""
    return gd.load_model(arm.urdf, arm.drives)


def stretch_of(row: Row) -> ReplayedStretch:
    """A motion as the command gets it."""
    return ReplayedStretch(DT * np.arange(len(row.phi)), row.phi, row.tau_m)


def judged(model: gd.GearedModel, samples: ReplayedStretch, noise: Any, bandwidth: float) -> Any:
    """Verdict with a noise."""
    gains = gains_of(model, TURN, noise, bandwidth, RATE)
    return verdict(replay(model, gains, [samples]), TURN)


def exact(seed: int, recordings: int = 60) -> None:
    """False alarms."""
    arm = elbow(friction=False)
    model, chance, share = model_of(arm), innovation_whiteness.CHANCE, innovation_whiteness.SHARE
    runs = [stretch_of(moving(arm, SECONDS, seed + k)) for k in range(recordings)]
    for bandwidth in BANDWIDTHS:
        loud = sum(judged(model, run, TURN, bandwidth).coloured for run in runs)
        innovation_whiteness.CHANCE, innovation_whiteness.SHARE = 0.05, 0.0
        chanced = sum(judged(model, run, TURN, bandwidth).coloured for run in runs)
        innovation_whiteness.CHANCE, innovation_whiteness.SHARE = chance, share
        print(
            f"{bandwidth:4.0f} Hz: {loud} of {recordings} exact recordings are called coloured; "
            f"{chanced} by the statistical bound at 5 % alone"
        )


def nees(model: gd.GearedModel, run: ReplayedStretch, truth: Any, gains: ob.KalmanGains) -> float:
    """Mean normalised error squared of position and velocity of the joints, over its number."""
    n = model.n
    N = gains.sizes.coordinates
    which, k, found = np.r_[:n, N : N + n], gains.sizes.state, []
    for instant, (_, _, state) in enumerate(followed(model, gains, run)):
        if instant >= 500:
            off = state.mean[which] - truth[instant]
            root = state.root.reshape(k, k)[:, which]
            found.append(float(off @ np.linalg.solve(root.T @ root, off)))
    return float(np.mean(found)) / len(which)


def white(seed: int) -> None:
    """Wrong noise."""
    arm = elbow(friction=False)
    model = model_of(arm)
    for each in (np.ones(3), np.array([0.5, 1.0, 3.0])):
        row = moving(arm, SECONDS, seed, noise=TURN * each)
        run, truth = stretch_of(row), np.hstack([row.q, row.v])
        for bandwidth in BANDWIDTHS[::2]:
            right = nees(model, run, truth, gains_of(model, TURN, TURN * each, bandwidth, RATE))
            for factor in FACTORS:
                noise = factor * TURN
                found, after = fitted_noise(model, [run], TURN, noise, bandwidth, RATE)
                given = judged(model, run, noise, bandwidth)
                line = f"{bandwidth:3.0f} Hz, noise {each} stated {factor:5.2f}: NIS "
                line += (
                    f"{given.ratio:8.3f} -> {after.ratio:.3f}, consistent {given.consistent!s:5}"
                )
                if found is None:
                    print(line + " -> no noise: MISSED")
                    continue
                error = nees(model, run, truth, gains_of(model, TURN, found, bandwidth, RATE))
                print(
                    f"{line} -> {after.consistent}, proposed / true "
                    f"{(found / each / TURN).round(3)}, NEES {error:.3f}, of the true {right:.3f}"
                )


def forces(seed: int, runs: int = 20) -> None:
    """Forces as the filter expects them: plant is ``elastic_step``, resolution almost zero."""
    arm, instants, fine = elbow(friction=False), 1000, 1e-3 * TURN
    model = model_of(arm)
    for bandwidth in (10.0, 30.0):
        gains = gains_of(model, fine, TURN, bandwidth, RATE)
        rows = [walked(model, gains, seed + k, instants) for k in range(runs)]
        samples = [run for run, _ in rows]
        for factor in FACTORS[::2]:
            found, after = fitted_noise(model, samples, fine, factor * TURN, bandwidth, RATE)
            if found is None:
                print(f"{bandwidth:3.0f} Hz, stated {factor:5.2f}: no noise: MISSED")
                continue
            fitted = gains_of(model, fine, found, bandwidth, RATE)
            errors = [nees(model, run, truth, fitted) for run, truth in rows]
            print(
                f"{bandwidth:3.0f} Hz, stated {factor:5.2f}: NIS {after.ratio:.3f}, "
                f"proposed / true {(found / TURN).round(3)}, NEES {np.mean(errors):.3f}"
            )


def walked(
    model: gd.GearedModel, gains: ob.KalmanGains, seed: int, instants: int
) -> tuple[ReplayedStretch, np.ndarray]:
    """A motion under forces as the filter expects them, and the true q and v (t, 2n)."""
    random, n = np.random.default_rng(seed), model.n
    A = gd.elastic.structure_matrix(model)[n:]
    q = random.uniform(-0.5, 0.5, n)
    state = gd.State(q, np.zeros(n), q.copy(), np.zeros(n))
    force, phi, torque, truth = np.zeros(n), [], [], []
    before = np.zeros(n)
    for _ in range(instants):
        phi.append(A.T @ state.theta + gains.noise[:n] * random.normal(size=n))
        torque.append(before)
        truth.append(np.concatenate([state.q, state.v]))
        swing = A.T @ (q + 0.3 * np.sin(6.0 * DT * len(phi)) - state.theta) - 0.03 * (
            A.T @ state.vtheta
        )
        before = 2e-4 * 50.0**2 * swing
        noise = gains.torque_noise / np.sqrt(DT) * random.normal(size=2 * n)
        moved = gd.simulation.elastic_step(
            model,
            state,
            DT,
            torque=before + np.linalg.solve(A, noise[n:]),
            external=force + noise[:n],
        )
        state = moved._replace(current=None)
        force = force + (gains.walk * np.sqrt(DT))[:n] * random.normal(size=n)
    run = ReplayedStretch(DT * np.arange(instants), np.array(phi), np.array(torque))
    return run, np.array(truth)


def coloured(seed: int) -> None:
    """Misfits that no noise explains."""
    arm = elbow(friction=False)
    rub = elbow()
    plain, model = stretch_of(moving(arm, SECONDS, seed)), model_of(arm)
    heavy = model.with_payload(0.5, (0.0, 0.05, 0.02), np.zeros((3, 3)), link="tip")

    def pushed(push: Any) -> ReplayedStretch:
        return stretch_of(moving(arm, SECONDS, seed, push=push))

    cases: dict[str, tuple[gd.GearedModel, ReplayedStretch]] = {
        "stiffness -20 %": (model_of(changed(arm, 0.8, 1.0)), plain),
        "stiffness +50 %": (model_of(changed(arm, 1.5, 1.0)), plain),
        "links +10 %": (model_of(changed(arm, 1.0, 1.1)), plain),
        "links -30 %": (model_of(changed(arm, 1.0, 0.7)), plain),
        "rotors -10 %": (model_of(changed(arm, 1.0, 1.0, 0.9)), plain),
        "0.5 kg that is not there": (heavy, plain),
        "friction missed": (model, stretch_of(moving(rub, SECONDS, seed))),
        "friction too large": (model_of(rub), plain),
        "ratio of motor 2 +1 %": (geared(arm, 1.01), plain),
        "ratio of motor 2 +5 %": (geared(arm, 1.05), plain),
        "torques late by 1 ms": (model, late(plain, 1)),
        "torques missing": (model, plain._replace(tau_m=0.0 * plain.tau_m)),
        "torques late by 3 ms": (model, late(plain, 3)),
        "encoders late by 2 ms": (model, late(plain, -2)),
        "encoders filtered, 100 Hz": (model, filtered(arm, seed, 100.0)),
        "encoders filtered, 20 Hz": (model, filtered(arm, seed, 20.0)),
        "5 N m at once": (model, pushed(lambda t: 5.0 * (t > np.array([0.8, 1.2, 1.6])))),
        "contact, 0.3 s": (model, pushed(lambda t: 30.0 * (1 < t < 1.3) * np.array([0, 1, 0]))),
        "force of 2 Hz": (model, pushed(lambda t: 10.0 * np.sin(12.6 * t) * np.ones(3))),
    }
    for name, (wrong, run) in cases.items():
        for bandwidth in BANDWIDTHS:
            try:
                print(f"{name:26} {bandwidth:3.0f} Hz: {concluded(wrong, run, bandwidth)}")
            except gd.GearedDynamicsError as error:
                print(f"{name:26} {bandwidth:3.0f} Hz: refused: {error.finding}")


def concluded(model: gd.GearedModel, run: ReplayedStretch, bandwidth: float) -> str:
    """What the command concludes."""
    found, after = fitted_noise(model, [run], TURN, TURN, bandwidth, RATE)
    j = int(np.argmax(np.abs(after.white.largest - after.white.explained) - after.white.bound))
    line = f"NIS {after.ratio:10.3f}, correlation {after.white.largest[j]:.2f} at lag "
    line += f"{after.white.lag[j]:2} of motor {j + 1}, "
    if found is None:
        return line + "no noise"
    chance = 1.0 / np.sqrt(2.0 * len(run.time))  # of a standard deviation from so many numbers
    off = (found / TURN - 1.0) / chance
    word = "that is right" if np.all(np.abs(found / TURN - 1.0) < 0.05) else "WRONG"
    return (
        f"{line}noise / true {(found / TURN).round(3)}, {off.round(1)} of its standard deviations "
        f"by chance: {word}"
    )


def geared(arm: Arm, factor: float) -> gd.GearedModel:
    """Model with another ratio of the second motor."""
    spins = [dict(spin) for spin in arm.drives["spins"]]
    spins[1]["ratio"] *= factor
    return model_of(arm._replace(drives=arm.drives | {"spins": spins}))


def late(run: ReplayedStretch, by: int) -> ReplayedStretch:
    """Torques that are late by so many samples, encoders where it is negative."""
    torque, phi = run.tau_m, run.phi
    k = len(phi) - abs(by)
    if by > 0:
        return ReplayedStretch(run.time[:k], phi[by:], torque[:k])
    return ReplayedStretch(run.time[:k], phi[:k], torque[-by:])


def filtered(arm: Arm, seed: int, cutoff: float) -> ReplayedStretch:
    """Encoders with a low-pass of first order before noise and rounding."""
    row, random = moving(arm, SECONDS, seed, noise=0.0), np.random.default_rng(seed)
    pole = np.exp(-2.0 * np.pi * cutoff * DT)
    slow = row.phi[0] + signal.lfilter([1.0 - pole], [1.0, -pole], row.phi - row.phi[0], axis=0)
    slow = TURN * np.round((slow + TURN * random.normal(size=slow.shape)) / TURN)
    return stretch_of(row._replace(phi=slow))


def recorded_arm(_: int) -> None:
    """The KR300's recordings."""
    for name, model in (("published", kr300()), ("springs x 10", kr300(1e-7 * np.ones(3)))):
        for run in "AB":
            samples = recorded(run)
            phi = np.array(
                [
                    gd.elastic.motor_angles(model, gd.State(angle, 0 * angle, angle[:3]))
                    for angle in samples.motor
                ]
            )
            stretch = ReplayedStretch(STEP * np.arange(len(phi)), phi, samples.torque)
            for bandwidth in (5.0, 30.0):
                try:
                    found, after = fitted_noise(model, [stretch], TURN, 1e-3, bandwidth, 1 / STEP)
                except gd.GearedDynamicsError as error:
                    print(f"{name}, run {run}, {bandwidth:2.0f} Hz: refused: {error.finding}")
                    continue
                print(
                    f"{name}, run {run}, {bandwidth:2.0f} Hz: NIS {after.ratio:.2f}, coloured "
                    f"{after.white.coloured.sum()} of 6, lag 1 {after.white.first.round(2)}, "
                    f"noise {'none' if found is None else found}"
                )


def main() -> None:
    """Print the figures that are named, or all."""
    every = {f.__name__: f for f in (exact, white, forces, coloured)} | {"recorded": recorded_arm}
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*every, []])
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name in args.names or every:
        print(f"\n{name}: {every[name].__doc__}")
        every[name](args.seed)


if __name__ == "__main__":
    main()
