"""Sensors on the links that come back: a lost one is believed again once it is as predicted."""

from __future__ import annotations

import numpy as np

from geared_dynamics.observers.health import Fault, Health, Limits


def readmitted(health: Health, limits: Limits) -> Health:
    """Health in which lost readings that were there and plausible in the last step count again.

    The motors' encoders are not among them: without one the estimate was held, and the observer
    starts anew. A reading that jumped and stays away from its prediction stays lost.

    Args:
        health: After a step.
        limits: What is believed.
    """
    back = (health.channels == Fault.LOST) & limits.enabled & ~limits.required
    if not back.any() or not health.valid:
        return health
    return health._replace(
        channels=np.where(back, 0, health.channels),
        silent=np.where(back, 0.0, health.silent),
    )
