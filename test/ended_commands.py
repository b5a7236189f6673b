"""Commands that are ended while they write, in forks of one process that is about to write.

    python test/ended_commands.py event:20,size:10 FOLDER WORDS...

``@`` in a word is the folder for what the command writes. It runs whole once, to know what
belongs there. Then it runs up to its first file, and from there again and again, each time ended
elsewhere, with nothing there and over old files:

event
    killed where it opens, makes, renames or removes something in the folder, or connects to it;
size
    ended by a signal in the middle of writing, where a file grows beyond a limit;
error
    the system refuses to let a file grow beyond a limit;
disk
    the disk has room for so many pages (the folder is on a small disk of its own).

What is printed after that is wrong.
"""

from __future__ import annotations

import functools
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from geared_dynamics.apps.cli.main import main

PAGE = 4096
OLD = b"old\n" * 2000
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect"}
KILLED, CUT = -signal.SIGKILL, -signal.SIGXFSZ
EXPECTED = {"event": (KILLED, 0, 1), "size": (CUT, 0, 1), "error": (3, 0, 1), "disk": (3, 0, 1)}
Files = dict[str, bytes]
Ending = Callable[["Writing"], None]


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


def bags_of(new: Files) -> list[list[str]]:
    """Names of the files of each bag, which change together."""
    folders = [Path(name).parent for name in new if Path(name).name == "metadata.yaml"]
    return [[name for name in new if Path(name).parent == folder] for folder in folders]


def faults(found: Files, new: Files, old: Files) -> list[str]:
    """What is neither old nor new."""
    wrong = []
    for name in sorted(found.keys() | old.keys()):
        data = found.get(name)
        if data is None:
            wrong.append(f"{name} is gone")
        elif data != old.get(name) and (name not in new or skeleton(data) != skeleton(new[name])):
            wrong.append(f"{name} has {len(data)} bytes of {len(new.get(name, b''))}")
    for bag in bags_of(new):
        if len({found.get(name) == old.get(name) for name in bag}) == 2:
            wrong.append(f"{' and '.join(bag)} are not of one bag")
    return wrong


def fill(folder: Path, files: Files) -> None:
    """Let a folder have these files and no others."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


class Writing:
    """A run of a command, stopped at its first event in a folder; it goes on in copies.

    Attributes:
        left: The event from now on at which this process is killed; 0: none.
        seen: How many events there have been.
    """

    def __init__(self, folder: Path, tried: Callable[[Writing], None]) -> None:
        """Say what is done where the first event comes; the copies return from it."""
        self.left = self.seen = 0
        self._folder, self._tried, self._asleep = str(folder), tried, False

    def look(self, event: str, args: tuple[Any, ...]) -> None:
        """Count the events of a folder; it is there already, whoever makes it."""
        if event not in EVENTS or not str(args[0]).startswith(self._folder + "/") or self._asleep:
            return
        if not self.seen:
            self._asleep = True
            self._tried(self)
            self._asleep = False
        self.seen += 1
        if self.seen == self.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def copy(self, ending: Ending) -> int:
        """Exit status of a copy of this process, ended so, + 1000; in the copy itself 0."""
        child = os.fork()
        if child:
            return 1000 + os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ending(self)
        return 0


def run(words: list[str], writing: Writing) -> None:
    """Run a command in a copy of this process, up to its first event and on."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, "it has not begun to write"
        return
    status = 99
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.addaudithook(writing.look)
        status = main(words)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


# -- ways to end one -----------------------------------------------------------------------------


def at_event(number: int) -> Ending:
    """Kill at the so manieth time that something of the folder is opened, made or renamed."""
    return lambda writing: setattr(writing, "left", number)


def at_size(size: int, *, killed: bool) -> Ending:
    """End where a file grows beyond a size: by a signal, or by an error as of a full disk."""

    def limit(_: Writing) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def on_full_disk(pages: int, folder: Path) -> Ending:
    """Leave so many pages of the disk that a folder is on."""

    def occupy(_: Writing) -> None:
        with (folder / ".rest").open("wb", buffering=0) as rest, suppress(OSError):
            while rest.write(bytes(PAGE)) == PAGE:
                pass
        size = (folder / ".rest").stat().st_size
        os.truncate(folder / ".rest", max(size - PAGE * pages, 0))

    return occupy


