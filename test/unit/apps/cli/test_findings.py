"""What describe lists as missing and as assumed: only what is so of the model at hand."""

from __future__ import annotations

from typing import Any

import pytest

import geared_dynamics as gd
from geared_dynamics.apps.cli.drive_tables import assumptions, gaps
from shafts import WHEEL

LINK = (
    '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    '</link><joint name="j_{0}" type="continuous"><parent link="{1}"/><child link="{0}"/>'
    '<axis xyz="1 0 0"/><origin xyz="0 0.3 0"/></joint>'
)
URDF = (
    '<robot name="r"><link name="base"/>'
    + LINK.format("one", "base")
    + LINK.format("two", "one")
    + "</robot>"
)
SOFT = "stiffness of {} is read; rigid functions mean theta = q"


def arm(**sections: Any) -> gd.GearedModel:
    """Two joints, a wheel with each."""
    drives: dict[str, Any] = {
        "version": 1,
        "wheels": {"a": WHEEL, "b": {**WHEEL, "carrier": "one"}},
        "spins": [
            {"wheel": "a", "joint": "j_one", "ratio": 50},
            {"wheel": "b", "joint": "j_two", "ratio": 50},
        ],
        "motors": {"m": {"wheel": "a"}, "n": {"wheel": "b"}},
    }
    return gd.load_model(URDF, drives | sections)


def lines(found: list[str], start: str) -> list[str]:
    """Those that begin so."""
    return [line for line in found if line.startswith(start)]


@pytest.mark.parametrize("soft", [[], ["j_two"], ["j_one", "j_two"]])
def test_springs_of_the_joints(soft: list[str]) -> None:
    found = assumptions(arm(joints={name: {"stiffness": 1e3} for name in soft}))
    assert lines(found, "stiffness") == ([SOFT.format(", ".join(soft))] if soft else [])
    assert lines(found, "springs of passive") == []


def test_a_passive_joint_has_a_spring_of_its_own_line() -> None:
    found = arm(
        wheels={"a": WHEEL},
        spins=[{"wheel": "a", "joint": "j_one", "ratio": 50}],
        motors={"m": {"wheel": "a"}},
        joints={"j_one": {"stiffness": 1e3}, "j_two": {"stiffness": 20.0, "passive": True}},
    )
    words = assumptions(found)
    assert lines(words, "stiffness") == [SOFT.format("j_one")]
    (line,) = lines(words, "springs of passive")
    assert line == "springs of passive j_two act in the elastic functions only"


def test_springs_between_wheels() -> None:
    spring = {"shaft": {"between": ["a", "b"], "stiffness": 1e3}}
    spins = [{"wheel": name, "joint": "j_one", "ratio": 50} for name in "ab"]
    model = arm(
        springs=spring,
        wheels=dict.fromkeys("ab", WHEEL),
        spins=spins,
        motors={"m": {"wheel": "a"}},
        joints={"j_two": {"passive": True}},
    )
    assert lines(assumptions(model), "stiffness") == [SOFT.format("shaft")]


def test_wheels_without_mass() -> None:
    light = {**WHEEL, "mass": 0.0}
    assert lines(assumptions(arm()), "wheels without mass") == []
    found = arm(wheels={"a": light, "b": {**WHEEL, "carrier": "one"}})
    assert lines(assumptions(found), "wheels without mass") == ["wheels without mass: a"]


def test_what_a_complete_model_would_have() -> None:
    assert gaps(arm()) == []
    assert gaps(arm(motors={"m": {"wheel": "b"}})) == ["no motor acts on: j_one"]
    no_motors = arm(motors={})
    assert gaps(no_motors) == ["no motors: section, so there is no structure matrix"]
    one = arm(
        wheels={"a": {**WHEEL, "inertia": {"axial": 0.0}}},
        spins=[{"wheel": "a", "joint": "j_one", "ratio": 50}],
        motors={"m": {"wheel": "a"}},
    )
    assert gaps(one) == [
        "no wheel turns with: j_two",
        "no inertia about the spin axis: a",
        "no motor acts on: j_two",
    ]


@pytest.mark.filterwarnings("ignore:.*the reduction is read here")
def test_a_transmission_without_a_ratio_is_told_from_one_with_a_ratio() -> None:
    one = (
        '<transmission name="t_{0}"><type>transmission_interface/SimpleTransmission</type>'
        '<joint name="j_{0}"/><actuator name="m_{0}"><mechanicalReduction>{1}'
        "</mechanicalReduction></actuator></transmission>"
    )
    for first, second, named in ((1, 50, "m_one"), (-1, 1, "m_one, m_two"), (20, 50, "")):
        text = one.format("one", first) + one.format("two", second)
        model = gd.load_model(URDF.replace("</robot>", text + "</robot>"))
        told = f"no gear ratio: transmissions of the URDF give {named} ratio 1"
        found = lines(gaps(model), "no gear ratio")
        assert [line.partition(" and no inertia")[0] for line in found] == [told][: bool(named)]
