"""An arm with elastic joints: vibrations, and models without S
============================================================

S couples links and rotors through their inertia; most models of elastic joints leave it out. The
figure shows the frequencies over the angle of joint 3, and how link 1 accelerates by three models.
Run it with a folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
import yaml
from matplotlib.figure import Figure

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
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
accelerations = {}
for name in ("complete", "uncoupled", "spong_truncated"):
    reduced = model.with_elasticity(name)
    a, atheta = gd.elastic.forward_dynamics(reduced, gd.State(q, v, theta, v), tau_m)
    print(f"{name:<16} {a.round(3)} {atheta.round(3)}")
    accelerations[name] = a

angles = np.linspace(-2.0, 2.0, 41)  # [rad]
figure = Figure(figsize=(8, 3.4), layout="constrained")
frequencies, bars = figure.subplots(1, 2)
for rotors, style in (("held", "-"), ("free", "--")):
    hertz = [gd.elastic.modes(model, [*q[:2], angle], rotors=rotors).hertz for angle in angles]
    for k, curve in enumerate(np.transpose(hertz)[-3:]):
        frequencies.plot(angles, curve, f"C{k}{style}", label=f"rotors {rotors}" * (k == 0))
bars.bar(list(accelerations), [a[0] for a in accelerations.values()], color=["C0", "C1", "C2"])
frequencies.set(title="natural frequencies [Hz]", xlabel="angle of joint 3 [rad]")
frequencies.legend(fontsize="small")
bars.set_title("acceleration of link 1 [rad/s²]")
for ax in (frequencies, bars):
    ax.grid(alpha=0.3)
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "elastic_joints.png", dpi=130)
print("saved", folder / "elastic_joints.png")
