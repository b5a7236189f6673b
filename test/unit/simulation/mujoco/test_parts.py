"""Links and wheels taken apart: together they are what they were."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from geared_dynamics.simulation.mujoco_bodies import blueprint
from geared_dynamics.simulation.mujoco_parts import (
    link_bodies,
    refuse_unphysical,
    require_inertia,
    wheel_bodies,
)
from plant_arms import URDF, example, tx40


@pytest.mark.parametrize("robot", ["brisk6", "elbow", "virtual_link_arm", "planetary_2r"])
def test_the_parts_add_up(robot: str) -> None:
    model = example(robot)
    wheels = wheel_bodies(model)
    total = link_bodies(model, wheels)
    for wheel in wheels:
        if wheel.carrier >= 0:
            total[wheel.carrier] += wheel.parameters
    np.testing.assert_allclose(total, model.tree.parameters, atol=1e-12)
    assert all(wheel.mass > 0.0 for wheel in wheels)


def test_wheels_are_drawn_as_cylinders_of_their_own_inertia() -> None:
    """The plan's shapes: m r^2 / 2 about the axis, m (3 r^2 + l^2) / 12 across; a spoke on it."""
    mujoco = pytest.importorskip("mujoco", reason="needs geared_dynamics[simulation]")
    drives = yaml.safe_load((URDF / "elbow.drivetrain.yaml").read_text("utf-8"))
    radius, half, mass = 0.08, 0.03, 1.3
    axial = 0.5 * mass * radius**2
    across = mass * (3.0 * radius**2 + (2.0 * half) ** 2) / 12.0
    drives["wheels"]["rotor_2"].update(mass=mass, inertia={"axial": axial, "transverse": across})
    plan = blueprint(gd.load_model(URDF / "elbow.urdf", drives), 1e-3)
    body = next(body for body in plan.spec.bodies if body.name == "rotor_2")
    kinds = mujoco.mjtGeom
    (disc,) = [geom for geom in body.geoms if geom.type == kinds.mjGEOM_CYLINDER]
    (spoke,) = [geom for geom in body.geoms if geom.type == kinds.mjGEOM_BOX]
    assert disc.size[0] == pytest.approx(radius)
    np.testing.assert_allclose(disc.fromto, [0.0, 0.0, -half, 0.0, 0.0, half], atol=1e-12)
    np.testing.assert_allclose(spoke.size, [0.92 * radius, 0.14 * radius, 1.06 * half])


def test_a_wheel_without_mass_takes_some_of_its_link() -> None:
    urdf, drives = tx40()
    for wheel in drives["wheels"].values():
        wheel.update(mass=0, included_in_link=True)
    model = gd.load_model(urdf, drives)
    wheels = wheel_bodies(model)
    rest = link_bodies(model, wheels)
    assert all(wheel.invented and wheel.mass > 0.0 for wheel in wheels)
    whole = model.tree.parameters[:, 0]
    assert np.all(rest[:, 0] <= whole)
    assert rest[:, 0].sum() < whole.sum()


def test_a_link_that_is_nothing_without_its_wheels_is_refused() -> None:
    drives = yaml.safe_load((URDF / "brisk6.drivetrain.yaml").read_text("utf-8"))
    drives["wheels"]["rotor_4"].update(included_in_link=True, mass=1.9, inertia={"axial": 1e-4})
    drives["wheels"]["rotor_4"]["position"] = [0, 0, -0.01]
    model = gd.load_model(URDF / "brisk6.urdf", drives)
    with pytest.raises(gd.GearedDynamicsError, match=r"link 'link_3'.*rotor_4.*has no mass"):
        link_bodies(model, wheel_bodies(model))


def test_a_wheel_without_inertia_is_refused() -> None:
    drives = yaml.safe_load((URDF / "brisk6.drivetrain.yaml").read_text("utf-8"))
    drives["wheels"]["idler"] = {
        "carrier": "link_1",
        "axis": [0, 0, 1],
        "mass": 0.1,
        "inertia": {"axial": 0},
    }
    drives["spins"].append({"wheel": "idler", "joint": "joint_1", "ratio": 2})
    model = gd.load_model(URDF / "brisk6.urdf", drives)
    with pytest.raises(
        gd.GearedDynamicsError, match=r"wheels.idler: has no axial inertia.*equations"
    ):
        wheel_bodies(model)


def test_a_weightless_wheel_on_a_weightless_carrier_is_refused() -> None:
    model = example("brisk6")
    require_inertia(model, 3, 1e-4, 1e-3)
    with pytest.raises(
        gd.GearedDynamicsError, match=r"wheels\..*: has no mass, and its carrier 'l"
    ):
        require_inertia(model, 3, 1e-4, 0.0)


@pytest.mark.parametrize(
    ("moments", "words"),
    [((1.0, 1.0, 2.1), "as a body of its own"), ((1.0, 1.0, 0.0), "all of them above zero")],
)
def test_a_link_that_is_no_body_is_refused(moments: tuple[float, ...], words: str) -> None:
    """One moment above the sum of the others; a rod without thickness."""
    model, rest = example("brisk6"), np.zeros(10)
    rest[[0, 4, 7, 9]] = 1.0, 1.0, 1.0, 1.9
    refuse_unphysical(model, "link_1", rest, [])
    rest[[4, 7, 9]] = moments
    with pytest.raises(gd.GearedDynamicsError, match=f"link 'link_1': .*{words}"):
        refuse_unphysical(model, "link_1", rest, [])
