"""Lagrange's equations of explicit bodies, by definition and complex step.

    M = sum_b m Jp' Jp + Jo' R I R' Jo,    U = -sum_b m g0' p
    C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2,    g = dU/dq

Poses are products of homogeneous transforms, Jacobian columns the joint axes at
those poses. All of it is analytic in q, so a derivative is Im f(q + ih) / h with
h far below the rounding, exact to the last digits (Sciavicco 1994, eq. 5-18).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord
from naive.bodies import Array, Body, coordinates, joint_row, link_bodies, wheel_bodies

Numbers = NDArray[Any]  # real, or complex when differentiated
STEP = 1e-30  # of the complex step: no difference is taken, so nothing cancels


def turn(axis: Array, angle: Any) -> Numbers:
    """Rotation matrix about a unit axis; the angle may be complex."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)


class LagrangianTwin:
    """The arm of two records, slowly.

    Args:
        robot: The links and joints.
        drive: The wheels and their spins.
        gravity: Acceleration of free fall in the root link's frame (3,) [m/s^2].
        coupling: As in ``GearedModel``: which of the wheels' spin terms count.
    """

    def __init__(
        self,
        robot: RobotRecord,
        drive: DrivetrainRecord,
        gravity: Any = (0.0, 0.0, -9.81),
        coupling: str = "complete",
    ) -> None:
        """List the bodies."""
        self.robot, self.gravity = robot, np.asarray(gravity, float)
        self.n = len(coordinates(robot))
        self.parent_joint = {joint.child: joint for joint in robot.joints}
        bodies = [*link_bodies(robot), *wheel_bodies(robot, drive)]
        self.extra = np.zeros((self.n, self.n))
        if coupling != "complete":
            if coupling == "diagonal":
                self.extra = np.diag(sum(axial(b) * b.spin**2 for b in bodies))
            bodies = [replace(b, spin=np.zeros(self.n)) for b in bodies]
        self.bodies = bodies

    def link_pose(self, q: Numbers, link: str) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Rotation (3, 3), origin (3,), and Jacobians Jp, Jo (3, n) of a link's frame."""
        joint = self.parent_joint.get(link)
        if joint is None:
            zero = np.zeros((3, self.n), q.dtype)
            return np.eye(3, dtype=q.dtype), np.zeros(3, q.dtype), zero, zero
        rotation, origin, linear, angular = self.link_pose(q, joint.parent)
        row, offset = joint_row(self.robot, joint)
        position = row @ q + offset
        arm = rotation @ np.array(joint.position)
        rotation = rotation @ np.array(joint.rotation)
        axis = rotation @ np.array(joint.axis)
        if joint.kind == "prismatic":
            arm = arm + axis * position
        linear = linear + np.cross(angular, arm, axis=0)
        if joint.kind == "prismatic":
            linear = linear + np.outer(axis, row)
        elif joint.kind != "fixed":
            rotation = rotation @ turn(np.array(joint.axis), position)
            angular = angular + np.outer(axis, row)
        return rotation, origin + arm, linear, angular

    def body_pose(self, q: Numbers, body: Body) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """The same of a body, at its centre of mass, turned by its own angle."""
        rotation, origin, linear, angular = self.link_pose(q, body.link)
        arm = rotation @ body.com
        linear = linear + np.cross(angular, arm, axis=0)
        angular = angular + np.outer(rotation @ body.axis, body.spin)
        return rotation @ turn(body.axis, body.spin @ q), origin + arm, linear, angular

    def mass_matrix(self, q: Numbers) -> Numbers:
        """M (n, n), eq. 14."""
        total = self.extra.astype(q.dtype)
        for body in self.bodies:
            rotation, _, linear, angular = self.body_pose(q, body)
            own = rotation.T @ angular
            total = total + body.mass * linear.T @ linear + own.T @ body.tensor @ own
        return total

    def potential_energy(self, q: Numbers) -> Any:
        """U [J], zero where every centre of mass is at the root's origin; eq. 15."""
        return -sum(b.mass * self.gravity @ self.body_pose(q, b)[1] for b in self.bodies)

    def gravity_forces(self, q: Array) -> Array:
        """dU/dq (n,)."""
        return np.array([self.potential_energy(point).imag / STEP for point in steps(q)])

    def coriolis_matrix(self, q: Array, v: Array) -> Array:
        """C (n, n) of Christoffel's symbols, eq. 17."""
        slope = np.stack([self.mass_matrix(point).imag / STEP for point in steps(q)], axis=-1)
        symbols = slope + slope.transpose(0, 2, 1) - slope.transpose(2, 0, 1)
        return 0.5 * symbols @ v

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """M a + C v + g (n,)."""
        return self.mass_matrix(q) @ a + self.coriolis_matrix(q, v) @ v + self.gravity_forces(q)


def axial(body: Body) -> float:
    """Moment of inertia about the body's own axis; 0 for a link, whose axis is 0."""
    return float(body.axis @ body.tensor @ body.axis)


def steps(q: Array) -> list[Numbers]:
    """The points q + ih e_k."""
    return [q + 1j * STEP * unit for unit in np.eye(len(q))]
