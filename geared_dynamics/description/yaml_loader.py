"""A YAML loader with the scalars of YAML 1.2 and nothing that can surprise.

PyYAML follows YAML 1.1, where ``1e-4`` is a string, ``010`` is eight, ``1:30``
is ninety and ``no`` is false. Here numbers and booleans are those of the 1.2
core schema; duplicate keys, merge keys and tags of one's own are refused.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from geared_dynamics.description._untyped import pyyaml

DEPTH_LIMIT = 64
NODE_LIMIT = 50_000

_TAG = "tag:yaml.org,2002:"
# tag, pattern, first characters: the YAML 1.2 core schema, section 10.3.2.
_SCALARS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+0123456789.",
    ),
)


@functools.cache
def loader_class() -> Any:
    """Return the loader class, made when YAML is first needed."""
    yaml = pyyaml()

    base: Any = yaml.SafeLoader

    class Loader(base):  # type: ignore[misc]
        """SafeLoader with the YAML 1.2 core schema and bounded nesting."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own interface)
        yaml_constructors: dict[str | None, Any] = {}  # noqa: RUF012

        def __init__(self, text: str) -> None:
            super().__init__(text)
            self.depth = 0
            self.nodes = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            """Compose a node, counting nodes and depth."""
            self.depth += 1
            self.nodes += 1
            mark = self.peek_event().start_mark
            if self.depth > DEPTH_LIMIT:
                raise _marked(mark, f"values are nested deeper than {DEPTH_LIMIT} levels")
            if self.nodes > NODE_LIMIT:
                raise _marked(mark, f"more than {NODE_LIMIT} values")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            """Construct a mapping whose keys are distinct strings."""
            lines: dict[str, int] = {}
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise _marked(key.start_mark, "a key must be a plain name")
                if key.value == "<<" and key.style is None:
                    raise _marked(key.start_mark, "merge keys (<<) are not read, write the keys")
                if key.value in lines:
                    first = lines[key.value]
                    twice = f"the key {key.value!r} is given twice, first on line {first}"
                    raise _marked(key.start_mark, twice)
                lines[key.value] = key.start_mark.line + 1
            # Every key is a name, also one that looks like a number.
            return {key.value: self.construct_object(value, deep) for key, value in node.value}

    for tag, pattern, first in _SCALARS:
        Loader.add_implicit_resolver(_TAG + tag, re.compile(pattern), list(first))
    Loader.add_constructor(_TAG + "null", lambda loader, node: None)
    Loader.add_constructor(_TAG + "bool", _construct_bool)
    Loader.add_constructor(_TAG + "int", _construct_int)
    Loader.add_constructor(_TAG + "float", _construct_float)
    Loader.add_constructor(_TAG + "str", yaml.SafeLoader.construct_yaml_str)
    Loader.add_constructor(_TAG + "seq", yaml.SafeLoader.construct_yaml_seq)
    Loader.add_constructor(_TAG + "map", yaml.SafeLoader.construct_yaml_map)
    Loader.add_constructor(None, _refuse_tag)
    return Loader


def _marked(mark: Any, problem: str) -> Exception:
    error: Exception = pyyaml().MarkedYAMLError(problem=problem, problem_mark=mark)
    return error


def _refuse_tag(loader: Any, node: Any) -> None:
    tag = node.tag.replace(_TAG, "!!")
    raise _marked(node.start_mark, f"the tag {tag[:60]!r} is not accepted, only plain values are")


def _construct_bool(loader: Any, node: Any) -> bool:
    text = loader.construct_scalar(node).lower()
    if text not in ("true", "false"):
        raise _marked(node.start_mark, f"{text!r} is not a boolean")
    return bool(text == "true")


def _construct_int(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node)
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    try:
        return int(text, base)
    except ValueError:
        raise _marked(node.start_mark, f"{text[:40]!r} is not an integer") from None


def _construct_float(loader: Any, node: Any) -> float:
    text = loader.construct_scalar(node).lower()
    try:
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        raise _marked(node.start_mark, f"{text[:40]!r} is not a number") from None
