"""Gear trains: from meshes, planetary sets and harmonic drives to every wheel's spin."""

from geared_dynamics.model.gears.resolve import (
    ResolvedDrivetrain,
    refuse_screws_on_turning_joints,
    resolve,
)

__all__ = [
    "ResolvedDrivetrain",
    "refuse_screws_on_turning_joints",
    "resolve",
]
