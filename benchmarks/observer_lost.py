"""Hard pushes that a slow observer does not follow: whether it says so, and when it is back.

The pushes of ``observer_pushes`` on the last joint, 200 and 400 N m, from rest and in motion; the
nonlinear observer and, as it shares the code, the redundant one. An observer that has become
invalid starts again with the next reading, as the node lets it. Counted are the runs in which
it did, the starts, and the instants in which the link is more than 0.5 rad off while the
state is valid: all of one loss, and the most in a row.

Run: python benchmarks/observer_lost.py [nonlinear|redundant] [seed=1] [band=5]
"""

import sys

import numpy as np
from observer_pushes import NOISE, TURN, Run, elbow, noisy, runs

import geared_dynamics as gd

ob = gd.observers
FAR = 0.5  # [rad]


def followed(
    model: gd.GearedModel, kind: str, band: float, run: Run, shown: np.ndarray
) -> tuple[int, np.ndarray]:
    """Number of starts, and how far off the links are where the state is valid (T,) [rad]."""
    make = ob.redundant_observer if kind == "redundant" else ob.nonlinear_observer
    observer = make(model, resolution=TURN, noise=NOISE, bandwidth=band, rate=run.rate)
    state, starts, off = None, 0, np.zeros(len(shown))
    for k, row in enumerate(shown):
        y = gd.Measurement(row, run.tau_m[k])
        if state is None or not state.health.valid:
            state, starts = observer.start(y), starts + 1
        else:
            state = observer.step(state, y, 1.0 / run.rate)
        off[k] = state.health.valid * np.abs(state.mean[:3] - run.q[k]).max()
    return starts, off


def longest(far: np.ndarray) -> int:
    """Most instants in a row."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], far.astype(int), [0]])))
    return int((ends[1::2] - ends[::2]).max(initial=0))


def main() -> None:
    """Print what is named."""
    words = sys.argv[1:]
    given = dict(word.split("=") for word in words if "=" in word)
    kinds = [word for word in words if "=" not in word] or ["nonlinear", "redundant"]
    seed, band = int(given.get("seed", 1)), float(given.get("band", 5.0))
    model, random = elbow(), np.random.default_rng(seed + 1000)
    pairs = [(run, noisy(run, random)) for run in runs(seed)]
    hard = [pair for pair in pairs if pair[0].name.endswith("joint 3")]
    hard = [pair for pair in hard if pair[0].name.startswith(("200", "400"))]
    for kind in kinds:
        found = [followed(model, kind, band, *pair) for pair in hard]
        again = [starts - 1 for starts, _ in found if starts > 1]
        far = [off > FAR for _, off in found]
        print(
            f"{kind}, {band:g} Hz, {len(hard)} runs: {len(again)} lost, {sum(again)} starts more; "
            f"valid, beyond {FAR} rad for at most {max(map(longest, far))} instants at once, "
            f"{sum(int(one.sum()) for one in far)} in all; at the end at most "
            f"{1e3 * max(off[-1] for _, off in found):.1f} mrad",
            flush=True,
        )


if __name__ == "__main__":
    main()
