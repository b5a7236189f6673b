"""What a control cycle and a safety step cost on a six-joint arm, and whether memory grows.

Run: python benchmarks/control.py
"""

import itertools
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
from arms import drivetrain, rows
from timing import turn

import geared_dynamics as gd

control, safety = gd.control, gd.control.safety
LIMIT, SAFETY_LIMIT = 15.0, 10.0  # [us]
MOTOR = {"resistance": 0.8, "inductance": 1e-3, "torque_constant": 0.06}
FRICTION = {"viscous": 0.3, "coulomb": 0.8}


def arm() -> gd.GearedModel:
    """Six joints with friction, a skew rotor and a motor each."""
    drives = drivetrain(6)
    drives["motors"] = {
        f"motor_{k}": {"wheel": f"rotor_{k}_1", "friction": {"viscous": 1e-5, "coulomb": 0.01}}
        | MOTOR
        for k in range(1, 7)
    }
    drives["joints"] = {f"joint_{k}": {"friction": FRICTION} for k in range(1, 7)}
    return gd.from_dh(rows(), drives, carrier_frame="joint")


def cycles(model: gd.GearedModel) -> dict[str, Callable[[], object]]:
    """Control cycles by law and side."""
    q, v, a, jerk = np.random.default_rng(0).normal(size=(4, model.n))
    state = gd.State(q, v)
    reference = control.Reference(q + 0.01, v, a)
    plain = control.gains_from_bandwidth(20.0)
    integral = control.gains_from_bandwidth(20.0, integral=0.1, integral_limit=5.0)
    no_gravity = control.Terms(use_gravity_compensation=False, use_coriolis_compensation=False)
    made = {
        "feedforward": control.controller(model),
        "computed_torque": control.controller(model, "computed_torque", gains=plain),
        "computed_torque, integral": control.controller(model, "computed_torque", gains=integral),
        "computed_torque, switches": control.controller(
            model, "computed_torque", gains=plain, terms=no_gravity
        ),
        "pd_plus_feedforward": control.controller(model, "pd_plus_feedforward", gains=plain),
        "gravity_compensation": control.controller(model, "gravity_compensation"),
    }
    for side in ("motor_torque", "motor_current", "motor_voltage"):
        made[f"computed_torque, {side}"] = control.controller(
            model, "computed_torque", gains=plain, command_type=side
        )
    sides: dict[str, Callable[[], object]] = {
        name: partial(one.step, one.start(), state, reference, 1e-3) for name, one in made.items()
    }
    fast = reference._replace(jerk=jerk)
    one = made["computed_torque, motor_voltage"]
    sides["inverse_dynamics"] = partial(gd.inverse_dynamics, model, q, v, a)
    sides["computed_torque, motor_voltage, jerk"] = partial(
        one.step, one.start(), state, fast, 1e-3
    )
    return sides


def steps(model: gd.GearedModel) -> dict[str, Callable[[], object]]:
    """Safety steps; the fallback is free here, its cost is that of ``hold``."""
    q, v = np.random.default_rng(0).normal(size=(2, model.n)) * 0.1
    policy = safety.default_policy(
        model, command=500.0, command_rate=1e5, tracking=0.2, lower=-3.0, upper=3.0, velocity=3.0
    )
    wanted, weight = np.ones(model.n), np.zeros(model.n)
    one = control.controller(model, "computed_torque", gains=control.gains_from_bandwidth(20.0))

    def run(failed: bool, fallback: object) -> Callable[[], object]:
        memory, count = safety.START, itertools.count(1)

        def cycle() -> object:
            nonlocal memory
            now = 1e-3 * next(count)
            seen = safety.Observation(now, now, q, v, now, q, now, failed=failed)
            memory, decision = safety.step(policy, memory, seen, wanted, fallback)
            return decision

        return cycle

    return {
        "safety step, running": run(False, lambda *_: weight),
        "safety step, holding": run(True, lambda *_: weight),
        "hold": partial(one.hold, q, q, v),
    }


def quietest(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Least time per call [s] of interleaved rounds: other work on the machine only adds."""
    rounds, calls = 60, 100
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, call in sides.items():
            best[name] = min(best[name], turn(call, calls) / calls)
    return best


def growth(call: Callable[[], object], calls: int = 20_000) -> int:
    """Bytes that are held longer after many calls than before."""
    for _ in range(1000):
        call()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(calls):
        call()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


if __name__ == "__main__":
    robot = arm()
    laws, watch = cycles(robot), steps(robot)
    for name, value in quietest(laws | watch).items():
        asked = SAFETY_LIMIT if name.startswith("safety") else LIMIT
        print(f"  {name:<40} {value * 1e6:8.2f} us  (asked <= {asked:.0f})")
    for name in ("computed_torque, integral", "safety step, running"):
        print(f"  {name:<40} {growth((laws | watch)[name]):8d} bytes more after 20000 calls")
