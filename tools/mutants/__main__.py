"""Change the sources at random places, and see whether their tests notice.

    python tools/mutants --seed 1a2b3c4d --count 40 --rooms control safety

Each mutant is a copy of the tree with one small change. The tests that execute the changed
lines run first, then the whole test files that they stand in. One that all of them pass has
survived, and is printed; those that ``tools/mutants/equivalent.yaml`` lists change nothing that
anybody could see. ``--only FILE:LINE`` tries all mutants of some lines instead of a sample.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from choice import kernel_lines, room, sample, test_files
from lines import SHARED, Record, Recorder, read, record_name, write
from mutations import Mutant, mutants, refusals
from trial import failures, forked, load_libraries, prepare

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / ".mutants"
OPTIONS = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
LIMIT = 60.0  # [s] that tests may take beyond what they take unchanged
EACH = 20.0  # [s] that a test file may take whose time is not recorded
LIKELY = 4  # files that run before the others are even imported
RUNS = 3  # of a file as a whole, before it is recorded: that takes as long as several of them
COMPILATION = 240.0  # [s] more where kernels are compiled


class Outcome(NamedTuple):
    """What became of a mutant: killed, survived, timeout, unreached or equivalent."""

    mutant: Mutant
    what: str
    by: str
    seconds: float


class Laboratory:
    """A copy of the tree in which mutants are tried."""

    def __init__(self, folder: Path) -> None:
        """Make the copy."""
        self.tree = prepare(ROOT, folder)
        self.log = folder / "log"
        self.records: dict[Path, Record] = {}
        self.sound: set[str] = set()  # tests that pass as they are
        self.broken: list[str] = []  # tests that do not
        self.runs: Counter[Path] = Counter()  # of a test file as a whole, unrecorded
        self.killers: Counter[tuple[str, Path]] = Counter()  # by source or room, and test file

    def kept(self, test: Path, sources: set[str]) -> Record | None:
        """What is recorded of a test file, None where it is nothing or of other sources."""
        path = RECORDS / record_name(self.tree, test)
        found = self.records.get(test) or read(path)
        known = found is not None and found.knows(self.tree / "geared_dynamics", sources)
        return found if known else None

    def record(self, test: Path, sources: set[str]) -> Record | None:
        """What a test file executes of some sources, None where it fails unchanged."""
        path = RECORDS / record_name(self.tree, test)
        found = self.kept(test, sources)
        if found is None:
            for old in RECORDS.glob(f"{path.name.rpartition('-')[0]}-*"):
                old.unlink()
            print(f"recording {test}", flush=True)
            forked(partial(watched, self.tree, test, path), self.tree, self.log, 1200.0)
            found = read(path)
            if found is None:
                sys.exit(f"{test}: pytest did not end; its output:\n{self.log.read_text()}")
            if not found.passed:
                print(f"{test} is left out: it fails without any mutant", flush=True)
        self.records[test] = found
        return found if found.passed else None

    def tried(self, mutant: Mutant) -> Outcome:
        """Run the tests of a mutant."""
        begin = time.monotonic()
        what, by = self.run(mutant)
        return Outcome(mutant, what, by, time.monotonic() - begin)

    def run(self, mutant: Mutant) -> tuple[str, str]:
        """What becomes of a mutant, and by which test.

        First the tests that are known to execute it, then other files as a whole, the likeliest
        first. A file that was run whole for some mutants is recorded when it is needed again.
        """
        spans = self.spans(mutant)
        sources = {file for file, *_ in spans}
        files = sorted(test_files(self.tree, mutant.path), key=partial(self.rank, mutant))
        known = [file for file in files if self.kept(file, sources) is not None]
        fresh = [file for file in files if file not in known]
        plain = [file for file in fresh if self.runs[file] < RUNS]
        begun, whole = self.tests(known, spans, sources)
        ended = self.attempt(mutant, begun, whole)
        for part in (plain[:LIKELY], plain[LIKELY:]):
            ended = ended or self.attempt(mutant, part, [(EACH * len(part), "")])
        for file in fresh:
            if ended is None and file not in plain:
                found, noticing = self.tests([file], spans, sources)
                ended = self.attempt(mutant, found, noticing)
                begun, whole = begun + found, whole + noticing
        if ended is not None:
            return ended
        if not whole and not plain:
            return "unreached", "no test executes it"
        # The tests of a file that share a fixture or an import with those that execute the line.
        rest = [test for _, test in sorted(whole)]
        skipped = [option for test in begun for option in ("--deselect", test)]
        passed = "survived", f"{len(whole) + len(plain)} test files pass"
        return (self.attempt(mutant, rest + skipped, whole) if rest else None) or passed

    def attempt(
        self, mutant: Mutant, tests: Sequence[str | Path], whole: list[tuple[float, str]]
    ) -> tuple[str, str] | None:
        """Run some tests with a mutant in place: how it ended, None where they pass."""
        tests = [test for test in tests if str(test) not in self.broken]  # files not to be read
        if not tests:
            return None
        file = self.tree / mutant.path
        text = file.read_text("utf-8")
        file.write_text(mutant.applied(text), "utf-8")
        limit = LIMIT + 3.0 * sum(s for s, _ in whole)
        limit += COMPILATION * (room(mutant.path) == "kernels")
        left_out = [option for test in self.broken for option in ("--deselect", test)]
        work = partial(tested, self.tree, [*map(str, tests), *left_out])
        try:
            status = forked(work, self.tree, self.log, limit)
        finally:
            file.write_text(text, "utf-8")
        self.runs.update(test for test in tests if isinstance(test, Path))
        if status is None:
            return "timeout", ""
        if not status:
            return None
        by = failures(self.log)
        named = by.startswith(("FAILED", "ERROR"))  # a crash names none
        failed = [by.partition(" ")[2].partition(" - ")[0]] if named else list(map(str, tests))
        if isinstance(tests[0], Path):  # unrecorded: it may fail without any mutant
            if not self.sound.issuperset(failed):
                if forked(
                    partial(tested, self.tree, [*failed, *left_out]), self.tree, self.log, limit
                ):
                    if not named:
                        sys.exit(f"tests fail without any mutant: {by}")
                    print(f"{failed[0]} is left out: it fails without any mutant", flush=True)
                    self.broken.extend(failed)
                    return self.attempt(mutant, tests, whole)
                self.sound.update(failed)
        killer = Path(failed[0].partition("::")[0])
        self.killers.update([(mutant.path, killer), (room(mutant.path), killer)])
        return "killed", by

    def spans(self, mutant: Mutant) -> list[tuple[str, int, int]]:
        """Lines of the package that a test must execute to notice a mutant."""
        found = [(mutant.path.partition("/")[2], mutant.line, mutant.last)]
        if room(mutant.path) == "kernels":
            found += [(file, line, line) for file, line in kernel_lines(self.tree, mutant.path)]
        return found

    def rank(self, mutant: Mutant, file: Path) -> tuple[bool | int, ...]:
        """How soon a test file may notice a mutant: lower ones run first.

        First what killed others of its source, is named after it or imports it, then what shares
        words with its name and its folders, then what killed others of its room.
        """
        stem, path = Path(mutant.path).stem, mutant.path
        names = re.compile(rf"^ *(?:from|import) .*\b{stem}\b", re.MULTILINE)
        imported = names.search((self.tree / file).read_text("utf-8")) is not None
        imported = imported and room(path) != "kernels" and stem != "__init__"
        return (
            -self.killers[path, file],
            stem not in file.stem,
            not imported,
            -len(words(*Path(path).with_suffix("").parts[1:]) & words(file.stem)),
            -self.killers[room(path), file],
        )

    def tests(
        self, files: list[Path], spans: list[tuple[str, int, int]], sources: set[str]
    ) -> tuple[list[str], list[tuple[float, str]]]:
        """The tests of some files that execute some lines; the files that may notice, times."""
        first: list[tuple[float, str]] = []
        whole: list[tuple[float, str]] = []
        for test in files:
            record = self.record(test, sources)
            if record is None:
                continue
            found = {t for span in spans for t in record.of(*span)}
            if found:
                whole.append((sum(record.seconds.values()), str(test)))
            first += [(record.seconds.get(t, 0.0), t) for t in found - {SHARED}]
        return [test for _, test in sorted(first)], whole

    def silent(self, path: str) -> list[int]:
        """Lines of a source with a ``raise`` that none of its tests executes."""
        lines: set[int] = set()
        name = path.partition("/")[2]
        for test in test_files(self.tree, path):
            record = self.record(test, {name})
            for files in record.lines.values() if record is not None else ():
                lines |= files.get(name, set())
        text = (self.tree / path).read_text("utf-8")
        return [first for first, last in refusals(text) if not lines & set(range(first, last + 1))]


def words(*names: str) -> set[str]:
    """Words of names, without the plural's s."""
    return {word.rstrip("s") for name in names for word in name.split("_")}


