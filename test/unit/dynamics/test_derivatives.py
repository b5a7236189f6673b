"""Arrays at the border of inverse_dynamics_time_derivatives, and arms with known answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd

URDF = Path(__file__).parents[3] / "urdf"
PATH = np.random.default_rng(0).normal(size=(4, 3))
BAD = PATH.copy()
BAD[3, 1] = np.nan


@pytest.fixture(scope="module")
def elbow() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


# Arguments derivatives, out; words in the error.
REFUSED = {
    "number": (1.0, None, ["derivatives", "()"]),
    "q alone": (PATH[0], None, ["derivatives", "(3,)", "(k+1, 3)"]),
    "no acceleration": (PATH[:2], None, ["derivatives", "(2, 3)", "q, v, a"]),
    "length": (PATH[:, :2], None, ["derivatives", "(4, 2)", "3"]),
    "transposed": (PATH.T, None, ["derivatives", "(3, 4)", "3"]),
    "states for rows": (np.zeros((172, 3)), None, ["derivatives", "(172, 3)", "171"]),
    "text": ("abc", None, ["derivatives", "real numbers"]),
    "ragged": ([[1, 2, 3], [1]], None, ["derivatives", "real numbers"]),
    "complex": (PATH * 1j, None, ["derivatives", "real numbers"]),
    "NaN": (BAD, None, ["derivatives[3, 1]", "nan", "finite"]),
    "NaN in a batch": (np.stack([PATH, BAD]), None, ["derivatives[1, 3, 1]", "nan"]),
    "infinity": (np.full((3, 3), np.inf), None, ["derivatives[0, 0]", "inf"]),
    "overflow": (PATH * 1e300, None, ["derivatives", "overflows"]),
    "out's shape": (PATH, np.empty((3, 3)), ["out", "(3, 3)", "(2, 3)"]),
    "out's states": (np.stack([PATH, PATH]), np.empty((2, 3)), ["out", "(2, 2, 3)"]),
    "out's type": (PATH, np.empty((2, 3), np.float32), ["out", "float32"]),
    "out's order": (PATH, np.empty((3, 2)).T, ["out", "contiguous"]),
    "out is a list": (PATH, [0, 0, 0], ["out", "list"]),
}


@pytest.mark.parametrize(("path", "out", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(elbow: gd.GearedModel, path, out, words: list[str]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.inverse_dynamics_time_derivatives(elbow, path, out=out)
    for word in words:
        assert word in str(caught.value)


def test_aliased_output_is_refused(elbow: gd.GearedModel) -> None:
    path = np.zeros((4, 3))
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with derivatives"):
        gd.inverse_dynamics_time_derivatives(elbow, path, out=path[:2])
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with derivatives"):
        gd.inverse_dynamics_time_derivatives(elbow, path[::-1], out=path[2:])
    gd.inverse_dynamics_time_derivatives(elbow, np.zeros((6, 3))[:4], out=np.zeros((6, 3))[4:])


def test_anything_like_an_array_is_taken(elbow: gd.GearedModel) -> None:
    expected = gd.inverse_dynamics_time_derivatives(elbow, PATH)
    assert expected.shape == (2, 3)
    frozen, wide = PATH.copy(), np.zeros((8, 6))
    frozen.setflags(write=False)
    wide[::2, ::2] = PATH
    unaligned = np.frombuffer(b"0" + PATH.tobytes(), np.uint8)[1:].view("f8").reshape(4, 3)
    odd = (PATH.tolist(), frozen, wide[::2, ::2], np.asfortranarray(PATH), PATH.astype(">f8"))
    for path in (*odd, unaligned, PATH[::-1].copy()[::-1]):
        np.testing.assert_array_equal(gd.inverse_dynamics_time_derivatives(elbow, path), expected)
        batch = gd.inverse_dynamics_time_derivatives(elbow, np.broadcast_to(path, (2, 1, 4, 3)))
        np.testing.assert_array_equal(batch, np.broadcast_to(expected, (2, 1, 2, 3)))
    whole = gd.inverse_dynamics_time_derivatives(elbow, np.ones((3, 3), int))
    np.testing.assert_array_equal(
        whole, gd.inverse_dynamics_time_derivatives(elbow, np.ones((3, 3)))
    )


def test_out_is_filled_and_returned(elbow: gd.GearedModel) -> None:
    for lead in ((), (2,), (2, 1)):
        path, out = np.broadcast_to(PATH, (*lead, 4, 3)), np.full((*lead, 2, 3), np.nan)
        assert gd.inverse_dynamics_time_derivatives(elbow, path, out=out) is out
        assert np.all(np.isfinite(out))
    assert gd.inverse_dynamics_time_derivatives(elbow, np.zeros((0, 5, 3))).shape == (0, 3, 3)


def test_the_longest_path(elbow: gd.GearedModel) -> None:
    """The largest order there is: at rest it is the weight and zeros."""
    still = np.zeros((171, 3))
    still[0] = PATH[0]
    found = gd.inverse_dynamics_time_derivatives(elbow, still)
    np.testing.assert_allclose(found[0], gd.gravity_forces(elbow, PATH[0]), rtol=1e-13)
    np.testing.assert_array_equal(found[1:], 0.0)


def test_pendulum() -> None:
    """One link on a horizontal axis: tau = (I + m c^2) a + m g c cos q, rates by hand."""
    mass, arm, inertia, g = 2.0, 0.5, 0.3, 9.81
    urdf = (
        '<robot name="p"><link name="base"/><link name="bob"><inertial>'
        f'<origin xyz="{arm} 0 0"/><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" '
        f'izz="{inertia}"/></inertial></link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="bob"/><axis xyz="0 -1 0"/></joint></robot>'
    )
    q, v, a, jerk, snap = path = np.array([0.3, 1.1, -0.7, 2.0, 5.0])
    found = gd.inverse_dynamics_time_derivatives(gd.load_model(urdf), path[:, None])[:, 0]
    whole, weight = inertia + mass * arm**2, mass * g * arm
    expected = [
        whole * a + weight * np.cos(q),
        whole * jerk - weight * np.sin(q) * v,
        whole * snap - weight * (np.cos(q) * v**2 + np.sin(q) * a),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
