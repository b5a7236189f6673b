"""Speed of the plants, wrapper included: a command, a step of 1 ms and a reading at a time.

Asked: MuJoCo at least 5 x real time, our equations at least 10 x, six joints with six rotors, on
one core. Counted is the time of the processor, of which other programs take none away.

Run: make benchmark
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import verdict

import geared_dynamics as gd

URDF = Path(__file__).resolve().parents[1] / "urdf"
STEP, COMMANDS, ROUNDS = 1e-3, 250, 12
ASKED = {"mujoco": 5.0, "equations": 10.0}  # x real time
START = np.array([0.0, 0.5, 0.9, 0.0, 0.5, 0.0])
SWING = np.array([1.5, 1.5, 1.5, 0.2, 0.2, 0.2])  # [N m]
BEAT = 2.0 * np.pi * np.array([0.7, 0.8, 1.0, 1.3, 1.5, 1.7])


def seconds(plant: gd.simulation.Plant, commands: np.ndarray) -> float:
    """Processor time of a run from the beginning [s]."""
    plant.reset(START)
    begin = time.process_time()
    for command in commands:
        plant.step(command, STEP)
        plant.read()
    return time.process_time() - begin


def main() -> None:
    model = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    settings = gd.simulation.PlantSettings(encoder_counts=65536, command_latency=1e-3)
    t = STEP * np.arange(COMMANDS)[:, None]
    torque = gd.motor_torques(model, gd.gravity_forces(model, START)) + SWING * np.sin(BEAT * t)
    runs: dict[tuple[str, str], Callable[[], float]] = {}
    for kind in ("torque", "voltage"):
        gain = model.motors.resistance / model.motors.torque_constant if kind == "voltage" else 1.0
        for engine in ASKED:
            plant = gd.simulation.Plant(model, command=kind, engine=engine, settings=settings)
            runs[engine, kind] = lambda p=plant, c=torque * gain: seconds(p, c)  # type: ignore[misc]
    times: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for _ in range(ROUNDS):
        for key, run in runs.items():
            times[key].append(run())
    for (engine, kind), found in times.items():
        used = float(np.median(found)) / COMMANDS
        print(
            f"{engine:<10} {kind:<8} {used * 1e6:6.1f} us per ms: {STEP / used:5.1f} x real time"
        )
    for engine, asked in ASKED.items():
        used = max(float(np.median(found)) for (one, _), found in times.items() if one == engine)
        print(
            verdict(
                f"{engine}, time per ms over what is asked", asked * used / COMMANDS / STEP, 1.0
            )
        )


if __name__ == "__main__":
    main()
