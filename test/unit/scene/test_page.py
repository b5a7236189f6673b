"""The page: its size, its numbers, names as text; the live one's sliders without a browser."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.errors import MissingPackageError
from geared_dynamics.scene.motion import ArmMotion, swing
from geared_dynamics.scene.page import ArmNodes, ArmPage, quaternions, view
from geared_dynamics.scene.shapes import shapes_of, wheel_angles
from plant_arms import example


def data_of(page: str) -> dict[str, object]:
    """What the page's script holds."""
    found = re.search(r"const data = (\{.*\});\n", page)
    assert found
    return dict(json.loads(found[1]))


def test_page_is_small_and_holds_its_numbers() -> None:
    pytest.importorskip("viser")
    model = example("planetary_2r")
    page = view(model)
    text = page.html()
    assert len(text.encode()) < 1_500_000
    data = data_of(text)
    np.testing.assert_allclose(data["joint"], page.motion.q, atol=1e-3)
    np.testing.assert_allclose(data["torque"], page.motion.joint_torque, atol=0.1)
    sun = data["wheels"][0]  # type: ignore[index]
    assert ["ratio", "-2 × joint_1"] in sun["facts"]
    assert ["teeth", "20"] in sun["facts"]
    assert ["inertia", "0.01574 kg m²"] in sun["facts"]
    assert sun["motor"] == 0


def test_names_are_text(odd_names: gd.GearedModel) -> None:
    pytest.importorskip("viser")
    page = view(odd_names)
    text = page.html()
    hostile = odd_names.name
    assert hostile not in text
    assert "<b>j" not in text
    assert text.count("<img src=x") == 0
    data = data_of(text)
    assert data["robot"] == hostile
    names = [wheel["name"] for wheel in data["wheels"]]  # type: ignore[attr-defined]
    assert names == [hostile, "two\nlines\\x1b[31m"]
    inline = page._repr_html_()
    assert inline.startswith('<iframe srcdoc="')
    assert inline.count('"') == 4


def test_live_texts_are_text(odd_names: gd.GearedModel) -> None:
    from geared_dynamics.scene.live import texts

    model = odd_names
    page = ArmPage(shapes_of(model), swing(model))
    shown = texts(page, 0, np.ones(2), np.ones(1), np.ones(1), "")
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "<b>j" not in shown


def test_torques_that_are_not_known_are_not_shown(odd_names: gd.GearedModel) -> None:
    pytest.importorskip("viser")
    model, q = odd_names, np.zeros((3, 1))
    blank = np.full((3, 1), np.nan)
    motion = ArmMotion("m", "not recorded", np.array([0.0, 0.1, 0.2]), q, q, blank, blank)
    data = data_of(view(model, motion).html())
    assert data["torque"][0] == [None]  # type: ignore[index]
    assert data["motor"][0] == [None]  # type: ignore[index]


def test_an_arm_without_wheels() -> None:
    pytest.importorskip("viser")
    page = view(gd.load_model(Path(example("elbow").source)))
    assert "give a drivetrain file" in page.html()


def test_sliders_turn_the_rotors() -> None:
    """Rotor angle = pace x ratio x slider, in every posture."""
    pytest.importorskip("viser")
    from geared_dynamics.scene.live import LivePage
    from geared_dynamics.scene.page import quiet_server

    model = example("tx40")
    with quiet_server(0) as server:
        live = LivePage(server, view(model, meshes=False))
        live.step(0.04)
        playing = live._nodes.wheels[0].wxyz.copy()
        live.step(0.4)
        assert np.abs(live._nodes.wheels[0].wxyz - playing).max() > 1e-3
        live._play.value, live._pace.value = False, "1"
        for slider, degrees in zip(live._joints, (30, -20, 45, 10, -5, 70), strict=True):
            slider.value = degrees
        live.step(0.04)
        q = np.deg2rad([30, -20, 45, 10, -5, 70])
        seats = live.page.shapes.rotation
        for r, angle in enumerate(wheel_angles(model, q)):
            turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0],
                             [0, 0, 1]])  # fmt: skip
            expected = quaternions((seats[r] @ turn)[None])[0]
            found = live._nodes.wheels[r].wxyz
            assert abs(expected @ found) == pytest.approx(1.0, abs=1e-9)
        live.chosen = 3
        live.step(0.04)
        assert "rotor_4" in live._text.content
        assert "at rest" in live._text.content


def test_nodes_hang_on_what_carries_them() -> None:
    """Surfaces of wheels below their wheel, the first one's too; those of links below the link."""
    shapes = shapes_of(example("planetary_2r"))
    made: dict[str, SimpleNamespace] = {}

    def add(name: str, *_: object, **options: object) -> SimpleNamespace:
        return made.setdefault(name, SimpleNamespace(name=name, options=options))

    server = SimpleNamespace(scene=SimpleNamespace(add_frame=add, add_mesh_simple=add))
    nodes = ArmNodes(server, shapes)
    frames = [f"/body_{b}" for b in range(-1, len(shapes.model.tree.names))]
    wheels = [f"/body_{body}/wheel_{r}" for r, body in enumerate(shapes.carrier)]
    parts = [
        f"{wheels[part.wheel] if part.wheel >= 0 else frames[part.body + 1]}/part_{k}"
        for k, part in enumerate(shapes.parts)
    ]
    assert [*made] == [*frames, *wheels, *parts]
    assert {part.wheel for part in shapes.parts} == {-1, *range(len(wheels))}
    moving = [(name, part.wheel) for name, part in zip(parts, shapes.parts, strict=True)]
    assert nodes.clickable == [(name, wheel) for name, wheel in moving if wheel >= 0]
    assert [(node.name, wheel) for node, wheel in nodes.wheel_parts] == nodes.clickable
    assert [node.name for node in nodes.links] == [name for name, wheel in moving if wheel < 0]
    for name, part in zip(parts, shapes.parts, strict=True):
        whole, options = part.opacity == 1.0, made[name].options
        assert options["side"] == ("front" if whole else "double")
        assert options["opacity"] == (None if whole else part.opacity)
        assert options["cast_shadow"] == whole
    assert not any(made[name].options["show_axes"] for name in [*frames, *wheels])


def test_quaternions_of_all_turns() -> None:
    random = np.random.default_rng(0)
    wanted = random.normal(size=(200, 4))
    wanted[:4] = np.eye(4)
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    w, x, y, z = wanted.T
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]  # fmt: skip
    found = quaternions(np.moveaxis(np.array(rows), -1, 0))
    np.testing.assert_allclose(np.abs(np.sum(found * wanted, axis=1)), 1.0, atol=1e-12)


def test_without_viser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingPackageError, match="pip install 'viser'"):
        view(example("elbow"))
    assert view(example("elbow"), drawn=True).motion.title.startswith("back and forth")
