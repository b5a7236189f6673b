"""The pages of the site: each is in a table of contents, and every link leads somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(p for p in sorted(DOCS.rglob("*.md")) if not p.relative_to(DOCS).parts[0].startswith("_")),
]
LINK = re.compile(r"!?\[[^\]\[]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    words = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of a page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def dead(text: str, page: Path) -> list[str]:
    """Links of a page that lead nowhere in the repository; the network is not asked."""
    found = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert dead(page.read_text(encoding="utf-8"), page) == []


def test_a_dead_link_is_found() -> None:
    text = "[a](nodes.md) [b](nodes.md#nothing) [c](missing.md) [d](nodes.md#fault-handling)"
    assert dead(text, DOCS / "index.md") == ["nodes.md#nothing", "missing.md"]


def test_each_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(?:[\w ]+<)?([\w/]+)>?$", index, re.MULTILINE))
    pages = {str(p.relative_to(DOCS).with_suffix("")) for p in PAGES if p.is_relative_to(DOCS)}
    assert {name for name in listed if not name.startswith("_generated/")} == pages - {"index"}


def external() -> set[str]:
    """Addresses outside of the repository."""
    texts = [FENCE.sub("", page.read_text(encoding="utf-8")) for page in PAGES]
    return {address for text in texts for address in re.findall(r"\]\((https?:[^)\s]+)\)", text)}


def test_external_links_are_listed() -> None:
    """They are read by people, not by tests: a new one is entered in docs/external_links.txt."""
    listed = (DOCS / "external_links.txt").read_text(encoding="utf-8").split()
    assert sorted(external()) == listed


def test_what_a_page_loads_from_the_network_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """``make docs`` refuses such a page; links that a reader may follow are none of them."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS))
    from site_check import loads

    monkeypatch.delitem(sys.modules, "site_check")
    fetched = ["https://a.b/c.js", "//a.b/d.css", "http://a.b/e.png", "https://a.b/f.woff"]
    script, sheet, image, font = fetched
    page = f'<script async src="{script}"></script><link rel=x href={sheet}><img src="{image}">'
    assert loads(f"{page}<style>@font-face {{src: url({font})}}</style>") == fetched
    assert loads('<a href="https://a.b">a</a><img src="g.png"><script src="h.js"></script>') == []
