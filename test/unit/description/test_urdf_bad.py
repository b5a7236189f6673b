"""Every way a URDF can be wrong: class, place, finding, remedy."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from geared_dynamics.description import urdf_reader
from geared_dynamics.description.urdf_checks import COUNT_LIMIT
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.errors import DescriptionError, UnknownNameError
from geared_dynamics.files import read_file

GOOD = """<robot name="arm">
<link name="base"/>
<link name="link_1"><inertial><origin xyz="0 0 1"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="link_2"/>
<joint name="j1" type="revolute"><origin xyz="0 0 0" rpy="0 0 0"/>
<parent link="base"/><child link="link_1"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="1" friction="2"/></joint>
<joint name="j2" type="prismatic"><origin xyz="1 0 0"/>
<parent link="link_1"/><child link="link_2"/><mimic joint="j1" multiplier="2" offset="0"/></joint>
</robot>"""

# what, replaced by what, class, fragments of the message
BAD = [
    ('robot name="arm"', "robot", DescriptionError, "no name", '<robot name="...">'),
    ('name="arm"', 'name="arm" version="2.0"', DescriptionError, "robot/version", "'2.0'"),
    ('link name="base"', "link", DescriptionError, "link number 1", "'name' is missing"),
    ('name="j2"', 'name=" "', DescriptionError, "joint number 2", "'name' is missing"),
    ('name="j2"', 'name="j1"', DescriptionError, "joint 'j1'", "two joints", "rename"),
    ('<link name="link_2"/>', '<link name="base"/>', DescriptionError, "link 'base'", "rename"),
    ('type="prismatic"', "", DescriptionError, "joint 'j2'", "'type' is missing", "write type"),
    (
        'type="prismatic"', 'type="prismatik"', UnknownNameError,
        "joint 'j2'/type", "did you mean 'prismatic'?", "revolute, continuous",
    ),
    ('type="prismatic"', 'type="unknown"', UnknownNameError, "joint 'j2'/type"),
    ('<parent link="link_1"/>', "", DescriptionError, "joint 'j2'", "<parent> is missing"),
    ('<child link="link_2"/>', "<child/>", DescriptionError, "/child", "'link' is missing"),
    (
        'parent link="link_1"', 'parent link="lnk_1"', UnknownNameError, "joint 'j2'/parent/link",
        "no link 'lnk_1'", "did you mean 'link_1'?", "valid: base, link_1, link_2",
    ),
    ('child link="link_2"', 'child link="x"', UnknownNameError, "joint 'j2'/child/link"),
    (
        'child link="link_2"', 'child link="link_1"', DescriptionError, "joint 'j2'/child/link",
        "two parents", "'j1' from 'base'", "remove one",
    ),
    ('parent link="base"', 'parent link="link_2"', DescriptionError, "'j1' form a loop", "cut"),
    ('<link name="base"/>', '<link name="base"/><link name="lost"/>', DescriptionError,
     "2 links have no parent: 'base', 'lost'", "fixed joints"),
    ('mimic joint="j1"', 'mimic joint="j9"', UnknownNameError,
     "joint 'j2'/mimic/joint", "no joint 'j9'", "valid: j1, j2"),
    ('mimic joint="j1"', 'mimic joint="j2"', DescriptionError,
     "joint 'j2'/mimic/joint", "mimics itself", "name a joint that leads"),
    ('mimic joint="j1"', "mimic", DescriptionError, "joint 'j2'/mimic", "'joint' is missing"),
    ('type="revolute"', 'type="fixed"', DescriptionError, "'j1', which is fixed", "remove"),
    ('type="prismatic"', 'type="planar"', DescriptionError, "joint 'j2'/mimic", "planar joint"),
    ("<dynamics", '<mimic joint="j2"/><dynamics', DescriptionError, "'j1', 'j2' mimic each other"),
    ('mass value="1"', 'mass value="-1"', DescriptionError,
     "link 'link_1'/inertial/mass/value", "negative (-1 kg)", "mass >= 0"),
    ('iyy="1"', 'iyy="-1"', DescriptionError,
     "link 'link_1'/inertial/inertia/iyy", "negative (-1 kg m^2)", ">= 0"),
    ('iyy="1"', "", DescriptionError, "link 'link_1'/inertial/inertia", "'iyy' is missing"),
    ('mass value="1"', "mass", DescriptionError, "/inertial/mass", "'value' is missing"),
    ('<mass value="1"/>', "", DescriptionError, "link 'link_1'/inertial", "<mass> is missing"),
    ('mass value="1"', 'mass value="nan"', DescriptionError, "mass/value", "'nan' is not"),
    ('mass value="1"', 'mass value="inf"', DescriptionError, "mass/value", "'inf' is not"),
    ('mass value="1"', 'mass value="1e999"', DescriptionError, "mass/value", "not a finite"),
    ('mass value="1"', 'mass value="1_0"', DescriptionError, "mass/value", "a number"),
    ('mass value="1"', 'mass value="1_000"', DescriptionError, "expected a number, found '1_000'"),
    ('mass value="1"', 'mass value="\u0665\u0660"', DescriptionError, "mass/value", "a number"),
    ('mass value="1"', 'mass value="\uff11"', DescriptionError, "mass/value", "a number"),
    ('mass value="1"', 'mass value="\u00a01"', DescriptionError, "mass/value", "a number"),
    ('mass value="1"', 'mass value="\u22121"', DescriptionError, "mass/value", "a number"),
    ('mass value="1"', 'mass value="0x1"', DescriptionError, "mass/value", "found '0x1'"),
    ('mass value="1"', 'mass value="infinity"', DescriptionError, "mass/value", "a number"),
    ('xyz="1 0 0"', 'xyz="1\u00a00\u30000"', DescriptionError, "origin/xyz", "expected 3 numbers"),
    ('mass value="1"', 'mass value="1 kg"', DescriptionError, "mass/value", "found '1 kg'"),
    ('xyz="1 0 0"', 'xyz="1 0 nan"', DescriptionError, "joint 'j2'/origin/xyz", "'nan'", "finite"),
    ('xyz="1 0 0"', 'xyz="1 0"', DescriptionError,
     "joint 'j2'/origin/xyz", "expected 3 numbers, found '1 0'", "separated by spaces"),
    ('xyz="1 0 0"', 'xyz="1,0,0"', DescriptionError, "joint 'j2'/origin/xyz", "expected 3"),
    ('xyz="1 0 0"', 'xyz="a b c"', DescriptionError, "joint 'j2'/origin/xyz", "correct 'a'"),
    ('xyz="1 0 0"', 'xyz=""', DescriptionError, "joint 'j2'/origin/xyz", "expected 3 numbers"),
    ('xyz="1 0 0"', 'xyz="${a} 0 0"', DescriptionError, "joint 'j2'/origin/xyz", "xacro"),
    ('xyz="1 0 0"', 'quat_xyzw="0 0 1 0"', DescriptionError,
     "joint 'j2'/origin/quat_xyzw", "quaternions", "rpy"),
    ('<origin xyz="1 0 0"/>', "<origin/><origin/>", DescriptionError, "'j2'/origin", "twice"),
    ('axis xyz="0 0 1"', 'axis xyz="0 0 0"', DescriptionError,
     "joint 'j1'/axis/xyz", "no direction", "unit length"),
    ('axis xyz="0 0 1"', "axis", DescriptionError, "joint 'j1'/axis", "'xyz' is missing"),
    ('lower="-1"', 'lower="5"', DescriptionError, "joint 'j1'/limit", "lower 5 is above upper 1"),
    ('lower="-1"', 'lower="nan"', DescriptionError, "joint 'j1'/limit/lower", "not a finite"),
    ('effort="2"', 'effort="-2"', DescriptionError, "joint 'j1'/limit/effort", "negative (-2)"),
    ('damping="1"', 'damping="-1"', DescriptionError, "joint 'j1'/dynamics/damping", "negative"),
    ('friction="2"', 'friction="-2"', DescriptionError, "dynamics/friction", "negative"),
]  # fmt: skip


def test_the_table_starts_from_a_good_file() -> None:
    assert len(read_urdf(GOOD).joints) == 2


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]} -> {case[1]}")
def test_bad_urdf_is_refused(case, refused, capfd) -> None:
    old, new, error, *fragments = case
    assert GOOD.count(old) == 1
    refused(lambda: read_urdf(GOOD.replace(old, new)), error, "<URDF text>", *fragments)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        ("", "no links"),
        ('<link name="a"/>' * (COUNT_LIMIT + 1), f"more than {COUNT_LIMIT} links"),
        (
            '<link name="a"/><link name="b"/><joint name="ab" type="fixed"><parent link="a"/>'
            '<child link="b"/></joint><joint name="ba" type="fixed"><parent link="b"/>'
            '<child link="a"/></joint>',
            "form a loop",
        ),
        (
            '<link name="a"/><joint name="aa" type="fixed"><parent link="a"/><child link="a"/>'
            "</joint>",
            "the joints 'aa' form a loop",
        ),
    ],
    ids=["no link", "too many", "ring", "own parent"],
)
def test_degenerate_robots_are_refused(body: str, fragment: str, refused) -> None:
    refused(lambda: read_urdf(f'<robot name="r">{body}</robot>'), DescriptionError, fragment)


def test_error_names_the_file(tmp_path, refused) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(GOOD.replace('mass value="1"', 'mass value="-1"'), encoding="utf-8")
    error = refused(lambda: read_urdf(file), DescriptionError)
    assert error.place == f"{file}, link 'link_1'/inertial/mass/value"


@pytest.mark.parametrize("kind", [Exception, AssertionError, KeyError])
def test_what_the_parser_objects_to_is_passed_on(kind, monkeypatch, refused) -> None:
    """Newer versions of urdf_parser_py check more than ours does."""

    def objects(text: str) -> None:
        raise kind("odd\n   limit")

    parser = SimpleNamespace(URDF=SimpleNamespace(from_xml_string=objects))
    monkeypatch.setattr(urdf_reader, "urdf_parser", lambda: parser)
    refused(
        lambda: read_urdf(GOOD), DescriptionError, "urdf_parser_py: ", "odd", "correct the URDF"
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes have names on POSIX")
def test_a_pipe_is_read_only_where_waiting_is_allowed(tmp_path, refused) -> None:
    path = tmp_path / "arm.urdf"
    os.mkfifo(path)
    refused(
        lambda: read_file(path, "URDF file", 100, regular=True),
        DescriptionError, str(path), "not a regular file", "give the path of a URDF file",
    )  # fmt: skip
    path.unlink()
    path.write_bytes(b"x" * 100)
    assert len(read_file(path, "URDF file", 100, regular=True)) == 100
    refused(lambda: read_file(path, "URDF file", 99), DescriptionError, "larger than")
