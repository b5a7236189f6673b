"""The error of recordings that cannot be used as they are."""

from geared_dynamics.errors import GearedDynamicsError


class RecordingError(GearedDynamicsError):
    """A recording cannot be read, or does not fit the robot."""
