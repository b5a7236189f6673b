"""The package's errors: each names the place, the finding and the remedy."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

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


class ArrayError(GearedDynamicsError):
    """An array argument has the wrong shape, type or content."""


class UnknownNameError(GearedDynamicsError):
    """A name (joint, link, wheel, option) that the model does not have."""

    def __init__(self, place: str, kind: str, name: object, valid: Iterable[str]) -> None:
        """State the unknown name and list the valid ones, nearest first."""
        super().__init__(place, f"there is no {kind} {name!r}", suggestion(name, valid))


class MissingPackageError(GearedDynamicsError):
    """An optional package is needed for this call and is not installed."""

    def __init__(self, place: str, package: str, extra: str) -> None:
        """Name the package and the extra that brings it."""
        remedy = f"install it with: pip install 'geared_dynamics[{extra}]'"
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


class GearedDynamicsWarning(UserWarning):
    """Something doubtful that does not prevent a model (see ``strict``)."""


def suggestion(name: object, valid: Iterable[str]) -> str:
    """Return the remedy for a wrong name: the nearest valid one and the list."""
    names = [str(item) for item in valid]
    if not names:
        return "there are none to choose from"
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}valid: {', '.join(names)}"
