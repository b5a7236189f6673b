"""From files to frozen records: URDF, drivetrain files and parameter tables."""

from geared_dynamics.description.denavit_hartenberg import DHRow, robot_from_dh
from geared_dynamics.description.dh_frames import in_carrier_frame
from geared_dynamics.description.dialects import UrdfDrives
from geared_dynamics.description.drivetrain import read_drivetrain
from geared_dynamics.description.freeze import freeze
from geared_dynamics.description.merge import merge
from geared_dynamics.description.merge_notes import override_notes, replaced_notes
from geared_dynamics.description.rodrigues import RodriguesRow, robot_from_rodrigues
from geared_dynamics.description.schema import drivetrain_schema
from geared_dynamics.description.urdf import read_urdf
from geared_dynamics.description.urdf_drives import read_robot, read_urdf_drives
from geared_dynamics.description.urdf_writer import with_root_inertia, write_urdf

__all__ = [
    "DHRow",
    "RodriguesRow",
    "UrdfDrives",
    "drivetrain_schema",
    "freeze",
    "in_carrier_frame",
    "merge",
    "override_notes",
    "read_drivetrain",
    "read_robot",
    "read_urdf",
    "read_urdf_drives",
    "replaced_notes",
    "robot_from_dh",
    "robot_from_rodrigues",
    "with_root_inertia",
    "write_urdf",
]
