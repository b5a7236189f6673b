"""What a user can get wrong of motors, friction and balancers, through the front door."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import geared_dynamics as gd
from good_drives import GOOD, ROBOT, changed

# Key path, what to write there ("-": take the key out), words that the error must contain.
M, J, B = "motors.m", "joints.j1.friction", "balancers"
TABLE: dict[str, tuple[str, Any, list[str]]] = {
    "motor without wheel": (f"{M}.wheel", "-", [f"{M}.wheel", "missing", "add it"]),
    "kind": (f"{M}.kind", "stepper", [f"{M}.kind", "dc or brushless", "'stepper'"]),
    "zero R": (f"{M}.resistance", 0, [f"{M}.resistance", "0 is not above 0"]),
    "negative R": (f"{M}.resistance", -0.8, [f"{M}.resistance", "-0.8 is not above 0"]),
    "R is text": (f"{M}.resistance", "0.8 ohm", [f"{M}.resistance", "a number", "'0.8 ohm'"]),
    "R is NaN": (f"{M}.resistance", float("nan"), [f"{M}.resistance", "finite"]),
    "zero k_t": (f"{M}.torque_constant", 0, [f"{M}.torque_constant", "not above 0"]),
    "negative k_t": (f"{M}.torque_constant", -0.1, [f"{M}.torque_constant", "not above 0"]),
    "zero k_e": (f"{M}.back_emf_constant", 0, [f"{M}.back_emf_constant", "not above 0"]),
    "negative k_e": (f"{M}.back_emf_constant", -1, [f"{M}.back_emf_constant", "not above 0"]),
    "negative L": (f"{M}.inductance", -1e-3, [f"{M}.inductance", "less than 0"]),
    "infinite L": (f"{M}.inductance", float("inf"), [f"{M}.inductance", "finite"]),
    "L without R": (f"{M}.resistance", "-", [M, "inductance", "add 'resistance'"]),
    "R without k_t": (
        M,
        {"wheel": "r", "resistance": 1},
        [M, "resistance", "add 'torque_constant'"],
    ),
    "k_e without k_t": (
        M,
        {"wheel": "r", "back_emf_constant": 1},
        [M, "back-EMF", "add 'torque_constant'"],
    ),
    "voltage limit without R": (
        M,
        {"wheel": "r", "torque_constant": 1, "limits": {"voltage": 48}},
        [f"{M}.limits.voltage", "no resistance", "add 'resistance'"],
    ),
    "current limit without k_t": (
        M,
        {"wheel": "r", "limits": {"current": 5}},
        [f"{M}.limits.current", "no torque_constant"],
    ),
    "thermal limit without k_t": (
        M,
        {"wheel": "r", "limits": {"thermal": {"continuous_current": 5, "time_constant": 9}}},
        [f"{M}.limits.thermal", "no torque_constant"],
    ),
    "pole pairs of a dc motor": (f"{M}.pole_pairs", 4, [f"{M}.pole_pairs", "DC", "brushless"]),
    "no pole pairs": (f"{M}.pole_pairs", 0, [f"{M}.pole_pairs", "less than 1"]),
    "half a pole pair": (f"{M}.pole_pairs", 3.5, [f"{M}.pole_pairs", "whole number"]),
    "many pole pairs": (f"{M}.pole_pairs", 10**30, [f"{M}.pole_pairs", "more than 1000"]),
    "more pole pairs than a float": (f"{M}.pole_pairs", 10**400, [f"{M}.pole_pairs", "finite"]),
    "efficiency zero": (
        f"{M}.efficiency.driving",
        0,
        [f"{M}.efficiency.driving", "0 is less than 0.001", ">= 0.001"],
    ),
    "efficiency next to nothing": (
        f"{M}.efficiency.driving",
        1e-320,
        [f"{M}.efficiency.driving", "less than 0.001"],
    ),
    "backdriving far below zero": (
        f"{M}.efficiency.backdriving",
        -1e30,
        [f"{M}.efficiency.backdriving", "less than -1000"],
    ),
    "efficiency above one": (
        f"{M}.efficiency.driving",
        85,
        [f"{M}.efficiency.driving", "85 is more than 1", "<= 1"],
    ),
    "backdriving above one": (
        f"{M}.efficiency.backdriving",
        1.1,
        [f"{M}.efficiency.backdriving", "1.1 is more than 1"],
    ),
    "efficiency of nothing": (f"{M}.efficiency", {}, [f"{M}.efficiency", "empty"]),
    "efficiency a number": (f"{M}.efficiency", 0.8, [f"{M}.efficiency", "a mapping"]),
    "negative viscous": (f"{M}.friction.viscous", -1, [f"{M}.friction.viscous", "less than 0"]),
    "negative coulomb": (f"{M}.friction.coulomb", -1, [f"{M}.friction.coulomb", "less than 0"]),
    "signed coulomb": (
        f"{M}.friction.coulomb",
        [0.01, -0.01],
        [f"{M}.friction.coulomb[1]", "-0.01 is less than 0"],
    ),
    "three coulomb": (f"{J}.coulomb", [1, 1, 1], [f"{J}.coulomb", "2 numbers", "found 3"]),
    "one coulomb": (f"{J}.coulomb", [1], [f"{J}.coulomb", "2 numbers", "found 1"]),
    "coulomb is text": (f"{J}.coulomb", "much", [f"{J}.coulomb", "number", "'much'"]),
    "coulomb not finite": (f"{J}.coulomb", [1, float("inf")], [f"{J}.coulomb[1]", "finite"]),
    "static below coulomb": (
        f"{J}.stribeck.static",
        1.0,
        [f"{J}.stribeck.static", "1 is below", "1.1", "positive"],
    ),
    "static below coulomb one way": (
        f"{M}.friction.stribeck.static",
        [0.02, 0.011],
        [f"{M}.friction.stribeck.static", "0.011 is below", "0.012", "negative"],
    ),
    "one static below two coulomb": (
        f"{M}.friction.stribeck.static",
        0.011,
        [f"{M}.friction.stribeck.static", "0.011 is below", "0.012", "negative"],
    ),
    "stribeck without speed": (f"{J}.stribeck.speed", "-", [f"{J}.stribeck.speed", "missing"]),
    "stribeck without static": (f"{J}.stribeck.static", "-", [f"{J}.stribeck.static", "missing"]),
    "stribeck speed zero": (f"{J}.stribeck.speed", 0, [f"{J}.stribeck.speed", "not above 0"]),
    "negative load": (f"{J}.load", -0.1, [f"{J}.load", "less than 0"]),
    "negative smoothing": (f"{J}.smoothing", -1, [f"{J}.smoothing", "less than 0"]),
    "ripple without order": (
        f"{J}.ripple",
        [{"amplitude": 1}],
        [f"{J}.ripple[0].order", "missing"],
    ),
    "ripple of order zero": (
        f"{J}.ripple",
        [{"amplitude": 1, "order": 0}],
        [f"{J}.ripple[0].order", "not above 0"],
    ),
    "negative ripple": (
        f"{J}.ripple",
        [{"amplitude": -1, "order": 1}],
        [f"{J}.ripple[0].amplitude", "less than 0"],
    ),
    "ripple not a list": (f"{J}.ripple", {"order": 1}, [f"{J}.ripple", "a list"]),
    "friction of nothing": (J, {}, [J, "empty"]),
    "friction's key": (f"{J}.columb", 1, [J, "did you mean 'coulomb'?"]),
    **{
        f"{limit} {word}": (
            f"{M}.limits.{limit}",
            value,
            [f"{M}.limits.{limit}", f"{value} is not above 0"],
        )
        for limit in ("voltage", "current", "torque", "speed")
        for word, value in (("zero", 0), ("negative", -3))
    },
    "limits of nothing": (f"{M}.limits", {}, [f"{M}.limits", "empty"]),
    "envelope of one point": (
        f"{M}.limits.envelope",
        [[0, 1]],
        [f"{M}.limits.envelope", "2 or more points", "found 1"],
    ),
    "envelope without torque": (
        f"{M}.limits.envelope",
        [[0, 0], [9, 0]],
        [f"{M}.limits.envelope", "every torque in it is 0", "above 0"],
    ),
    "envelope falls back": (
        f"{M}.limits.envelope",
        [[0, 1], [9, 1], [8, 0]],
        [f"{M}.limits.envelope[2]", "8 is not above", "9", "rising"],
    ),
    "envelope stands": (
        f"{M}.limits.envelope",
        [[0, 1], [0, 0.5]],
        [f"{M}.limits.envelope[1]", "0 is not above", "rising"],
    ),
    "envelope of negative torque": (
        f"{M}.limits.envelope",
        [[0, 1], [9, -1]],
        [f"{M}.limits.envelope[1][1]", "-1 is less than 0"],
    ),
    "envelope of negative speed": (
        f"{M}.limits.envelope",
        [[-9, 1], [9, 1]],
        [f"{M}.limits.envelope[0][0]", "-9 is less than 0"],
    ),
    "envelope of triples": (
        f"{M}.limits.envelope",
        [[0, 1, 2], [9, 1]],
        [f"{M}.limits.envelope[0]", "expected 2 numbers, found 3"],
    ),
    "envelope of numbers": (
        f"{M}.limits.envelope",
        [[0], [9, 1]],
        [f"{M}.limits.envelope[0]", "expected 2 numbers, found 1"],
    ),
    "envelope a mapping": (f"{M}.limits.envelope", {"0": 1}, [f"{M}.limits.envelope", "a list"]),
    "thermal without time": (
        f"{M}.limits.thermal.time_constant",
        "-",
        [f"{M}.limits.thermal.time_constant", "missing"],
    ),
    "thermal time zero": (
        f"{M}.limits.thermal.time_constant",
        0,
        [f"{M}.limits.thermal.time_constant", "not above 0"],
    ),
    "thermal current zero": (
        f"{M}.limits.thermal.continuous_current",
        0,
        [f"{M}.limits.thermal.continuous_current", "not above 0"],
    ),
    "balancer of two kinds": (f"{B}.coil.constant", {"force": 1}, [f"{B}.coil", "'coil' or"]),
    "balancer of no kind": (f"{B}.coil.coil", "-", [f"{B}.coil", "give 'gas', 'coil'"]),
    "balancer's key": (f"{B}.coil.spring", {}, [f"{B}.coil", "no key 'spring'"]),
    "line on a joint": (f"{B}.coil.joint", "j1", [f"{B}.coil", "'torsion' with 'joint'"]),
    "torsion between anchors": (f"{B}.clock.joint", "-", [f"{B}.clock", "'torsion' with 'joint'"]),
    "no anchors": (f"{B}.cord.anchors", "-", [f"{B}.cord", "with 'anchors'"]),
    "one anchor": (
        f"{B}.cord.anchors",
        [{"link": "one"}],
        [f"{B}.cord.anchors", "2 anchors, found 1"],
    ),
    "three anchors": (
        f"{B}.cord.anchors",
        [{"link": "one"}] * 3,
        [f"{B}.cord.anchors", "2 anchors, found 3"],
    ),
    "anchors a mapping": (f"{B}.cord.anchors", {"link": "one"}, [f"{B}.cord.anchors", "a list"]),
    "anchor without link": (
        f"{B}.cord.anchors",
        [{"link": "one"}, {"position": [0, 0, 0]}],
        [f"{B}.cord.anchors[1].link", "missing"],
    ),
    "anchor in the plane": (
        f"{B}.cord.anchors",
        [{"link": "one"}, {"link": "two", "position": [0, 0]}],
        [f"{B}.cord.anchors[1].position", "3 numbers, found 2"],
    ),
    "anchor not finite": (
        f"{B}.cord.anchors",
        [{"link": "one"}, {"link": "two", "position": [0, 0, float("nan")]}],
        [f"{B}.cord.anchors[1].position[2]", "finite"],
    ),
    "anchors on one link": (
        f"{B}.cord.anchors",
        [{"link": "one"}, {"link": "one", "position": [0, 0, 1]}],
        [f"{B}.cord.anchors", "both ends are on link 'one'"],
    ),
    "anchors on links fixed together": (
        f"{B}.cord.anchors",
        [{"link": "two"}, {"link": "tool"}],
        [f"{B}.cord.anchors", "'two' and 'tool' are fixed to each other"],
    ),
    "anchors on what is fixed to the root": (
        f"{B}.cord.anchors",
        [{"link": "base"}, {"link": "stand"}],
        [f"{B}.cord.anchors", "'base' and 'stand' are fixed to each other"],
    ),
    "coincident anchors": (
        f"{B}.cord.anchors",
        [{"link": "one", "position": [0, 0.2, 0.5]}, {"link": "two", "position": [0, 0.2, 0]}],
        [f"{B}.cord.anchors", "coincide at q = 0"],
    ),
    "unknown anchor's link": (
        f"{B}.cord.anchors",
        [{"link": "one"}, {"link": "tow"}],
        [f"{B}.cord.anchors[1].link", "'tow'", "did you mean 'two'?"],
    ),
    "torsion's joint": (f"{B}.clock.joint", "j3", [f"{B}.clock.joint", "'j3'", "j1, j2"]),
    "torsion on a fixed joint": (f"{B}.clock.joint", "foot", [f"{B}.clock.joint", "movable"]),
    "negative coil": (f"{B}.coil.coil.stiffness", -1, [f"{B}.coil.coil.stiffness", "less"]),
    "negative length": (f"{B}.coil.coil.length", -1, [f"{B}.coil.coil.length", "less than 0"]),
    "coil without length": (f"{B}.coil.coil.length", "-", [f"{B}.coil.coil.length", "missing"]),
    "negative torsion": (f"{B}.clock.torsion.stiffness", -1, ["clock.torsion.stiffness", "less"]),
    "force not finite": (f"{B}.cord.constant.force", float("inf"), ["cord.constant.force", "fin"]),
    **{
        f"gas {key}": (f"{B}.strut.gas.{key}", 0, [f"{B}.strut.gas.{key}", "not above 0"])
        for key in ("area", "pressure", "volume", "exponent")
    },
    "gas of negative length": (f"{B}.strut.gas.length", -1, ["strut.gas.length", "less than 0"]),
    "constant without force": (f"{B}.cord.constant", {}, [f"{B}.cord.constant.force", "missing"]),
    "torsion without stiffness": (
        f"{B}.clock.torsion.stiffness",
        "-",
        [f"{B}.clock.torsion.stiffness", "missing"],
    ),
    "gas without volume": (f"{B}.strut.gas.volume", "-", [f"{B}.strut.gas.volume", "missing"]),
    "gas action": (f"{B}.strut.gas.action", "lift", [f"{B}.strut.gas.action", "pull or push"]),
    "balancers a list": (B, [], [B, "a mapping"]),
}


def test_the_good_one_is_not_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_text = gd.load_model(ROBOT, GOOD, strict=True)
        from_dict = gd.load_model(ROBOT, yaml.safe_load(GOOD), strict=True)
    assert from_text.balancers.names == ("strut", "coil", "cord", "clock")
    assert from_text.records.drivetrain.motors == from_dict.records.drivetrain.motors
    assert from_text.records.drivetrain.balancers == from_dict.records.drivetrain.balancers


@pytest.mark.parametrize(("path", "value", "words"), TABLE.values(), ids=TABLE)
def test_bad_drives_are_refused(path: str, value: Any, words: list[str]) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(ROBOT, changed(path, value))
    error = caught.value
    assert error.place.startswith("<drivetrain dict>, ")
    assert error.finding
    assert error.remedy
    for word in words:
        assert word in str(error)


def numbers(node: Any, path: str = "") -> Iterator[str]:
    """Paths of the numbers below a node; those in lists are left to the table."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from numbers(value, f"{path}.{key}" if path else key)
    elif isinstance(node, (int, float)):
        yield path


NUMBERS = [path for path in numbers(yaml.safe_load(GOOD)) if path.split(".")[0] in (B, "motors")]


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize(
    ("value", "word"), [("much", "'much'"), (None, "null"), (True, "true"), (math.nan, "finite")]
)
def test_what_is_no_number_is_refused(path: str, value: Any, word: str) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=word) as caught:
        gd.load_model(ROBOT, changed(path, value))
    assert caught.value.place == f"<drivetrain dict>, {path}"


@pytest.mark.parametrize("point", [["much", 1], [0, None]])
def test_a_point_of_words_is_refused(point: list[Any]) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=r"envelope\[0\]\[.\]: expected a number"):
        gd.load_model(ROBOT, changed(f"{M}.limits.envelope", [point, [9, 1]]))
