"""The arm in MuJoCo: every link, rotor and gear wheel a body of its own (extra ``sim``)."""

from geared_dynamics.simulation.mujoco.export import to_mjcf

__all__ = ["to_mjcf"]
