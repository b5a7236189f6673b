"""The YAML in the pages about the drivetrain file is what the reader takes."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description.drivetrain_reader import check_schema, drivetrain_schema
from geared_dynamics.description.yaml_files import read_data

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("drivetrain", "motors", "elastic")

LINK = (
    '<link name="link_{i}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>'
    '<joint name="joint_{i}" type="continuous"><parent link="{parent}"/><child link="link_{i}"/>'
    '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>'
)
PARENTS = {1: "base", 2: "link_1", 3: "link_2"}
LINKS = "".join(LINK.format(i=i, parent=parent) for i, parent in PARENTS.items())
ROBOT = f'<robot name="arm"><link name="base"/>{LINKS}</robot>'
WHEEL = {"carrier": "link_1", "axis": [0, 0, 1], "mass": 0.5, "inertia": {"axial": 1e-4}}


def blocks(page: str) -> list[str]:
    """The YAML blocks of a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_keeps_to_the_schema(page: str) -> None:
    assert blocks(page)
    for block in blocks(page):
        data, _ = read_data(block)
        check_schema({"version": 1, **data}, page)


def motors_page() -> dict[str, Any]:
    """All blocks of the page about motors as one drivetrain, with the wheel that it names."""
    data: dict[str, Any] = {
        "version": 1,
        "wheels": {"rotor_2": WHEEL},
        "spins": [{"wheel": "rotor_2", "joint": "joint_2", "ratio": 100}],
    }
    for block in blocks("motors"):
        section, _ = read_data(block)
        assert not data.keys() & section.keys()
        data |= section
    return data


def test_the_page_about_motors_makes_a_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = gd.load_model(ROBOT, motors_page(), strict=True)
    assert model.motors.limits.tolist() == [[48.0, 15.0, 0.9, 500.0]]
    assert model.motors.efficiency.tolist() == [[0.85, 0.7]]
    assert model.motors.friction.coulomb.tolist() == [[0.01, 0.012]]
    assert model.joint_friction.static.tolist() == [[1.6, 1.8]]
    assert model.joint_friction.ripple.tolist() == [[0, 7, 0.003, 0.2]]
    assert set(model.balancers.names) == {"counterweight", "coil", "cord", "torsion"}


def test_the_page_about_elastic_joints_makes_a_model() -> None:
    (block,) = blocks("elastic")
    data, _ = read_data(block)
    model = gd.load_model(ROBOT, {"version": 1, **data})
    assert model.elasticity.names == ("joint_2.theta", "joint_3.theta", "belt_3.theta")
    assert model.elasticity.passive.tolist() == [0]
    assert gd.elastic.mass_matrix(model, [0, 0, 0]).shape == (6, 6)


def keys(node: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """All keys that a definition of the schema, and what it refers to, can hold."""
    found = set()
    if "$ref" in node:
        found |= keys(schema["$defs"][node["$ref"].rpartition("/")[2]], schema)
    for key, value in node.get("properties", {}).items():
        found |= {key} | keys(value, schema)
    if isinstance(node.get("items"), dict):
        found |= keys(node["items"], schema)
    return found


@pytest.mark.parametrize("entry", ["motor", "joint", "balancer", "shaft_spring"])
def test_the_pages_name_every_key(entry: str) -> None:
    schema = drivetrain_schema()
    text = "".join((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in PAGES)
    missing = [
        key for key in keys(schema["$defs"][entry], schema) if not re.search(rf"\b{key}\b", text)
    ]
    assert missing == []


def test_the_table_of_data_sheets_makes_consistent_motors() -> None:
    """Power sqrt(3) U_rms I_rms = k_rms I_rms s between the terminals: k_t = 3/2 k_e here."""
    per_rms_current = 0.7  # [N m/A rms]
    terminals = per_rms_current / np.sqrt(3.0)  # [V rms s/rad] of a motor without losses
    motor = {
        "wheel": "rotor_2",
        "kind": "brushless",
        "torque_constant": per_rms_current / np.sqrt(2.0),
        "back_emf_constant": terminals * np.sqrt(2.0) / np.sqrt(3.0),
    }
    data = motors_page() | {"motors": {"m": motor}}
    model = gd.load_model(ROBOT, data, strict=True)
    ratio = model.motors.torque_constant / model.motors.back_emf_constant
    np.testing.assert_allclose(ratio, 1.5, rtol=1e-12)
