"""What the armature model misses along a motion
=============================================

The lower the ratio, the more of a rotor's effect is coupling: it falls like 1/N
against the reflected inertia, which falls like 1/N^2. The figure shows both torques along the
motion for the lowest ratios (``gd.plot.torques``). Run it with a folder for the figure, default
figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
import yaml

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
DRIVES = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text())


def with_ratios_divided(factor: float) -> gd.GearedModel:
    """Return the elbow arm with ratios divided and rotor inertias scaled to reflect the same."""
    drives = {**DRIVES, "wheels": {}, "spins": []}
    for name, wheel in DRIVES["wheels"].items():
        inertia = {key: value * factor**2 for key, value in wheel["inertia"].items()}
        drives["wheels"][name] = {**wheel, "inertia": inertia}
    for spin in DRIVES["spins"]:
        drives["spins"].append({**spin, "ratio": spin["ratio"] / factor})
    return gd.load_model(URDF / "elbow.urdf", drives)


t = np.linspace(0.0, 2.0, 500)[:, None]  # [s]
amplitude, rate = np.array([1.0, 0.8, 1.2]), np.array([3.0, 4.0, 5.0])  # [rad], [rad/s]
q = amplitude * np.sin(rate * t)
v = amplitude * rate * np.cos(rate * t)
a = -amplitude * rate**2 * np.sin(rate * t)

print("ratios   largest torque   largest error of the armature model, per joint [N m]")
for factor in (1.0, 4.0, 20.0):
    model = with_ratios_divided(factor)
    complete = gd.inverse_dynamics(model, q, v, a)
    armature = gd.inverse_dynamics(model.with_coupling("diagonal"), q, v, a)
    error = np.abs(complete - armature).max(axis=0)
    ratios = "/".join(f"{ratio:g}" for ratio in np.abs(model.Gamma).max(axis=1))
    print(f"{ratios:<12} {np.abs(complete).max():8.1f}       ", error.round(2))

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
plot = gd.plot.torques(model, t[:, 0], q, v, a)
print("saved", plot.save(folder / "what_armature_misses.png"))
