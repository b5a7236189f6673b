"""What one call of each public function costs on a six-joint arm, and what is done once.

Run: make benchmark
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from arms import ours
from timing import interleaved

import geared_dynamics as gd

TENSOR = np.diag([0.01, 0.01, 0.01])


def calls() -> dict[str, Callable[[], object]]:
    """Every function of one state, with and without a given output."""
    model, frame = ours(), "link_6"
    n = model.n
    q, v, a = np.random.default_rng(0).normal(size=(3, n))
    columns = len(gd.parameter_names(model))
    with_output = {
        "inverse_dynamics": (partial(gd.inverse_dynamics, model, q, v, a), (n,)),
        "forward_dynamics": (partial(gd.forward_dynamics, model, q, v, a), (n,)),
        "mass_matrix": (partial(gd.mass_matrix, model, q), (n, n)),
        "coriolis_matrix": (partial(gd.coriolis_matrix, model, q, v), (n, n)),
        "gravity_forces": (partial(gd.gravity_forces, model, q), (n,)),
        "pose": (partial(gd.pose, model, q, frame), (4, 4)),
        "jacobian": (partial(gd.jacobian, model, q, frame), (6, n)),
        "jacobian_drift": (partial(gd.jacobian_drift, model, q, v, frame), (6,)),
        "regressor": (partial(gd.regressor, model, q, v, a), (n, columns)),
    }
    wrenches = np.ones((n, 6))
    sides: dict[str, Callable[[], object]] = {
        "inverse_dynamics, f_ext": partial(gd.inverse_dynamics, model, q, v, a, wrenches),
        "external_forces": partial(gd.external_forces, model, q, wrenches),
        "kinetic_energy": partial(gd.kinetic_energy, model, q, v),
        "potential_energy": partial(gd.potential_energy, model, q),
        "with_payload": partial(model.with_payload, 1.0, (0.0, 0.0, 0.1), TENSOR, link="link_6"),
        "with_payload and first call": lambda: gd.inverse_dynamics(
            model.with_payload(1.0, (0.0, 0.0, 0.1), TENSOR, link="link_6"), q, v, a
        ),
    }
    for name, (function, shape) in with_output.items():
        sides[name] = function
        sides[f"{name}, out"] = partial(function, out=np.empty(shape))
    return sides


def once() -> None:
    """Print what is done once for a long arm."""
    long = ours(joints=40)
    text = gd.to_urdf(ours(joints=500))
    for name, function in {
        "base_parameters, 40 joints": lambda: gd.base_parameters(long),
        "load_model, 500 joints": lambda: gd.load_model(text),
    }.items():
        spent = []
        for _ in range(3):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
        print(f"  {name:<28} {statistics.median(spent):8.2f} s")


if __name__ == "__main__":
    for name, value in sorted(interleaved(calls(), rounds=30, calls=60).items()):
        print(f"  {name:<28} {value * 1e6:8.2f} us")
    once()
