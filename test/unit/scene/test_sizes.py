"""How large wheels and planetary sets are drawn: as they are, where that is known and seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geared_dynamics.scene.solids import ADDENDUM, STEEL, WIDEST, disc_of, gear_sets, gears_of
from plant_arms import example

SIZE = 1.0  # of the arm [m]


def moments(mass: float, radius: float, half: float) -> tuple[float, float]:
    """Of a full cylinder, about its axis and across."""
    return mass * radius**2 / 2.0, mass * (3.0 * radius**2 + 4.0 * half**2) / 12.0


@pytest.mark.parametrize(("radius", "half"), [(0.03, 0.02), (0.1, 0.07), (0.05, 0.0061)])
def test_a_cylinder_is_drawn_as_it_is(radius: float, half: float) -> None:
    disc = disc_of(2.5, *moments(2.5, radius, half), SIZE)
    np.testing.assert_allclose(disc, (radius, half))


@pytest.mark.parametrize("mass", [0.0, 3.0])
@pytest.mark.parametrize(("axial", "seen"), [(1e-12, (0.02, 0.006)), (1e5, (0.11, 0.08))])
def test_what_is_too_small_or_too_large_is_drawn_so_that_it_is_seen(
    mass: float, axial: float, seen: tuple[float, float]
) -> None:
    for size in (SIZE, 3.0):
        disc = disc_of(mass, axial, 100.0 * axial, size)
        np.testing.assert_allclose(disc, np.multiply(seen, size), rtol=1e-12)


def test_a_wheel_without_mass_is_a_steel_disc_half_as_thick_as_its_radius() -> None:
    radius = 0.06
    mass = STEEL * np.pi * radius**2 * radius / 2.0
    axial, transverse = moments(mass, radius, radius / 4.0)
    for disc in (disc_of(0.0, axial, 0.0, SIZE), disc_of(mass, axial, transverse, SIZE)):
        np.testing.assert_allclose(disc, (radius, radius / 4.0))


def test_a_thin_wheel_is_never_thinner_than_nothing() -> None:
    assert disc_of(1.0, 2e-3, 1e-4, SIZE).half == pytest.approx(0.006)


@pytest.mark.parametrize("radius", [0.0, 0.021])
def test_a_set_has_the_radius_of_its_file_or_one_that_fits_the_arm(radius: float) -> None:
    model = example("planetary_2r")
    record = replace(model.records.drivetrain.planetary[0], radius=radius)
    gears = gears_of(record, "no wheel", "ring", model, 2.0)
    assert gears.known == bool(radius)
    assert gears.sun is None
    module = 2.0 * gears.radius / (gears.teeth[0] + gears.teeth[1])
    outside = gears.pitch(gears.teeth[2]) + (ADDENDUM + 3.0) * module
    if radius:
        assert gears.radius == radius
    else:
        assert outside == pytest.approx(2.0 * WIDEST)
    assert gears.pitch(gears.teeth[0]) + gears.pitch(gears.teeth[1]) == pytest.approx(gears.radius)
    assert gear_sets(model, 2.0)[0].teeth == gears.teeth
