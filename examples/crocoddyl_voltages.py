"""A motion by voltages, planned with Crocoddyl
============================================

Crocoddyl's solver (box FDDP) finds the motors' voltages, within their limits, that bring the arm
to a posture; the motors' currents are states, kept within their limits by a barrier. It does so
with the complete and with the armature model. MuJoCo (our own equations without it) then
moves the arm, every rotor a body, by these voltages, what overcomes friction, and a correction.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt

import geared_dynamics as gd

try:
    import crocoddyl
except ImportError:
    raise SystemExit("this example needs the package crocoddyl: pip install crocoddyl") from None

URDF = Path(__file__).resolve().parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
START = np.array([0.0, 0.2, 0.4, 0.0, 0.0, 0.0])  # [rad]
GOAL = np.array([0.8, 0.7, 0.9, 0.8, -0.6, 0.8])  # [rad]
STEP, STEPS = 1e-3, 400  # [s], and how many
STIFFNESS = np.array([300.0, 400.0, 300.0, 40.0, 30.0, 15.0])  # [N m/rad]
DAMPING = np.array([30.0, 35.0, 25.0, 1.5, 1.0, 0.5])  # [N m s/rad]


def costs(model: gd.GearedModel, reach: float) -> "crocoddyl.CostModelSum":
    """Distance to the goal, currents beyond 90 % of their limits, and a little of the voltages."""
    n, m = model.n, len(model.motor_names)
    state = crocoddyl.StateVector(2 * n + m)
    found = crocoddyl.CostModelSum(state, m)
    goal = np.concatenate([GOAL, np.zeros(n + m)])
    weights = np.concatenate([np.full(n, 1.0), np.full(n, 0.02), np.zeros(m)])
    distance = crocoddyl.ResidualModelState(state, goal, m)
    activation = crocoddyl.ActivationModelWeightedQuad(weights)
    found.addCost("goal", crocoddyl.CostModelResidual(state, activation, distance), reach)
    limit = np.concatenate([np.full(2 * n, np.inf), 0.9 * model.motors.limits[:, 1]])
    barrier = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(-limit, limit))
    currents = crocoddyl.ResidualModelState(state, np.zeros(2 * n + m), m)
    found.addCost("currents", crocoddyl.CostModelResidual(state, barrier, currents), 10.0)
    effort = crocoddyl.ResidualModelControl(state, m)
    found.addCost("voltages", crocoddyl.CostModelResidual(state, effort), 1e-4)
    return found


def planned(model: gd.GearedModel) -> tuple[np.ndarray, np.ndarray]:
    """States (k + 1, 3 n) and voltages (k, m)."""
    begin = np.concatenate([START, np.zeros(2 * model.n)])
    running = gd.to_crocoddyl_action(model, costs(model, 1.0), STEP)
    end = gd.to_crocoddyl_action(model, costs(model, 200.0), STEP)
    problem = crocoddyl.ShootingProblem(begin, [running] * STEPS, end)
    solver = crocoddyl.SolverBoxFDDP(problem)
    solver.solve([begin] * (STEPS + 1), [np.zeros(model.n)] * STEPS, 80, False)
    return np.array(solver.xs), np.array(solver.us)


def driven(
    states: np.ndarray, voltages: np.ndarray, arm: gd.GearedModel, engine: str
) -> np.ndarray:
    """Joint errors (k, n) [rad] of the arm under these voltages and a correction."""
    n = arm.n
    plant = gd.simulation.Plant(arm, command="motor_voltage", engine=engine)
    per_torque = arm.motors.resistance / arm.motors.torque_constant
    limit = arm.motors.limits[:, 0]
    plant.reset(START)
    errors = []
    for k, u in enumerate(voltages):
        q, v = states[k, :n], states[k, n : 2 * n]
        rest = gd.motor_commands(arm, q, v, np.zeros(n))
        rubbing = rest.torque - gd.motor_torques(arm, gd.bias_forces(arm, q, v))
        state = plant.state
        errors.append(q - state.q)
        correction = STIFFNESS * errors[-1] + DAMPING * (v - state.v)
        torque = rubbing + gd.motor_torques(arm, correction)
        plant.step(np.clip(u + per_torque * torque, -limit, limit), STEP)
    return np.array(errors)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import mujoco  # noqa: F401

        engine = "mujoco"
    except ImportError:
        engine = "equations"
    arm = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    print(f"brisk6, plant: {engine}; {STEP * STEPS:.2f} s in {STEPS} steps")
    for name, coupling in (("armature", "diagonal"), ("complete", "complete")):
        states, voltages = planned(arm.with_coupling(coupling))
        errors = driven(states, voltages, arm, engine)
        n = arm.n
        missed = 1e3 * np.abs(states[-1, :n] - GOAL).max()
        current = np.abs(states[:, 2 * n :] / arm.motors.limits[:, 1]).max()
        voltage = np.abs(voltages / arm.motors.limits[:, 0]).max()
        rms, peak = 1e3 * np.sqrt((errors**2).mean()), 1e3 * np.abs(errors).max()
        print(
            f"{name:<10}plan ends {missed:.1f} mrad from the goal, {voltage:.0%} of the voltage, ",
            end="",
        )
        print(f"{current:.0%} of the current; driven {rms:.2f} mrad RMS, peak {peak:.2f}")
        if name == "complete":
            t = STEP * np.arange(STEPS)
            for r, motor in enumerate(arm.motor_names):
                left.step(t, voltages[:, r], where="post", label=motor)
        largest = 1e3 * np.abs(errors).max(axis=1)
        right.plot(STEP * np.arange(len(errors)), largest, label=f"{name} model's plan")
    left.set(xlabel="time [s]", ylabel="voltage [V]", title="Voltages, complete model's plan")
    left.legend(fontsize="small")
    right.set(xlabel="time [s]", ylabel="largest joint error [mrad]", yscale="log")
    right.set_title("Tracking")
    right.legend()
    figure.savefig(folder / "crocoddyl_voltages.png", dpi=120)
    print(f"figure: {folder / 'crocoddyl_voltages.png'}")


if __name__ == "__main__":
    main()
