"""Drivetrain file -> :class:`DrivetrainRecord`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geared_dynamics.description.drivetrain_check import check_drivetrain
from geared_dynamics.description.merge import merge
from geared_dynamics.description.records import DrivetrainRecord
from geared_dynamics.description.schema import check_schema
from geared_dynamics.description.sections.balancers import balancer
from geared_dynamics.description.sections.harmonic import harmonic
from geared_dynamics.description.sections.joints import joint
from geared_dynamics.description.sections.motors import motor
from geared_dynamics.description.sections.planetary import planetary
from geared_dynamics.description.sections.spins import meshes, spins
from geared_dynamics.description.sections.springs import shaft_spring
from geared_dynamics.description.sections.wheels import wheel
from geared_dynamics.description.source import Source
from geared_dynamics.description.yaml_input import read_data


def read_drivetrain(
    source: Source | Mapping[str, Any] | None,
    urdf: DrivetrainRecord | None = None,
) -> DrivetrainRecord:
    """Read a drivetrain file (``*.drivetrain.yaml``, version 1).

    Axes are normalised; ``transverse`` defaults to half of ``axial``, which is a
    flat disc. Names of links and joints are taken as they are: only the robot
    knows them. Meshes and sets are kept as they are written, unsolved.

    Args:
        source: A dict; YAML text as ``bytes`` or as a ``str`` that holds a line
            break or starts with ``{``; a path (any other ``str``, or a
            ``pathlib.Path``); or None for a robot without wheels.
        urdf: Drives that the robot's URDF gives; the file overrides them entry by
            entry.

    Returns:
        The checked drivetrain: the file's entries in file order, then the URDF's.

    Raises:
        DescriptionError: If the file cannot be read or says something impossible.
        UnknownNameError: For an unknown key, or a wheel that is not declared.
    """
    record = merge(_parse(source), urdf or DrivetrainRecord())
    check_drivetrain(record)
    return record


def _parse(source: Source | Mapping[str, Any] | None) -> DrivetrainRecord:
    if source is None:
        return DrivetrainRecord()
    data, place = read_data(source)
    check_schema(data, place)
    entries = data.get("spins", [])
    return DrivetrainRecord(
        source=place,
        wheels=tuple(wheel(name, item, place) for name, item in _items(data, "wheels")),
        spins=spins(entries),
        meshes=meshes(entries, place),
        planetary=tuple(planetary(name, item, place) for name, item in _items(data, "planetary")),
        harmonic=tuple(harmonic(name, item, place) for name, item in _items(data, "harmonic")),
        motors=tuple(motor(name, item, place) for name, item in _items(data, "motors")),
        joints=tuple(joint(name, item, place) for name, item in _items(data, "joints")),
        springs=tuple(shaft_spring(name, item) for name, item in _items(data, "springs")),
        balancers=tuple(balancer(name, item, place) for name, item in _items(data, "balancers")),
    )


def _items(data: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(data.get(key, {}).items())
