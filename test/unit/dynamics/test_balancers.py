"""Springs: textbook cases, and postures at which they have no force."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.drive_records import LineElementRecord, TorsionSpringRecord
from geared_dynamics.model.model import GearedModel
from random_robots import random_robot
from random_springs import random_springs, with_springs

# A pendulum of 4 kg, 0.5 m; at q = 0 it hangs along -z. The mimic joint turns a second one
# -2 q + 0.3.
URDF = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="4"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="twin"/>
  <joint name="swing" type="continuous">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
  <joint name="echo" type="continuous">
    <parent link="base"/><child link="twin"/><axis xyz="0 1 0"/>
    <mimic joint="swing" multiplier="-2" offset="0.3"/></joint>
</robot>"""
ANCHORS = (("base", (0.0, 0.0, 0.4)), ("rod", (0.0, 0.0, -0.2)))
GAS = {"area": 1e-3, "pressure": 1e6, "volume": 2e-4, "length": 0.2}
# Anchors that meet at q = 0.5.
MEETING = (("base", (0.0, 0.0, -0.2)), ("rod", (0.2 * np.sin(0.5), 0.0, -0.2 * np.cos(0.5))))
EXACT = 1e-13  # rounding, relative to forces of some ten


@pytest.fixture(scope="module")
def pendulum() -> GearedModel:
    """The pendulum without springs."""
    return gd.load_model(URDF)


def line(kind: str, **numbers: Any) -> LineElementRecord:
    """A spring from above the pivot to the rod."""
    return LineElementRecord("strut", kind, **{"anchors": ANCHORS, **numbers})  # type: ignore[arg-type]


def test_spring_without_free_length_balances_everywhere(pendulum: GearedModel) -> None:
    """A weight of moment m g c is carried in every posture when k a b equals it."""
    stiffness = 4 * 9.81 * 0.5 / (0.4 * 0.2)
    model = with_springs(pendulum, line("coil", stiffness=stiffness))
    q = np.linspace(-4, 4, 41)[:, None]
    weight = gd.gravity_forces(model, q)
    np.testing.assert_allclose(gd.balancer_forces(model, q), weight, atol=EXACT * 40)
    whole = gd.potential_energy(model, q) + gd.balancer_energy(model, q)
    np.testing.assert_allclose(whole, whole[0], atol=EXACT * 100)
    one_percent = with_springs(pendulum, line("coil", stiffness=1.01 * stiffness))
    assert np.abs(gd.balancer_forces(one_percent, q) - weight).max() > 0.1


def test_spring_without_free_length_passes_through_no_length(pendulum: GearedModel) -> None:
    model = with_springs(pendulum, line("coil", stiffness=50.0, anchors=MEETING))
    q = np.array([[-1e-3], [0.0], [1e-3]]) + 0.5
    expected = -50.0 * 0.2**2 * np.sin(q - 0.5)
    np.testing.assert_allclose(gd.balancer_forces(model, q), expected, atol=EXACT)
    rate = gd.balancer_force_rates(model, q, [3.0])
    np.testing.assert_allclose(rate, -50.0 * 0.2**2 * 3.0 * np.cos(q - 0.5), atol=EXACT * 10)
    assert gd.balancer_energy(model, [0.5]) == pytest.approx(0.0, abs=EXACT)


def test_torsion_springs_add_up_on_a_mimic_joint(pendulum: GearedModel) -> None:
    springs = (
        TorsionSpringRecord("own", "swing", 3.0, rest=0.2, preload=1.0),
        TorsionSpringRecord("other", "echo", 5.0, rest=-0.4, preload=0.5),
    )
    model, q = with_springs(pendulum, *springs), np.array([0.7])
    own = 1.0 - 3.0 * (0.7 - 0.2)
    other = 0.5 - 5.0 * (-2 * 0.7 + 0.3 + 0.4)
    assert gd.balancer_forces(model, q)[0] == pytest.approx(own - 2 * other, rel=EXACT)
    stiffness = 3.0 + 5.0 * 4
    assert gd.balancer_force_rates(model, q, [2.0])[0] == pytest.approx(-2 * stiffness, rel=EXACT)


@pytest.mark.parametrize("exponent", [1.0, 1.0 + 1e-9, 1.4])
@pytest.mark.parametrize("pull", [True, False])
def test_gas_stores_the_work_done_on_it(
    pendulum: GearedModel, exponent: float, pull: bool
) -> None:
    """The integral of the force over the turn, at the end of a stroke that halves the gas."""
    model = with_springs(
        pendulum, line("gas", **{**GAS, "length": 0.6 - 0.4 * pull}, exponent=exponent, pull=pull)
    )
    nodes, weights = np.polynomial.legendre.leggauss(40)
    start, end = (np.pi, np.pi - 0.7) if pull else (0.1, 0.9)
    q = 0.5 * (end - start) * nodes + 0.5 * (end + start)
    work = 0.5 * (end - start) * weights @ gd.balancer_forces(model, q[:, None])[:, 0]
    energy = gd.balancer_energy(model, [[start], [end]])
    assert energy[0] - energy[1] == pytest.approx(work, rel=1e-12)
    assert abs(work) > 1.0


