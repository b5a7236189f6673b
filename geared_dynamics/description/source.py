"""Text from a file or an argument, bounded in size, with errors that name the place."""

from __future__ import annotations

import os
import stat

from geared_dynamics.errors import DescriptionError

Source = str | bytes | os.PathLike[str]


def at(source: str, *keys: str) -> str:
    """Return the place of an error: the file, then the key path in it."""
    path = "".join(keys)
    return f"{source}, {path}" if path else source


class NamedBytes(bytes):
    """What a file held, and its name, for errors."""

    name: str

    @classmethod
    def of_file(
        cls, path: str | os.PathLike[str], kind: str, limit: int, *, regular: bool = False
    ) -> NamedBytes:
        """Read a file; arguments and errors as those of ``read_file``."""
        result = cls(read_file(path, kind, limit, regular=regular))
        result.name = str(path)
        return result


def read_file(
    path: str | os.PathLike[str], kind: str, limit: int, *, regular: bool = False
) -> bytes:
    """Return a file's bytes, never more than ``limit`` of them.

    Args:
        path: The file.
        kind: What the file should be, for the error's text, such as ``URDF file``.
        limit: Largest accepted size in bytes.
        regular: Refuse pipes and devices, for which a program waits that has other things to do.

    Raises:
        DescriptionError: If there is no such file, it is a directory, it cannot
            be read or it is too large.
    """
    name = _shorten(os.fspath(path))
    try:
        with open(path, "rb", opener=_at_once if regular else None) as stream:
            status = os.fstat(stream.fileno())
            if regular and not stat.S_ISREG(status.st_mode):
                raise DescriptionError(
                    name, "this is no regular file", f"give the path of a {kind}"
                )
            if status.st_size > limit:
                raise _too_large(name, kind, limit)
            # A pipe has no size, so the amount read is bounded as well.
            data = stream.read(limit + 1) or b""
    except FileNotFoundError:
        raise DescriptionError(
            name, f"there is no such {kind}", "check the path, or pass the text itself"
        ) from None
    except IsADirectoryError:
        raise DescriptionError(
            name, f"this is a directory, not a {kind}", f"name the {kind} inside it"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DescriptionError(
            name, f"the {kind} cannot be read ({reason})", "check the path and its permissions"
        ) from None
    if len(data) > limit:
        raise _too_large(name, kind, limit)
    return data


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def decode(data: bytes, place: str, kind: str) -> str:
    """Return UTF-8 bytes as text without a byte order mark.

    Raises:
        DescriptionError: If the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DescriptionError(
            f"{place}, line {line}",
            f"the {kind} is not UTF-8 text (byte 0x{data[error.start]:02x})",
            "save it as UTF-8",
        ) from None


def check_length(text: str | bytes, place: str, kind: str, limit: int) -> None:
    """Refuse text that is longer than ``limit`` characters."""
    if len(text) > limit:
        raise _too_large(place, kind, limit)


def _too_large(place: str, kind: str, limit: int) -> DescriptionError:
    return DescriptionError(
        place,
        f"the {kind} is larger than {limit / 2**20:g} MiB",
        "that is no description of one robot; check that this is the right file",
    )


def _shorten(name: str) -> str:
    """Return a file name fit for an error's text: one line, not endless."""
    line = name if name.isprintable() else repr(name)[1:-1]
    return line if len(line) <= 300 else f"{line[:200]}...{line[-80:]}"
