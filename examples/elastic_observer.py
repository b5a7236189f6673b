"""An observer for elastic joints: link positions and a payload
============================================================

The simulated arm has strain wave gears and encoders on its motors alone. While it moves, its
joints are deflected by weight and acceleration; then it takes up a payload that the model does not
know. The Kalman filter estimates the positions on the link side of the springs and the torque of
the payload's weight. Run it with a folder for the picture, default figures/ beside it.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
from matplotlib import pyplot as plt

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
COUNTS, STEP = 2**17, 1e-3  # of the encoders per turn of a motor; [s]
START = np.array([0.0, 0.8, -0.5, 0.0, 0.4, 0.0])  # [rad]
GOAL = np.array([0.8, 0.3, 0.4, 0.5, 0.8, 0.5])
SETTLED, MOVED, LOADED, END = 0.2, 1.0, 1.5, 2.5  # [s]
PAYLOAD = 2.0  # [kg]
STIFFNESS = np.array([4000.0, 4000.0, 2500.0, 250.0, 250.0, 100.0])  # [N m/rad]
DAMPING = np.array([250.0, 250.0, 150.0, 10.0, 10.0, 4.0])  # [N m s/rad]


def run(model: gd.GearedModel) -> dict[str, np.ndarray]:
    """Move the arm, load it, and record what is true, read and estimated."""
    settings = gd.simulation.PlantSettings(encoder_counts=COUNTS, seed=1)
    plant = gd.simulation.Plant(model, command="torque", engine="equations", settings=settings)
    plant.reset(START)
    filter_settings = {"resolution": 2 * np.pi / COUNTS, "bandwidth": 30.0}
    observer = gd.observers.kalman_observer(model, **filter_settings)
    motion = gd.trajectory.rest_to_rest(START, GOAL, MOVED, continuous=3)
    loaded = model.with_payload(PAYLOAD, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    state, rows = None, []
    for time in np.arange(0.0, END, STEP):
        reading = plant.read()
        joints = reading.joint_state(model)
        q, v, a = motion.derivatives(min(time, MOVED), 2)
        force = gd.inverse_dynamics(model, q, v, a)
        force += STIFFNESS * (q - joints.q) + DAMPING * (v - joints.v)
        torque = gd.motor_torques(model, force)
        measured = gd.Measurement(reading.motor_angle, torque)
        state = observer.start(measured) if state is None else state
        if abs(time - LOADED) < STEP / 2:
            plant.attach_payload(PAYLOAD, (0.0, 0.0, 0.0), np.zeros((3, 3)))
        plant.step(torque, STEP)
        later = gd.Measurement(plant.read().motor_angle, torque)
        state = observer.step(state, later, STEP)
        estimate = observer.estimate(state)
        shown = plant.read().joint_state(model).q
        true = plant.state.q
        weight = gd.gravity_forces(model, true) - gd.gravity_forces(loaded, true)
        row = (true, shown, estimate.q, weight * (time >= LOADED), estimate.external)
        rows.append((*row, estimate.external_deviation))
    names = ("true", "encoders", "estimate", "weight", "external", "deviation")
    values = zip(*rows, strict=True)
    return {name: np.array(column) for name, column in zip(names, values, strict=True)}


def picture(t: np.ndarray, run: dict[str, np.ndarray]) -> Path:
    """Draw the errors of the link position of joint 2, and its external torque."""
    figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
    axes[0].plot(t, 1e3 * (run["encoders"] - run["true"])[:, 1], label="motor encoder / ratio")
    axes[0].plot(t, 1e3 * (run["estimate"] - run["true"])[:, 1], label="Kalman filter")
    axes[0].set_title("Error of the link position of joint 2 [mrad]")
    axes[1].plot(t, run["external"][:, 1], color="C1", label="Kalman filter")
    axes[1].plot(t, run["weight"][:, 1], "k--", label="weight of the payload")
    axes[1].set_title("External torque on joint 2 [N m]")
    axes[1].set_xlabel("time [s]")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "elastic_observer.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main() -> None:
    """Print errors in motion and the estimated payload; save the picture."""
    model = gd.load_model(URDF / "wave6.urdf", URDF / "wave6.drivetrain.yaml")
    t, recorded = np.arange(0.0, END, STEP), run(model)
    moving = (t > SETTLED) & (t < MOVED)
    print("largest error of the link position in motion, joints 1 to 6 [mrad]")
    for name in ("encoders", "estimate"):
        error = np.abs(recorded[name] - recorded["true"])[moving].max(axis=0)
        print(f"  {name:<9}", *(f"{1e3 * x:6.2f}" for x in error))
    print(f"torque of a payload of {PAYLOAD:.0f} kg at rest, joints 1 to 6 [N m]")
    for name in ("weight", "external", "deviation"):
        print(f"  {name:<9}", *(f"{x:6.2f}" for x in recorded[name][-1] + 0.0))
    print("The friction of standing rotors hides about as much as the stated standard deviation.")
    print("saved", picture(t, recorded))


if __name__ == "__main__":
    main()
