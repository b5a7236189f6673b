"""What a drivetrain places on a link of a D-H table says in which of two frames it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

LINK = {"mass": 3.0, "com": (-0.1, 0.02, 0.03), "tensor": np.diag([0.02, 0.03, 0.04])}
ROWS = [
    {"a": 0.1, "alpha": np.pi / 2, "d": 0.4, **LINK},
    {"a": 0.4, "alpha": 0.0, **LINK},
    {"a": 0.3, "alpha": -0.7, **LINK},
]
STATES = np.random.default_rng(3).uniform(-2, 2, (3, 4, 3))
TURN = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # Rx(pi/2)
AWAY = np.array([0.1, 0, 0])
SUN = {"mass": 0.2, "inertia": {"axial": 1e-4}}


def rotor(carrier: str, axis: Any, position: Any = (0, 0, 0), mass: float = 0.5) -> dict[str, Any]:
    """One rotor of joint 2."""
    wheel = {"carrier": carrier, "axis": list(axis), "position": list(position), "mass": mass}
    wheel["inertia"] = {"axial": 1e-4}
    spins = [{"wheel": "r", "joint": "joint_2", "ratio": 100}]
    return {"version": 1, "wheels": {"r": wheel}, "spins": spins}


def torques(drives: dict[str, Any], **more: Any) -> np.ndarray:
    """Of the arm with these drives."""
    return gd.inverse_dynamics(gd.from_dh(ROWS, drives, **more), *STATES)


def test_a_wheel_is_where_its_frame_says() -> None:
    axis, position = np.array([0.0, 0.6, 0.8]), np.array([0.02, -0.05, 0.07])
    in_dh = torques(rotor("link_1", axis, position), carrier_frame="dh")
    moved = rotor("link_1", TURN @ axis, TURN @ position + AWAY)
    assert np.abs(in_dh - torques(moved, carrier_frame="joint")).max() < 1e-12
    assert np.abs(in_dh - torques(rotor("link_1_dh", axis, position))).max() < 1e-12
    as_joint = torques(rotor("link_1", axis, position), carrier_frame="joint")
    assert np.abs(in_dh - as_joint).max() > 1e-2


def planetary(**more: Any) -> dict[str, Any]:
    """A planetary set on joint 2, on link 1."""
    box = {
        **{"joint": "joint_2", "housing": "link_1", "layout": "ring_fixed"},
        **{"input": "sun", "output": "carrier", "planets": 3, "radius": 0.03},
        **{"teeth": {"sun": 20, "planet": 10, "ring": 40}, "sun": SUN, "planet": SUN},
    }
    return {"version": 1, "planetary": {"box": {**box, **more}}}


def cord(link: str, position: Any) -> dict[str, Any]:
    """A cord between the base and a link."""
    anchors = [{"link": "base"}, {"link": link, "position": position}]
    return {"version": 1, "balancers": {"cord": {"anchors": anchors, "constant": {"force": 10}}}}


BEVEL = {
    **rotor("base", [0, 0, 1]),
    "spins": [
        {"mesh": ["r", "link_2"], "arm": "link_1", "teeth": [1, 4], "sign": 1}
        | {"axes": [[0, 0, 1], [0, 0, 1]]}
    ],
}
OPEN: dict[str, tuple[dict[str, Any], str]] = {
    "axis of a wheel": (rotor("link_1", [0, 1, 0]), "wheels.r.axis"),
    "position of a wheel": (rotor("link_1", [1, 0, 0], [0, 0, 0.1]), "wheels.r.position"),
    "position moved by a only": (rotor("link_2", [1, 0, 0]), "wheels.r.position"),
    "axis of a set": (planetary(axis=[0, -1, 0]), "planetary.box.axis"),
    "position of a set": (planetary(position=[0.1, 0, 0]), "planetary.box.position"),
    "phase of a set": (planetary(phase=0.3), "planetary.box.phase"),
    "anchor": (cord("link_2", [0, 0, 0.1]), "balancers.cord.anchors[1].position"),
    "axes of a mesh": (BEVEL, "spins[0].axes[0]"),
}


@pytest.mark.parametrize(("drives", "place"), OPEN.values(), ids=OPEN)
def test_what_the_frames_read_differently_is_refused(drives: dict[str, Any], place: str) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.from_dh(ROWS, drives)
    assert caught.value.place == f"<drivetrain dict>, {place}"
    for word in ("com and tensor", "_dh'", "carrier_frame='dh'", "carrier_frame='joint'"):
        assert word in str(caught.value)


AGREED: dict[str, dict[str, Any]] = {
    "on the base": rotor("base", [0, 1, 0], [1, 2, 3]),
    "massless, turned by nothing": rotor("link_2", [0, 1, 0], mass=0.0),
    "along x": rotor("link_1", [1, 0, 0], mass=0.0),
    "on the D-H frame": rotor("link_1_dh", [0, 1, 0], [1, 2, 3]),
    "a set on its joint": planetary(),
    "anchor on the D-H frame": cord("link_2_dh", [0, 0, 0.1]),
}


@pytest.mark.parametrize("drives", AGREED.values(), ids=AGREED)
def test_what_both_frames_read_alike_is_taken(drives: dict[str, Any]) -> None:
    found = [torques(drives, carrier_frame=frame) for frame in (None, "dh", "joint")]
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[2], found[0])


def test_sets_anchors_and_axes_follow_the_keyword() -> None:
    pairs = [
        (planetary(axis=[0, 0, 1], position=[0, 0, 0]), planetary()),
        (cord("link_2", [0, 0, 0.1]), cord("link_2_dh", [0, 0, 0.1])),
    ]
    for given, named in pairs:
        in_dh, expected = torques(given, carrier_frame="dh"), torques(named)
        np.testing.assert_allclose(in_dh, expected, rtol=0, atol=1e-12)


def test_modified_tables_have_one_frame() -> None:
    drives = rotor("link_1", [0, 0.6, 0.8], [0.1, 0.2, 0.3])
    found = [
        torques(drives, convention="modified", carrier_frame=frame)
        for frame in (None, "dh", "joint")
    ]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
