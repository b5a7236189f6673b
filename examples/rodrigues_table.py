"""From Rodrigues' vectors to a URDF
=================================

Vukobratovic and Potkonjak (chapter 20, section 20.2) describe a link by the axis of its joint,
written in the link and in the link below, and by the vectors from the joint to both centres of
mass. Where such a vector is parallel to the axis, a special vector defines the zero position. The
table here is an arm with a turning column, a shoulder and a linear axis. It becomes a URDF and a
drivetrain file, and the model of these two files has the same torques. The figure shows axes,
vectors and centres of mass. Run it with a folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
import yaml
from matplotlib.figure import Figure

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BALL = np.diag([0.04] * 3)
ROWS = [
    {  # a column that turns about the vertical
        "axis": Z,
        "axis_below": Z,
        "to_centre": (0.05, 0.0, 0.2),
        "from_centre": (0.0, 0.0, 0.0),
        "special_from_centre": (-1.0, 0.0, 0.0),
        "mass": 6.0,
        "tensor": BALL,
    },
    {  # a shoulder: its axis is y in both links, 0.2 m above the centre of the column
        "axis": Y,
        "axis_below": Y,
        "to_centre": (0.25, 0.0, 0.0),
        "from_centre": (0.05, 0.0, -0.2),
        "special_from_centre": (-1.0, 0.0, 0.0),
        "mass": 4.0,
        "tensor": np.diag([0.01, 0.08, 0.08]),
    },
    {  # a linear axis along the upper arm
        "axis": X,
        "axis_below": X,
        "to_centre": (0.1, 0.0, 0.05),
        "from_centre": (-0.2, 0.0, 0.0),
        "special_from_centre": (0.0, 0.0, -1.0),
        "mass": 1.5,
        "tensor": np.diag([0.002, 0.01, 0.01]),
        "kind": "prismatic",
    },
]
DRIVES = {
    "version": 1,
    "wheels": {
        "rotor_1": {"carrier": "base", "axis": [0, 0, 1], "mass": 1.0, "inertia": {"axial": 2e-4}},
        "rotor_2": {
            "carrier": "link_1",
            "axis": [0, 1, 0],
            "mass": 1.0,
            "inertia": {"axial": 2e-4},
        },
        "rotor_3": {
            "carrier": "link_2",
            "axis": [1, 0, 0],
            "mass": 0.2,
            "inertia": {"axial": 1e-5},
        },
    },
    "spins": [
        {"wheel": "rotor_1", "joint": "joint_1", "ratio": 100},
        {"wheel": "rotor_2", "joint": "joint_2", "ratio": 120},
        {"wheel": "rotor_3", "joint": "joint_3", "lead": 0.01},  # a screw: 10 mm per revolution
    ],
    "motors": {f"motor_{k}": {"wheel": f"rotor_{k}"} for k in (1, 2, 3)},
}

model = gd.from_rodrigues(ROWS, DRIVES, name="column_arm")
q = np.array([0.3, -0.6, 0.1])  # [rad], [rad], [m]
v = np.array([1.0, -0.5, 0.2])
a = np.array([2.0, 1.0, -0.5])
tau = gd.inverse_dynamics(model, q, v, a)
print("centre of mass of the last link [m]")
print(" ", (gd.pose(model, q, "link_3") @ [*ROWS[2]["to_centre"], 1.0])[:3].round(4))
print("joint forces [N m], [N m], [N]\n ", tau.round(3))
print("motor torques [N m]\n ", gd.motor_torques(model, tau).round(4))

urdf = gd.to_urdf(model)
print("first lines of the URDF")
print(*(f"  {line}" for line in urdf.splitlines()[:6]), sep="\n")
again = gd.load_model(urdf, yaml.safe_dump(DRIVES))
error = np.abs(gd.inverse_dynamics(again, q, v, a) - tau).max()
print(f"joint forces of the two files differ by at most {max(error, 1e-12):.0e} N m")

figure = Figure(figsize=(6.5, 5.5), layout="constrained")
ax = figure.add_subplot(projection="3d")
below = np.zeros(3)  # centre of mass of the link below
for k, row in enumerate(ROWS, start=1):
    T = gd.pose(model, q, f"link_{k}")
    joint, centre = T[:3, 3], (T @ [*row["to_centre"], 1.0])[:3]
    axis = 0.12 * T[:3, :3] @ row["axis"]
    labels = ("joint axis", "to_centre", "from_centre") if k == 1 else ("", "", "")
    ax.plot(*np.transpose([joint - axis, joint + axis]), "C3", linewidth=2, label=labels[0])
    ax.plot(*np.transpose([joint, centre]), "C0", linewidth=3, label=labels[1])
    ax.plot(*np.transpose([joint, below]), "C1--", linewidth=2, label=labels[2])
    ax.scatter(*centre, color="black", s=60)
    ax.text(centre[0], centre[1], centre[2] + 0.04, f"link {k}, {row['mass']} kg")
    below = centre
ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", ylim=(-0.3, 0.3))
ax.set(yticks=[-0.2, 0.0, 0.2], aspect="equal")
ax.set_title("vectors of the table at q = (0.3, -0.6, 0.1)")
ax.legend(loc="upper left")
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "rodrigues_table.png", dpi=130)
print("saved", folder / "rodrigues_table.png")
