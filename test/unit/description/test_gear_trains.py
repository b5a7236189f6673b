"""Meshes, screws, pinions, planetary sets and harmonic drives: YAML -> records."""

from __future__ import annotations

import math

import pytest

from geared_dynamics.description.drive_records import (
    HarmonicRecord,
    MeshRecord,
    MotorRecord,
    PlanetaryRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.drivetrain_reader import read_drivetrain, wheel_names
from geared_dynamics.errors import DescriptionError, UnknownNameError

BODY = "{mass: 0.2, inertia: {axial: 2e-4}}"
FULL = f"""version: 1
wheels:
  a: {{carrier: arm, axis: [0, 0, 1], mass: 1, inertia: {{axial: 1e-3}}}}
  b: {{carrier: a, axis: [0, 0, 1], mass: 1, inertia: {{axial: 1e-3}}}}
  screw: {{carrier: arm, axis: [1, 0, 0], mass: 1, inertia: {{axial: 1e-5}}}}
  pinion: {{carrier: arm, axis: [0, 1, 0], mass: 1, inertia: {{axial: 1e-5}}}}
spins:
  - {{mesh: [a, b], arm: arm, teeth: [20, 40], kind: external}}
  - {{wheel: screw, joint: slide, lead: 0.01}}
  - {{mesh: [b, hand], arm: wrist, radii: [0.01, 0.03], kind: belt}}
  - {{wheel: pinion, joint: slide, pinion_radius: 0.02, sign: -1}}
  - {{mesh: [b, c], arm: wrist, teeth: [1, 40], sign: -1, axes: [[0, 3, 0], [0, 0, -2]]}}
planetary:
  first:
    joint: turn
    housing: base
    layout: carrier_fixed
    input: sun
    output: ring
    teeth: {{sun: 20, planet: 10, ring: 40}}
    planets: 3
    radius: 0.03
    sun: {BODY}
    planet: {{mass: 0.1, inertia: {{axial: 1e-5, transverse: 8e-6}}}}
  second:
    housing: base
    layout: ring_fixed
    input: sun
    output: carrier
    teeth: {{sun: 30, planet: 15, ring: 60}}
    planets: 5
    radius: 0.04
    phase: 0.5
    axis: [0, 0, 2]
    position: [0, 0, 0.1]
    sun: a
    carrier: {BODY}
    planet: {{inertia: {{axial: 1e-5}}, included_in_link: true}}
harmonic:
  drive:
    joint: turn
    housing: base
    fixed: circular_spline
    teeth: {{flexspline: 200, circular_spline: 202}}
    wave_generator: {BODY}
motors:
  m1: {{wheel: first.sun}}
  m2: {{wheel: drive.wave_generator}}
"""


def body(name: str, mass: float = 0.2, axial: float = 2e-4, transverse: float = 1e-4):
    return WheelRecord(name, "", (0, 0, 1), (0, 0, 0), mass, axial, transverse)


def test_spins_keep_their_place_in_the_list() -> None:
    record = read_drivetrain(FULL)
    assert record.spins == (
        SpinRecord("screw", (("slide", 2.0 * math.pi / 0.01),), "spins[1]", "lead"),
        SpinRecord("pinion", (("slide", -50.0),), "spins[3]", "pinion_radius"),
    )
    assert record.meshes == (
        MeshRecord(("a", "b"), "arm", (20.0, 40.0), "external", place="spins[0]"),
        MeshRecord(
            ("b", "hand"),
            "wrist",
            (0.01, 0.03),
            "internal",
            place="spins[2]",
            radii=True,
            wraps=True,
        ),
        MeshRecord(
            ("b", "c"), "wrist", (1, 40), None, -1, ((0, 1, 0), (0, 0, -1)), place="spins[4]"
        ),
    )


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("external", "external"),
        ("internal", "internal"),
        ("belt", "internal"),
        ("chain", "internal"),
    ],
)
def test_belts_and_chains_turn_both_wheels_the_same_way(word: str, kind: str) -> None:
    text = FULL.replace("kind: belt", f"kind: {word}")
    assert read_drivetrain(text).meshes[1].kind == kind


def test_a_screw_of_one_percent_more_lead_turns_one_percent_less() -> None:
    screw, _ = read_drivetrain(FULL.replace("lead: 0.01", "lead: 0.0101")).spins
    ((_, ratio),) = screw.coefficients
    # One turn, 2 pi, per lead: 1e-15 is rounding.
    assert ratio * 0.0101 == pytest.approx(2.0 * math.pi, rel=1e-15)
    assert ratio != pytest.approx(2.0 * math.pi / 0.01, rel=1e-3)


