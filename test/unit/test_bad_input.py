"""Everything a user can get wrong in the files, through the front door, in one table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import geared_dynamics as gd

INERTIAL = "<inertial><mass value='{}'/><inertia {}/></inertial>"
UNIT = 'ixx="1" iyy="1" izz="1"'
JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<axis xyz="{axis}"/></joint>'
)


def link(name: str, inertia: str = UNIT, mass: str = "1") -> str:
    """XML of a link."""
    return f'<link name="{name}">{INERTIAL.format(mass, inertia)}</link>'


def joint(
    name: str, parent: str, child: str, kind: str = "continuous", axis: str = "0 0 1"
) -> str:
    """XML of a joint."""
    return JOINT.format(name=name, kind=kind, parent=parent, child=child, axis=axis)


def robot(*parts: str) -> str:
    """XML of a robot."""
    return f'<robot name="arm">{"".join(parts)}</robot>'


BASE = '<link name="base"/>'
ONE, TWO = link("one"), link("two")
FIRST, SECOND = joint("j1", "base", "one"), joint("j2", "one", "two")
GOOD = robot(BASE, ONE, TWO, FIRST, SECOND)
WHEEL = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}


def drives(*, spins: object = None, **others: Any) -> dict[str, Any]:
    """Drivetrain of one wheel, good unless told otherwise: sections or the wheel's keys."""
    sections = {key: others.pop(key) for key in ("motors", "joints") if key in others}
    spins = spins or [spin("rotor", "j1")]
    return {"version": 1, "wheels": {"rotor": {**WHEEL, **others}}, "spins": spins, **sections}


def spin(wheel: str, joint: str) -> dict[str, object]:
    """Entry of spins."""
    return {"wheel": wheel, "joint": joint, "ratio": 10}


def heavy(inertia: str, mass: str = "1") -> str:
    """Robot whose second link has the given mass and inertia attributes."""
    return robot(BASE, ONE, link("two", inertia, mass), FIRST, SECOND)


def mimicking(multiplier: str, third: str = "1") -> str:
    """Robot whose second joint mimics the first, with friction, and whose third the second."""
    parts = [BASE, ONE, TWO, link("three"), FIRST]
    chain = (("j2", "one", "two", "j1", multiplier), ("j3", "two", "three", "j2", third))
    for name, parent, child, leader, factor in chain:
        mimic = f'<mimic joint="{leader}" multiplier="{factor}"/><dynamics damping="1"/></joint>'
        parts.append(joint(name, parent, child).replace("</joint>", mimic))
    return robot(*parts)


TRANSMISSION = (
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="j1"/><actuator name="motor"><mechanicalReduction>10</mechanicalReduction>'
    '<drake:rotor_inertia xmlns:drake="http://drake.mit.edu" value="1e300"/></actuator>'
    "</transmission></robot>"
)


def both(wheel: str, ratio: float) -> dict[str, object]:
    """Entry of spins of a wheel that turns with both joints."""
    return {"wheel": wheel, "coefficients": {"j1": ratio, "j2": ratio}}


