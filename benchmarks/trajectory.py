"""What references cost for six joints, and what is done once for a trajectory of 1000 points.

Asked: ``sample_into`` at most 6 µs. The inverse dynamics of the same arm stands beside it.

Run: make benchmark
"""

import numpy as np
from arms import ours
from timing import interleaved, turn, verdict

import geared_dynamics as gd
from geared_dynamics import trajectory

JOINTS, POINTS = tuple(f"joint_{k + 1}" for k in range(6)), 1000
LIMIT = 6e-6  # [s]


def goal() -> trajectory.JointTrajectory:
    """Random waypoints every 10 ms, with all fields, as lists of numbers."""
    random = np.random.default_rng(0).normal(size=(POINTS, 4, len(JOINTS)))
    random[-1, 1:3] = 0.0
    points = [trajectory.Point(0.01 * (k + 1), *row.tolist()) for k, row in enumerate(random)]
    return trajectory.JointTrajectory(JOINTS, points)


if __name__ == "__main__":
    rules, message = trajectory.Rules(JOINTS), goal()
    before = trajectory.state(np.zeros(len(JOINTS)))
    waypoints = trajectory.checked(message, rules, 0.0)
    reference = trajectory.follow(waypoints, before, 0.0, rules)
    rows = np.zeros((1, len(JOINTS)))
    spline = trajectory.smooth(waypoints, rows, 0.0, rules, continuous=4)
    limits = {"velocity": 2.0, "acceleration": 5.0, "jerk": 40.0}
    zero, way = np.zeros(len(JOINTS)), np.arange(1.0, 7.0)
    profile = trajectory.jerk_bounded(zero, way, **limits)
    out, model = trajectory.SampleBuffer(len(JOINTS)), ours()
    torque, five = np.zeros(len(JOINTS)), np.zeros((5, len(JOINTS)))
    ready = trajectory.prepare(spline, 4)
    times = interleaved(
        {
            "sample_into": lambda: trajectory.sample_into(reference, 5.0031, out),
            "sample_into, after the end": lambda: trajectory.sample_into(reference, 11.0, out),
            "inverse_dynamics": lambda: gd.inverse_dynamics(
                model, out.q, out.v, out.a, out=torque
            ),
            "sample": lambda: trajectory.sample(reference, 5.0031),
            "derivatives to the fifth": lambda: trajectory.derivatives(reference, 5.0031, 5),
            "smooth, four derivatives": lambda: spline.derivatives(5.0031, 4),
            "smooth, prepared": lambda: trajectory.derivatives_into(ready, 5.0031, five),
            "jerk_bounded, made": lambda: trajectory.jerk_bounded(zero, way, **limits),
            "jerk_bounded, looked at": lambda: profile.derivatives(1.0, 3),
        },
        rounds=30,
        calls=100,
    )
    for name, value in times.items():
        print(f"  {name:<28} {value * 1e6:8.2f} us")
    print(verdict("sample_into against 6 us", times["sample_into"] / LIMIT, 1.0))
    once = {
        "checked": lambda: trajectory.checked(message, rules, 0.0),
        "follow": lambda: trajectory.follow(waypoints, before, 0.0, rules),
        "resample to 1 ms": lambda: trajectory.resample(reference, 0.001),
        "smooth": lambda: trajectory.smooth(waypoints, rows, 0.0, rules, continuous=4),
        "prepare": lambda: trajectory.prepare(spline, 4),
    }
    for name, call in once.items():
        print(f"  {name + f', {POINTS} points':<28} {turn(call, 5) / 5 * 1e3:8.2f} ms")
