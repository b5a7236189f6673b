"""Drives that a URDF or its SRDF states, each in the dialect of some other reader."""

from geared_dynamics.description.dialects.read import UrdfDrives, read_drives

__all__ = ["UrdfDrives", "read_drives"]
