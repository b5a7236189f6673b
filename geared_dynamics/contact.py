"""Arms that touch something: constrained motion, impacts, and supports that yield.

Signs, everywhere: s > 0 is free, s = 0 touches, a force F pushes along +grad s, and
M a + h = tau + J'F. Equations, signs and limits: docs/contact.md.
"""

from geared_dynamics.dynamics import contact as _dynamics
from geared_dynamics.dynamics.contact import *  # noqa: F403

__all__ = [*_dynamics.__all__]
