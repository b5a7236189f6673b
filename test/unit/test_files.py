"""Files that we write are whole or absent, whatever ends the writing."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.files import new_files, write_text

ROOT = Path(__file__).parents[2]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, limits and modes of POSIX")


def left_in(folder: Path) -> list[str]:
    """Names in a folder, drafts too."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_and_the_folders_above_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    with pytest.raises(FileNotFoundError):
        write_text(path, "text")
    with new_files(path, parents=True) as (draft,):
        draft.write_text("zero")
    for text in ("one\r\ntwo\n\U0001f9be", "three"):
        write_text(path, text)
        assert path.read_bytes() == text.encode()
    assert left_in(path.parent) == ["c.txt"]


def test_files_that_belong_together_change_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "other" / "two"
    two.parent.mkdir()
    one.write_text("old")

    def write(fails: bool) -> None:
        with new_files(one, two) as drafts:
            for draft in drafts:
                draft.write_text("new")
            if fails:
                raise RuntimeError

    with pytest.raises(RuntimeError):
        write(True)
    assert one.read_text() == "old"
    assert left_in(tmp_path) == ["one", "other"]
    assert left_in(two.parent) == []
    write(False)
    assert (one.read_text(), two.read_text()) == ("new", "new")
    assert left_in(tmp_path) == ["one", "other"]


def test_a_folder(tmp_path: Path) -> None:
    with new_files(tmp_path / "bag") as (draft,):
        draft.mkdir()
        (draft / "bag_0.mcap").write_text("data")
        assert left_in(tmp_path) != ["bag"]
    assert left_in(tmp_path / "bag") == ["bag_0.mcap"]
    assert left_in(tmp_path) == ["bag"]


@POSIX
def test_mode_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    write_text(path, "new")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "newer")
    assert link.is_symlink()
    assert path.read_text() == "newer"
    assert path.stat().st_mode & 0o777 == 0o640


@POSIX
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_text(Path(f"/dev/fd/{writer}"), "text")
    os.close(writer)
    with open(reader) as stream:  # noqa: PTH123
        assert stream.read() == "text"


@pytest.mark.parametrize("name", ["there/file", "x" * 300])
def test_errors_name_the_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file")
    with pytest.raises(OSError, match="cannot be written") as caught:
        write_text(tmp_path / name, "text")
    assert caught.value.filename == str(tmp_path / name)
    assert left_in(tmp_path) == ["there"]


def test_errors_about_other_files_stay(tmp_path: Path) -> None:
    def write() -> None:
        with new_files(tmp_path / "file"):
            (tmp_path / "missing").read_text()

    with pytest.raises(FileNotFoundError) as caught:
        write()
    assert caught.value.filename == str(tmp_path / "missing")
    assert left_in(tmp_path) == []


def limited() -> None:
    """Let files have no more than 1000 bytes, as a disk does that is nearly full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@POSIX
@pytest.mark.parametrize(
    "command",
    [
        ["export", "urdf/elbow.urdf", "urdf/elbow.drivetrain.yaml", "--mjcf"],
        ["describe", "urdf/elbow.urdf", "urdf/elbow.drivetrain.yaml", "--graph"],
    ],
    ids=lambda command: command[0],
)
def test_commands_on_a_full_disk_keep_the_old_file(command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    out = tmp_path / "out.svg"
    out.write_text("old")
    done = subprocess.run(
        [sys.executable, "-m", "geared_dynamics.apps.cli.main", *command, str(out), "--force"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=limited,
        # Python keeps compiled modules that were cut short, and other tests would meet them.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert str(out) in line
    assert "cannot be written: File too large" in line
    assert out.read_text() == "old"
    assert left_in(tmp_path) == ["out.svg"]


WRITER = """
import sys
from pathlib import Path
from geared_dynamics.files import new_files
one, two = map(Path, sys.argv[1:])
print("ready", flush=True)
for k in range(10**9):
    with new_files(one, two) as drafts:
        for draft in drafts:
            draft.write_text(str(k % 10) * 300_000)
"""


@POSIX
@pytest.mark.parametrize("count", [6, pytest.param(100, marks=pytest.mark.validate)])
def test_a_killed_writer_leaves_whole_files(count: int, tmp_path: Path) -> None:
    paths = tmp_path / "one", tmp_path / "two"
    for k in range(count):
        command = [sys.executable, "-c", WRITER, *map(str, paths)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            signal.sigtimedwait([], 0.001 * (1 + 7 * k % 50))
            child.kill()
        for path in paths:
            text = path.read_text() if path.exists() else ""
            assert len(text) in (0, 300_000)
            assert len(set(text)) <= 1
            assert path.exists() == bool(text)
