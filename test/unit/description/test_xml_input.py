"""XML from outside: nothing read, nothing expanded, everything refused by name."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.description.xml_input import (
    DEPTH_LIMIT,
    ELEMENT_LIMIT,
    SIZE_LIMIT,
    _parse,
)
from geared_dynamics.errors import DescriptionError

MINIMAL = '<robot name="r"><link name="base"/></robot>'

BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE robot [\n<!ENTITY a "ha">\n'
    + "".join(
        f'<!ENTITY {new} "{f"&{old};" * 10}">\n'
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + ']>\n<robot name="&i;"><link name="base"/></robot>'
)


@pytest.mark.parametrize(
    "source",
    [
        MINIMAL,
        f"  \n\t{MINIMAL}",
        f"\ufeff{MINIMAL}",
        MINIMAL.encode(),
        b"\xef\xbb\xbf" + MINIMAL.encode(),
        f'<?xml version="1.0" encoding="ISO-8859-1"?><!-- <!DOCTYPE no> -->\n{MINIMAL}',
        f"<?pi <!DOCTYPE no> ?>{MINIMAL}",
        '<robot xmlns="http://www.ros.org" name="r"><link name="base"/></robot>',
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><link name="base"/></robot>',
        # As deep as it may be, after many elements that were closed.
        f'<robot name="r"><link name="base"/>{"<a><b/></a>" * DEPTH_LIMIT}'
        f"{'<a>' * (DEPTH_LIMIT - 1)}{'</a>' * (DEPTH_LIMIT - 1)}</robot>",
    ],
)
def test_text_is_recognised(source: str | bytes) -> None:
    robot = read_urdf(source)
    assert robot.source == "<URDF text>"
    assert [link.name for link in robot.links] == ["base"]


def test_path_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(MINIMAL, encoding="utf-8")
    assert read_urdf(file) == read_urdf(str(file))
    assert read_urdf(file).source == str(file)


BAD = {
    "empty": ("", "the text is empty", "path or URDF text"),
    "blank bytes": (b" \n", "the file is empty", "<URDF text>"),
    "no such file": ("no/such.urdf", "no/such.urdf", "there is no such URDF file", "check the"),
    "null character": ("no\0such.urdf", "cannot be read", "check the path"),
    "unclosed": ('<robot name="r">\n<link>\n</robot>', "line 3", "not well-formed", "correct"),
    "no element": ("<!-- nothing -->", "<URDF text>", "not well-formed"),
    "undefined entity": ('<robot name="&x;"/>', "line 1", "not well-formed"),
    "control character": ('<robot name="\x01"/>', "line 1", "not well-formed"),
    "surrogate": ('<robot name="\ud800"/>', "line 1", "surrogate"),
    "latin-1": ('<robot\nname="\xe4"/>'.encode("latin-1"), "line 2", "not UTF-8", "0xe4", "save"),
    "utf-16": (MINIMAL.encode("utf-16"), "not UTF-8", "save it as UTF-8"),
    "sdf": ("\n<sdf version='1.7'/>", "line 2", "<sdf>, expected <robot>", "SDF", "export"),
    "mjcf": ("<mujoco/>", "<mujoco>, expected <robot>", "MJCF"),
    "web page": ("<html></html>", "expected <robot>", "download"),
    "other": ("<thing/>", "<thing>, expected <robot>", "pass a URDF file"),
    "xacro": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">\n<link name="b"/>\n'
        '<xacro:include filename="a.xacro"/></robot>',
        "line 3",
        "unprocessed xacro element <xacro:include>",
        "run it through xacro",
    ),
    "xacro undeclared": ('<robot name="r"><xacro:arm/></robot>', "line 1", "xacro FILE"),
    "prefix undeclared": ('<robot name="r"><drake:x/></robot>', "drake", "xmlns:drake"),
    "entity bomb": (BOMB, "line 2", "<!DOCTYPE", "can define entities", "remove it"),
    "doctype only": (f"<!-- c -->\n<!DOCTYPE robot>{MINIMAL}", "line 2", "<!DOCTYPE"),
    "own depth": (
        f'<robot name="r">{"<a>" * DEPTH_LIMIT}{"</a>" * DEPTH_LIMIT}</robot>',
        f"nested deeper than {DEPTH_LIMIT}",
        "flat",
    ),
    "depth after closed elements": (
        f'<robot name="r">{"<a><b/></a>" * DEPTH_LIMIT}'
        f"{'<a>' * DEPTH_LIMIT}{'</a>' * DEPTH_LIMIT}</robot>",
        f"nested deeper than {DEPTH_LIMIT}",
        "flat",
    ),
    "parser's depth": ("<a>\n" * 5000, "nested deeper than", "flat"),
    "many elements": ("<robot>" + "<a/>" * (2 * ELEMENT_LIMIT), f"more than {ELEMENT_LIMIT}"),
    "large": ("<a>" * (SIZE_LIMIT // 3 + 1), "larger than 16 MiB", "right file"),
    "large bytes": (b"<" * (SIZE_LIMIT + 1), "larger than 16 MiB"),
    "wrong type": (3, "expected a path or XML text, found int", "pathlib.Path"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case, refused) -> None:
    source, *fragments = BAD[case]
    refused(lambda: read_urdf(source), DescriptionError, *fragments)


def test_bad_files_are_refused(tmp_path: Path, refused) -> None:
    refused(lambda: read_urdf(tmp_path), DescriptionError, str(tmp_path), "directory", "name the")
    empty = tmp_path / "empty.urdf"
    empty.touch()
    refused(lambda: read_urdf(empty), DescriptionError, str(empty), "empty", "export")
    large = tmp_path / "large.urdf"
    with large.open("wb") as stream:
        stream.truncate(100 * 2**20)  # sparse: takes no space, and none is read
    refused(lambda: read_urdf(large), DescriptionError, str(large), "larger than 16 MiB")


def test_a_hundred_megabytes_of_nesting(refused) -> None:
    refused(lambda: read_urdf("<a>" * (100 * 2**20 // 3)), DescriptionError, "larger than 16 MiB")


def test_endless_device_is_read_up_to_the_limit(refused) -> None:
    device = Path("/dev/zero")
    if not device.exists():
        pytest.skip("no such device here")
    refused(lambda: read_urdf(device), DescriptionError, "larger than 16 MiB")


def external(url: str) -> str:
    return f'<!DOCTYPE robot [<!ENTITY x SYSTEM "{url}">]><robot name="r">&x;</robot>'


def test_external_entity_reads_no_file(tmp_path: Path, refused) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("swordfish", encoding="utf-8")
    text = external(secret.as_uri())
    error = refused(lambda: read_urdf(text), DescriptionError, "<!DOCTYPE")
    assert "swordfish" not in str(error)
    # The parser behind that refusal does not read it either.
    assert "swordfish" not in "".join(_parse(text, "here").itertext())


def test_external_entity_reaches_no_network(refused) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        text = external(f"http://127.0.0.1:{server.getsockname()[1]}/x")
        refused(lambda: read_urdf(text), DescriptionError, "<!DOCTYPE")
        _parse(text, "here")
        with pytest.raises(BlockingIOError):
            server.accept()


def test_the_parser_itself_does_not_expand_a_bomb() -> None:
    # Either outcome of the second line of defence is fine: refused or left as it is.
    text = BOMB.partition("\n")[2].replace('name="&i;"', 'name="r"').replace("<link", "&i;<link")
    with contextlib.suppress(DescriptionError):
        root = _parse(text, "here")
        assert len("".join(root.itertext())) < 1000