SCREW, RACK = {"lead": 0.01}, {"pinion_radius": 0.02, "sign": -1}
REPEATED = {
    "version": 1,
    "wheels": {"left": WHEEL, "right": WHEEL},
    "spins": [both("left", 10), both("right", -30)],
    "motors": {"m1": {"wheel": "left"}, "m2": {"wheel": "right"}},
}
BOMB = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>'
EXTERNAL = '<!DOCTYPE r SYSTEM "file:///etc/hostname"><robot name="x"/>'
# What is wrong: URDF, drivetrain, words that the error must contain.
TABLE = {
    "file missing": ("no/such/arm.urdf", None, ["no/such/arm.urdf", "path"]),
    "not XML": ("<robot name='x'><link", None, ["line 1", "URDF text"]),
    "not a robot": ("<sdf/>", None, ["sdf", "<robot"]),
    "no joints": (robot(BASE), None, ["no movable joint", "revolute"]),
    "floating": (
        robot(BASE, ONE, joint("j1", "base", "one", "floating")),
        None,
        ["'j1'", "floating", "fixed"],
    ),
    "zero axis": (
        robot(BASE, ONE, joint("j1", "base", "one", axis="0 0 0")),
        None,
        ["j1", "axis", "no direction"],
    ),
    "unknown link": (
        robot(BASE, ONE, joint("j1", "bas", "one")),
        None,
        ["'bas'", "did you mean 'base'?", "one"],
    ),
    "loop": (robot(BASE, ONE, TWO, SECOND, joint("j3", "two", "one")), None, ["loop"]),
    "two parents": (
        robot(BASE, ONE, TWO, FIRST, SECOND, joint("j3", "base", "two")),
        None,
        ["two", "j2", "j3"],
    ),
    "negative mass": (heavy('ixx="1" iyy="1" izz="1"', "-1"), None, ["two", "mass", "-1"]),
    "NaN": (heavy('ixx="nan" iyy="1" izz="1"'), None, ["two", "inertia/ixx", "finite"]),
    "negative inertia": (heavy('ixx="-1" iyy="1" izz="1"'), None, ["two", "ixx", "-1"]),
    "massless tip": (
        robot(BASE, ONE, '<link name="two"/>', FIRST, SECOND),
        None,
        ["'j2'", "not positive definite", "freeze"],
    ),
    "entity bomb": (BOMB, None, ["DOCTYPE"]),
    "external entity": (EXTERNAL, None, ["DOCTYPE"]),
    "drivetrain missing": (GOOD, "no/such.yaml", ["no/such.yaml"]),
    "broken YAML": (GOOD, "version: 1\nwheels: [", ["line", "YAML"]),
    "unknown key": (
        GOOD,
        drives(karrier="base"),
        ["wheels.rotor", "karrier", "did you mean 'carrier'?"],
    ),
    "wrong version": (GOOD, {"version": 2}, ["version", "1"]),
    "carrier": (
        GOOD,
        drives(carrier="bse"),
        ["wheels.rotor.carrier", "'bse'", "did you mean 'base'?", "one, two"],
    ),
    "spin's joint": (GOOD, drives(spins=[spin("rotor", "j9")]), ["spins[0]", "'j9'", "j1, j2"]),
    "joint's name": (GOOD, drives(joints={"j9": {"stiffness": 1}}), ["joints.j9", "j1, j2"]),
    "no spin": (GOOD, {"version": 1, "wheels": {"rotor": WHEEL}}, ["rotor", "spin"]),
    "two spins": (
        GOOD,
        drives(spins=[spin("rotor", "j1"), spin("rotor", "j2")]),
        ["rotor", "spins[0]", "spins[1]"],
    ),
    "wheel's axis": (GOOD, drives(axis=[0, 0, 0]), ["wheels.rotor.axis", "zero"]),
    "wheel's mass": (GOOD, drives(mass=-1), ["wheels.rotor.mass", "-1"]),
    "wheel's inertia": (
        GOOD,
        drives(inertia={"axial": float("nan")}),
        ["wheels.rotor.inertia.axial", "finite"],
    ),
    "flat wheel": (GOOD, drives(inertia={"axial": 2, "transverse": 0.5}), ["transverse", "disc"]),
    "wheel named as a link": (
        GOOD,
        {"version": 1, "wheels": {"one": WHEEL}, "spins": [spin("one", "j1")]},
        ["wheels.one", "name of a link"],
    ),
    "motor's wheel": (
        GOOD,
        drives(motors={"m": {"wheel": "roto"}}),
        ["motors.m", "did you mean 'rotor'?"],
    ),
    "huge mimic": (mimicking("1e200"), None, ["'j2'/mimic/multiplier", "1e+200 is too large"]),
    "huge product of mimics": (
        mimicking("1e20", third="1e20"),
        None,
        ["joint 'j3'/mimic", "1e+40 is too large"],
    ),
    "huge origin": (
        GOOD.replace("<axis", '<origin xyz="0 1e200 0"/><axis'),
        None,
        ["<URDF text>, joint 'j1'/origin/xyz", "too large"],
    ),
    "huge axis": (robot(BASE, ONE, joint("j1", "base", "one", axis="0 0 1e308")), None, ["axis"]),
    "huge mass": (heavy(UNIT, "1e308"), None, ["'two'/inertial/mass", "too large"]),
    "huge ratio": (
        GOOD,
        drives(spins=[{"wheel": "rotor", "joint": "j1", "ratio": 1e300}]),
        ["<drivetrain dict>, spins[0].ratio", "too large"],
    ),
    "huge ratio through a mimic": (
        mimicking("1e20"),
        drives(spins=[{"wheel": "rotor", "joint": "j2", "ratio": 1e20}]),
        ["<drivetrain dict>, spins[0]", "1e+40 is too large"],
    ),
    "huge wheel": (
        GOOD,
        drives(inertia={"axial": 1e300}),
        ["<drivetrain dict>, wheels.rotor.inertia.axial", "1e+300", "SI"],
    ),
    "huge inertia of a URDF's rotor": (
        GOOD.replace("</robot>", TRANSMISSION),
        None,
        ["wheels.motor.inertia.axial", "too large"],
    ),
    "wheel beside which the links are rounding": (
        GOOD,
        drives(
            inertia={"axial": 1e20},
            spins=[{"wheel": "rotor", "coefficients": {"j1": 1, "j2": 1}}],
        ),
        ["<drivetrain dict>, wheels.rotor.inertia.axial", "1e+20", "all links", "SI"],
    ),
    "ball screw that turns": (
        GOOD,
        drives(spins=[{"wheel": "rotor", "joint": "j2", **SCREW}]),
        ["spins[0].lead", "'j2'", "'rotor'", "continuous", "prismatic"],
    ),
    "rack that turns": (
        GOOD,
        drives(spins=[{"wheel": "rotor", "joint": "j2", **RACK}]),
        ["spins[0].pinion_radius", "'j2'", "'rotor'", "continuous", "prismatic"],
    ),
    "motor that turns nothing": (
        mimicking("-1"),
        {**drives(spins=[both("rotor", 0.3)]), "motors": {"m": {"wheel": "rotor"}}},
        ["motors.m", "'rotor'", "joints 'j1', 'j2' add up to zero", "leave the motor out"],
    ),
    "motor that rounding seems to turn": (
        mimicking("-0.1"),
        {
            **drives(spins=[{"wheel": "rotor", "coefficients": {"j1": 0.3, "j2": 3}}]),
            "motors": {"m": {"wheel": "rotor"}},
        },
        ["motors.m", "add up to zero"],
    ),
    "motors that repeat each other": (
        GOOD,
        REPEATED,
        ["motors", "wheels 'left', 'right'", "joints 'j1', 'j2'", "rank 1", "correct the ratios"],
    ),
}


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize(("urdf", "drivetrain", "words"), TABLE.values(), ids=TABLE)
def test_bad_input_is_refused(urdf: str, drivetrain: object, words: list[str]) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(urdf, drivetrain)  # type: ignore[arg-type]
    error = caught.value
    assert error.place
    assert error.finding
    assert error.remedy
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize("lock", [{}, {"j2": 0.1}])
def test_a_screw_on_a_joint_that_turns_is_refused_though_it_is_locked(
    lock: dict[str, float],
) -> None:
    file = drives(spins=[{"wheel": "rotor", "joint": "j2", **SCREW}])
    with pytest.raises(gd.GearedDynamicsError, match=r"spins\[0\]\.lead.*'j2'.*continuous"):
        gd.load_model(GOOD, file, lock=lock)


