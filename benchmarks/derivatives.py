"""Time derivatives of the inverse dynamics against the inverse dynamics, over the order.

Run: make benchmark
"""

import numpy as np
from arms import ours
from timing import interleaved, verdict

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.packing import packed

ORDERS = (2, 3, 4, 5, 6, 8)
# Few states and one call to a turn: what another process takes must not fall on the long
# turns alone.
STATES = 100


def per_state() -> None:
    """Both kernels over a batch, so that the call from Python does not count."""
    model = ours()
    arrays, n = packed(model), model.n
    q, v, a = np.random.default_rng(0).normal(size=(3, STATES, n))
    force = np.empty_like(q)
    sides = {"inverse": lambda: kernels.inverse_dynamics(arrays, q, v, a, force)}
    for k in ORDERS:
        path = np.random.default_rng(k).normal(size=(STATES, (k + 1) * n))
        out = np.empty((STATES, (k - 1) * n))

        def rates(path=path, out=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.inverse_dynamics_time_derivatives(arrays, path, out)

        sides[f"k = {k}"] = rates
    times = interleaved(sides, rounds=2000, calls=1)
    for name, value in times.items():
        print(
            f"  {name:<8} {value / STATES * 1e6:6.3f} us per state, "
            f"{value / times['inverse']:5.2f} x inverse"
        )
    print(verdict("d tau/dt (k = 3) / inverse dynamics", times["k = 3"] / times["inverse"], 3.0))


def single_calls() -> None:
    """One state per call, from Python."""
    model = ours()
    path = np.random.default_rng(0).normal(size=(4, model.n))
    q, v, a = path[:3].copy()
    force, out = np.empty(model.n), np.empty((2, model.n))
    times = interleaved(
        {
            "inverse_dynamics": lambda: gd.inverse_dynamics(model, q, v, a, out=force),
            "derivatives, k = 3": lambda: gd.inverse_dynamics_time_derivatives(
                model, path, out=out
            ),
        },
        rounds=400,
        calls=50,
    )
    for name, value in times.items():
        print(f"  {name:<20} {value * 1e6:6.3f} us per call")


if __name__ == "__main__":
    per_state()
    single_calls()
