"""Fit a Stäubli TX40 to a recording of its motors; see what the coupled wrist is worth.

The recording (figaroh-plus, examples/staubli_TX40) is no part of this package; it belongs in
../shared/data/tx40, or GEARED_DYNAMICS_DATA names the folder that holds tx40.
"""

import os
from pathlib import Path

import numpy as np
import yaml

import geared_dynamics as gd

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data")) / "tx40"
STEP, SMOOTH, BLOCK = 2e-4, 25, 100  # [s]; samples of the moving mean, samples made into one
URDF, DRIVES = ROOT / "urdf" / "tx40.urdf", ROOT / "urdf" / "tx40.drivetrain.yaml"


def blocks(x):
    return x[: len(x) // BLOCK * BLOCK].reshape(-1, BLOCK, *x.shape[1:]).mean(axis=1)


def recorded(arm):
    """Joint motion, and joint torque in blocks: phi = A' q, tau = A tau_m."""
    names = ("pos_read_data.csv", "curr_data.csv")
    phi, tau_m = (np.loadtxt(DATA / name, delimiter=",", skiprows=1) for name in names)
    sums = np.cumsum(np.linalg.solve(arm.structure_matrix.T, phi.T).T, axis=0)
    q = (sums[SMOOTH:] - sums[:-SMOOTH]) / SMOOTH + [0, -np.pi / 2, np.pi / 2, 0, 0, 0]
    v = np.gradient(q, STEP, axis=0)
    tau = tau_m[SMOOTH // 2 + 1 :][: len(q)] @ arm.structure_matrix.T
    return q, v, np.gradient(v, STEP, axis=0), blocks(tau)


def errors(model, q, v, a, tau):
    """Fit what can be seen of all parameters; return each joint's error [%]."""
    fixed = len(gd.parameters(model))
    kept = [*gd.base_parameters(model).selection, *range(fixed, fixed + 3 * model.n)]
    A, spin = model.structure_matrix, (v @ model.structure_matrix)[:, None, :]
    Y = gd.regressor(model, q, v, a, friction=True, offset=True)[..., kept]
    Y = blocks(np.concatenate([Y, A * spin, A * np.sign(spin)], axis=-1))  # motors' friction last
    rows = np.linalg.norm(Y, axis=(0, 1))
    found = np.linalg.lstsq((Y / rows).reshape(-1, len(rows)), tau.ravel(), rcond=1e-9)[0] / rows
    return 100 * np.sqrt(np.mean((Y @ found - tau) ** 2, axis=0) / np.mean(tau**2, axis=0))


if DATA.is_dir():
    arm, other = gd.load_model(URDF, DRIVES), yaml.safe_load(DRIVES.read_text("utf-8"))
    other["spins"][5] = {"wheel": "rotor_6", "joint": "joint_6", "ratio": 32}
    motion = recorded(arm)
    print("torque error of joints 1 to 6 [%], slow motion included")
    print("  rotor 6 turns with joints 5 and 6:", errors(arm, *motion).round(1))
    other = gd.load_model(URDF, other)
    print("  rotor 6 turns with joint 6 only:  ", errors(other, *motion).round(1))
else:
    print(f"the recording is not there: {DATA}")
