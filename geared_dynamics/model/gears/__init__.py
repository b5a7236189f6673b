"""Gear trains: from meshes, planetary sets and harmonic drives to every wheel's spin."""

from geared_dynamics.model.gears.rank import held_ratios, refuse_dependent, refuse_idle
from geared_dynamics.model.gears.resolve import ResolvedDrivetrain, refuse_turning, resolve

__all__ = [
    "ResolvedDrivetrain",
    "held_ratios",
    "refuse_dependent",
    "refuse_idle",
    "refuse_turning",
    "resolve",
]
