"""Run the fuzzers: ``make fuzz``, ``make fuzz ONLY=recordings MINUTES=10 SEED=5``."""

from __future__ import annotations

import argparse
import hashlib
import secrets
import sys
import tempfile
import time
from pathlib import Path

import conftest  # noqa: F401  (names the cache of compiled kernels, before anything compiles)
from fuzz import KEPT
from fuzz.fuzzers import FUZZERS
from fuzz.guards import search


def main(argv: list[str] | None = None) -> int:
    """Run each for its share of the time; keep and print what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="for all of them together")
    parser.add_argument("--seed", type=int, help="first seed; drawn and printed where not given")
    parser.add_argument("--cases", type=int, default=10**9, help="most cases of each")
    parser.add_argument("only", nargs="*", choices=[[], *FUZZERS], help="these, instead of all")
    given = parser.parse_args(argv)
    first = secrets.randbelow(2**31) if given.seed is None else given.seed
    print(f"first seed {first}")
    names, failed = given.only or list(FUZZERS), False
    for name in names:
        end = time.monotonic() + 60.0 * given.minutes / len(names)
        with tempfile.TemporaryDirectory() as folder:
            words, failures = search(FUZZERS[name], first, given.cases, Path(folder),
                                     lambda end=end: time.monotonic() > end)  # fmt: skip
        print(f"{name:14s}{sum(words.values()):9d} cases", dict(words), flush=True)
        for case, what in failures[:20]:
            path = KEPT / name / f"{hashlib.sha256(case).hexdigest()[:16]}.case"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(case)
            print(f"  {what}\n    kept as {path}")
        failed |= bool(failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
