"""Planetary gears in the joints, 3 to 6 planets: energy and torques
=================================================================

The two-joint arm of Fernini's paper on epicyclic gears (see docs/planetary.md), and its
relatives with three joints. Run it with a folder for the pictures, default figures/ beside it.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import geared_dynamics as gd

PLANETS = (3, 4, 5, 6)
FIGURES = Path(__file__).parent / "figures"
LENGTH = 0.4  # [m]
CENTRE = 0.25  # of mass, from the joint [m]: the paper does not say
MASS = {3: 29.0, 4: 29.12, 5: 29.24, 6: 29.36}  # of a link with the gears it carries [kg]
INERTIA = {3: 0.40, 4: 0.4028, 5: 0.4056, 6: 0.4083}  # about its centre of mass [kg m^2]
LOADED = (29.0, 0.43)  # the last link with the external mass
SUN, PLANET = 1.574e-2, 3.14e-3  # axial inertia [kg m^2]
# Spin of sun and planet relative to the carrier, per joint rate.
STATED = {"sun": 2.0, "planet": 4.0}  # the paper: both positive
TEETH = {"sun": 20, "planet": 10, "ring": 40}  # Willis: -2 and 4

# Twists of the links, gravity, and where the motion of one second ends.
ARMS = {
    "2R": ((0.0, 0.0), (0.0, -9.81, 0.0), (30.0, 45.0)),
    "3R": ((0.0, 0.0, 0.0), (0.0, -9.81, 0.0), (30.0, 45.0, 30.0)),
    "PUMA": ((np.pi / 2, 0.0, 0.0), (0.0, 0.0, -9.81), (60.0, 30.0, 45.0)),
}


def arm(kind: str, planets: int, signs: str = "physical") -> gd.GearedModel:
    """Return the arm, its ratios by Willis (``physical``) or as the ``paper`` states them."""
    twists, gravity, _ = ARMS[kind]
    rows = [link(twist, planets, last=i == len(twists) - 1) for i, twist in enumerate(twists)]
    if signs == "physical":
        sets = {f"gearbox_{i}": planetary_set(i, planets) for i in range(1, len(twists) + 1)}
        drives = {"version": 1, "planetary": sets}
    else:
        drives = stated_gears(twists, planets)
    drives["motors"] = {
        f"motor_{i + 1}": {"wheel": f"gearbox_{i + 1}.sun"} for i in range(len(rows))
    }
    name = f"planetary_{kind}"
    return gd.from_dh(rows, drives, carrier_frame="joint", name=name, gravity=gravity)


def link(twist: float, planets: int, *, last: bool) -> dict[str, object]:
    """One row of the table; a turning column (twist) has its mass on its axis."""
    mass, inertia = LOADED if last else (MASS[planets], INERTIA[planets])
    row = {"a": 0.0 if twist else LENGTH, "alpha": twist, "mass": mass}
    if twist:
        return {**row, "tensor": np.diag([inertia] * 3)}
    return {**row, "com": (CENTRE - LENGTH, 0, 0), "tensor": np.diag([0.05, inertia, inertia])}


def housing(joint: int) -> str:
    """Name the link that carries the gears of a joint."""
    return f"link_{joint - 1}" if joint > 1 else "base"


def planetary_set(joint: int, planets: int) -> dict[str, object]:
    """Planets on the link before the joint, the ring on the one after it."""
    return {
        "joint": f"joint_{joint}",
        "housing": housing(joint),
        "layout": "carrier_fixed",
        "input": "sun",
        "output": "ring",
        "teeth": TEETH,
        "planets": planets,
        "sun": {"inertia": {"axial": SUN}, "included_in_link": True},
        "planet": {"inertia": {"axial": PLANET}, "included_in_link": True},
    }


def stated_gears(twists: tuple[float, ...], planets: int) -> dict[str, object]:
    """List the same gears as wheels, with the paper's ratios."""
    wheels, spins = {}, []
    for joint, twist in enumerate((0.0, *twists[:-1]), start=1):
        axis = [0.0, -np.sin(twist), np.cos(twist)]  # the joint's, in the frame of the housing
        for gear in ("sun", *(f"planet_{k + 1}" for k in range(planets))):
            sort = gear.split("_")[0]
            name = f"gearbox_{joint}.{gear}"
            inertia = {"axial": SUN if sort == "sun" else PLANET}
            wheels[name] = {"carrier": housing(joint), "axis": axis, "inertia": inertia}
            wheels[name]["included_in_link"] = True
            spins.append({"wheel": name, "joint": f"joint_{joint}", "ratio": STATED[sort]})
    return {"version": 1, "wheels": wheels, "spins": spins}


