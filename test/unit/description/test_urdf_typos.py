"""Misspelt names in links and joints: each is reported, and refused when strict."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

import geared_dynamics as gd
from geared_dynamics.errors import DescriptionError, GearedDynamicsWarning

PLACE, LINK = "joint 'joint_2'", "link 'link_2'"
# What goes into joint_2, the place, what is found, the name that was meant.
IN_JOINT = {
    "orgin": ('<orgin xyz="0 0 0.3"/>', PLACE, "<orgin> inside <joint>", "<origin>"),
    "axes": ('<axes xyz="0 0 1"/>', PLACE, "<axes> inside <joint>", "<axis>"),
    "Dynamics": ('<Dynamics damping="1"/>', PLACE, "<Dynamics> inside <joint>", "<dynamics>"),
    "limt": ('<limt lower="0"/>', PLACE, "<limt> inside <joint>", "<limit>"),
    "multiplyer": (
        '<mimic joint="joint_1" multiplyer="2"/>',
        f"{PLACE}/mimic",
        "the attribute 'multiplyer' of <mimic>",
        "'multiplier'",
    ),
    "ofset": (
        '<mimic joint="joint_1" ofset="2"/>',
        f"{PLACE}/mimic",
        "the attribute 'ofset' of <mimic>",
        "'offset'",
    ),
    "xyy": (
        '<origin xyy="0 0 1"/>',
        f"{PLACE}/origin",
        "the attribute 'xyy' of <origin>",
        "'xyz'",
    ),
    "both": (
        '<origin rpy="0 0 0" xyz="1 0 0" rpz="0 0 1"/>',
        f"{PLACE}/origin",
        "the attribute 'rpz' of <origin>",
        "'rpy'",
    ),
    "dampening": (
        '<dynamics dampng="1"/>',
        f"{PLACE}/dynamics",
        "the attribute 'dampng' of <dynamics>",
        "'damping'",
    ),
}
# What is replaced in a link, by what; then as above.
IN_LINK = {
    "inertia": (
        "<inertial>",
        '<inertia ixx="1"/><inertial>',
        LINK,
        "<inertia> inside <link>",
        "<inertial>",
    ),
    "orgin": (
        "<origin",
        "<orgin",
        f"{LINK}/inertial",
        "<orgin> inside <inertial>",
        "<origin>",
    ),
    "iyx": (
        'izz="0.01"',
        'izz="0.01" iyx="0.001"',
        f"{LINK}/inertial/inertia",
        "the attribute 'iyx' of <inertia>",
        "'i",
    ),
}
SILENT = {
    "extensions": '<gazebo/><drake:orgin value="1"/><vendor id="5"/><hardware/>',
    "known and of no use": '<calibration rising="0"/><safety_controller k_velocity="1"/>',
    "beside a known one": '<dynamics damping="1" joint_damping="1"/>',
}


def check(text: str, place: str, finding: str, meant: str) -> None:
    """One note, one warning, and an error when strict, all with the same words."""
    with pytest.warns(GearedDynamicsWarning) as caught:
        model = gd.load_model(text)
    (note,) = model.notes
    assert [str(warning.message) for warning in caught] == [note]
    assert note.startswith(f"<URDF text>, {place}: {finding} is not read; did you mean {meant}")
    with pytest.raises(DescriptionError) as refused:
        gd.load_model(text, strict=True)
    assert finding in refused.value.finding


@pytest.mark.parametrize("case", IN_JOINT.values(), ids=IN_JOINT)
def test_typo_in_a_joint(case: tuple[str, ...], arm: Callable[..., str]) -> None:
    more, *words = case
    check(arm(more={2: more}), *words)


@pytest.mark.parametrize("case", IN_LINK.values(), ids=IN_LINK)
def test_typo_in_a_link(case: tuple[str, ...], arm: Callable[..., str]) -> None:
    old, new, *words = case
    before, name, after = arm().partition('<link name="link_2">')
    check(before + name + after.replace(old, new, 1), *words)


@pytest.mark.parametrize("more", SILENT.values(), ids=SILENT)
def test_what_resembles_nothing_is_silent(more: str, arm: Callable[..., str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gd.load_model(arm(more={2: more}), strict=True).notes == ()


def test_motion_of_a_fixed_joint_is_silent(arm: Callable[..., str]) -> None:
    """Nobody needs the axis of a joint that does not move."""
    text = arm(kinds=("revolute", "fixed", "revolute"), more={2: '<axes xyz="0 0 1"/>'})
    assert gd.load_model(text, strict=True).notes == ()


def test_the_same_typo_everywhere_is_one_note(arm: Callable[..., str]) -> None:
    with pytest.warns(GearedDynamicsWarning, match="at 2 more places"):
        model = gd.load_model(arm(more=dict.fromkeys((1, 2, 3), "<orgin/>")))
    assert len(model.notes) == 1
