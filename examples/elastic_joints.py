"""An arm with elastic joints: how it vibrates, and what models without S get wrong.

S couples links and rotors through their inertia; most models of elastic joints leave it out.
"""

from pathlib import Path

import numpy as np
import yaml

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
DRIVES = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text())
STIFFNESS = {"joint_1": 9.0e3, "joint_2": 7.0e3, "joint_3": 3.0e3}  # [N m/rad]
DRIVES["joints"] = {name: {"stiffness": k, "damping": 2.0} for name, k in STIFFNESS.items()}

model = gd.load_model(URDF / "elbow.urdf", DRIVES)
q = np.array([0.3, -0.5, 0.8])

print("posture", q, "rad")
for rotors in ("held", "free"):
    modes = gd.elastic.modes(model, q, rotors=rotors)
    print(f"rotors {rotors}: {modes.hertz.round(1)} Hz, damping {modes.damping_ratio.round(4)}")

# Moving with relaxed springs when the motors' torque steps.
theta, v = q, np.array([0.4, -0.3, 0.5])
tau_m = np.array([0.2, 0.4, -0.3])  # [N m], motor side
print("acceleration [rad/s^2] of the link side and of the motor side")
for name in ("complete", "uncoupled", "spong_truncated"):
    reduced = model.with_elasticity(name)
    a, atheta = gd.elastic.forward_dynamics(reduced, gd.State(q, v, theta, v), tau_m)
    print(f"{name:<16} {a.round(3)} {atheta.round(3)}")
