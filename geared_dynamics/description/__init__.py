"""From files to frozen records: URDF, drivetrain files and parameter tables."""

from geared_dynamics.description.denavit_hartenberg import DHRow, in_carrier_frame, robot_from_dh
from geared_dynamics.description.drivetrain_reader import drivetrain_schema, read_drivetrain
from geared_dynamics.description.robot_tree import freeze, movable
from geared_dynamics.description.rodrigues import RodriguesRow, robot_from_rodrigues
from geared_dynamics.description.urdf_files import (
    UrdfDrives,
    read_robot,
    read_urdf_drives,
    with_root_inertia,
    write_urdf,
)
from geared_dynamics.description.urdf_reader import read_urdf

__all__ = [
    "DHRow",
    "RodriguesRow",
    "UrdfDrives",
    "drivetrain_schema",
    "freeze",
    "in_carrier_frame",
    "movable",
    "read_drivetrain",
    "read_robot",
    "read_urdf",
    "read_urdf_drives",
    "robot_from_dh",
    "robot_from_rodrigues",
    "with_root_inertia",
    "write_urdf",
]
