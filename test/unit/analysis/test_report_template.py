"""The template of all reports: what is escaped, packed and drawn, in a real browser too."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from geared_dynamics.analysis.report import (
    LEVELS,
    Curve,
    Panel,
    Provenance,
    Report,
    ReportPlot,
    steps,
)

pytest.importorskip("plotly", reason="needs geared_dynamics[analysis]")

WICKED = "<script>alert(1)</script> $answer [red]&amp; \x1b[31m"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FRAME = """<!doctype html><html><body><iframe id="page" src="{page}" width="{width}" height="900">
</iframe><script>
"use strict";
const wait = setInterval(() => {{
  const page = document.getElementById("page").contentDocument.documentElement;
  if (!page || !page.dataset.drawn) return;
  clearInterval(wait);
  const data = document.body.dataset;
  data.drawn = page.dataset.drawn;
  data.wide = page.scrollWidth;
  data.plots = page.querySelectorAll(".plot > .plot-container").length;
  data.lines = page.querySelectorAll(".scatterlayer path.js-line").length;
  data.first = Math.round(page.querySelector(".plot").getBoundingClientRect().bottom);
  data.title = page.querySelector("h1").textContent;
}}, 50);
</script></body></html>"""


def made(provenance: Provenance | None = None) -> str:
    """A page with all kinds of parts."""
    report = Report("a title", f"The answer {WICKED}", f"from {WICKED}", "bad")
    x = np.linspace(0.0, 10.0, 200)
    y = np.where(x > 5.0, np.nan, np.sin(x))
    curves = [Curve(WICKED, "measured", x, y), Curve("model", "model", x, np.cos(x), "dots")]
    report.plot(ReportPlot("first", [Panel("joint_with_a_long_name", "N m", curves)], "time [s]"))
    bars = Curve("a", "model", ["one", WICKED], np.array([1.0, 2.0]), "bars")
    report.plot(ReportPlot("bars", [Panel("bars", "%", [bars])]))
    grid = Curve("g", "model", ["a", "b"], ["a", "b"], "grid", z=np.eye(2))
    report.plot(ReportPlot("grid", [Panel("", "", [grid])]))
    report.finding(WICKED, (WICKED,), red=True)
    wide = [[f"a_rather_long_name_of_a_joint.{k}", *("123456.789",) * 9] for k in range(3)]
    report.table(WICKED, ["name", *(f"head {k}" for k in range(9))], wide)
    return report.page(provenance)


def data_of(page: str, name: str) -> str:
    """What is packed in a page."""
    found = re.search(rf'<script id="{name}" type="text/plain">([^<]*)</script>', page)
    assert found is not None
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_texts_are_shown_as_text() -> None:
    page = made(Provenance("today", "1.0", WICKED, ((WICKED, 3, "f" * 64),)))
    own = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert "alert(1)" not in re.sub(r"&lt;script&gt;alert\(1\)", "", page.replace("<wbr>", ""))
    assert "&lt;script&gt;alert(1)" in own
    assert "$answer" in own
    assert "\x1b" not in page
    assert "<script>alert" not in data_of(page, "figures")
    assert page.index("The answer") < page.index('class="plot"')


def test_curves_come_back_to_a_level() -> None:
    values = np.random.default_rng(0).normal(size=500) * 1e-3 + 7.0
    values[[0, 20, 21, 499]] = np.nan
    packed = json.loads(json.dumps(steps(values)))
    unit = (packed["most"] - packed["least"]) / packed["levels"]
    total, back = 0, []
    for step in packed["steps"]:
        total += step or 0
        back.append(np.nan if step is None else packed["least"] + total * unit)
    np.testing.assert_allclose(back, values, atol=0.51 * unit)
    assert unit < 1.01 * np.ptp(values[1:20]) * 10 / LEVELS
    assert steps(np.array([np.nan]))["steps"] == [None]
    assert steps(np.array([2.0, 2.0]))["least"] == 2.0


def test_pages_are_small_and_ask_for_nothing() -> None:
    page = made()
    assert len(page) < 2_500_000
    assert "http" not in page
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:,)""", page)
    assert "Plotly" in data_of(page, "library")


def browser() -> str:
    """Path of a Chromium; skips where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    return found


@pytest.mark.parametrize("width", [1400, 420])
def test_in_a_browser(width: int, tmp_path: Path) -> None:
    """Unpacked and drawn without a network; no wider than the screen, a plot on the first one."""
    program = browser()
    (tmp_path / "page.html").write_text(made(), "utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(page="page.html", width=width), "utf-8")
    words = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1500,1000", "--virtual-time-budget=20000", "--dump-dom",
        (tmp_path / "frame.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', done.stdout))
    assert found.get("drawn") == "yes", done.stderr[-2000:]
    assert int(found["plots"]) == 3
    assert int(found["lines"]) == 2
    assert int(found["wide"]) <= width
    assert int(found["first"]) < 900
    assert found["title"].startswith("The answer &lt;script")
