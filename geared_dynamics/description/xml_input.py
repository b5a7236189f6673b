"""XML from a path or text, parsed so that an untrusted file can do no harm.

No entity is resolved, no DTD loaded, no network reached; a document type is
refused before the parser sees it; size, number of elements and depth are
bounded. The same pass that checks it sorts its elements by name, for all readers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from geared_dynamics.errors import DescriptionError, lxml_etree
from geared_dynamics.files import NamedBytes, Source, check_length, decode, read_file

SIZE_LIMIT = 16 * 2**20
ELEMENT_LIMIT = 500_000
DEPTH_LIMIT = 100

_RUN_XACRO = "run it through xacro first: xacro FILE > robot.urdf"
_OTHER_ROOTS = {
    "sdf": "this is SDF; export the robot as URDF",
    "world": "this is SDF; export the robot as URDF",
    "mujoco": "this is MJCF; export the robot as URDF",
    "mujocoinclude": "this is MJCF; export the robot as URDF",
    "COLLADA": "this is a mesh; pass the URDF that refers to it",
    "html": "this is a web page; download the file itself",
}
# White space, comments and processing instructions: all that may stand before
# the document type or the first element.
_MISC = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)


@dataclass(frozen=True)
class XmlFile:
    """A checked file.

    Attributes:
        root: The ``lxml`` root element, ``<robot>``.
        source: The path, or ``<URDF text>``.
        nodes: Tag (see ``tag``) and element of all there are, in the order of the file.
        words: Names of elements, attributes and parameters as ``plain_word`` writes them.
    """

    root: Any
    source: str
    nodes: tuple[tuple[str, Any], ...]
    words: frozenset[str]

    def children(self, name: str) -> list[Any]:
        """Return the elements of that name right below the root."""
        return [x for found, x in self.nodes if found == name and x.getparent() is self.root]

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether an element, attribute or parameter anywhere has one of these names."""
        return not self.words.isdisjoint(words)


def read_xml(source: Source, kind: str = "URDF") -> XmlFile:
    """Return a URDF, parsed.

    Args:
        source: A path, or XML text (``str`` or ``bytes``). A ``str`` whose first
            visible character is ``<`` is text; any other is a path.
        kind: ``URDF`` or ``SRDF``, for errors.

    Raises:
        DescriptionError: If it cannot be read, is not well-formed XML, is not a
            URDF, or is larger, deeper or more inventive than a URDF can be.
    """
    text, place = _text_of(source, kind)
    body = _without_prolog(text, place)
    root = _parse(body, place)
    return _checked_tree(root, place)


def tag(node: Any) -> str:
    """Return an element's name; one of a foreign namespace with its prefix in front.

    Drake's namespace is recognised by its prefix or its address.
    """
    return _tag(node, lxml_etree().QName(node.getroottree().getroot()).namespace)


def _tag(node: Any, namespace: str | None) -> str:
    name = lxml_etree().QName(node)
    if name.namespace == namespace:
        return str(name.localname)
    prefix = "drake" if "drake" in f"{node.prefix} {name.namespace}" else node.prefix or "?"
    return f"{prefix}:{name.localname}"


def plain_word(name: str) -> str:
    """Return a name without prefix, case, ``_`` and ``-``, as people spell it differently."""
    return name.rpartition(":")[2].rpartition("}")[2].replace("_", "").replace("-", "").lower()


def _text_of(source: Source, kind: str) -> tuple[str, str]:
    file, text_place = f"{kind} file", f"<{kind} text>"
    if isinstance(source, NamedBytes):
        text, place = decode(source, source.name, file), source.name
    elif isinstance(source, bytes):
        check_length(source, text_place, file, SIZE_LIMIT)
        text, place = decode(source, text_place, file), text_place
    elif isinstance(source, str) and source[:1000].lstrip("\ufeff \t\r\n").startswith("<"):
        check_length(source, text_place, file, SIZE_LIMIT)
        text, place = source.lstrip("\ufeff"), text_place
    elif isinstance(source, (str, os.PathLike)):
        if isinstance(source, str) and not source.strip():
            raise DescriptionError(
                kind.lower(), "the text is empty", f"pass a path or {kind} text"
            )
        text, place = decode(read_file(source, file, SIZE_LIMIT), str(source), file), str(source)
    else:
        raise DescriptionError(
            kind.lower(),
            f"expected a path or XML text, found {type(source).__name__}",
            "pass a str, bytes or pathlib.Path",
        )
    if not text.strip():
        raise DescriptionError(place, "the file is empty", f"export the {kind} again")
    return text, place


