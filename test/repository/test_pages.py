"""Every code block of README and docs runs as printed, and prints what the page shows."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
import yaml
from lxml import etree

import pages
from ros_harness import ros_environment
from ros_harness.domain import own_domain

HAS_ROS = importlib.util.find_spec("rclpy") is not None
PAGES = pages.page_names()
SHARE = 0.9  # of the blocks that run
LONG = {  # pages with a shell block of 20 s or more: these run in `make docs-full`
    "docs/demo.md", "docs/latency.md", "docs/tutorials/first_hours.md",
}  # fmt: skip
ANALYSIS = pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the pages name, made once."""
    folder = tmp_path_factory.mktemp("inputs")
    pages.make_inputs(folder)
    return folder


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page's own folder with these files, and the current one."""
    there = tmp_path / "page"
    shutil.copytree(inputs, there, symlinks=True)
    monkeypatch.chdir(there)
    return there


def has(page: str, language: str) -> bool:
    """Whether blocks of a page are run."""
    return any(block.language == language and not block.reason for block in pages.read(page))


@pytest.mark.parametrize("page", PAGES)
def test_blocks_say_what_they_are(page: str) -> None:
    for block in pages.read(page):
        assert block.language in pages.LANGUAGES, block.place
        assert block.reason in ("", *pages.REASONS), block.place


@pytest.mark.parametrize("page", [page for page in PAGES if has(page, "python")])
def test_python_runs(page: str, folder: Path) -> None:
    if "rclpy" in "".join(b.text for b in pages.read(page)) and not HAS_ROS:
        pytest.skip("rclpy is not installed (the extra 'ros', or a ROS 2 system)")
    if any("gd.to_casadi" in b.text for b in pages.read(page) if b.language == "python"):
        pytest.importorskip("casadi")
    names: dict[str, object] = {"__name__": page}
    for block, shown in pages.outputs(pages.read(page)):
        if block.language == "python" and not block.reason:
            printed = pages.run_python(block, names)
            assert not pages.differ(printed, shown or ""), block.place
            assert shown or not printed.strip(), (
                f"{block.place} prints what the page does not show"
            )


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.validate] * (page in LONG))
        for page in PAGES
        if has(page, "bash")
    ],
)
def test_shell_runs(page: str, folder: Path, tmp_path: Path) -> None:
    if "ros2 run" in "".join(b.text for b in pages.read(page)) and not HAS_ROS:
        pytest.skip("rclpy is not installed (the extra 'ros', or a ROS 2 system)")
    if any(b.language == "bash" and " view " in b.text and not b.reason for b in pages.read(page)):
        pytest.importorskip("viser", reason="needs geared_dynamics[view]")
    names: dict[str, object] = {"__name__": page}
    with own_domain() as domain:
        environment = ros_environment(domain, tmp_path / "log")
        for block, shown in pages.outputs(pages.read(page)):
            if block.language == "python" and not block.reason:
                pages.run_python(block, names)  # what it writes, the next block may read
            if block.language == "bash" and not block.reason:
                printed = pages.run_bash(block, folder, environment)
                assert not pages.differ(printed, shown or ""), block.place


@pytest.mark.parametrize("page", PAGES)
def test_data_can_be_read(page: str) -> None:
    for block in pages.read(page):
        if block.language == "yaml":
            assert yaml.safe_load(block.text), block.place
        elif block.language == "xml":
            etree.fromstring(block.text)


def test_nine_of_ten_blocks_run() -> None:
    blocks = [block for page in PAGES for block in pages.read(page) if block.language != "text"]
    left = [f"{block.place}: {block.reason}: {block.why}" for block in blocks if block.reason]
    assert len(left) <= (1 - SHARE) * len(blocks) + 1e-9, "\n".join(left)


BROKEN = """<!-- robot: the arm -->

```bash
exit 1
```

```python
print(2 * 0.5)
```

```text
1.01
```
"""


def test_a_broken_page_is_found(tmp_path: Path) -> None:
    """The negative control: an unknown language, an exception, an exit code, another output."""
    marked, code, shown = pages.blocks_of(BROKEN, "page.md")
    assert (marked.reason, marked.why, marked.line) == ("robot", "the arm", 3)
    with pytest.raises(AssertionError, match=r"page.md:3"):
        pages.run_bash(marked, tmp_path, {})
    assert pages.outputs([marked, code, shown]) == [(marked, None), (code, "1.01\n")]
    assert not pages.differ(pages.run_python(code, {}), shown.text)
    assert pages.differ(pages.run_python(code, {}), "1.1\n")
    assert pages.differ("one\ntwo\n", "one\nthree\n")
    assert not pages.differ("one\ntwo\nthree\n", "one\n...\nthree\n")
    with pytest.raises(NameError):
        pages.run_python(code._replace(text="missing"), {})
