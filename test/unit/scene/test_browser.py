"""The pages in a browser without a network: turns of rotors, clicks, names as text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.scene.page import quiet_server, view
from plant_arms import example

pytest.importorskip("viser")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)
READY = "window.__viserMutable?.nodePoseData['/clock']?.position[0] >= 1"
# Frame and poses in one look: the page plays.
LOOK = """() => { const p = window.__viserMutable.nodePoseData;
  return [p['/clock'].position[0], Object.fromEntries(Object.entries(p)
    .filter(([n]) => /wheel_\\d+$/.test(n)).map(([n, x]) => [n, x.wxyz]))]; }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a graphics card."""
    options = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as engine:
        found = engine.chromium.launch(executable_path=CHROMIUM, args=options)
        yield found
        found.close()


def opened(browser: Any, address: str, *, offline: bool = True, width: int = 900) -> Any:
    """A page that reports what it asks the network for, and its errors."""
    size = {"width": width, "height": 700}
    page = browser.new_context(viewport=size, offline=offline).new_page()
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("dialog", lambda dialog: page.wrong.append(dialog.message))
    page.goto(address)
    return page


def turn(wxyz: list[float], seat: np.ndarray) -> float:
    """Angle about z of a wheel whose axes at angle 0 are given [rad]."""
    w, x, y, z = wxyz
    across = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)])
    return float(np.arctan2(seat[:, 1] @ across, seat[:, 0] @ across))


def test_the_offline_page_turns_its_rotors(browser: Any, tmp_path: Path) -> None:
    """At whatever frame it is: angle = ratio x joint, within a frame's digits."""
    model = example("planetary_2r")
    shown = view(model)
    shown.save(tmp_path / "arm.html")
    page = opened(browser, f"file://{tmp_path}/arm.html")
    page.wait_for_function(READY, timeout=60_000)
    frame, poses = page.evaluate(LOOK)
    angles = shown.pace * shown.motion.q[round(frame)] @ model.Gamma.T
    assert len(poses) == len(model.wheel_names)
    for r, body in enumerate(model.wheels.carrier):
        found = turn(poses[f"/body_{body}/wheel_{r}"], shown.shapes.rotation[r])
        assert np.cos(found - angles[r]) > 1.0 - 1e-6
    column = page.locator("#gd tr[tabindex]").all_inner_texts()
    assert len(column) == len(model.wheel_names)
    assert not any("-0 rpm" in row for row in column)  # slow ones: 0
    # A click on the arm, and one in the table.
    page.wait_for_selector("#gd tr[tabindex]")
    page.locator("#gd tr[tabindex]").nth(4).click()
    card = page.locator("#gd .chosen").inner_text()
    for words in ("-2 × joint_2", "0.01574 kg m²", "rpm", "N m", "20"):
        assert words in card
    name = next(name for name in page.evaluate(CLICKABLE) if "wheel_1/" in name)
    click = "name => window.__viserMutable.sendMessage({type: 'SceneNodeClickMessage', name})"
    page.evaluate(click, name)
    part = page.evaluate("document.body.dataset.wheel")
    assert part == "gearbox_1.planet_1"
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.wrong == []
    page.context.close()


# Where the centres of wheels stand in the picture: -1 to 1 from its left to its right edge.
ACROSS = """() => {
  const viewer = window.__viserMutable, camera = viewer.camera, found = [];
  camera.updateMatrixWorld();
  for (const [name, node] of Object.entries(viewer.nodeRefFromName ?? {}))
    if (/wheel_\\d+$/.test(name) && node) {
      node.updateWorldMatrix(true, false);
      const at = camera.position.clone().setFromMatrixPosition(node.matrixWorld);
      found.push(at.project(camera).x);
    }
  return found; }"""


def test_a_narrow_page_shows_all_of_the_arm(browser: Any, tmp_path: Path) -> None:
    model = example("planetary_2r")
    view(model).save(tmp_path / "arm.html")
    page = opened(browser, f"file://{tmp_path}/arm.html", width=420)
    page.wait_for_function(READY, timeout=60_000)
    page.wait_for_function("document.querySelectorAll('#gd tr').length > 0")
    across = page.evaluate(ACROSS)
    assert len(across) == len(model.wheel_names)
    assert np.abs(across).max() < 1.0
    page.context.close()


CLICKABLE = """Object.entries(window.__viserSceneTree.getState())
  .filter(([, node]) => node && node.clickBindings && node.clickBindings.length)
  .map(([name]) => name)"""


def test_sliders_of_the_live_page(browser: Any) -> None:
    """What is typed into a joint's slider turns the rotor by its ratio."""
    from geared_dynamics.scene.live import LivePage

    model = example("planetary_2r")
    with quiet_server(0) as server:
        live = LivePage(server, view(model))
        live._play.value = False
        page = opened(browser, f"http://127.0.0.1:{server.get_port()}", offline=False)
        field = page.locator(
            "xpath=//label[contains(., 'joint_2')]/following::input[not(@type='hidden')][1]"
        )
        field.wait_for(timeout=60_000)
        field.fill("25")
        field.press("Enter")
        for _ in range(600):
            live.step(0.02)
            poses = page.evaluate(
                "Object.fromEntries(Object.entries(window.__viserMutable.nodePoseData)"
                ".map(([n, x]) => [n, x.wxyz]))"
            )
            sun = poses.get("/body_0/wheel_4")
            q = np.array([slider.value for slider in live._joints])
            if sun and q[1] == 25.0:
                found = turn(sun, live.page.shapes.rotation[4])
                if abs(np.rad2deg(found) + 2.0 * 25.0) < 0.01:
                    break
            page.wait_for_timeout(20)
        else:
            pytest.fail(f"sliders at {q}, sun of joint 2 at {sun}")
        assert page.wrong == []
        page.context.close()


def test_names_are_shown_as_text(browser: Any, tmp_path: Path, odd_names: gd.GearedModel) -> None:
    view(odd_names).save(tmp_path / "arm.html")
    page = opened(browser, f"file://{tmp_path}/arm.html")
    page.wait_for_selector("#gd tr[tabindex]")
    assert page.locator("#gd h1").inner_text() == odd_names.name
    assert page.locator("#gd img, #gd b").count() == 0
    page.locator("#gd tr[tabindex]").first.click()
    assert odd_names.name in page.locator("#gd .chosen, #gd h2").first.inner_text()
    assert page.wrong == []
    page.context.close()
