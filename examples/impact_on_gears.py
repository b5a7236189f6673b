"""What the gears take when an arm hits a wall
===========================================

The arm of two links (planar, 0.9 m) runs its tip into a wall. Its drives are once of ratio 6 and
4 with large rotors, once of ratio 50 and 40 with small ones, of the same reflected inertia at the
first joint. Printed: the impulse at the wall, what the rotors and the first bearing get of it,
and what the armature model gives instead.

Run: python examples/impact_on_gears.py
"""

import sys
from pathlib import Path

import numpy as np

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"
LINK = {"alpha": 0.0, "mass": 4.0, "tensor": np.diag([0.01, 0.1, 0.1])}
ROWS = [
    {"a": 0.5, "com": (-0.25, 0.0, 0.0), **LINK},
    {"a": 0.4, "com": (-0.2, 0.0, 0.0), **LINK},
]
# Axial inertia [kg m^2] and ratio of the two drives.
DRIVES = {
    "low ratios": ((0.5 / 36, 6.0), (1e-2, 4.0)),
    "high ratios": ((2e-4, 50.0), (1e-4, 40.0)),
}
Q, SPEEDS = np.array([0.5, 1.0]), np.linspace(0.1, 2.0, 20)  # [rad], of the tip [m/s]


def arm(drives: tuple[tuple[float, float], ...]) -> gd.GearedModel:
    """The arm with a rotor before each joint."""
    data: dict[str, object] = {"version": 1, "wheels": {}, "spins": [], "motors": {}}
    for k, (inertia, ratio) in enumerate(drives):
        name = f"rotor_{k + 1}"
        wheel = {"axis": [0, 0, 1], "mass": 0.5, "inertia": {"axial": inertia}}
        data["wheels"][name] = {"carrier": ["base", "link_1"][k], **wheel}  # type: ignore[index]
        data["spins"].append({"wheel": name, "joint": f"joint_{k + 1}", "ratio": ratio})  # type: ignore[attr-defined]
        data["motors"][f"motor_{k + 1}"] = {"wheel": name}  # type: ignore[index]
    return gd.from_dh(ROWS, data, carrier_frame="joint", gravity=(0.0, 0.0, -9.81))


def main() -> None:
    """Print the impulses at 1 m/s, and draw those over the speed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    curves = {}
    for name, drives in DRIVES.items():
        model = arm(drives)
        tip = "link_2_dh"
        J = gd.jacobian(model, Q, tip)[:2]
        wall = gd.contact.Surface(tip, gd.pose(model, Q, tip)[:3, 3], (-1, 0, 0))
        v = np.outer(SPEEDS, np.linalg.solve(J, [1.0, 0.0]))
        hit = gd.contact.impact(model, wall, Q, v)
        curves[name] = hit.gear_impulse
        one = gd.contact.impact(model, wall, Q, v[9] / SPEEDS[9])
        usual = gd.contact.impact(model.with_coupling("diagonal"), wall, Q, v[9] / SPEEDS[9])
        bearing = np.linalg.norm(one.bearing_impulse[0, :3])
        print(f"{name}: wall {one.impulse[0]:.3f} N s (armature model {usual.impulse[0]:.3f})")
        for motor, ours in zip(model.motor_names, one.gear_impulse, strict=True):
            print(f"  {motor}: {1e3 * ours:+.3f} mN m s into its rotor")
        print(f"  bearing 1: {bearing:.3f} N s; lost {one.loss:.3f} J")
    draw(curves, folder)


def draw(curves: dict[str, np.ndarray], folder: Path) -> None:
    """Impulse into each rotor over the tip's speed."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharex=True, constrained_layout=True)
    for name, impulses in curves.items():
        for k, axis in enumerate(axes):
            axis.plot(SPEEDS, 1e3 * np.abs(impulses[:, k]), label=name)
            axis.set(title=f"rotor {k + 1}", xlabel="speed of the tip [m/s]")
    axes[0].set_ylabel("impulse [mN m s], motor side")
    axes[0].legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "impact_on_gears.png", dpi=120)


if __name__ == "__main__":
    main()
