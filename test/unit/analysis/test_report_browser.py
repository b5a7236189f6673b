"""A report in a browser without a network: it draws, fits the window, and cuts no name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geared_dynamics.analysis.report import Curve, Panel, Report, ReportPlot

pytest.importorskip("plotly")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

NAMES = [f"shoulder_number_{k}_joint" for k in range(6)]
# Labels of the bars that the picture's edge cuts.
CUT = """() => { const edge = document.querySelector('#plot0 .main-svg').getBoundingClientRect();
  return [...document.querySelectorAll('#plot0 .xtick text')]
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1
      || box.bottom > edge.bottom + 1)
    .map(([name]) => name); }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a graphics card."""
    with playwright.sync_playwright() as engine:
        found = engine.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield found
        found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_names_below_bars_are_complete(
    width: int, scheme: str, browser: Any, tmp_path: Path
) -> None:
    report = Report("report", "The answer.", "of a test")
    bars = Curve("model", "model", NAMES, np.arange(6.0), "bars")
    report.plot(ReportPlot("Bars.", [Panel("RMS", "N m", [bars], from_zero=True)], height=220))
    report.table("Numbers", ("joint", "RMS [N m]"), [(name, "1.0") for name in NAMES])
    report.write(tmp_path / "report.html")
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    page, wrong, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{tmp_path}/report.html")
    page.wait_for_selector("html[data-drawn]", timeout=120_000)
    page.wait_for_selector("#plot0 .xtick text", timeout=120_000)
    shown = page.locator("#plot0 .xtick text").all_text_contents()
    assert shown == NAMES
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert wrong == []
    context.close()
