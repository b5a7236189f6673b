"""Which tests execute which lines: recorded once for each test file, kept in ``.mutants``."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

SHARED = "*"  # of a test file: imports, and fixtures that several of its tests use
OFTEN = 3000  # calls of a function in one test without a new line, after which none is expected


class Recorder:
    """A plugin of pytest that notes the lines of the package that each test executes."""

    def __init__(self, package: Path) -> None:
        """Begin; ``package`` is the folder whose lines count."""
        self.folder = f"{package}/"
        self.found: dict[str, dict[str, list[int]]] = {}
        self.seconds: dict[str, float] = {}
        self.passed = True
        self._names: dict[CodeType, str] = {}
        self._calls: dict[CodeType, int] = {}  # since the last new line of a function
        self._missing: dict[CodeType, set[int]] = {}
        self._lines: set[tuple[str, int]] = set()
        self._shared: set[tuple[str, int]] = set()
        self._watch(True)

    def _watch(self, on: bool) -> None:
        sys.settrace(self._called if on else None)
        threading.settrace(self._called if on else None)  # type: ignore[arg-type]

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        name = self._names.get(code)
        if name is None:
            path = code.co_filename
            name = path[len(self.folder) :] if path.startswith(self.folder) else ""
            self._names[code] = name
        if not name:
            return None
        missing = self._missing.get(code)
        if missing is None:
            missing = {line for *_, line in code.co_lines() if line} - {code.co_firstlineno}
            self._missing[code], self._calls[code] = missing, 0
        self._calls[code] += 1
        return self._line if missing and self._calls[code] < OFTEN else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            code, line = frame.f_code, frame.f_lineno
            missing = self._missing.setdefault(code, set())
            if line in missing:
                missing.discard(line)
                self._calls[code] = 0
            self._lines.add((self._names[code], line))
        return self._line

    def _taken(self) -> set[tuple[str, int]]:
        """The lines since the last call of this."""
        lines, self._lines = self._lines, set()
        self._missing.clear()
        return lines

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """What a fixture does for several tests counts for all of them."""
        before = self._taken()
        result = yield
        if fixturedef.scope != "function":
            self._shared |= self._taken()
        self._lines |= before
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Lines of one test."""
        self._shared |= self._taken()
        result = yield
        self.found[item.nodeid] = by_file(self._taken())
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        """How long it took, and whether all pass."""
        self.passed = self.passed and not report.failed
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """No more lines."""
        self._watch(False)
        self.found[SHARED] = by_file(self._shared)


def by_file(lines: set[tuple[str, int]]) -> dict[str, list[int]]:
    """Line numbers by file."""
    found: dict[str, list[int]] = {}
    for name, line in sorted(lines):
        found.setdefault(name, []).append(line)
    return found


class Record:
    """What one test file executes.

    Attributes:
        lines: Of each test, line numbers by source.
        seconds: How long each takes while it is watched.
        passed: Whether it passes as it is.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        """Take what ``write`` has kept."""
        self.lines: dict[str, dict[str, set[int]]] = {
            test: {name: set(numbers) for name, numbers in files.items()}
            for test, files in data["lines"].items()
        }
        self.seconds: dict[str, float] = data["seconds"]
        self.passed: bool = data["passed"]
        self._sources: dict[str, str] = data["sources"]

    def knows(self, package: Path, names: Iterable[str]) -> bool:
        """Whether some sources are as they were; one that no test executed then may be another.

        Which lines of them a test executes seldom depends on the other sources. Where it does,
        ``rm -r .mutants`` records everything again.
        """
        return all(
            digest(package / name) == self._sources.get(name, digest(package / name))
            for name in names
        )

    def of(self, name: str, first: int, last: int) -> list[str]:
        """Tests that execute one of some lines of a source; ``*`` where all may."""
        span = range(first, last + 1)
        return [
            test
            for test, files in self.lines.items()
            if any(line in files.get(name, ()) for line in span)
        ]


def write(recorder: Recorder, path: Path) -> None:
    """Keep what was found, with the digests of the sources that it was found in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    package = Path(recorder.folder)
    names = {name for files in recorder.found.values() for name in files}
    data = {
        "lines": recorder.found,
        "seconds": recorder.seconds,
        "passed": recorder.passed,
        "sources": {name: digest(package / name) for name in sorted(names)},
    }
    path.write_text(json.dumps(data), encoding="utf-8")


def read(path: Path) -> Record | None:
    """What was kept, if anything was."""
    return Record(json.loads(path.read_text("utf-8"))) if path.exists() else None


def digest(*paths: Path) -> str:
    """Short digest of what stands in some files; one that is gone counts as empty."""
    found = sha256()
    for path in paths:
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()[:16]


def record_name(root: Path, test: Path) -> str:
    """Name of the record of a test file: another one when the file or a helper changes."""
    helpers = sorted((root / "test").glob("*.py"))
    stem = test.with_suffix("").as_posix().replace("/", ".")
    return f"{stem}-{digest(*helpers, root / test)}.json"
