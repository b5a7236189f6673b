"""An arm from a Denavit-Hartenberg table
======================================

Motor 3 sits at the shoulder, and its belt runs past joint 2. The figure shows the arm with its
frames, and what the belt does: motor 3 also acts on joint 2 (structure matrix A), and the
reflected inertia couples joints 2 and 3. The URDF of the arm is for other programs. Run it with a
folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"

LINK = {"mass": 3.0, "com": (-0.2, 0.0, 0.0), "tensor": np.diag([0.004, 0.05, 0.05])}
ROWS = [
    {"a": 0.0, "alpha": np.pi / 2, "d": 0.4, "mass": 4.0, "tensor": np.diag([0.02] * 3)},
    {"a": 0.4, "alpha": 0.0, **LINK},
    {"a": 0.3, "alpha": 0.0, **LINK},
]
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


def draw_arm(ax):
    """Draw the arm from the side, with x (red) and y (green) of its frames."""
    places = [gd.pose(model, q, f"link_{k}_dh") for k in (1, 2, 3)]
    x, z = np.transpose([[0.0, 0.0], *((T[0, 3], T[2, 3]) for T in places)])
    ax.plot(x, z, "o-", color="0.4", linewidth=3)
    for T in places:
        for column, colour in ((0, "C3"), (1, "C2")):
            ax.quiver(
                *T[[0, 2], 3], *T[[0, 2], column], color=colour, width=0.008, scale=8.0, zorder=3
            )
    ax.annotate("motors 2 and 3", (x[1], z[1]), (x[1] + 0.08, z[1] - 0.12))
    ax.set(title="side view at q = (0, 0.4, 0.5) [m]", aspect="equal")
    ax.margins(0.2)


def draw_matrix(ax, matrix, title):
    """Draw a matrix as coloured fields with its numbers."""
    ax.imshow(np.abs(matrix) / np.abs(matrix).max(), cmap="Blues", vmax=1.6)
    for (row, column), number in np.ndenumerate(matrix):
        ax.text(column, row, f"{number:.3g}", ha="center", va="center")
    ax.set(title=title, xticks=range(matrix.shape[1]), yticks=range(len(matrix)))
    ax.set_yticklabels(model.joint_names)


figure = Figure(figsize=(9.5, 3.2), layout="constrained")
arm, structure, inertia = figure.subplots(1, 3, width_ratios=[1.3, 0.8, 1])
draw_arm(arm)
draw_matrix(structure, model.structure_matrix, "structure matrix A")
structure.set_xticklabels(model.motor_names)
draw_matrix(inertia, model.reflected_inertia, "reflected inertia [kg m²]")
inertia.set_xticklabels(model.joint_names)
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "from_a_table.png", dpi=130)
print("saved", folder / "from_a_table.png")
