"""Feedforward of six elastic joints beside the rigid inverse dynamics, over the method.

Asked: the reduced model's at most 5 x, the complete model's practical form (the expansion to
the first order, from as many derivatives) at most 10 x; the second order and the exact form
are stated.

Run: make benchmark
"""

import numpy as np
from arms import drivetrain, rows
from timing import interleaved, verdict

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.elastic.flatness import FRICTIONLESS, plan_of
from geared_dynamics.dynamics.packing import packed

METHODS = {
    "reduced": ("reduced", None),
    "expanded, order 1": ("expanded", 1),
    "expanded, order 2": ("expanded", 2),
    "exact": ("exact", None),
}
LIMITS = {"reduced": 5.0, "expanded, order 1": 10.0, "expanded, order 2": 10.0}
STATES = 100


def flat_arm(joints: int = 6) -> gd.GearedModel:
    """The benchmark's arm with a motor and an undamped spring on every joint."""
    drive = drivetrain(joints)
    names = [f"joint_{k + 1}" for k in range(joints)]
    drive["motors"] = {f"motor_{n}": {"wheel": f"rotor_{n[6:]}_1"} for n in names}
    drive["joints"] = {name: {"stiffness": 2.0e4} for name in names}
    return gd.from_dh(rows(joints), drive, carrier_frame="joint")


def report(times: dict[str, float], unit: str) -> None:
    """Print all sides beside the rigid one, and the verdicts."""
    for name, value in times.items():
        print(f"  {name:<18} {value * 1e6:7.3f} us {unit}, {value / times['rigid']:5.2f} x rigid")
    for name, limit in LIMITS.items():
        print(verdict(f"{name} / rigid inverse dynamics", times[name] / times["rigid"], limit))


def per_state() -> None:
    """The kernels over a batch, so that the call from Python does not count."""
    model = flat_arm()
    arrays, n = packed(model), model.n
    q, v, a = np.random.default_rng(0).normal(size=(3, STATES, n))
    force = np.empty_like(q)
    sides = {"rigid": lambda: kernels.inverse_dynamics(arrays, q, v, a, force)}
    for name, (method, order) in METHODS.items():
        plan = plan_of(model, method, order)
        path = np.random.default_rng(1).normal(size=(STATES, plan.rows * n))
        out = np.empty((STATES, 3 * n + n))

        def run(plan=plan, path=path, out=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.elastic_feedforward(plan.packed, plan.plan, FRICTIONLESS, path, out)

        sides[name] = run
    report(interleaved(sides, rounds=1000, calls=1), f"for {STATES} states")


def single_calls() -> None:
    """One state per call, from Python."""
    model = flat_arm()
    q, v, a = np.random.default_rng(0).normal(size=(3, model.n))
    sides = {"rigid": lambda: gd.inverse_dynamics(model, q, v, a)}
    for name, (method, order) in METHODS.items():
        count = gd.elastic.derivatives_needed(model, method, order) + 1
        path = np.random.default_rng(1).normal(size=(count, model.n))

        def run(path=path, method=method, order=order) -> object:  # type: ignore[no-untyped-def]
            return gd.elastic.feedforward(model, path, method, order)

        sides[name] = run
    report(interleaved(sides, rounds=200, calls=50), "per call")


def over_length() -> None:
    """The reduced model's cost over the number of joints: O(n)."""
    print("  joints   reduced [us per joint]")
    for joints in (3, 6, 12, 24):
        plan = plan_of(flat_arm(joints), "reduced", None)
        path = np.random.default_rng(1).normal(size=(STATES, plan.rows * joints))
        out = np.empty((STATES, 4 * joints))

        def run(plan=plan, path=path, out=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.elastic_feedforward(plan.packed, plan.plan, FRICTIONLESS, path, out)

        time = interleaved({"reduced": run}, rounds=200, calls=1)["reduced"]
        print(f"  {joints:6d} {time / STATES / joints * 1e6:12.3f}")


if __name__ == "__main__":
    per_state()
    single_calls()
    over_length()
