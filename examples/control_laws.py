"""Which model must a controller have? Feedforward and computed torque on low gear ratios.

The elbow arm with heavy motors and gears of 10:1 follows a motion under the complete model, the
usual armature model and the links alone.
Run: python examples/control_laws.py
"""

from pathlib import Path

import numpy as np

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf" / "elbow.urdf"
DT, LENGTH = 1e-3, 1.0  # [s]
CARRIERS = {"base_link": [0, 0, 1], "link_1": [0, 1, 0], "link_2": [0, 1, 0.4]}


def arm() -> gd.GearedModel:
    wheels, spins = {}, []
    for k, (carrier, axis) in enumerate(CARRIERS.items(), start=1):
        inertia = {"axial": 5e-3}  # [kg m^2]
        wheels[f"rotor_{k}"] = {"carrier": carrier, "axis": axis, "mass": 2, "inertia": inertia}
        spins.append({"wheel": f"rotor_{k}", "joint": f"joint_{k}", "ratio": 10})
    return gd.load_model(URDF, {"version": 1, "wheels": wheels, "spins": spins})


def worst_error(plant: gd.GearedModel, made: gd.control.Controller) -> float:
    """Largest position error [rad], commands held for a millisecond."""
    motion = gd.trajectory.rest_to_rest([0, -0.5, 0.4], [0.8, 0.3, 1.2], LENGTH, continuous=3)
    q, v, memory, worst = motion.derivatives(0.0, 0)[0], np.zeros(3), made.start(), 0.0
    for k in range(round(LENGTH / DT)):
        reference = gd.control.Reference(*motion.derivatives(k * DT, 2))
        worst = max(worst, float(np.abs(reference.q - q).max()))
        memory, out = made.step(memory, gd.State(q, v), reference, DT)
        a = gd.forward_dynamics(plant, q, v, out.command)
        q, v = q + DT * v + 0.5 * DT**2 * a, v + DT * a
    return worst


def main() -> None:
    plant = arm()
    gains = gd.control.gains_from_bandwidth(20.0)
    for law in ("feedforward", "computed_torque"):
        for coupling in ("complete", "diagonal", "none"):
            model = plant.with_coupling(coupling)
            made = gd.control.controller(model, law, gains=gains)
            print(f"{law:<16} {coupling:<9} {1e3 * worst_error(plant, made):9.3f} mrad")


if __name__ == "__main__":
    main()
