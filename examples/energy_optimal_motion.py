"""Motions of least electrical energy
==================================

The motion of ``optimal_motion.py`` in twice the least time. Energy is the integral of the power of
all motors, sum of u i: copper losses R i^2, friction and mechanical work. With recuperation the
supply takes back what flows back; without, what flows back on the common bus is burnt. Each is
planned by CasADi's solver with the complete and with the armature model; MuJoCo, where every
rotor is a body, then moves the arm by the planned voltages and a correction.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from optimal_motion import (
    GOAL,
    SPANS,
    START,
    STEP,
    URDF,
    Plan,
    driven,
    engine_here,
    fastest,
    least_energy,
)

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"
SLOWER = 2.0  # times the least time


def quintic(duration: float) -> Plan:
    """The polynomial of fifth degree from rest to rest, as a plan."""
    path = gd.trajectory.rest_to_rest(START, GOAL, duration, continuous=2)
    q, v, a = np.moveaxis(path.derivatives(np.linspace(0.0, duration, 8 * SPANS + 1), 2), 1, 0)
    return Plan(duration / (8 * SPANS), q, v, a)


def energies(model: gd.GearedModel, plan: Plan) -> tuple[float, float]:
    """Energy of a plan by a model [J], with and without recuperation."""
    t = np.linspace(0.0, plan.duration, 2001)
    q, v, a, _ = plan.at(t)
    commands = gd.motor_commands(model, q, v, a)
    power = (commands.voltage * commands.current).sum(axis=1)
    return float(np.trapezoid(power, t)), float(np.trapezoid(np.maximum(power, 0.0), t))


def drawn(power: np.ndarray) -> tuple[float, float]:
    """Energy that the simulated motors took [J], with and without recuperation."""
    return float(power.sum() * STEP), float(np.maximum(power, 0.0).sum() * STEP)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    engine = engine_here()
    arm = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    models = {"armature": arm.with_coupling("diagonal"), "complete": arm}
    quickest = fastest(arm)
    duration = SLOWER * quickest.duration
    print(f"brisk6, plant: {engine}; {duration:.3f} s, least time {quickest.duration:.3f} s")
    print("energy [J] with / without recuperation: as planned, by the complete equations, drawn")
    print(f"{'plan':<28}{'planned':>16}{'equations':>16}{'drawn':>16}{'RMS':>8}{'peak':>7} mrad")
    plans = {("fastest", "complete"): quickest, ("quintic", "complete"): quintic(duration)}
    for kind in ("recuperation", "no recuperation"):
        for name, model in models.items():
            plans[kind, name] = least_energy(model, duration, recuperation=kind == "recuperation")
    drives = {}
    for (kind, name), plan in plans.items():
        drives[kind, name] = done = driven(plan, models[name], arm, engine)
        pairs = energies(models[name], plan), energies(arm, plan), drawn(done.power)
        cells = "".join(f"{f'{a:.1f} / {b:.1f}':>16}" for a, b in pairs)
        rms = 1e3 * np.sqrt((done.errors**2).mean())
        peak = 1e3 * np.abs(done.errors).max()
        print(f"{f'{kind}, {name}':<28}{cells}{rms:>8.2f}{peak:>7.2f}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    for kind in ("quintic", "recuperation", "no recuperation"):
        power = drives[kind, "complete"].power
        left.plot(STEP * np.arange(len(power)), power, label=kind)
    left.axhline(0.0, color="0.7", lw=0.8)
    left.set(xlabel="time [s]", ylabel="electrical power of all motors [W]")
    left.set_title("Power drawn, complete model's plans")
    left.legend()
    for name in models:
        errors = drives["no recuperation", name].errors
        largest = 1e3 * np.abs(errors).max(axis=1)
        right.plot(STEP * np.arange(len(errors)), largest, label=f"{name} model's plan")
    right.set(xlabel="time [s]", ylabel="largest joint error [mrad]", yscale="log")
    right.set_title("Tracking, no recuperation")
    right.legend()
    figure.savefig(folder / "energy_optimal_motion.png", dpi=120)
    print("saved", folder / "energy_optimal_motion.png")


if __name__ == "__main__":
    main()
