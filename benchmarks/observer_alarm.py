"""External forces: how soon a push is found, and how often there is a false alarm.

MuJoCo's elbow (``observer_plant``) in random motion, 17-bit motors' encoders alone, with 20-bit
encoders on the links, and with joint torque sensors as well. Kalman filter at its default
bandwidth, one alarm (``FLOOR`` + 20 % of the friction, lasting 10 ms) throughout.

- Pushes: 5 N m on one joint for 0.25 s twice a second, at any instant of the motion, either sign.
- False alarms: free motion, friction of the rotors 20 % above and below the model's.

Run: python benchmarks/observer_alarm.py 10 motors (minutes of free motion for either friction,
in four random motions; sensors: motors, links, torques; all if not given)
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from observer_figures import FINE, NOISE, SENSOR
from observer_plant import DT, TURN, Row, elbow, motion

import geared_dynamics as gd

ob = gd.observers
FLOOR, SHARE = 3.0, 0.2  # [N m], part of the friction
SKIP = 500  # instants before anything counts
FORCE, EVERY, LONG = 5.0, 500, 250  # of the pushes [N m], instants
WITHIN = 0.05  # of the true force
# What is read beside the motors' encoders: links' encoders, joint torques.
SENSORS = {"motors": (False, False), "links": (True, False), "torques": (True, True)}


class Seen(NamedTuple):
    """What acts, what is found; where that is beyond the threshold, and for long enough."""

    force: np.ndarray
    found: np.ndarray
    beyond: np.ndarray
    raised: np.ndarray
    faulty: bool


class Watch:
    """A filter with one set of sensors, and its alarm."""

    def __init__(self, model: gd.GearedModel, sensors: str) -> None:
        """Tune the filter."""
        self.model, (self.links, self.torques) = model, SENSORS[sensors]
        self.observer = ob.kalman_observer(
            model,
            resolution=TURN,
            noise=NOISE,
            link_noise=FINE / 12**0.5 if self.links else None,
            joint_torque_noise=SENSOR if self.torques else None,
        )
        self.state, self.raised = None, ob.alarm_start(model)

    def take(self, row: Row, torque: np.ndarray) -> Seen:
        """Step filter and alarm."""
        link = FINE * np.round(row.q / FINE) if self.links else None
        reading = gd.Measurement(row.phi, row.tau_m, link, torque if self.torques else None)
        if self.state is None:
            self.state = self.observer.start(reading)
        else:
            self.state = self.observer.step(self.state, reading, DT)
        mean = self.state.mean
        force, v, vtheta = mean[12:15], mean[6:9], mean[9:12]
        self.raised = ob.alarm_step(
            self.model, self.raised, force, v, vtheta, DT, floor=FLOOR, share=SHARE
        )
        faulty = not self.state.health.valid or int(self.state.health.faults) != 0
        return Seen(row.external, force, self.raised.lasted != 0.0, self.raised.raised, faulty)


def watched(
    sensors: tuple[str, ...],
    seconds: float,
    seed: int,
    friction: float = 1.0,
    push: Callable[[float], np.ndarray] | None = None,
) -> Iterator[list[Seen]]:
    """A motion, seen with each set of sensors."""
    arm, random = elbow(), np.random.default_rng(1)
    model = gd.load_model(arm.urdf, arm.drives)
    watches = [Watch(model, name) for name in sensors]
    for k, row in enumerate(motion(arm, seconds, seed, noise=NOISE, friction=friction, push=push)):
        torque = row.spring + SENSOR * random.normal(size=3)
        seen = [watch.take(row, torque) for watch in watches]
        if k >= SKIP:
            yield seen


def pushes(sensors: tuple[str, ...], seconds: float, friction: float) -> None:
    """Print when pushes are found."""

    def push(t: float) -> np.ndarray:
        number, since = divmod(round(t / DT), EVERY)
        sign = 1.0 if number // 3 % 2 else -1.0
        return sign * FORCE * (since < LONG) * (np.arange(3) == number % 3)

    rows = list(watched(sensors, seconds, 3, friction, push))
    for name, seen in zip(sensors, zip(*rows, strict=True), strict=True):
        force, found, _, raised, _ = (np.array(column) for column in zip(*seen, strict=True))
        for j in range(3):
            line = found_at(force[:, j], found[:, j], raised[:, j])
            print(f"  {name:8} joint {j + 1}, {line}")


def found_at(force: np.ndarray, found: np.ndarray, raised: np.ndarray) -> str:
    """What became of the pushes on a joint."""
    starts = np.flatnonzero(np.diff(np.abs(force[:-LONG])) > 0.0) + 1
    # An instant shows what acts from it on; the first reading of a push is one later.
    late = [first(raised[k : k + LONG]) for k in starts]
    part = np.array([found[k : k + LONG] / force[k] for k in starts])
    mean = last(np.abs(part.mean(axis=0) - 1.0) > WITHIN)
    settled = np.array([last(np.abs(one - 1.0) > WITHIN) for one in part])
    there = np.sum(np.abs(part[:, 30] - 1.0) <= WITHIN)
    return (
        f"{len(starts)} pushes: alarm after {np.median(late):.0f} ms in the median, "
        f"{np.max(late)} at most; within 5 % for good: their mean after {mean} ms, one by one in "
        f"the median after {np.median(settled):.0f}, {np.sum(settled <= 30)} of them in 30; at "
        f"30 ms {there}; scatter after 60 ms {FORCE * part[:, 60:].std():.3f} N m"
    )


def first(raised: np.ndarray) -> int:
    """Instants until the alarm, or all of them."""
    return int(np.argmax(raised)) if raised.any() else len(raised)


def last(beyond: np.ndarray) -> int:
    """Instants until it is so no more."""
    return int(np.flatnonzero(beyond)[-1]) + 1 if beyond.any() else 0


def free(sensors: tuple[str, ...], minutes: float, friction: float, seeds: range) -> None:
    """Print false alarms in some random motions of so many minutes together."""
    for seed in seeds:
        begun, number = time.time(), 0
        alarms, instants, faulty = np.zeros((3, len(sensors)), int)
        largest = np.zeros((len(sensors), 3))
        for seen in watched(sensors, 60.0 * minutes / len(seeds), seed, friction):
            number += 1
            alarms += [bool(one.raised.any()) for one in seen]
            instants += [bool(one.beyond.any()) for one in seen]
            faulty += [one.faulty for one in seen]
            largest = np.maximum(largest, [np.abs(one.found) for one in seen])
        for name, *counts, force in zip(sensors, alarms, instants, faulty, largest, strict=True):
            print(
                f"  {name:8} motion {seed}, {number} instants: {counts[0]} with a false alarm; "
                f"{counts[1]} beyond the threshold; {counts[2]} with faults; largest false force "
                f"{force.round(2)} N m; {time.time() - begun:.0f} s",
                flush=True,
            )


def main() -> None:
    """Print all of it."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2
    sensors = tuple(sys.argv[2:]) or tuple(SENSORS)
    for friction in (1.0, 1.2, 0.8):
        print(f"pushes, friction {friction:.0%} of the model's", flush=True)
        pushes(sensors, 60.0, friction)
    for friction, seeds in ((1.2, range(1, 5)), (0.8, range(5, 9))):
        print(f"free motion, {minutes:g} min, friction {friction:.0%} of the model's", flush=True)
        free(sensors, minutes, friction, seeds)


if __name__ == "__main__":
    main()