def endings(way: str, count: int, folder: Path, new: Files, events: int) -> Iterator[Ending]:
    """So many different ends of one kind; of the events at most those that there are."""
    largest = max(map(len, new.values()))
    if way == "event":
        count = min(count, events)
    for k in range(count):
        if way == "event":
            yield at_event(1 + k * events // count)
        elif way == "disk":
            yield on_full_disk(k * (largest // PAGE + 4) // count, folder)
        else:
            yield at_size(k * largest // count, killed=way == "size")


def judged(way: str, status: int, folder: Path, new: Files, old: Files) -> list[str]:
    """What is wrong after one end."""
    found = faults(files_in(folder), new, old)
    if way in ("error", "disk") and any(folder.glob(".*.*")):
        found.append("a draft is left")
    if status not in EXPECTED[way]:
        found.append("another end")
    return found


def try_all(
    writing: Writing, ways: dict[str, int], folder: Path, new: Files, old: Files, out: int
) -> None:
    """End copies of a command in all ways and write to a file what is wrong; copies return."""
    counts = folder.with_name(folder.name + ".count")
    fill(folder, old)
    if not (status := writing.copy(lambda own: at_end(own, counts))):
        return
    wrong = [f"whole: {text}" for text in faults(files_in(folder), new, {})]
    assert status in (1000, 1001), status
    events = int(counts.read_text())
    counts.unlink()
    for way, count in ways.items():
        statuses = []
        for k, ending in enumerate(endings(way, count, folder, new, events)):
            fill(folder, old)
            if not (status := writing.copy(ending)):
                return
            statuses.append(status - 1000)
            said = judged(way, statuses[-1], folder, new, old)
            lines = [f"{way} {k}, {statuses[-1]}: {text}" for text in said]
            sys.stderr.writelines(f"{line}\n" for line in lines)
            wrong += lines
        if set(statuses) <= {0, 1}:
            wrong.append(f"{way} ends nothing")
        killed = sum(status < 0 for status in statuses)
        print(f"{way}: {len(statuses)} ends, {killed} killed", file=sys.stderr)
    os.write(out, "".join(f"{line}\n" for line in wrong).encode())
    os._exit(0)


def at_end(writing: Writing, counts: Path) -> None:
    """Let a whole run say how many events it had, when all is written."""
    leave = os._exit

    def tell(status: int) -> None:
        counts.write_text(str(writing.seen))
        leave(status)

    os._exit = tell  # type: ignore[assignment]


def report(ways: dict[str, int], folder: Path, words: list[str]) -> list[str]:
    """What is wrong after any of the ends."""
    words = [word.replace("@", str(folder)) for word in words]
    if not (child := os.fork()):  # OpenGL does not survive another fork
        os._exit(main(words))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), f"unhindered it ends with {status}"
    new = files_in(folder)
    assert new
    if words[0] == "demo":
        replay_demo(folder)
    wrong = ""
    for old in ({}, dict.fromkeys(new, OLD)):
        fill(folder, old)
        with tempfile.TemporaryFile() as file:
            tried = functools.partial(
                try_all, ways=ways, folder=folder, new=new, old=old, out=file.fileno()
            )
            run(words, Writing(folder, tried))
            file.seek(0)
            wrong += file.read().decode()
    return wrong.splitlines()


def replay_demo(folder: Path) -> None:
    """Let the next demos write what this one has recorded, in this process and without nodes."""
    from rosbags.highlevel import AnyReader

    from geared_dynamics.apps.cli import demo
    from geared_dynamics.ros.demo_conductor import Recorded, write_bag

    runs: dict[str, list[Recorded]] = {}
    with AnyReader([folder / "recording"]) as reader:
        for connection, stamp, data in reader.messages():
            _, name, topic = connection.topic.split("/", 2)
            runs.setdefault(name, []).append(
                Recorded(f"/{topic}", stamp, bytes(data), connection.msgtype)
            )

    def record(_: object, bag: Path, **__: object) -> list[str]:
        write_bag(bag, runs)
        return []

    demo.record = record  # type: ignore[assignment]


if __name__ == "__main__":
    asked = {
        way: int(count) for way, _, count in (w.partition(":") for w in sys.argv[1].split(","))
    }
    print("\n".join(["", *report(asked, Path(sys.argv[2]), sys.argv[3:])]))
