"""Expressions of forbidden_expressions.yaml occur in no text that users read.

Five channels: pages, errors, parameter descriptions, help of the command line, log lines. A few
expressions are also kept out of comments and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from geared_dynamics.apps.cli.main import COMMANDS, build_parser

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = sorted((ROOT / "geared_dynamics").rglob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
ENTRIES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "forbidden_expressions.yaml").read_text(encoding="utf-8")
)
PARAMETERS = re.compile(r"<!-- parameters: generated -->.*?<!-- end of parameters -->", re.DOTALL)
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"``[^`]+``|`[^`\n]+`|<!--.*?-->", re.DOTALL)


def pattern(entry: dict[str, Any]) -> re.Pattern[str]:
    """The expression as whole words, in any case."""
    return re.compile(rf"(?<!\w)(?:{entry['is']})(?!\w)", re.IGNORECASE)


PATTERNS = [pattern(entry) for entry in ENTRIES]
EVERYWHERE = [pattern(entry) for entry in ENTRIES if entry.get("everywhere")]

Texts = Iterable[tuple[str, str]]  # place and text


def faults(texts: Texts, patterns: Iterable[re.Pattern[str]] = PATTERNS) -> list[str]:
    """Where a text holds a forbidden expression, which may go over the end of a line."""
    joined = [(place, " ".join(text.split())) for place, text in texts]
    return [
        f"{place}: {match[0]!r} in {text[:90]!r}"
        for one in patterns
        for place, text in joined
        for match in one.finditer(text)
    ]


def prose(text: str) -> str:
    """A page without code, comments and the tables of parameters."""
    return CODE.sub("", FENCE.sub("", PARAMETERS.sub("", text)))


def pages() -> Texts:
    """Paragraphs of the pages."""
    for page in PAGES:
        if {"_build", "_generated"} & set(page.parts):
            continue
        for part in prose(page.read_text(encoding="utf-8")).split("\n\n"):
            yield str(page.relative_to(ROOT)), part


def parameters() -> Texts:
    """Rows of the generated tables; other tests compare them with the nodes' schemas."""
    for page in PAGES:
        for block in PARAMETERS.findall(page.read_text(encoding="utf-8")):
            for row in block.splitlines():
                yield str(page.relative_to(ROOT)), row.rpartition(" | ")[2]


def helps(parser: argparse.ArgumentParser) -> Texts:
    """Help of a command and of all below it."""
    yield parser.prog, parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from helps(one)


def strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of the strings below a node."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
            yield part.lineno, part.value


def is_docstring(node: ast.AST) -> bool:
    """Whether a statement is a string by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def in_errors(node: ast.AST) -> bool:
    """Whether a statement raises an error, or names its finding or remedy."""
    names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
    return isinstance(node, ast.Raise) or bool({"finding", "remedy", "place"} & set(names))


def code_texts(source: str, place: str, wanted: Callable[[ast.AST], bool]) -> Texts:
    """Strings of the statements that are wanted, docstrings left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and wanted(node) and not is_docstring(node):
            for line, text in strings(node):
                yield f"{place}:{line}", text


def simple(node: ast.AST) -> bool:
    """A statement without a body, which raises nothing."""
    return not hasattr(node, "body") and not in_errors(node)


def package_texts(wanted: Callable[[ast.AST], bool]) -> Texts:
    """Strings of the package's statements."""
    for file in PACKAGE:
        source = file.read_text(encoding="utf-8")
        yield from code_texts(source, str(file.relative_to(ROOT)), wanted)


def explanations(source: str, place: str) -> Texts:
    """Comments and docstrings without code in them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield f"{place}:{token.start[0]}", CODE.sub("", token.string)
    for node in ast.walk(ast.parse(source)):
        if is_docstring(node):
            yield f"{place}:{node.lineno}", CODE.sub("", str(node.value.value))  # type: ignore[attr-defined]


def test_the_list_is_long_enough_and_finds_its_own_examples() -> None:
    assert len(ENTRIES) >= 60
    for entry, one in zip(ENTRIES, PATTERNS, strict=True):
        assert one.search(entry["as in"]), entry
        assert not one.search(entry["write"]), entry


CHANNELS: dict[str, Callable[[], Texts]] = {
    "pages": pages,
    "errors": lambda: package_texts(in_errors),
    "parameters": parameters,
    "help": lambda: (text for name in COMMANDS for text in helps(build_parser([name]))),
    "logs and other texts": lambda: package_texts(simple),
}


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_forbidden_expression(channel: str) -> None:
    texts = list(CHANNELS[channel]())
    assert len(texts) > 20
    assert faults(texts) == []


def test_comments_and_docstrings() -> None:
    for file in PACKAGE:
        source = file.read_text(encoding="utf-8")
        texts = explanations(source, str(file.relative_to(ROOT)))
        assert faults(texts, EVERYWHERE) == []


PLANTED = "It is told anew"
BROKEN = "It lies behind\nthe spring"
CODE_WITH_FAULTS = f'''"""Doc."""
def f(node):
    """{PLANTED}."""
    # {PLANTED}
    finding = "{PLANTED}"
    node.get_logger().info(f"{PLANTED} {{node}}")
'''


def planted_help() -> argparse.ArgumentParser:
    """A parser with a fault in an option of a subcommand."""
    parser = argparse.ArgumentParser(prog="x")
    below = parser.add_subparsers().add_parser("y")
    below.add_argument("--z", help=PLANTED)
    return parser


def test_a_planted_expression_is_found_in_each_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    table = f"<!-- parameters: generated -->\n| `a` | {PLANTED} |\n<!-- end of parameters -->"
    page.write_text(f"{PLANTED}\n\n`told`\n\n{table}\n\n{BROKEN}\n", encoding="utf-8")
    monkeypatch.setitem(globals(), "PAGES", [page])
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(faults(pages())) == 3  # told, anew, behind the spring; not the code, not the table
    assert len(faults(parameters())) == 2
    assert len(faults(helps(planted_help()))) == 2
    assert len(faults(code_texts(CODE_WITH_FAULTS, "f.py", in_errors))) == 2
    assert len(faults(code_texts(CODE_WITH_FAULTS, "f.py", simple))) == 2
    assert len(faults(explanations(CODE_WITH_FAULTS, "f.py"), EVERYWHERE)) == 4
