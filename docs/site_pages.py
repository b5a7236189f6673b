"""Pages of the site that are made from docstrings, and changes of pages as they are read."""

from __future__ import annotations

import inspect
import re
import time
from pathlib import Path
from types import ModuleType

import geared_dynamics as gd
from geared_dynamics import analysis

SPACES: dict[str, ModuleType] = {
    "geared_dynamics": gd,
    "geared_dynamics.elastic": gd.elastic,
    "geared_dynamics.contact": gd.contact,
    "geared_dynamics.cartesian": gd.cartesian,
    "geared_dynamics.simulation": gd.simulation,
    "geared_dynamics.trajectory": gd.trajectory,
    "geared_dynamics.control": gd.control,
    "geared_dynamics.control.safety": gd.control.safety,
    "geared_dynamics.observers": gd.observers,
    "geared_dynamics.analysis": analysis,
}
SECTION = re.compile(
    r"^(References|Args|Returns|Raises|Attributes|Yields|Note|Notes|Example|Examples):$"
)
SPECIAL = re.compile(r"([\\*|`_])")
ENTRY = re.compile(r"^( *\*{0,2}[\w, *.]+?)(?: (\([^)]*\)))?:(.*)$")


def write(folder: Path) -> None:
    """Write the pages of the functions."""
    before = set(folder.glob("*.rst"))
    begin = time.time_ns() - 10**9  # files are stamped by a coarser clock
    folder.mkdir(parents=True, exist_ok=True)
    names = [write_space(folder, name, space) for name, space in SPACES.items()]
    (folder / "functions.rst").write_text(index("Functions and classes", names), "utf-8")
    for path in before:  # a test may be looking at the folders: these stay
        if path.stat().st_mtime_ns < begin:
            path.unlink()


def index(title: str, names: list[str]) -> str:
    """A page that lists others."""
    rows = "\n".join(f"   {name}" for name in names)
    return f"{title}\n{'=' * len(title)}\n\n.. toctree::\n   :maxdepth: 1\n\n{rows}\n"


def write_space(folder: Path, name: str, space: ModuleType) -> str:
    """The page of a namespace."""
    lines = [name, "=" * len(name), "", escaped(inspect.getdoc(space) or "").strip(), ""]
    for thing in sorted(space.__all__):
        value = getattr(space, thing)
        if inspect.ismodule(value):
            continue
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: {name}.{thing}"]
        lines += ["   :members:"] if kind == "class" else []
        lines += [""]
    (folder / f"{name}.rst").write_text("\n".join(lines), "utf-8")
    return name


# -- Docstrings are plain text in Google's sections, not reStructuredText -------------------------


def escaped(text: str) -> str:
    """Text in which nothing but ``code`` is markup; indented lines are kept as they are."""
    lines = []
    for line in text.splitlines():
        if line.startswith("    ") or line.startswith("| "):
            lines.append(f"| {escaped_line(line.strip())}")
        else:
            lines += [""] if lines and lines[-1].startswith("| ") and line else []
            lines.append(escaped_line(line))
    return "\n".join(lines)


def escaped_line(line: str) -> str:
    """A line with its special characters escaped outside of ``code``."""
    parts = re.split(r"(``[^`]+``)", line)
    return "".join(p if p.startswith("``") else SPECIAL.sub(r"\\\1", p) for p in parts)


NAMED = re.compile(r"\[[a-z_/]+\.md\]\(([\w./]+\.md(?:#[\w-]+)?)\)")


def titled(app: object, name: str, source: list[str]) -> None:
    """Let a link that shows the name of a file show the title of that page."""
    source[0] = NAMED.sub(r"[](\1)", source[0])


LITERAL = re.compile(r'(?<=<span class="pre">)[^<]+')


def breakable(
    app: object, name: str, template: str, context: dict[str, object], doctree: object
) -> None:
    """Let names on narrow screens break where their words end: after ``_``, ``.`` and ``/``."""

    def word(found: re.Match[str]) -> str:
        return re.sub(r"(?<=\w)([_./])(?=\w)", r"\1<wbr/>", found[0])

    context["body"] = LITERAL.sub(word, str(context.get("body", "")))


def left_out(
    app: object, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """Leave out the fields of named tuples, which the list of attributes explains."""
    return True if type(thing).__name__ == "_tuplegetter" else None


def plain(
    app: object, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Escape a docstring in place before its sections are read."""
    out: list[str] = []
    section, head = "", True
    if what in ("property", "attribute") and lines:  # what stands before a colon is no type
        lines[0] = lines[0].replace(":", " –")
    for line in lines:
        inside = line.strip()
        deep = len(line) - len(line.lstrip())
        entry = ENTRY.match(line) if deep == 4 else None
        if SECTION.match(line):
            section, head = line, False
            out += ["", "**Attributes**" if line == "Attributes:" else line]
            out += [""] if line == "Attributes:" else []
        elif inside == ".. math::":  # its lines are read as they are
            continue
        elif head and deep >= 4:
            out += [""] if out and out[-1] and not out[-1].startswith("| ") else []
            out.append(f"| {escaped_line(inside)}")
        elif head:
            out += [""] if out and out[-1].startswith("| ") and line else []
            out.append(escaped_line(line))
        elif section == "Attributes:":  # a list: Sphinx would look each name up
            out.append(
                f"* ``{entry[1].strip()}``: {escaped_line(both(entry))}"
                if entry
                else f"  {escaped_line(inside)}"
            )
        elif section == "Args:" and entry:
            out.append(f"{entry[1]}: {escaped_line(both(entry))}")
        else:
            inside = inside.replace(":", " –", 1) if section == "Returns:" else inside  # no type
            out.append(" " * min(deep, 8) + escaped_line(inside))
    lines[:] = out


def both(entry: re.Match[str]) -> str:
    """What stands in brackets before an entry's colon, and what stands after it."""
    return f"{entry[2] or ''} {entry[3].strip()}".strip()
