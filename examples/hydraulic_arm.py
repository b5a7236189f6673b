"""An arm driven by hydraulic motors
=================================

The oil between valve and motor is a spring: p' = stiffness (flow u - volume phi' - leak p),
the motor's torque is volume p. Without load it would swing at sqrt(stiffness volume^2 / J);
on the arm it swings slower, with the links. The figure shows how its frequencies depend on the
elbow's angle. Run it with a folder for the figure, default figures/ beside it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

ROBOTS = Path(__file__).resolve().parent.parent / "urdf"
FIGURES = Path(__file__).parent / "figures"
STIFFNESS, VOLUME, LEAK = 4e12, 1e-6, 4e-12  # [Pa/m^3], [m^3/rad], [m^3/(s Pa)]
FLOW, DAMPING = 2e-5, 1e-4  # [m^3/s at u = 1], [N m s/rad]


def hydraulic(J):
    """State (phi, phi', p): shaft angle, speed, pressure difference [Pa]."""
    C = [
        [0, 1, 0],
        [0, -DAMPING / J, VOLUME / J],
        [0, -STIFFNESS * VOLUME, -STIFFNESS * LEAK],
    ]
    return gd.LinearActuator(
        C,
        f=[0, -1 / J, 0],
        d=[0, 0, STIFFNESS * FLOW],
        angle=[1, 0, 0],
        speed=[0, 1, 0],
        limit=1.0,
    )


def frequencies(system, x):
    """Natural frequencies of small motions about a state [Hz]."""
    step, still = 1e-6, np.zeros(len(system.actuators))
    columns = [
        (system.rates(x + step * e, still) - system.rates(x - step * e, still)) / (2 * step)
        for e in np.eye(len(x))
    ]
    roots = np.linalg.eigvals(np.array(columns).T)
    return np.sort(roots.imag[roots.imag > 1.0]) / (2 * np.pi)


model = gd.load_model(ROBOTS / "elbow.urdf", ROBOTS / "elbow.drivetrain.yaml")
inertias = model.J[model.motor_wheel]
system = gd.combine_actuators(
    model, {name: hydraulic(J) for name, J in zip(model.motor_names, inertias, strict=True)}
)
alone = np.sqrt(STIFFNESS * VOLUME**2 / inertias) / (2 * np.pi)
print("oil column, motor alone [Hz]: ", np.round(np.sort(alone), 1))
for name, q in (("arm stretched", [0, 0, 0]), ("elbow bent", [0, 0, 2.0])):
    x = system.state(q, np.zeros(model.n))
    print(f"{name:<13} with the arm [Hz]: ", np.round(frequencies(system, x), 1))

elbow = np.linspace(0.0, 2.5, 40)  # [rad]
found = [frequencies(system, system.state([0, 0, angle], np.zeros(model.n))) for angle in elbow]
figure = Figure(figsize=(6.5, 3.6), layout="constrained")
ax = figure.subplots()
ax.plot(elbow, found)
ax.hlines(np.sort(alone), elbow[0], elbow[-1], colors="0.6", linestyles=":")
ax.set(xlabel="angle of the elbow [rad]", ylabel="natural frequency [Hz]")
ax.set_title("oil columns with the arm; dotted: motors alone")
ax.grid(alpha=0.3)
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "hydraulic_arm.png", dpi=130)
print("saved", folder / "hydraulic_arm.png")