def watched(tree: Path, test: Path, path: Path) -> int:
    """Run a test file while its lines are noted."""
    import pytest

    recorder = Recorder(tree / "geared_dynamics")
    status = pytest.main([str(test), *OPTIONS[1:]], plugins=[recorder])
    recorder.passed = recorder.passed and status in (0, 5)
    write(recorder, path)
    return int(status)


def tested(tree: Path, tests: list[str]) -> int:
    """Run tests until one fails; nothing collected is no failure."""
    import pytest

    status = int(pytest.main([*tests, *OPTIONS]))
    return 0 if status == 5 else status


# -- what is printed -----------------------------------------------------------------------------


def equivalents() -> dict[tuple[str, str, str], str]:
    """Mutants that no test can tell from the original, with the reason."""
    import yaml

    path = Path(__file__).with_name("equivalent.yaml")
    listed = yaml.safe_load(path.read_text("utf-8")) or []
    return {(item["path"], item["before"], item["after"]): item["why"] for item in listed}


def excused(mutant: Mutant, text: str, known: dict[tuple[str, str, str], str]) -> str:
    """Why a mutant is equivalent, empty where it is not said to be."""
    minus, plus = [], []
    for line in mutant.difference(text).splitlines():
        (minus if line.startswith("-") else plus).append(line[1:].strip())
    return known.get((mutant.path, " ".join(minus), " ".join(plus)), "")


