"""Calls and models that are refused, by place, finding and remedy: what no other table has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from geared_dynamics.arrays import Array
from geared_dynamics.control import terms
from geared_dynamics.observers.payload_estimate import load_columns
from geared_dynamics.recordings.mcap_records import decompressed
from geared_dynamics.trace.derivatives import InverseDynamicsDerivatives, rows_of
from geared_dynamics.trace.joined import filled
from geared_dynamics.trajectory.waypoint_checks import checked
from geared_dynamics.trajectory.waypoints import JointTrajectory, Rules
from simulated_arms import arm

SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LINK = '<link name="{}">' + SOLID + "</link>"
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/>{}</joint>'
)


def robot(*joints: tuple[str, str, str]) -> str:
    """A serial robot of (name, kind, further elements)."""
    links = ["base", *(f"after_{name}" for name, _, _ in joints)]
    texts = [LINK.format(link) for link in links[1:]]
    texts += [
        JOINT.format(name, kind, links[k], links[k + 1], more)
        for k, (name, kind, more) in enumerate(joints)
    ]
    return f'<robot name="r"><link name="base"/>{"".join(texts)}</robot>'


MIMIC = '<mimic joint="one"/>'
TWO = robot(("one", "revolute", ""), ("two", "revolute", MIMIC))
WHEEL = {"carrier": "base", "axis": [0, 1, 0], "mass": 0.1, "inertia": {"axial": 1e-3}}


def drives(**changes: Any) -> dict[str, Any]:
    """A wheel on joint one, with a motor."""
    spins = [{"wheel": "rotor", "joint": "one", "ratio": 50}]
    motors = {"m": {"wheel": "rotor"}}
    return {"version": 1, "wheels": {"rotor": WHEEL}, "spins": spins, "motors": motors} | changes


SAME_NAME: dict[str, Any] = {
    "wheels": {"base": WHEEL},
    "spins": [{"wheel": "base", "joint": "one", "ratio": 50}],
    "motors": {"m": {"wheel": "base"}},
}
SPRING = {"one": {"stiffness": 1e3}, "two": {"passive": True}}
SET: dict[str, Any] = {
    "joint": "one", "housing": "base", "layout": "carrier_fixed", "input": "sun",
    "output": "ring", "teeth": {"sun": 20, "planet": 10, "ring": 40}, "planets": 3,
    "planet": {"inertia": {"axial": 1e-3}, "included_in_link": True},
    "sun": {"inertia": {"axial": 1e-3}, "included_in_link": True},
}  # fmt: skip
AXES: dict[str, Any] = {
    "axis": [0, 0, 1], "axis_below": [0, 0, 1], "to_centre": [1, 0, 0], "from_centre": [1, 0, 0],
    "mass": 1.0, "tensor": np.eye(3),
}  # fmt: skip
RING = {"inertia": {"axial": 1e-3}, "included_in_link": True}
REST, MOVING = np.zeros(4), np.ones(1)


class Pair(NamedTuple):
    """A result of two arrays."""

    one: Array
    other: Array


CASES: dict[str, tuple[Callable[[], object], str, str]] = {
    "no joint": (lambda: gd.load_model(robot(("one", "fixed", ""))), "URDF", "no movable joint"),
    "gravity of two": (lambda: gd.load_model(TWO, gravity=(0, 1)), "gravity", "three finite"),
    "leader frozen": (lambda: gd.load_model(TWO, joints=["two"]), "joints", "mimics 'one'"),
    "wheel as a link": (
        lambda: gd.load_model(TWO, drives(**SAME_NAME)),
        "wheels.base", "name of a link",
    ),
    "wheel on nothing": (
        lambda: gd.load_model(TWO, drives(wheels={"rotor": WHEEL | {"carrier": "nowhere"}})),
        "wheels.rotor.carrier", "'nowhere'",
    ),
    "wheel of no joint": (
        lambda: gd.load_model(TWO, drives(spins=[{"wheel": "rotor", "joint": "x", "ratio": 2}])),
        "spins", "'x'",
    ),
    "passive mimic of a spring": (
        lambda: gd.load_model(TWO, drives(joints=SPRING)), "joints.one.passive", "passive",
    ),
    "no model": (lambda: gd.mass_matrix("arm", np.zeros(2)), "model", "is a str"),  # type: ignore[arg-type]
    "coupling": (lambda: driven_arm(1).with_coupling("some"), "coupling", "complete"),  # type: ignore[arg-type]
    "frame": (lambda: gd.pose(driven_arm(1), np.zeros(4), "nowhere"), "frame", "'nowhere'"),
    "payload of text": (lambda: driven_arm(1).with_payload("1 kg"), "payload", "kg|number"),  # type: ignore[arg-type]
    "payload of NaN": (
        lambda: driven_arm(1).with_payload(np.nan, link="tool"), "payload", "NaN|finite",
    ),
    "rotors": (
        lambda: gd.elastic.modes(arm(), np.zeros(3), rotors="loose"), "rotors", "held",  # type: ignore[arg-type]
    ),
    "modes of many": (lambda: gd.elastic.modes(arm(), np.zeros((2, 3))), "q", "one posture"),
    "actuator of nobody": (lambda: gd.dc_actuator(driven_arm(1), "m9"), "motor", "'m9'"),
    "gains that are none": (
        lambda: gd.control.controller(driven_arm(1), "computed_torque", gains=5),  # type: ignore[arg-type]
        "gains", "is a int|are a int",
    ),
    "gains of a torque": (
        lambda: gd.control.controller(
            driven_arm(1), "computed_torque", gains=gd.control.Gains(1.0, 1.0, kind="torque")
        ),
        "gains", "of kind 'torque'",
    ),
    "reference without derivatives": (
        lambda: terms.derivatives_of(gd.control.Reference(REST, REST, REST), 4),
        "reference.derivatives", "are not given",
    ),
    "kind of a table's joint": (
        lambda: gd.from_dh([{"a": 1.0, "alpha": 0.0, "kind": "ball"}]), "rows[0].kind", "'ball'",
    ),
    "kind of Rodrigues's joint": (
        lambda: gd.from_rodrigues([AXES | {"kind": "ball"}]), "rows[0].kind", "'ball'",
    ),
    "planetary set whose ring is a part of the link": (
        lambda: gd.load_model(TWO, {"version": 1, "planetary": {"set": SET | {"ring": RING}}}),
        "planetary.set.ring", "is a part of the link that 'one' moves",
    ),
    "locked without names": (
        lambda: gd.load_model(TWO, lock=[1.0]),  # type: ignore[arg-type]
        "lock", "found list",
    ),
    "out that is no array": (
        lambda: gd.mass_matrix(driven_arm(1), REST, out=[[0.0]]),  # type: ignore[arg-type]
        "out", "is a list",
    ),
    "no posture": (
        lambda: gd.cartesian.properties(arm(), np.empty((0, 3))), "q", "contains no position",
    ),
    "load of no link": (
        lambda: load_columns(driven_arm(1), "nowhere", REST, REST, REST), "link", "'nowhere'",
    ),
    "compression": (
        lambda: decompressed("brotli", b"", "file", 10), "file", "compressed as 'brotli'",
    ),
    "times that stand still": (
        lambda: gd.simulation.simulate_elastic(
            arm(), gd.State(REST[:3], REST[:3], REST[:3], REST[:3]), [0.0, 1.0, 1.0]
        ),
        "times", "must increase",
    ),
    "wall of a number": (lambda: gd.simulation.PlantSettings(wall=1.0), "wall", "is 1.0"),  # type: ignore[arg-type]
    "another result": (
        lambda: gd.motor_commands_derivatives(
            driven_arm(1, joints=1), MOVING, MOVING, MOVING, out=REST  # type: ignore[arg-type]
        ),
        "out", "is a ndarray",
    ),
    "result of another kind": (
        lambda: filled(Pair(REST, REST), (REST, REST)), "out", "is a tuple",
    ),
    "slopes of another kind": (
        lambda: rows_of(REST, InverseDynamicsDerivatives), "out", "is a ndarray",  # type: ignore[arg-type, type-var]
    ),
    "limit of zero": (
        lambda: gd.trajectory.trapezoidal([0.0], [1.0], velocity=0.0, acceleration=1.0),
        "velocity", "is 0",
    ),
    "point that is none": (
        lambda: checked(JointTrajectory(("a",), [0.0]), Rules(("a",)), 0.0),  # type: ignore[list-item]
        "point 0", "is a float",
    ),
    "joint named twice": (
        lambda: Rules(("a", "b", "a")), "joints", "has 'a' twice",
    ),
    "overflow": (
        lambda: terms.refuse_overflow(np.array([0.0, np.inf])), "command", "SI units",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    call, place, words = CASES[case]
    with pytest.raises(gd.GearedDynamicsError, match=words) as caught:
        call()
    error = caught.value
    assert place in error.place
    assert error.finding
    assert error.remedy
