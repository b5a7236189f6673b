"""A time-optimal motion within voltage limits
===========================================

CasADi's solver (IPOPT) plans brisk6's motion with the complete model and with the armature model:
voltage, current, torque and speed of all motors and the joints' limits are kept, a tenth of each
is left to the controller. MuJoCo (our own equations where it is not installed) then moves the arm,
every rotor a body, by voltages: those planned, and a correction by joint errors. The figure
shows the voltages that both motions need, and the errors. Run it with a folder for the figure,
default figures/ beside it.
"""

import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import geared_dynamics as gd

try:
    import casadi as ca
except ImportError:
    raise SystemExit("this example needs the package casadi: pip install casadi") from None

URDF = Path(__file__).resolve().parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
START = np.array([-0.9, -0.2, 0.4, -0.8, -0.6, -1.0])  # [rad]
GOAL = np.array([0.9, 0.9, 1.3, 0.9, 0.9, 1.2])  # [rad]
SPANS = 30  # acceleration is linear in each
SHARE = 0.9  # of each limit, for the plan
STEP, LINGER = 1e-3, 0.3  # [s]
STIFFNESS = np.array([300.0, 400.0, 300.0, 40.0, 30.0, 15.0])  # [N m/rad]
DAMPING = np.array([30.0, 35.0, 25.0, 1.5, 1.0, 0.5])  # [N m s/rad]
# Friction changes its sign within a small speed, which keeps the solver from its tolerance: it may
# stop where steps change the energy by less than 2 % of 10 J.
LEAST_ENERGY = {
    "tol": 1e-5, "mu_strategy": "adaptive", "acceptable_tol": 1e-2, "acceptable_iter": 40,
    "acceptable_compl_inf_tol": 1e-4, "acceptable_constr_viol_tol": 1e-7,
    "acceptable_obj_change_tol": 0.02,
}  # fmt: skip


class Plan(NamedTuple):
    """A motion as accelerations (spans + 1, n) at equal times, linear between them."""

    span: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @property
    def duration(self) -> float:
        """From rest to rest [s]."""
        return self.span * (len(self.a) - 1)

    def at(self, t: np.ndarray) -> list[np.ndarray]:
        """Position, velocity, acceleration, jerk (k, n) at times t (k,); rest at the end."""
        k = np.minimum((t / self.span).astype(int), len(self.a) - 2)
        s = np.minimum(t - k * self.span, self.span)[:, None]
        jerk = (self.a[k + 1] - self.a[k]) / self.span
        a = self.a[k] + s * jerk
        v = self.v[k] + s * self.a[k] + s**2 / 2 * jerk
        q = self.q[k] + s * self.v[k] + s**2 / 2 * self.a[k] + s**3 / 6 * jerk
        over = (t >= self.duration)[:, None]
        return [q, *(np.where(over, 0.0, x) for x in (v, a, jerk))]


class Problem(NamedTuple):
    """A motion from START to GOAL within all limits; what is to be least is still open."""

    solver: ca.Opti
    span: ca.MX | float
    motion: tuple[ca.MX, ca.MX, ca.MX]  # q, v, a (n, spans + 1)
    commands: dict[str, ca.MX]


def stated(model: gd.GearedModel, span: float | None) -> Problem:
    """State the equations of motion and the limits; ``span`` None makes it an unknown."""
    n, solver = model.n, ca.Opti()
    h = solver.variable() if span is None else span
    q, v, a = (solver.variable(n, SPANS + 1) for _ in range(3))
    a0, a1 = a[:, :-1], a[:, 1:]
    solver.subject_to(v[:, 1:] == v[:, :-1] + h * (a0 + a1) / 2)
    solver.subject_to(q[:, 1:] == q[:, :-1] + h * v[:, :-1] + h**2 * (2 * a0 + a1) / 6)
    for x in (v, a):
        solver.subject_to(ca.vec(x[:, [0, SPANS]]) == 0.0)
    solver.subject_to(q[:, 0] == START)
    solver.subject_to(q[:, SPANS] == GOAL)
    commands = gd.to_casadi(model, "motor_commands").map(SPANS + 1).call({"q": q, "v": v, "a": a})
    for name, limit in zip(
        ("voltage", "current", "torque", "speed"), model.motors.limits.T, strict=True
    ):
        solver.subject_to(solver.bounded(-SHARE, ca.vec(commands[name] / limit), SHARE))
    solver.subject_to(solver.bounded(-SHARE, ca.vec(v / model.limits.velocity), SHARE))
    for k in range(n):
        solver.subject_to(solver.bounded(model.limits.lower[k], q[k, :].T, model.limits.upper[k]))
    return Problem(solver, h, (q, v, a), commands)


def solved(problem: Problem, guess_time: float, options: dict[str, object]) -> Plan:
    """Solve a problem from a smooth motion of ``guess_time`` [s]."""
    solver, span = problem.solver, problem.span
    first = gd.trajectory.rest_to_rest(START, GOAL, guess_time, continuous=2)
    guess = first.derivatives(np.linspace(0.0, guess_time, SPANS + 1), 2)
    for k, x in enumerate(problem.motion):
        solver.set_initial(x, guess[:, k].T)
    if not isinstance(span, float):
        solver.set_initial(span, guess_time / SPANS)
    quiet = {"print_level": 0, "sb": "yes", "max_iter": 600}
    solver.solver("ipopt", {"print_time": False, "expand": True}, quiet | options)
    solution = solver.solve()
    return Plan(float(solution.value(span)), *(solution.value(x).T for x in problem.motion))


