"""External forces: how soon a push is found, and how often there is a false alarm.

MuJoCo's elbow (``observer_plant``) in random motion, 17-bit motors' encoders alone, Kalman filter
at its default bandwidth, one alarm (``FLOOR`` + 30 % of the friction, lasting 10 ms) throughout.

- Pushes: 5 N m on one joint for 0.25 s twice a second, at any instant of the motion, either sign.
- False alarms: free motion, friction of the rotors 20 % above and below the model's.

Run: python benchmarks/observer_alarm.py 10 (minutes of free motion for either friction)
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from observer_figures import NOISE
from observer_plant import DT, TURN, Row, elbow, motion

import geared_dynamics as gd

ob = gd.observers
FLOOR, SHARE = 2.5, 0.3  # [N m], part of the friction
SKIP = 500  # instants before anything counts
FORCE, EVERY, LONG = 5.0, 500, 250  # of the pushes [N m], instants


class Seen(NamedTuple):
    """An instant: what acts, what is found, and which joints' alarm is raised."""

    row: Row
    found: np.ndarray
    beyond: np.ndarray
    raised: np.ndarray


def watched(
    seconds: float,
    seed: int,
    friction: float = 1.0,
    push: Callable[[float], np.ndarray] | None = None,
) -> Iterator[Seen]:
    """A motion with filter and alarm; ``beyond`` is the alarm that does not wait."""
    arm = elbow()
    model = gd.load_model(arm.urdf, arm.drives)
    gains = ob.kalman_gains(model, resolution=TURN, noise=NOISE)
    state, watch = None, ob.alarm_start(model)
    for k, row in enumerate(motion(arm, seconds, seed, noise=NOISE, friction=friction, push=push)):
        reading = ob.Measurement(row.phi, row.tau_m)
        if state is None:
            state = ob.kalman_start(model, gains, reading)
            continue
        state = ob.kalman_step(model, gains, state, reading, DT)
        force, v, vtheta = state.mean[12:15], state.mean[6:9], state.mean[9:12]
        watch = ob.alarm_step(model, watch, force, v, vtheta, DT, floor=FLOOR, share=SHARE)
        if k >= SKIP:
            beyond = ob.alarm(model, force, v, vtheta, floor=FLOOR, share=SHARE)
            yield Seen(row, force, beyond, watch.raised)


def pushes(seconds: float, friction: float) -> None:
    """Print when pushes are found."""

    def push(t: float) -> np.ndarray:
        number, since = divmod(round(t / DT), EVERY)
        sign = 1.0 if number // 3 % 2 else -1.0
        return sign * FORCE * (since < LONG) * (np.arange(3) == number % 3)

    rows = list(watched(seconds, 3, friction, push))
    force, found = np.array([r.row.external for r in rows]), np.array([r.found for r in rows])
    raised = np.array([r.raised for r in rows])
    for j in range(3):
        starts = np.flatnonzero(np.diff(np.abs(force[:-LONG, j])) > 0.0) + 1
        # An instant shows what acts from it on; the first reading of a push is one later.
        late = [first(raised[k : k + LONG, j]) for k in starts]
        share = [found[k + 30 : k + LONG, j].mean() / force[k, j] for k in starts]
        at = [found[k + 30, j] / force[k, j] for k in starts]
        print(
            f"  joint {j + 1}, {len(starts)} pushes: alarm after {np.median(late):.0f} ms in the "
            f"median, {np.max(late)} ms at most; force found, of the true one: from 30 ms on "
            f"{np.mean(share):.3f} +- {np.std(share):.3f}, at 30 ms {np.mean(at):.3f} +- "
            f"{np.std(at):.3f}"
        )


def first(raised: np.ndarray) -> int:
    """Instants until the alarm, or all of them."""
    return int(np.argmax(raised)) if raised.any() else len(raised)


def free(minutes: float, friction: float, seed: int) -> None:
    """Print false alarms."""
    begun, alarms, instants, largest, number = time.time(), 0, 0, np.zeros(3), 0
    for seen in watched(60.0 * minutes, seed, friction):
        number += 1
        alarms += bool(seen.raised.any())
        instants += bool(seen.beyond.any())
        largest = np.maximum(largest, np.abs(seen.found))
    print(
        f"  {number} instants: {alarms} with a false alarm; {instants} beyond the threshold; "
        f"largest false force {largest.round(2)} N m; {time.time() - begun:.0f} s"
    )


def main() -> None:
    """Print all of it."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2
    for friction in (1.0, 1.2, 0.8):
        print(f"pushes, friction {friction:.0%} of the model's")
        pushes(60.0, friction)
    for seed, friction in enumerate((1.2, 0.8), start=1):
        print(f"free motion, {minutes:g} min, friction {friction:.0%} of the model's")
        free(minutes, friction, seed)


if __name__ == "__main__":
    main()
