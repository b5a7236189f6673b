"""Loops, couplings and springs that a tree cannot hold: each is named, and refused when strict."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

import geared_dynamics as gd
from geared_dynamics.errors import DescriptionError, GearedDynamicsWarning

ENDS = '<predecessor link="link_1"/><successor link="link_3"/>'
LEFT_OUT = {
    "URDF+ loop": (
        f'<loop name="knee" type="revolute">{ENDS}<axis xyz="0 0 1"/></loop>',
        "loop 'knee', line 16: <loop> closes a kinematic loop ('link_1', 'link_3')",
        "<mimic>",
    ),
    "URDF+ coupling": (
        f'<coupling name="belt">{ENDS}<ratio value="2"/></coupling>',
        "coupling 'belt', line 16: <coupling> couples joints or links ('link_1', 'link_3')",
        "<mimic>",
    ),
    "Isaac Sim": (
        '<loop_joint name="j" type="spherical"><link1 link="link_1" xyz="0 0 0"/>'
        '<link2 link="link_3"/></loop_joint>',
        "loop_joint 'j', line 16: <loop_joint> closes a kinematic loop ('link_1', 'link_3')",
        "<mimic>",
    ),
    "constraint": (
        '<constraint name="c" type="ball"><parent link="link_1"/><child link="base"/>'
        "</constraint>",
        "constraint 'c', line 16: <constraint> closes a kinematic loop ('link_1', 'base')",
        "<mimic>",
    ),
    "Drake's ball constraint": (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="link_1"/>'
        '<drake:ball_constraint_p_AP value="0 0 0"/></drake:ball_constraint>',
        "line 16: <drake:ball_constraint> closes a kinematic loop ('link_1')",
        "<mimic>",
    ),
    "Drake's tendon": (
        '<drake:tendon_constraint><drake:tendon_constraint_joint name="joint_1" a="10"/>'
        '<drake:tendon_constraint_joint name="joint_2" a="20"/></drake:tendon_constraint>',
        "<drake:tendon_constraint> couples joints or links ('joint_1', 'joint_2')",
        "drivetrain file",
    ),
    "Drake's bushing": (
        '<drake:linear_bushing_rpy><drake:bushing_frameA name="a"/></drake:linear_bushing_rpy>',
        "<drake:linear_bushing_rpy> is a spring or damper ('a')",
        "'balancers'",
    ),
    "Drake's spring": (
        "<drake:linear_spring_damper/>",
        "<drake:linear_spring_damper> is a spring or damper, which",
        "'balancers'",
    ),
    "Drake's older spring": (
        '<force_element name="f"><torsional_spring stiffness="2300" rest_angle="0">'
        '<joint name="joint_1"/></torsional_spring></force_element>',
        "<force_element> is a spring or damper ('joint_1')",
        "'balancers'",
    ),
    "Drake's joint": (
        '<drake:joint name="b" type="ball"><parent link="link_1"/><child link="link_3"/>'
        "</drake:joint>",
        "drake:joint 'b', line 16: <drake:joint> is a joint ('link_1', 'link_3') of a kind",
        "three revolute",
    ),
    "Gazebo's joint": (
        '<gazebo><joint name="close" type="revolute"><parent>link_3</parent>'
        "<child>link_1</child></joint></gazebo>",
        "joint 'close', line 16: <joint> closes a kinematic loop ('link_3', 'link_1')",
        "<mimic>",
    ),
    "capitals": ("<LoopClosure/>", "<LoopClosure> closes a kinematic loop, which", "<mimic>"),
    "a foreign namespace": (
        '<v:loop xmlns:v="http://vendor" name="w"/>',
        "v:loop 'w', line 16: <v:loop> closes a kinematic loop, which",
        "<mimic>",
    ),
}
SILENT = {
    "base to the world": "<gazebo><joint name='w' type='fixed'><parent>world</parent>"
    "<child>base</child></joint></gazebo>",
    "settings of Gazebo": "<gazebo reference='link_1'><loop>1</loop></gazebo>"
    "<gazebo><plugin name='p' filename='f'><loop>true</loop></plugin></gazebo>",
    "names that only look alike": "<looping/><uncoupled/><drake:collision_filter_group/><frame/>",
    "a controller's loop": "<ros2_control name='h' type='system'><hardware><plugin>p</plugin>"
    "<param name='loop_rate'>1</param></hardware></ros2_control>",
}


@pytest.mark.parametrize(("text", "finding", "remedy"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_each_is_named(text: str, finding: str, remedy: str, arm: Callable[..., str]) -> None:
    with pytest.warns(GearedDynamicsWarning) as caught:
        model = gd.load_model(arm(text))
    (note,) = model.notes
    assert [str(warning.message) for warning in caught] == [note]
    assert note.startswith("<URDF text>, ")
    assert finding in note
    assert "not a part of the model" in note
    assert remedy in note
    with pytest.raises(DescriptionError, match="load without strict=True") as refused:
        gd.load_model(arm(text), strict=True)
    assert refused.value.finding in note


def test_inside_a_joint(arm: Callable[..., str]) -> None:
    with pytest.warns(GearedDynamicsWarning, match="<coupling> couples") as caught:
        gd.load_model(arm(more={2: '<coupling joint="joint_1" ratio="2"/>'}))
    assert len(caught) == 1


def test_one_note_for_each(arm: Callable[..., str]) -> None:
    two = '<loop name="left"/>\n<loop name="right"/>'
    with pytest.warns(GearedDynamicsWarning) as caught:
        model = gd.load_model(arm(two))
    assert len(caught) == len(model.notes) == 2
    assert "'left', line 16" in model.notes[0]
    assert "'right', line 17" in model.notes[1]


def test_in_a_urdf_of_its_own_namespace(arm: Callable[..., str]) -> None:
    text = arm('<loop name="knee"/>').replace("<robot ", '<robot xmlns="http://urdf" ', 1)
    with pytest.warns(GearedDynamicsWarning, match="loop 'knee', line 16: <loop> closes"):
        gd.load_model(text)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_is_none_is_silent(text: str, arm: Callable[..., str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gd.load_model(arm(text), strict=True).notes == ()


def test_the_numbers_stay(arm: Callable[..., str]) -> None:
    with pytest.warns(GearedDynamicsWarning):
        model = gd.load_model(arm('<loop name="knee"/>'))
    assert model.joint_names == gd.load_model(arm()).joint_names
