"""Files that appear at their places when they are whole, together, and not before.

They are written beside their places, brought to the disk and renamed. A full disk, an error or the
end of the process leaves the old files, or none. Between the renamings of several files lie some
microseconds, in which an end of the process leaves the first of them new.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_files(*paths: Path, parents: bool = False) -> Iterator[Sequence[Path]]:
    """Give places to write to, and move what is there to the paths where no error ends it.

    A path may be a folder's as well, which must not be there yet. What leads to a device or a
    pipe, such as ``/dev/stdout``, is written to at once.

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


def keep_mode(draft: Path, target: Path) -> None:
    """Give a new file the mode of the one that it replaces."""
    if draft.is_file() and target.is_file():
        shutil.copymode(target, draft)