def test_planetary_sets() -> None:
    first, second = read_drivetrain(FULL).planetary
    assert first == PlanetaryRecord(
        name="first",
        housing="base",
        fixed="carrier",
        input="sun",
        output="ring",
        teeth=(20, 10, 40),
        planets=3,
        planet=body("first.planet", 0.1, 1e-5, 8e-6),
        members=(("sun", body("first.sun")),),
        joint="turn",
        radius=0.03,
    )
    assert (second.fixed, second.input, second.output) == ("ring", "sun", "carrier")
    assert second.members == (("sun", "a"), ("carrier", body("second.carrier")))
    assert (second.joint, second.phase, second.axis) == (None, 0.5, (0, 0, 1))
    assert second.position == (0, 0, 0.1)
    assert second.planet.included_in_link


def test_harmonic_drive_and_motors_on_wheels_of_sets() -> None:
    record = read_drivetrain(FULL)
    assert record.harmonic == (
        HarmonicRecord(
            "drive", "base", "turn", "circular_spline", 200, 202, body("drive.wave_generator")
        ),
    )
    assert record.motors == (
        MotorRecord("m1", "first.sun"),
        MotorRecord("m2", "drive.wave_generator"),
    )


def test_names_of_all_wheels() -> None:
    planets = [f"first.planet_{k}" for k in (1, 2, 3)]
    more = [f"second.planet_{k}" for k in (1, 2, 3, 4, 5)]
    assert wheel_names(read_drivetrain(FULL)) == [
        *("a", "b", "screw", "pinion", "first.sun", *planets),
        *("second.carrier", *more, "drive.wave_generator"),
    ]


def test_massless_planets_need_no_radius() -> None:
    text = FULL.replace("    radius: 0.03\n", "").replace("mass: 0.1,", "mass: 0,")
    assert read_drivetrain(text).planetary[0].radius == 0.0


def test_a_mesh_names_its_carrier_by_either_word() -> None:
    record = read_drivetrain(FULL.replace("arm: arm, teeth", "carrier: arm, teeth"))
    assert record == read_drivetrain(FULL)
    assert (record.meshes[0].arm, record.meshes[0].key) == ("arm", "carrier")


