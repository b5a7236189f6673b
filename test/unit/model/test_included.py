"""What remains of a link without the wheels that it contains must be a body."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import geared_dynamics as gd

ROOT = '<link name="base"/>'
JOINT = (
    '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
    '<axis xyz="0 0 1"/></joint>'
)
SOLID = (2.0, 1.0, 1.0, 1.0)  # mass [kg], ixx, iyy, izz [kg m^2]


def link(name: str, mass: float, *moments: float) -> str:
    """XML of a link."""
    inertia = " ".join(f'{k}="{m}"' for k, m in zip(("ixx", "iyy", "izz"), moments, strict=True))
    body = f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>'
    return f'<link name="{name}">{body}</link>'


def urdf(*body: float, extra: str = "") -> str:
    """XML of an arm of two links, the first of which is given by mass and moments."""
    parts = [ROOT, link("one", *body), link("two", *SOLID), extra]
    parts += [JOINT.format("j1", "base", "one"), JOINT.format("j2", "one", "two")]
    return f'<robot name="arm">{"".join(parts)}</robot>'


def wheel(axial: float, mass: float = 0.0, carrier: str = "one", **others: Any) -> dict[str, Any]:
    """Entry of a wheel that its carrier contains."""
    return {
        "carrier": carrier,
        "axis": [0, 0, 1],
        "mass": mass,
        "inertia": {"axial": axial},
        "included_in_link": True,
        **others,
    }


def drives(**wheels: dict[str, Any]) -> dict[str, Any]:
    """Drivetrain of some wheels that follow joint 2."""
    spins = [{"wheel": name, "joint": "j2", "ratio": 10} for name in wheels]
    return {"version": 1, "wheels": wheels, "spins": spins}


IMPOSSIBLE = {
    "heavier": (SOLID, {"rotor": wheel(1e-3, 3.0)}, ["negative mass, -1 kg"]),
    "heavier together": (
        SOLID,
        {"a": wheel(1e-3, 1.5), "b": wheel(1e-3, 1.0)},
        ["wheels.a.", "wheels 'a', 'b'", "negative mass, -0.5 kg"],
    ),
    "more inertia": (SOLID, {"rotor": wheel(5.0, 0.5)}, ["negative principal moment", "-4 kg"]),
    "more inertia, mass unknown": (SOLID, {"rotor": wheel(1.01)}, ["moment", "-0.01 kg"]),
    "too far out": (
        SOLID,
        {"rotor": wheel(1e-3, 0.5, position=[3, 0, 0])},
        ["negative principal moment"],
    ),
    "mass in a massless link": (
        (0.0, 0.0, 0.0, 0.0),
        {"rotor": wheel(1e-3, 0.1)},
        ["negative mass, -0.1 kg"],
    ),
    "inertia beyond what a massless link states": (
        (0.0, 0.0, 0.0, 0.35),
        {"rotor": wheel(0.4)},
        ["negative principal moment", "-0.05 kg"],
    ),
}


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize(("body", "wheels", "words"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_more_than_its_link_is_refused(
    body: tuple[float, ...], wheels: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(urdf(*body), drives(**wheels))
    for word in [*words, "'one'", *wheels, "<drivetrain dict>, wheels.", "included_in_link"]:
        assert word in str(caught.value)


DOUBTFUL = {
    "triangle": (wheel(0.1, 0.5, inertia={"axial": 0.1, "transverse": 0.6}), "triangle"),
    "nothing but inertia": (wheel(0.5, 2.0), "inertia without mass"),
}


@pytest.mark.parametrize(("rotor", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_remainder_warns_and_is_refused_when_strict(
    rotor: dict[str, Any], words: str
) -> None:
    with pytest.warns(gd.GearedDynamicsWarning, match=rf"wheels\.rotor.*'one'.*{words}"):
        model = gd.load_model(urdf(*SOLID), drives(rotor=rotor))
    assert words in model.notes[0]
    with pytest.raises(gd.GearedDynamicsError, match=words):
        gd.load_model(urdf(*SOLID), drives(rotor=rotor), strict=True)


FINE = {
    "small": (SOLID, wheel(0.2, 0.5)),
    "the link itself": (SOLID, wheel(1.0, 2.0, inertia={"axial": 1.0, "transverse": 1.0})),
    "massless, in a massless link": ((0.0, 0.0, 0.0, 0.0), wheel(1e-4)),
    "in the root": (SOLID, wheel(1e3, 1e3, carrier="base")),
    "not included": (SOLID, wheel(5.0, 5.0, included_in_link=False)),
}


@pytest.mark.parametrize(("body", "rotor"), FINE.values(), ids=FINE)
def test_what_can_be_is_not_doubted(body: tuple[float, ...], rotor: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gd.load_model(urdf(*body), drives(rotor=rotor), strict=True).notes == ()


def test_massless_link_is_judged_only_where_it_states_inertia() -> None:
    """As puma560.urdf: izz is all that acts; the rotor lies across."""
    across = wheel(2e-4, axis=[1, 0, 0])
    with pytest.warns(gd.GearedDynamicsWarning) as caught:
        model = gd.load_model(urdf(0.0, 0.0, 0.0, 0.35), drives(rotor=across))
    assert [str(item.message) for item in caught] == list(model.notes)
    assert len(model.notes) == 1
    assert "'one'/inertial: with what is fixed to it, has inertia without mass" in model.notes[0]


def test_what_is_fixed_to_the_link_counts() -> None:
    """A wheel in a housing that is heavier with the link it is fixed to than alone."""
    housing = link("housing", 0.1, 0.1, 0.1, 0.1)
    fixed = '<joint name="f" type="fixed"><parent link="one"/><child link="housing"/></joint>'
    robot = urdf(*SOLID, extra=housing + fixed)
    rotor = wheel(0.2, 0.5, carrier="housing")
    assert gd.load_model(robot, drives(rotor=rotor)).notes == ()
    with pytest.raises(gd.GearedDynamicsError, match=r"'one' \(with what is fixed to it\).*-0\.9"):
        gd.load_model(robot, drives(rotor=wheel(0.2, 3.0, carrier="housing")))
