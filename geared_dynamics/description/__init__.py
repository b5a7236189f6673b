"""From files to frozen records: URDF, drivetrain files and parameter tables."""

from geared_dynamics.description.denavit_hartenberg import DHRow, robot_from_dh
from geared_dynamics.description.drivetrain import read_drivetrain
from geared_dynamics.description.freeze import freeze
from geared_dynamics.description.rodrigues import RodriguesRow, robot_from_rodrigues
from geared_dynamics.description.schema import drivetrain_schema
from geared_dynamics.description.urdf import read_urdf
from geared_dynamics.description.urdf_writer import write_urdf

__all__ = [
    "DHRow",
    "RodriguesRow",
    "drivetrain_schema",
    "freeze",
    "read_drivetrain",
    "read_urdf",
    "robot_from_dh",
    "robot_from_rodrigues",
    "write_urdf",
]