def table(outcomes: list[Outcome]) -> str:
    """Numbers for each room."""
    kinds = ("killed", "timeout", "survived", "unreached", "equivalent")
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(kinds, 0))
    for outcome in outcomes:
        for name in (room(outcome.mutant.path), "all"):
            counts[name][outcome.what] += 1
    lines = [f"{'room':14s}" + "".join(f"{kind:>12s}" for kind in kinds) + f"{'noticed':>10s}"]
    for name in sorted(counts, key=lambda n: (n == "all", n)):
        count = counts[name]
        good = count["killed"] + count["timeout"]
        rest = good + count["survived"] + count["unreached"]
        share = f"{good / rest:10.1%}" if rest else f"{'-':>10s}"
        lines.append(f"{name:14s}" + "".join(f"{count[kind]:12d}" for kind in kinds) + share)
    return "\n".join(lines)


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """The mutants that are asked for."""
    if not arguments.only:
        return sample(ROOT, arguments.rooms, arguments.count, arguments.seed)
    found = []
    for place in arguments.only:
        path, _, line = place.partition(":")
        path = Path(path).resolve().relative_to(ROOT).as_posix()
        all_ = mutants(path, (ROOT / path).read_text("utf-8"))
        found += [m for m in all_ if not line or m.line <= int(line) <= m.last]
    return found


def head() -> str:
    """The first eight digits of the commit, the usual seed."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout[:8] or "0"


def report_raises(rooms: list[str]) -> None:
    """Print the raise lines of some rooms that no test executes."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        laboratory = Laboratory(Path(folder))
        load_libraries(Path(folder) / "cache")
        count = 0
        for file in sorted((ROOT / "geared_dynamics").rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if room(path) in rooms or not rooms:
                source = file.read_text("utf-8").splitlines()
                for line in laboratory.silent(path):
                    count += 1
                    print(f"{path}:{line}: {source[line - 1].strip()}", flush=True)
    print(f"{count} raise lines that no test executes")


def try_all(found: list[Mutant], texts: dict[str, str]) -> list[Outcome]:
    """Try mutants one after the other, and print what becomes of each."""
    known, outcomes = equivalents(), []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        laboratory = Laboratory(Path(folder))
        load_libraries(Path(folder) / "cache")
        for number, mutant in enumerate(found, 1):
            text = texts[mutant.path]
            why = excused(mutant, text, known)
            done = Outcome(mutant, "equivalent", why, 0.0) if why else laboratory.tried(mutant)
            outcomes.append(done)
            place = f"{mutant.path}:{mutant.line} ({mutant.operator})"
            print(f"{number:4d} {done.what:10s} {done.seconds:6.1f} s  {place}", flush=True)
            if done.what == "killed":
                print(f"     {done.by.partition(' - ')[0]}", flush=True)
            elif done.what != "timeout":
                print(f"{mutant.difference(text)}\n     {done.by}", flush=True)
    return outcomes


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description="See whether tests notice changes.")
    parser.add_argument("--seed", default="", help="of the choice; usual: the commit")
    parser.add_argument("--count", type=int, default=40, help="how many mutants")
    parser.add_argument("--rooms", nargs="*", default=[], help="rooms; usual: all")
    parser.add_argument("--only", nargs="*", default=[], help="all mutants of FILE or FILE:LINE")
    parser.add_argument("--raises", action="store_true", help="list raise lines not executed")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    return parser.parse_args()


def main() -> None:
    """Try the mutants that are asked for."""
    arguments = options()
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())
    if arguments.raises:
        report_raises(arguments.rooms)
        return
    arguments.seed = arguments.seed or head()
    found = chosen(arguments)
    print(f"seed {arguments.seed}: {len(found)} mutants", flush=True)
    texts = {path: (ROOT / path).read_text("utf-8") for path in {m.path for m in found}}
    if not arguments.list:
        print(f"\nseed {arguments.seed}\n{table(try_all(found, texts))}")
        return
    for mutant in found:
        print(f"{mutant.path}:{mutant.line} {mutant.operator}")
        print(mutant.difference(texts[mutant.path]))


def kernel_cache() -> Path:
    """Folder of compiled kernels that the tests use."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("conftest", ROOT / "test" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Path(module.kernel_cache())


if __name__ == "__main__":
    main()
