"""Inverse dynamics against Pinocchio's rnea, on a six-joint arm with six rotors.

Run: make benchmark
"""

import numpy as np
import pinocchio as pin
from arms import armature, mimic, ours
from timing import interleaved, verdict

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.packing import packed

STATES = 100_000


def single_calls() -> None:
    """One state per call, all from Python."""
    model, eight = ours(), ours(wheels_per_joint=8)
    usual, exact = armature(), mimic()
    usual_data, exact_data = usual.createData(), exact.createData()
    q, v, a = np.random.default_rng(0).normal(size=(3, model.n))
    out, arrays = np.empty(model.n), packed(model)
    packed(eight)
    rnea, kernel, inverse = pin.rnea, kernels.inverse_dynamics, gd.inverse_dynamics
    times = interleaved(
        {
            "rnea": lambda: rnea(usual, usual_data, q, v, a),
            "exact": lambda: rnea(exact, exact_data, q, v, a),
            "public": lambda: inverse(model, q, v, a, out=out),
            "kernel": lambda: kernel(arrays, q, v, a, out),
            "eight": lambda: inverse(eight, q, v, a, out=out),
        }
    )
    for name, value in times.items():
        print(f"  {name:<8} {value * 1e6:6.3f} us per call")
    print(verdict("public function / rnea with armature", times["public"] / times["rnea"], 1.25))
    print(verdict("kernel / rnea with armature", times["kernel"] / times["rnea"], 1.0))
    print(
        verdict("public function / exact mimic-joint rnea", times["public"] / times["exact"], 0.8)
    )
    print(verdict("eight wheels per joint / one", times["eight"] / times["public"], 1.1))


def batch() -> None:
    """A batch of states against a Python loop over rnea, both on one core."""
    model, usual = ours(), armature()
    data = usual.createData()
    q, v, a = np.random.default_rng(1).normal(size=(3, STATES, model.n))
    out = np.empty_like(q)

    def loop() -> None:
        for k in range(STATES):
            pin.rnea(usual, data, q[k], v[k], a[k])

    sides = {"loop": loop, "batch": lambda: gd.inverse_dynamics(model, q, v, a, out=out)}
    times = interleaved(sides, rounds=7, calls=1)
    for name, value in times.items():
        print(f"  {name:<8} {value / STATES * 1e6:6.3f} us per state")
    print(
        verdict(f"batch of {STATES} / Python loop over rnea", times["batch"] / times["loop"], 0.5)
    )


def same_answer() -> None:
    """Stop unless the timed models agree."""
    model, exact = ours(), mimic()
    q, v, a = np.random.default_rng(2).normal(size=(3, model.n))
    expected = pin.rnea(exact, exact.createData(), q, v, a)
    error = np.abs(gd.inverse_dynamics(model, q, v, a) - expected).max() / np.abs(expected).max()
    print(f"agreement with the exact mimic-joint model: {error:.1e} relative")
    if error > 1e-10:
        raise SystemExit("the timed models differ")


if __name__ == "__main__":
    same_answer()
    single_calls()
    batch()
