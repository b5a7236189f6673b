"""Harmonic drives: two splines and the wave generator that is the arm of their mesh.

(f - w) Z_f = (c - w) Z_c with rates of flexspline f, circular spline c and wave generator w:
c fixed gives w = -Z_f / (Z_c - Z_f) f, and f fixed gives w = Z_c / (Z_c - Z_f) c.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.description.records import HarmonicRecord, MeshRecord, WheelRecord
from geared_dynamics.model.gears.seat import Seat, installed
from geared_dynamics.model.gears.skeleton import Bodies


def wave_generator(record: HarmonicRecord, seat: Seat, links: Bodies) -> WheelRecord:
    """The wave generator, carried by the housing."""
    name = f"{record.name}.wave_generator"
    return installed(record.wave_generator, name, record.housing, seat, links, np.zeros(3))


def mesh_of(record: HarmonicRecord, seat: Seat) -> MeshRecord:
    """The two splines as an internal mesh about the wave generator."""
    driven = seat.driven or record.housing
    fixed_first = (record.housing, driven) if record.fixed == "flexspline" else None
    return MeshRecord(
        members=fixed_first or (driven, record.housing),
        arm=f"{record.name}.wave_generator",
        sizes=(record.flexspline, record.circular_spline),
        kind="internal",
        place=f"harmonic.{record.name}",
    )
