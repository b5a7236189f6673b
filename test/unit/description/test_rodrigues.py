"""Rodrigues geometry of Vukobratovic 2002 against hand geometry and its own equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geared_dynamics.description.robot_records import LinkRecord
from geared_dynamics.description.rodrigues import RodriguesRow, robot_from_rodrigues
from geared_dynamics.errors import DescriptionError, UnknownNameError

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def planar(**changes) -> list[RodriguesRow]:
    """Two links in a plane, centres of mass half-way: lengths 1 and 0.6, base behind S_1."""
    first = RodriguesRow(Z, Z, to_centre=(0.5, 0, 0), from_centre=(-0.2, 0, 0), mass=2)
    second = {"axis": Z, "axis_below": Z, "to_centre": (0.3, 0, 0), "from_centre": (-0.5, 0, 0)}
    return [first, RodriguesRow(**{**second, "mass": 1, **changes})]


def centres(robot, poses) -> dict[str, np.ndarray]:
    return {
        link.name: (poses[link.name] @ [*link.inertia.com, 1])[:3]
        for link in robot.links
        if link.inertia is not None
    }


def test_extended_arm_lies_stretched_out(kinematics) -> None:
    robot = robot_from_rodrigues(planar(), name="planar")
    assert robot.name == "planar"
    where = centres(robot, kinematics(robot, {}))
    np.testing.assert_allclose(where["link_1"], [0.7, 0, 0], atol=1e-15)
    np.testing.assert_allclose(where["link_2"], [1.5, 0, 0], atol=1e-15)


def test_positive_angles_turn_about_the_axis(kinematics) -> None:
    robot = robot_from_rodrigues(planar())
    where = centres(robot, kinematics(robot, {"joint_1": np.pi / 2, "joint_2": -np.pi / 2}))
    np.testing.assert_allclose(where["link_1"], [0.2, 0.5, 0], atol=1e-15)
    np.testing.assert_allclose(where["link_2"], [0.5, 1.0, 0], atol=1e-15)


def test_links_frame_may_be_turned_as_one_likes(kinematics) -> None:
    """The same arm with link 2's own frame turned: x_2 against the base's z."""
    tensor = np.diag([1.0, 2.0, 3.0])
    robot = robot_from_rodrigues(planar(axis=X, to_centre=(0, 0, 0.3), tensor=tensor))
    poses = kinematics(robot, {"joint_2": np.pi / 2})
    np.testing.assert_allclose(centres(robot, poses)["link_2"], [1.2, 0.3, 0], atol=1e-15)
    # Stretched: x_2 = z, z_2 = x, hence y_2 = -y; after a quarter turn z_2 = y, y_2 = x.
    np.testing.assert_allclose(poses["link_2"][:3, :3].T, [Z, X, Y], atol=1e-15)
    assert robot.joints[1].axis == X
    body = robot.links[2].inertia
    assert body is not None
    assert body.tensor == ((1, 0, 0), (0, 2, 0), (0, 0, 3))


def test_linear_joint_slides_along_its_axis_turned_by_alpha(kinematics) -> None:
    row = {"kind": "prismatic", "alpha": np.pi / 2}
    robot = robot_from_rodrigues(planar(**row))
    poses = kinematics(robot, {"joint_2": 0.4})
    # The zero point S' lies at x = 1.2; the link points along y, lifted by q along z.
    np.testing.assert_allclose(centres(robot, poses)["link_2"], [1.2, 0.3, 0.4], atol=1e-15)


def test_specificity_vectors_stand_in_for_parallel_ones(kinematics) -> None:
    """A vertical first link: both r along e, so x of base and link define the zero."""
    row = RodriguesRow(
        Z,
        Z,
        to_centre=(0, 0, 0.5),
        from_centre=(0, 0, -0.1),
        mass=1,
        special_to_centre=X,
        special_from_centre=(-1, 0, 0),
    )
    robot = robot_from_rodrigues([row])
    np.testing.assert_allclose(robot.joints[0].rotation, np.eye(3), atol=1e-15)
    where = centres(robot, kinematics(robot, {"joint_1": 0.3}))
    np.testing.assert_allclose(where["link_1"], [0, 0, 0.6], atol=1e-15)


VECTORS = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1)
RANDOM = st.builds(
    RodriguesRow,
    axis=VECTORS,
    axis_below=VECTORS,
    to_centre=VECTORS,
    from_centre=VECTORS,
    mass=st.just(1.0),
    kind=st.sampled_from(["revolute", "prismatic"]),
).filter(
    lambda row: (
        np.linalg.norm(np.cross(row.axis, row.to_centre)) > 0.05
        and np.linalg.norm(np.cross(row.axis_below, row.from_centre)) > 0.05
    )
)


def extended(row: RodriguesRow) -> np.ndarray:
    """(20.101)-(20.106) as printed, with the inverse."""
    e, below = (np.array(v) / np.linalg.norm(v) for v in (row.axis, row.axis_below))
    a = np.cross(e, np.cross(row.to_centre, e))
    a_below = -np.cross(below, np.cross(row.from_centre, below))
    a, a_below = a / np.linalg.norm(a), a_below / np.linalg.norm(a_below)
    left = np.column_stack([below, a_below, np.cross(below, a_below)])
    return left @ np.linalg.inv(np.column_stack([e, a, np.cross(e, a)]))


@given(rows=st.lists(RANDOM, min_size=1, max_size=5), seed=st.integers(0, 100))
def test_papers_recursion_of_centres(kinematics, rotation, rows, seed) -> None:
    """(20.25) r_cj = r_c(j-1) - r_(j-1,j) + r'_(j,j), turned by (20.108)-(20.111)."""
    q = np.random.default_rng(seed).uniform(-2, 2, len(rows))
    robot = robot_from_rodrigues(rows)
    poses = kinematics(robot, {f"joint_{i + 1}": value for i, value in enumerate(q)})
    where = centres(robot, poses)
    turn, centre = np.eye(3), np.zeros(3)
    for number, (row, value) in enumerate(zip(rows, q, strict=True), start=1):
        linear = row.kind == "prismatic"
        below = np.array(row.axis_below) / np.linalg.norm(row.axis_below)
        joint = centre - turn @ row.from_centre
        relative = extended(row)
        if not linear:
            relative = rotation(below, value) @ relative
        axis = turn @ below
        turn = turn @ relative
        centre = joint + turn @ row.to_centre + (value * axis if linear else 0.0)
        np.testing.assert_allclose(where[f"link_{number}"], centre, atol=1e-12)
        np.testing.assert_allclose(poses[f"link_{number}"][:3, :3], turn, atol=1e-12)


