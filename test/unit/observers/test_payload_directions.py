"""Which components of a load's centre of mass an arm determines, whatever the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

ob = gd.observers
MASS, COM = 2.0, np.array([0.02, 0.05, -0.03])


def chain(
    joints: list[tuple[str, str, str]], tilt: float, gravity: tuple[float, float, float]
) -> gd.GearedModel:
    """An arm of joints (type, origin, axis), each link 0.4 m further along x, with a tip frame.

    The frame of the last link is turned by ``tilt`` about x: its axes are then not the plane's.
    """
    links = [f'<link name="l{k}">{INERTIAL}</link>' for k in range(1, len(joints) + 1)]
    text = ['<robot name="chain"><link name="l0"/>', *links, '<link name="tip"/>']
    for k, (kind, origin, axis) in enumerate(joints, start=1):
        limit = '<limit lower="-9" upper="9" effort="99" velocity="9"/>'
        text.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="{origin}"/><axis xyz="{axis}"/>{limit}</joint>'
        )
    text.append(
        f'<joint name="end" type="fixed"><parent link="l{len(joints)}"/><child link="tip"/>'
        f'<origin xyz="0.3 0 0" rpy="{tilt} 0 0"/></joint></robot>'
    )
    return gd.load_model("".join(text).encode(), gravity=gravity)


INERTIAL = (
    '<inertial><origin xyz="0.2 0 0"/><mass value="3"/>'
    '<inertia ixx="0.02" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>'
)
VERTICAL = [("revolute", "0 0 0", "0 1 0"), ("revolute", "0.4 0 0", "0 1 0")]
HORIZONTAL = [("revolute", "0 0 0", "0 0 1"), ("revolute", "0.4 0 0", "0 0 1")]
SPATIAL = [("revolute", "0 0 0", "0 0 1"), *VERTICAL, ("revolute", "0.4 0 0", "1 0 0")]
GANTRY = [("prismatic", "0 0 0", axis) for axis in ("1 0 0", "0 1 0", "0 0 1")]
LIFT = [("prismatic", "0 0 0", "0 0 1"), ("revolute", "0 0 0", "0 0 1")]
POINT = np.zeros((3, 3))
GRAVITY, SPACE = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)


def found_on(
    joints: list[tuple[str, str, str]],
    *,
    gravity: tuple[float, float, float] = GRAVITY,
    samples: int = 160,
    speed: float = 1.0,
    tilt: float = 0.0,
    noise: float = 0.3,
    shaking: float = 0.0,
    seed: int = 0,
) -> Any:
    """Load of 2 kg at ``COM`` found over 8 s; noise in the forces and the accelerations."""
    random, bare = np.random.default_rng(seed), chain(joints, tilt, gravity)
    heavy, n = bare.with_payload(MASS, COM, POINT, link="tip"), bare.n
    w, phase = 2 * np.pi * random.uniform(0.3, 1.2, n), random.uniform(0, 6, n)
    size, state = random.uniform(0.3, 0.6, n), ob.payload_start()
    for t in np.linspace(0.0, 8.0, samples):
        q = 0.4 + speed * size * np.sin(w * t + phase)
        v = speed * size * w * np.cos(w * t + phase)
        a = -speed * size * w**2 * np.sin(w * t + phase)
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(heavy, q, v, a)
        force = missing + noise * random.normal(size=n)
        given = a + shaking * random.normal(size=n)
        state = ob.payload_step(
            bare, state, "tip", q, v, given, force, 8.0 / samples,
            acceleration_deviation=max(shaking, 0.1),
        )  # fmt: skip
    return ob.payload_estimate(state)


@pytest.mark.parametrize("samples", [80, 640])
@pytest.mark.parametrize(
    ("joints", "gravity", "determined"),
    [
        (VERTICAL, GRAVITY, (True, False, True)),
        (VERTICAL, SPACE, (True, False, True)),
        (HORIZONTAL, GRAVITY, (True, True, False)),
        (HORIZONTAL, SPACE, (True, True, False)),
        (SPATIAL, GRAVITY, (True, True, True)),
        (SPATIAL, SPACE, (True, True, True)),
        (GANTRY, GRAVITY, (False, False, False)),
        (GANTRY, SPACE, (False, False, False)),
    ],
)
def test_what_is_determined_is_a_matter_of_the_arm_and_not_of_the_samples(
    joints: list[tuple[str, str, str]],
    gravity: tuple[float, float, float],
    determined: tuple[bool, ...],
    samples: int,
) -> None:
    found = found_on(joints, gravity=gravity, samples=samples)
    told = np.array(determined)
    np.testing.assert_array_equal(found.determined, told)
    assert found.identifiable is bool(told.all())
    assert found.mass == pytest.approx(MASS, abs=4.0 * found.mass_deviation)
    assert found.mass_deviation < 0.5
    np.testing.assert_array_equal(np.isfinite(found.com), told)
    np.testing.assert_array_equal(np.isfinite(found.com_deviation), told)
    np.testing.assert_array_equal(np.isfinite(np.diag(found.covariance)), np.r_[True, told])
    off = np.abs(found.com - COM)[told] / found.com_deviation[told]
    assert np.all(off < 4.0)
    assert np.all(found.com_deviation[told] < 0.2)
    np.testing.assert_allclose(found.directions, np.eye(3)[told])
    np.testing.assert_array_equal(found.along, found.com[told])
    np.testing.assert_allclose(found.along_deviation, found.com_deviation[told])


def test_without_noise_two_components_are_exact() -> None:
    """Inertia of the point included, which the component across the plane has no part in."""
    found = found_on(VERTICAL, noise=0.0)
    assert found.mass == pytest.approx(MASS, rel=1e-6)
    np.testing.assert_allclose(found.com[[0, 2]], COM[[0, 2]], atol=1e-6)
    assert np.isnan(found.com[1])


def test_directions_need_not_be_the_frames_axes() -> None:
    """The tip's frame is turned about x by half a radian: one axis lies in the plane of motion."""
    found = found_on(VERTICAL, tilt=0.5, noise=0.0)
    np.testing.assert_array_equal(found.determined, [True, False, False])
    assert len(found.directions) == 2
    np.testing.assert_allclose(found.directions[0], [1.0, 0.0, 0.0])
    across = np.array([0.0, np.cos(0.5), -np.sin(0.5)])
    np.testing.assert_allclose(found.directions @ across, 0.0, atol=1e-6)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.along, found.directions @ COM, atol=1e-5)
    assert found.com[0] == pytest.approx(COM[0], abs=1e-6)
    assert np.isnan(found.com[1:]).all()


