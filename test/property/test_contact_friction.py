"""Coulomb friction of several surfaces at once: each contact's own law, at rest and sliding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from long_cases import cases
from naive.bodies import Array
from random_parts import unit_vector
from random_robots import random_robot, random_state

contact = gd.contact


def friction_state(
    seed: int, count: int, *, edge: bool, sliding: bool = False
) -> tuple[gd.GearedModel, list[Any], Array, Array, Array]:
    """An arm against surfaces, under gravity and torques: at rest, or along all of them.

    On an edge one frame touches all surfaces; else each a frame of its own, which may have few
    directions to move in.
    """
    model = random_robot(seed % 60, joints=6, wheels=6).load()
    q, v, tau = random_state(model.n, seed)
    rng = np.random.default_rng(seed)
    surfaces = []
    for link in [model.body_names[-1 - (0 if edge else 2 * k)] for k in range(count)]:
        place = gd.pose(model, q, link)[:3, 3]
        surfaces.append(contact.Surface(link, place, unit_vector(rng)))
    J = contact.coordinates(model, surfaces, q, v, free=False).jacobian
    v = (v - np.linalg.pinv(J) @ J @ v) if sliding else 0.0 * v
    return model, surfaces, q, v, 20.0 * tau


def coulomb_kinds(
    model: gd.GearedModel, surfaces: list[Any], q: Array, tau: Array, mu: float
) -> set[str]:
    """Check each contact's own law at rest; what the contacts do."""
    v, kinds = np.zeros(model.n), set()
    found = contact.constrained_dynamics(model, surfaces, q, v, tau, friction=mu)
    weight = np.abs(found.wrench[:, :3]).max(initial=1.0)
    push = sum(
        gd.jacobian(model, q, s.frame).T @ w for s, w in zip(surfaces, found.wrench, strict=True)
    )
    a = gd.forward_dynamics(model, q, v, tau + push)
    np.testing.assert_allclose(found.a, a, atol=1e-9 * (1 + np.abs(a).max()))
    for s, wrench in zip(surfaces, found.wrench, strict=True):
        normal = float(s.normal @ wrench[:3])
        along = wrench[:3] - normal * s.normal
        point = gd.jacobian(model, q, s.frame)[:3] @ a
        parting = float(s.normal @ point)
        slipping = point - parting * s.normal
        size = 1e-8 * (1.0 + np.abs(point).max())
        assert normal >= 0.0
        assert parting >= -size
        assert normal * parting <= size * weight
        assert np.linalg.norm(along) <= mu * normal + 1e-9 * weight
        if normal <= 1e-12 * weight:
            kinds.add("free")
        elif np.linalg.norm(slipping) <= size:
            kinds.add("sticks")
        else:
            kinds.add("slides")
            cosine = along @ slipping / (mu * normal * np.linalg.norm(slipping))
            np.testing.assert_allclose(cosine, -1.0, atol=1e-7)
    return kinds


@pytest.mark.parametrize("edge", [True, False], ids=["edge", "frames"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seeds", cases([range(45)], [range(45, 90)]), ids=str)
def test_coulombs_conditions_at_rest(count: int, edge: bool, seeds: range) -> None:
    """Sticking, beginning to slide and parting; an arm at rest never jams, whatever rubs."""
    kinds: set[str] = set()
    for seed in seeds:
        model, surfaces, q, _, tau = friction_state(seed, count, edge=edge)
        try:
            kinds |= coulomb_kinds(model, surfaces, q, tau, (0.1, 0.6, 1.0)[seed % 3])
        except gd.GearedDynamicsError as error:
            assert edge
            assert "depends" in str(error)  # noqa: PT017
    assert kinds == {"free", "sticks", "slides"}


def sliding_forces(
    model: gd.GearedModel, surfaces: list[Any], q: Array, v: Array, tau: Array, mu: float
) -> list[Array]:
    """All sets of normal forces that satisfy the conditions of surfaces that slide."""
    J, pull, drift = [], [], []
    for s in surfaces:
        moving = gd.jacobian(model, q, s.frame)[:3]
        along = moving @ v - s.normal * (s.normal @ moving @ v)
        J.append(s.normal @ moving)
        pull.append((s.normal - mu * along / np.linalg.norm(along)) @ moving)
        drift.append(s.normal @ gd.jacobian_drift(model, q, v, s.frame)[:3])
    free = gd.forward_dynamics(model, q, v, tau)
    G = np.array(J) @ np.linalg.solve(gd.mass_matrix(model, q), np.array(pull).T)
    b = np.array(J) @ free + drift
    solutions = []
    for chosen in range(1 << len(surfaces)):
        on = [k for k in range(len(surfaces)) if chosen >> k & 1]
        F = np.zeros(len(surfaces))
        part = G[np.ix_(on, on)]
        if on and np.linalg.cond(part) > 1e12:
            continue  # two normals in one line: each set of one holds what both would
        F[on] = np.linalg.solve(part, -b[on])
        if (F >= 0.0).all() and (G @ F + b >= -1e-9 * np.abs(b).max()).all():
            solutions.append(F)
    return solutions


@pytest.mark.parametrize("edge", [True, False], ids=["edge", "frames"])
@pytest.mark.parametrize("seeds", cases([range(40, 120)], [range(200)]), ids=str)
def test_sliding_jams_only_where_no_force_exists(edge: bool, seeds: range) -> None:
    """Two surfaces that are slid along: of all sets that may push, one that satisfies all."""
    jammed = 0
    for seed in seeds:
        model, surfaces, q, v, tau = friction_state(seed, 2, edge=edge, sliding=True)
        mu = (0.2, 0.6, 1.0)[seed % 3]
        known = sliding_forces(model, surfaces, q, v, tau, mu)
        try:
            found = contact.constrained_dynamics(model, surfaces, q, v, tau, friction=mu)
        except gd.GearedDynamicsError as error:
            if "depends" in str(error):
                continue
            assert "jams" in str(error)  # noqa: PT017
            assert not known
            jammed += 1
            continue
        scale = np.abs(found.force).max() + 1.0
        distances = [np.abs(found.force - F).max() / scale for F in known]
        # The surfaces' own stabilisation acts on rounding of s.
        assert min(distances) < 1e-7
    assert jammed > 0
