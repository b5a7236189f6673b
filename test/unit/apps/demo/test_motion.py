"""The demanding motion: exact derivatives, rest at both ends, within every limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.apps.demo_motion import (
    LENGTH,
    WORK,
    demanding,
    effort_of_motion,
    swing,
    waypoint_times,
)

URDF = Path(__file__).resolve().parents[4] / "urdf"


def robot(name: str) -> gd.GearedModel:
    return gd.load_model(URDF / f"{name}.urdf", URDF / f"{name}.drivetrain.yaml")


@pytest.fixture(scope="module")
def brisk() -> gd.GearedModel:
    return robot("brisk6")


def test_velocity_and_acceleration_are_derivatives(brisk: gd.GearedModel) -> None:
    wanted, h = swing(brisk), 1e-5
    times = np.linspace(0.01, LENGTH - 0.01, 301)
    later, now, before = (wanted.at(times + d, 1.2) for d in (h, 0.0, -h))
    np.testing.assert_allclose((later.q - before.q) / (2 * h), now.v, atol=1e-7)
    np.testing.assert_allclose((later.v - before.v) / (2 * h), now.a, atol=1e-5)


def test_it_begins_and_ends_at_rest(brisk: gd.GearedModel) -> None:
    motion = demanding(brisk)
    for row in (0, -1):
        np.testing.assert_array_equal(motion.v[row], 0.0)
        np.testing.assert_array_equal(motion.a[row], 0.0)
        np.testing.assert_allclose(motion.q[row], swing(brisk).middle, atol=1e-15)


def test_it_stays_within_the_joints_ranges(brisk: gd.GearedModel) -> None:
    q = demanding(brisk).q
    limits = [
        joint.limit for joint in brisk.records.robot.joints if joint.name in brisk.joint_names
    ]
    for k, limit in enumerate(limits):
        assert limit is not None
        assert limit.lower + 0.1 < q[:, k].min()
        assert q[:, k].max() < limit.upper - 0.1


def test_the_tightest_limit_is_used_as_far_as_wanted(brisk: gd.GearedModel) -> None:
    motion = demanding(brisk)
    assert effort_of_motion(brisk, *motion[1:]) == pytest.approx(WORK, abs=1e-3)
    faster = swing(brisk).at(waypoint_times(), 1.6)
    assert effort_of_motion(brisk, *faster[1:]) > WORK


ONE_JOINT = """<robot name="arm"><link name="base"/>
<link name="link"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="{kind}"><parent link="base"/><child link="link"/><axis xyz="0 0 1"/>
<limit {range} effort="9" velocity="9"/></joint></robot>"""


@pytest.mark.parametrize("size", [1.0, 0.5])
@pytest.mark.parametrize(
    ("limits", "centre", "lean", "amplitude"),
    [
        (None, 0.0, 0.2, lambda room: 0.8),
        ((-1.0, 2.0), 0.5, 0.6, lambda room: min(0.8, 0.7 * room)),  # a fifth of its range
        ((1.0, 3.0), 2.0, 0.4, lambda room: min(0.8, 0.7 * room)),
        ((-3.0, 2.0), -0.5, 0.6, lambda room: 0.8),  # no further than 0.6
    ],
)
def test_where_and_how_far_a_joint_swings(
    limits: tuple[float, float] | None,
    centre: float,
    lean: float,
    amplitude: Callable[[float], float],
    size: float,
) -> None:
    """About a bent middle, within 70 % of the room that is left beside it."""
    kind = "continuous" if limits is None else "revolute"
    given = "" if limits is None else f'lower="{limits[0]}" upper="{limits[1]}"'
    found = swing(gd.load_model(ONE_JOINT.format(kind=kind, range=given)), size)
    assert found.middle.tolist() == [pytest.approx(centre + size * lean)]
    room = np.inf if limits is None else limits[1] - found.middle[0]
    assert found.amplitude.tolist() == [pytest.approx(size * amplitude(room))]


def test_an_arm_that_cannot_carry_itself_bent_swings_less() -> None:
    manutec = robot("manutec_r3")
    motion = demanding(manutec)
    assert effort_of_motion(manutec, *motion[1:]) <= WORK
    assert np.ptp(motion.q) < np.ptp(swing(manutec).at(waypoint_times()).q)
