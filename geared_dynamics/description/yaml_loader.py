"""The only reader of YAML: plain data, bounded before anything is built.

The scalars are those of the core schema of YAML 1.2. (PyYAML follows YAML 1.1, where ``1e-4``
is a string, ``010`` is eight, ``1:30`` is ninety and ``no`` is false.) Duplicate keys, merge
keys and tags of one's own are refused. The data are built from the events of libyaml's parser,
not from nodes: it is faster, and neither deep nesting nor aliases to aliases cost anything.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from geared_dynamics.errors import DescriptionError, pyyaml


class FileLimits(NamedTuple):
    """What a kind of file may hold.

    Attributes:
        values: Mappings, lists, keys and scalars, with aliases written out.
        depth: How deep they may be nested.
    """

    values: int
    depth: int


ORDINARY = FileLimits(values=50_000, depth=64)

_TAG = "tag:yaml.org,2002:"
# The YAML 1.2 core schema, section 10.3.2.
_WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "~": None, "null": None, "Null": None, "NULL": None, "": None,
}  # fmt: skip
_FIRST = frozenset("-+.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def load_yaml(text: str, place: str, limits: FileLimits = ORDINARY) -> Any:
    """Return the data of a YAML text: dicts with text as keys, lists, text, numbers, None.

    Args:
        text: The whole file.
        place: Its name, for errors.
        limits: What such a file may hold.

    Raises:
        DescriptionError: If it is not YAML, repeats a key, or is larger than the limits.
    """
    yaml = pyyaml()
    try:
        return _Builder(text, limits).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{place}, line {mark.line + 1}" if mark else place
        raise DescriptionError(where, _finding(error), _remedy(error)) from None
    except yaml.YAMLError as error:
        # A character that YAML does not allow has a position but no line.
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise DescriptionError(
            f"{place}, line {line}", "a control character, which YAML does not allow", "remove it"
        ) from None


class _Builder:
    """Builds a document from the parser's events, without recursion.

    Attributes:
        count: Values so far, aliases written out.
        anchors: Values that aliases may name, and how many values each holds.
        open: Lists and mappings around the present event, innermost last.
    """

    def __init__(self, text: str, limits: FileLimits) -> None:
        yaml = pyyaml()
        self.yaml = yaml
        self.events = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        self.limits = limits
        self.count = 0
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open: list[_Collection] = []

    def document(self) -> Any:
        """Return the text's only document; None if there is none."""
        yaml, event = self.yaml, self.events.get_event
        event()  # the stream's start
        if isinstance(event(), yaml.StreamEndEvent):
            return None
        top = _Collection([], None, 0)
        self.open.append(top)
        while not isinstance(found := event(), yaml.DocumentEndEvent):
            self.take(found)
        last = event()
        if not isinstance(last, yaml.StreamEndEvent):
            raise _marked(last.start_mark, "a second document begins")
        return top.values[0]

    def take(self, event: Any) -> None:
        """Take one event: a value, or the beginning or end of a collection."""
        yaml, kind = self.yaml, type(event)
        if kind is yaml.ScalarEvent:
            self.counted(1, event)
            inside = self.open[-1]
            if inside.lines is not None and inside.key is None:
                inside.take_key(event)
                return
            value = scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = (value, 1)
            inside.add(value)
        elif kind is yaml.SequenceStartEvent:
            self.begin(event, "seq", None)
        elif kind is yaml.MappingStartEvent:
            self.begin(event, "map", {})
        elif kind is yaml.AliasEvent:
            self.refuse_as_key(event)
            if event.anchor not in self.anchors:
                raise _marked(
                    event.start_mark, f"the alias *{event.anchor} names no value before it"
                )
            value, size = self.anchors[event.anchor]
            self.counted(size, event)
            self.open[-1].add(value)
        else:
            self.end()

    def begin(self, event: Any, tag: str, lines: dict[str, int] | None) -> None:
        """Begin a list, or a mapping if there are ``lines``."""
        self.refuse_as_key(event)
        self.counted(1, event)
        if len(self.open) > self.limits.depth:
            deepest = self.limits.depth
            raise _marked(event.start_mark, f"values are nested deeper than {deepest} levels")
        if event.tag not in (None, "!", _TAG + tag):
            raise _refused_tag(event)
        self.open.append(_Collection([], lines, self.count, event.anchor))

    def end(self) -> None:
        """End the innermost collection."""
        done = self.open.pop()
        value: Any = done.values
        if done.lines is not None:
            value = dict(zip(done.lines, done.values, strict=True))
        if done.anchor is not None:
            self.anchors[done.anchor] = (value, self.count - done.before + 1)
        self.open[-1].add(value)

    def refuse_as_key(self, event: Any) -> None:
        """Raise if an event that is no scalar stands for a mapping's key."""
        inside = self.open[-1]
        if inside.lines is not None and inside.key is None:
            raise _marked(event.start_mark, "a key must be a plain name")

    def counted(self, size: int, event: Any) -> None:
        """Count some values, and raise if they are too many."""
        self.count += size
        if self.count > self.limits.values:
            most = self.limits.values
            raise _marked(event.start_mark, f"more than {most} values after aliases are expanded")


