"""References of sufficient smoothness: motions q(t) with as many derivatives as a control needs.

Time is an argument; a reference is a value.
"""

from geared_dynamics.trajectory.motions import rest_to_rest, through
from geared_dynamics.trajectory.spline import Spline

__all__ = ["Spline", "rest_to_rest", "through"]
