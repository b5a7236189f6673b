"""A three-joint geared mechanism by virtual links, and its graphs
===============================================================

The three-joint mechanism of Chen and Wang's paper on virtual links: two gears on the base,
one on link 1, an idle shaft on link 2, four meshes. The picture shows its graphs, as the paper's
section 2 defines them. Run it with a folder for the picture, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
SIGN = {"zero": ".", "constant": "c", "posture": "q"}

model = gd.load_model(
    URDF / "virtual_link_arm.urdf", URDF / "virtual_link_arm.drivetrain.yaml", gravity=(0, 0, 0)
)
print("spin of each wheel in its carrier, per joint rate")
for name, row in zip(model.wheel_names, model.Gamma, strict=True):
    print(f"  {name}", row)
print("structure matrix A: tau = A tau_m\n", model.structure_matrix)

q = np.array([0.3, 0.7, -0.4])  # [rad]
v = np.array([2.0, -1.5, 3.0])  # [rad/s]
a = np.array([5.0, 8.0, -6.0])  # [rad/s^2]
parts = gd.wheel_contributions(model, q, v, a)

print("entries of M_{j/i}, and of C_{j/i,r} for r = 1, 2, 3 (. zero, c constant, q posture)")
for name, part in parts.items():
    for k in range(3):
        blocks = [part.mass_kind[k], *(part.coriolis_kind[r, k] for r in range(3))]
        words = ("".join(SIGN[str(kind)] for kind in block) for block in blocks)
        print(f"  {name if k == 0 else '':<8}", *words, sep="   ")

print("joint force by wheel [N m]     locked to its carrier    relative to it")
for name, part in parts.items():
    inner = ", ".join(part.inner_joints) or "no joint"
    print(f"  {name}, moved by {inner}:".ljust(36), part.locked_force.round(3), end="  ")
    print(part.relative_force.round(3))

links = gd.inverse_dynamics(model.with_coupling("none"), q, v, a)
total = links + sum(part.relative_force for part in parts.values())
error = np.abs(total - gd.inverse_dynamics(model, q, v, a)).max()
print(f"links with locked wheels, plus the relative parts, is the whole to {error:.0e} N m")

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
print("saved", gd.plot.gear_train(model).save(folder / "virtual_links.svg"))
