"""Bounded reading, atomic writing, installed data files."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from geared_dynamics.errors import DescriptionError, GearedDynamicsError, suggestion

MARK = "written by geared-dynamics"  # in the head of what this program may replace
HEAD = 2048  # bytes
EARLIER = "earlier.bag"  # what a bag that is replaced is called until it is removed
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux: from the working folder, both names are swapped
METADATA, STORED = "metadata.yaml", (".db3", ".mcap")  # what rosbag2 has in a bag's folder
LARGEST_METADATA = 2**20  # bytes that are searched for ``MARK``

# -- Files that appear at their places when they are whole, together, and not before --------------
#
# They are written beside their places, brought to the disk and renamed. A full disk, an error or
# the end of the process leaves the old files, or none. Between the renamings of several files lie
# some microseconds, in which an end of the process leaves the first of them new.


@contextmanager
def new_files(*paths: Path, parents: bool = False) -> Iterator[Sequence[Path]]:
    """Give places to write to, and move what is there to the paths where no error ends it.

    A path may be a folder's as well, which must not be there yet, or be a bag, which is replaced.
    What leads to a device or a pipe, such as ``/dev/stdout``, is written to at once.

    Args:
        paths: Where files or folders are to be.
        parents: Whether the folders above them are made.

    Raises:
        OSError: With the path, if something cannot be written.
    """
    with named(*paths):
        targets = [path if is_stream(path) else Path(os.path.realpath(path)) for path in paths]
    drafts: list[Path] = []
    folders: list[Path] = []
    try:
        for path, target in zip(paths, targets, strict=True):
            if is_stream(path):
                drafts.append(path)
                continue
            with named(path):
                if parents:
                    target.parent.mkdir(parents=True, exist_ok=True)
                folder = tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent)
            folders.append(Path(folder))
            drafts.append(Path(folder) / target.name)  # a bag's files bear its folder's name
        with named(*paths, drafts=drafts):
            yield drafts
            for draft in drafts:
                secure(draft)
        for path, draft, target in zip(paths, drafts, targets, strict=True):
            if draft != path:
                with named(path):
                    keep_mode(draft, target)
                    if draft.is_dir() and is_bag(target):
                        exchange(draft, target)
                    else:
                        draft.replace(target)
                    synchronise(target.parent)
    finally:
        for one in folders:
            shutil.rmtree(one, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a file of UTF-8, lines ended by line feeds; the old one or the new one is there.

    Raises:
        OSError: With the path, if it cannot be written.
    """
    with new_files(path) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")


def refuse_foreign(
    *paths: Path, force: bool, heads: Sequence[str] = (), bags: Sequence[Path] = ()
) -> list[Path]:
    """Return which files and bags are replaced; they are our own, or with ``force`` any.

    An empty file, such as ``mktemp`` makes, is free to be written.

    Args:
        paths: Files that are to be written.
        force: Whether files and bags of others are replaced.
        heads: With what a file without room for ``MARK``, such as a table, begins if it is ours.
        bags: Folders of bags that are to be written.

    Raises:
        GearedDynamicsError: A file or bag is there that this program did not write, or in the
            place of a bag something else.
    """
    there = [path for path in paths if path.is_file() and path.stat().st_size]
    places = [bag for bag in bags if bag.exists()]
    for bag in places:
        if not is_bag(bag):
            finding = "exists, and holds other things than a bag"
            raise GearedDynamicsError(str(bag), finding, "name another place for the bag")
    for path in () if force else (*there, *places):
        about, limit = (path / METADATA, LARGEST_METADATA) if path.is_dir() else (path, HEAD)
        with about.open("rb") as file:
            head = file.read(limit)
        if MARK.encode() not in head and not head.startswith(tuple(map(str.encode, heads))):
            finding = "exists, and was not written by geared-dynamics"
            raise GearedDynamicsError(str(path), finding, "name another, or give --force")
    return [*there, *places]


def is_bag(path: Path) -> bool:
    """Return whether a folder holds the files of a bag of rosbag2, and no others."""
    files = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
    known = all(file.name == METADATA or file.suffix in STORED for file in files)
    return known and (path / METADATA).is_file() and not any(file.is_dir() for file in files)


def is_stream(path: Path) -> bool:
    """Return whether a path leads to something that is neither a file nor a folder."""
    return path.exists() and not (path.is_file() or path.is_dir())


