"""Chen 1998 in print: M_s and C_s of section 7, G_v of the appendix, and its misprints.

``PHI`` holds the correct terms. ``MISPRINTS`` holds what the paper has instead, by the
place in the paper. Names of parameters: ``m1`` is m_{1*}, ``r1z`` is r_{1*Z}, ``I2xz`` the
element of the tensor about the centre of mass, ``s2``, ``c2`` sine and cosine of theta_2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from naive.bodies import Array

Term = Callable[[Any], float]

# In order: a later one may use an earlier one, as p.phi13.
PHI: dict[str, Term] = {
    "phi12": lambda p: p.m1 * p.r1z**2 + p.I1yy,
    "phi13": lambda p: p.a2 + p.r2x,
    "phi17": lambda p: p.s2 * p.c3 + p.c2 * p.s3,
    "phi18": lambda p: p.s2 * p.s3 - p.c2 * p.c3,
    "phi14": lambda p: p.a2 * p.c2 + p.r3z * p.phi17,
    "phi15": lambda p: p.I3xx - p.I3zz,
    "phi16": lambda p: p.I2xx - p.I2yy,
    "phi1": lambda p: (
        p.phi12
        + p.m2 * (p.phi13**2 * p.c2**2 + p.r2z**2)
        + p.I2xx * p.s2**2
        + p.I2yy * p.c2**2
        + p.m3 * p.phi14**2
        + p.I3xx * p.phi17**2
        + p.I3zz * p.phi18**2
    ),
    "phi2": lambda p: (p.I2xz - p.m2 * p.phi13 * p.r2z) * p.s2,
    "phi3": lambda p: (
        p.m2 * p.phi13**2 + p.I2zz + p.m3 * (p.a2**2 + p.r3z**2 + 2 * p.a2 * p.r3z * p.s3) + p.I3yy
    ),
    "phi4": lambda p: p.m3 * p.r3z * (p.a2 * p.s3 + p.r3z) + p.I3yy,
    "phi5": lambda p: p.m3 * p.r3z**2 + p.I3yy,
    "phi6": lambda p: (-p.m2 * p.phi13 * p.r2z + p.I2xz) * p.c2,
    "phi7": lambda p: (
        2 * (-p.m2 * p.phi13**2 + p.phi16) * p.s2 * p.c2
        - 2 * p.m3 * p.phi14 * (p.a2 * p.s2 + p.r3z * p.phi18)
        - 2 * p.phi15 * p.phi17 * p.phi18
    ),
    "phi8": lambda p: -2 * p.m3 * p.phi14 * p.phi18 * p.r3z - 2 * p.phi15 * p.phi17 * p.phi18,
    "phi9": lambda p: (
        (p.m2 * p.phi13**2 - p.phi16) * p.s2 * p.c2
        + p.m3 * p.phi14 * (p.a2 * p.s2 + p.r3z * p.phi18)
        + p.phi15 * p.phi17 * p.phi18
    ),
    "phi10": lambda p: p.m3 * p.r3z * p.a2 * p.c3,
    "phi11": lambda p: p.m3 * p.r3z * p.phi14 * p.phi18 + p.phi15 * p.phi17 * p.phi18,
    "row 3": lambda p: -p.phi10,  # of (A1), the factor of td2^2
}

MISPRINTS: dict[str, Term] = {
    "row 3": lambda p: p.phi10 / 2,
    "phi1": lambda p: PHI["phi1"](p) - p.I2xx * p.s2**2 - p.I2yy * p.c2**2 + p.I2xx,
    "phi2": lambda p: (p.I2xx - p.m2 * p.phi13 * p.r2z) * p.s2,
    "phi3": lambda p: p.m2 * p.phi13**2 + p.I2zz + p.m3 * p.phi14 + p.I3yy,
    "phi4": lambda p: p.m3 * p.r3z * (p.a2 * p.s3 + p.r3z),
    "phi5": lambda p: p.m3 * p.r3z + p.I3yy,
    "phi6": lambda p: (-p.m2 * p.phi13 * p.r2z + p.I2xz * p.s2) * p.c2,
    "phi7": lambda p: (
        2 * (-p.m2 * p.phi2 + p.phi16) * p.s2 * p.c2
        - 2 * p.m3 * p.phi14 * (p.a2 * p.s2 + p.r3z * p.phi18)
        - 2 * p.phi14 * p.phi15 * p.phi17
    ),
    "phi8": lambda p: -2 * p.m3 * p.phi18 * p.r3z + 2 * p.phi14 * p.phi15 * p.phi17,
    "phi9": lambda p: (
        (p.m2 * p.phi13**2 - p.phi16) * p.s2 * p.c2
        + p.m3 * p.phi14 * (p.a2 * p.s2 - p.r3z * p.phi17)
        + p.phi14 * p.phi15 * p.phi17
    ),
    "phi11": lambda p: p.m3 * p.r3z * p.phi17 * p.phi18 + p.phi14 * p.phi15 * p.phi17,
    "phi15": lambda p: p.I3xx - p.I3yy,
}


def parameters(a2: float, virtual: Mapping[int, Array]) -> dict[str, float]:
    """Table 3 from the ten parameters of links 1*, 2*, 3 about the origins of frames 1 to 3."""
    found = {"a2": a2}
    for number, values in virtual.items():
        mass, r = values[0], values[1:4] / values[0]
        tensor = np.zeros((3, 3))
        tensor[np.triu_indices(3)] = values[4:]
        tensor -= np.triu(mass * (r @ r * np.eye(3) - np.outer(r, r)))
        found[f"m{number}"] = mass
        for i, name in enumerate("xyz"):
            found[f"r{number}{name}"] = r[i]
            for j, other in enumerate("xyz"[i:], start=i):
                found[f"I{number}{name}{other}"] = tensor[i, j]
    return found


def appendix(
    values: Mapping[str, float], q: Array, v: Array, a: Array, misprint: str = ""
) -> Array:
    """G_v (3,), eq. (A1), corrected but for one misprint."""
    p = SimpleNamespace(**values)
    p.s2, p.c2, p.s3, p.c3 = np.sin(q[1]), np.cos(q[1]), np.sin(q[2]), np.cos(q[2])
    third = 0.0
    for name in PHI:
        value = (MISPRINTS if name == misprint else PHI)[name](p)
        if name == "row 3":
            third = value
        else:
            setattr(p, name, value)
    M = np.array([[p.phi1, p.phi2, 0], [p.phi2, p.phi3, p.phi4], [0, p.phi4, p.phi5]])
    v1, v2, v3 = v
    rates = [
        p.phi6 * v2**2 + p.phi7 * v1 * v2 + p.phi8 * v1 * v3,
        p.phi9 * v1**2 + p.phi10 * v3**2 + 2 * p.phi10 * v2 * v3,
        p.phi11 * v1**2 + third * v2**2,
    ]
    return np.asarray(M @ a + rates)


def gears_mass(inertia: Mapping[int, float], g: Mapping[str, float], q: Array) -> Array:
    """M_s (3, 3), eq. (44)."""
    s2 = np.sin(q[1])
    g763 = g["g76"] * g["g37"]
    m13 = inertia[7] * g["g37"] * s2
    return np.array(
        [
            [inertia[4] * g["g14"] ** 2 + inertia[5], inertia[5] * g["g25"], m13],
            [inertia[5] * g["g25"], inertia[5] * g["g25"] ** 2 + inertia[6], inertia[6] * g763],
            [m13, inertia[6] * g763, inertia[6] * g763**2 + inertia[7] * g["g37"] ** 2],
        ]
    )


def gears_rates(inertia: Mapping[int, float], g: Mapping[str, float], q: Array, v: Array) -> Array:
    """C_s (3,), eq. (43) and (44)."""
    factor = inertia[7] * g["g37"] * np.cos(q[1])
    return factor * np.array([v[1] * v[2], -v[0] * v[2], v[0] * v[1]])


def structure_matrix(g: Mapping[str, float]) -> Array:
    """A (3, 3), eq. (45): columns are the motors on wheels 4, 5, 6."""
    return np.array([[g["g14"], 1, 0], [0, g["g25"], 1], [0, 0, g["g76"] * g["g37"]]])
