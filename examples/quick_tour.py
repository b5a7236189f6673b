"""Load a geared arm, compute forces both ways, and go to the motors."""

from pathlib import Path

import numpy as np

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"

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
