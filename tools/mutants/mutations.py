"""Mutations of a source: each a small change of one expression or statement.

Left alone is what no test can or should notice: docstrings, annotations, decorators, assertions
for the type checker, strictness of zips, and the texts of errors, warnings and log lines.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Callable, Iterator
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
# Calls whose arguments are texts for people, or for the type checker.
TEXTS = {"cast", "TypeVar", "warn", "warning", "error", "info", "debug", "get_logger"}
# Calls with the same result for two arguments in either order.
COMMUTATIVE = {"min", "max", "minimum", "maximum", "hypot"}


class Mutant(NamedTuple):
    """One change of one file.

    Attributes:
        path: File, relative to the tree.
        line: The first line of the statement that changes, of a compound one its head.
        last: The last line of that.
        operator: What kind of change.
        before: What is replaced.
        after: What takes its place.
        start: Where that begins in the file [characters].
        end: Where it ends.
    """

    path: str
    line: int
    last: int
    operator: str
    before: str
    after: str
    start: int
    end: int

    def applied(self, text: str) -> str:
        """The source with the change."""
        return text[: self.start] + self.after + text[self.end :]

    def difference(self, text: str) -> str:
        """The lines that change, as a diff without context."""
        old, new = (source.splitlines() for source in (text, self.applied(text)))
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        return "\n".join(line for line in lines if not line.startswith("@@"))


Span = tuple[int, int]  # first and last line
Change = tuple[str, ast.AST, ast.AST]  # kind, node that is replaced, its replacement


def mutants(path: str, text: str) -> list[Mutant]:
    """All mutants of a source that differ from it.

    Args:
        path: Of the file, for the mutants' own sake.
        text: The source.
    """
    starts = offsets(text)
    found = {}
    for (first, last), operator, old, new in walk(ast.parse(text)):
        start = starts[old.lineno - 1](old.col_offset)  # type: ignore[attr-defined]
        end = starts[old.end_lineno - 1](old.end_col_offset)  # type: ignore[attr-defined]
        after = ast.unparse(new)
        if isinstance(old, ast.expr) and not isinstance(new, (ast.Constant, ast.Call, ast.Name)):
            after = f"({after})"
        if ast.dump(old) != ast.dump(new):
            made = Mutant(path, first, last, operator, text[start:end], after, start, end)
            found.setdefault((start, end, after), made)
    return list(found.values())


def refusals(text: str) -> list[Span]:
    """Lines of the ``raise`` statements of a source, but for those that raise again."""
    nodes = ast.walk(ast.parse(text))
    found = [n for n in nodes if isinstance(n, ast.Raise) and n.exc is not None]
    return sorted((node.lineno, node.end_lineno or node.lineno) for node in found)


def offsets(text: str) -> list[Callable[[int], int]]:
    """For each line the map from a column [bytes of UTF-8] to a place in the text."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        data = line.encode()

        def place(column: int, start: int = start, data: bytes = data) -> int:
            return start + len(data[:column].decode())

        found.append(place)
        start += len(line)
    return found


# -- where --------------------------------------------------------------------------------------


def walk(node: ast.AST, span: Span = (1, 1)) -> Iterator[tuple[Span, str, ast.AST, ast.AST]]:
    """Changes of a node and of all below it that count, with the lines of their statements."""
    if isinstance(node, ast.stmt):
        body = getattr(node, "body", None)
        end = node.end_lineno or node.lineno
        span = node.lineno, max(node.lineno, body[0].lineno - 1) if body else end
    for change in changes(node):
        yield (span, *change)
    for child in counted(node):
        yield from walk(child, span)


