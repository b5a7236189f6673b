"""What must not matter: the frame of the root, the order in the files, loading twice."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.model.model import GearedModel
from naive.measure import error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Reordered sums and one more rotation, relative to the largest element.
ROUNDING = 1e-12
# What a wrong rotation or order must cost in the same measure.
NEGATIVE = 1e-4

SEEDS = st.integers(0, 2**20)
# Turn of 1.1 rad about z, then origin of the old root in the new one.
YAW, OFFSET = 1.1, "0.3 -0.8 1.7"
TURN = np.array([[np.cos(YAW), -np.sin(YAW), 0], [np.sin(YAW), np.cos(YAW), 0], [0, 0, 1]])


def results(model: GearedModel, q: Array, v: Array, a: Array) -> dict[str, Array]:
    """M, C, g, tau, and M times the acceleration that tau gives: what has a row per joint."""
    M = gd.mass_matrix(model, q)
    tau = gd.inverse_dynamics(model, q, v, a)
    return {
        "M": M,
        "C": gd.coriolis_matrix(model, q, v),
        "g": gd.gravity_forces(model, q),
        "tau": tau,
        "Ma": M @ gd.forward_dynamics(model, q, v, tau),
    }


def worst(one: dict[str, Array], other: dict[str, Array]) -> float:
    """Largest of the errors; forces relative to the largest force, C also to M."""
    scales = {"C": other["M"], "g": other["tau"], "tau": other["Ma"], "Ma": other["tau"]}
    return max(error(one[key], other[key], scales.get(key, 0.0)) for key in one)


def on_a_turned_base(case: RobotCase, gravity: Any) -> GearedModel:
    """The robot screwed to a new root, turned and moved."""
    screws = (
        f'<link name="hall"/><joint name="screws" type="fixed"><origin xyz="{OFFSET}" '
        f'rpy="0 0 {YAW!r}"/><parent link="hall"/><child link="base"/></joint></robot>'
    )
    urdf = case.urdf.replace("</robot>", screws)
    return gd.load_model(urdf, case.drivetrain, gravity=tuple(gravity))


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_root_frame_does_not_matter(case: RobotCase, seed: int) -> None:
    state = random_state(case.n, seed)
    turned = on_a_turned_base(case, TURN @ case.gravity)
    assert worst(results(turned, *state), results(case.load(), *state)) < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_turning_the_base_alone_matters(seed: int) -> None:
    case, state = random_robot(seed), random_state(6, seed)
    turned = on_a_turned_base(case, case.gravity)
    assert worst(results(turned, *state), results(case.load(), *state)) > NEGATIVE


def reordered(case: RobotCase, model: GearedModel) -> tuple[GearedModel, Array]:
    """The robot with its URDF and drivetrain turned upside down, and the joints' order."""
    head, *parts, tail, _ = case.urdf.split("\n")
    urdf = "\n".join([head, *parts[::-1], tail])
    drive = dict(case.drivetrain)
    drive["wheels"] = dict(reversed(list(drive["wheels"].items())))
    drive["spins"] = drive["spins"][::-1]
    other = gd.load_model(urdf, drive, gravity=case.gravity)
    return other, np.array([model.joint_names.index(name) for name in other.joint_names])


def permuted(values: dict[str, Array], order: Array) -> dict[str, Array]:
    """Rows, and columns of matrices, in another order."""
    return {k: x[np.ix_(*[order] * x.ndim)] for k, x in values.items()}


@examples(40)
@given(case=robots(), seed=SEEDS)
def test_order_in_the_files_permutes_the_results(case: RobotCase, seed: int) -> None:
    model, state = case.load(), random_state(case.n, seed)
    other, order = reordered(case, model)
    found = results(other, *(x[order] for x in state))
    assert worst(found, permuted(results(model, *state), order)) < ROUNDING
    assert other.wheel_names == model.wheel_names[::-1]


def test_order_is_not_ignored() -> None:
    case = random_robot(1)
    model, state = case.load(), random_state(case.n, 1)
    other, order = reordered(case, model)
    assert not np.array_equal(order, np.arange(case.n))
    assert worst(results(other, *state), results(model, *state)) > NEGATIVE


@examples(20)
@given(case=robots())
def test_loading_twice_gives_equal_arrays(case: RobotCase) -> None:
    one, other = case.load(), case.load()
    for part in ("tree", "wheels", "tree.limits", "wheels.alone"):
        first, second = (attrgetter(part)(model) for model in (one, other))
        for field in fields(first):
            values = [getattr(x, field.name) for x in (first, second)]
            if not is_dataclass(values[0]):
                np.testing.assert_array_equal(*values)
    assert one.records == other.records


def test_models_are_frozen() -> None:
    model = random_robot(0).load()
    for array in (model.Gamma, model.J, model.gravity, model.structure_matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        model.name = "other"
    assert replace(model, name="other").name == "other"
