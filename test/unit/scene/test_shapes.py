"""Where wheels are and by which ratio they turn: against MuJoCo's bodies, and by their teeth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.scene.motion import PACES, pace, resampled, swing, wheel_speeds
from geared_dynamics.scene.shapes import (
    body_poses,
    colour_of,
    link_parts,
    shapes_of,
    wheel_angles,
    wheel_poses,
)
from geared_dynamics.scene.solids import Gears, gear_sets, interlocked, outline
from plant_arms import example

URDF = Path(__file__).parents[3] / "urdf"
ROBOTS = sorted(path.stem for path in URDF.glob("*.urdf"))
LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0"/><mass value="3"/>
  <inertia ixx="0.2" iyy="0.25" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>
  <origin xyz="0.3 0.1 0.1" rpy="0.4 0.3 0"/><axis xyz="0.6 0 0.8"/></joint>"""
TWO_STAGES = f"""<robot name="r"><link name="base"/>{LINK.format("one")}{LINK.format("two")}
  {JOINT.format("j1", "base", "one")}{JOINT.format("j2", "one", "two")}</robot>"""
# The first stage's carrier is a wheel, the second stage's sun; its planets go round with it.
DRIVES = """version: 1
wheels:
  c: {carrier: one, axis: AXIS, position: [0.3, 0.1, 0.1], mass: 0.2, inertia: {axial: 1.0e-3}}
planetary:
  second: {joint: j2, housing: one, layout: ring_fixed, input: sun, output: carrier,
           teeth: {sun: 20, planet: 10, ring: 40}, planets: 3, radius: 0.03,
           planet: {mass: 0.1, inertia: {axial: 1.0e-4}}, sun: c}
  first: {housing: one, axis: AXIS, position: [0.3, 0.1, 0.1], layout: ring_fixed,
          input: sun, output: carrier, teeth: {sun: 20, planet: 10, ring: 40}, planets: 3,
          radius: 0.03, phase: 0.3, planet: {mass: 0.1, inertia: {axial: 1.0e-4}},
          carrier: c, sun: {mass: 0.05, inertia: {axial: 1.0e-5}}}
motors: {m: {wheel: first.sun}}
"""


def two_stages() -> gd.GearedModel:
    """An arm whose second joint has two planetary stages."""
    joint = gd.load_model(TWO_STAGES).records.robot.joints[1]
    axis = (np.array(joint.rotation) @ joint.axis).tolist()
    return gd.load_model(TWO_STAGES, DRIVES.replace("AXIS", str(axis)))


def test_the_gears_of_a_planetary_set_are_its_joints_bearing() -> None:
    bare, geared = (
        {part.body: len(part.solid.points) for part in link_parts(model, 1.0, set())}
        for model in (gd.load_model(TWO_STAGES), two_stages())
    )
    assert geared[0] == bare[0], "no set sits there"
    assert geared.get(1, 0) < bare[1]


@pytest.mark.parametrize("robot", ROBOTS)
def test_wheels_turn_by_their_ratios(robot: str) -> None:
    """The turn of a wheel in its carrier, from its pose, is Gamma q."""
    model, q = example(robot), np.random.default_rng(3).normal(size=example(robot).n)
    shapes = shapes_of(model)
    poses = wheel_poses(shapes, wheel_angles(model, q))
    for r in np.flatnonzero(model.wheels.alone.holder < 0):
        turn = shapes.rotation[r].T @ poses[r, :3, :3]
        expected = model.Gamma[r] @ q
        assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(
            np.arctan2(np.sin(expected), np.cos(expected)), abs=1e-9
        )
        assert turn[2, 2] == pytest.approx(1.0)


