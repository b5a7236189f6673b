"""Load a geared arm, compute forces both ways, go to the motors
=============================================================

The figure shows the torques of a fast motion, at the joints and at the motors. Run it with a
folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"

model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
print(model)

q = np.array([0.3, 0.5, -0.8])  # [rad]
v = np.array([1.0, -2.0, 1.5])  # [rad/s]
a = np.array([4.0, 3.0, -5.0])  # [rad/s^2]

tau = gd.inverse_dynamics(model, q, v, a)
print("joint torques [N m]   ", tau.round(3))
print("at the motors [N m]   ", gd.motor_torques(model, tau).round(4))
print("of which gravity [N m]", gd.gravity_forces(model, q).round(3))

back = gd.forward_dynamics(model, q, v, tau)
print("acceleration recovered to", f"{np.abs(back - a).max():.0e}", "rad/s^2")

terms = gd.kinetic_energy_terms(model, q, v)
print("kinetic energy [J]:", ", ".join(f"{k} {float(x):.3f}" for k, x in terms._asdict().items()))

motion = gd.trajectory.rest_to_rest(q, q + np.array([1.0, -0.8, 1.2]), 0.6, continuous=2)
t = np.linspace(0.0, 0.6, 200)  # [s]
along = np.moveaxis(motion.derivatives(t, 2), 1, 0)  # position, velocity, acceleration
tau = gd.inverse_dynamics(model, *along)

figure = Figure(figsize=(8, 3.2), layout="constrained")
joints, motors = figure.subplots(1, 2, sharex=True)
for k, name in enumerate(model.joint_names):
    joints.plot(t, tau[:, k], f"C{k}", label=name)
    joints.plot(t, gd.gravity_forces(model, along[0])[:, k], f"C{k}:")
    motors.plot(t, gd.motor_torques(model, tau)[:, k], f"C{k}", label=model.motor_names[k])
joints.set_title("joint torque, dotted: gravity [N m]")
motors.set_title("motor torque [N m]")
for ax in (joints, motors):
    ax.set_xlabel("time [s]")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "quick_tour.png", dpi=130)
print("saved", folder / "quick_tour.png")
