"""Figures of the sources as text: sizes, imports between modules, names that exist twice."""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "geared_dynamics"
BLANK = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Import(NamedTuple):
    """One imported name: the module that is named, and the name taken from it, empty for none."""

    module: str
    name: str


class Module:
    """One source file."""

    def __init__(self, path: Path, root: Path) -> None:
        """Read it."""
        self.path = path.relative_to(root)
        self.text = path.read_text("utf-8")
        self.tree = ast.parse(self.text)
        parts = self.path.with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.is_list = parts[-1] in {"__init__", "api"}  # of names, for users
        self.name = ".".join(parts[:-1] if self.is_package else parts)

    @property
    def room(self) -> str:
        """The folder below the package, or the module itself where it lies there."""
        return self.name.split(".")[1] if "." in self.name else ""

    @cached_property
    def code(self) -> set[int]:
        """Lines that hold a token and are neither comment nor docstring."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in BLANK:
                lines |= set(range(token.start[0], token.end[0] + 1))
        return lines - {n for first, last in self.docstrings() for n in range(first, last + 1)}

    @cached_property
    def nodes(self) -> list[Any]:
        """All nodes of its syntax tree."""
        return list(ast.walk(self.tree))

    def docstrings(self) -> Iterator[tuple[int, int]]:
        """First and last line of each docstring."""
        for node in self.nodes:
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                text = node.body[0]
                yield text.lineno, text.end_lineno or text.lineno

    @cached_property
    def import_lines(self) -> set[int]:
        """Lines of import statements."""
        nodes = [n for n in self.nodes if isinstance(n, ast.Import | ast.ImportFrom)]
        return {i for n in nodes for i in range(n.lineno, (n.end_lineno or n.lineno) + 1)}

    @cached_property
    def imports(self) -> list[Import]:
        """What it imports of the package, also within functions and for types alone."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [Import(a.name, "") for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found += [Import(node.module, a.name) for a in node.names]
        return [i for i in found if i.module.split(".")[0] == PACKAGE]

    @property
    def classes(self) -> list[str]:
        """Names of its classes."""
        return [n.name for n in self.nodes if isinstance(n, ast.ClassDef)]

    @property
    def functions(self) -> list[int]:
        """Code lines of each of its functions, methods included."""
        nodes = [n for n in self.nodes if isinstance(n, FUNCTIONS)]
        return [len(self.code & set(range(n.lineno, (n.end_lineno or 0) + 1))) for n in nodes]


class House:
    """All modules of the package, and who imports whom."""

    def __init__(self, root: Path) -> None:
        """Read all sources below a clone's root."""
        files = sorted((root / PACKAGE).rglob("*.py"))
        self.modules = {m.name: m for m in (Module(file, root) for file in files)}

    def defining(self, imported: Import, seen: frozenset[str] = frozenset()) -> set[str]:
        """Modules in which an imported name stands: re-exports of packages are followed."""
        below = f"{imported.module}.{imported.name}"
        if below in self.modules:
            return {below}
        module = self.modules.get(imported.module)
        if module is None:
            return set()
        if module.is_package and imported.name and module.name not in seen:
            for other in module.imports:
                if other.name == imported.name:
                    return self.defining(other, seen | {module.name})
        return {module.name}

    @cached_property
    def edges(self) -> dict[str, set[str]]:
        """The modules that each module uses; a package's list of names uses nothing."""
        found: dict[str, set[str]] = {}
        for name, module in self.modules.items():
            used = {m for i in module.imports for m in self.defining(i)}
            found[name] = set() if module.is_list else used - {name}
        return found

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that use each module, packages' lists of names aside."""
        files = [name for name, module in self.modules.items() if not module.is_package]
        found: dict[str, set[str]] = {name: set() for name in files}
        for name, used in self.edges.items():
            for other in used & found.keys():
                found[other].add(name)
        return found

    def lonely(self) -> list[str]:
        """Modules with exactly one importer."""
        return sorted(name for name, users in self.importers.items() if len(users) == 1)

    def circles(self) -> list[list[str]]:
        """Groups of modules that import each other in a circle."""
        return circles(self.edges)

    def classes_twice(self) -> dict[str, int]:
        """Class names that exist more than once."""
        return twice(c for m in self.modules.values() for c in m.classes)

    def files_often(self) -> dict[str, int]:
        """File names that exist more than twice, packages aside."""
        names = (m.path.name for m in self.modules.values() if not m.is_package)
        return {name: n for name, n in twice(names).items() if n > 2}

    def internal(self) -> int:
        """Imports that lead from a room into the same room."""
        return sum(
            1
            for m in self.modules.values()
            for i in m.imports
            if m.room and i.module.startswith(f"{PACKAGE}.{m.room}")
        )


def twice(names: Iterable[str]) -> dict[str, int]:
    """How often names occur, where that is more than once."""
    return {name: n for name, n in sorted(Counter(names).items()) if n > 1}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected groups of more than one node (Tarjan, 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []
    for root in edges:
        work = [] if root in index else [(root, iter(sorted(edges[root])))]
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            for other in rest:
                if other not in index:
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    place = stack.index(node)
                    group, stack[place:] = stack[place:], []
                    found += [sorted(group)] if len(group) > 1 else []
    return found


def rooms(house: House) -> dict[str, tuple[int, int]]:
    """Files and code lines of each room."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for module in house.modules.values():
        count = counts[module.room or "(package)"]
        count[0] += 1
        count[1] += len(module.code)
    return {room: (files, lines) for room, (files, lines) in sorted(counts.items())}


def median(values: Iterable[int]) -> float:
    """Median of some numbers."""
    return float(statistics.median(values))
