"""Payload: mass and centre of mass, and how sure they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from observer_arms import DT, TURN, drive, moved
from simulated_arms import arm

ob = gd.observers


@pytest.mark.parametrize("link", ["tip", "link_3"])
def test_a_load_is_found_in_its_links_frame(link: str) -> None:
    bare = arm()
    mass, com = 2.5, np.array([0.02, 0.05, -0.03])
    loaded = bare.with_payload(mass, com, np.zeros((3, 3)), link=link)
    random, state = np.random.default_rng(0), ob.payload_start()
    assert not ob.payload_estimate(state).seen
    for _ in range(40):
        q, v, a = random.uniform(-1, 1, (3, 3))
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(loaded, q, v, a)
        state = ob.payload_step(bare, state, link, q, v, a, missing, 0.1)
    found = ob.payload_estimate(state)
    assert found.seen
    assert found.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(found.com, com, atol=1e-6)
    still = ob.payload_start()
    for _ in range(10):
        still = ob.payload_step(bare, still, link, q, 0 * v, 0 * a, missing, 0.5)
    nothing = ob.payload_estimate(still)
    assert not nothing.seen
    assert np.isnan(nothing.com).all()
    assert np.isinf(nothing.com_deviation).sum() == 0, "NaN, as the centre is"
    assert np.isnan(nothing.mass) == np.isinf(nothing.mass_deviation)


def test_a_load_on_no_link_is_refused() -> None:
    zero = np.zeros(3)
    for link in ("base_link", "rotor_2", "nowhere", None):
        with pytest.raises(gd.GearedDynamicsError, match=str(link)):
            ob.payload_step(arm(), ob.payload_start(), link, zero, zero, zero, zero, DT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dt", 0.0),
        ("dt", np.nan),
        ("dt", "a"),
        ("window", -1.0),
        ("window", None),
        ("deviation", "a"),
        ("deviation", [1.0, 2.0]),
        ("deviation", 0.0),
        ("deviation", np.inf),
        ("q", np.zeros((2, 3))),
        ("v", [np.nan, 0.0, 0.0]),
        ("a", "a"),
        ("external", np.zeros((2, 3))),
    ],
)
def test_what_is_none_is_refused(name: str, value: Any) -> None:
    given: dict[str, Any] = {"q": [0.0] * 3, "v": [0.0] * 3, "a": [0.0] * 3}
    given |= {"external": [0.0] * 3, "dt": DT, name: value}
    with pytest.raises(gd.GearedDynamicsError, match=name):
        ob.payload_step(arm(), ob.payload_start(), "tip", **given)


MASS, COM = 2.0, np.array([0.02, 0.05, -0.03])


def loaded() -> gd.GearedModel:
    return arm().with_payload(MASS, COM, np.zeros((3, 3)), link="tip")


def motion(random: np.random.Generator, t: np.ndarray) -> list[np.ndarray]:
    """Position, velocity and acceleration (t, 3) of a random motion."""
    w, phase = 2 * np.pi * random.uniform(0.4, 1.6, 3), random.uniform(0, 6, 3)
    centre, size = random.uniform(-0.8, 0.8, 3), random.uniform(0.2, 0.6, 3)
    turn = np.outer(t, w) + phase
    return [centre + size * np.sin(turn), size * w * np.cos(turn), -size * w**2 * np.sin(turn)]


def observed(seed: int, *, load: bool = True) -> tuple[Any, Any]:
    """Load found from a force as an observer has it, and the same with white noise only.

    The observer's force comes behind the motion by 15 ms, and has noise of its bandwidth and
    wrong friction in it.
    """
    random, dt, bare, heavy = np.random.default_rng(seed), 0.02, arm(), loaded()
    q, v, a = motion(random, dt * np.arange(150))
    missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(heavy, q, v, a)
    missing = missing if load else 0.0 * missing
    stay, quick = np.exp(-dt / 0.015), np.exp(-2 * np.pi * 10.0 * dt)
    behind, noise, wrong = missing[0], np.zeros(3), random.normal(size=3)
    real, white = ob.payload_start(), ob.payload_start()
    for k in range(len(q)):
        behind = stay * behind + (1.0 - stay) * missing[k]
        noise = quick * noise + np.sqrt(1.0 - quick**2) * random.normal(size=3)
        force = behind + 0.5 * noise + wrong * np.tanh(v[k] / 0.05)
        real = ob.payload_step(bare, real, "tip", q[k], v[k], a[k], force, dt)
        force = missing[k] + 0.5 * random.normal(size=3)
        white = ob.payload_step(bare, white, "tip", q[k], v[k], a[k], force, dt)
    return ob.payload_estimate(real), ob.payload_estimate(white)


def off(found: Any) -> np.ndarray:
    """Errors of mass and centre of mass, each in its standard deviation (4,)."""
    by_mass = (found.mass - MASS) / found.mass_deviation
    return np.abs(np.r_[by_mass, (found.com - COM) / found.com_deviation])


def test_the_uncertainty_is_honest() -> None:
    """True within three standard deviations nearly always, and those not far too wide."""
    runs = [observed(seed) for seed in range(24)]
    for kind in (0, 1):
        errors = np.array([off(run[kind]) for run in runs])
        assert np.mean(errors < 3.0, axis=0).min() >= 0.9
        assert np.mean(np.all(errors < 3.0, axis=1)) >= 0.9
        size = np.sqrt(np.mean(errors**2, axis=0))
        assert size.min() > 0.25, "not more than four times too wide"
    lasting = np.array([run[0].mass_deviation / run[1].mass_deviation for run in runs])
    assert np.median(lasting) > 3.0, "errors that last count for more than white ones"


def test_no_load_is_known_as_none() -> None:
    """The mass is then within its uncertainty, and there is no centre of it."""
    found = [observed(seed, load=False)[0] for seed in range(8)]
    assert np.mean([np.isnan(one.com).all() for one in found]) > 0.8
    assert all(abs(one.mass) < 3.0 * one.mass_deviation for one in found)
    assert all(one.seen for one in found)


def test_a_short_window_does_not_tell_how_sure_it_is() -> None:
    random, bare, heavy, state = np.random.default_rng(0), arm(), loaded(), ob.payload_start()
    for _ in range(40):
        q, v, a = random.uniform(-1, 1, (3, 3))
        missing = gd.inverse_dynamics(bare, q, v, a) - gd.inverse_dynamics(heavy, q, v, a)
        state = ob.payload_step(bare, state, "tip", q, v, a, missing, DT)
    found = ob.payload_estimate(state)
    assert found.seen
    assert np.isinf(found.mass_deviation)
    assert np.isnan(found.com).all()


@pytest.mark.validate
def test_the_uncertainty_is_honest_with_the_kalman_filter() -> None:
    """Twenty random motions, force and motion of the filter, acceleration by differences."""
    errors = np.array([off(filtered(seed)) for seed in range(20)])
    assert np.mean(errors < 3.0, axis=0).min() >= 0.9
    assert np.sqrt(np.mean(errors**2, axis=0)).min() > 0.25


def filtered(seed: int) -> Any:
    """Load found by the Kalman filter with encoders on the motors alone."""
    random, bare, heavy = np.random.default_rng(seed), arm(), loaded()
    A, gains = gd.elastic.structure_matrix(bare), None
    q = random.uniform(-0.8, 0.8, 3)
    z = np.concatenate([q, q, np.zeros(6)])
    goal, tau_m, state = A.T @ z[:6], np.zeros(3), None
    rate, size = random.uniform(0.4, 1.6, 3), random.uniform(0.3, 0.7, 3)
    gains = ob.kalman_gains(bare, resolution=TURN, noise=0.3 * TURN)
    load, before, a = ob.payload_start(), np.zeros(3), np.zeros(3)
    for k in range(3500):
        shown = A.T @ z[:6] + 0.3 * TURN * random.normal(size=3)
        y = ob.Measurement(TURN * np.round(shown / TURN), tau_m)
        if state is None:
            state = ob.kalman_start(bare, gains, y)
        else:
            state = ob.kalman_step(bare, gains, state, y, DT)
        now = state.mean[6:9]
        a, before = a + 0.1 * ((now - before) / DT - a), now
        if k >= 500 and k % 5 == 0:
            deviation = np.sqrt(np.diag(state.covariance))[12:15]
            force = state.mean[12:15]
            load = ob.payload_step(
                bare, load, "tip", state.mean[:3], now, a, force, 5 * DT, deviation=deviation
            )
        swing = size * np.abs(A).max(0) * np.sin(2 * np.pi * rate * k * DT)
        tau_m = drive(heavy, z, goal + swing)
        z = moved(heavy, z, tau_m, np.zeros(3), parts=2)
    return ob.payload_estimate(load)


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
    assert found.seen is bool(told.all())
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
    assert not found_on(SPATIAL, **rest).seen
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


@pytest.mark.parametrize("value", [-0.1, np.nan, "a", [1.0, 2.0]])
def test_a_deviation_that_is_none_is_refused(value: Any) -> None:
    zero = np.zeros(3)
    with pytest.raises(gd.GearedDynamicsError, match="acceleration_deviation"):
        ob.payload_step(
            arm(), ob.payload_start(), "tip", zero, zero, zero, zero, DT,
            acceleration_deviation=value,
        )  # fmt: skip


def test_friction_at_rest_is_in_the_uncertainty() -> None:
    """An arm that stands here and there, 1.5 N m of friction each time: no residual shows it."""
    bare, zero, off = arm(), np.zeros(3), []
    loaded = bare.with_payload(2.0, [0.0, 0.05, 0.02], np.zeros((3, 3)), link="tip")
    held = np.array([0.0, 1.5, 0.0])
    for friction in (zero, held):
        random, state = np.random.default_rng(4), ob.payload_start()
        for _ in range(60):
            q = np.array([0.3, 0.4, 0.5]) + random.uniform(-1.0, 1.0, 3)
            found = gd.gravity_forces(bare, q) - gd.gravity_forces(loaded, q) + held
            state = ob.payload_step(
                bare, state, "tip", q, zero, zero, found, 0.1, friction=friction
            )
        load = ob.payload_estimate(state)
        off.append(abs(load.mass - 2.0) / load.mass_deviation)
    assert off[0] > 10.0
    assert off[1] < 3.0
    with pytest.raises(gd.GearedDynamicsError, match="friction"):
        ob.payload_step(bare, state, "tip", q, zero, zero, found, 0.1, friction=-1.0)
