"""Commands that are ended while they write, in forks of one process that has run them before.

    python test/ended_commands.py event:20,size:10 FOLDER WORDS...

``@`` in a word is the folder for what the command writes. It runs whole once, to know what belongs
there. Then again and again, each time ended elsewhere, with nothing there and over old files:

event
    killed where it opens, makes, renames or removes something in the folder;
size
    ended by a signal in the middle of writing, where a file grows beyond a limit;
error
    the system refuses to let a file grow beyond a limit;
disk
    the disk has room for so many pages (the folder is on a small disk of its own).

What is printed after that is wrong.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from geared_dynamics.apps.cli.main import main

PAGE = 4096
OLD = b"old\n" * 2000
KILLED, CUT = -signal.SIGKILL, -signal.SIGXFSZ
EXPECTED = {"event": (KILLED, 0, 1), "size": (CUT, 0, 1), "error": (3, 0, 1), "disk": (3, 0, 1)}
Files = dict[str, bytes]
Ending = Callable[[], None]


def files_in(folder: Path) -> Files:
    """What stands in a folder and those below, but for drafts, which begin with a dot."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.relative_to(folder): path for path in paths}
    return {
        str(name): path.read_bytes()
        for name, path in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }


def skeleton(data: bytes) -> bytes:
    """What stays the same from run to run: times, dates and digests of drawings do not."""
    if data[:4] in (b"\x89PNG", b"GIF8") or b"\0" in data[:100]:
        return data[-8:] if data[:4] in (b"\x89PNG", b"GIF8", b"\x89MCA") else data[:16]
    return re.sub(rb"[0-9a-f]{8,}|[\d.,e+-]+", b"0", data)


def replaced(new: Files) -> list[str]:
    """Names of the files that a command replaces; bags, which are folders, are made again."""
    bags = {Path(name).parent for name in new if Path(name).name == "metadata.yaml"}
    return [name for name in new if Path(name).parent not in bags]


def faults(found: Files, new: Files, old: Files) -> list[str]:
    """What is neither old nor new."""
    wrong = []
    for name in sorted(found.keys() | old.keys()):
        data = found.get(name)
        if data is None:
            wrong.append(f"{name} is gone")
        elif data != old.get(name) and (name not in new or skeleton(data) != skeleton(new[name])):
            wrong.append(f"{name} has {len(data)} bytes of {len(new.get(name, b''))}")
    return wrong


def fill(folder: Path, files: Files) -> None:
    """Let a folder have these files and no others."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def run(words: list[str], ending: Ending) -> int:
    """Exit status of a command that an ending was prepared for; negative: the signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 99
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        ending()
        status = main(words)
    finally:
        os._exit(status)


# -- ways to end one -----------------------------------------------------------------------------


def at_event(number: int, folder: Path) -> Ending:
    """Kill at the so manieth time that something of a folder is opened, made, renamed, removed."""
    events = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect"}
    left = [number]

    def look(event: str, args: tuple[Any, ...]) -> None:
        if event in events and str(args[0]).startswith(str(folder)):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    return lambda: sys.addaudithook(look)


def at_size(size: int, *, killed: bool) -> Ending:
    """End where a file grows beyond a size: by a signal, or by an error as of a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def on_full_disk(pages: int, folder: Path) -> Ending:
    """Leave so many pages of the disk that a folder is on."""

    def occupy() -> None:
        with (folder / ".rest").open("wb", buffering=0) as rest, suppress(OSError):
            while rest.write(bytes(PAGE)) == PAGE:
                pass
        size = (folder / ".rest").stat().st_size
        os.truncate(folder / ".rest", max(size - PAGE * pages, 0))

    return occupy


def endings(way: str, count: int, folder: Path, new: Files) -> Iterator[Ending]:
    """So many different ends of one kind."""
    largest = max(map(len, new.values()))
    for k in range(count):
        if way == "event":
            yield at_event(k + 1, folder)
        elif way == "disk":
            yield on_full_disk(k * (largest // PAGE + 4) // count, folder)
        else:
            yield at_size(k * largest // count, killed=way == "size")


def report(ways: dict[str, int], folder: Path, words: list[str]) -> list[str]:
    """What is wrong after any of the ends."""
    words = [word.replace("@", str(folder)) for word in words]
    assert main(words) in (0, 1)
    new = files_in(folder)
    assert new
    wrong = []
    for way, count in ways.items():
        statuses = set()
        for old in ({}, dict.fromkeys(replaced(new), OLD)):
            for k, ending in enumerate(endings(way, count, folder, new)):
                fill(folder, old)
                status = run(words, ending)
                statuses.add(status)
                found = faults(files_in(folder), new, old)
                if way in ("error", "disk") and any(folder.glob(".*.*")):
                    found.append("a draft is left")
                if status not in EXPECTED[way]:
                    found.append("another end")
                wrong += [f"{way} {k}, {status}: {text}" for text in found]
        if statuses == {0}:
            wrong.append(f"{way} ends nothing")
    fill(folder, {})
    if run(words, lambda: None) not in (0, 1) or faults(files_in(folder), new, {}):
        wrong.append("a complete run after all of them does not write the same")
    return wrong


if __name__ == "__main__":
    asked = {
        way: int(count) for way, _, count in (w.partition(":") for w in sys.argv[1].split(","))
    }
    print("\n".join(["", *report(asked, Path(sys.argv[2]), sys.argv[3:])]))
