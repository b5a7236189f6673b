"""``gd.plot``: pictures of the numbers that the functions give, in the formats that exist."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.coupling_gap import coupling_gap
from geared_dynamics.analysis.crosscheck import cross_check
from geared_dynamics.analysis.report import table
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import robot_files

pytest.importorskip("matplotlib", reason="needs geared_dynamics[analysis]")

MODEL = gd.load_model(*robot_files("brisk6"))
T = np.linspace(0.0, 1.0, 30)
Q = 0.5 * np.sin(6.0 * T)[:, None] * np.ones(6)
V, A = 3.0 * np.cos(6.0 * T)[:, None] * np.ones(6), -36.0 * Q


def test_torques_are_the_functions() -> None:
    """Each line of each axis, and the measured one."""
    measured = 1.1 * gd.inverse_dynamics(MODEL, Q, V, A)
    drawing = gd.plot.torques(MODEL, T, Q, V, A, measured)
    wanted = {
        "measured": measured,
        "complete model": gd.inverse_dynamics(MODEL, Q, V, A),
        "armature model": gd.inverse_dynamics(MODEL.with_coupling("diagonal"), Q, V, A),
    }
    for j, ax in enumerate(drawing.figure.axes):
        lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
        assert lines.keys() == wanted.keys()
        for name, tau in wanted.items():
            np.testing.assert_array_equal(lines[name], tau[:, j])
    assert repr(drawing) == "<Plot 'Joint forces of brisk6'>"


def test_coupling_is_in_percent_of_the_torque() -> None:
    (ax,) = gd.plot.coupling(MODEL, states=400).figure.axes
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(3, 6)
    gap = coupling_gap(MODEL, states=400)
    total = np.array([joint.diagonal.percent for joint in gap.joints])
    assert np.all(heights.max(axis=0) <= 1.5 * total + 1e-9)
    assert np.all(heights.sum(axis=0) >= 0.99 * total), "the parts make up the whole"


def test_without_rotors_there_is_no_coupling() -> None:
    bare = gd.load_model(robot_files("brisk6").urdf)
    with pytest.raises(GearedDynamicsError, match="no rotor inertia is known; give a drivetrain"):
        gd.plot.coupling(bare)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_saved_files(ending: str, tmp_path: Path) -> None:
    path = gd.plot.coupling(MODEL, states=50).save(tmp_path / f"coupling.{ending}")
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[ending])


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(GearedDynamicsError, match=r"written as \.jpg; end the name in"):
        gd.plot.coupling(MODEL, states=50).save(tmp_path / "x.jpg")
    with pytest.raises(GearedDynamicsError, match=r"written as \.png"):
        gd.plot.gear_train(MODEL).save(tmp_path / "x.png")
    with pytest.raises(GearedDynamicsError, match="measured: has shape"):
        gd.plot.torques(MODEL, T, Q, V, A, Q[:, :5])
    with pytest.raises(GearedDynamicsError, match="t: has shape"):
        gd.plot.torques(MODEL, T[:-1], Q, V, A)
    with pytest.raises(GearedDynamicsError, match="t: "):
        gd.plot.torques(MODEL, [np.nan], Q, V, A)


def test_results_are_one_line_and_a_table() -> None:
    gap = coupling_gap(MODEL, states=20)
    assert repr(gap).count("\n") == 0
    assert len(repr(gap)) < 120
    assert gap._repr_html_().count("<tr>") == 7
    pytest.importorskip("pinocchio")
    result = cross_check(MODEL, states=2)
    assert result.verdict in repr(result)
    assert len(result.quantities) + 1 == result._repr_html_().count("<tr>")


def test_names_are_shown_as_text() -> None:
    text = table("<b>", ("<i>",), [("<script>", float("nan"), None)])
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert text.count("<td>–</td>") == 2


@pytest.mark.parametrize("name", ["$\\frac{a$", "$x^$", r"a\$b$", "j" * 5000, "a\u202eb\u009b"])
def test_names_are_no_formulas(name: str) -> None:
    """What a file calls its joints is drawn as it is; a long name by its beginning."""
    urdf = f"""<robot name="{name}"><link name="base"/><link name="arm"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="{name}" type="continuous"><parent link="base"/><child link="arm"/></joint>
      </robot>"""
    still = np.zeros((3, 2, 1))
    drawing = gd.plot.torques(gd.load_model(urdf), [0.0, 1.0], *still)
    label = drawing.figure.axes[0].get_ylabel()
    assert len(label) < 200
    assert "\u202e" not in label + drawing.figure.get_suptitle()
