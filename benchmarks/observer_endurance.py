"""Long runs of the Kalman filter: ten minutes on one arm, two seconds on each of 1000 arms.

First MuJoCo's elbow (``observer_plant``) in random motion with friction of the rotors 20 % above
the model's: errors, faults, and false alarms of an external force (``observer_alarm`` has more).
Then random arms of 2 to 6 joints, coupled, skew, partly elastic, with mimics and wheels that
follow, in MuJoCo with every rotor and wheel a body (``observer_plant.Bodies``), from random starts
with springs twisted and joint positions up to 0.1 rad wrong.

Run: python benchmarks/observer_endurance.py 10 1000 2 (minutes, arms, processes; few if not given)
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from observer_figures import FINE, SENSOR
from observer_plant import DT, TURN, Bodies, Row, elbow, motion

import geared_dynamics as gd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from elastic_arms import elastic_arm
from observer_arms import following

ob = gd.observers
SHARE = 0.3  # part of the friction in the alarm's threshold; the floors [N m] beside it:
FLOORS = {"motors": 2.5, "and torques": 1.0}
SKIP = 500  # instants before errors count
STEPS, LATE = 2000, 300  # of random arms, instants in all and before errors count
FAR = 5  # stated deviations
OFTEN = 250  # arms, after which it prints
WHEN = {"end": "at the end", "late": "at most, after 0.3 s"}


class Account:
    """What a long run of one filter came to."""

    def __init__(self, model: gd.GearedModel, sensors: str) -> None:
        """Tune the filter for the sensors."""
        every = {"link_noise": FINE / 12**0.5, "joint_torque_noise": SENSOR}
        more = every if sensors == "and torques" else {}
        self.model, self.sensors, self.state = model, sensors, None
        self.observer = ob.kalman_observer(model, resolution=TURN, noise=0.3 * TURN, **more)
        self.squares, self.base, self.largest = np.zeros(3), np.zeros(3), np.zeros(3)
        self.count = self.faults = self.alarms = 0
        self.watch = ob.alarm_start(model)

    def take(self, row: Row, measurement: gd.Measurement) -> None:
        """Step and count."""
        if self.sensors == "motors":
            measurement = measurement._replace(link_position=None, joint_torque=None)
        if self.state is None:
            self.state = self.observer.start(measurement)
            return
        self.state = self.observer.step(self.state, measurement, DT)
        self.faults += int(self.state.health.faults) != 0
        self.count += 1
        if self.count > SKIP:
            found = self.observer.estimate(self.state)
            self.squares += (found.q - row.q) ** 2
            self.base += (row.theta - row.q) ** 2
            self.largest = np.maximum(self.largest, np.abs(found.external))
            floor = FLOORS[self.sensors]
            force, v, vtheta = found.external, found.v, found.vtheta
            self.watch = ob.alarm_step(
                self.model, self.watch, force, v, vtheta, DT, floor=floor, share=SHARE
            )
            self.alarms += bool(self.watch.raised.any())

    def report(self) -> None:
        """Print it."""
        print(
            f"{self.sensors}: {self.count} steps, {self.faults} with faults, valid "
            f"{self.state.health.valid}, {self.alarms} alarms at {FLOORS[self.sensors]} N m + "
            f"{SHARE:.0%} of friction; largest force found {self.largest.round(2)} N m; position "
            f"better than theta by {np.sqrt(self.base / self.squares).round(1)}"
        )


def endurance(minutes: float) -> None:
    """Errors, faults and alarms of a long run."""
    arm, begun, random = elbow(), time.time(), np.random.default_rng(1)
    model = gd.load_model(arm.urdf, arm.drives)
    accounts = [Account(model, sensors) for sensors in FLOORS]
    for row in motion(arm, 60.0 * minutes, noise=0.3 * TURN, friction=1.2):
        link = FINE * np.round(row.q / FINE)
        torque = row.spring + SENSOR * random.normal(size=3)
        for account in accounts:
            account.take(row, gd.Measurement(row.phi, row.tau_m, link, torque))
    print(f"{minutes:g} min, rotors' friction +20 %; {time.time() - begun:.0f} s")
    for account in accounts:
        account.report()


class Course(NamedTuple):
    """How one random arm was followed.

    Attributes:
        valid: Whether the estimate was valid to the end.
        start, late, end: Largest error of any joint at first, after 0.3 s and at the end
            [rad or m].
        beyond: Instants after 0.3 s at which a joint was off by more than ``FAR`` stated
            deviations and 1 mrad, though valid and consistent.
        stated: The stated deviation of the joint that is farthest off, at that instant.
        inconsistent: Part of the instants that were called so.
    """

    valid: bool
    start: float
    late: float
    end: float
    beyond: int
    stated: float
    inconsistent: float


def random_arm(seed: int) -> gd.GearedModel:
    """An arm of 2 to 6 joints, 30 to 100 % of them elastic."""
    return elastic_arm(seed, joints=2 + seed % 5, share=0.3 + 0.1 * (seed % 8))


def course(seed: int) -> Course:
    """Follow a random arm for two seconds."""
    model = random_arm(seed)
    off, deviations, sound = [], [], []
    for state, q in following(model, seed, STEPS, Bodies):
        off.append(np.abs(state.mean[: model.n] - q))
        deviations.append(np.sqrt(np.diag(state.covariance)[: model.n]))
        sound.append(state.consistent and state.health.valid)
    errors, stated, told = np.array(off), np.array(deviations), np.array(sound)
    late, deviation = errors[LATE:], stated[LATE:]
    wrong = np.any((late > FAR * deviation) & (late > 1e-3), axis=1) & told[LATE:]
    return Course(
        state.health.valid,
        errors[0].max(),
        late.max(),
        errors[-1].max(),
        int(wrong.sum()),
        float(deviation.flat[np.argmax(late)]),
        1.0 - float(np.mean(told)),
    )


def many(arms: int, processes: int) -> None:
    """Follow arms; what they came to so far, now and then."""
    begun, done = time.time(), []
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(course, range(arms), chunksize=5):
            done.append(found)
            if len(done) % OFTEN == 0 or len(done) == arms:
                print(
                    f"{len(done)} random arms in MuJoCo, {time.time() - begun:.0f} s", flush=True
                )
                account(Course(*map(np.array, zip(*done, strict=True))))


def account(courses: Course) -> None:
    """Print how well arms were followed; each field is an array of all of them."""
    print(f"  held invalid: {seeds(~courses.valid)}")
    print(f"  diverged (farther off at the end than at first): {seeds(diverged(courses))}")
    for name in ("end", "late"):
        values = getattr(courses, name)
        worst = np.argsort(values)[::-1][:5]
        print(
            f"  off {WHEN[name]}: median {np.median(values):.1e}, 99 % below "
            f"{np.percentile(values, 99):.1e}, largest {values.max():.1e} rad or m; above 1 mrad "
            f"{np.sum(values > 1e-3)}; worst arms "
            + ", ".join(f"{seed} ({values[seed]:.1e})" for seed in worst)
        )
    largest = np.argsort(courses.late)[::-1][:5]
    listed = (f"{seed} {courses.late[seed] / courses.stated[seed]:.1f}" for seed in largest)
    print(f"  their largest errors in stated deviations: {', '.join(listed)}")
    print(f"  off by over {FAR} deviations and 1 mrad, not told: {seeds(courses.beyond > 0)}")
    print(f"  called inconsistent at any instant: {seeds(courses.inconsistent > 0.0)}")


def diverged(courses: Course) -> np.ndarray:
    """Which arms are no number, or farther off at the end than at first."""
    return ~(courses.end <= courses.start)


def seeds(chosen: np.ndarray) -> str:
    """How many, and the first of them."""
    found = np.flatnonzero(chosen)
    return f"{len(found)}" + (f" (arms {', '.join(map(str, found[:10]))})" if len(found) else "")


if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    arms = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    if minutes:
        endurance(minutes)
    if arms:
        many(arms, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
