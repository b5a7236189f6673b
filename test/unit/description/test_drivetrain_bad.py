"""Every way a drivetrain file can be wrong: class, place, finding, remedy."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from geared_dynamics.description.drivetrain_reader import read_drivetrain
from geared_dynamics.description.yaml_files import SIZE_LIMIT
from geared_dynamics.description.yaml_loader import ORDINARY
from geared_dynamics.errors import DescriptionError, UnknownNameError

GOOD = """version: 1
wheels:
  rotor_1:
    carrier: link_1
    axis: [0, 1, 0]
    position: [0, 0, 0.1]
    mass: 0.5
    inertia: {axial: 1.2e-4, transverse: 0.8e-4}
    side: motor
  rotor_2: {carrier: link_2, axis: [1, 0, 0], mass: 1, inertia: {axial: 1}}
spins:
  - {wheel: rotor_1, joint: joint_1, ratio: 100}
  - {wheel: rotor_2, coefficients: {joint_1: 80, joint_2: -80}}
motors:
  motor_1: {wheel: rotor_1}
  motor_2: {wheel: rotor_2}
joints:
  joint_1: {stiffness: 1.0e+4, damping: 2.0, friction: {viscous: 0.4, coulomb: 1.1}}
"""

# what, replaced by what, class, fragments of the message
BAD = [
    ("version: 1\n", "", DescriptionError, "version", "missing in the file", "add it"),
    ("version: 1", "version: 2", DescriptionError, "version", "expected 1, found the number 2"),
    ("version: 1", "version: '1'", DescriptionError, "version", "found the text '1'", "write 1"),
    ("joints:", "joint:", UnknownNameError,
     "no key 'joint'", "did you mean 'joints'?", "valid: version, wheels, spins, planetary, harm"),
    ("motors:", "planetarium: {}\nmotors:", UnknownNameError, "did you mean 'planetary'?"),
    ("    axis: [0, 1, 0]", "    axsi: [0, 1, 0]", UnknownNameError,
     "wheels.rotor_1", "no key 'axsi'", "did you mean 'axis'?", "valid: carrier, axis"),
    ("{axial: 1.2e-4", "{axail: 1.2e-4", UnknownNameError,
     "wheels.rotor_1.inertia", "did you mean 'axial'?"),
    ("joint: joint_1, ratio: 100", "joint: joint_1, rato: 100", UnknownNameError,
     "spins[0]", "no key 'rato'", "mean 'ratio'?", "valid: wheel, joint, ratio, coefficients"),
    ("motor_1: {", "motor_1: {resistence: 1, ", UnknownNameError,
     "motors.motor_1", "no key 'resistence'", "mean 'resistance'?", "valid: wheel, kind, resist"),
    ("viscous: 0.4", "stribek: 0.4", UnknownNameError, "joint_1.friction", "mean 'stribeck'?"),
    ("    carrier: link_1\n", "", DescriptionError,
     "wheels.rotor_1.carrier", "missing in wheels.rotor_1", "add it"),
    ("    mass: 0.5\n", "", DescriptionError, "wheels.rotor_1.mass", "missing"),
    ("{axial: 1.2e-4, ", "{", DescriptionError, "wheels.rotor_1.inertia.axial", "missing"),
    ("{wheel: rotor_1}", "{}", DescriptionError, "motors.motor_1.wheel", "missing"),
    ("carrier: link_1", "carrier: 3", DescriptionError,
     "wheels.rotor_1.carrier", "expected a name, found the number 3"),
    ("carrier: link_1", "carrier:", DescriptionError, "expected a name, found nothing (null)"),
    ("carrier: link_1", "carrier: ''", DescriptionError, "wheels.rotor_1.carrier", "empty"),
    ("mass: 0.5", "mass: heavy", DescriptionError,
     "wheels.rotor_1.mass", "expected a number, found the text 'heavy'", "write a number"),
    ("mass: 0.5", "mass: true", DescriptionError, "found the boolean true"),
    ("mass: 0.5", "mass: [1]", DescriptionError, "found a list of 1"),
    ("mass: 0.5", "mass: {a: 1}", DescriptionError, "found a mapping"),
    ("mass: 0.5", "mass: -0.5", DescriptionError, "wheels.rotor_1.mass", "-0.5 is less than 0"),
    ("mass: 0.5", "mass: .nan", DescriptionError, "wheels.rotor_1.mass", "nan is not a finite"),
    ("mass: 0.5", "mass: -.inf", DescriptionError, "wheels.rotor_1.mass", "inf is not a finite"),
    ("mass: 0.5", "mass: 1e999", DescriptionError, "wheels.rotor_1.mass", "inf is not a finite"),
    ("mass: 0.5", f"mass: 1{'0' * 400}", DescriptionError, "rotor_1.mass", "not a finite"),
    ("[0, 1, 0]", "[0, 1]", DescriptionError,
     "wheels.rotor_1.axis", "expected 3 numbers, found 2", "write 3 numbers"),
    ("[0, 1, 0]", "[0, 1, 0, 0]", DescriptionError, "expected 3 numbers, found 4"),
    ("[0, 1, 0]", "[0, y, 0]", DescriptionError, "wheels.rotor_1.axis[1]", "expected a number"),
    ("[0, 1, 0]", "[0, .nan, 0]", DescriptionError, "wheels.rotor_1.axis[1]", "not a finite"),
    ("[0, 1, 0]", "[0, 0, 0]", DescriptionError, "wheels.rotor_1.axis", "zero", "direction"),
    ("axial: 1.2e-4", "axial: -1", DescriptionError,
     "wheels.rotor_1.inertia.axial", "-1 is less than 0", "write a number >= 0"),
    ("transverse: 0.8e-4", "transverse: 5e-5", DescriptionError,
     "wheels.rotor_1.inertia.transverse", "less than half of axial", "at least 6e-05"),
    ("side: motor", "side: left", DescriptionError,
     "wheels.rotor_1.side", "expected motor or link, found the text 'left'"),
    ("ratio: 100", "ratio: 0", DescriptionError, "spins[0].ratio", "zero", "other than 0"),
    ("ratio: 100", "ratio: .inf", DescriptionError, "spins[0].ratio", "not a finite"),
    (", ratio: 100", "", DescriptionError, "spins[0]", "the keys wheel, joint",
     "'joint' with one of 'ratio', 'lead' or 'pinion_radius', or 'coefficients'"),
    ("ratio: 100", "ratio: 1, coefficients: {joint_1: 1}", DescriptionError, "spins[0]", "one of"),
    ("{joint_1: 80, joint_2: -80}", "{}", DescriptionError, "spins[1].coefficients", "empty"),
    ("joint_2: -80", "joint_2: 0", DescriptionError, "spins[1].coefficients.joint_2", "zero"),
    ("{wheel: rotor_1, joint", "{wheel: roter_1, joint", UnknownNameError,
     "spins[0].wheel", "no wheel 'roter_1'", "did you mean 'rotor_1'?", "valid: rotor_1, rotor_2"),
    ("{wheel: rotor_2, coef", "{wheel: rotor_1, coef", DescriptionError,
     "spins[1]", "'rotor_1' is determined twice, by spins[0] and spins[1]", "keep one"),
    ("  - {wheel: rotor_1, joint: joint_1, ratio: 100}\n", "", DescriptionError,
     "spins", "no spin fixes wheel 'rotor_1'", "add {wheel: rotor_1"),
    ("  motor_1: {wheel: rotor_1}", "  motor_1: {wheel: rotor_9}", UnknownNameError,
     "motors.motor_1.wheel", "no wheel 'rotor_9'", "valid: rotor_1, rotor_2"),
    ("motor_2: {wheel: rotor_2}", "motor_2: {wheel: rotor_1}", DescriptionError,
     "motors.motor_2.wheel", "two motors, 'motor_1' and 'motor_2'", "a wheel of its own"),
    ("stiffness: 1.0e+4, ", "", DescriptionError, "joints.joint_1", "requires", "'stiffness'"),
    ("stiffness: 1.0e+4", "stiffness: 0", DescriptionError, "joints.joint_1.stiffness", "above 0"),
    ("damping: 2.0", "damping: -2", DescriptionError, "joints.joint_1.damping", "-2 is less"),
    ("coulomb: 1.1", "coulomb: -1", DescriptionError, "joints.joint_1.friction.coulomb", "less"),
    ("{viscous: 0.4, coulomb: 1.1}", "{}", DescriptionError, "joint_1.friction", "empty"),
    ("    side: motor", "    mass: 1", DescriptionError,
     "line 9", "the key 'mass' is given twice, first on line 7"),
    ("    side: motor", "\tside: motor", DescriptionError, "line 9", "tab"),
    ("mass: 0.5", "mass:0.5", DescriptionError, "line 8", "not well-formed YAML", "space after"),
    ("[0, 1, 0]", "[0, 1, 0", DescriptionError, "line 6", "not well-formed YAML"),
    ("mass: 0.5", "<<: {mass: 1}", DescriptionError, "line 7", "merge keys"),
    ("mass: 0.5", "? [a]\n    : 1", DescriptionError, "line 7", "a key must be a plain name"),
    ("mass: 0.5", "mass: *x", DescriptionError, "line 7", "alias"),
    ("mass: 0.5", "mass: !!python/object/apply:os.getcwd []", DescriptionError,
     "line 7", "tag '!!python/object/apply:os.getcwd' is not accepted"),
    ("mass: 0.5", "mass: !!float abc", DescriptionError, "line 7", "'abc' is not a number"),
    ("mass: 0.5", "mass: !!int abc", DescriptionError, "line 7", "'abc' is not an integer"),
    ("mass: 0.5", "mass: !!bool abc", DescriptionError, "line 7", "'abc' is not a boolean"),
    ("mass: 0.5", f"mass: {'9' * 5000}", DescriptionError, "not a"),
    ("mass: 0.5", "mass: \x01", DescriptionError, "line 7", "control character", "remove it"),
]  # fmt: skip


def test_the_table_starts_from_a_good_file() -> None:
    assert len(read_drivetrain(GOOD).wheels) == 2


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]} -> {case[1][:40]}")
def test_bad_drivetrain_is_refused(case, refused) -> None:
    old, new, error, *fragments = case
    assert GOOD.count(old) == 1
    refused(lambda: read_drivetrain(GOOD.replace(old, new)), error, *fragments)


LETTERS = "abcdefghij"
BOMB = f"a: &a [{'x,' * 9}]\n" + "".join(
    f"{new}: &{new} [{f'*{old},' * 9}]\n" for old, new in pairwise(LETTERS)
)

ITSELF: dict[str, object] = {"version": 1}
ITSELF["joints"] = ITSELF

SOURCES = {
    "empty": ("", "drivetrain", "the text is empty", "None"),
    "nothing in it": ("# only a comment\n", "the file is empty", "start it with 'version: 1'"),
    "no such file": ("no/such.yaml", "no/such.yaml", "there is no such drivetrain file", "check"),
    "one line is a path": ("version: 1", "there is no such drivetrain file"),
    "a list": ("- 1\n- 2\n", "expected a mapping", "found a list of 2"),
    "a word": (b"word", "<drivetrain text>", "found the text 'word'"),
    "two documents": ("version: 1\n---\nversion: 1\n", "line 2", "a second document begins"),
    "not UTF-8": (b"version: 1\n# \xff", "line 2", "not UTF-8", "0xff"),
    "another type": (3, "expected a path, YAML text, a dict or None, found int"),
    "list of nothing": ({"version": 1, "wheels": []}, "<drivetrain dict>, wheels", "a mapping"),
    "number as key": ({"version": 1, "wheels": {1: {}}}, "wheels", "the key 1 is not text"),
    "odd value": ({"version": 1, "wheels": {1, 2}}, "wheels", "a value of type set"),
    "nan in a dict": ({"version": 1, "joints": {"j": float("nan")}}, "joints.j", "not a finite"),
    "alias bomb": (BOMB, f"more than {ORDINARY.values} values", "aliases"),
    "alias of itself": ("a: &x [*x]\n", "line 1", "the alias *x names no value before it"),
    "a dict in itself": (ITSELF, "<drivetrain dict>", "deeper than 64", "contains itself"),
    "many values": (
        "a: [" + "1," * ORDINARY.values + "]\n",
        f"more than {ORDINARY.values} values",
    ),
    "nesting": ("[\n" * 100_000, "nested deeper than 64 levels"),
    "nesting in a line": ("{a: " * 100_000, "nested deeper than 64 levels"),
    "mappings as keys": ("{" * 100_000, "a key must be a plain name"),
    "block nesting": ("".join(f"{' ' * i}a:\n" for i in range(100)), "nested deeper than 64"),
    "large": ("x\n" * SIZE_LIMIT, "larger than 1 MiB", "right file"),
    "100 MB of nesting": ("[" * (100 * 2**20) + "\n", "larger than 1 MiB"),
    "large bytes": (b"x" * (SIZE_LIMIT + 1), "larger than 1 MiB"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_bad_source_is_refused(case, refused) -> None:
    source, *fragments = SOURCES[case]
    refused(lambda: read_drivetrain(source), DescriptionError, *fragments)


def test_a_dict_that_holds_itself_is_refused(refused) -> None:
    data: dict[str, object] = {"version": 1}
    data["wheels"] = data
    refused(lambda: read_drivetrain(data), DescriptionError, "deeper than 64")


def test_bad_files_are_refused(tmp_path: Path, refused) -> None:
    refused(lambda: read_drivetrain(tmp_path), DescriptionError, str(tmp_path), "directory")
    file = tmp_path / "arm.drivetrain.yaml"
    file.write_text("version: 2\n", encoding="utf-8")
    error = refused(lambda: read_drivetrain(file), DescriptionError)
    assert error.place == f"{file}, version"


OTHERS = {
    "version further in": "settings:\n  version: 1\n",
    "version 1 of a list": "- version: 1\n",
    "version true": "version: true\n",
    "no version": "robot: x\n",
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_yaml_file_of_another_kind_is_called_so(case, tmp_path, refused) -> None:
    """Nothing of it is quoted: its path may come from a topic or a parameter."""
    path = tmp_path / "settings.yaml"
    path.write_text(OTHERS[case])
    words = (str(path), "not a drivetrain file", "no key 'version' with the number 1")
    refused(lambda: read_drivetrain(path), DescriptionError, *words)
    path.write_text("version: 1\n")
    assert read_drivetrain(path).wheels == ()
