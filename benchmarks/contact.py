"""Contact beside free motion: constrained forward dynamics and impacts of a six-joint arm.

One to four constraints, prepared once, called from Python; with and without friction.

Run: python benchmarks/contact.py
"""

from functools import partial

import numpy as np
from arms import ours
from timing import interleaved, verdict

import geared_dynamics as gd

MOTION, IMPACT = 2.5, 3.0  # asked: times gd.forward_dynamics


def contacts(model: gd.GearedModel, q: np.ndarray) -> dict[str, list[object]]:
    """Sets of one to four constraints that touch at q."""
    link = model.body_names[-1]
    X, place = gd.pose(model, q, link), gd.pose(model, q, link)[:3, 3]
    surface = gd.contact.Surface(link, place, X[:3, 2])
    line = gd.contact.Line(link, place, X[:3, 0])
    return {
        "1: surface": [surface],
        "2: line": [line],
        "2: edge of two surfaces": [surface, gd.contact.Surface(link, place, X[:3, 1])],
        "3: line and surface": [line, gd.contact.Surface(link, place, X[:3, 0])],
        "4: peg": [gd.contact.Peg(link, place, X[:3, 2])],
    }


def main() -> None:
    """Print the ratios."""
    model = ours()
    q, v, tau = np.random.default_rng(0).normal(size=(3, model.n))
    for name, things in contacts(model, q).items():
        ready = gd.contact.prepare(model, things)
        # At rest to the contacts for motion, coming in for the impact.
        J = gd.contact.coordinates(model, ready, q, v, free=False).jacobian
        still = v - np.linalg.pinv(J) @ J @ v
        coming = still - np.linalg.pinv(J) @ np.ones(len(J))
        free = partial(gd.forward_dynamics, model, q, still, tau)
        motion = partial(gd.contact.constrained_dynamics, model, ready, q, still, tau)
        impact = partial(gd.contact.impact, model, ready, q, coming)
        sides = {"free": free, "motion": motion, "impact": impact}
        if ready.smooth < 0:
            sides |= {"motion, friction": partial(motion, 0.0, 0.3)}
            sides |= {"impact, friction": partial(impact, 0.3, 0.3)}
        times = interleaved(sides, rounds=60, calls=200)
        alone = times.pop("free")
        print(f"{name}: free {1e6 * alone:.2f} us")
        for side, value in times.items():
            limit = (
                (MOTION if side.startswith("motion") else IMPACT) if "," not in side else np.inf
            )
            print("  " + verdict(f"{side} {1e6 * value:.2f} us", value / alone, limit))


if __name__ == "__main__":
    main()