def motion(kind: str, samples: int = 401) -> tuple[np.ndarray, ...]:
    """Time, q, v, a of one second from rest to rest, jerk zero at both ends (degree 7)."""
    s = np.polynomial.Polynomial([0, 0, 0, 0, 35, -84, 70, -20])
    t = np.linspace(0.0, 1.0, samples)
    end = np.deg2rad(ARMS[kind][2])
    return t, *(f(t)[:, None] * end for f in (s, s.deriv(), s.deriv(2)))


def curves(kind: str, planets: int, signs: str = "physical") -> tuple[np.ndarray, np.ndarray]:
    """Kinetic energy (samples,) and joint torques (samples, n) along the motion."""
    model, (_, q, v, a) = arm(kind, planets, signs), motion(kind)
    return gd.kinetic_energy(model, q, v), gd.inverse_dynamics(model, q, v, a)


def draw(axes: tuple[Axes, Axes], title: str, values: dict[object, np.ndarray]) -> None:
    """Curves above; below, what further planets and the paper's signs change."""
    t = motion("2R")[0]
    for planets in PLANETS:
        colour = plt.get_cmap("viridis")(0.25 * (planets - 3))
        axes[0].plot(t, values[planets], color=colour, label=f"{planets} planets")
        if planets > 3:
            change = values[planets] - values[3]
            axes[1].plot(t, change, color=colour, label=f"{planets} planets")
    for ax, paper in zip(axes, (values["paper"], values["paper"] - values[3]), strict=True):
        ax.plot(t, paper, "--", color="tab:red", label="3 planets, the paper's signs")
    axes[0].set_title(title)
    axes[1].set_title("minus the curve of 3 planets", fontsize="medium")
    axes[1].set_xlabel("time [s]")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=0)


def pictures(folder: Path) -> list[Path]:
    """Save the energy and the torques of the two-joint arm."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = {n: curves("2R", n) for n in PLANETS} | {"paper": curves("2R", 3, "paper")}
    energy, axes = plt.subplots(2, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
    draw(axes, "Kinetic energy [J]", {key: run[0] for key, run in runs.items()})
    torques, grid = plt.subplots(2, 2, figsize=(11, 6.5), sharex=True, layout="constrained")
    for j in range(2):
        title = f"Torque of joint {j + 1} [N m]"
        draw(grid[:, j], title, {key: run[1][:, j] for key, run in runs.items()})
    saved = []
    for name, figure, last in (("energy", energy, axes), ("torques", torques, grid[:, 1])):
        figure.suptitle("Two joints, planets on the link before the joint (fixed carrier)")
        for ax in last:
            ax.legend(fontsize="small")
        saved.append(folder / f"planetary_arm_{name}.png")
        figure.savefig(saved[-1], dpi=130)
        plt.close(figure)
    return saved


def largest(change: np.ndarray) -> str:
    """Largest magnitude along the motion, per joint or alone."""
    return " / ".join(f"{x:.3f}" for x in np.abs(np.atleast_2d(change.T)).max(axis=1))


def main() -> None:
    """Print what each further planet changes, and what the signs are worth; save the curves."""
    print("arm    change           torque by joint [N m]     energy [J]")
    for kind in ARMS:
        runs = {n: curves(kind, n) for n in PLANETS}
        print(f"{kind:<6} 3 planets        {largest(runs[3][1]):<25} {largest(runs[3][0])}")
        changes = [(f"{n} to {n + 1}", runs[n + 1], runs[n]) for n in PLANETS[:-1]]
        changes.append(("paper's signs", curves(kind, 3, "paper"), runs[3]))
        for name, new, old in changes:
            print(
                f"{kind:<6} {name:<16} {largest(new[1] - old[1]):<25} {largest(new[0] - old[0])}"
            )
    for path in pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES):
        print("saved", path)


if __name__ == "__main__":
    main()
