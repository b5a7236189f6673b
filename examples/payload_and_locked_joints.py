"""A load at the tip at run time; an arm with one joint frozen."""

from pathlib import Path

import numpy as np

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FILES = (URDF / "manutec_r3.urdf", URDF / "manutec_r3.drivetrain.yaml")

arm = gd.load_model(*FILES)
q = np.array([0.0, 0.6, -0.4])  # [rad]
for load in (0.0, 7.5, 15.0):  # [kg]
    loaded = arm.with_payload(load, link="load")
    print(f"{load:4.1f} kg: holding torques [N m]", gd.gravity_forces(loaded, q).round(1))

frozen = gd.load_model(*FILES, lock={arm.joint_names[1]: 0.6})
print(frozen)
same = gd.gravity_forces(frozen, q[[0, 2]])
print("with joint 2 frozen [N m]", same.round(1))
assert np.allclose(same, gd.gravity_forces(arm, q)[[0, 2]])
