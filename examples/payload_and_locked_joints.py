"""A payload at run time, and an arm with a locked joint
=====================================================

The figure shows the holding torques over the angle of joint 2 for three loads. Run it with a
folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
FILES = (URDF / "manutec_r3.urdf", URDF / "manutec_r3.drivetrain.yaml")

arm = gd.load_model(*FILES)
q = np.array([0.0, 0.6, -0.4])  # [rad]
postures = np.array([[0.0, angle, -0.4] for angle in np.linspace(-1.5, 1.5, 61)])
figure = Figure(figsize=(8, 3.2), layout="constrained")
axes = figure.subplots(1, 2)
for load in (0.0, 7.5, 15.0):  # [kg]
    loaded = arm.with_payload(load, link="load")
    curves = gd.gravity_forces(loaded, postures)
    for joint, ax in zip((1, 2), axes, strict=True):
        ax.plot(postures[:, 1], curves[:, joint], label=f"{load:g} kg")
        ax.set_title(f"holding torque of {arm.joint_names[joint]} [N m]")
        ax.set_xlabel("angle of joint 2 [rad]")
    print(f"{load:4.1f} kg: holding torques [N m]", gd.gravity_forces(loaded, q).round(1))

frozen = gd.load_model(*FILES, lock={arm.joint_names[1]: 0.6})
print(frozen)
same = gd.gravity_forces(frozen, q[[0, 2]])
print("with joint 2 frozen [N m]", same.round(1))
assert np.allclose(same, gd.gravity_forces(arm, q)[[0, 2]])

axes[0].legend(title="load")
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "payload_and_locked_joints.png", dpi=130)
print("saved", folder / "payload_and_locked_joints.png")
