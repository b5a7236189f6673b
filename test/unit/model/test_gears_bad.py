"""Gear trains that are refused, each with the names in it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from geared_dynamics.description import freeze
from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    HarmonicRecord,
    MeshRecord,
    MotorRecord,
    PlanetaryRecord,
    SpinRecord,
)
from geared_dynamics.description.robot_records import (
    JointRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)
from geared_dynamics.errors import (
    DescriptionError,
    GearedDynamicsError,
    ModelError,
    UnknownNameError,
)
from geared_dynamics.model import build_model
from random_gears import body_wheel, serial_robot

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
ROBOT = serial_robot(
    ("revolute", Z, (0, 0, 0)), ("revolute", X, (0.4, 0, 0)), ("prismatic", X, (0.1, 0, 0))
)
A, B, C = (
    body_wheel(name, "base", position=(x, 0, 0)) for name, x in (("a", 0), ("b", 0.1), ("c", 0.2))
)
ROBOT = replace(
    ROBOT,
    links=(*ROBOT.links, LinkRecord("sensor")),
    joints=(*ROBOT.joints, JointRecord("mount", "fixed", "base", "sensor")),
)
ON_1 = SpinRecord("a", (("joint_1", 10.0),), "spins[0]")


def gears(a: str, b: str, arm: str = "base", k: int = 1, **more: Any) -> MeshRecord:
    """A gear pair; ``k`` is its place among the spins."""
    given = {"sizes": (20, 40), "kind": None if "sign" in more else "external", **more}
    return MeshRecord((a, b), arm, place=f"spins[{k}]", **given)


def train(*parts: Any, wheels: Any = (A, B), **more: Any) -> DrivetrainRecord:
    """A drivetrain of spins and meshes."""
    return DrivetrainRecord(
        "file.yaml",
        wheels=tuple(wheels),
        spins=tuple(part for part in parts if isinstance(part, SpinRecord)),
        meshes=tuple(part for part in parts if isinstance(part, MeshRecord)),
        **more,
    )


def box(**changed: Any) -> DrivetrainRecord:
    """A planetary set on joint 1, good unless told otherwise."""
    given = {
        "name": "box",
        "housing": "base",
        "fixed": "ring",
        "input": "sun",
        "output": "carrier",
        "teeth": (20, 10, 40),
        "planets": 3,
        "planet": body_wheel(mass=0.1),
        "members": (("sun", body_wheel()),),
        "joint": "joint_1",
        "radius": 0.05,
        **changed,
    }
    return DrivetrainRecord("file.yaml", planetary=(PlanetaryRecord(**given),))


SPINNING = {"input": "carrier", "output": "sun", "members": (("carrier", body_wheel()),)}
NO_JOINT = {"joint": None, "axis": Z}
SUN_AND_CARRIER = (("sun", body_wheel()), ("carrier", body_wheel()))


def drive(**changed: Any) -> DrivetrainRecord:
    """A harmonic drive on joint 1."""
    given = {
        "name": "drive",
        "housing": "base",
        "joint": "joint_1",
        "fixed": "circular_spline",
        "flexspline": 100,
        "circular_spline": 102,
        "wave_generator": body_wheel(),
        **changed,
    }
    return DrivetrainRecord("file.yaml", harmonic=(HarmonicRecord(**given),))


def planets(*places: float, mass: float = 0.1, **more: Any) -> DrivetrainRecord:
    """Wheels on wheel a, at x."""
    riders = [body_wheel(f"p{x:g}", "a", position=(x, 0, 0), mass=mass, **more) for x in places]
    spins = [SpinRecord(rider.name, (("joint_1", 2.0),)) for rider in riders]
    return train(ON_1, *spins, wheels=(A, *riders))


BAD: list[tuple[DrivetrainRecord, list[str]]] = [
    # names
    (train(ON_1, gears("a", "x")), ["spins[1].mesh", "no link or wheel 'x'"]),
    (train(ON_1, gears("a", "b", "x")), ["spins[1].arm", "no link or wheel 'x'"]),
    (
        train(ON_1, gears("a", "b"), wheels=(A, replace(B, carrier="x"))),
        ["wheels.b.carrier", "no link or wheel 'x'"],
    ),
    (train(replace(ON_1, wheel="x"), gears("a", "b")), ["spins[0].wheel", "no wheel 'x'"]),
    (
        train(replace(ON_1, coefficients=(("x", 1.0),)), gears("a", "b")),
        ["spins[0]", "no movable joint 'x'", "joint_1"],
    ),
    (
        train(ON_1, gears("a", "b"), motors=(MotorRecord("m", "box.sun"),)),
        ["motors.m.wheel", "no wheel 'box.sun'", "valid: a, b"],
    ),
    (
        train(ON_1, gears("a", "link_1"), wheels=(A, replace(B, name="link_2"))),
        ["wheels.link_2", "name of a link"],
    ),
    (train(ON_1, gears("a", "b"), wheels=(A, B, B)), ["wheels.b", "duplicate"]),
    (
        train(ON_1, wheels=(replace(A, carrier="b"), replace(B, carrier="a"))),
        ["wheels 'a', 'b' carry each other"],
    ),
    (train(ON_1, wheels=(replace(A, carrier="a"),)), ["wheels: wheel 'a' carries itself", "it"]),
    (
        train(ON_1, wheels=(replace(C, carrier="b"), A, replace(B, carrier="b"))),
        ["wheels: wheel 'b' carries itself"],
    ),
    # what a mesh says
    (
        train(ON_1, gears("a", "b"), wheels=(A, replace(B, position=(0, 0, 0.3)))),
        ["spins[1]", "axes of 'a' and 'b' are one line", "cannot mesh externally", "positions"],
    ),
    (
        train(ON_1, gears("a", "link_1"), wheels=(A,)),
        ["spins[1]", "axes of 'a' and 'link_1' are one line"],
    ),
    (train(ON_1, gears("a", "a")), ["spins[1]", "not three bodies"]),
    (train(ON_1, gears("a", "b", "a")), ["spins[1]", "not three bodies"]),
    (
        train(ON_1, gears("a", "b"), gears("link_1", "link_2", k=2)),
        ["spins[2]", "'link_1' and 'link_2' are links", "gives no wheel's speed", "mimic"],
    ),
    (train(ON_1, gears("a", "b", sizes=(20, 0))), ["spins[1]", "size 0", "'a', 'b'", "positive"]),
    (train(ON_1, gears("a", "b", sizes=(-20, 10))), ["size -20"]),
    (train(ON_1, gears("a", "b", sizes=(float("nan"), 10))), ["size nan"]),
    (
        train(ON_1, gears("a", "b", kind=None)),
        ["neither kind nor sign", "'a' and 'b'"],
    ),
    (
        train(ON_1, gears("a", "b"), wheels=(A, replace(B, axis=X))),
        ["axes of 'a' and 'b' are 90 deg apart", "bevel", "sign"],
    ),
    (train(ON_1, gears("a", "b", sign=1, axes=(X, Z))), ["spins[1].axes", "'a' is 90 deg off"]),
    (
        train(ON_1, gears("a", "b", sign=1, axes=(Z, (0.0, 0.0, 0.0)))),
        ["spins[1].axes", "'b' is zero"],
    ),
    (
        train(ON_1, gears("b", "link_1", "link_1_", sign=1)),
        ["no link or wheel 'link_1_'", "did you mean 'link_1'"],
    ),
    (train(ON_1, gears("b", "link_3", "link_2")), ["'link_3' does not rotate relative to"]),
    # coaxiality
    (
        train(ON_1, gears("b", "link_2", "link_1", sign=1)),
        ["spins[1]", "between 'b' and mesh carrier 'link_1'", "parallel, 0.1 m apart"],
    ),
    (
        train(ON_1, gears("b", "link_2", "link_1", sign=1), wheels=(A, replace(B, axis=X))),
        ["joint 'joint_1' between 'b' and mesh carrier 'link_1'", "90 deg apart", "axis of 'b'"],
    ),
    (
        train(ON_1, gears("b", "link_2", sign=1)),
        ["joint 'joint_1' between 'link_2' and mesh carrier 'base'"],
    ),
    (
        train(ON_1, gears("b", "a", "link_3"), wheels=(A, replace(B, carrier="link_2"))),
        ["joint 'joint_3' between 'b' and mesh carrier 'link_3' is not coaxial", "90 deg"],
    ),
    # counting
    (
        train(ON_1, gears("b", "c"), wheels=(A, B, C)),
        ["file.yaml, spins", "the spin of wheels 'b', 'c' is not determined: 1 equation missing"],
    ),
    (
        train(ON_1, gears("a", "b"), wheels=(A, B, C)),
        ["wheel 'c' is not determined: 1 equation missing", "add an entry to"],
    ),
    (
        train(ON_1, gears("a", "b"), gears("b", "a", k=2, sizes=(40, 20))),
        ["spins[2]", "over-determines wheels 'a', 'b'", "repeats what follows from spins[1]"],
    ),
    (
        train(ON_1, gears("a", "b"), SpinRecord("b", (("joint_1", -5.0),), "spins[2]")),
        ["spins[1]", "over-determines wheels 'a', 'b'", "repeats", "spins[0], spins[2]"],
    ),
    (
        train(ON_1, gears("a", "b"), gears("a", "b", k=2, kind="internal")),
        ["spins[2]", "over-determines wheels 'a', 'b'", "contradicts spins[0], spins[1] unless"],
    ),
    (
        train(ON_1, gears("a", "b"), gears("b", "link_1", k=2)),
        ["spins[2]", "over-determines wheels 'a', 'b'", "1 joint_1 = 0"],
    ),
    (
        train(
            gears("a", "link_1", sign=-1),
            gears("a", "link_2", "link_1", k=2, sign=1),
            wheels=(A,),
        ),
        ["over-determines wheel 'a'", "unless 1 joint_1 + 0.666667 joint_2 = 0"],
    ),
    (
        train(gears("a", "b"), gears("b", "c", k=2), gears("c", "a", k=3), wheels=(A, B, C)),
        ["these meshes lock wheels 'a', 'b', 'c'", "spins[1], spins[2], spins[3]", "ring"],
    ),
    (
        train(ON_1, gears("a", "b", sizes=(1e300, 1e-300))),
        ["wheels.b", "ratio is too large"],
    ),
    (
        train(
            ON_1,
            gears("base", "link_1", "b", sizes=(40, 40), kind="internal"),
            wheels=(A, replace(B, position=(0, 0, 0))),
        ),
        ["spins[1]", "determines no wheel", "contradicts itself unless 1 joint_1 = 0"],
    ),
    (
        train(ON_1, gears("base", "sensor", "b", kind="internal")),
        ["spins[1]", "these meshes lock wheel 'b'"],
    ),
    # wheels on wheels
    (
        planets(0.1),
        ["wheels.a", "wheel 'p0.1' orbits with it and is", "not balanced", "three or more"],
    ),
    (planets(0.1, -0.1), ["wheels 'p0.1', 'p-0.1' orbit with it and are", "not balanced"]),
    (planets(0.1, axis=X), ["wheels.p0.1.axis", "not parallel to that of wheel 'a'"]),
    (
        planets(0.1, mass=0.0, included_in_link=True),
        ["wheels.p0.1.mass", "its share of the link"],
    ),
    # planetary sets
    (
        box(planet=body_wheel(mass=0.0, included_in_link=True), **SPINNING),
        ["planetary.box.planet.mass", "their share of the link"],
    ),
    (box(teeth=(20, 10, 41)), ["planetary.box.teeth", "ring 41 is not", "= 40"]),
    (box(teeth=(20, 0, 20)), ["planetary.box.teeth", "positive integer"]),
    (box(teeth=(20, 10.5, 41)), ["planetary.box.teeth", "positive integer"]),
    (
        box(teeth=(20, 15, 50), planets=4),
        ["box.planets", "4 planets", "use 1 or 2 or 5"],
    ),
    (box(planets=0), ["planetary.box.planets", "there are 0"]),
    (
        box(teeth=(10, 40, 90), planets=5),
        ["box.planets", "5 planets overlap", "use 1 or 2"],
    ),
    (box(planets=2, **SPINNING), ["planetary.box.planets", "2 planets on a spinning carrier"]),
    (box(planets=1, **SPINNING), ["1 planet on a spinning carrier"]),
    (box(radius=0.0), ["planetary.box.radius", "distance from the axis"]),
    (box(members=(("sun", "snu"),)), ["planetary.box.sun: there is no link or wheel 'snu'"]),
    (
        box(**{**SPINNING, "members": (("carrier", "x"),)}),
        ["planetary.box.carrier: there is no link or wheel 'x'"],
    ),
    (box(input="ring"), ["planetary.box", "ring is fixed, the ring is the input"]),
    (box(members=()), ["planetary.box", "the sun is not described"]),
    (
        box(members=(("sun", body_wheel()), ("ring", body_wheel()))),
        ["planetary.box.ring", "part of link 'base'"],
    ),
    (
        box(members=SUN_AND_CARRIER),
        ["planetary.box.carrier", "part of the link that 'joint_1' moves", "inertial"],
    ),
    (box(**NO_JOINT), ["the carrier is not described", "a joint, or carrier"]),
    (box(**NO_JOINT, members=SUN_AND_CARRIER), ["not determined", "'box.sun'", "1 eq"]),
    (box(joint=None, members=SUN_AND_CARRIER), ["neither joint nor axis", "add axis"]),
    (box(axis=(0.0, 0.0, 0.0)), ["planetary.box.axis", "zero"]),
    (box(axis=X), ["planetary.box", "'joint_1'", "90 deg apart"]),
    (
        replace(box(members=(("sun", "a"),)), wheels=(replace(A, position=(0.1, 0, 0)),)),
        ["planetary.box", "wheel 'a' is not coaxial", "0.1 m apart"],
    ),
    (box(position=(0.1, 0.0, 0.0)), ["planetary.box", "not coaxial", "0.1 m apart"]),
    (box(housing="x"), ["planetary.box.housing", "no link 'x'"]),
    (box(joint="x"), ["planetary.box.joint", "no movable joint 'x'"]),
    (box(joint="joint_3"), ["planetary.box.joint", "'joint_3' slides"]),
    (box(members=(("sun", "x"),)), ["planetary.box", "no link or wheel 'x'"]),
    (
        box(input="carrier", output="sun", members=(("carrier", "x"),)),
        ["planetary.box.carrier", "no link or wheel 'x'"],
    ),
    # harmonic drives
    (drive(circular_spline=100), ["harmonic.drive.teeth", "100 teeth", "two more"]),
    (drive(flexspline=0), ["harmonic.drive.teeth", "positive integer"]),
    (drive(joint="x"), ["harmonic.drive.joint", "no movable joint 'x'"]),
    (drive(axis=X), ["harmonic.drive", "90 deg apart"]),
]
ON_A = train(ON_1, gears("a", "b", sign=-1), wheels=(A, replace(B, position=(0, 0, 0.3))))
GOOD = [train(ON_1, gears("a", "b")), ON_A, box(), box(**SPINNING), drive()]


@pytest.mark.parametrize(("drivetrain", "words"), BAD)
def test_refused(drivetrain: DrivetrainRecord, words: list[str]) -> None:
    with pytest.raises(GearedDynamicsError) as caught:
        build_model(ROBOT, drivetrain)
    error = caught.value
    assert isinstance(error, ModelError | DescriptionError | UnknownNameError)
    assert error.place.startswith("file.yaml, ")
    assert error.remedy
    assert [word for word in words if word not in str(error)] == [], str(error)


@pytest.mark.parametrize("drivetrain", GOOD)
def test_what_the_table_starts_from_is_good(drivetrain: DrivetrainRecord) -> None:
    model = build_model(ROBOT, drivetrain)
    assert pickle.loads(pickle.dumps(model)).records == model.records


def two_fingers(*, mimic: bool) -> RobotRecord:
    """Two links on the base, side by side; the second may follow the first."""
    robot = serial_robot(("revolute", Z, (0, 0, 0)), ("revolute", Z, (0.1, 0, 0)))
    first, second = robot.joints
    second = replace(second, parent="base", mimic=MimicRecord("joint_1", -1.0) if mimic else None)
    return replace(robot, joints=(first, second))


@pytest.mark.parametrize(
    ("mimic", "words"), [(True, "repeats"), (False, "1 joint_1 + 1 joint_2 = 0")]
)
def test_an_idler_between_two_links_ties_their_joints(mimic: bool, words: str) -> None:
    wheels = [body_wheel("idler", "base", position=(0.05, 0, 0))]
    drivetrain = train(
        gears("idler", "link_1", sizes=(9, 27)),
        gears("idler", "link_2", k=2, sizes=(9, 27), kind="internal"),
        wheels=wheels,
    )
    with pytest.raises(ModelError, match="over-determines wheel 'idler'") as caught:
        build_model(two_fingers(mimic=mimic), drivetrain)
    assert words in str(caught.value)


def test_radii_that_repeat_each_other_in_rounded_digits_are_redundant() -> None:
    drivetrain = train(
        ON_1, gears("a", "b", sizes=(0.1, 0.1 / 3)), gears("a", "b", k=2, sizes=(3, 1))
    )
    with pytest.raises(ModelError, match="repeats"):
        build_model(ROBOT, drivetrain)


def test_errors_of_long_trains_stay_short() -> None:
    """A few wheels and places, and how many more."""
    names = [f"idler_{k}" for k in range(200)]
    wheels = [body_wheel(name, "base", position=(k, 0, 0)) for k, name in enumerate(names)]
    pairs = [gears(a, b, k=k) for k, (a, b) in enumerate(pairwise(names))]
    ends = [SpinRecord(name, (("joint_1", 7.0),), f"ends of {name}") for name in names[::199]]
    for spins in (ends[:0], ends):
        record = DrivetrainRecord("f", tuple(wheels), tuple(spins), tuple(pairs))
        with pytest.raises(ModelError, match=r"'idler_\d' and 19\d more") as caught:
            build_model(ROBOT, record)
        assert len(str(caught.value)) < 600


def test_locked_by_a_frozen_joint_is_no_mistake() -> None:
    robot = freeze(ROBOT, lock={"joint_1": 0.3})
    model = build_model(robot, train(ON_1, gears("a", "b")), frozen=frozenset({"joint_1"}))
    assert not model.Gamma.any()


def test_planets_may_stand_still_in_a_link_that_contains_them() -> None:
    """Where they sit does not matter then, unless they orbit."""
    included = replace(body_wheel(mass=0.1), included_in_link=True)
    model = build_model(ROBOT, box(planet=included, radius=0.0))
    assert model.wheel_names[0] == "box.sun"
    with pytest.raises(ModelError, match="distance from the axis"):
        build_model(ROBOT, box(planet=included, radius=0.0, **SPINNING))
    with pytest.raises(ModelError, match="included_in_link"):
        build_model(ROBOT, box(planet=included, **SPINNING))
