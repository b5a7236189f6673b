"""Fuzzers of everything that takes input: ``make fuzz``, and a short run of each in the tests.

A fuzzer makes a case from a seed, and says what came of it. A case is bytes: a file, or the seed
of a call, of messages, of a history. What must not come of any: a crash, an exception that is not
one of the package's, another result than that of the same numbers in plain arrays, more time or
memory than ``guards`` allows. Cases that failed are kept in ``kept/``, and the tests replay them.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

KEPT = Path(__file__).parent / "kept"


class Call(NamedTuple):
    """A function of named arguments, and good ones."""

    function: Callable[..., Any]
    good: Mapping[str, Any]