def test_names_and_dict_rows() -> None:
    row = {"axis": Z, "axis_below": Z, "to_centre": X, "from_centre": X, "link": "a", "joint": "b"}
    robot = robot_from_rodrigues([row], base="ground")
    assert robot.links == (LinkRecord("ground"), LinkRecord("a"))
    assert robot.joints[0].name == "b"


@pytest.mark.parametrize(
    ("changes", "error", "fragments"),
    [
        ({"axis": (0, 0, 0)}, DescriptionError, ("rows[1].axis", "zero", "unit length")),
        ({"axis_below": (0, 0, 0)}, DescriptionError, ("rows[1].axis_below", "zero")),
        ({"axis": (0, 0)}, DescriptionError, ("rows[1].axis", "three numbers")),
        ({"to_centre": (0, 0, 1)}, DescriptionError, ("rows[1].to_centre", "'special_to_centre'")),
        ({"to_centre": (0, 0, 0)}, DescriptionError, ("rows[1].to_centre", "zero or parallel")),
        ({"from_centre": Z}, DescriptionError, ("rows[1].from_centre", "'special_from_centre'")),
        ({"special_to_centre": Z}, DescriptionError, ("special_to_centre", "give another")),
        ({"from_centre": (0, float("nan"), 0)}, DescriptionError, ("from_centre[1]", "finite")),
        ({"alpha": 0.1}, DescriptionError, ("rows[1].alpha", "revolute", "leave alpha at 0")),
        ({"alpha": float("nan")}, DescriptionError, ("rows[1].alpha", "finite")),
        ({"kind": "linear"}, UnknownNameError, ("rows[1].kind", "prismatic")),
        ({"mass": -1}, DescriptionError, ("rows[1].mass", "negative")),
        ({"link": "base"}, DescriptionError, ("link 'base'", "rename")),
    ],
)
def test_bad_rows_are_refused(changes, error, fragments, refused) -> None:
    refused(lambda: robot_from_rodrigues(planar(**changes)), error, *fragments)
