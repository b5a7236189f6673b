"""Arms in contact: constraints, impacts, supports that yield. The public names: ``gd.contact``."""

from geared_dynamics.dynamics.contact.constraints import (
    Constraint,
    Environment,
    Line,
    LockedGear,
    Peg,
    Surface,
    springs_in_series,
)
from geared_dynamics.dynamics.contact.motion import (
    ConstrainedMotion,
    Coordinates,
    FreeCoordinates,
    Impact,
    constrained_dynamics,
    coordinates,
    impact,
)
from geared_dynamics.dynamics.contact.packing import PreparedContacts, prepare
from geared_dynamics.dynamics.frames import effective_mass

__all__ = [
    "ConstrainedMotion",
    "Constraint",
    "Coordinates",
    "Environment",
    "FreeCoordinates",
    "Impact",
    "Line",
    "LockedGear",
    "Peg",
    "PreparedContacts",
    "Surface",
    "constrained_dynamics",
    "coordinates",
    "effective_mass",
    "impact",
    "prepare",
    "springs_in_series",
]
