"""Fernini's arms with 3 to 6 planets per joint, against first principles and its recursion."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import DrivetrainRecord, SpinRecord
from geared_dynamics.model.model import GearedModel
from long_cases import cases
from naive.drives import ratios_scaled
from naive.lagrangian import LagrangianTwin
from naive.measure import holds
from naive.planetary import Augmented, Gears, explicit_gears, recursion

ROOT = Path(__file__).parents[2]
# Relative to the largest value along the motion.
RELATIVE = 1e-12
# What a ratio 1 % off, or other signs, must cost in the same measure.
NEGATIVE = 1e-5

PLANETS = (3, 4, 5, 6)
KINDS = ("2R", "3R", "PUMA")
SIGNS = ("physical", "paper")
STATED = {"sun": 2.0, "planet": 4.0}  # (9), (10): both positive
SAMPLES = slice(0, None, 20)  # of the motion, for the slow twin


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """examples/planetary_arm.py, whose arms and motions these are."""
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location(
        "planetary_arm", ROOT / "examples" / "planetary_arm.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stated(drive: DrivetrainRecord) -> DrivetrainRecord:
    """The same gears with the paper's ratios."""
    spins = []
    for spin in drive.spins:
        sort = "sun" if spin.wheel.endswith("sun") else "planet"
        joint = spin.coefficients[0][0]
        spins.append(SpinRecord(spin.wheel, ((joint, STATED[sort]),)))
    return replace(drive, spins=tuple(spins))


def twin(model: GearedModel, planets: int, signs: str) -> LagrangianTwin:
    """The arm's links as its description states them, and its gears one by one."""
    drive = explicit_gears(model.records.robot, Gears(planets))
    if signs == "paper":
        drive = stated(drive)
    return LagrangianTwin(model.records.robot, drive, model.gravity)


