"""What the complete model improves: three feedforwards
====================================================

The plant is MuJoCo's (our own equations where MuJoCo is not installed), with every rotor a body,
friction, encoders and a delay of 1 ms. Printed and drawn: tracking errors of the true joint
positions. Run it with a folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).resolve().parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
STEP, SECONDS = 1e-3, 4.0
STIFFNESS = np.array([300.0, 400.0, 300.0, 40.0, 30.0, 15.0])  # [N m/rad]
DAMPING = np.array([30.0, 35.0, 25.0, 1.5, 1.0, 0.5])  # [N m s/rad]
MIDDLE = np.array([0.0, 0.5, 0.9, 0.0, 0.5, 0.0])  # [rad]
SWING = np.array([0.6, 0.45, 0.5, 0.8, 0.6, 0.9])  # [rad]
BEAT = 2.0 * np.pi * np.array([0.7, 0.8, 1.0, 1.3, 1.5, 1.7])  # [rad/s]


def reference(t: np.ndarray) -> list[np.ndarray]:
    """Position, velocity, acceleration (k, 6): sines that swell within the first second."""
    r = np.minimum(t, 1.0)[:, None]
    rise = r**4 * (35 - 84 * r + 70 * r**2 - 20 * r**3)
    slope, bend = 140 * r**3 * (1 - r) ** 3, 420 * r**2 * (1 - r) ** 2 * (1 - 2 * r)
    angle = BEAT * t[:, None] + np.arange(6.0)
    y, dy, ddy = np.sin(angle), BEAT * np.cos(angle), -(BEAT**2) * np.sin(angle)
    motion = rise * y, slope * y + rise * dy, bend * y + 2 * slope * dy + rise * ddy
    return [SWING * part + (MIDDLE if k == 0 else 0.0) for k, part in enumerate(motion)]


def track(model: gd.GearedModel, feedforward: np.ndarray, engine: str) -> np.ndarray:
    """Errors (k, 6) [rad] with motor torques (k, 6) fed forward and the gains above."""
    settings = gd.simulation.PlantSettings(encoder_counts=65536, command_latency=1e-3)
    plant = gd.simulation.Plant(model, command="motor_torque", engine=engine, settings=settings)
    q, v, _ = reference(np.arange(0.0, SECONDS, STEP))
    plant.reset(q[0])
    errors = []
    for k in range(len(q)):
        seen = plant.read().joint_state(model)
        errors.append(q[k] - plant.state.q)
        correction = STIFFNESS * (q[k] - seen.q) + DAMPING * (v[k] - seen.v)
        plant.step(feedforward[k] + gd.motor_torques(model, correction), STEP)
    return np.array(errors)


def experiment(engine: str) -> dict[str, np.ndarray]:
    """Errors by feedforward."""
    model = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    motion = reference(np.arange(0.0, SECONDS, STEP))
    fed = {"gravity only": gd.motor_torques(model, gd.gravity_forces(model, motion[0]))}
    for name, coupling in (("armature", "diagonal"), ("complete", "complete")):
        fed[name] = gd.motor_commands(model.with_coupling(coupling), *motion).torque
    return {name: track(model, torque, engine) for name, torque in fed.items()}


def picture(found: dict[str, np.ndarray]) -> Path:
    """Draw the errors [mrad] of all joints over time, one panel for each feedforward."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    panels = figure.subplots(len(found), 1, sharex=True)
    for ax, (name, errors) in zip(panels, found.items(), strict=True):
        ax.plot(STEP * np.arange(len(errors)), errors, linewidth=0.9)
        ax.set_title(f"{name}: error [mrad]", fontsize="medium")
        ax.grid(alpha=0.3)
    panels[0].legend([f"joint_{k}" for k in range(1, 7)], ncols=6, fontsize="x-small")
    panels[-1].set_xlabel("time [s]")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "feedforward_worth.png", dpi=130)
    return folder / "feedforward_worth.png"


def main() -> None:
    try:
        import mujoco  # noqa: F401

        engine = "mujoco"
    except ImportError:
        engine = "equations"
    print(f"brisk6, plant: {engine}; tracking error [mrad]")
    print(f"{'feedforward':<14}{'RMS':>8}{'peak':>8}   RMS by joint")
    found = {name: 1e3 * errors for name, errors in experiment(engine).items()}
    for name, errors in found.items():
        rms = np.sqrt((errors**2).mean(axis=0))
        joints = " ".join(f"{x:6.2f}" for x in rms)
        print(f"{name:<14}{np.sqrt((rms**2).mean()):8.2f}{np.abs(errors).max():8.2f}   {joints}")
    ratio = np.linalg.norm(found["armature"]) / np.linalg.norm(found["complete"])
    print(f"armature / complete: {ratio:.1f}")
    print("saved", picture(found))


if __name__ == "__main__":
    main()
