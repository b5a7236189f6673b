"""Which model must a controller have? Feedforward and computed torque
===================================================================

The elbow arm with heavy motors and gears of 10:1 follows a motion under the complete model, the
usual armature model and the links alone. The figure shows the error of each over the motion.
Run it with a folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf" / "elbow.urdf"
FIGURES = Path(__file__).parent / "figures"
DT, LENGTH = 1e-3, 1.0  # [s]
CARRIERS = {"base_link": [0, 0, 1], "link_1": [0, 1, 0], "link_2": [0, 1, 0.4]}


def arm() -> gd.GearedModel:
    wheels, spins = {}, []
    for k, (carrier, axis) in enumerate(CARRIERS.items(), start=1):
        inertia = {"axial": 5e-3}  # [kg m^2]
        wheels[f"rotor_{k}"] = {"carrier": carrier, "axis": axis, "mass": 2, "inertia": inertia}
        spins.append({"wheel": f"rotor_{k}", "joint": f"joint_{k}", "ratio": 10})
    return gd.load_model(URDF, {"version": 1, "wheels": wheels, "spins": spins})


def tracking_error(plant: gd.GearedModel, made: gd.control.Controller) -> np.ndarray:
    """Largest position error of the joints in each step (k,) [rad], commands held for a step."""
    motion = gd.trajectory.rest_to_rest([0, -0.5, 0.4], [0.8, 0.3, 1.2], LENGTH, continuous=3)
    q, v, memory, errors = motion.derivatives(0.0, 0)[0], np.zeros(3), made.start(), []
    for k in range(round(LENGTH / DT)):
        reference = gd.control.Reference(*motion.derivatives(k * DT, 2))
        errors.append(np.abs(reference.q - q).max())
        memory, out = made.step(memory, gd.State(q, v), reference, DT)
        a = gd.forward_dynamics(plant, q, v, out.command)
        q, v = q + DT * v + 0.5 * DT**2 * a, v + DT * a
    return np.array(errors)


def main() -> None:
    plant = arm()
    gains = gd.control.gains_from_bandwidth(20.0)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, law in zip(axes, ("feedforward", "computed_torque"), strict=True):
        for coupling in ("complete", "diagonal", "none"):
            model = plant.with_coupling(coupling)
            made = gd.control.controller(model, law, gains=gains)
            errors = 1e3 * tracking_error(plant, made)
            print(f"{law:<16} {coupling:<9} {errors.max():9.3f} mrad")
            ax.semilogy(DT * np.arange(1, len(errors)), errors[1:], label=f"model: {coupling}")
        ax.set(title=law, xlabel="time [s]", ylim=(1e-3, 1e3))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("largest joint error [mrad]")
    axes[0].legend(fontsize="small")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "control_laws.png", dpi=130)
    print("saved", folder / "control_laws.png")


if __name__ == "__main__":
    main()
