"""Bags' folders, names and places that lie."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from hostile.cases import COUNT, DATA, Case, Cases, Make, bag_of, of_bytes
from hostile.mcap import good

INFORMATION = "rosbag2_bagfile_information:\n"


def folder_of(metadata: str | bytes | None = None, more: Callable[[Path], object] | None = None,
              names: tuple[str, ...] = ("bag_0.db3",)) -> Make:  # fmt: skip
    """A bag's folder: the good motion in equal files, its metadata, and what else is in it."""

    def make(folder: Path) -> Path:
        path = folder / "bag"
        path.mkdir()
        step = COUNT // max(len(names), 1)
        for k, name in enumerate(names):
            bag_of(DATA[k * step : (k + 1) * step], name)(path)
        if metadata is not None:
            content = metadata.encode() if isinstance(metadata, str) else metadata
            (path / "metadata.yaml").write_bytes(content)
        if more is not None:
            more(path)
        return path

    return make


def information(text: str) -> Make:
    """A folder whose metadata have these lines."""
    return folder_of(INFORMATION + "".join(f"  {line}\n" for line in text.splitlines()))


def closed_to_others(name: str, make: Make) -> Make:
    """Something in which this is not to be read by other users."""

    def make_it(folder: Path) -> Path:
        path = make(folder)
        (path / name).chmod(0)
        return path

    return make_it


def link(target: str, name: str = "a.db3") -> Make:
    """A symbolic link."""

    def make(folder: Path) -> Path:
        (folder / name).symlink_to(target)
        return folder / name

    return make


def pipe(name: str) -> Make:
    """A pipe that nobody writes to."""

    def make(folder: Path) -> Path:
        os.mkfifo(folder / name)
        return folder / name

    return make


def plug(name: str) -> Make:
    """A socket."""

    def make(folder: Path) -> Path:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder / name))
        return folder / name

    return make


def directory(name: str) -> Make:
    """A folder with the name of a file."""

    def make(folder: Path) -> Path:
        (folder / name).mkdir()
        return folder / name

    return make


def logged(folder: Path) -> Path:
    """A closed bag whose header asks for a log, in a folder that other users cannot write to."""
    from hostile.sqlite import at

    return at(18, b"\2\2")(folder)


