"""Exciting motions keep to the limits and are better than chance; files are read back."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.excitation import (
    Fourier,
    at_rest,
    excite,
    limits_of,
    scaled_columns,
    trajectory_yaml,
    weakest_of,
    within,
    write_trajectory_bag,
)
from geared_dynamics.analysis.parameter_columns import base_columns, column_names
from geared_dynamics.description.yaml_files import read_data
from geared_dynamics.errors import GearedDynamicsError
from recorded_motions import ROBOTS, elbow

MODEL = elbow()
FOUND = excite(MODEL, duration=10.0, starts=6, changes=40)


def test_derivatives_are_those_of_the_position() -> None:
    t, h = np.linspace(0.0, 10.0, 50), 1e-4
    q, v, a = FOUND.motion.at(t)
    before, after = FOUND.motion.at(t - h), FOUND.motion.at(t + h)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), v, atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-6)
    assert np.isfinite(q).all()


def test_it_starts_and_ends_at_rest() -> None:
    for time in (0.0, 10.0, 20.0):
        q, v, a = FOUND.motion.at(np.array([time]))
        np.testing.assert_allclose(q[0], FOUND.motion.centre, atol=1e-9)
        np.testing.assert_allclose([v, a], 0.0, atol=1e-9)


def test_it_keeps_to_all_limits_and_uses_one() -> None:
    limits = limits_of(MODEL, 5.0)
    q, v, a = FOUND.motion.at(np.linspace(0.0, 10.0, 5000))
    assert (q >= limits.lower).all()
    assert (q <= limits.upper).all()
    assert (np.abs(v) <= limits.speed).all()
    assert (np.abs(a) <= limits.acceleration).all()
    tau = np.abs(gd.inverse_dynamics(MODEL, q, v, a))
    assert (tau <= limits.torque).all()
    reach = [np.ptp(q, axis=0) / (limits.upper - limits.lower)]
    reach += [np.abs(v).max(0) / limits.speed, np.abs(a).max(0) / limits.acceleration]
    reach.append(tau.max(axis=0) / limits.torque)
    assert np.max(reach) > 0.7


def with_limit(effort: float, joint: int = 1) -> bytes:
    """The elbow arm's URDF with another effort limit of one joint."""
    parts = re.split(r'effort="[^"]*"', (ROBOTS / "elbow.urdf").read_text("utf-8"))
    kept = re.findall(r'effort="[^"]*"', (ROBOTS / "elbow.urdf").read_text("utf-8"))
    kept[joint] = f'effort="{effort}"'
    return "".join(a + b for a, b in zip(parts, [*kept, ""], strict=True)).encode()


def drives(**joints: object) -> dict[str, object]:
    """The elbow arm's drivetrain with more about its joints."""
    return {**read_data(ROBOTS / "elbow.drivetrain.yaml")[0], "joints": joints}


def test_no_motion_beyond_the_effort_limits_is_returned() -> None:
    weak = gd.load_model(with_limit(0.5), ROBOTS / "elbow.drivetrain.yaml")
    with pytest.raises(GearedDynamicsError) as error:
        excite(weak, duration=10.0, starts=3, changes=3)
    text = str(error.value)
    assert "joint 'joint_2': the effort limit is 0.5 N m" in text
    needed = float(re.search(r"needs ([0-9.]+) N m", text)[1])
    still = np.abs(gd.gravity_forces(weak, 0.5 * sum(limits_of(weak, 5.0)[:2])))[1]
    assert needed == pytest.approx(still / 0.95, rel=0.05)
    assert "correct <limit effort=>" in text


def test_friction_counts_as_effort() -> None:
    limit, t = 70.0, np.linspace(0.0, 10.0, 5000)
    options = {"duration": 10.0, "starts": 3, "changes": 3}
    for coulomb, fits in ((0.0, True), (20.0, True), (80.0, False)):
        friction = {"joint_2": {"friction": {"coulomb": coulomb, "viscous": 1.0}}}
        arm = gd.load_model(with_limit(limit), drives(**friction))
        if not fits:
            with pytest.raises(GearedDynamicsError, match=r"joint_2.*with friction"):
                excite(arm, **options)
            continue
        q, v, a = excite(arm, **options).motion.at(t)
        tau = gd.inverse_dynamics(arm, q, v, a) + gd.friction_forces(arm, v)
        assert np.abs(tau[:, 1]).max() <= limit


def test_springs_count_as_effort() -> None:
    kr300 = read_data(ROBOTS / "kr300.drivetrain.yaml")[0]
    text = (ROBOTS / "kr300.urdf").read_text("utf-8")
    limited = re.sub(
        r'(<joint name="joint_\d" type=")(?:continuous|revolute)(".*?)</joint>',
        r'\1revolute\2<limit lower="-1" upper="1" velocity="2" effort="4000"/></joint>',
        text,
        flags=re.DOTALL,
    )
    held = gd.load_model(limited.encode(), kr300)
    assert held.balancers.names
    bare = gd.load_model(limited.encode(), {k: v for k, v in kr300.items() if k != "balancers"})
    q = np.zeros((1, 6))
    force = np.abs(gd.balancer_forces(held, q))[0, 1]
    assert force > 100.0
    needed = [within_needed(arm)[1] for arm in (held, bare)]
    assert abs(needed[0] - needed[1]) > 0.1 * force


