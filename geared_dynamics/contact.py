"""Arms that touch something: constrained motion, impacts, and supports that yield.

Signs, everywhere: s > 0 is free, s = 0 touches, a force F pushes along +grad s, and
M a + h = tau + J'F. Equations, signs and limits: docs/contact.md.
"""

from geared_dynamics.dynamics import contact as _dynamics
from geared_dynamics.dynamics.contact import *  # noqa: F403
from geared_dynamics.simulation.contact_events import ContactEvent, Jam, jam
from geared_dynamics.simulation.contact_run import ContactRun, EnergyAccount, simulate

__all__ = [
    *_dynamics.__all__,
    "ContactEvent",
    "ContactRun",
    "EnergyAccount",
    "Jam",
    "jam",
    "simulate",
]
