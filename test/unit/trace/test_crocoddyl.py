"""Arms as action models of Crocoddyl: against finite differences, and a reaching motion."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from elastic_arms import elastic_arm
from flat_arms import flat_arm
from geared_dynamics.errors import ArrayError, MissingPackageError, ModelError, UnknownNameError
from traced_arms import any_arm, difference

URDF = Path(__file__).parents[3] / "urdf"


def costs_of(size: int, nu: int, goal: np.ndarray, reaching: float = 1.0) -> Any:
    """Costs of a distance to a state and of the controls."""
    crocoddyl = pytest.importorskip("crocoddyl")
    state = crocoddyl.StateVector(2 * size)
    costs = crocoddyl.CostModelSum(state, nu)
    reach = crocoddyl.ResidualModelState(state, goal, nu)
    effort = crocoddyl.ResidualModelControl(state, nu)
    costs.addCost("reach", crocoddyl.CostModelResidual(state, reach), reaching)
    costs.addCost("effort", crocoddyl.CostModelResidual(state, effort), 1e-3)
    return costs


def check(model: gd.GearedModel, size: int, nu: int, **options: Any) -> None:
    """Compare a model's derivatives with central differences of its own results."""
    costs = costs_of(size, nu, np.zeros(2 * size))
    action = gd.to_crocoddyl(model, costs, **options)
    data = action.createData()
    random = np.random.default_rng(nu)
    x, u = random.normal(size=2 * size), random.normal(size=nu)
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    step = 1e-6

    def slopes(moved: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
        columns, costs_by = [], []
        for d in range(count):
            found = []
            for sign in (1.0, -1.0):
                other = action.createData()
                action.calc(other, *moved(sign * step * np.eye(count)[d]))
                found.append((np.array(other.xout), other.cost))
            columns.append((found[0][0] - found[1][0]) / (2 * step))
            costs_by.append((found[0][1] - found[1][1]) / (2 * step))
        return np.array(columns).T, np.array(costs_by)

    Fx, Lx = slopes(lambda d: (x + d, u), 2 * size)
    Fu, Lu = slopes(lambda d: (x, u + d), nu)
    for got, expected in ((data.Fx, Fx), (data.Fu, Fu), (data.Lx, Lx), (data.Lu, Lu)):
        assert difference(np.array(got), expected) <= 1e-6
    action.calc(data, x)
    action.calcDiff(data, x)
    assert data.cost == pytest.approx(0.5 * x @ x)


def test_rigid_arms_against_differences() -> None:
    model = driven_arm(1, joints=3)
    check(model, 3, 3)
    check(model, 3, 3, command_type="joint_torque")


def test_elastic_arms_against_differences() -> None:
    model = elastic_arm(2, 3, share=0.5)
    check(model, 3 + model.elasticity.count, 3)


def test_currents_and_voltages_against_differences() -> None:
    model = driven_arm(1, joints=3, inductance=0.0)
    for command_type in ("motor_current", "motor_voltage"):
        check(model, 3, 3, command_type=command_type)
    costs = costs_of(3, 3, np.zeros(6))
    action = gd.to_crocoddyl(model, costs, command_type="motor_voltage")
    assert np.array_equal(action.u_ub, model.motors.limits[:, 0])
    x, u = np.r_[0.2, -0.4, 0.6, 1.0, -0.5, 0.3], np.array([4.0, -3.0, 2.0])
    data = action.createData()
    action.calc(data, x, u)
    motors = model.motors
    current = (u - motors.back_emf_constant * (model.structure_matrix.T @ x[3:])) / (
        motors.resistance
    )
    tau = model.structure_matrix @ (motors.torque_constant * current)
    expected = gd.forward_dynamics(model, x[:3], x[3:], tau)
    assert difference(np.array(data.xout), expected) <= 1e-13
    with pytest.raises(ModelError, match=r"inductance: is above 0.*to_crocoddyl_action"):
        gd.to_crocoddyl(driven_arm(1, joints=3), costs, command_type="motor_voltage")
    lacking = driven_arm(1, joints=3, torque_constant=None, resistance=None, inductance=None)
    with pytest.raises(ModelError, match=r"torque_constant: is not given"):
        gd.to_crocoddyl(lacking, costs, command_type="motor_current")


@pytest.mark.parametrize("heat", [False, True])
@pytest.mark.parametrize("elastic", [False, True])
def test_steps_with_current_and_heat_against_differences(heat: bool, elastic: bool) -> None:
    crocoddyl = pytest.importorskip("crocoddyl")
    budget = {"voltage": 48, "thermal": {"continuous_current": 4.0, "time_constant": 20.0}}
    motor = {"resistance": 0.8, "inductance": 1.5e-3, "torque_constant": 0.06, "limits": budget}
    model = flat_arm(1, 3, motor=motor) if elastic else driven_arm(1, joints=3, limits=budget)
    size, m, dt = model.n + model.elasticity.count, 3, 2e-3
    nx = 2 * size + m * (1 + heat)
    state = crocoddyl.StateVector(nx)
    costs = crocoddyl.CostModelSum(state, m)
    reach = crocoddyl.ResidualModelState(state, np.zeros(nx), m)
    costs.addCost("reach", crocoddyl.CostModelResidual(state, reach), 1.0)
    action = gd.to_crocoddyl_action(model, costs, dt, heat=heat)
    random = np.random.default_rng(3)
    x, u = random.normal(size=nx), 5.0 * random.normal(size=m)
    data = action.createData()
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    assert data.cost == pytest.approx(dt * 0.5 * x @ x)

    def after(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        other = action.createData()
        action.calc(other, x, u)
        return np.array(other.xnext)

    step = 1e-6
    Fx = [(after(x + d, u) - after(x - d, u)) / (2 * step) for d in step * np.eye(nx)]
    Fu = [(after(x, u + d) - after(x, u - d)) / (2 * step) for d in step * np.eye(m)]
    assert difference(np.array(data.Fx), np.transpose(Fx)) <= 1e-6
    assert difference(np.array(data.Fu), np.transpose(Fu)) <= 1e-6
    assert np.array_equal(action.u_ub, model.motors.limits[:, 0])
    if heat:
        i = after(x, u)[2 * size : 2 * size + m]
        expected = gd.thermal_step(model, np.abs(x[-m:]), i, dt)
        got = after(np.r_[x[:-m], np.abs(x[-m:])], u)[-m:]
        assert difference(got, expected) <= 1e-12
    with pytest.raises(ArrayError, match="dt"):
        gd.to_crocoddyl_action(model, costs, 0.0, heat=heat)
    with pytest.raises(ArrayError, match=r"costs\.state\.nx"):
        gd.to_crocoddyl_action(model, costs, dt, heat=not heat)


def test_a_step_of_voltages_is_that_of_the_driven_arm() -> None:
    """Small steps of the action model follow the motors' own equations."""
    crocoddyl = pytest.importorskip("crocoddyl")
    model = driven_arm(2, joints=2, friction=None, efficiency=None)
    costs = crocoddyl.CostModelSum(crocoddyl.StateVector(6), 2)
    dt = 1e-6
    action = gd.to_crocoddyl_action(model, costs, dt)
    data = action.createData()
    x, u = np.array([0.3, -0.4, 0.5, 0.2, 1.0, -2.0]), np.array([3.0, -4.0])
    action.calc(data, x, u)
    motors, A = model.motors, model.structure_matrix
    rate = (u - motors.resistance * x[4:] - motors.back_emf_constant * (A.T @ x[2:4])) / (
        motors.inductance
    )
    a = gd.forward_dynamics(model, x[:2], x[2:4], A @ (motors.torque_constant * x[4:]))
    got = (np.array(data.xnext) - x) / dt
    assert difference(got[4:], rate) <= 1e-2
    assert difference(got[2:4], a) <= 1e-2


def test_the_solver_reaches_a_posture_within_the_motors_limits() -> None:
    crocoddyl = pytest.importorskip("crocoddyl")
    model = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    n, steps, dt = model.n, 40, 0.01
    start, goal = np.zeros(2 * n), np.r_[0.3, 0.3, 0.4, 0.2, -0.2, 0.3, np.zeros(n)]
    running = gd.to_crocoddyl(model, costs_of(n, n, goal, 1e-2))
    assert np.array_equal(running.u_ub, model.motors.limits[:, 2])
    terminal = gd.to_crocoddyl(model, costs_of(n, n, goal, 1e3))
    pairs = ((running, dt), (terminal, 0.0))
    models = [crocoddyl.IntegratedActionModelEuler(m, step) for m, step in pairs]
    problem = crocoddyl.ShootingProblem(start, [models[0]] * steps, models[1])
    solver = crocoddyl.SolverBoxFDDP(problem)
    assert solver.solve([start] * (steps + 1), [np.zeros(n)] * steps, 50, False)
    assert np.abs(solver.xs[-1][:n] - goal[:n]).max() < 0.1 * np.abs(goal).max()
    assert np.all(np.abs(solver.us) <= model.motors.limits[:, 2] + 1e-9)


def test_missing_crocoddyl_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crocoddyl", None)
    with pytest.raises(MissingPackageError, match=r"needs the package 'crocoddyl'.*pip"):
        gd.to_crocoddyl(driven_arm(1, joints=2), None)


@pytest.mark.parametrize("kind", ["motor_torque", "joint_torque"])
@pytest.mark.parametrize("elastic", [True, False])
def test_joints_behind_springs_are_not_driven_themselves(
    elastic: bool, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arm is looked at before the costs, which are wrong here."""
    monkeypatch.setitem(sys.modules, "crocoddyl", SimpleNamespace())
    model = elastic_arm(1, 2) if elastic else driven_arm(1, joints=2)
    costs = SimpleNamespace(state=SimpleNamespace(nx=99), nu=99)
    springs = elastic and kind == "joint_torque"
    said = "command_type: is joint_torque, and springs move" if springs else "nx: is 99"
    with pytest.raises(ArrayError, match=said):
        gd.to_crocoddyl(model, costs, command_type=kind)


def test_wrong_costs_and_controls_are_refused() -> None:
    model = driven_arm(1, joints=2)
    with pytest.raises(UnknownNameError, match="voltage"):
        gd.to_crocoddyl(model, None, command_type="voltage")  # type: ignore[arg-type]
    costs = costs_of(2, 2, np.zeros(4))
    with pytest.raises(ArrayError, match=r"costs\.state\.nx: is 6; make the costs with 4"):
        gd.to_crocoddyl(model, costs_of(3, 2, np.zeros(6)))
    with pytest.raises(ArrayError, match=r"costs\.nu: is 3"):
        gd.to_crocoddyl(model, costs_of(2, 3, np.zeros(4)))
    with pytest.raises(ModelError, match="motors"):
        gd.to_crocoddyl(any_arm(2), costs)
    with pytest.raises(ArrayError, match="springs move the joints"):
        gd.to_crocoddyl(elastic_arm(1, 2), costs, command_type="joint_torque")