def within_needed(model: gd.GearedModel) -> np.ndarray:
    """Torque that a very small motion around the middle needs (n,)."""
    tried = 1e-9 * np.random.default_rng(0).normal(size=(2, model.n, 3))
    return within(model, limits_of(model, 1e-3), 100.0, tried)[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"harmonics": 1}, "two or more"),
        ({"duration": 0.0}, "duration is 0.0"),
        ({"duration": float("nan")}, "duration is nan"),
        ({"acceleration": -1.0}, "acceleration is -1.0"),
        ({"starts": 0}, "0 random motions"),
        ({"duration": 0.05, "starts": 2, "changes": 2}, r"condition number of .*e\+1.*longer"),
    ],
)
def test_senseless_options_are_refused(options: dict[str, float], said: str) -> None:
    with pytest.raises(GearedDynamicsError, match=said):
        excite(MODEL, **options)


def test_it_is_better_than_the_first_and_repeatable() -> None:
    assert FOUND.condition < FOUND.at_first
    again = excite(MODEL, duration=10.0, starts=6, changes=40)
    np.testing.assert_array_equal(again.motion.sines, FOUND.motion.sines)


def test_what_a_motion_determines_least_is_what_it_hardly_moves() -> None:
    """Where joint 3 stands nearly still, parameters of its link and drive are named."""
    limits = limits_of(MODEL, 5.0)
    matrix = scaled_columns(MODEL, limits, 10.0, 5, np.random.default_rng(0))
    motion = FOUND.motion._replace(
        sines=FOUND.motion.sines * [[1.0], [1.0], [1e-6]],
        cosines=FOUND.motion.cosines * [[1.0], [1.0], [1e-6]],
    )
    assert np.linalg.cond(matrix(motion)) > 1e3 * np.linalg.cond(matrix(FOUND.motion))
    assert np.linalg.cond(matrix(FOUND.motion)) == pytest.approx(FOUND.condition)
    names = [name for name, _ in weakest_of(MODEL, matrix(motion))]
    assert names
    assert all(re.search(r"_3\b|_3\.", name) for name in names)
    grades = [FOUND._replace(condition=c).grade for c in (99.0, 101.0, 1001.0)]
    assert grades == ["good", "usable", "poor"]


@pytest.mark.parametrize(
    ("parts", "named"), [((0.85, -0.45, 0.2), 2), ((0.6, 0.5, 0.45, 0.4), 3), ((0.96, 0.28), 1)]
)
def test_large_parts_are_named_and_three_at_most(parts: tuple[float, ...], named: int) -> None:
    count = len(base_columns(MODEL).selection)
    weak = np.zeros(count)
    weak[: len(parts)] = parts
    axes = np.linalg.qr(np.column_stack([weak, np.eye(count)]))[0]
    found = np.linspace(1e-6, 1.0, count)[:, None] * axes.T
    names = [column_names(MODEL)[k] for k in base_columns(MODEL).selection]
    said = weakest_of(MODEL, found)
    assert [name for name, _ in said] == names[:named]
    np.testing.assert_allclose(
        np.abs([part for _, part in said]), np.abs(parts[:named]), rtol=0.05
    )


def test_a_joint_without_limits_is_named() -> None:
    arm = gd.from_dh([{"a": 0.4, "alpha": 0.0, "d": 0.0, "mass": 1.0, "tensor": np.eye(3)}])
    with pytest.raises(GearedDynamicsError, match=r"joint_1.*no limits of position"):
        limits_of(arm, 5.0)


def test_rest_is_nearest() -> None:
    s, c = at_rest(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 0.0, 0.0]]))
    _, v, a = Fourier(np.zeros(1), s, c, 5.0).at(np.zeros(1))
    np.testing.assert_allclose([v, a], 0.0, atol=1e-12)


def test_files_hold_the_motion(tmp_path: Path) -> None:
    times = np.linspace(0.0, 10.0, 51)
    motion = FOUND.motion.at(times)
    data = read_data(trajectory_yaml(MODEL.joint_names, times, *motion, "a comment"))[0]
    assert data["joint_names"] == list(MODEL.joint_names)
    points = data["points"]
    for key, values in zip(("positions", "velocities", "accelerations"), motion, strict=True):
        np.testing.assert_allclose([point[key] for point in points], values, atol=1e-9)
    stamps = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in points]
    np.testing.assert_allclose(stamps, times, atol=1e-9)


def test_the_bag_holds_one_message(tmp_path: Path) -> None:
    rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="needs geared_dynamics[analysis]")
    typesys = pytest.importorskip("rosbags.typesys", reason="needs geared_dynamics[analysis]")
    times = np.linspace(0.0, 10.0, 51)
    motion = FOUND.motion.at(times)
    place = tmp_path / "bag"
    write_trajectory_bag(place, "/jtc/joint_trajectory", MODEL.joint_names, times, motion)
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    with rosbag2.Reader(place) as reader:
        ((connection, _, data),) = list(reader.messages())
        message = store.deserialize_cdr(data, connection.msgtype)
    assert connection.topic == "/jtc/joint_trajectory"
    np.testing.assert_array_equal(message.points[7].positions, motion[0][7])
    with pytest.raises(GearedDynamicsError, match="already exists"):
        write_trajectory_bag(place, "/x", MODEL.joint_names, times, motion)


def test_the_published_robot_has_limits_for_it() -> None:
    arm = gd.load_model(ROBOTS / "tx40.urdf", ROBOTS / "tx40.drivetrain.yaml")
    assert np.isfinite(limits_of(arm, 5.0).lower).all()
