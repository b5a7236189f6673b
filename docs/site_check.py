"""A page of the site that would load something from the network is an error of its build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.errors import SphinxError

LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source|object)\b[^>]*?\b(?:src|srcset|href|data)\s*=\s*["']?"""
    r"""((?:https?:)?//[^"'\s>]+)|(?:\burl\(|@import\s)\s*["']?((?:https?:)?//[^"')\s]+)""",
    re.IGNORECASE,
)


def loads(text: str) -> list[str]:
    """Return the addresses that a browser would fetch to show a page or a style sheet."""
    return [first or second for first, second in LOADED.findall(text)]


def check(app: Any, failure: Exception | None) -> None:
    """Refuse a finished site of which a page would be fetched in part."""
    folder = Path(app.outdir)
    for path in [*folder.rglob("*.html"), *folder.rglob("*.css")]:
        if failure is None and (found := loads(path.read_text(encoding="utf-8"))):
            raise SphinxError(f"{path.relative_to(folder)} loads {found[0]}: bring it along")
