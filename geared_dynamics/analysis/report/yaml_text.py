"""Plain data as YAML text, readable by any YAML library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

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
