"""Parameters of a Stäubli TX40 from a recording
=============================================

The recording (figaroh-plus, examples/staubli_TX40) is no part of this package; it belongs in
../shared/data/tx40, or GEARED_DYNAMICS_DATA names the folder that holds tx40. What is done to
it is what its SOURCE.txt says: a zero-phase Butterworth filter, differences, every hundredth
sample, slow motion left out, weighted least squares. The figure shows what the fits leave of the
wrist's torques. Run it with a folder for the figure, default figures/ beside it. Needs SciPy.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from matplotlib.figure import Figure
from scipy import signal

import geared_dynamics as gd

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).parent / "figures"
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data")) / "tx40"
URDF, DRIVES = ROOT / "urdf" / "tx40.urdf", ROOT / "urdf" / "tx40.drivetrain.yaml"
RATE, CUTOFF, ORDER = 5000.0, 100.0, 4  # [Hz], [Hz], of the filter
FACTORS, ENDS = (10, 10), 500  # of the decimation; samples left out where the filters start
ZERO = np.array([0, -np.pi / 2, np.pi / 2, 0, 0, 0])  # [rad], the arm's where the encoders' is 0
SLOW = (0.050, 0.050, 0.075, 0.072, 0.056, 0.122)  # [rad/s], 1 % of the joints' top speeds


class Fit(NamedTuple):
    """Parameters by name, each joint's error (share of its torque [%], rms [N m]) and samples."""

    values: dict[str, float]
    error: np.ndarray
    rms: np.ndarray
    torque: list[np.ndarray]  # measured and fitted (2, samples) of each joint [N m]


def recorded(arm, folder=DATA):
    """Joint motion and joint-side torque (samples, 6): phi = A' q, tau = A tau_m."""
    names = ("pos_read_data.csv", "curr_data.csv")
    phi, tau_m = (np.loadtxt(folder / name, delimiter=",", skiprows=1) for name in names)
    q = np.linalg.solve(arm.structure_matrix.T, phi.T).T + ZERO
    q = signal.filtfilt(*signal.butter(ORDER, 2 * CUTOFF / RATE), q, axis=0)
    v = np.gradient(q, 1 / RATE, axis=0)
    a = np.gradient(v, 1 / RATE, axis=0)
    return [x[ENDS:-ENDS] for x in (q, v, a, tau_m @ arm.structure_matrix.T)]


def columns(model, q, v, a):
    """What the motion can tell apart, with names: Y (samples, 6, columns).

    A motor on two joints has friction of its own, A diag(phi') and A diag(sign phi'), and
    its last joint an inertia beside the motor's; a motor on one joint is seen as that joint.
    """
    kept = [*gd.base_parameters(model).selection]
    named = gd.parameter_names(model, friction=True, offset=True)
    kept += range(len(gd.parameters(model)), len(named))
    A, parts, names = model.structure_matrix, [], [named[k] for k in kept]
    parts.append(gd.regressor(model, q, v, a, friction=True, offset=True)[..., kept])
    for k in np.flatnonzero(np.count_nonzero(A, axis=0) > 1):
        rate, last = v @ A[:, k], np.flatnonzero(A[:, k])[-1]
        own = a[:, last, None] * np.eye(model.n)[last]
        parts.append(np.stack([np.outer(f, A[:, k]) for f in (rate, np.sign(rate))] + [own], -1))
        motor, joint = model.motor_names[k], model.joint_names[last]
        names += [f"{motor}.viscous", f"{motor}.coulomb", f"{joint}.inertia"]
    return names, np.concatenate(parts, axis=-1)


def decimated(values):
    """Every hundredth sample, after a filter without delay."""
    for factor in FACTORS:
        values = signal.decimate(values, factor, axis=0, zero_phase=True)
    return values


def fitted(model, q, v, a, tau):
    """Least squares, then the same with each joint's equations divided by their deviation."""
    names, Y = columns(model, q, v, a)
    moving = np.abs(decimated(v)) > SLOW
    Y, tau = decimated(Y), decimated(tau)
    rows = [Y[moving[:, j], j] for j in range(model.n)]
    right = [tau[moving[:, j], j] for j in range(model.n)]
    rms = np.ones(model.n)
    for _ in range(2):
        W = np.vstack([y / s for y, s in zip(rows, rms, strict=True)])
        w = np.concatenate([t / s for t, s in zip(right, rms, strict=True)])
        scale = np.linalg.norm(W, axis=0)
        found = np.linalg.lstsq(W / scale, w, rcond=None)[0] / scale
        errors = [y @ found - t for y, t in zip(rows, right, strict=True)]
        rms = np.array([np.sqrt(np.mean(e**2)) for e in errors])
    size = [np.sqrt(np.mean(t**2)) for t in right]
    torque = [np.array([t, y @ found]) for y, t in zip(rows, right, strict=True)]
    return Fit(dict(zip(names, found, strict=True)), 100 * rms / size, rms, torque)


def in_joint_space(drives=DRIVES):
    """The same arm with motor 6 on joint 6 only."""
    sections = yaml.safe_load(drives.read_text("utf-8"))
    sections["spins"][5] = {"wheel": "rotor_6", "joint": "joint_6", "ratio": 32}
    return gd.load_model(URDF, sections)


def picture(fits: dict[str, Fit]) -> Path:
    """Draw measured torques of the wrist, and what each fit leaves of them."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    for joint, ax in zip((4, 5), figure.subplots(2, 1), strict=True):
        measured = next(iter(fits.values())).torque[joint][0]
        ax.plot(measured, color="0.7", label="measured")
        for name, fit in fits.items():
            ax.plot(np.subtract(*fit.torque[joint]), linewidth=0.9, label=f"not fitted: {name}")
        ax.set_title(f"joint {joint + 1}: torque [N m] by sample")
        ax.grid(alpha=0.3)
    ax.legend(ncols=3, fontsize="small")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "identify_tx40.png", dpi=130)
    return folder / "identify_tx40.png"


if __name__ == "__main__":
    if DATA.is_dir():
        arm = gd.load_model(URDF, DRIVES)
        motion = recorded(arm)
        models = {"joints 5 and 6": arm, "joint 6 only": in_joint_space()}
        fits = {name: fitted(model, *motion) for name, model in models.items()}
        print("torque error of joints 1 to 6 [%]")
        for name, fit in fits.items():
            print(f"  {f'rotor 6 turns with {name}:':<35}", fit.error.round(1))
        print("saved", picture(fits))
    else:
        print(f"the recording is not there: {DATA}")