def worst(found: Array, expected: Array) -> float:
    """Largest error relative to the largest value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("planets", cases([3, 6], [4, 5]))
@pytest.mark.parametrize("kind", KINDS)
def test_curves_against_first_principles(
    example: ModuleType, kind: str, planets: int, signs: str
) -> None:
    """Figures 6, 8, 10, 12 and their likes: kinetic energy and joint torques."""
    energy, torque = (x[SAMPLES] for x in example.curves(kind, planets, signs))
    _, *states = example.motion(kind)
    slow = twin(example.arm(kind, planets, signs), planets, signs)
    states = list(zip(*(x[SAMPLES] for x in states), strict=True))
    T = np.array([0.5 * v @ slow.mass_matrix(q) @ v for q, v, _ in states])
    tau = np.array([slow.inverse_dynamics(*state) for state in states])
    assert holds("Fernini 2023, kinetic energy along the motion", worst(energy, T), RELATIVE)
    assert holds("Fernini 2023, joint torques along the motion", worst(torque, tau), RELATIVE)


@pytest.mark.parametrize("planets", PLANETS)
@pytest.mark.parametrize("kind", KINDS)
def test_signs_differ_and_matter(example: ModuleType, kind: str, planets: int) -> None:
    """The negative control: the other signs are another arm."""
    _, q, v, a = example.motion(kind)
    slow = twin(example.arm(kind, planets), planets, "paper")
    found = example.curves(kind, planets)[1][100]
    assert worst(found, slow.inverse_dynamics(q[100], v[100], a[100])) > NEGATIVE


@pytest.mark.parametrize("joint", [0, 1])
def test_a_ratio_one_percent_off_fails(example: ModuleType, joint: int) -> None:
    _, q, v, a = example.motion("2R")
    wrong = ratios_scaled(example.arm("2R", 3), joint, 1.01)
    expected = example.curves("2R", 3)[1]
    assert worst(gd.inverse_dynamics(wrong, q, v, a), expected) > NEGATIVE


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("planets", PLANETS)
def test_the_papers_recursion(example: ModuleType, planets: int, signs: str) -> None:
    """(89), (90) with the corrections, for any number of links in the plane."""
    ratios = (STATED["sun"] if signs == "paper" else -STATED["sun"], STATED["planet"])
    carrying = Augmented(0.4, 0.25, example.MASS[planets], example.INERTIA[planets])
    for kind, links in (("2R", 1), ("3R", 2)):
        arm = [carrying] * links + [Augmented(0.4, 0.25, 29.0, 0.43)]
        _, *motion = example.motion(kind)
        states = np.stack([x[SAMPLES] for x in motion], axis=1)
        expected = [recursion(arm, ratios, Gears(planets), state) for state in states]
        found = example.curves(kind, planets, signs)[1][SAMPLES]
        assert worst(found, np.array(expected)) < RELATIVE


def test_motion_is_the_papers(example: ModuleType) -> None:
    """From (0.8, 0) to (0.4499, 0.5864) m; velocity, acceleration, jerk zero at both ends."""
    t, q, v, a = example.motion("2R")
    tip = np.array([[0.4, 0, 0, 1]]).T
    for state, place in ((q[0], (0.8, 0.0)), (q[-1], (0.4499, 0.5864))):
        found = gd.pose(example.arm("2R", 3), state, "link_2") @ tip
        np.testing.assert_allclose(found[:2, 0], place, atol=5.1e-5)  # as printed, and rounding
    ends = [0, -1]
    assert np.abs(v[ends]).max() < 1e-12
    assert np.abs(a[ends]).max() < 1e-11  # cancellation of the degree 5 terms, up to 1e3
    assert np.abs(a[[1, -2]] / (t[1] - t[0])).max() < 1.0  # jerk; of 50 between


def test_signs_change_the_coupling_only(example: ModuleType) -> None:
    """Bc = Is Gs + n Ip Gp: 2 Is |Gs| a_2 on joint 1, 2 Is |Gs| a_1 on joint 2."""
    a = example.motion("2R")[3]
    expected = 2 * example.SUN * 2.0 * a[:, ::-1]
    for planets in PLANETS:
        both = [example.curves("2R", planets, signs)[1] for signs in ("paper", "physical")]
        scale = np.abs(both[1]).max()
        assert np.abs(both[0] - both[1] - expected).max() < RELATIVE * scale


def test_robot_on_disk_is_the_examples(
    example: ModuleType, published: Callable[[str], GearedModel]
) -> None:
    _, q, v, a = example.motion("2R")
    model = published("planetary_2r")  # with gravity along -z, which does nothing here
    other = replace(example.arm("2R", 3), gravity=model.gravity)
    assert model.wheel_names == other.wheel_names
    found = gd.inverse_dynamics(model, q, v, a)
    assert worst(found, gd.inverse_dynamics(other, q, v, a)) < RELATIVE


@pytest.mark.parametrize("planets", PLANETS)
@pytest.mark.parametrize("kind", ["2R", "PUMA"])
def test_planets_with_a_mass_in_their_places(example: ModuleType, kind: str, planets: int) -> None:
    """The links without their gears: expansion at radius and phase, spins from contacts."""
    gears = Gears(
        planets, sun_mass=2.0, planet_mass=0.12, included=False, phase=0.3, planet_radius=0.03
    )
    twists, gravity, _ = example.ARMS[kind]
    sets = {}
    for joint in range(1, len(twists) + 1):
        sets[f"gearbox_{joint}"] = {
            **example.planetary_set(joint, planets),
            "teeth": {"sun": 20 * planets, "planet": 15 * planets, "ring": 50 * planets},
            "radius": 0.07,
            "phase": 0.3,
            "sun": {"mass": 2.0, "inertia": {"axial": gears.sun_inertia}},
            "planet": {"mass": 0.12, "inertia": {"axial": gears.planet_inertia}},
        }
    rows = [example.link(twist, 3, last=False) for twist in twists]
    drives = {"version": 1, "planetary": sets}
    model = gd.from_dh(rows, drives, carrier_frame="joint", gravity=gravity)
    slow = LagrangianTwin(
        model.records.robot, explicit_gears(model.records.robot, gears), model.gravity
    )
    _, q, v, a = (x[120] for x in example.motion(kind))
    assert worst(gd.inverse_dynamics(model, q, v, a), slow.inverse_dynamics(q, v, a)) < RELATIVE
    places = {w.name: np.array(w.position) for w in model.records.drivetrain.wheels}
    spokes = [
        places[f"gearbox_2.planet_{k + 1}"] - places["gearbox_2.sun"] for k in range(planets)
    ]
    products = np.array(spokes) @ spokes[0] / 0.07**2
    expected = np.cos(2 * np.pi * np.arange(planets) / planets)
    np.testing.assert_allclose(products, expected, atol=RELATIVE)


def test_place_and_mass_of_included_gears_do_not_matter(example: ModuleType) -> None:
    """Table 1 gives augmented links: sun's mass, planets' radius and phase are in them."""
    _, q, v, a = example.motion("2R")
    model = example.arm("2R", 4)
    for gears in (Gears(4), Gears(4, sun_mass=5.0, planet_mass=1.0, phase=0.7)):
        drive = explicit_gears(model.records.robot, gears)
        slow = LagrangianTwin(model.records.robot, drive, model.gravity)
        expected = slow.inverse_dynamics(q[90], v[90], a[90])
        assert worst(gd.inverse_dynamics(model, q[90], v[90], a[90]), expected) < RELATIVE


def test_table_in_the_docs(example: ModuleType) -> None:
    """docs/planetary.md quotes what the example computes."""
    page = (ROOT / "docs" / "planetary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (2R|3R|PUMA-like) \| (.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    assert len(rows) == 3 * 5
    for kind, change, torque, energy in rows:
        runs = {n: example.curves(kind.removesuffix("-like"), n) for n in PLANETS}
        if change == "3 planets":
            new, old = runs[3], (np.zeros(()), np.zeros(()))
        elif "signs" in change:
            new, old = example.curves(kind.removesuffix("-like"), 3, "paper"), runs[3]
        else:
            first, second = (int(x) for x in re.findall(r"\d", change))
            new, old = runs[second], runs[first]
        printed = [float(x) for x in (*torque.split(" / "), energy)]
        found = [*np.abs(new[1] - old[1]).max(axis=0), np.abs(new[0] - old[0]).max()]
        np.testing.assert_allclose(found, printed, rtol=0, atol=0.00051)  # three decimals
