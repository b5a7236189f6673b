"""Errors, notes, optional packages."""

from __future__ import annotations

import difflib
import importlib
import re
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

# -- The package's errors: each names the place, the finding and the remedy -----------------------


# Controls but for tab and line feed, marks of direction, letters of no width, halves of pairs:
# they move a terminal's cursor, rename its window, or make one name look like another.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


class GearedDynamicsError(Exception):
    """Root of all errors this package raises on purpose.

    Attributes:
        place: File and key path, or the argument's name.
        finding: What is wrong there.
        remedy: What to do about it.
    """

    def __init__(self, place: str, finding: str, remedy: str) -> None:
        """Keep the three parts and compose the message from them."""
        super().__init__(f"{place}: {finding}; {remedy}")
        self.place = place
        self.finding = finding
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the three parts, whatever the class's own arguments are."""
        return _restored, (type(self), self.place, self.finding, self.remedy), self.__dict__


class DescriptionError(GearedDynamicsError):
    """A URDF, a drivetrain file or a parameter table is wrong."""


class ModelError(GearedDynamicsError):
    """The description reads well but does not make a physical model."""


class Note(str):
    """What was assumed or looks doubtful while reading, as a line: its place and the finding.

    A note with a remedy is a doubt: users are warned of it, and ``strict`` refuses it.

    Attributes:
        place, finding, remedy: As of an error.
        error: The error that ``strict`` raises.
    """

    place: str
    finding: str
    remedy: str
    error: type[GearedDynamicsError]

    def __new__(
        cls,
        place: str,
        finding: str,
        remedy: str = "",
        error: type[GearedDynamicsError] = ModelError,
    ) -> Note:
        """Compose the line and keep its parts."""
        note = super().__new__(cls, f"{place}: {finding}")
        note.place, note.finding, note.remedy, note.error = place, finding, remedy, error
        return note

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the parts."""
        return Note, (self.place, self.finding, self.remedy, self.error)


def urdf_doubt(place: str, finding: str) -> Note:
    """Return a doubt about an element of a URDF."""
    return Note(place, finding, "correct the URDF", DescriptionError)


def report(notes: Iterable[Note], strict: object, stacklevel: int) -> None:
    """Warn of what is doubtful; raise when strict.

    Args:
        notes: All notes.
        strict: Whether to raise the first doubt as an error.
        stacklevel: Of the warning: 1 is the line that calls this.
    """
    for note in notes:
        if note.remedy and strict:
            raise note.error(
                note.place, note.finding, f"{note.remedy}, or load without strict=True"
            )
        if note.remedy:
            warnings.warn(str(note), GearedDynamicsWarning, stacklevel=stacklevel + 1)


class ArrayError(GearedDynamicsError):
    """An array argument has the wrong shape, type or content."""


class UnknownNameError(GearedDynamicsError):
    """A name (joint, link, wheel, option) that the model does not have."""

    def __init__(self, place: str, kind: str, name: object, valid: Iterable[str]) -> None:
        """State the unknown name and list the valid ones, nearest first."""
        super().__init__(place, f"there is no {kind} {shown(name)}", suggestion(name, valid))


class MissingPackageError(GearedDynamicsError):
    """An optional package is needed for this call and is not installed."""

    def __init__(self, place: str, package: str, extra: str) -> None:
        """Name the package and how to get it: no index has this one, so extras cannot be typed."""
        name = package if extra != "ros" else f"ros-jazzy-{package.replace('_', '-')}"
        name += "[fastrtps]" if package == "rclpy" else ""
        remedy = f"install it with: pip install '{name}'"
        super().__init__(place, f"needs the package {package!r}, which is not installed", remedy)


def _restored(
    kind: type[GearedDynamicsError], place: str, finding: str, remedy: str
) -> GearedDynamicsError:
    """Make an error of any of the classes from its parts, as ``__reduce__`` names them."""
    error = kind.__new__(kind)
    GearedDynamicsError.__init__(error, place, finding, remedy)
    return error


def printable(text: str) -> str:
    """Return a text for a terminal or a log: invisible characters as escapes."""
    return UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)


def drawable(text: str) -> str:
    """Return a text for a picture of matplotlib: printable, shortened, and no formula."""
    return printable(shortened(text)).replace("$", r"\$")


class DamagedMessageError(GearedDynamicsError):
    """A serialised message that its type cannot be read from."""


class GearedDynamicsWarning(UserWarning):
    """Something doubtful that does not prevent a model (see ``strict``)."""


def suggestion(name: object, valid: Iterable[str]) -> str:
    """Return the remedy for a wrong name: the nearest valid one and the list."""
    names = [str(item) for item in valid]
    if not names:
        return "there are none to choose from"
    wrong = name if isinstance(name, str) else shown(name)
    near = difflib.get_close_matches(wrong, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}valid: {', '.join(names)}"


# -- Optional packages, imported where they are needed; their absence is an error with a remedy ---


def extra(name: str, place: str) -> Any:
    """Import a module of the ``analysis`` extra.

    Args:
        name: Module, such as ``scipy.signal``.
        place: What needs it, for the error's text.

    Raises:
        MissingPackageError: If its package is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise
        raise MissingPackageError(place, package, "analysis") from None


# -- Third-party parsers that ship without types, imported on first use ---------------------------
#
# Behind these functions they are ``Any`` to the type checker whether or not stub
# packages are installed, and importing the package does not pay for them.


@cache  # asked for at every element
def lxml_etree() -> Any:
    """Return ``lxml.etree``, the XML parser."""
    return importlib.import_module("lxml.etree")


def urdf_parser() -> Any:
    """Return ``urdf_parser_py.urdf``, the URDF object model."""
    return importlib.import_module("urdf_parser_py.urdf")


def pyyaml() -> Any:
    """Return ``yaml``."""
    return importlib.import_module("yaml")


def jsonschema() -> Any:
    """Return ``jsonschema``."""
    return importlib.import_module("jsonschema")


# -- The error of recordings that cannot be used as they are, and how long its words may be -------


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


def shown(value: object) -> str:
    """Return a value as Python writes it, or its beginning; its type where that is impossible.

    Python refuses to write integers of more than 4300 digits.
    """
    try:
        return shortened(repr(value))
    except Exception:  # a foreign class may raise anything
        return f"a value of type {type(value).__name__} that cannot be written"
