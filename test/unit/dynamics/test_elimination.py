"""Which way forward dynamics takes, and that both ways lead to the same acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics import kernels
from geared_dynamics.dynamics.elimination_plan import DENSE, elimination_plan, make_plan
from geared_dynamics.dynamics.packing import packed

WHEEL = {"axis": [0.6, 0.0, 0.8], "mass": 0.3, "inertia": {"axial": 2e-4}}


def arm(n: int, carrier: str | None = None) -> gd.GearedModel:
    """Serial arm with a rotor per joint, on the link before it or all on one link."""
    row: dict[str, Any] = {"a": 0.1, "alpha": 0.7, "d": 0.1, "mass": 1.0}
    row |= {"com": (-0.05, 0.01, -0.02), "tensor": np.diag([0.02, 0.03, 0.025])}
    links = ["base", *[f"link_{k + 1}" for k in range(n)]]
    wheels = {f"rotor_{k}": WHEEL | {"carrier": carrier or links[k]} for k in range(n)}
    spins = [{"wheel": f"rotor_{k}", "joint": f"joint_{k + 1}", "ratio": 60} for k in range(n)]
    drives = {"version": 1, "wheels": wheels, "spins": spins}
    return gd.from_dh([row] * n, drives, carrier_frame="joint")


@pytest.mark.parametrize(
    ("n", "carrier", "dense"),
    [(12, None, True), (13, None, False), (40, None, False), (24, "link_1", True)],
)
def test_choice(n: int, carrier: str | None, dense: bool) -> None:
    """O(n) beyond twelve, unless nearly all coordinates stay open to one link."""
    assert (elimination_plan(arm(n, carrier)) is DENSE) == dense


@pytest.mark.parametrize("carrier", [None, "link_1", "link_14"])
def test_both_ways_agree(carrier: str | None) -> None:
    model = arm(14, carrier)
    q, v, tau = np.random.default_rng(0).normal(size=(3, 5, 14))
    dense, eliminated = np.empty_like(q), np.empty_like(q)
    form = packed(model)
    assert kernels.forward_dynamics(form, q, v, tau, dense) == 0
    assert kernels.eliminate(form, make_plan(model), q, v, tau, eliminated) == 0
    np.testing.assert_allclose(eliminated, dense, rtol=1e-9)
    np.testing.assert_allclose(gd.forward_dynamics(model, q, v, tau), dense, rtol=1e-9)
    one = np.empty(14)
    assert gd.forward_dynamics(model, q[3], v[3], tau[3], out=one) is one
    np.testing.assert_allclose(one, dense[3], rtol=1e-9)


def test_many_open_coordinates() -> None:
    """Work space of megabytes (this ended in a segmentation fault)."""
    model = arm(100, "link_50")
    q, v, tau = np.random.default_rng(1).normal(size=(3, 100))
    out = np.empty(100)
    assert kernels.eliminate(packed(model), make_plan(model), q, v, tau, out) == 0
    np.testing.assert_allclose(gd.forward_dynamics(model, q, v, tau), out, rtol=1e-6)
