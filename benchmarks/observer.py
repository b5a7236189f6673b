"""Cost of one step of the observers, six elastic joints.

Asked: one step of the complete observer (Kalman filter, motors' encoders) at most 150 us in the
median and 300 us in the 99th percentile.

The processor's time tells what a step takes on a machine that has other work as well.

Run: make benchmark
"""

import time

import numpy as np
from elastic import elastic_arm

import geared_dynamics as gd

STEPS = 4000
MEDIAN, LATE = 150e-6, 300e-6  # [s]
DT = 1e-3
ob = gd.observers


def arrays(model: gd.GearedModel) -> list[gd.Measurement]:
    """Readings of a smooth motion, good enough for timing."""
    n, random = model.n, np.random.default_rng(0)
    A = gd.elastic.structure_matrix(model)[n:]
    phase, size = random.uniform(0, 6, n), random.uniform(0.2, 0.5, n)
    rows = []
    for k in range(STEPS):
        theta = size * np.sin(2.0 * k * DT + phase)
        q, torque = theta - 1e-4, 0.05 * random.normal(size=n)
        te = gd.elastic.joint_torque(model, gd.State(q, 0 * q, theta, 0 * q))
        rows.append(gd.Measurement(A.T @ theta, torque, q, te))
    return rows


def timed(clock, observer, rows, count: int) -> list[float]:  # type: ignore[no-untyped-def]
    """Durations of the steps along a motion [s]."""
    times, state = [], observer.start(rows[0])
    for row in rows[1:count]:
        begun = clock()
        state = observer.step(state, row, DT)
        times.append(clock() - begun)
    return times[50:]


def main() -> None:
    """Print median and late times of each observer."""
    model = elastic_arm()
    rows = arrays(model)
    motors = [gd.Measurement(row.motor_angle, row.motor_torque) for row in rows]
    alone = ob.kalman_observer(model, resolution=5e-5)
    every = ob.kalman_observer(model, resolution=5e-5, link_noise=1e-3, joint_torque_noise=20.0)
    pure = ob.nonlinear_observer(model, resolution=5e-5, jump=10.0)
    study = ob.redundant_observer(model, gains=pure.gains)
    momentum = ob.momentum_observer(model, 30.0)
    still = np.zeros(model.n)
    moving = [
        ob.Moving(
            gd.State(row.link_position, 0 * still, row.link_position, still), row.motor_torque
        )
        for row in rows
    ]
    sides = {
        "Kalman filter, motors": (
            alone,
            motors,
            STEPS,
        ),
        "Kalman filter, all sensors": (
            every,
            rows,
            STEPS,
        ),
        "nonlinear": (pure, motors, STEPS),
        "momentum": (
            momentum,
            moving,
            STEPS,
        ),
        "redundant": (
            study,
            motors,
            150,
        ),
    }
    for name, (observer, data, count) in sides.items():
        for what, clock in (("wall", time.perf_counter), ("cpu", time.thread_time)):
            times = timed(clock, observer, data, count)
            middle, late = np.median(times), np.percentile(times, 99)
            line = f"{name:28} {what:4} median {1e6 * middle:7.1f} us, p99 {1e6 * late:7.1f} us"
            if name == "Kalman filter, motors":
                line += "  ok" if middle <= MEDIAN and late <= LATE else "  MISSED"
            print(line)


if __name__ == "__main__":
    main()
