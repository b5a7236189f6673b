"""Forward dynamics: factorised mass matrix against elimination, over chain lengths.

Shows whether geared_dynamics.dynamics.elimination_plan chooses right, for arms with each
rotor before its joint and for arms with all rotors on one link, and the public
function beside Pinocchio's aba (which has armature only).

Run: make benchmark
"""

from functools import partial

import numpy as np
import pinocchio as pin
from arms import armature, ours
from timing import interleaved

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.elimination_plan import DENSE, elimination_plan, make_plan
from geared_dynamics.dynamics.packing import packed

LENGTHS = (3, 6, 9, 12, 13, 15, 18, 24, 36, 48)


def crossing(carrier: str | None = None) -> None:
    """Print both algorithms' times over the number of joints, and which one is chosen."""
    print(f"rotors {'all on ' + carrier if carrier else 'before their joints'}")
    print("joints   dense [us]   elimination [us]   public [us]   chosen")
    for n in LENGTHS:
        model = ours(joints=n, carrier=carrier)
        arrays, plan = packed(model), make_plan(model)
        chosen = "dense" if elimination_plan(model) is DENSE else "elimination"
        q, v, tau = np.random.default_rng(n).normal(size=(3, n))
        out = np.empty(n)
        times = interleaved(
            {
                "dense": partial(kernels.forward_dynamics, arrays, q, v, tau, out),
                "eliminate": partial(kernels.eliminate, arrays, plan, q, v, tau, out),
                "public": partial(gd.forward_dynamics, model, q, v, tau, out=out),
            },
            rounds=30,
            calls=200,
        )
        dense, eliminate, public = (1e6 * times[side] for side in times)
        print(f"{n:6d} {dense:12.2f} {eliminate:18.2f} {public:13.2f}   {chosen}")


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
    crossing(carrier="link_1")
    beside_pinocchio()