def counted(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which a change would be one of behaviour."""
    if isinstance(node, (ast.Assert, ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.AnnAssign):
        yield from () if node.value is None else (node.value,)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
        yield from node.body
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.Call) and called(node) in TEXTS | {"format"}:
        return
    elif isinstance(node, ast.Call) and called(node) == "zip":
        yield from node.args  # ``strict`` is an assertion
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    else:
        yield from ast.iter_child_nodes(node)


def called(node: ast.Call) -> str:
    """Last part of the name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


# -- what ---------------------------------------------------------------------------------------


def changes(node: ast.AST) -> Iterator[Change]:
    """Changes of a node itself."""
    for change in (compared, computed, decided, constant, returned, dropped, swapped):
        yield from change(node)


def compared(node: ast.AST) -> Iterator[Change]:
    """Another comparison."""
    if not isinstance(node, ast.Compare):
        return
    for k, kind in enumerate(node.ops):
        for other in COMPARISONS[type(kind)]:
            ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
            yield "comparison", node, changed(node, ops=ops)


def computed(node: ast.AST) -> Iterator[Change]:
    """Another operation, the operands of a matrix product swapped, a sign dropped."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        if not texts(node) and not types(node):
            yield "arithmetic", node, changed(node, op=ARITHMETIC[type(node.op)]())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield "arithmetic", node, changed(node, left=node.right, right=node.left)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "arithmetic", node, node.operand


def texts(node: ast.AST) -> bool:
    """Whether a text is a part of what is computed."""
    parts = ast.walk(node)
    return any(isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts)


def types(node: ast.AST) -> bool:
    """Whether this is a union of types: ``A | None``."""
    parts = list(ast.walk(node))
    return any(isinstance(part, ast.Constant) and part.value is None for part in parts)


def decided(node: ast.AST) -> Iterator[Change]:
    """``and`` for ``or``, a part of them left out, a condition turned round."""
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "boolean", node, changed(node, op=other)
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            part = rest[0] if len(rest) == 1 else changed(node, values=rest)
            yield "boolean", node, part
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", node, node.operand
    if isinstance(node, (ast.If, ast.IfExp, ast.While)) and not isinstance(
        node.test, (ast.BoolOp, ast.Compare, ast.UnaryOp)
    ):
        yield "boolean", node.test, ast.UnaryOp(ast.Not(), node.test)


def constant(node: ast.AST) -> Iterator[Change]:
    """Another number, the other truth value; texts only where they are keys or compared."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield "constant", node, ast.Constant(not value)
        elif isinstance(value, int):
            yield "constant", node, ast.Constant(value + 1)
            if value > 1:
                yield "constant", node, ast.Constant(value - 1)
        elif isinstance(value, float):
            yield "constant", node, ast.Constant(2.0 * value if value else 1.0)
    keys: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        keys = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript):
        keys = [node.slice]
    for key in keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield "constant", key, ast.Constant(key.value + "_")


def returned(node: ast.AST) -> Iterator[Change]:
    """Nothing returned where there was something."""
    if isinstance(node, ast.Return) and node.value is not None:
        if ast.unparse(node.value) != "None":
            yield "return", node, ast.Return(None)


def dropped(node: ast.AST) -> Iterator[Change]:
    """A statement left out whose absence is no NameError: calls, changes in place, refusals."""
    gone = isinstance(node, (ast.AugAssign, ast.Raise, ast.Delete))
    if isinstance(node, ast.Expr):
        gone = isinstance(node.value, ast.Call) and called(node.value) not in TEXTS
    if isinstance(node, ast.Assign):
        gone = all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets)
    if gone or isinstance(node, (ast.Continue, ast.Break)):
        yield "statement", node, ast.Pass()


def swapped(node: ast.AST) -> Iterator[Change]:
    """Two arguments beside each other in the other order."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    if called(node) in TEXTS | COMMUTATIVE | {"isinstance", "getattr", "hasattr"}:
        return
    if called(node)[:1].isupper():
        return
    for k in range(len(node.args) - 1):
        args = list(node.args)
        args[k], args[k + 1] = args[k + 1], args[k]
        yield "arguments", node, changed(node, args=args)


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