@pytest.mark.parametrize("tilt", [1e-8, 3.7e-6, 1e-4])
def test_rounded_angles_determine_nothing(tilt: float) -> None:
    """A frame turned by 1.5708 in place of pi / 2 is no way out of the plane."""
    found = found_on(VERTICAL, tilt=tilt, samples=640)
    np.testing.assert_array_equal(found.determined, [True, False, True])


def test_a_standstill_determines_the_mass_and_the_horizontal_direction() -> None:
    """Two equations, of both joints: m, and the lever of the weight about the last joint."""
    found = found_on(VERTICAL, speed=0.0)
    assert not found.determined.any()
    assert np.isnan(found.com).all()
    assert found.mass == pytest.approx(MASS, abs=4.0 * found.mass_deviation)
    assert len(found.directions) == 1
    level = np.array([np.cos(0.8), 0.0, np.sin(0.8)])
    np.testing.assert_allclose(np.abs(found.directions[0] @ level), 1.0, atol=1e-6)
    off = np.abs(found.along - found.directions @ COM) / found.along_deviation
    assert off[0] < 4.0


@pytest.mark.parametrize("samples", [80, 640])
@pytest.mark.parametrize("shaking", [0.1, 1.0])
def test_noise_of_the_accelerations_determines_nothing(samples: int, shaking: float) -> None:
    rest = {"speed": 0.0, "samples": samples, "shaking": shaking}
    space = found_on(SPATIAL, gravity=SPACE, **rest)
    assert not space.determined.any()
    assert np.isnan(space.mass)
    assert np.isinf(space.mass_deviation)
    assert not found_on(HORIZONTAL, **rest).determined.any()
    assert not found_on(SPATIAL, **rest).identifiable
    assert found_on(VERTICAL, samples=samples, shaking=shaking).determined[[0, 2]].all()


def test_one_joint_feels_the_mass_and_its_lever_together() -> None:
    """The tip is 0.3 m beside the joint: m has a column, but it is that of m c_x / 0.3 m."""
    found = found_on(VERTICAL[:1], noise=0.0)
    assert np.isnan(found.mass)
    assert np.isinf(found.mass_deviation)
    assert not found.determined.any()
    assert found.directions.shape == (0, 3)
    assert found.along.shape == found.along_deviation.shape == (0,)


def test_a_lift_that_turns_shows_the_mass_and_the_distance_from_its_axis() -> None:
    """One turning inertia: what c_y adds to it, its square, counts as c_x."""
    found = found_on(LIFT, noise=0.0)
    assert found.mass == pytest.approx(MASS, rel=1e-6)
    np.testing.assert_array_equal(found.determined, [True, False, False])
    distance = np.hypot(0.3 + COM[0], COM[1])
    assert found.com[0] == pytest.approx(distance - 0.3, abs=1e-5)


def test_a_light_load_has_no_centre_but_says_what_is_determined() -> None:
    found = found_on(VERTICAL, noise=200.0)
    np.testing.assert_array_equal(found.determined, [True, False, True])
    assert np.isfinite(found.mass)
    assert np.isnan(found.com).all()
    assert np.isnan(found.along).all()
    assert np.isnan(found.along_deviation).all()