def _without_prolog(text: str, place: str) -> str:
    """Return the text with all before the first element blanked, its lines kept.

    With the XML declaration gone no other encoding can be declared, and a
    document type (where entities are defined) is refused here, unparsed.
    """
    end = 0
    while match := _MISC.match(text, end):
        end = match.end()
    if text.startswith("<!DOCTYPE", end):
        raise DescriptionError(
            f"{place}, line {_line(text, end)}",
            "a document type (<!DOCTYPE ...>) is not accepted: it can define entities",
            "remove it; a URDF needs none",
        )
    if text.count("<", end) > 2 * ELEMENT_LIMIT:
        raise DescriptionError(
            place,
            f"more than {ELEMENT_LIMIT} XML elements",
            "reduce it to the robot's own description",
        )
    return "\n" * (_line(text, end) - 1) + text[end:]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _parse(body: str, place: str) -> Any:
    etree = lxml_etree()
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(_encode(body, place), parser)
    except etree.XMLSyntaxError as error:
        raise _syntax_error(error, place) from None


def _encode(body: str, place: str) -> bytes:
    try:
        return body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DescriptionError(
            f"{place}, line {_line(body, error.start)}",
            "the text holds half of a surrogate pair",
            "pass proper Unicode text",
        ) from None


def _syntax_error(error: Any, place: str) -> DescriptionError:
    text = " ".join(str(error.msg or error).split())
    finding = re.sub(r", line \d+, column \d+( \(.*\))?$", "", text)
    line = error.lineno or 1
    if "depth" in finding:
        return _too_deep(f"{place}, line {line}")
    remedy = "correct the XML there"
    if "amespace prefix xacro" in finding:
        remedy = _RUN_XACRO
    elif match := re.search(r"amespace prefix (\S+)", finding):
        remedy = f'declare it in the root element: <robot xmlns:{match[1]}="...">'
    return DescriptionError(f"{place}, line {line}", f"not well-formed XML: {finding}", remedy)


def _too_deep(place: str) -> DescriptionError:
    return DescriptionError(
        place,
        f"elements are nested deeper than {DEPTH_LIMIT} levels",
        "correct the file; a URDF is flat",
    )


def _checked_tree(root: Any, place: str) -> XmlFile:
    """Return the file; refuse another root than ``<robot>``, xacro and deep nesting."""
    etree = lxml_etree()
    name = etree.QName(root).localname
    if name != "robot":
        remedy = _OTHER_ROOTS.get(name, "pass a URDF file")
        raise DescriptionError(
            f"{place}, line {root.sourceline or 1}",
            f"the root element is <{name}>, expected <robot>",
            remedy,
        )
    depth = 0
    nodes: list[tuple[str, Any]] = []
    names: set[str] = set()
    namespace = etree.QName(root).namespace
    for event, node in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEPTH_LIMIT:
            raise _too_deep(f"{place}, line {node.sourceline}")
        if event == "end":
            continue
        name = _tag(node, namespace)
        nodes.append((name, node))
        names |= {name, *node.attrib}
        if name == "param":
            names.add((node.get("name") or "").strip())
        if "xacro" in (etree.QName(node).namespace or ""):
            raise DescriptionError(
                f"{place}, line {node.sourceline}",
                f"unprocessed xacro element <xacro:{etree.QName(node).localname}>",
                _RUN_XACRO,
            )
    return XmlFile(root, place, tuple(nodes), frozenset(map(plain_word, names)))