@contextmanager
def named(*paths: Path, drafts: Sequence[Path] = ()) -> Iterator[None]:
    """Let errors of the system name the path that was meant, not a draft, or none.

    With drafts, errors about other files are left as they are.
    """
    try:
        yield
    except OSError as error:
        place = error.filename
        other = place is not None and drafts and Path(os.fsdecode(place)) not in drafts
        if error.errno is None or isinstance(error, BrokenPipeError) or other:
            raise
        places = ", ".join(str(path) for path in paths)
        raise OSError(error.errno, f"cannot be written: {error.strerror}", places) from None


def secure(draft: Path) -> None:
    """Bring a file, or all files of a folder, to the disk."""
    if draft.is_dir():
        for path in sorted(draft.rglob("*")):
            synchronise(path)
        synchronise(draft)
    elif draft.is_file():
        synchronise(draft)


def synchronise(path: Path) -> None:
    """Bring what was written to a file or a folder to the disk, where the system can."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(draft: Path, target: Path) -> None:
    """Put a folder in the place of another, which is then in the draft's folder.

    Linux swaps both names at once. Elsewhere, and on file systems that cannot, the place is empty
    between two renamings.
    """
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    names = os.fsencode(draft), os.fsencode(target)
    if swap is None or swap(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE):
        target.replace(draft.parent / EARLIER)
        draft.replace(target)


def keep_mode(draft: Path, target: Path) -> None:
    """Give a new file the mode of the one that it replaces."""
    if draft.is_file() and target.is_file():
        shutil.copymode(target, draft)


# -- Text from a file or an argument, bounded in size, with errors that name the place ------------


Source = str | bytes | os.PathLike[str]


def place_in(source: str, *keys: str) -> str:
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
                    name, "this is not a regular file", f"give the path of a {kind}"
                )
            if status.st_size > limit:
                raise _too_large(name, kind, limit)
            # A pipe has no size, so the amount read is bounded as well.
            data = stream.read(limit + 1) or b""
    except FileNotFoundError:
        raise DescriptionError(name, f"there is no such {kind}", "check the path") from None
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
        "that is not the description of one robot; check that this is the right file",
    )


def _shorten(name: str) -> str:
    """Return a file name fit for an error's text: one line, not endless."""
    line = name if name.isprintable() else repr(name)[1:-1]
    return line if len(line) <= 300 else f"{line[:200]}...{line[-80:]}"


# -- Files that come with the package: robots and settings, in a checkout or installed ------------


PACKAGE = "geared_dynamics"
DRIVETRAIN = ".drivetrain.yaml"


class RobotFiles(NamedTuple):
    """A robot's files.

    Attributes:
        urdf: Path of the URDF.
        drivetrain: Path of the drivetrain file; None: there is none.
    """

    urdf: Path
    drivetrain: Path | None


def folder(name: str) -> Path:
    """Return ``urdf``, ``config`` or another folder of this package's files.

    Raises:
        DescriptionError: if the package was installed without them.
    """
    prefixes = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    installed = [Path(prefix) / "share" / PACKAGE for prefix in prefixes if prefix]
    for root in (Path(__file__).resolve().parents[1], *installed):
        if (root / name).is_dir():
            return root / name
    remedy = "install the package again, or run from a checkout"
    raise DescriptionError(name, "this folder of the package is not installed", remedy)


def known_files(kind: str, ending: str) -> dict[str, Path]:
    """Files that come with the package, by their names without the ending."""
    return {path.stem: path for path in sorted(folder(kind).glob(f"*{ending}"))}


def no_such_robot(name: str) -> tuple[str, str]:
    """Finding and remedy for a name that is neither a file nor a robot of the package."""
    known = known_files("urdf", ".urdf")
    remedy = f"give the path of a URDF, or a robot of this package; {suggestion(name, known)}"
    return f"{name!r} does not exist", remedy


def drivetrain_beside(urdf: Path) -> Path | None:
    """The drivetrain file of the same name beside a URDF, None where there is none."""
    if not urdf.is_file():  # "/" has no name
        return None
    beside = urdf.with_name(urdf.stem + DRIVETRAIN)
    return beside if beside.is_file() else None


def robot_files(name: str, drivetrain: str | None = None) -> RobotFiles:
    """Return the files of a robot.

    Args:
        name: One of ``urdf/`` by its name, or the path of a URDF.
        drivetrain: Path of its drivetrain file; None: the one beside the URDF of the same
            name, if there is one.

    Raises:
        DescriptionError: if there is no such robot.
    """
    known = known_files("urdf", ".urdf")
    path = known.get(name, Path(name))
    if not path.is_file():
        raise DescriptionError("robot", *no_such_robot(name))
    if drivetrain is not None:
        return RobotFiles(path, Path(drivetrain))
    return RobotFiles(path, drivetrain_beside(path))