def fastest(model: gd.GearedModel) -> Plan:
    """Plan the fastest motion that the model allows."""
    problem = stated(model, None)
    problem.solver.subject_to(problem.span >= 1e-3)
    problem.solver.minimize(SPANS * problem.span)
    return solved(problem, 1.5, {"tol": 1e-6})


def least_energy(model: gd.GearedModel, duration: float, *, recuperation: bool = True) -> Plan:
    """Plan the motion of least electrical energy in ``duration`` [s].

    Energy is the integral of the power, the sum of u i: copper losses R i^2, friction and
    mechanical work. With recuperation what flows back counts as gained; without, it is lost.
    """
    problem = stated(model, duration / SPANS)
    solver = problem.solver
    power = ca.sum1(problem.commands["voltage"] * problem.commands["current"])
    if not recuperation:
        drawn = solver.variable(1, SPANS + 1)
        solver.subject_to(ca.vec(drawn) >= 0.0)
        solver.subject_to(ca.vec(drawn - power) >= 0.0)
        power = drawn
    ends = (power[0] + power[SPANS]) / 2
    solver.minimize(problem.span * (ca.sum2(power) - ends) / 10.0)
    return solved(problem, duration, LEAST_ENERGY)


class Drive(NamedTuple):
    """What happened to a plan on the simulated arm."""

    errors: np.ndarray  # joint errors on the way (k, n) [rad]
    last: np.ndarray  # after LINGER at rest (n,) [rad]
    limited: float  # share of the time in which a motor's voltage was limited
    power: np.ndarray  # electrical, of all motors, in each step of the motion (k,) [W]


def driven(plan: Plan, model: gd.GearedModel, arm: gd.GearedModel, engine: str) -> Drive:
    """Drive a plan with the voltages of its model and a correction, on the arm itself."""
    plant = gd.simulation.Plant(arm, command="motor_voltage", engine=engine)
    t = np.arange(0.0, plan.duration + LINGER, STEP)
    q, v, _, _ = plan.at(t)
    middle, *rates, jerk = plan.at(t + STEP / 2)  # a voltage is held for a step
    fed = gd.motor_commands(model, middle, *rates, jerk=jerk).voltage
    per_torque = arm.motors.resistance / arm.motors.torque_constant
    limit = arm.motors.limits[:, 0]
    plant.reset(q[0])
    errors, limited, power = [], [], []
    for k in range(len(q)):
        state = plant.state
        errors.append(q[k] - state.q)
        correction = STIFFNESS * errors[-1] + DAMPING * (v[k] - state.v)
        u = fed[k] + per_torque * gd.motor_torques(arm, correction)
        limited.append(np.any(np.abs(u) > limit))
        u = np.clip(u, -limit, limit)
        plant.step(u, STEP)
        power.append(u @ (state.current + plant.state.current) / 2)
    moving = int(plan.duration / STEP)
    share = float(np.mean(limited[:moving]))
    return Drive(np.array(errors[:moving]), errors[-1], share, np.array(power[:moving]))


def engine_here() -> str:
    """MuJoCo where it is installed, else our own equations."""
    try:
        import mujoco  # noqa: F401
    except ImportError:
        return "equations"
    return "mujoco"


def picture(shown: dict[str, tuple[Plan, np.ndarray, np.ndarray]]) -> Path:
    """Draw each plan's voltages, as the arm needs them and as shares of the limits, and errors."""
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    panels = figure.subplots(2, len(shown), sharex=True, sharey="row")
    for (above, below), (name, (plan, voltage, errors)) in zip(
        panels.T, shown.items(), strict=True
    ):
        above.plot(plan.span * np.arange(SPANS + 1), 100.0 * voltage)
        for level in (-100.0, -100.0 * SHARE, 100.0 * SHARE, 100.0):
            above.axhline(level, color="0.5", linestyle=":" if abs(level) < 100.0 else "-")
        above.set_title(f"{name} model: voltage needed [% of limit]")
        below.plot(STEP * np.arange(len(errors)), 1e3 * errors)
        below.set(title="joint error [mrad]", xlabel="time [s]")
        for ax in (above, below):
            ax.grid(alpha=0.3)
    figure.legend([f"joint_{k}" for k in range(1, 7)], loc="outside lower center", ncols=6)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "optimal_motion.png", dpi=120)
    return folder / "optimal_motion.png"


def main() -> None:
    engine = engine_here()
    arm = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    voltage, current, _, _ = arm.motors.limits.T
    print(f"brisk6, six joints, plant: {engine}; limits within {SHARE:.0%} in the plan")
    print(f"{'model':<10}{'planned in':>12}{'duration':>10}{'voltage':>9}{'current':>9}", end="")
    print(f"{'limited':>9}{'error RMS':>11}{'peak':>7}{'at rest':>9}")
    shown = {}
    for name, coupling in (("armature", "diagonal"), ("complete", "complete")):
        model = arm.with_coupling(coupling)
        begin = perf_counter()
        plan = fastest(model)
        taken = perf_counter() - begin
        true = gd.motor_commands(arm, plan.q, plan.v, plan.a)
        need = np.abs([true.voltage / voltage, true.current / current]).max(axis=(1, 2))
        done = driven(plan, model, arm, engine)
        shown[name] = plan, true.voltage / voltage, done.errors
        rms = 1e3 * np.sqrt((done.errors**2).mean())
        peak, last = 1e3 * np.abs(done.errors).max(), 1e3 * np.abs(done.last).max()
        print(
            f"{name:<10}{taken:>10.1f} s{plan.duration:>8.3f} s{need[0]:>9.1%}{need[1]:>9.1%}",
            end="",
        )
        print(f"{done.limited:>9.1%}{rms:>6.2f} mrad{peak:>7.2f}{last:>9.2f}")
    print("saved", picture(shown))


if __name__ == "__main__":
    main()