# what, replaced by what, class, fragments of the message
BAD = [
    ("arm: arm, teeth", "teeth", DescriptionError, "spins[0]", "'carrier' the body"),
    ("arm: arm, teeth", "arm: arm, carrier: arm, teeth", DescriptionError,
     "the keys mesh, arm, carrier"),
    ("mesh: [a, b], arm: arm", "mehs: [a, b], arm: arm", UnknownNameError,
     "spins[0]", "no key 'mehs'", "did you mean 'mesh'?", "valid: mesh, carrier, arm, teeth"),
    ("{mesh: [a, b]", "{wheel: a, mesh: [a, b]", UnknownNameError, "spins[0]", "no key 'wheel'"),
    ("[a, b]", "[a]", DescriptionError, "spins[0].mesh", "expected 2 names, found 1"),
    ("[a, b]", "[a, a]", DescriptionError, "spins[0].mesh", "the same name twice", "different"),
    ("[a, b]", "[a, 3]", DescriptionError, "spins[0].mesh[1]", "expected a name, found the num"),
    ("[20, 40]", "[20]", DescriptionError, "spins[0].teeth", "expected 2 numbers, found 1"),
    ("[20, 40]", "[20, 40.5]", DescriptionError, "spins[0].teeth[1]", "expected a whole number"),
    ("[20, 40]", "[0, 40]", DescriptionError, "spins[0].teeth[0]", "0 is less than 1"),
    ("teeth: [20, 40], ", "", DescriptionError, "spins[0]", "the keys mesh, arm, kind",
     "either 'teeth' or 'radii'"),
    ("teeth: [20, 40]", "teeth: [2, 4], radii: [1, 2]", DescriptionError, "spins[0]", "either"),
    ("[0.01, 0.03]", "[0, 0.03]", DescriptionError, "spins[2].radii[0]", "0 is not above 0"),
    (", kind: external", "", DescriptionError, "spins[0]", "either 'kind' (axes parallel) or 'si"),
    ("kind: external", "kind: external, sign: 1", DescriptionError, "spins[0]", "either 'kind'"),
    ("kind: external", "kind: bevel", DescriptionError, "spins[0].kind", "found the text 'bevel'"),
    ("sign: -1, axes", "sign: 2, axes", DescriptionError, "spins[4].sign", "expected 1 or -1"),
    ("[0, 3, 0]", "[0, 0, 0]", DescriptionError, "spins[4].axes[0]", "zero", "direction"),
    ("[[0, 3, 0], [0, 0, -2]]", "[[0, 3, 0]]", DescriptionError,
     "spins[4].axes", "expected 2 vectors, found 1"),
    ("lead: 0.01", "lead: 0", DescriptionError, "spins[1].lead", "0 is not above 0"),
    ("lead: 0.01", "lead: -0.01", DescriptionError, "spins[1].lead", "-0.01 is not above 0"),
    ("lead: 0.01", "lead: 0.01, ratio: 3", DescriptionError, "spins[1]", "one of 'ratio', 'lead'"),
    ("radius: 0.02, sign: -1", "radius: 0.02, sign: 0", DescriptionError, "spins[3].sign", "1 or"),
    ("wheel: screw", "wheel: first.ring", UnknownNameError,
     "spins[1].wheel", "no wheel 'first.ring'", "valid: a, b, screw, pinion, first.sun"),
    ("wheel: pinion", "wheel: screw", DescriptionError,
     "spins[3]", "'screw' is determined twice, by spins[1] and spins[3]"),
    ("wheel: first.sun", "wheel: first.son", UnknownNameError,
     "motors.m1.wheel", "did you mean 'first.sun'?"),
    ("    layout: carrier_fixed\n", "", DescriptionError, "planetary.first.layout", "missing"),
    ("layout: carrier_fixed", "layout: fixed", DescriptionError,
     "planetary.first.layout", "expected carrier_fixed or ring_fixed or sun_fixed"),
    ("layout: carrier_fixed", "latout: carrier_fixed", UnknownNameError,
     "planetary.first", "did you mean 'layout'?"),
    ("output: ring", "output: sun", DescriptionError, "planetary.first",
     "the carrier is fixed, the sun is the input and the sun the output", "exactly once"),
    ("layout: ring_fixed", "layout: sun_fixed", DescriptionError, "planetary.second",
     "the sun is fixed, the sun is the input"),
    ("ring: 40", "ring: 41", DescriptionError, "planetary.first.teeth",
     "ring 41 is not sun 20 + 2 planet 10 = 40"),
    ("planets: 3", "planets: 7", DescriptionError, "planetary.first.planets",
     "7 planets cannot be equally spaced", "sun + ring = 60", "use 1 or 2 or 3 or 4 or 5 or 6"),
    ("planets: 3", "planets: 10", DescriptionError, "planetary.first.planets",
     "10 planets overlap each other", "use 1 or 2 or 3 or 4 or 5 or 6"),
    ("planets: 3", "planets: 0", DescriptionError, "planetary.first.planets", "0 is less than 1"),
    ("planets: 3", "planets: 3.5", DescriptionError, "planetary.first.planets", "a whole number"),
    ("    radius: 0.03\n", "", DescriptionError, "planetary.first.radius", "planets have mass"),
    ("radius: 0.03", "radius: -0.03", DescriptionError, "planetary.first.radius", "not above 0"),
    (f"    sun: {BODY}", f"    ring: {BODY}", DescriptionError, "planetary.first.ring",
     "the ring is a part of the link that 'turn' moves", "remove it here"),
    (f"    sun: {BODY}", f"    carrier: {BODY}", DescriptionError, "planetary.first.carrier",
     "the carrier is fixed and a part of link 'base'"),
    (f"    sun: {BODY}", "    sun: 3", DescriptionError, "planetary.first.sun", "a mapping"),
    (f"    sun: {BODY}", "    sun: ''", DescriptionError, "planetary.first.sun", "empty"),
    (f"    sun: {BODY}", "    sun: {mass: 1}", DescriptionError,
     "planetary.first.sun.inertia", "missing"),
    (f"    sun: {BODY}", "    sun: {inertia: {axial: 1}}", DescriptionError,
     "planetary.first.sun.mass", "missing"),
    (f"    sun: {BODY}", "    sun: {mas: 1, inertia: {axial: 1}}", UnknownNameError,
     "planetary.first.sun", "did you mean 'mass'?"),
    ("transverse: 8e-6", "transverse: 4e-6", DescriptionError,
     "planetary.first.planet.inertia.transverse", "less than half"),
    ("axis: [0, 0, 2]", "axis: [0, 0, 0]", DescriptionError, "planetary.second.axis", "zero"),
    ("circular_spline: 202", "circular_spline: 200", DescriptionError,
     "harmonic.drive.teeth", "the circular spline has 200 teeth", "two more"),
    ("fixed: circular_spline", "fixed: ring", DescriptionError,
     "harmonic.drive.fixed", "expected circular_spline or flexspline"),
    (f"wave_generator: {BODY}", f"wave_genrator: {BODY}", UnknownNameError,
     "harmonic.drive", "did you mean 'wave_generator'?"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]} -> {case[1][:40]}")
def test_bad_gear_train_is_refused(case, refused) -> None:
    old, new, error, *fragments = case
    assert FULL.count(old) == 1
    refused(lambda: read_drivetrain(FULL.replace(old, new)), error, *fragments)
