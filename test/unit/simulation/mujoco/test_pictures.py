"""Pictures: rays against known distances, the arm on its floor."""

from __future__ import annotations

import numpy as np
import pytest

from geared_dynamics.apps import scene
from plant_arms import example

X, Z = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("hit", "distance", "normal"),
    [
        (scene.sphere(np.array([-3.0, 0, 0]), X, 1.0), 2.0, [-1, 0, 0]),
        (scene.sphere(np.array([0.0, 0, -3]), Z, 1.0, 0.5), 2.5, [0, 0, -1]),
        (scene.cylinder(np.array([-3.0, 0, 0]), X, np.array([1.0, 2.0])), 2.0, [-1, 0, 0]),
        (scene.cylinder(np.array([0.5, 0, -5]), Z, np.array([1.0, 2.0])), 3.0, [0, 0, -1]),
        (scene.capsule(np.array([0.0, 0, -5]), Z, np.array([1.0, 2.0])), 2.0, [0, 0, -1]),
        (scene.capsule(np.array([-3.0, 0, 1.9]), X, np.array([1.0, 2.0])), 2.0, [-1, 0, 0]),
        (scene.box(np.array([-3.0, 0.1, 0.2]), X, np.array([1.0, 0.5, 0.5])), 2.0, [-1, 0, 0]),
    ],
)
def test_distance_and_normal(hit, distance: float, normal: list[float]) -> None:  # type: ignore[no-untyped-def]
    t, found = hit
    assert t[0] == pytest.approx(distance)
    np.testing.assert_allclose(found[0], normal, atol=1e-12)


@pytest.mark.parametrize(
    "hit",
    [
        scene.sphere(np.array([-3.0, 1.1, 0]), X, 1.0),
        scene.sphere(np.array([3.0, 0, 0]), X, 1.0),  # behind
        scene.cylinder(np.array([-3.0, 0, 2.1]), X, np.array([1.0, 2.0])),
        scene.capsule(np.array([-3.0, 0, 3.1]), X, np.array([1.0, 2.0])),
        scene.box(np.array([-3.0, 0.6, 0.0]), X, np.array([1.0, 0.5, 0.5])),
    ],
)
def test_misses(hit) -> None:  # type: ignore[no-untyped-def]
    assert np.isinf(hit[0][0])


def test_rays_agree_with_mujoco() -> None:
    """Distances to the shapes of an arm against MuJoCo's own ray casting."""
    mujoco = pytest.importorskip("mujoco")
    from geared_dynamics.apps.scene import hit

    from geared_dynamics.apps.cli.view import Animation

    arm = Animation(example("brisk6"))
    shapes = arm.shapes(0.7)
    mj, data = arm.arm.mj, arm.arm.data
    random = np.random.default_rng(0)
    met, geom = 0, np.zeros(1, np.int32)
    for _ in range(300):
        start = np.array([1.0, -1.5, 0.8])
        way = random.normal([0.3, -0.1, 0.4], 0.25) - start
        way /= np.linalg.norm(way)
        expected = mujoco.mj_ray(mj, data, start, way, None, 1, -1, geom)
        found = min(float(hit(shapes, g, start, way[None])[0][0]) for g in range(mj.ngeom))
        if expected < 0.0:
            assert np.isinf(found)
        else:
            met += 1
            assert found == pytest.approx(expected, abs=1e-6)
    assert met > 30


@pytest.mark.parametrize("robot", ["brisk6", "tx40", "planetary_2r"])
def test_the_arm_is_in_the_picture_and_moves(robot: str) -> None:
    """Also one of which MuJoCo's plant refuses a massless link."""
    pytest.importorskip("mujoco")
    from geared_dynamics.apps.cli.view import PERIOD, Animation

    arm = Animation(example(robot))
    first, second, again = (arm.picture(t, width=96, height=72) for t in (0.0, 1.0, PERIOD))
    assert first.shape == (72, 96, 3)
    np.testing.assert_array_equal(first, again)
    assert np.any(first != second)
    for picture in (first, second):
        dark = picture.max(axis=2) < 110  # joints and foot
        assert dark.sum() > 10
        coloured = np.ptp(picture.astype(int), axis=2) > 60
        assert coloured.sum() > 20
        edge = np.concatenate([coloured[0], coloured[-1], coloured[:, 0], coloured[:, -1]])
        assert not edge.any()  # nothing of the arm is cut off


def test_motion_stays_within_the_limits() -> None:
    pytest.importorskip("mujoco")
    from geared_dynamics.apps.cli.view import PERIOD, Animation

    model = example("tx40")
    arm = Animation(model)
    path = np.array([arm.position(t) for t in np.linspace(0, PERIOD, 200)])
    limits = {joint.name: joint.limit for joint in model.records.robot.joints}
    for name, row in zip(model.joint_names, path.T, strict=True):
        limit = limits[name]
        assert limit is not None
        assert limit.lower is not None
        assert limit.upper is not None
        assert limit.lower <= row.min() < row.max() <= limit.upper
