"""Motor torques of a KUKA KR300, recorded and computed
====================================================

The recording (J. Weigand, Robot_Identification) is no part of this package; it belongs in
../shared/data/kr300_weigand, or GEARED_DYNAMICS_DATA names the folder that holds kr300_weigand.
Run it with a folder for the picture, made where it is missing; default figures/ beside it.

The recipe. Motor angles (at the joints: over the ratio) and motor torques of runs A and B, 250 Hz,
pass a Butterworth filter of order 4 and 10 Hz forwards and backwards, which leaves no delay.
Velocity and acceleration are central differences of the filtered angles. The model gives the
motors' torque, payload and counterbalance included, without friction. What is then left of the
measured torque is fitted per axis with viscous friction, Coulomb friction and an offset, by least
squares over both runs, where the joint moves faster than 0.02 rad/s. The residual is the rms of
what remains, over the rms of the measured torque of the same samples. Nothing else is fitted.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
from matplotlib import pyplot as plt
from scipy import signal

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "kr300_weigand"
STEP, CUTOFF, ORDER = 0.004, 10.0, 4  # [s], [Hz]
MOVING = 0.02  # [rad/s]
PAYLOAD, REACH = 150.0, 0.1  # [kg] on the flange, centre of mass in front of it [m]


class Motion(NamedTuple):
    """Both runs, one after the other (samples, 6): joint side, and torque on the motor side."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau_m: np.ndarray


class Fit(NamedTuple):
    """Torque of the model with its fitted friction, the error, and viscous, Coulomb, offset."""

    tau_m: np.ndarray  # (samples, 6) [N m], motor side
    error: np.ndarray  # (6,) [%]
    friction: np.ndarray  # (6, 3), motor's torque by joint's rate


def arm() -> gd.GearedModel:
    """Return the robot with the recordings' payload."""
    model = gd.load_model(ROOT / "urdf" / "kr300.urdf", ROOT / "urdf" / "kr300.drivetrain.yaml")
    return model.with_payload(PAYLOAD, (0.0, 0.0, REACH), link="flange")


def recorded(run: str) -> Motion:
    """Read one run and filter it."""
    table = np.genfromtxt(FOLDER / f"traj_{run}.csv", delimiter=",", names=True)
    angles = np.column_stack([table[f"q_motor_deg_{i}"] for i in range(1, 7)])
    torques = np.column_stack([table[f"tau_motor_Nm_{i}"] for i in range(1, 7)])
    smooth = signal.butter(ORDER, 2 * CUTOFF * STEP)
    q, tau_m = (signal.filtfilt(*smooth, x, axis=0) for x in (np.deg2rad(angles), torques))
    v = np.gradient(q, STEP, axis=0)
    return Motion(q, v, np.gradient(v, STEP, axis=0), tau_m)


def pooled(runs: str = "AB") -> Motion:
    """Read several runs as one."""
    return Motion(*(np.concatenate(x) for x in zip(*map(recorded, runs), strict=True)))


def fitted(model: gd.GearedModel, motion: Motion) -> Fit:
    """Compute the motors' torques and fit each axis' friction."""
    tau = gd.inverse_dynamics(model, motion.q, motion.v, motion.a)
    tau -= gd.balancer_forces(model, motion.q)
    tau_m = gd.motor_torques(model, tau)
    friction, error = np.empty((6, 3)), np.empty(6)
    for j, rate in enumerate(motion.v.T):
        columns = np.column_stack([rate, np.sign(rate), np.ones_like(rate)])
        moving, rest = np.abs(rate) > MOVING, motion.tau_m[:, j] - tau_m[:, j]
        friction[j] = np.linalg.lstsq(columns[moving], rest[moving], rcond=None)[0]
        rest -= columns @ friction[j]
        tau_m[:, j] += columns @ friction[j]
        squares = np.mean(rest[moving] ** 2) / np.mean(motion.tau_m[moving, j] ** 2)
        error[j] = 100 * np.sqrt(squares)
    return Fit(tau_m, error, friction)


def drawn(fit: Fit, motion: Motion, j: int) -> np.ndarray:
    """Torque of one axis where it moves; at rest its friction is anyone's guess."""
    return np.where(np.abs(motion.v[:, j]) > MOVING, fit.tau_m[:, j], np.nan)


def picture(motion: Motion, whole: Fit, bare: Fit, folder: Path) -> Path:
    """Save measured and computed torque of each axis, run B behind run A."""
    figure, axes = plt.subplots(3, 2, figsize=(13, 9), sharex=True, layout="constrained")
    t = STEP * np.arange(len(motion.q))
    for j, ax in enumerate(axes.T.ravel()):
        ax.plot(t, motion.tau_m[:, j], color="black", lw=1.6, label="measured")
        label = f"without rotors, residual {bare.error[j]:.1f} %"
        ax.plot(t, drawn(bare, motion, j), color="tab:orange", lw=0.9, label=label)
        label = f"model, residual {whole.error[j]:.1f} %"
        ax.plot(t, drawn(whole, motion, j), color="tab:blue", lw=1.1, label=label)
        ax.axvline(t[len(t) // 2], color="grey", lw=0.8, ls=":")
        ax.set_title(f"axis {j + 1}", fontsize="medium")
        ax.set_ylabel("motor torque [N m]")
        ax.set_ylim(ax.get_ylim()[0], ax.get_ylim()[1] + 0.35 * np.ptp(ax.get_ylim()))
        ax.legend(fontsize="small", loc="upper left", ncols=3)
        ax.grid(alpha=0.3)
        ax.margins(x=0)
    for ax in axes[-1]:
        ax.set_xlabel("time [s], run A, then run B")
    figure.suptitle(
        f"KUKA KR300 R2500 ultra with {PAYLOAD:.0f} kg: published parameters, friction fitted; "
        "computed where the axis moves"
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "torque_of_a_kr300.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def made(folder: Path) -> Path:
    """Return a folder, made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"there is no folder for the picture: {error}") from None
    return folder


def main() -> None:
    """Print each axis' residual with and without rotors; save the curves."""
    if not FOLDER.is_dir():
        print(f"the recording is not there: {FOLDER}")
        return
    folder = made(Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES)
    model, motion = arm(), pooled()
    print("residual of the motor torque [% of its rms], axes 1 to 6")
    fits = {}
    for name, coupling in (
        ("complete model", "complete"),
        ("reflected inertia only", "diagonal"),
        ("without rotors", "none"),
    ):
        fits[coupling] = fitted(model.with_coupling(coupling), motion)
        print(f"  {name:<23}", *(f"{x:5.1f}" for x in fits[coupling].error))
    viscous, coulomb, _ = fits["complete"].friction.T * model.structure_matrix.diagonal()
    print("fitted, joint side: viscous [N m s/rad]", *(f"{x:.0f}" for x in viscous))
    print("                    Coulomb [N m]      ", *(f"{x:.0f}" for x in coulomb))
    print("saved", picture(motion, fits["complete"], fits["none"], folder))


if __name__ == "__main__":
    main()
