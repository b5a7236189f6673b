"""The tree itself: file sizes, nothing of one machine in it, commands that exist."""

from __future__ import annotations

import importlib
import re
import runpy
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 400  # lines
SMALL, FEW = 60, 0.1  # code lines of a small file, and the share of them
MEDIAN = (90, 220)  # code lines
LOADING = 28  # files that a call of load_model goes through
CLOSED = 0.18  # share of the modules with one importer, formats and entry points aside
TEXT = {".py", ".md", ".rst", ".toml", ".cfg", ".xml", ".yaml", ".yml", ".urdf", ".json", ".txt"}
TEXT |= {".sh", ".pkg", ""}
# Written in pieces, so that this file does not contain what it looks for.
MACHINE_PATHS = [f"/{folder}/" for folder in ("tmp", "home", "root", "work", "Users", "mnt")]
REGISTRIES = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"))]
# Words in which one of the paths is a part of a longer, harmless one.
URL = re.compile(r"https?://\S+")


def tracked() -> list[Path]:
    """Return the files that git tracks or would track, or skip outside a clone."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip("not a git clone")
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return [file for file in files if file.is_file()]


def texts() -> list[tuple[Path, str]]:
    """Return the text files with their content; LICENSE is not ours to judge."""
    files = [f for f in tracked() if f.suffix in TEXT and f.name != "LICENSE"]
    return [(file.relative_to(ROOT), file.read_text(encoding="utf-8")) for file in files]


def test_files_are_short() -> None:
    lines = {p: len(text.splitlines()) for p, text in texts() if p.suffix == ".py"}
    assert {str(p): n for p, n in lines.items() if n > LONGEST} == {}


def test_the_house_is_not_cut_too_finely_and_says_each_name_once() -> None:
    sys.path.insert(0, str(ROOT / "tools" / "house"))
    try:
        house = importlib.import_module("tree").House(ROOT)
        is_door = runpy.run_path(str(ROOT / "tools" / "house" / "__main__.py"))["is_door"]
    finally:
        sys.path.remove(str(ROOT / "tools" / "house"))
        sys.modules.pop("tree", None)
    files = [m for m in house.modules.values() if not m.is_package]
    sizes = [len(m.code) for m in files if not m.name.endswith("layout")]  # tables of offsets
    assert sum(n < SMALL for n in sizes) <= FEW * len(sizes)
    assert MEDIAN[0] <= statistics.median(sizes) <= MEDIAN[1]
    closed = [name for name in house.lonely() if not is_door(name)]
    assert len(closed) <= CLOSED * sum(not is_door(name) for name in house.importers), closed
    assert house.classes_twice() == {}
    assert house.files_often() == {}


def test_a_model_is_loaded_on_a_short_way() -> None:
    """Readers of what the robot does not have are not on it."""
    sys.path.insert(0, str(ROOT / "tools" / "house"))
    try:
        walks = importlib.import_module("walks")
    finally:
        sys.path.remove(str(ROOT / "tools" / "house"))
        sys.modules.pop("walks", None)
    walks.load()
    assert walks.walked("load_model", walks.load).files <= LOADING


def test_no_machine_paths() -> None:
    found = [
        f"{path}: {word}"
        for path, text in texts()
        for word in MACHINE_PATHS
        if re.search(rf"(?<![\w.\]}}]){re.escape(word)}", URL.sub("", text))
    ]
    assert found == []


def test_no_package_registry_by_address() -> None:
    assert [f"{p}: {host}" for p, text in texts() for host in REGISTRIES if host in text] == []


def test_white_space_is_clean() -> None:
    wrong = [str(p) for p, text in texts() if re.search(r"[ \t]+$|\r", text, re.MULTILINE)]
    wrong += [str(p) for p, text in texts() if text and not text.endswith("\n")]
    assert wrong == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_documented_make_targets_exist(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]\w*):", makefile, re.MULTILINE))
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = " ".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    named = set(re.findall(r"(?:^|[\s`;&])make ([a-z]\w*)", quoted))
    assert named, f"{page} names no make target"
    assert named <= targets


def test_the_table_of_tests_is_complete() -> None:
    """CONTRIBUTING names the test files of each source, and leaves none out."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("### Which tests belong to a file")[1].split("\n## ")[0]
    named = set(re.findall(r"\btest_\w+", table))
    files = {p.stem: p for p, _ in texts() if p.parts[0] == "test" and p.name.startswith("test_")}
    assert named <= set(files)
    folders = ("property", "crosscheck", "golden")
    assert {stem for stem, path in files.items() if path.parts[1] in folders} <= named


def test_the_files_that_the_architecture_names_exist() -> None:
    """A file in ARCHITECTURE is found by its name, in the folder that is written before it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[`/ ]([\w./-]+\.(?:py|json|md|toml))(?=[`(])", text))
    there = [f"/{path.as_posix()}" for path, _ in texts()]
    assert len(named) > 50
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in there)] == []


def test_internal_links_lead_somewhere() -> None:
    """Relative links in the Markdown pages point at files that exist."""
    broken = [
        f"{path}: {target}"
        for path, text in texts()
        if path.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
        if "://" not in target and not (ROOT / path.parent / target).exists()
    ]
    assert broken == []
