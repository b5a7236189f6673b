"""A robot together with the drives that its URDF states."""

from __future__ import annotations

from dataclasses import replace

from geared_dynamics.description.dialects import UrdfDrives, read_drives
from geared_dynamics.description.records import RobotRecord
from geared_dynamics.description.source import Source
from geared_dynamics.description.urdf import robot_of
from geared_dynamics.description.urdf_loops import loop_notes
from geared_dynamics.description.urdf_typos import typo_notes
from geared_dynamics.description.xml_input import read_xml


def read_robot(source: Source, srdf: Source | None = None) -> tuple[RobotRecord, UrdfDrives]:
    """Read a robot and the drives that its URDF states, the file opened once.

    The drives' notes begin with what a tree cannot hold and the URDF's misspelt names.

    Args:
        source: The URDF, as in ``read_urdf``.
        srdf: An SRDF with Pinocchio's ``<rotor_params>``: a path or its text.

    Raises:
        DescriptionError: If a file cannot be read or says something impossible.
        UnknownNameError: If it names a link, joint or role that is not there.
    """
    root, place = read_xml(source)
    robot = robot_of(root, place)
    drives = read_drives(root, robot, None if srdf is None else read_xml(srdf, "SRDF"))
    notes = loop_notes(root, place) + typo_notes(root, place)
    return robot, replace(drives, notes=notes + drives.notes)


def read_urdf_drives(source: Source, srdf: Source | None = None) -> UrdfDrives:
    """Read what a URDF, and an SRDF, say of the drives; see :func:`read_robot`."""
    return read_robot(source, srdf)[1]
