"""Every code block of README and docs runs as printed, and prints what the page shows."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

import pages
from ros_harness import ros_environment
from ros_harness.domain import own_domain
from ros_harness.processes import watch_the_clock

HAS_ROS = importlib.util.find_spec("rclpy") is not None
PAGES = pages.page_names()
SHARE = 0.9  # of the blocks that run
LONG = {  # pages whose shell blocks take 6 s of processor time or more: run in `make docs-full`
    "docs/analysis.md", "docs/demo.md", "docs/identification.md", "docs/latency.md",
    "docs/observer_node.md", "docs/tutorials/first_hours.md", "docs/tutorials/recording.md",
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
    text = "".join(b.text for b in pages.read(page) if b.language == "python")
    for word, package in (("gd.to_casadi", "casadi"), ('engine="mujoco"', "mujoco")):
        if word in text:
            pytest.importorskip(package)
    names: dict[str, object] = {"__name__": page}
    for block, shown in pages.outputs(pages.read(page)):
        if block.language == "python" and not block.reason:
            printed = pages.run_python(block, names)
            assert not pages.differ(printed, shown or ""), block.place
            assert shown or not printed.strip(), (
                f"{block.place} prints what the page does not show"
            )


def shells(nodes: bool) -> list[Any]:
    """The pages with shell blocks that are run, those that start nodes or the others."""
    return [
        pytest.param(page, marks=[pytest.mark.validate] * (page in LONG))
        for page in PAGES
        if has(page, "bash") and nodes == any("ros2 " in b.text for b in runnable(page))
    ]


def runnable(page: str) -> list[pages.Block]:
    """The shell blocks of a page that are run."""
    return [b for b in pages.read(page) if b.language == "bash" and not b.reason]


def type_blocks(page: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the blocks of a page in their order and compare what the shell prints."""
    names: dict[str, object] = {"__name__": page}
    for block, shown in pages.outputs(pages.read(page)):
        if block.language == "python" and not block.reason:
            pages.run_python(block, names)  # what it writes, the next block may read
        if block.language == "bash" and not block.reason:
            printed = pages.run_bash(block, folder, environment)
            assert not pages.differ(printed, shown or ""), block.place


@pytest.mark.parametrize("page", shells(nodes=False))
def test_shell_runs(page: str, folder: Path) -> None:
    if any(" view " in block.text for block in runnable(page)):
        pytest.importorskip("viser", reason="needs geared_dynamics[view]")
    type_blocks(page, folder, {})


@pytest.fixture
def ros_domain() -> Iterator[int]:
    """A ROS domain of a page's own, for nodes that run when something is due.

    By this name a test between processes gets its second try (``conftest.py``).
    """
    with own_domain() as domain:
        watch_the_clock()
        yield domain
        watch_the_clock(False)


@pytest.mark.skipif(not HAS_ROS, reason="rclpy is not installed (the extra 'ros', or ROS 2)")
@pytest.mark.parametrize("page", shells(nodes=True))
def test_nodes_run(page: str, folder: Path, ros_domain: int, tmp_path: Path) -> None:
    type_blocks(page, folder, ros_environment(ros_domain, tmp_path / "log"))


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