LISTED = "relative_file_paths: [bag_0.db3]\n"
TABLE = b"time,q_1,q_2,q_3,tau_1,tau_2,tau_3\n"
CASES: Cases = {
    "whole": Case("the good folder", information(LISTED), COUNT),
    "no metadata": Case("a folder without metadata", folder_of(), COUNT),
    "empty metadata": Case("metadata without a byte", folder_of(""), COUNT),
    "null": Case("metadata that are null", folder_of("null"), COUNT),
    "a list": Case("metadata that are a list", folder_of("[1, 2]"), COUNT),
    "a number": Case("information that is a number", folder_of("rosbag2_bagfile_information: 5"),
        COUNT),
    "paths null": Case("no list of files", information("relative_file_paths: null"), COUNT),
    "paths a word": Case("files as a word", information("relative_file_paths: bag_0.db3"), COUNT),
    "paths a mapping": Case("files as a mapping", information("relative_file_paths: {a: 1}"),
        COUNT),
    "paths numbers": Case("files as numbers",
        information("relative_file_paths: [1, 2.5, null, [x]]"), COUNT),
    "count lies": Case("a count of messages that lies",
        information(LISTED + "message_count: 99999999999999999999"),
                       COUNT),
    "duration lies": Case("a negative duration",
        information(LISTED + "duration: {nanoseconds: -5}"), COUNT),
    "start lies": Case("a start beyond int64", information(
        LISTED + "starting_time: {nanoseconds_since_epoch: 99999999999999999999999}"), COUNT),
    "version lies": Case("a version that does not exist", information(LISTED + "version: 99999"),
        COUNT),
    "storage lies": Case("the other storage", information(LISTED + "storage_identifier: mcap"),
        COUNT),
    "compression lies": Case("compression that there is not", information(
        LISTED + "compression_format: zstd\ncompression_mode: FILE"), COUNT),
    "topics lie": Case("topics that there are not", information(
        LISTED + "topics_with_message_count: [{topic_metadata: {name: /x}, message_count: 5}]"),
        COUNT),
    "itself": Case("a bag that is in itself",
        information("relative_file_paths: ['.', bag_0.db3]"), COUNT, "lists '.'"),
    "above": Case("a file above the folder",
        information("relative_file_paths: [../bag_0.db3, bag_0.db3]"), COUNT,
                  "no file of a bag"),
    "absolute": Case("a file elsewhere",
        information("relative_file_paths: [/etc/passwd, bag_0.db3]"), COUNT,
                     "no file of a bag"),
    "old layout": Case("paths with the folder before them, as Crystal wrote them",
                       information("relative_file_paths: [bag/bag_0.db3]"), COUNT,
                       "no file of a bag"),
    "often": Case("one file, 9000 times",
        information(f"relative_file_paths: [{'bag_0.db3, ' * 9000}]"), COUNT),
    "missing": Case("5000 files that are missing", information(
        f"relative_file_paths: [bag_0.db3, {', '.join(f'x{k}.db3' for k in range(5000))}]"),
        COUNT, "and 4990 more"),
    "long name": Case("a name of 3000 letters",
        information(f"relative_file_paths: [bag_0.db3, {'x' * 3000}.db3]"),
                      COUNT, "not there"),
    "zero in a name": Case("a name with a zero",
        information('relative_file_paths: [bag_0.db3, "a\\0.db3"]'), COUNT,
                           "not there"),
    "escape in a name": Case("a name that clears the terminal", information(
        'relative_file_paths: [bag_0.db3, "\\e[2J.db3"]'), COUNT, "not there"),
    "surrogate in a name": Case("half of a pair",
        information('relative_file_paths: [bag_0.db3, "\\uD800.db3"]'), COUNT,
                                "not there|cannot be read"),
    "anchors": Case("aliases to aliases", folder_of(
        "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9) if k else 1}]\n" for k in range(
        20))), COUNT,
        "cannot be read"),
    "deep": Case("100 000 lists in each other", folder_of("a: " + "[" * 100_000), COUNT,
        "cannot be read"),
    "merge keys": Case("merge keys", folder_of("a: &a {b: 1}\nc: {<<: *a}\n"), COUNT,
        "cannot be read"),
    "tag": Case("a tag that runs a program",
        folder_of("a: !!python/object/apply:os.system [true]"), COUNT,
                "cannot be read"),
    "two documents": Case("two documents", folder_of("a: 1\n---\nb: 2\n"), COUNT,
        "cannot be read"),
    "key twice": Case("a key that is there twice", information(LISTED + LISTED), COUNT,
        "cannot be read"),
    "tabs": Case("a tab in the indentation", folder_of("a:\n\tb: 1\n"), COUNT, "cannot be read"),
    "not UTF-8": Case("metadata that are no text", folder_of(b"a: \xff\xfe\n"), COUNT,
        "cannot be read"),
    "UTF-16": Case("metadata in UTF-16", folder_of("a: 1".encode("utf-16")), COUNT,
        "cannot be read"),
    "zeros": Case("metadata of zeros", folder_of(bytes(5000)), COUNT, "cannot be read"),
    "5 MB": Case("metadata of 5 MB", folder_of("# " + "x" * 5_000_000), COUNT, "cannot be read"),
    "metadata a folder": Case("a folder for the metadata",
                              folder_of(None, lambda path: (path / "metadata.yaml").mkdir()),
                              COUNT),
    "metadata a pipe": Case("a pipe for the metadata",
                            folder_of(None, lambda path: os.mkfifo(path / "metadata.yaml")),
                            COUNT),
    "metadata a loop": Case("a link to itself for the metadata", folder_of(
        None, lambda path: (path / "metadata.yaml").symlink_to("metadata.yaml")), COUNT),
    "three files": Case("three files of one bag",
        folder_of(names=("b_0.db3", "b_1.db3", "b_2.db3")), COUNT),
    "order of numbers": Case("2 comes before 10",
        folder_of(names=("b_2.db3", "b_3.db3", "b_10.db3")), COUNT,
                             "no split 0"),
    "large number": Case("a number of 60 digits",
        folder_of(names=("b_0.db3", f"b_{'9' * 60}.db3")), COUNT,
                         "has no split 1"),
    "numbers of another script": Case("digits of Arabic",
        folder_of(names=("b_\u0660.db3", "b_\u0661.db3")), COUNT),
    "two bags": Case("files of two bags", folder_of(names=("a.db3", "b.db3")), None, "2 bags"),
    "two storages": Case("both kinds of files", folder_of(
        None, lambda path: (path / "bag_1.mcap").write_bytes(good())), None, "2 bags"),
    "a split of rubbish": Case("the second split is rubbish", folder_of(
        None, lambda path: (path / "bag_1.db3").write_bytes(b"hello")), COUNT, "left out"),
    "a split that is empty": Case("the second split is empty", folder_of(
        None, lambda path: (path / "bag_1.db3").touch()), COUNT, "is empty: it is left out"),
    "2000 empty splits": Case("2000 files that are empty", folder_of(None, lambda path: [
        (path / f"bag_{k}.db3").touch() for k in range(1, 2000)]), COUNT, "and 1989 more"),
    "a split that is a folder": Case("the second split is a folder", folder_of(
        INFORMATION + "  relative_file_paths: [bag_0.db3, bag_1.db3]\n",
        lambda path: (path / "bag_1.db3").mkdir()),
        COUNT, "not there"),
    "a split that is a pipe": Case("the second split is a pipe", folder_of(
        INFORMATION + "  relative_file_paths: [bag_0.db3, bag_1.db3]\n",
        lambda path: os.mkfifo(path / "bag_1.db3")),
        COUNT, "not there"),
    "a split that loops": Case("the second split is a link to itself", folder_of(
        INFORMATION + "  relative_file_paths: [bag_0.db3, bag_1.db3]\n",
        lambda path: (path / "bag_1.db3").symlink_to("bag_1.db3")), COUNT, "not there"),
    "a split elsewhere": Case("the second split leads to a device", folder_of(
        INFORMATION + "  relative_file_paths: [bag_0.db3, bag_1.db3]\n",
        lambda path: (path / "bag_1.db3").symlink_to("/dev/zero")), COUNT, "not there"),
    "packed": Case("a file that is still compressed", folder_of(
        None, lambda path: (path / "bag_0.db3").rename(path / "bag_0.db3.zstd")), None, "zstd -d"),
    "empty folder": Case("nothing in it", directory("bag"), None, "nothing"),
    "other files": Case("other files only",
        lambda folder: of_bytes("x.txt.gz", b"x")(folder).parent, None,
                        "no .db3"),
    "folder called .db3": Case("a folder with the name of a bag", directory("bag.db3"), None,
        "nothing"),
    "folder called .csv": Case("a folder with the name of a table", directory("bag.csv"), None,
        "nothing"),
    "missing file": Case("no such file", lambda folder: folder / "no.db3", None, "No such file"),
    "missing table": Case("no such table", lambda folder: folder / "no.csv", None, "No such file"),
    "name of 300 letters": Case("a name that no file can have",
        lambda folder: folder / ("x" * 300 + ".db3"), None,
                                "(?i)name too long"),
    "table of 300 letters": Case("a name that no file can have",
        lambda folder: folder / ("x" * 300 + ".csv"), None,
                                 "(?i)name too long"),
    "zero in the path": Case("a path with a zero", lambda folder: folder / "a\0.db3", None,
        "null"),
    "zero in a table's path": Case("a path with a zero", lambda folder: folder / "a\0.csv", None,
        "null"),
    "file as a folder": Case("a file in the middle of the path",
                             lambda folder: of_bytes("a.db3", good())(folder) / "b.db3", None,
                             "Not a directory"),
    "dangling": Case("a link to nothing", link("nowhere"), None, "No such file"),
    "dangling table": Case("a link to nothing", link("nowhere", "a.csv"), None, "No such file"),
    "loop": Case("a link to itself", link("a.db3"), None, "symbolic links"),
    "loop of a table": Case("a link to itself", link("a.csv", "a.csv"), None, "symbolic links"),
    "device": Case("zeros without end", link("/dev/zero"), None, "not a regular file"),
    "device as a table": Case("zeros without end", link("/dev/zero", "a.csv"), None,
        "not a regular file"),
    "random": Case("endless noise", link("/dev/urandom", "a.mcap"), None, "not a regular file"),
    "null device": Case("nothing", link("/dev/null", "a.csv"), None, "not a regular file"),
    "full device": Case("a device that is full", link("/dev/full", "a.csv"), None,
        "not a regular file"),
    "process": Case("a file of the kernel that has no size", link("/proc/self/status", "a.csv"),
        None, "has no|separates"),
    "pipe": Case("a pipe without a writer", pipe("a.db3"), None, "not a regular file"),
    "socket": Case("a socket", plug("a.db3"), None, "not a regular file"),
    "socket as a table": Case("a socket", plug("a.csv"), None, "not a regular file"),
    "db3 that is MCAP": Case("the wrong ending", of_bytes("a.db3", good()), COUNT),
    "csv that is MCAP": Case("the wrong ending of a table", of_bytes("a.csv", good()), None,
        "is not text"),
    "no ending": Case("no ending at all", of_bytes("bag", good()), COUNT),
    "odd name": Case("letters that a URI has a meaning for",
        of_bytes("a?mode=rw&x#%41 \u202e.mcap", good()), COUNT),
    "odd name of SQLite": Case("the same, where SQLite reads a URI",
        bag_of(DATA, "a?mode=rwc#%41%00 b.db3"), COUNT),
    "name of bytes": Case("a name that is not UTF-8", bag_of(DATA, os.fsdecode(b"\xff\xfe.db3")),
        COUNT),
    "tables of two recordings": Case("tables of two recordings", folder_of(
        None, lambda path: [(path / name).write_bytes(TABLE) for name in ("a.csv", "b.csv")], ()),
        None, "2 recordings"),
}  # fmt: skip
CASES |= {
    f"bag in a {kind}": Case("packed by another program", of_bytes("a.db3", content), None, says)
    for kind, content, says in (
        ("zstd file", b"\x28\xb5\x2f\xfd" + bytes(50), "compressed as a whole"),
        ("gzip file", b"\x1f\x8b\x08" + bytes(50), "neither"),
        ("zip file", b"PK\3\4" + bytes(50), "neither"),
        ("ROS 1 bag", b"#ROSBAG V2.0\n" + bytes(50), "neither"),
        ("HTML page", b"<!DOCTYPE html><html>404", "neither"),
    )
}
CASES |= {
    "denied": Case("a bag of another user", closed_to_others("", bag_of(DATA)), None,
        "Permission denied",
                   nobody=True),
    "denied table": Case("a table of another user",
        closed_to_others("", of_bytes("a.csv", TABLE)), None,
                         "Permission denied", nobody=True),
    "denied folder": Case("a folder of another user", closed_to_others("", folder_of()), None,
        "Permission denied",
                          nobody=True),
    "denied above": Case("a file in a folder of another user",
                         lambda folder: closed_to_others("", folder_of())(folder) / "bag_0.db3",
                         None,
                         "Permission denied", nobody=True),
    "denied table above": Case("a table in a folder of another user",
                               lambda folder: closed_to_others("", folder_of())(folder) / "a.csv",
                               None,
                               "Permission denied", nobody=True),
    "denied split": Case("one file of two is another user's", closed_to_others(
        "bag_1.db3", folder_of(names=("bag_0.db3", "bag_1.db3"))), COUNT // 2,
        "Permission denied", nobody=True),
    "denied metadata": Case("metadata of another user",
        closed_to_others("metadata.yaml", information(LISTED)), COUNT,
                            "Permission denied", nobody=True),
    "WAL read-only": Case("a bag with a log on a disk that is read-only", logged, COUNT,
        nobody=True),
}  # fmt: skip
