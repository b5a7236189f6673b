"""Vukobratovic 2002 (20.40 to 20.60, corrected): a second oracle for arms without wheels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.bodies import coordinates
from naive.measure import error, examples
from naive.vukobratovic import Link, equations, extended_position, links_of, rodrigues
from random_robots import RobotCase, random_robot, random_state, robots

# Two summations of O(n) rounded terms in different orders, relative to the largest element.
ROUNDING = 1e-12
# What a mass that is 1 % off must cost in the same measure.
NEGATIVE = 1e-9

SEEDS = st.integers(0, 2**20)
GRAVITY = (1.0, -2.0, -9.0)

Row = dict[str, Any]


def distance(model: GearedModel, links: list[Link], q: Array, v: Array) -> Array:
    """Errors of M and of the bias forces; those relative to the arm's weight times 1 m too."""
    weight = np.abs(model.gravity).max() * model.tree.parameters[:, 0].sum()
    H, h = equations(links, q, v, model.gravity)
    M, bias = gd.mass_matrix(model, q), gd.bias_forces(model, q, v)
    return np.array([error(M, H), error(bias, h, weight)])


@examples(40)
@given(case=robots(wheels=0, mimics=0, fixed=0, branched=False, shuffled=False), seed=SEEDS)
def test_recursion_on_random_serial_arms(case: RobotCase, seed: int) -> None:
    model, (q, v, _) = case.load(), random_state(case.n, seed)
    assert model.joint_names == coordinates(model.records.robot)
    assert distance(model, links_of(model.records.robot), q, v).max() < ROUNDING


@examples(20)
@given(case=robots(mimics=0, fixed=0, branched=False, shuffled=False, included=True), seed=SEEDS)
def test_recursion_knows_no_spin(case: RobotCase, seed: int) -> None:
    """Wheels that the links contain, without spin terms, are nothing to the recursion."""
    model = gd.load_model(case.urdf, case.contained(), gravity=case.gravity)
    model = model.with_coupling("none")
    q, v, _ = random_state(case.n, seed)
    assert distance(model, links_of(model.records.robot), q, v).max() < ROUNDING


def test_recursion_notices_a_wrong_mass() -> None:
    case = random_robot(3, joints=4, wheels=0, branched=False, shuffled=False)
    model, (q, v, _) = case.load(), random_state(case.n, 3)
    *links, last = links_of(model.records.robot)
    heavier = [*links, replace(last, mass=1.01 * last.mass)]
    assert distance(model, heavier, q, v).min() > NEGATIVE


def random_rows(rng: np.random.Generator, count: int) -> list[Row]:
    """A table of Rodrigues geometry with sliding joints and specificities."""
    return [random_row(rng) for _ in range(count)]


def random_row(rng: np.random.Generator) -> Row:
    """One link; a third of the ends are specificities."""
    axis, below = (unit(rng.normal(size=3)) for _ in range(2))
    spread = rng.normal(size=(3, 3)) / 3
    spread = spread @ spread.T
    row: Row = {
        "kind": "prismatic" if rng.random() < 0.3 else "revolute",
        "axis": axis,
        "axis_below": below,
        "to_centre": rng.uniform(-0.4, 0.4, 3),
        "from_centre": rng.uniform(-0.4, 0.4, 3),
        "mass": float(rng.uniform(0.5, 5.0)),
        "tensor": np.trace(spread) * np.eye(3) - spread,
    }
    if row["kind"] == "prismatic":
        row["alpha"] = float(rng.uniform(-3, 3))
    for end, e in (("to_centre", axis), ("from_centre", below)):
        if rng.random() < 0.3:
            row[end] = e * rng.uniform(-0.4, 0.4)
            row[f"special_{end}"] = rng.normal(size=3)
    return row


def unit(vector: Array) -> Array:
    """The direction of a vector."""
    return np.asarray(vector / np.linalg.norm(vector))


def link_of(row: Row) -> Link:
    """A link as the twin wants it, its transformation by the paper's appendix."""
    below = row.get("special_from_centre", row["from_centre"])
    own = row.get("special_to_centre", row["to_centre"])
    extended = extended_position(row["axis_below"], row["axis"], below, own)
    return Link(
        sliding=row["kind"] == "prismatic",
        extended=rodrigues(row["axis_below"], row.get("alpha", 0.0), extended),
        axis=row["axis"],
        r_own=row["to_centre"],
        r_previous=row["from_centre"],
        mass=row["mass"],
        tensor=row["tensor"],
    )


@examples(40)
@given(count=st.integers(1, 7), seed=SEEDS)
def test_recursion_on_rodrigues_arms(count: int, seed: int) -> None:
    """Table to model by the package, table to transformations by the twin."""
    rows = random_rows(np.random.default_rng(seed), count)
    model = gd.from_rodrigues(rows, gravity=GRAVITY)
    q, v, _ = random_state(count, seed)
    assert distance(model, [link_of(row) for row in rows], q, v).max() < ROUNDING


@examples(10)
@given(count=st.integers(1, 7), seed=SEEDS)
def test_rodrigues_arm_survives_its_urdf(count: int, seed: int) -> None:
    rows = random_rows(np.random.default_rng(seed), count)
    text = gd.to_urdf(gd.from_rodrigues(rows, gravity=GRAVITY))
    model = gd.load_model(text, gravity=GRAVITY)
    q, v, _ = random_state(count, seed)
    assert distance(model, [link_of(row) for row in rows], q, v).max() < ROUNDING


def test_extended_position_is_zero() -> None:
    """A planar arm with both vectors along x is stretched out at q = 0."""
    row = {"axis": [0, 0, 1], "axis_below": [0, 0, 1], "mass": 1.0, "tensor": np.eye(3)}
    row |= {"to_centre": [0.5, 0, 0], "from_centre": [-0.5, 0, 0]}
    model = gd.from_rodrigues([row, row])
    tip = gd.pose(model, [0.0, 0.0], "link_2") @ [0.5, 0, 0, 1]
    np.testing.assert_allclose(tip, [2.0, 0, 0, 1], atol=ROUNDING)