@pytest.mark.parametrize("arm", ["two stages", "brisk6", "elbow"])
def test_wheels_are_where_mujoco_has_them(arm: str) -> None:
    """Places and turns in the world, planets that go round included."""
    mujoco = pytest.importorskip("mujoco")
    from geared_dynamics.simulation.mujoco_engine import MujocoMechanism

    model = two_stages() if arm == "two stages" else example(arm)
    shapes, bodies = shapes_of(model), MujocoMechanism(model, 1e-3, friction=False)
    random, zero = np.random.default_rng(1), np.zeros(model.n)
    theirs, ours = [], []
    for q in (zero, random.normal(size=model.n), random.normal(size=model.n)):
        x = np.concatenate([q, model.elasticity.rigid @ q])
        bodies.place(x, np.zeros(len(x)))
        mujoco.mj_kinematics(bodies.mj, bodies.data)
        found = [bodies.data.body(name) for name in model.wheel_names]
        theirs.append([(body.xpos.copy(), body.xmat.reshape(3, 3).copy()) for body in found])
        frames = body_poses(model, q)[model.wheels.carrier + 1]
        frames = frames @ wheel_poses(shapes, wheel_angles(model, q))
        ours.append([(frame[:3, 3], frame[:3, :3]) for frame in frames])
    for k in range(3):
        for r in range(len(model.wheel_names)):
            np.testing.assert_allclose(ours[k][r][0], theirs[k][r][0], atol=1e-9)
            # Both draw a wheel's x axis as they like, so its motion since q = 0 is compared.
            moved = [side[k][r][1] @ side[0][r][1].T for side in (ours, theirs)]
            np.testing.assert_allclose(*moved, atol=1e-8)


def test_a_shaft_behind_a_spring_turns_its_wheel() -> None:
    model = example("wave6")
    elastic = model.elasticity
    q = np.random.default_rng(2).normal(size=model.n)
    rest = elastic.rigid @ q
    np.testing.assert_allclose(wheel_angles(model, q, rest), wheel_angles(model, q), atol=1e-9)
    step = wheel_angles(model, q, rest + 0.1) - wheel_angles(model, q)
    np.testing.assert_allclose(step, elastic.shaft_spin.sum(axis=1) * 0.1, atol=1e-9)
    assert np.abs(step).max() > 0.05


def deepest(gears: Gears, phases: list[float], ring: float, sun_turn: float) -> float:
    """How far any tooth of a planet is inside the sun or the ring, in modules.

    The planets' axes are at rest: they turn against the sun, the ring as they do.
    """
    sun, planet, teeth = gears.teeth
    module, worst = 2.0 * gears.pitch(1), -np.inf
    own = outline(sun, gears.pitch(sun), phase=sun_turn)
    outer = outline(teeth, gears.pitch(teeth), inner=True, phase=ring - sun_turn * sun / teeth)
    for k, phase in enumerate(phases):
        alpha = gears.phase + 2.0 * np.pi * k / len(phases)
        centre = gears.radius * np.array([np.cos(alpha), np.sin(alpha)])
        points = outline(planet, gears.pitch(planet), phase=phase - sun_turn * sun / planet)
        radius = np.linalg.norm(points + centre, axis=1)
        angle = np.arctan2(*(points + centre).T[::-1])
        worst = max(worst, (surface(own, angle) - radius).max())
        worst = max(worst, (radius - surface(outer, angle)).max())
    return float(worst / module)


