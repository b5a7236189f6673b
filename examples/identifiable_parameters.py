"""Identifiable combinations of parameters, and a fit of them
==========================================================

The figure shows torques of fresh states, true and predicted. Run it with a folder for the figure,
default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"

model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
base = gd.base_parameters(model)
print(f"{len(gd.parameters(model))} parameters, {base.rank} identifiable combinations:")
for name in base.names:
    print("  ", name)

random = np.random.default_rng(0)
q = random.uniform(-1.0, 1.0, (500, model.n))
v, a = random.normal(size=(2, 500, model.n)) * 3.0
tau = gd.inverse_dynamics(model, q, v, a) + random.normal(size=(500, model.n))  # 1 N m of noise
Y = gd.regressor(model, q, v, a)[..., list(base.selection)].reshape(-1, base.rank)
fitted = np.linalg.lstsq(Y, tau.ravel(), rcond=None)[0]

fresh = random.normal(size=(3, 200, model.n))  # states that the fit has not seen
truth = gd.inverse_dynamics(model, *fresh)
predicted = gd.regressor(model, *fresh)[..., list(base.selection)] @ fitted
error = np.sqrt(np.mean((predicted - truth) ** 2)) / np.sqrt(np.mean(truth**2))
print(f"fit to forces with 1 N m of noise predicts fresh states to {100 * error:.2f} %")

figure = Figure(figsize=(8, 3.2), layout="constrained")
for k, ax in enumerate(figure.subplots(1, 2)):
    shown = predicted if k == 0 else predicted - truth
    ax.plot(truth, shown, ".", label=model.joint_names)
    ax.set_xlabel("true torque [N m]")
    ax.set_title("predicted torque [N m]" if k == 0 else "predicted less true torque [N m]")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "identifiable_parameters.png", dpi=130)
print("saved", folder / "identifiable_parameters.png")
