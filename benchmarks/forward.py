"""Forward dynamics: factorised mass matrix against elimination, over chain lengths.

Shows where DENSE_LIMIT in geared_dynamics.dynamics.rigid should lie, and the
public function beside Pinocchio's aba (which has armature only).

Run: make benchmark
"""

import numpy as np
import pinocchio as pin
from arms import armature, ours
from timing import interleaved

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.elimination import elimination_plan
from geared_dynamics.dynamics.packing import packed

LENGTHS = (3, 6, 9, 12, 15, 18, 24, 36, 48)


def crossing() -> None:
    """Print both algorithms' times over the number of joints."""
    print("joints   dense [us]   elimination [us]")
    for n in LENGTHS:
        model = ours(joints=n)
        arrays, plan = packed(model), elimination_plan(model)
        q, v, tau = np.random.default_rng(n).normal(size=(3, n))
        out = np.empty(n)

        def dense(m=arrays, q=q, v=v, t=tau, o=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.forward_dynamics(m, q, v, t, o)

        def eliminate(m=arrays, p=plan, q=q, v=v, t=tau, o=out) -> int:  # type: ignore[no-untyped-def]
            return kernels.eliminate(m, p, q, v, t, o)

        times = interleaved({"dense": dense, "eliminate": eliminate}, rounds=30, calls=200)
        print(f"{n:6d} {times['dense'] * 1e6:12.2f} {times['eliminate'] * 1e6:18.2f}")


def beside_pinocchio() -> None:
    """Print the public functions beside Pinocchio's on the six-joint arm."""
    model, usual = ours(), armature()
    data = usual.createData()
    q, v, tau = np.random.default_rng(0).normal(size=(3, model.n))
    out, matrix = np.empty(model.n), np.empty((model.n, model.n))
    times = interleaved(
        {
            "aba": lambda: pin.aba(usual, data, q, v, tau),
            "forward_dynamics": lambda: gd.forward_dynamics(model, q, v, tau, out=out),
            "crba": lambda: pin.crba(usual, data, q),
            "mass_matrix": lambda: gd.mass_matrix(model, q, out=matrix),
            "computeCoriolisMatrix": lambda: pin.computeCoriolisMatrix(usual, data, q, v),
            "coriolis_matrix": lambda: gd.coriolis_matrix(model, q, v, out=matrix),
        },
        rounds=60,
    )
    for name, value in times.items():
        print(f"  {name:<22} {value * 1e6:6.2f} us per call")


if __name__ == "__main__":
    crossing()
    beside_pinocchio()
