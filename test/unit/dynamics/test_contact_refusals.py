"""Contacts: what is refused, by an error with place, finding and remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import TAU, Q, V, drives, planar, tip, urdf, wall

contact = gd.contact
ORIGIN, X = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
NAN = float("nan")
ENDLESS = 10**5000  # Python refuses to write it


def height(pose: Any, t: float) -> float:
    """Place along z."""
    return float(pose[2, 3])


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "inside": (lambda: contact.impact(planar(), wall(2e-6), Q, V), "tolerance"),
    "inside, in motion": (
        lambda: contact.constrained_dynamics(planar(), wall(2e-6), Q, V, TAU),
        "Environment",
    ),
    "off a line": (
        lambda: contact.impact(planar(), contact.Line("tip", ORIGIN, (0, 0, 1)), Q, V),
        "violates",
    ),
    "inside, by a function": (
        lambda: contact.impact(
            planar(), [wall(), contact.Constraint(lambda q, t: q[1] - Q[1] + 0.0123)], Q, V
        ),
        r"contacts\[1\].*s = 0\.0123 m",
    ),
    "twice the same": (
        lambda: contact.impact(planar(), [wall(), wall()], Q, V),
        r"contacts\[1\] \(Surface\): depends",
    ),
    "twice, in motion": (
        lambda: contact.constrained_dynamics(planar(), [wall(bilateral=True)] * 2, Q, V, TAU),
        "depends",
    ),
    "twice, with friction": (
        lambda: contact.constrained_dynamics(
            planar(), [wall(bilateral=True)] * 2, Q, V, TAU, friction=0.1
        ),
        "depends",
    ),
    "three in a plane": (
        lambda: contact.impact(
            planar(), [contact.Line("tip", tip(), (0, 0, 1)), contact.LockedGear("motor_1")], Q, V
        ),
        "depends",
    ),
    "across the plane": (
        lambda: contact.impact(
            planar(), contact.Surface("tip", tip(), (0, 0, 1), bilateral=True), Q, V
        ),
        "depends",
    ),
    "unknown frame": (
        lambda: contact.impact(planar(), contact.Surface("tipp", tip(), X), Q, V),
        "did you mean 'tip'",
    ),
    "a wheel": (
        lambda: contact.prepare(planar(), contact.Surface("rotor_1", tip(), X)),
        "is a wheel",
    ),
    "the root": (
        lambda: contact.prepare(planar(), contact.Surface("base", tip(), X)),
        "does not move",
    ),
    "unknown frame of a function": (
        lambda: contact.prepare(planar(), contact.Constraint(height, frame="x")),
        "no link",
    ),
    "unknown motor": (lambda: contact.prepare(planar(), contact.LockedGear("motor")), "motor_1"),
    "frame is no name": (lambda: contact.Surface(5, tip(), X), "name of a link"),  # type: ignore[arg-type]
    "zero normal": (lambda: contact.Surface("tip", ORIGIN, ORIGIN), "normal: is zero"),
    "NaN normal": (lambda: contact.Surface("tip", ORIGIN, (NAN, 0, 0)), "NaN"),
    "normal of two": (lambda: contact.Surface("tip", ORIGIN, (1, 0)), "shape"),
    "zero direction": (lambda: contact.Line("tip", ORIGIN, ORIGIN), "direction: is zero"),
    "zero axis": (lambda: contact.Peg("tip", ORIGIN, ORIGIN), "axis: is zero"),
    "text point": (lambda: contact.Surface("tip", "abc", X), "point"),
    "parallel": (lambda: contact.Surface("tip", ORIGIN, X, along=X), "parallel"),
    "bilateral": (lambda: contact.Surface("tip", ORIGIN, X, bilateral="no"), "True or False"),  # type: ignore[arg-type]
    "infinite speed": (lambda: wall(velocity=(np.inf, 0, 0)), "velocity"),
    "negative stiffness": (lambda: contact.Environment(wall(), -1.0), "stiffness"),
    "negative mass": (lambda: contact.Environment(wall(), 1.0, mass=-1.0), "mass"),
    "NaN mass": (lambda: contact.Environment(wall(), 1.0, mass=NAN), "mass"),
    "negative damping": (lambda: contact.Environment(wall(), 1.0, damping=-1.0), "damping"),
    "two springs, no mass": (
        lambda: contact.Environment(wall(), 1.0, tool_stiffness=1.0),
        "springs_in_series",
    ),
    "tool spring of zero": (
        lambda: contact.Environment(wall(), 1.0, mass=1.0, tool_stiffness=0.0),
        "above zero",
    ),
    "environment that pulls": (
        lambda: contact.Environment(wall(bilateral=True), 1.0),
        "bilateral",
    ),
    "environment of a line": (
        lambda: contact.Environment(contact.Line("tip", ORIGIN, X), 1.0),  # type: ignore[arg-type]
        "contact.Surface",
    ),
    "stiffness by a function": (
        lambda: contact.constrained_dynamics(
            planar(), contact.Environment(wall(1e-3), lambda s: -1.0), Q, V, TAU
        ),
        "stiffness at s = -0.001 m",
    ),
    "no depth": (
        lambda: contact.constrained_dynamics(
            planar(), contact.Environment(wall(), 1.0, mass=1.0, tool_stiffness=1.0), Q, V, TAU
        ),
        "depth: is missing",
    ),
    "depth of nothing": (
        lambda: contact.constrained_dynamics(planar(), wall(), Q, V, TAU, depth=[[0.0, 0.0]]),
        "depth: has shape",
    ),
    "series of nothing": (lambda: contact.springs_in_series(), "at least one"),
    "series with zero": (lambda: contact.springs_in_series(1.0, 0.0), "above zero"),
    "restitution above 1": (lambda: contact.impact(planar(), wall(), Q, V, 1.1), "restitution"),
    "negative restitution": (lambda: contact.impact(planar(), wall(), Q, V, -0.1), "restitution"),
    "NaN restitution": (lambda: contact.impact(planar(), wall(), Q, V, NAN), "restitution"),
    "negative friction": (lambda: contact.impact(planar(), wall(), Q, V, 0.0, -0.1), "friction"),
    "NaN friction": (
        lambda: contact.constrained_dynamics(planar(), wall(), Q, V, TAU, friction=NAN),
        "friction",
    ),
    "friction of a line": (
        lambda: contact.impact(planar(), contact.Line("tip", tip(), X), Q, V, friction=0.1),
        "two for an edge",
    ),
    "tolerance": (lambda: contact.impact(planar(), wall(), Q, V, tolerance=-1.0), "tolerance"),
    "NaN time": (
        lambda: contact.constrained_dynamics(planar(), wall(), Q, V, TAU, NAN),
        "t: is nan",
    ),
    "order": (lambda: contact.impact(planar(), wall(), Q, V, order="random"), "successive"),  # type: ignore[arg-type]
    "NaN q": (lambda: contact.impact(planar(), wall(), [NAN, 0], V), r"q\[0\]"),
    "NaN v": (lambda: contact.impact(planar(), wall(), Q, np.array([0, NAN])), r"v\[1\]"),
    "NaN tau": (
        lambda: contact.constrained_dynamics(planar(), wall(), Q, V, [NAN, 0.0]),
        r"tau\[0\]",
    ),
    "q of three": (lambda: contact.impact(planar(), wall(), np.zeros(3), V), "q: has shape"),
    "no contacts": (lambda: contact.prepare(planar(), []), "contacts"),
    "a name": (lambda: contact.prepare(planar(), "wall"), "contact.Surface"),  # type: ignore[arg-type]
    "a number among them": (lambda: contact.prepare(planar(), [wall(), 5]), r"contacts\[1\]"),  # type: ignore[list-item]
    "of another model": (
        lambda: contact.impact(planar(), contact.prepare(planar(), wall()), Q, V),
        "prepare them again",
    ),
    "no model": (lambda: contact.impact("arm", wall(), Q, V), "GearedModel"),  # type: ignore[arg-type]
    "stabilisation": (
        lambda: contact.prepare(planar(), wall(), stabilisation=-1.0),
        "stabilisation",
    ),
    "no function": (lambda: contact.Constraint(5), "function"),  # type: ignore[arg-type]
    "count": (lambda: contact.Constraint(height, 0), "1 to 6"),
    "frame of a function is no name": (
        lambda: contact.Constraint(height, frame=5),  # type: ignore[arg-type]
        "is 5; give a link's name",
    ),
    "mass of text": (lambda: contact.Environment(wall(), 1.0, mass="heavy"), "is 'heavy'"),  # type: ignore[arg-type]
    "integer without end": (lambda: contact.Environment(wall(), ENDLESS), "cannot be written"),
    "tolerance without end": (
        lambda: contact.impact(planar(), wall(), Q, V, tolerance=-ENDLESS),
        "cannot be written",
    ),
    "time of text": (
        lambda: contact.coordinates(planar(), wall(), Q, V, "now"),  # type: ignore[arg-type]
        "t: is 'now'",
    ),
    "a motor that turns no joint": (
        lambda: contact.prepare(
            gd.load_model(urdf(), drives("A"), lock={"first": 0.0}), contact.LockedGear("motor_1")
        ),
        "'motor_1' turns with no joint; leave the lock out",
    ),
    "what a function returns": (
        lambda: contact.impact(planar(), contact.Constraint(lambda q, t: [0.0, 1.0]), Q, V),
        "returns shape",
    ),
    "function of NaN": (
        lambda: contact.impact(planar(), contact.Constraint(lambda q, t: NAN), Q, V),
        "NaN",
    ),
    "function that fails": (
        lambda: contact.impact(planar(), contact.Constraint(lambda q, t: "one"), Q, V),
        "fails",
    ),
    "zero push": (lambda: contact.effective_mass(planar(), Q, "tip", ORIGIN), "zero"),
    "no way to move": (
        lambda: contact.effective_mass(planar(), Q, "tip", (0, 0, 1)),
        "cannot move",
    ),
    "effective mass of nothing": (
        lambda: contact.effective_mass(planar(), Q, "t", X),
        "valid: base",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused(case: str) -> None:
    call, words = REFUSED[case]
    for _ in ("cold", "warm"):
        with pytest.raises(gd.GearedDynamicsError, match=words) as caught:
            call()
        assert caught.value.place
        assert caught.value.remedy


def test_gimbal_lock_is_refused() -> None:
    """The tip's x axis stands across the wall, as does the frame's: pitch is a right angle."""
    model = planar()
    q = np.array([0.0, 0.0])
    place = gd.pose(model, q, "tip")[:3, 3]
    with pytest.raises(gd.GearedDynamicsError, match="tool_axis"):
        contact.coordinates(model, contact.Surface("tip", place, X), q, V)
    assert contact.coordinates(model, contact.Surface("tip", place, X), q, V, free=False).s == 0.0
    other = contact.Surface("tip", place, X, tool_axis=X)
    assert np.isfinite(contact.coordinates(model, other, q, V).free.rate).all()


def test_friction_that_jams_is_refused() -> None:
    """Painleve: with much friction a sliding rod can neither slide on nor stay."""
    link = {"alpha": 0.0, "mass": 1.0, "com": (-0.5, 0.0, 0.0), "tensor": 0.01 * np.eye(3)}
    model = gd.from_dh([{"a": 1.0, **link}] * 2)
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q = rng.uniform(-3, 3, 2)
        place = gd.pose(model, q, "link_2_dh")[:3, 3]
        surface = contact.Surface("link_2_dh", place, (*rng.normal(size=2), 0.0))
        J = gd.jacobian(model, q, "link_2_dh")[:2]
        across = np.array([-surface.normal[1], surface.normal[0]])
        v = np.linalg.solve(J, across)
        try:
            contact.constrained_dynamics(
                model, surface, q, v, -30 * J.T @ surface.normal[:2], friction=5.0
            )
        except gd.GearedDynamicsError as error:
            found.append(str(error))
    assert found
    assert all("jams" in text and "Environment" in text for text in found)
