"""Calls and models that are refused, by place, finding and remedy: what no other table has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from geared_dynamics.control import terms
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