def surface(corners: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Radius of an outline at some angles."""
    at = np.arctan2(corners[:, 1], corners[:, 0])
    order = np.argsort(at)
    return np.interp(angle, at[order], np.linalg.norm(corners, axis=1)[order], period=2 * np.pi)


@pytest.mark.parametrize("teeth", [(20, 10, 40), (17, 20, 58), (12, 24, 60), (31, 22, 75)])
@pytest.mark.parametrize("count", [1, 3])
def test_teeth_interlock(teeth: tuple[int, int, int], count: int) -> None:
    """At any angle of the sun; half a tooth beside that they would be deep in each other."""
    if count == 3 and (teeth[0] + teeth[2]) % 3:
        count = 1
    names = tuple(f"p{k}" for k in range(count))
    gears = Gears(0.05, "s", "r", names, teeth, 0.4, known=True)
    phases, ring = interlocked(gears)
    for turn in (0.0, 0.37, 2.9):
        assert deepest(gears, phases, ring, turn) < 0.6
    wrong = [phase + np.pi / teeth[1] for phase in phases]
    assert deepest(gears, wrong, ring, 0.0) > 1.0


def test_planets_stand_side_by_side() -> None:
    """The shipped file does not say how far they are from the axis; sun and ring are there."""
    model = example("planetary_2r")
    shapes = shapes_of(model)
    (one, two) = gear_sets(model, shapes.size)
    assert not one.known
    for gears in (one, two):
        places = [shapes.position[model.wheel_names.index(name)] for name in gears.planets]
        centre = shapes.position[model.wheel_names.index(gears.sun or "")]
        reach = [np.linalg.norm(place - centre) for place in places]
        np.testing.assert_allclose(reach, gears.radius)
        apart = np.linalg.norm(places[0] - places[1])
        assert apart > 2.2 * gears.pitch(gears.teeth[1])
    rings = [part for part in shapes.parts if part.wheel < 0 and part.opacity == 0.75]
    assert [part.body for part in rings] == [0, 1]


def test_wheels_have_the_colour_of_their_carrier() -> None:
    model = example("brisk6")
    shapes = shapes_of(model)
    for r, body in enumerate(model.wheels.carrier):
        own = next(part for part in shapes.parts if part.wheel == r)
        assert own.colour == colour_of(int(body))
        link = [part for part in shapes.parts if part.wheel < 0 and part.body == body]
        assert all(part.colour == own.colour and part.opacity < 1.0 for part in link)


def test_wheels_without_a_place_are_drawn_at_their_joints() -> None:
    """Those of a URDF's transmissions, which count as carried by the root."""
    drive = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
      <joint name="j2"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
      <actuator name="a"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""
    with pytest.warns(gd.GearedDynamicsWarning):
        model = gd.load_model(TWO_STAGES.replace("</robot>", drive + "</robot>"))
    shapes = shapes_of(model)
    assert shapes.unplaced == model.wheel_names
    assert (model.wheels.carrier[0], shapes.carrier[0]) == (-1, 0)
    np.testing.assert_allclose(shapes.position[0], [0.3, 0.1, 0.1])
    np.testing.assert_allclose(shapes.rotation[0][:, 2], model.tree.rotation[1] @ [0.6, 0, 0.8])


@pytest.mark.parametrize("robot", ROBOTS)
def test_surfaces_are_closed_and_face_outwards(robot: str) -> None:
    """Each edge belongs to two triangles, once in each direction; the volume is positive."""
    for part in shapes_of(example(robot)).parts:
        points, faces = part.solid
        places, index = np.unique(points.round(9), axis=0, return_inverse=True)
        corner = index.ravel()[faces]
        edges = np.concatenate([corner[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
        assert len(places)
        forth, back = np.unique(edges, axis=0), np.unique(edges[:, ::-1], axis=0)
        np.testing.assert_array_equal(forth, back)
        a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
        assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_swing_stays_within_the_limits_and_ends_as_it_begins(robot: str) -> None:
    model = example(robot)
    motion = swing(model)
    np.testing.assert_allclose(motion.q[0], motion.q[-1], atol=1e-9)
    assert np.all(motion.q >= model.limits.lower)
    assert np.all(motion.q <= model.limits.upper)
    slope = np.gradient(motion.q, motion.time, axis=0)[1:-1]
    np.testing.assert_allclose(slope, motion.v[1:-1], atol=0.02)


def test_torques_are_those_of_the_model() -> None:
    model = example("brisk6")
    motion = swing(model)
    a = np.gradient(motion.v, motion.time, axis=0)
    tau = gd.inverse_dynamics(model, motion.q, motion.v, a)
    np.testing.assert_allclose(motion.joint_torque[5:-5], tau[5:-5], atol=0.02)
    assert np.isfinite(motion.motor_torque).all()


def test_the_pace_is_one_that_can_be_seen() -> None:
    """The fastest wheel makes at most 1.5 turns in a second of the page, and not few."""
    for robot in ROBOTS:
        model = example(robot)
        motion = resampled(swing(model))
        step = pace(model, motion)
        turns = step * np.abs(wheel_speeds(model, motion)).max() / (2.0 * np.pi)
        assert step in PACES
        assert turns <= 1.5
        assert step == 1.0 or turns > 0.5
