"""Data of a drivetrain file, read from a path, text or dict, and written as YAML text."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import refuse_too_large
from geared_dynamics.description.yaml_loader import ORDINARY, load_yaml
from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import NamedBytes, Source, check_length, decode, place_in, read_file

# -- A drivetrain's data from a path, YAML text or a dict: plain, finite and bounded --------------


SIZE_LIMIT = 2**20

_KIND = "drivetrain file"
_TEXT_PLACE = "<drivetrain text>"
_DICT_PLACE = "<drivetrain dict>"
_FOREIGN = "this is not a drivetrain file: it has no key 'version' with the number 1"
_VERSION = re.compile(r"""^[{ \t]*["']?version["']?[ \t]*:[ \t]*1\b""", re.MULTILINE)


def read_data(source: Source | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a drivetrain's data as plain dicts, lists, strings and finite numbers.

    Args:
        source: A dict; YAML text as ``bytes`` or as a ``str`` that holds a line
            break or starts with ``{``; or a path (any other ``str``, or a
            ``pathlib.Path``).

    Nothing is quoted from a file that is no drivetrain file: whoever may name a path may not
    therefore read what is there.

    Returns:
        The data, and the source's name: the path, ``<drivetrain text>`` or
        ``<drivetrain dict>``.

    Raises:
        DescriptionError: If it cannot be read, is not YAML, repeats a key, holds
            a number that is not finite, or expands without bound.
    """
    if isinstance(source, Mapping):
        data, place = source, _DICT_PLACE
    else:
        text, place = _text_of(source)
        named = place != _TEXT_PLACE
        if named and text.strip() and not _VERSION.search(text):
            raise _foreign(place)
        data = load_yaml(text, place)
        if named and data is not None and not _is_drivetrain(data):
            raise _foreign(place)
    plain = _Plain(place).value(data, "", 0)
    if plain is None:
        raise DescriptionError(place, "the file is empty", "start it with 'version: 1'")
    if not isinstance(plain, dict):
        raise DescriptionError(
            place,
            f"expected a mapping with the key 'version', found {describe(plain)}",
            "start it with 'version: 1'",
        )
    return plain, place


def is_text(source: str) -> bool:
    """Whether a ``str`` is YAML text: it holds a line break or starts with ``{``."""
    return "\n" in source or source[:1000].lstrip("\ufeff \t\r").startswith("{")


def _is_drivetrain(data: object) -> bool:
    version = data.get("version") if isinstance(data, Mapping) else None
    return isinstance(version, Real) and not isinstance(version, bool) and version == 1


def _foreign(place: str) -> DescriptionError:
    return DescriptionError(
        place_in(place, "version"), _FOREIGN, "check the path, or start it with 'version: 1'"
    )


def describe(value: object) -> str:
    """Return what a value is, in the words of a YAML file."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 60 else value[:57] + '...'!r}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "a mapping" if isinstance(value, dict) else type(value).__name__


def _text_of(source: object) -> tuple[str, str]:
    if isinstance(source, NamedBytes):
        return decode(source, source.name, _KIND), source.name
    if isinstance(source, bytes):
        check_length(source, _TEXT_PLACE, _KIND, SIZE_LIMIT)
        return decode(source, _TEXT_PLACE, _KIND), _TEXT_PLACE
    if isinstance(source, str):
        if not source.strip():
            raise DescriptionError(
                "drivetrain", "the text is empty", "pass a path, YAML text, a dict or None"
            )
        if is_text(source):
            check_length(source, _TEXT_PLACE, _KIND, SIZE_LIMIT)
            return source.lstrip("\ufeff"), _TEXT_PLACE
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        return decode(read_file(name, _KIND, SIZE_LIMIT), name, _KIND), name
    raise DescriptionError(
        "drivetrain",
        f"expected a path, YAML text, a dict or None, found {type(source).__name__}",
        "pass one of these",
    )


class _Plain:
    """Turns values into plain ones, counting them: a dict may hold itself."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.count = 0

    def value(self, value: Any, path: str, depth: int) -> Any:
        self.count += 1
        if self.count > ORDINARY.values or depth > ORDINARY.depth:
            raise DescriptionError(
                self.place,
                f"more than {ORDINARY.values} values, or deeper than {ORDINARY.depth} levels",
                "give a drivetrain of ordinary size, without a value that contains itself",
            )
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, Real):
            return self.number(value, path)
        if isinstance(value, Mapping):
            return {
                self.key(key, path): self.value(item, join(path, key), depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            return [
                self.value(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)
            ]
        raise DescriptionError(
            place_in(self.place, path),
            f"a value of type {type(value).__name__}",
            "use mappings, lists, text, numbers and booleans",
        )

    def number(self, value: Real, path: str) -> float | int:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise DescriptionError(
                place_in(self.place, path),
                f"{number} is not a finite number",
                "write a finite number",
            )
        refuse_too_large(number, place_in(self.place, path))
        return int(value) if isinstance(value, Integral) else number

    def key(self, key: object, path: str) -> str:
        if not isinstance(key, str):
            raise DescriptionError(
                place_in(self.place, path), f"the key {key!r} is not text", "use names as keys"
            )
        return key


def join(path: str, key: object) -> str:
    """Return a key path with one more key, such as ``wheels.rotor_2``."""
    return f"{path}.{key}" if path else str(key)


# -- Plain data as YAML text, readable by any YAML library ----------------------------------------


WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
# What YAML does not print, or takes for the end of a line.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
NARROW = 96  # columns up to which a mapping stands on one line


def yaml_text(data: Mapping[str, Any], comment: str = "") -> str:
    """Write a mapping as YAML, below a comment."""
    shown = (UNPRINTABLE.sub(escaped, line) for line in comment.splitlines())
    head = "".join(f"# {line}".rstrip() + "\n" for line in shown)
    return head + "\n".join(lines(data, 0)) + "\n"


def lines(data: Mapping[str, Any], depth: int) -> list[str]:
    """Write a mapping's entries in block style; what is short or deep on one line."""
    result = []
    for key, value in data.items():
        start = f"{'  ' * depth}{scalar(str(key))}:"
        flat = f"{start} {flow(value)}"
        if isinstance(value, Mapping) and value and (depth == 0 or len(flat) > NARROW):
            result += [start, *lines(value, depth + 1)]
        elif isinstance(value, list) and value and len(flat) > NARROW:
            result += [start, *(f"{'  ' * depth}  - {flow(item)}" for item in value)]
        else:
            result.append(flat)
    return result


def flow(value: Any) -> str:
    """Write a value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """Write a number, a truth value, nothing, or a text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)  # a YAML 1.1 float has a point
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    word = str(value)
    if WORD.match(word) and word.lower() not in RESERVED:
        return word
    # Not in ASCII: the pairs of escapes that JSON writes for a character beyond U+FFFF are none
    # of YAML's.
    return UNPRINTABLE.sub(escaped, json.dumps(word, ensure_ascii=False))


def escaped(match: re.Match[str]) -> str:
    """Write a character as a number, as YAML reads it in quotes."""
    return f"\\u{ord(match[0]):04x}"


# -- ``friction:`` of a drivetrain file with new viscous and Coulomb friction, the rest kept ------


KEPT = ("load", "stribeck", "ripple")  # what no column stands for


class Entry(NamedTuple):
    """A new entry, which of its keys stay as the file says, and breakaway levels that moved.

    Attributes:
        friction: Data of the entry.
        kept: Names of terms that are not identified.
        static: Breakaway friction before and after, for positive rates.
    """

    friction: dict[str, Any]
    kept: tuple[str, ...]
    static: tuple[float, float] | None


def new_entry(
    old: Mapping[str, Any], viscous: float, coulomb: float, offset: float | None
) -> Entry:
    """Put new values into an entry.

    Coulomb friction keeps half the difference h of its two levels, (c + h, c - h), and so far
    as c is enough for it; the mean over directions of what is constant is offset + h.
    Breakaway keeps what it adds to Coulomb friction.

    Args:
        old: Data of the entry; empty if there is none.
        viscous: [N m s/rad or N s/m].
        coulomb: Mean of both directions [N m or N].
        offset: Identified constant with h in it [N m or N]; None: as in the file.
    """
    new: dict[str, Any] = deepcopy(dict(old))
    before = levels(old.get("coulomb", 0.0))
    half = 0.5 * (before[0] - before[1])
    constant = float(old.get("offset", 0.0)) + half if offset is None else offset
    half = min(max(half, -coulomb), coulomb)
    after = (coulomb + half, coulomb - half)
    new["viscous"] = viscous
    new["coulomb"] = list(after) if half else coulomb
    if offset is not None or constant - half or "offset" in old:
        new["offset"] = constant - half
    static = None
    if "stribeck" in old:
        levels_before = levels(old["stribeck"]["static"])
        more = [x - y for x, y in zip(levels_before, before, strict=True)]
        moved = [x + y for x, y in zip(after, more, strict=True)]
        new["stribeck"]["static"] = moved if moved[0] != moved[1] else moved[0]
        static = (levels_before[0], moved[0])
    return Entry(new, tuple(key for key in KEPT if key in old), static)


def levels(value: Any) -> tuple[float, float]:
    """Levels for positive and negative rates, from one number or two."""
    if isinstance(value, list):
        return float(value[0]), float(value[1])
    return float(value), float(value)
