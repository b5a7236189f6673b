"""Schemes for elastic arms with motors: cost at equal error, which chose what is in use.

Candidates with step control: SciPy's LSODA, DOP853, Radau, BDF. With a fixed step: the
Rosenbrock step in use, the implicit midpoint rule, the classical Runge-Kutta step.

Run: make benchmark
"""

import time
from collections.abc import Callable

import numpy as np
from arms import drivetrain, rows
from scipy.integrate import solve_ivp

import geared_dynamics as gd
from geared_dynamics.simulation.driven_arm import ElasticPlant
from geared_dynamics.simulation.integrators import rosenbrock_step

SECONDS, WANTED = 0.2, 1e-5  # simulated; error of angles and velocities at the end
START = np.array([0.3, -0.5, 0.8, 0.2, 0.4, -0.3])
RATE = np.array([1.0, -0.5, 0.7, 0.5, -0.3, 0.2])
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
STEPS = (50, 100, 200, 400, 800, 1600, 3200)
Step = Callable[[ElasticPlant, np.ndarray, np.ndarray, float], np.ndarray]


def arm(stiffness: float, damping: float, rubs: bool, **motor: float) -> gd.GearedModel:
    """The benchmark's arm of six joints with motors and springs."""
    drive = drivetrain(6)
    names = [f"joint_{k + 1}" for k in range(6)]
    motor = {"resistance": 0.8, "torque_constant": 0.06, **motor}
    rotor = {"friction": {"viscous": 2e-5, "coulomb": 0.01}} if rubs else {}
    joint = {"friction": {"viscous": 0.3, "coulomb": 1.0}} if rubs else {}
    drive["motors"] = {
        f"motor_{n}": {"wheel": f"rotor_{n[6:]}_1", **motor, **rotor} for n in names
    }
    drive["joints"] = {n: {"stiffness": stiffness, "damping": damping, **joint} for n in names}
    return gd.from_dh(rows(6), drive, carrier_frame="joint")


def fixed(step: Step, plant: ElasticPlant, y: np.ndarray, u: np.ndarray, n: int) -> np.ndarray:
    """State after n equal steps."""
    for _ in range(n):
        y = step(plant, y, u, SECONDS / n)
    return y


def rosenbrock(plant: ElasticPlant, y: np.ndarray, u: np.ndarray, dt: float) -> np.ndarray:
    return rosenbrock_step(lambda z: plant.rates(z, u), plant.jacobian(y, u), y, dt)[0]


def midpoint(plant: ElasticPlant, y: np.ndarray, u: np.ndarray, dt: float) -> np.ndarray:
    inverse = np.linalg.inv(np.eye(len(y)) - 0.5 * dt * plant.jacobian(y, u))
    k = inverse @ plant.rates(y, u)
    for _ in range(10):
        change = inverse @ (plant.rates(y + 0.5 * dt * k, u) - k)
        k = k + change
        if np.abs(change).max() * dt < 1e-10:
            break
    return y + dt * k


def runge_kutta(plant: ElasticPlant, y: np.ndarray, u: np.ndarray, dt: float) -> np.ndarray:
    a = plant.rates(y, u)
    b = plant.rates(y + 0.5 * dt * a, u)
    c = plant.rates(y + 0.5 * dt * b, u)
    return y + dt / 6.0 * (a + 2.0 * b + 2.0 * c + plant.rates(y + dt * c, u))


def controlled(
    method: str, plant: ElasticPlant, y: np.ndarray, u: np.ndarray, rtol: float
) -> np.ndarray:
    """State by SciPy."""

    def rates(_: float, z: np.ndarray) -> np.ndarray:
        try:
            return plant.rates(z, u)
        except gd.GearedDynamicsError:
            return np.full_like(z, np.nan)

    jac = {} if method == "DOP853" else {"jac": lambda _, z: plant.jacobian(z, u)}
    run = solve_ivp(rates, (0, SECONDS), y, method, rtol=rtol, atol=0.1 * rtol, **jac)
    return run.y[:, -1]


def cheapest(ways: dict[float, Callable[[], np.ndarray]], exact: np.ndarray, half: int) -> str:
    """Time of the first way that is good enough [ms]."""
    scale = np.maximum(1.0, np.abs(exact[: 2 * half]))
    for key, way in ways.items():
        begin = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                found = way()
        except gd.GearedDynamicsError:
            continue  # unstable at this step
        spent = time.perf_counter() - begin
        if np.max(np.abs(found[: 2 * half] - exact[: 2 * half]) / scale) < WANTED:
            return f"{1e3 * spent:8.0f} ms at {key:.1e}"
    return "    none"


def compare(name: str, model: gd.GearedModel, drive: str) -> None:
    """Print the cost of each scheme at the wanted error."""
    plant = ElasticPlant(model, drive, np.zeros(6))  # type: ignore[arg-type]
    u = np.full(6, 10.0 if drive == "voltage" else 0.2)
    y = np.concatenate([START, START, RATE, RATE, np.zeros(plant.size - 24)])
    exact = controlled("Radau" if "stiff" in name else "DOP853", plant, y, u, 1e-11)
    print(f"{name}: error {WANTED:g} after {SECONDS} s")
    for method in ("LSODA", "DOP853", "Radau", "BDF"):
        ways = {t: lambda m=method, t=t: controlled(m, plant, y, u, t) for t in TOLERANCES}
        print(f"  {method:<12}{cheapest(ways, exact, plant.half)}  (rtol)")
    for label, step in (("Rosenbrock", rosenbrock), ("midpoint", midpoint), ("RK4", runge_kutta)):
        ways = {SECONDS / n: lambda s=step, n=n: fixed(s, plant, y, u, n) for n in STEPS}
        print(f"  {label:<12}{cheapest(ways, exact, plant.half)}  (dt [s])")


if __name__ == "__main__":
    compare("undamped, torque", arm(2e4, 0.0, False), "torque")
    compare("stiff x 100, damped, torque", arm(2e6, 300.0, False), "torque")
    compare("voltage, L/R = 0.2 ms", arm(2e4, 3.0, False, inductance=1.6e-4), "voltage")
    compare("voltage, L/R = 1 us, stiff", arm(2e4, 3.0, False, inductance=8e-7), "voltage")
    compare("voltage, friction", arm(2e4, 3.0, True, inductance=1.6e-4), "voltage")
