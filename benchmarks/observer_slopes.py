"""Differences in the elastic observers against exact derivatives: their error, and their time.

The observers take central differences of the inverse dynamics by the joints' positions.

Run: python benchmarks/observer_slopes.py
"""

import numpy as np
from elastic import elastic_arm
from timing import interleaved

import geared_dynamics as gd
from geared_dynamics.kernels.elastic import STEP


def difference_slopes(
    arm: gd.GearedModel, n: int, x: np.ndarray, rate: np.ndarray, a: np.ndarray
) -> np.ndarray:
    """Derivative of the force on x by q, as the observers have it."""
    result, tau = np.zeros((arm.n, n)), np.empty((2, arm.n))
    for j in range(n):
        step = STEP * np.eye(arm.n)[j]
        gd.inverse_dynamics(arm, x + step, rate, a, out=tau[0])
        gd.inverse_dynamics(arm, x - step, rate, a, out=tau[1])
        result[:, j] = (tau[0] - tau[1]) / (2.0 * STEP)
    return result


def main() -> None:
    """Print the largest relative error of da/dq, and the times of a call [us]."""
    model = elastic_arm()
    arm, n, random = model.with_springs(), model.n, np.random.default_rng(0)
    worst = 0.0
    for _ in range(50):
        x, rate, a = random.normal(size=(3, arm.n))
        exact = gd.inverse_dynamics_derivatives(arm, x, rate, a)
        H, by_q = exact.dtau_da, exact.dtau_dq[:, :n]
        wanted = np.linalg.solve(H, by_q)
        got = np.linalg.solve(H, difference_slopes(arm, n, x, rate, a))
        worst = max(worst, float(np.abs(got - wanted).max() / np.abs(wanted).max()))
    print(f"da/dq by differences: off by {worst:.1e} of the largest entry at most, 50 states")
    tau = np.empty(arm.n)
    sides = {
        "one": lambda: gd.inverse_dynamics(arm, x, rate, a, out=tau),
        "tape": lambda: gd.inverse_dynamics_derivatives(arm, x, rate, a, out=exact),
    }
    fast = gd.compiled(arm, ["inverse_dynamics_derivatives"])
    compiled = gd.inverse_dynamics_derivatives(fast, x, rate, a)
    sides["compiled"] = lambda: gd.inverse_dynamics_derivatives(fast, x, rate, a, out=compiled)
    times = interleaved(sides, rounds=20, calls=50)
    print(f"{2 * n} inverse dynamics {2e6 * n * times['one']:.1f} us, ", end="")
    print(f"exact by tape {1e6 * times['tape']:.1f} us, compiled {1e6 * times['compiled']:.1f} us")


if __name__ == "__main__":
    main()
