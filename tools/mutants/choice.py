"""Which mutants are tried, and which test files belong to each."""

from __future__ import annotations

import fnmatch
import random
import re
from collections import defaultdict
from pathlib import Path

from mutations import Mutant, mutants

PACKAGE = "geared_dynamics"
SHARES = {"control": 70 / 300, "safety": 70 / 300}  # of all mutants; the rest by size
# Folders that count as rooms by themselves.
PARTS = {("control", "safety"): "safety", ("dynamics", "contact"): "contact"}
LEFT_OUT = ("test/ros", "test/repository", "test/smoke")  # processes, texts, what is installed


def room(path: str) -> str:
    """Room of a source: its first folder, those of ``PARTS`` apart, ``top`` for loose files."""
    parts = Path(path).parts
    if parts[1:3] in PARTS:
        return PARTS[parts[1], parts[2]]
    return parts[1] if len(parts) > 2 else "top"


def sample(root: Path, rooms: list[str], count: int, seed: str) -> list[Mutant]:
    """Mutants of some rooms (of all where none is named), stratified by room and operator.

    Args:
        root: Of the tree.
        rooms: Which ones.
        count: How many together.
        seed: Of the choice.
    """
    everything: dict[str, dict[str, list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted((root / PACKAGE).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if not rooms or room(path) in rooms:
            for mutant in mutants(path, file.read_text("utf-8")):
                everything[room(path)][mutant.operator].append(mutant)
    wanted = numbers(
        {name: sum(map(len, all_.values())) for name, all_ in everything.items()}, count
    )
    found = []
    for name in sorted(everything):
        draw = random.Random(f"{seed} {name}")
        found += drawn(everything[name], wanted[name], draw)
    return found


def numbers(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many of each room: those of ``SHARES`` as they say, the others by size."""
    fixed = {name: share for name, share in SHARES.items() if name in sizes}
    rest = sum(size for name, size in sizes.items() if name not in fixed)
    left = 1.0 - sum(fixed.values()) if rest else 0.0
    shares = {name: fixed.get(name, left * size / max(rest, 1)) for name, size in sizes.items()}
    total = sum(shares.values())
    exact = {name: count * share / total for name, share in shares.items()}
    found = {name: int(number) for name, number in exact.items()}
    # What rounding left goes to those that it cost most.
    for name in sorted(exact, key=lambda n: found[n] - exact[n])[: count - sum(found.values())]:
        found[name] += 1
    return found


def drawn(by_operator: dict[str, list[Mutant]], count: int, draw: random.Random) -> list[Mutant]:
    """As many of each operator as there are, one after the other; no place twice."""
    waiting = {name: draw.sample(all_, len(all_)) for name, all_ in sorted(by_operator.items())}
    found: list[Mutant] = []
    places: set[tuple[str, int, int]] = set()
    while len(found) < count and any(waiting.values()):
        for rest in waiting.values():
            while rest:
                mutant = rest.pop()
                if (mutant.path, mutant.start, mutant.end) not in places:
                    places.add((mutant.path, mutant.start, mutant.end))
                    found.append(mutant)
                    break
            if len(found) == count:
                break
    return found


# -- the tests of a file -------------------------------------------------------------------------


def test_files(root: Path, path: str) -> list[Path]:
    """Test files of a source: ``test/unit/<room>``, then those of CONTRIBUTING's table.

    Args:
        root: Of the tree.
        path: The source, relative to it.
    """
    folder = Path(path).parts[1] if len(Path(path).parts) > 2 else ""
    own = sorted((root / "test/unit" / folder).glob("test_*.py" if not folder else "**/test_*.py"))
    stem = Path(path).stem
    found = sorted(own, key=lambda file: stem not in file.stem)
    for sources, tests in table((root / "CONTRIBUTING.md").read_text("utf-8")):
        if any(fnmatch.fnmatch(path, f"{PACKAGE}/{source}") for source in sources):
            for test in tests:
                place = root / "test" / test
                found += (
                    sorted(place.rglob("test_*.py"))
                    if place.is_dir()
                    else [place.with_suffix(".py")]
                )
    relative = [file.relative_to(root) for file in dict.fromkeys(found)]
    return [file for file in relative if not file.as_posix().startswith(LEFT_OUT)]


def table(text: str) -> list[tuple[list[str], list[str]]]:
    """Rows of the table of tests: patterns of sources, test files or folders below ``test``."""
    part = text.split("### Which tests belong to a file")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
    return [(patterns(sources), tests_of(tests)) for sources, tests in rows]


def patterns(cell: str) -> list[str]:
    """Patterns of the sources that a cell names; a bare name is in the folder named before."""
    found, folder = [], ""
    for name, after in re.findall(r"`([^`]+)`([^`]*)", cell):
        if name.endswith("/"):
            folder = name
            if ":" not in after:  # it is no heading of the names that follow
                found.append(f"{name}*")
        elif "/" in name:
            folder = name.rpartition("/")[0] + "/"
            found.append(f"{name}.py")
        else:
            found += [f"{folder}{name}.py", f"{name}.py"]
    return found


def tests_of(cell: str) -> list[str]:
    """Test files that a cell names; a bare name is in the folder of the one before."""
    found, folder = [], ""
    for text in re.findall(r"`([\w/]+)`", cell):
        name = text.removeprefix("test/")
        if "/" in text:
            folder = name.rpartition("/")[0]
            found.append(name)
        else:
            found.append(f"{folder}/{name}")
    return found


def kernel_lines(root: Path, path: str) -> list[tuple[str, int]]:
    """Lines of the package that call a kernel compiled from a source (file, line).

    What runs compiled cannot be watched; who calls it can.
    """
    compilation = (root / PACKAGE / "kernels/__init__.py").read_text("utf-8")
    entries = re.findall(r'^    "(\w+)": \("(\w+)", \d', compilation, re.MULTILINE)
    used = [name for name, module in entries if Path(path).stem in reached(root, module)]
    if not used:
        return []
    names = "|".join(used)
    call = re.compile(rf"\bkernels\.({names})\b|\"({names})\"")  # as it is, or by its name
    found = []
    files = [f for f in sorted((root / PACKAGE).rglob("*.py")) if f.parent.name != "kernels"]
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if call.search(line):
                found.append((file.relative_to(root / PACKAGE).as_posix(), number))
    return found


def reached(root: Path, module: str) -> set[str]:
    """A module of the kernels and all that it imports from them."""
    found: set[str] = set()
    waiting = [module]
    pattern = rf"^from {PACKAGE}\.kernels(?:\.(\w+))? import (\([^)]*\)|[^(\n]*)"
    while waiting:
        name = waiting.pop()
        file = root / PACKAGE / "kernels" / f"{name}.py"
        if name in found or not file.exists():
            continue
        found.add(name)
        for source, names in re.findall(pattern, file.read_text("utf-8"), re.MULTILINE):
            waiting += [source] if source else re.findall(r"(\w+)(?: as \w+)?", names)
    return found
