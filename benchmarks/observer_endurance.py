"""Long runs of the Kalman filter: ten minutes on one arm, two seconds on each of 1000 arms.

First MuJoCo's elbow (``observer_plant``) in random motion with friction of the rotors 20 % above
the model's: errors, faults, and false alarms of an external force (``observer_alarm`` has more).
Then random arms of 2 to 6 joints, branched, coupled, skew, partly elastic, from random starts
with springs twisted and joint positions up to 0.1 rad wrong; their plant is the model's own
prediction in steps of a quarter.

Run: python benchmarks/observer_endurance.py 10 1000 (minutes and arms; few if not given)
"""

import sys
import time
from pathlib import Path

import numpy as np
from observer_figures import FINE, SENSOR
from observer_plant import DT, TURN, Row, elbow, motion

import geared_dynamics as gd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from elastic_arms import elastic_arm
from observer_arms import followed

ob = gd.observers
SHARE = 0.3  # part of the friction in the alarm's threshold; the floors [N m] beside it:
FLOORS = {"motors": 2.5, "and torques": 1.0}
SKIP = 500  # instants before errors count


class Account:
    """What a long run of one filter came to."""

    def __init__(self, model: gd.GearedModel, sensors: str) -> None:
        """Tune the filter for the sensors."""
        every = {"link_noise": FINE / 12**0.5, "joint_torque_noise": SENSOR}
        more = every if sensors == "and torques" else {}
        self.model, self.sensors, self.state = model, sensors, None
        self.gains = ob.kalman_gains(model, resolution=TURN, noise=0.3 * TURN, **more)
        self.squares, self.base, self.largest = np.zeros(3), np.zeros(3), np.zeros(3)
        self.count = self.faults = self.alarms = 0
        self.watch = ob.alarm_start(model)

    def take(self, row: Row, measurement: ob.Measurement) -> None:
        """Step and count."""
        if self.sensors == "motors":
            measurement = measurement._replace(link_position=None, joint_torque=None)
        if self.state is None:
            self.state = ob.kalman_start(self.model, self.gains, measurement)
            return
        self.state = ob.kalman_step(self.model, self.gains, self.state, measurement, DT)
        self.faults += int(self.state.health.faults) != 0
        self.count += 1
        if self.count > SKIP:
            found = ob.estimate(self.model, self.state)
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
            account.take(row, ob.Measurement(row.phi, row.tau_m, link, torque))
    print(f"{minutes:g} min, rotors' friction +20 %; {time.time() - begun:.0f} s")
    for account in accounts:
        account.report()


def many(arms: int) -> None:
    """Arms that are followed, and how well."""
    begun, lost, ends, late = time.time(), [], [], []
    for seed in range(arms):
        model = elastic_arm(seed, joints=2 + seed % 5, share=0.3 + 0.1 * (seed % 8))
        off, valid = followed(model, seed, 2000)
        if not valid:
            lost.append(seed)
        ends.append(off[-1])
        late.append(off[300:].max())
    print(f"{arms} arms, 2 s each from 0.1 rad wrong; {time.time() - begun:.0f} s")
    print(f"  held invalid {lost}")
    for name, values in (("at the end", ends), ("at most, after 0.3 s", late)):
        worst = ", ".join(str(seed) for seed in np.argsort(values)[::-1][:3])
        print(
            f"  off {name}: median {np.median(values):.1e}, 99 % below "
            f"{np.percentile(values, 99):.1e}, largest {np.max(values):.1e} rad or m (arms "
            f"{worst}); above 1 mrad {np.sum(np.array(values) > 1e-3)}"
        )


if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    arms = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    if minutes:
        endurance(minutes)
    if arms:
        many(arms)
