"""Chen and Wang's mechanism as seven rigid bodies with positions and orientations, in SymPy.

Links 1 to 3 and gears 4 to 7, nothing lumped: a gear's orientation turns about its axis by
an angle that is linear in the joint angles. Lagrange's equations follow by differentiation.
Numbers are exact rationals, results are evaluated with fifty digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord
from naive.bodies import Array
from naive.symbolic import (
    DHRow,
    Equations,
    body_rates,
    christoffel,
    evaluator,
    exact,
    exact_matrix,
    frames,
    turned,
)

# Table 1, with this robot's d_1 and a_2.
D1, A2 = 0.5, 0.4
ROWS = [DHRow(0, 1, 0, exact(D1)), DHRow(exact(A2), 0, 1, 0), DHRow(0, 1, 0, 0)]
LINKS = ("base_link", "link_1", "link_2", "link_3")
# Origin of the URDF's link frames seen from the DH frame's, in common axes.
ORIGINS = {1: sp.zeros(3, 1), 2: sp.Matrix([-exact(A2), 0, 0]), 3: sp.zeros(3, 1)}


@dataclass(frozen=True)
class Part:
    """A body in frame ``link``, turned in it about ``axis`` by ``angle`` (of q)."""

    link: int
    mass: Any
    com: sp.Matrix
    tensor: sp.Matrix
    axis: sp.Matrix | None
    angle: Any


def angles(ratios: dict[str, Any], q: Any) -> dict[str, Any]:
    """Angles of the gears relative to their carriers, eq. (27)-(30) integrated."""
    return {
        "wheel_4": ratios["g14"] * q[0],
        "wheel_5": q[0] + ratios["g25"] * q[1],
        "wheel_6": q[1] + ratios["g76"] * ratios["g37"] * q[2],
        "wheel_7": ratios["g37"] * q[2],
    }


def parts(robot: RobotRecord, drive: DrivetrainRecord, turning: dict[str, Any]) -> list[Part]:
    """The bodies that move; gears on the base turn only, so their place does not matter."""
    found = []
    for link in robot.links:
        if link.inertia is not None and link.name != LINKS[0]:
            number = LINKS.index(link.name)
            com = exact_matrix(link.inertia.com) + ORIGINS[number]
            tensor = exact_matrix(link.inertia.tensor)
            found.append(Part(number, exact(link.inertia.mass), com, tensor, None, 0))
    for wheel in drive.wheels:
        number = LINKS.index(wheel.carrier)
        axis = exact_matrix(wheel.axis)
        along = axis * axis.T
        tensor = exact(wheel.axial) * along + exact(wheel.transverse) * (sp.eye(3) - along)
        com = exact_matrix(wheel.position) + ORIGINS.get(number, sp.zeros(3, 1))
        found.append(Part(number, exact(wheel.mass), com, tensor, axis, turning[wheel.name]))
    return found


def derive_mechanism(
    robot: RobotRecord, drive: DrivetrainRecord, ratios: dict[str, float], *, locked: bool = False
) -> Equations:
    """M, C of the mechanism and zero gravity; ``locked``: with the gears not turning."""
    q = sp.symbols("q1:4", real=True)
    v = sp.symbols("v1:4", real=True)
    turning = angles({name: exact(ratio) for name, ratio in ratios.items()}, q)
    if locked:
        turning = dict.fromkeys(turning, 0)
    placed = frames(ROWS, q)
    M = sp.zeros(3)
    for part in parts(robot, drive, turning):
        rotation, origin = placed[part.link]
        position = origin + rotation * part.com
        if part.axis is not None:
            rotation = rotation * turned(part.axis, part.angle)
        linear, angular = position.jacobian(sp.Matrix(q)), body_rates(rotation, q)
        M += part.mass * linear.T * linear + angular.T * part.tensor * angular
    C = sp.Matrix(3, 3, lambda i, j: christoffel(M, q, v, i, j))
    still = sp.zeros(1, 3)
    return Equations(evaluator([q], M), evaluator([q, v], C), evaluator([q], still, flat=True))


def forces(equations: Equations, q: Array, v: Array, a: Array) -> Array:
    """M a + C v (3,)."""
    return equations.mass_matrix(q) @ a + equations.coriolis_matrix(q, v) @ v
