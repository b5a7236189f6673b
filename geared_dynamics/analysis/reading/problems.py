"""The error of recordings that cannot be used as they are, and how long its words may be."""

from __future__ import annotations

from collections.abc import Sequence

from geared_dynamics.errors import GearedDynamicsError

LONGEST_WORD = 80  # characters of a name that an error quotes


class RecordingError(GearedDynamicsError):
    """A recording cannot be read, or does not fit the robot."""


def unreadable(path: object, error: OSError | ValueError) -> RecordingError:
    """Return the error of a path that the system does not open."""
    why = getattr(error, "strerror", None) or str(error)
    return RecordingError(str(path), f"cannot be read ({why})", "check the path")


def quoted(words: Sequence[str], most: int) -> str:
    """Join some of the names that a file has, shortened: it may have any number of any length."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(shortened(word) for word in words[:most]) + more


def shortened(word: str) -> str:
    """Return a name, or its beginning where it is long."""
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 3]}..."
