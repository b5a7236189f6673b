"""The control u* in volts of an arm with DC motors
================================================

Vukobratovic and Potkonjak, sections 20.3 and 20.4.2: the arm and its motors together are
H* q'' + h* = D u, and the voltages of a prescribed motion are the nominal control u*. Their H*
adds J N² of each motor to the diagonal and nothing else, which is the armature model; the rotors
of the elbow arm also couple its joints. Run it with a folder for the picture, default figures/
beside it.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
import yaml
from matplotlib import pyplot as plt

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
MOTOR = {"resistance": 0.8, "torque_constant": 0.06}  # R [ohm], C_M = C_E [N m/A]
START, GOAL = np.array([0.0, 0.3, -0.6]), np.array([1.2, 1.4, -1.8])  # [rad]
TIME, STEP = 0.6, 1e-3  # [s]


def driven_elbow() -> gd.GearedModel:
    """Return the elbow arm with a DC motor at each rotor, without L and B as in (20.70)."""
    drives = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text())
    for motor in drives["motors"].values():
        motor.update(MOTOR)
    return gd.load_model(URDF / "elbow.urdf", drives)


def nominal_control(model: gd.GearedModel, states: np.ndarray) -> np.ndarray:
    """Solve (20.72) for u* [V] along positions, velocities and accelerations."""
    q, v, a = states
    terms = gd.driven_terms(model, q, v)
    force = (terms.inertia @ a[..., None])[..., 0] + terms.forces
    return np.linalg.solve(terms.input, force[..., None])[..., 0]


def open_loop(model: gd.GearedModel, voltages: np.ndarray) -> np.ndarray:
    """Move the arm by voltages alone, each held for a step; return its positions."""
    state, path = gd.State(START, np.zeros(3)), [START]
    for u in voltages:
        state = gd.driven_step(model, state, u, STEP)
        path.append(state.q)
    return np.array(path)


def picture(t: np.ndarray, controls: dict[str, np.ndarray], errors: dict[str, np.ndarray]) -> Path:
    """Draw u*, the change of u* by the armature model, and the errors of position."""
    figure, axes = plt.subplots(3, 1, figsize=(7, 8), sharex=True, layout="constrained")
    compared = ("complete model", "armature model")
    difference = controls["armature model"] - controls["complete model"]
    for joint in range(3):
        axes[0].plot(t, controls["complete model"][:, joint], label=f"motor {joint + 1}")
        axes[1].plot(t, difference[:, joint], label=f"motor {joint + 1}")
    for name in compared:
        axes[2].plot(t, 1e3 * errors[name], label=name)
    titles = ("Nominal control u* [V]", "Armature model minus complete model [V]")
    for ax, title in zip(axes, (*titles, "Largest position error [mrad]"), strict=True):
        ax.set_title(title, fontsize="medium")
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
    axes[-1].set_xlabel("time [s]")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "driven_arm_volts.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main() -> None:
    """Print u* and the motion that it causes; save the picture."""
    model = driven_elbow()
    motion = gd.trajectory.rest_to_rest(START, GOAL, TIME, continuous=3)
    t = np.arange(0.0, TIME, STEP)
    middles = np.array([motion.derivatives(x + STEP / 2, 2) for x in t]).transpose(1, 0, 2)
    wanted = np.array([motion.derivatives(x, 0)[0] for x in t])
    models = {
        "complete model": model,
        "armature model": model.with_coupling("diagonal"),
        "links alone": model.with_coupling("none"),
    }
    controls = {name: nominal_control(one, middles) for name, one in models.items()}
    commands = gd.motor_commands(model, *middles).voltage
    agree = np.abs(commands - controls["complete model"]).max()
    print(f"u* from H* and D, and from motor_commands: differ by less than 1e-9 V: {agree < 1e-9}")
    H = gd.driven_terms(model, START, np.zeros(3)).inertia
    printed = gd.driven_terms(models["armature model"], START, np.zeros(3)).inertia
    print(f"H*_12 [kg m^2]: {H[0, 1]:.4f}, by (20.73) {abs(printed[0, 1]):.4f}")
    print(f"H*_13 [kg m^2]: {H[0, 2]:.4f}, by (20.73) {abs(printed[0, 2]):.4f}")
    print(
        "u*               largest |u*| [V]      error of u* [V]       error of the motion [mrad]"
    )
    errors = {}
    for name, u in controls.items():
        errors[name] = np.abs(open_loop(model, u)[:-1] - wanted).max(axis=1)
        size, wrong = (np.abs(x).max(axis=0) for x in (u, u - controls["complete model"]))
        texts = [" ".join(f"{x:6.2f}" for x in row) for row in (size, wrong)]
        print(f"{name:<15} {texts[0]}  {texts[1]}  {1e3 * errors[name].max():8.2f}")
    print("saved", picture(t, controls, errors))


if __name__ == "__main__":
    main()
