"""An observer node's loop beside a simulated arm, without ROS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from geared_dynamics.runtime.observer_estimates import ObserverOutput, Sensed
from geared_dynamics.runtime.observer_loop import ObserverLoop
from observer_node_arm import Plant, ready

MOTOR = {"feedback": "motor", "torque_kind": "motor_torque"}
Change = Callable[[Plant, Sensed], Sensed | None]


def sensed(plant: Plant) -> Sensed:
    return Sensed(plant.time, plant.phi, plant.tau_m)


class Bench:
    """A plant, an observer's loop, and a steady clock that goes with the plant."""

    def __init__(self, **given: Any) -> None:
        self.plant, self.loop = Plant(), ObserverLoop(ready(**MOTOR | given))
        self.output = self.loop.output

    def run(self, cycles: int, change: Change | None = None) -> list[ObserverOutput]:
        """Outputs of cycles; a change returns other readings, or none."""
        found = []
        for _ in range(cycles):
            self.plant.step()
            reading: Sensed | None = sensed(self.plant)
            if change is not None:
                reading = change(self.plant, reading)
            if reading is not None:
                self.output = self.loop.cycle(self.plant.time, reading)
            else:
                silent = self.loop.silence(self.plant.time)
                self.output = self.output if silent is None else silent[0]
            found.append(self.output)
        return found

    def off(self) -> float:
        """Largest error of the links' positions [rad]."""
        assert self.output.estimate is not None
        return float(np.abs(self.output.estimate.q - self.plant.q).max())
