"""``--payload``, ``--load-link``: in which frame a load is given or found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from elbow_run import DRIVE, MODEL, ROBOT, TAU, URDF, A, Q, T, V
from geared_dynamics.apps.cli.main import main
from recorded_motions import JOINT_STATE, messages, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")

MOMENTS = ("m", "mcx", "mcy")
MASS, COM = 3.0, (0.1, 0.02, -0.05)
LOAD = ["--payload", str(MASS), *map(str, COM)]
PLACE = (
    "payload: 3 kg, centre of mass 0.1 0.02 -0.05 m in the frame of tip, at 0.4 0 0 m in link_3"
)


def loaded_bag(folder: Path, link: str, scale: float = 1.0) -> str:
    """A bag of the elbow with a load; its efforts are divided by ``scale``."""
    heavy = MODEL.with_payload(MASS, COM, link=link)
    extra = gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    tau = TAU + extra + 0.1 * np.random.default_rng(1).normal(size=TAU.shape)
    data = messages(MODEL.joint_names, T, Q, V, tau / scale)
    return str(write_sqlite(folder / f"on_{link}.db3", {"/joint_states": (JOINT_STATE, data)}))


def complete(text: str) -> float:
    """Largest residual of the complete model [%]."""
    table = text.partition("Measured less")[2].partition("RMS of each")[0]
    rows = [line.split() for line in table.splitlines() if line.strip().startswith("joint_")]
    return max(float(row[4]) for row in rows)


@pytest.mark.parametrize("link", ["tip", "link_3"])
def test_analyze_says_where_the_payload_is(
    link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = loaded_bag(tmp_path, link)
    residual = {}
    for words in ([], ["--payload-link", "link_3"], ["--payload-link", "tip"]):
        assert main(["analyze", bag, *ROBOT, *LOAD, *words]) == 0
        text = capsys.readouterr().out
        assert (PLACE in text) == (words != ["--payload-link", "link_3"])
        residual[words[-1] if words else ""] = complete(text)
    assert residual[""] == residual["tip"]
    other = {"tip": "link_3", "link_3": "tip"}[link]
    assert residual[link] < 0.8 * residual[other]


@pytest.fixture
def forked(tmp_path: Path) -> list[str]:
    """The elbow with a camera at its last link, as arguments."""
    text = Path(URDF).read_text("utf-8").replace(
        "</robot>",
        '<link name="camera"/><joint name="seat" type="fixed"><parent link="link_3"/>'
        '<child link="camera"/><origin xyz="0.1 0 0.2"/></joint></robot>',
    )  # fmt: skip
    path = tmp_path / "forked.urdf"
    path.write_text(text, encoding="utf-8")
    return ["--robot", str(path), "--drivetrain", DRIVE]


@pytest.mark.parametrize("command", ["analyze", "identify"])
def test_several_tips_are_refused_with_their_names(
    command: str, bag: str, forked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, bag, *forked, *LOAD]) == 2
    said = capsys.readouterr().err
    assert "--payload-link: is not given, and the arm has 2 tips: tip, camera; name" in said
    assert main([command, bag, *forked, "--payload-link", "camera"]) == 2
    assert "--payload-link: is given without --payload" in capsys.readouterr().err
    assert main(["analyze", bag, *forked, *LOAD, "--payload-link", "camera"]) == 0
    assert "in the frame of camera, at 0.1 0 0.2 m in link_3" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--load-link", "tip"], ["--load-link", "link_3"]])
def test_a_load_is_found_in_the_frame_of_a_fixed_link(
    words: list[str], bag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = loaded_bag(tmp_path, "tip")
    assert main(["identify", bag, *ROBOT, "--loaded", loaded, *words]) == 0
    text = capsys.readouterr().out
    link = words[-1] if words else "tip"
    assert ("in the frame of tip, at 0.4 0 0 m in link_3" in text) == (link == "tip")
    rows = [line.split() for line in text.partition("Load (SI)")[2].splitlines()]
    found = {row[0]: [float(x) for x in row[-2:]] for row in rows if row and row[0] in MOMENTS}
    lever = COM[0] + (0.4 if link == "link_3" else 0.0)
    for name, expected in zip(MOMENTS, (MASS, MASS * lever, MASS * COM[1]), strict=True):
        value, sigma = found[name]
        assert abs(value - expected) < 4.0 * sigma
        assert sigma < 0.03 * expected


def test_drive_gains_with_a_load_at_the_tip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = messages(MODEL.joint_names, T, Q, V, gd.motor_torques(MODEL, TAU))
    bag = str(write_sqlite(tmp_path / "empty.db3", {"/joint_states": (JOINT_STATE, empty)}))
    heavy = MODEL.with_payload(MASS, COM, link="tip")
    extra = gd.inverse_dynamics(heavy, Q, V, A) - gd.inverse_dynamics(MODEL, Q, V, A)
    full = messages(MODEL.joint_names, T, Q, V, gd.motor_torques(MODEL, TAU + extra))
    loaded = str(write_sqlite(tmp_path / "full.db3", {"/joint_states": (JOINT_STATE, full)}))
    words = ["identify", bag, *ROBOT, "--effort", "motor_torque", "--loaded", loaded,
             "--identify-drive-gains", "--known-load", str(MASS), *map(str, COM)]  # fmt: skip
    for link in ([], ["--load-link", "tip"]):
        assert main([*words, *link]) == 0
        text = capsys.readouterr().out.partition("Drive gains")[2]
        rows = [line.split() for line in text.splitlines()]
        gains = [float(row[1]) for row in rows if row and row[0] in MODEL.motor_names]
        np.testing.assert_allclose(gains, 1.0, atol=0.05)
    assert main([*words, "--load-link", "link_3"]) == 2  # control: no gains explain that
    assert "drive gains: motor_1 is not determined" in capsys.readouterr().err
