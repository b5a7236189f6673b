"""Elastic forward dynamics beside the rigid one, and where elimination should begin.

Asked: six elastic joints, complete model, at most 3 x the rigid forward dynamics.

Run: make benchmark
"""

import numpy as np
from arms import drivetrain, rows
from timing import interleaved, verdict

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.elastic.equations import packed_springs
from geared_dynamics.dynamics.elimination_plan import DENSE, make_plan
from geared_dynamics.dynamics.packing import packed

LENGTHS = (3, 4, 5, 6, 7, 8, 9, 12, 18, 24)
LIMIT = 3.0  # times the rigid forward dynamics


def elastic_arm(joints: int = 6) -> gd.GearedModel:
    """The benchmark's arm with a motor and a spring on every joint."""
    drive = drivetrain(joints)
    names = [f"joint_{k + 1}" for k in range(joints)]
    drive["motors"] = {f"motor_{n}": {"wheel": f"rotor_{n[6:]}_1"} for n in names}
    drive["joints"] = {name: {"stiffness": 2.0e4, "damping": 3.0} for name in names}
    return gd.from_dh(rows(joints), drive, carrier_frame="joint")


def crossing() -> None:
    """Print both algorithms' times over the number of joints."""
    print("joints   dense [us]   elimination [us]")
    for n in LENGTHS:
        model = elastic_arm(n)
        arm, springs = model.with_springs(), packed_springs(model)
        arrays, plan = packed(arm), make_plan(arm)
        state = np.random.default_rng(n).normal(size=(6, n))
        out = np.empty(2 * n)

        def dense(m=arrays, s=springs, x=tuple(state), o=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.elastic_forward_dynamics(m, s, DENSE, *x, o)

        def eliminate(m=arrays, s=springs, p=plan, x=tuple(state), o=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.elastic_forward_dynamics(m, s, p, *x, o)

        times = interleaved({"dense": dense, "eliminate": eliminate}, rounds=30, calls=200)
        print(f"{n:6d} {times['dense'] * 1e6:12.2f} {times['eliminate'] * 1e6:18.2f}")


def beside_rigid() -> None:
    """Print the public functions beside the rigid ones on the six-joint arm."""
    model = elastic_arm()
    q, theta, v, vtheta, tau_m = np.random.default_rng(0).normal(size=(5, model.n))
    tau = 60.0 * tau_m
    rigid, both = np.empty(model.n), np.empty(2 * model.n)
    gd.forward_dynamics(model, q, v, tau)  # makes what the models keep
    gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), tau_m)
    times = interleaved(
        {
            "forward_dynamics": lambda: gd.forward_dynamics(model, q, v, tau, out=rigid),
            "elastic.forward_dynamics": lambda: gd.elastic.forward_dynamics(
                model, gd.State(q, v, theta, vtheta), tau_m, out=both
            ),
        },
        rounds=60,
    )
    for name, value in times.items():
        print(f"  {name:<26} {value * 1e6:6.2f} us per call")
    ratio = times["elastic.forward_dynamics"] / times["forward_dynamics"]
    print(verdict("six elastic joints / six rigid joints, forward dynamics", ratio, LIMIT))


if __name__ == "__main__":
    crossing()
    beside_rigid()
