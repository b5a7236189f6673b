"""Gear trains: from meshes, planetary sets and harmonic drives to every wheel's spin."""

from geared_dynamics.model.gears.rank import refuse_dependent
from geared_dynamics.model.gears.resolve import ResolvedDrivetrain, resolve

__all__ = ["ResolvedDrivetrain", "refuse_dependent", "resolve"]
