"""An arm from a Denavit-Hartenberg table; its URDF for other programs."""

import numpy as np

import geared_dynamics as gd

LINK = {"mass": 3.0, "com": (-0.2, 0.0, 0.0), "tensor": np.diag([0.004, 0.05, 0.05])}
ROWS = [
    {"a": 0.0, "alpha": np.pi / 2, "d": 0.4, "mass": 4.0, "tensor": np.diag([0.02] * 3)},
    {"a": 0.4, "alpha": 0.0, **LINK},
    {"a": 0.3, "alpha": 0.0, **LINK},
]
# Belt drive: motor 3 sits at the shoulder and its belt runs past joint 2.
DRIVES = {
    "version": 1,
    "wheels": {
        "rotor_2": {
            "carrier": "link_1",
            "axis": [0, 0, 1],  # z of D-H frame 1: along joint 2
            "mass": 0.5,
            "inertia": {"axial": 2e-4},
        },
        "rotor_3": {
            "carrier": "link_1",
            "axis": [0, 0, 1],  # z of D-H frame 1: along joint 2
            "mass": 0.5,
            "inertia": {"axial": 2e-4},
        },
    },
    "spins": [
        {"wheel": "rotor_2", "joint": "joint_2", "ratio": 60},
        {"wheel": "rotor_3", "coefficients": {"joint_2": 40, "joint_3": 40}},
    ],
    "motors": {"motor_2": {"wheel": "rotor_2"}, "motor_3": {"wheel": "rotor_3"}},
}

model = gd.from_dh(ROWS, DRIVES, carrier_frame="dh", name="belt_arm")
q = np.array([0.0, 0.4, 0.5])
print("structure matrix A\n", model.structure_matrix)
print("reflected inertia [kg m^2]\n", model.reflected_inertia.round(3))
print("tool place\n", gd.pose(model, q, "link_3_dh").round(3))
print(gd.to_urdf(model).count("<joint"), "joints in its URDF")
