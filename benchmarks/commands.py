"""Motor commands against inverse dynamics alone, on a six-joint arm with six motors.

Run: make benchmark
"""

import numpy as np
from arms import drivetrain, rows
from timing import interleaved, verdict

import geared_dynamics as gd

MOTOR = {
    "resistance": 0.8,
    "inductance": 1.0e-3,
    "torque_constant": 0.06,
    "friction": {"viscous": 1.0e-5, "coulomb": 0.01},
    "efficiency": {"driving": 0.85, "backdriving": 0.7},
    "limits": {"voltage": 48, "current": 15, "torque": 0.9, "speed": 500},
}


def driven() -> gd.GearedModel:
    """The arm with motors, friction on both sides of the gears, losses and limits."""
    drives = drivetrain(6)
    drives["motors"] = {f"motor_{k}": {"wheel": f"rotor_{k}_1", **MOTOR} for k in range(1, 7)}
    friction = {"friction": {"viscous": 0.4, "coulomb": 1.1}}
    drives["joints"] = {f"joint_{k}": friction for k in range(1, 7)}
    return gd.from_dh(rows(6), drives, carrier_frame="joint")


def single_calls() -> None:
    """One state per call, all from Python, each allocating its result."""
    model = driven()
    q, v, a, jerk = np.random.default_rng(0).normal(size=(4, model.n))
    inverse, commands = gd.inverse_dynamics, gd.motor_commands
    times = interleaved(
        {
            "inverse": lambda: inverse(model, q, v, a),
            "commands": lambda: commands(model, q, v, a),
            "with jerk": lambda: commands(model, q, v, a, jerk=jerk),
        }
    )
    for name, value in times.items():
        print(f"  {name:<9} {value * 1e6:6.3f} us per call")
    ratio = times["commands"] / times["inverse"]
    print(verdict("motor_commands / inverse_dynamics", ratio, 2.5))


if __name__ == "__main__":
    single_calls()
