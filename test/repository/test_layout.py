"""The tree itself: file sizes, nothing of one machine in it, commands that exist."""

from __future__ import annotations

import re
import statistics
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST, MEDIAN = 400, 150  # lines
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
    ours = [n for p, n in lines.items() if p.parts[0] == "geared_dynamics" and n]
    assert statistics.median(ours) <= MEDIAN


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
