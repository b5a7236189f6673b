"""MuJoCo, imported when it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from geared_dynamics.errors import MissingPackageError


def mujoco() -> Any:
    """Import MuJoCo (an untyped C++ module) or say how to install it."""
    try:
        import mujoco as package
    except ImportError:
        raise MissingPackageError("simulation with MuJoCo", "mujoco", "sim") from None
    return package


def set_coefficient(element: Any, name: str, value: float) -> None:
    """Set a stiffness or damping: a number, or the first of a polynomial (MuJoCo 4)."""
    if np.ndim(getattr(element, name)):
        polynomial = np.zeros(np.shape(getattr(element, name)))
        polynomial[0] = value
        setattr(element, name, polynomial)
    else:
        setattr(element, name, value)


def coefficient(element: Any, name: str) -> float:
    """The number that ``set_coefficient`` sets."""
    return float(np.ravel(getattr(element, name))[0])
