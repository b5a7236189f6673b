"""Object code on disk: damaged, foreign, written by several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.kernels import native
from geared_dynamics.trace import cache
from random_robots import random_state
from traced_arms import any_arm, code_of, difference

MODEL = any_arm(2)
STATE = random_state(MODEL.n, 0)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, with nothing loaded."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "code")
    monkeypatch.setattr(cache, "_loaded", {})
    return tmp_path / "code"


def answer() -> np.ndarray:
    """Torque by code that is compiled or loaded for it, and leaves nothing in this process."""
    cache._loaded.clear()
    fast = gd.compiled(MODEL, ["inverse_dynamics"])
    return code_of(fast, "inverse_dynamics")(*STATE, None)


def test_code_is_kept_and_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer()
    files = sorted(home.iterdir())
    assert [path.suffix for path in files] == [".o"]
    monkeypatch.setattr(cache, "object_code", lambda _text: pytest.fail("compiled again"))
    assert answer().tobytes() == first.tobytes()
    assert sorted(home.iterdir()) == files


@pytest.mark.parametrize("keep", [0, 10, 60, -1])
def test_damaged_files_are_compiled_again(home: Path, keep: int) -> None:
    first = answer()
    for path in home.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[:keep])
    assert answer().tobytes() == first.tobytes()
    for path in home.iterdir():
        turned = bytearray(path.read_bytes())
        turned[len(turned) // 2] ^= 0x40
        path.write_bytes(bytes(turned))
    assert answer().tobytes() == first.tobytes()
    assert all(cache.stored(path.stem) for path in home.iterdir())


def test_code_under_another_name_is_not_run(home: Path) -> None:
    """Code of one function in the place of another one's: whole, and the wrong code."""
    first = answer()
    gd.compiled(MODEL, ["mass_matrix"])
    files = sorted(home.iterdir())
    assert len(files) > 1
    contents = [path.read_bytes() for path in files]
    for path, other in zip(files, [*contents[1:], contents[0]], strict=True):
        path.write_bytes(other)
    assert not any(cache.stored(path.stem) for path in files)
    assert answer().tobytes() == first.tobytes()
    gd.compiled(MODEL, ["mass_matrix"])
    assert [path.read_bytes() for path in files] == contents


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2**40)


@pytest.mark.parametrize("plant", [pipe, endless, huge])
def test_what_is_no_file_of_code_is_replaced(home: Path, plant: Callable[[Path], None]) -> None:
    """A pipe would be waited for, a device read without end."""
    first = answer()
    for path in home.iterdir():
        path.unlink()
        plant(path)
    assert answer().tobytes() == first.tobytes()
    assert all(path.is_file() and not path.is_symlink() for path in home.iterdir())
    assert all(cache.stored(path.stem) for path in home.iterdir())


def test_a_folder_in_a_files_place(home: Path) -> None:
    first = answer()
    for path in home.iterdir():
        path.unlink()
        (path / "inner").mkdir(parents=True)
    with pytest.warns(RuntimeWarning, match="compiled code is not kept"):
        assert answer().tobytes() == first.tobytes()


def test_another_users_file_is_not_read(home: Path) -> None:
    first = answer()
    path = min(home.iterdir())
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, -1)
    assert cache.stored(path.stem) is None
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert answer().tobytes() == first.tobytes()


def test_a_folder_that_others_write_is_not_used(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="compiled code is not kept: other users may write"):
        first = answer()
    assert list(home.iterdir()) == []
    assert difference(first, gd.inverse_dynamics(MODEL, *STATE)) <= 1e-13


def test_no_place_for_code_is_no_reason_to_stop(home: Path) -> None:
    home.write_text("a file where the folder should be")
    with pytest.warns(RuntimeWarning, match="compiled code is not kept"):
        answer()


def test_a_crash_while_writing_leaves_no_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _data: bytes) -> object:
        path.touch()
        raise OSError(28, "No space left on device")

    home.mkdir()
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        answer()
    assert list(home.iterdir()) == []


def test_names_tell_processors_sources_and_functions_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = cache.key_of(b"a", b"bc")
    assert one != cache.key_of(b"ab", b"c")
    monkeypatch.setattr(cache, "identity", lambda: "another processor")
    assert cache.key_of(b"a", b"bc") != one
    monkeypatch.undo()
    monkeypatch.setattr(cache, "sources", lambda: b"other kernels")
    assert cache.key_of(b"a", b"bc") != one


def test_several_processes_compile_at_once(tmp_path: Path) -> None:
    """Each compiles or reads; none reads half a file; the answers are equal bit for bit."""
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import geared_dynamics as gd\n"
        "from random_robots import random_state\n"
        "from traced_arms import any_arm\n"
        "from geared_dynamics.trace import cache\n"
        "from pathlib import Path\n"
        f"cache.folder = lambda: Path({str(tmp_path)!r}) / 'code'\n"
        "model = any_arm(2)\n"
        "fast = gd.compiled(model, ['inverse_dynamics', 'mass_matrix'])\n"
        "print(gd.inverse_dynamics(fast, *random_state(model.n, 0)).tobytes().hex())\n"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parents[2])]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(set(outputs)) == 1
    assert outputs[0].strip()
    assert {path.suffix for path in (tmp_path / "code").iterdir()} == {".o"}


def test_a_forked_process_has_the_code() -> None:
    fast = gd.compiled(MODEL, ["inverse_dynamics"])
    expected = code_of(fast, "inverse_dynamics")(*STATE, None)
    child = os.fork()
    if child == 0:
        same = code_of(fast, "inverse_dynamics")(*STATE, None).tobytes() == expected.tobytes()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_missing_functions_are_no_address() -> None:
    code = native.Code(native.object_code("define void @f() { ret void }"))
    assert code.address("f")
    with pytest.raises(RuntimeError, match="no function g"):
        code.address("g")
