"""Gears whose sizes contradict their positions: warned of from 5 %, refused from 50 %."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import GearedDynamicsWarning, ModelError

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
APART = 0.5
ROBOT = (
    '<robot name="arm"><link name="base"/>'
    f'<link name="one">{BODY}</link><link name="two">{BODY}</link>'
    '<joint name="j1" type="continuous"><parent link="base"/><child link="one"/>'
    '<axis xyz="0 0 1"/></joint>'
    '<joint name="j2" type="continuous"><parent link="one"/><child link="two"/>'
    f'<origin xyz="{APART} 0 0"/><axis xyz="0 0 1"/></joint></robot>'
)


def pair(kind: str, sizes: list[float], x: float = 0.0, key: str = "radii") -> dict[str, Any]:
    """A wheel on link one at x, and link two, whose axis is at 0.5 m."""
    wheel = {"carrier": "one", "axis": [0, 0, 1], "position": [x, 0, 0.1], "mass": 1}
    wheel["inertia"] = {"axial": 1e-4}
    mesh = {"mesh": ["w", "two"], "arm": "one", key: sizes, "kind": kind}
    return {"version": 1, "wheels": {"w": wheel}, "spins": [mesh]}


FITS: dict[str, dict[str, Any]] = {
    "external": pair("external", [0.2, 0.3]),
    "external, profile shift": pair("external", [0.2, 0.32]),
    "external, as much less": pair("external", [0.2, 0.28]),
    "external, by teeth": pair("external", [20, 17], key="teeth"),
    "internal": pair("internal", [0.1, 0.6]),
    "internal, the wheel is the ring": pair("internal", [0.6, 0.1]),
    "internal, profile shift": pair("internal", [0.1, 0.62]),
    "internal, by teeth": pair("internal", [20, 60], key="teeth"),
    "a flexspline and its ring": pair("internal", [0.0495, 0.05], APART),
    "a cycloidal disc": pair("internal", [0.049, 0.05], APART - 0.001),
    "equal on one axis": pair("internal", [40, 40], APART, "teeth"),
    "belt": pair("belt", [0.01, 0.03]),
    "belt of equal pulleys": pair("belt", [0.04, 0.04]),
    "belt, pulleys next to each other": pair("belt", [0.25, 0.26]),
    "chain": pair("chain", [0.02, 0.05]),
    "belt by teeth": pair("belt", [20, 20], key="teeth"),
}
DOUBTFUL: dict[str, tuple[dict[str, Any], list[str]]] = {
    "external": (
        pair("external", [0.2, 0.33]),
        ["'w' and 'two' are 0.5 m apart", "0.2 + 0.33 = 0.53 m differ by 6 %", "profile shift"],
    ),
    "external, too small": (
        pair("external", [0.11, 0.15]),
        ["0.11 + 0.15 = 0.26 m differ by 48 %", "profile shift"],
    ),
    "internal": (
        pair("internal", [0.1, 0.55]),
        ["0.55 - 0.1 = 0.45 m differ by 10 %", "profile shift"],
    ),
    "overlapping pulleys": (
        pair("belt", [0.25, 0.3]),
        ["0.5 m apart", "radii 0.25 + 0.3 m overlap by 10 %"],
    ),
}
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "small spur gears far apart": (
        pair("external", [0.01, 0.02]),
        ["'w' and 'two' are 0.5 m apart", "0.01 + 0.02 = 0.03 m differ by 94 %", "give teeth"],
    ),
    "large spur gears close together": (pair("external", [0.4, 0.4]), ["differ by 60 %"]),
    "one spur gear inside the other": (
        pair("external", [0.002, 0.05], APART - 0.045),
        ["'w' and 'two', which mesh externally, one lies inside", "0.045 m"],
    ),
    "a ring smaller than its wheel": (
        pair("internal", [0.05, 0.02], APART - 0.01),
        ["0.05 - 0.02 = 0.03 m differ by 200 %"],
    ),
    "a ring that is far too small": (
        pair("internal", [0.01, 0.2]),
        ["the axis of 'w' is outside of the ring 'two' of radius 0.2 m"],
    ),
    "a wheel on its ring's axis": (
        pair("internal", [0.02, 0.06], APART),
        ["'w' (0.02 m) on the axis of the ring 'two' (0.06 m)"],
    ),
    "a ring as large as its wheel": (
        pair("internal", [30, 30], key="teeth"),
        ["'w' and 'two', of equal size, neither is a ring", "0.5 m apart", "external"],
    ),
    "pulleys in each other": (
        pair("belt", [0.05, 0.6]),
        ["pulleys 'w' and 'two' one lies inside the other"],
    ),
    "pulleys that overlap": (pair("chain", [0.4, 0.4]), ["0.4 + 0.4 m overlap by 60 %"]),
    "a belt on one axis": (
        pair("belt", [0.02, 0.05], APART),
        ["'w' and 'two' are one line", "no belt or chain"],
    ),
    "a chain on one axis, by teeth": (
        pair("chain", [20, 50], APART, "teeth"),
        ["'w' and 'two' are one line", "positions"],
    ),
    "external on one axis": (
        pair("external", [0.02, 0.05], APART),
        ["'w' and 'two' are one line", "cannot mesh externally"],
    ),
}


@pytest.mark.parametrize("drives", FITS.values(), ids=FITS)
def test_what_fits_is_taken(drives: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = gd.load_model(ROBOT, drives, strict=True)
    a, b = drives["spins"][0].get("radii") or drives["spins"][0]["teeth"]
    sign = -1 if drives["spins"][0]["kind"] == "external" else 1
    np.testing.assert_allclose(model.Gamma, [[0, sign * b / a]], rtol=1e-12)


@pytest.mark.parametrize(("drives", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_hardly_fits_is_warned_of(drives: dict[str, Any], words: list[str]) -> None:
    with pytest.warns(GearedDynamicsWarning) as caught:
        model = gd.load_model(ROBOT, drives)
    assert model.notes == tuple(str(warning.message) for warning in caught)
    (note,) = model.notes
    assert note.startswith("<drivetrain dict>, spins[0]: ")
    assert [word for word in words if word not in note] == [], note
    with pytest.raises(ModelError, match="or load without strict=True"):
        gd.load_model(ROBOT, drives, strict=True)


@pytest.mark.parametrize(("drives", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(drives: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        gd.load_model(ROBOT, drives)
    assert caught.value.place == "<drivetrain dict>, spins[0]"
    assert caught.value.remedy
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


@pytest.mark.parametrize("share", [0.049, 0.051, 0.499, 0.501])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("kind", ["external", "internal"])
def test_where_the_limits_are(kind: str, side: int, share: float) -> None:
    needed = APART * (1 + side * share)
    sizes = [0.3 * needed, 0.7 * needed] if kind == "external" else [0.3, needed + 0.3]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if share > 0.5:
            with pytest.raises(ModelError, match=f"differ by {100 * share:.3g} %"):
                gd.load_model(ROBOT, pair(kind, sizes))
            return
        gd.load_model(ROBOT, pair(kind, sizes))
    assert len(caught) == (1 if share > 0.05 else 0)


def beside(gap: float, key: str, sizes: list[float], tilt: float = 0.0) -> dict[str, Any]:
    """A wheel on the base that must lie on the axis of j1, with a belt to link two."""
    axis = [np.sin(tilt), 0.0, np.cos(tilt)]
    drives = pair("belt", sizes, key=key)
    drives["wheels"]["w"] |= {"carrier": "base", "position": [0, gap, 0.3], "axis": axis}
    return drives


@pytest.mark.parametrize(
    ("gap", "key", "sizes", "fits"),
    [
        (9e-5, "radii", [0.01, 0.03], True),
        (1.1e-4, "radii", [0.01, 0.03], False),
        (1.9e-3, "radii", [0.01, 0.03], False),
        (2.4e-3, "radii", [0.25, 0.25], True),
        (2.6e-3, "radii", [0.25, 0.25], False),
        (1.9e-3, "teeth", [20, 60], True),
        (2.1e-3, "teeth", [20, 60], False),
    ],
)
def test_coaxial_to_a_hundredth_of_the_smaller_radius(
    gap: float, key: str, sizes: list[float], fits: bool
) -> None:
    """Two millimetres where no radius is known."""
    drives = beside(gap, key, sizes)
    if fits:
        gd.load_model(ROBOT, drives, strict=True)
        return
    with pytest.raises(
        ModelError, match="joint 'j1' between 'w' and mesh carrier 'one' is not coaxial"
    ):
        gd.load_model(ROBOT, drives)


def test_an_axis_printed_with_few_digits_is_not_taken_for_a_distance() -> None:
    """0.8 mrad is 1.57 for pi / 2; at 0.3 m from the joint that is 0.24 mm, more than 0.1."""
    gd.load_model(ROBOT, beside(0.0, "radii", [0.01, 0.03], tilt=8e-4), strict=True)


def planetary(gap: float, **more: Any) -> dict[str, Any]:
    """A set on j1 whose sun is a wheel of its own, beside the axis."""
    body = {"mass": 0.1, "inertia": {"axial": 1e-5}}
    wheel = {"carrier": "base", "axis": [0, 0, 1], "position": [0, gap, 0], **body}
    box = {
        **{"joint": "j1", "housing": "base", "layout": "ring_fixed", "input": "sun"},
        **{"output": "carrier", "teeth": {"sun": 20, "planet": 10, "ring": 40}, "planets": 3},
        **{"radius": 0.03, "sun": "w", "planet": body, **more},
    }
    return {"version": 1, "wheels": {"w": wheel}, "planetary": {"box": box}}


def test_members_of_a_set_are_coaxial_to_a_hundredth_of_a_planet() -> None:
    """Planets of 10 teeth on a circle of 0.03 m have a pitch radius of 10 mm."""
    gd.load_model(ROBOT, planetary(9e-5), strict=True)
    with pytest.raises(ModelError, match=r"box.*wheel 'w' is not coaxial.*may be 0.0001 m"):
        gd.load_model(ROBOT, planetary(1.1e-4))
    with pytest.raises(ModelError, match=r"planetary.box.*'j1' is not coaxial"):
        gd.load_model(ROBOT, planetary(0.0, position=[0, 1.1e-4, 0]))
    unknown = planetary(1.9e-3, planet={"mass": 0, "inertia": {"axial": 1e-5}})
    del unknown["planetary"]["box"]["radius"]
    gd.load_model(ROBOT, unknown, strict=True)