class _Collection:
    """A list, or a mapping with the lines of its keys, while it is read."""

    __slots__ = ("anchor", "before", "key", "lines", "values")

    def __init__(
        self, values: list[Any], lines: dict[str, int] | None, before: int, anchor: Any = None
    ) -> None:
        self.values = values
        self.lines = lines
        self.before = before
        self.anchor = anchor
        self.key: str | None = None

    def add(self, value: Any) -> None:
        """Add an item, or the value of the key before."""
        self.values.append(value)
        self.key = None

    def take_key(self, event: Any) -> None:
        """Take a key: every key is a name, also one that looks like a number."""
        assert self.lines is not None
        key = event.value
        if key == "<<" and event.implicit[0]:
            raise _marked(event.start_mark, "merge keys (<<) are not read, write the keys")
        if key in self.lines:
            twice = f"the key {key!r} is given twice, first on line {self.lines[key]}"
            raise _marked(event.start_mark, twice)
        self.lines[key] = event.start_mark.line + 1
        self.key = key


def scalar(event: Any) -> Any:
    """Return the value of a scalar's event."""
    text = event.value
    tag = event.tag
    if tag is not None and tag != "!":
        return _tagged(event, tag)
    if not event.implicit[0]:  # quoted
        return text
    if text[:1] in _FIRST and text:
        return _number(event, text)
    return _WORDS.get(text, text)


def _number(event: Any, text: str) -> Any:
    """Return a number, or the text if it is none."""
    if _INTEGER.fullmatch(text):
        return _integer(event, text)
    if _NUMBER.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _integer(event: Any, text: str) -> int:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    try:
        return int(text, base)
    except ValueError:
        raise _marked(event.start_mark, f"{text[:40]!r} is not an integer") from None


def _tagged(event: Any, tag: str) -> Any:
    """Return the value of a scalar with one of the core schema's tags."""
    text = event.value
    if tag == _TAG + "str":
        return text
    if tag == _TAG + "null":
        return None
    if tag == _TAG + "bool":
        if isinstance(value := _WORDS.get(text), bool):
            return value
        raise _marked(event.start_mark, f"{text[:40]!r} is not a boolean")
    if tag == _TAG + "int":
        return _integer(event, text)
    if tag == _TAG + "float":
        if _NUMBER.fullmatch(text):
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        raise _marked(event.start_mark, f"{text[:40]!r} is not a number")
    raise _refused_tag(event)


def _refused_tag(event: Any) -> Exception:
    tag = event.tag.replace(_TAG, "!!")
    return _marked(
        event.start_mark, f"the tag {tag[:60]!r} is not accepted, only plain values are"
    )


def _marked(mark: Any, problem: str) -> Exception:
    error: Exception = pyyaml().MarkedYAMLError(problem=problem, problem_mark=mark)
    return error


def _finding(error: Any) -> str:
    """Return what is wrong, in one line."""
    problem = " ".join(str(error.problem or error.context or "broken YAML").split())
    if "'\\t'" in problem or "tab character" in problem or "cannot start any token" in problem:
        return f"not well-formed YAML: a tab in the indentation, or {problem}"
    ours = type(error) is pyyaml().MarkedYAMLError
    return problem if ours else f"not well-formed YAML: {problem}"


def _remedy(error: Any) -> str:
    if type(error) is pyyaml().MarkedYAMLError:
        return "correct it there"
    return (
        "correct it there; indent by spaces, and write 'key: value' with a space after the colon"
    )