def test_no_springs_no_force(pendulum: GearedModel) -> None:
    q = np.ones((3, 1))
    np.testing.assert_array_equal(gd.balancer_forces(pendulum, q), np.zeros((3, 1)))
    np.testing.assert_array_equal(gd.balancer_energy(pendulum, q), np.zeros(3))
    assert gd.balancer_forces(pendulum, np.empty((0, 1))).shape == (0, 1)


def test_out_is_filled_and_returned() -> None:
    model = random_robot(3).load()
    model = with_springs(model, *random_springs(model, 3))
    q = np.full((2, 6), 0.3)
    out = np.empty((2, 6))
    assert gd.balancer_forces(model, q, out=out) is out
    np.testing.assert_array_equal(out[0], gd.balancer_forces(model, list(q[0])))
    with pytest.raises(gd.GearedDynamicsError, match="shares memory"):
        gd.balancer_forces(model, q, out=q)


def test_springs_survive_pickling_and_a_load() -> None:
    model = random_robot(3).load()
    model = with_springs(model, *random_springs(model, 3))
    force = gd.balancer_forces(model, np.full(6, 0.3))
    again = pickle.loads(pickle.dumps(model))
    assert again._forms.balancers is None
    np.testing.assert_array_equal(gd.balancer_forces(again, np.full(6, 0.3)), force)
    loaded = model.with_payload(2.0, link=model.body_names[-1]).with_coupling("none")
    np.testing.assert_array_equal(gd.balancer_forces(loaded, np.full(6, 0.3)), force)


BAD = {
    "pulled gas used up": (line("gas", **GAS, pull=True), [0.0], "strut: its gas has no volume"),
    "pushed gas used up": (
        line("gas", **{**GAS, "length": 0.5}, pull=False),
        [np.pi],
        "strut: its gas has no volume left at q;",
    ),
    "third of a batch": (line("gas", **GAS), [[3.1], [3.0], [0.1]], r"volume left at q\[2\];"),
    "first of two": (line("gas", **GAS), [[[3.1], [0.0]], [[0.0], [3]]], r"left at q\[0, 1\];"),
    "coil": (line("coil", stiffness=9.0, length=0.1, anchors=MEETING), [0.5], "anchors meet at q"),
    "gas": (line("gas", **GAS, anchors=MEETING), [0.5], "strut: its anchors meet at q; keep"),
    "constant": (line("constant", preload=1.0, anchors=MEETING), [0.5], "its anchors meet"),
    "not a number": (line("coil", stiffness=1.0), [np.nan], r"q\[0\]: is nan"),
    "wrong width": (line("coil", stiffness=1.0), [0.0, 1.0], r"q: has shape \(2,\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_no_force_is_an_error_that_names_the_spring(pendulum: GearedModel, name: str) -> None:
    spring, q, text = BAD[name]
    harmless = LineElementRecord("fine", "constant", (("base", (0.0, 0.0, 2.0)), ANCHORS[1]))
    model = with_springs(pendulum, harmless, spring)
    with pytest.raises(gd.GearedDynamicsError, match=text):
        gd.balancer_forces(model, q)
    with pytest.raises(gd.GearedDynamicsError, match=text):
        gd.balancer_force_rates(model, q, np.ones_like(q))
    if "meet" not in text:
        with pytest.raises(gd.GearedDynamicsError, match=text):
            gd.balancer_energy(model, q)


def test_energy_exists_where_anchors_meet(pendulum: GearedModel) -> None:
    coil = line("coil", stiffness=9.0, length=0.1, anchors=MEETING)
    energy = gd.balancer_energy(with_springs(pendulum, coil), [0.5])
    assert energy == pytest.approx(0.5 * 9.0 * 0.1**2)


def test_overflow_is_an_error(pendulum: GearedModel) -> None:
    model = with_springs(pendulum, TorsionSpringRecord("stiff", "swing", 1e10))
    for function in (gd.balancer_forces, gd.balancer_energy):
        with pytest.raises(gd.GearedDynamicsError, match="overflows"):
            function(model, [1e300])


def test_error_names_the_file(pendulum: GearedModel) -> None:
    model = with_springs(pendulum, line("gas", **GAS))
    drivetrain = replace(model.records.drivetrain, source="arm.yaml")
    model = replace(model, records=model.records._replace(drivetrain=drivetrain))
    with pytest.raises(gd.GearedDynamicsError, match=r"^arm\.yaml, balancers\.strut: "):
        gd.balancer_forces(model, [0.0])