def test_a_motor_whose_joints_are_locked_is_kept() -> None:
    file = drives(motors={"m": {"wheel": "rotor"}})
    assert gd.load_model(GOOD, file, lock={"j1": 0.1}).motor_names == ("m",)


def test_good_input_is_not_refused() -> None:
    model = gd.load_model(GOOD, drives())
    assert model.joint_names == ("j1", "j2")
    assert model.Gamma.tolist() == [[10.0, 0.0]]


def test_impossible_tensor_warns_and_is_refused_when_strict() -> None:
    urdf = heavy('ixx="1" iyy="1" izz="3"')
    with pytest.warns(gd.GearedDynamicsWarning, match=r"'two'.*triangle inequality"):
        model = gd.load_model(urdf)
    assert "triangle" in model.notes[0]
    with pytest.raises(gd.GearedDynamicsError, match=r"'two'.*triangle.*strict"):
        gd.load_model(urdf, strict=True)


def test_tensor_is_judged_after_merging() -> None:
    """A part that no body could have may belong to a possible whole."""
    flat = link("part", 'ixx="1" iyy="1" izz="3"')
    fixed = '<joint name="f" type="fixed"><parent link="two"/><child link="part"/></joint>'
    solid = link("two", 'ixx="9" iyy="9" izz="9"', "9")
    assert gd.load_model(robot(BASE, ONE, solid, flat, FIRST, SECOND, fixed)).notes == ()


def test_nesting_is_refused_quickly(tmp_path: Path) -> None:
    """100 MB of nested elements: refused by size before anything is read."""
    path = tmp_path / "deep.urdf"
    with path.open("wb") as file:
        file.write(b"<robot name='x'>")
        file.truncate(100_000_000)
    start = time.process_time()
    with pytest.raises(gd.GearedDynamicsError, match=r"deep\.urdf"):
        gd.load_model(path)
    with pytest.raises(gd.GearedDynamicsError, match=r"deep"):
        gd.load_model("<robot name='x'>" + "<a>" * 200_000)
    assert time.process_time() - start < 30.0  # seconds; a generous bound on "quickly"
