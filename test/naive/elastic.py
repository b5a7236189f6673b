"""The arm with elastic joints by definition: a coordinate of its own behind each spring.

Bodies as in ``lagrangian``; a wheel on the motor side of an elastic joint turns with the
joint's theta. Read off the records alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord
from naive.bodies import Array, Body, coordinates, joint_row
from naive.lagrangian import LagrangianTwin, Numbers


class ElasticTwin(LagrangianTwin):
    """The arm of two records in x = (q, theta), slowly; arguments as of ``LagrangianTwin``."""

    def __init__(
        self, robot: RobotRecord, drive: DrivetrainRecord, gravity: Array | tuple[float, ...]
    ) -> None:
        """List the bodies, their spins by x."""
        super().__init__(robot, drive, gravity)
        self.links = self.n
        self.elastic = elastic_coordinates(robot, drive)
        self.belts = len(drive.springs)
        sides = {wheel.name: wheel.side for wheel in drive.wheels}
        stiff = {body.name: body.spin for body in self.bodies}
        self.bodies = [self.follow(b, sides.get(b.name) == "motor") for b in self.bodies]
        self.n += len(self.elastic) + self.belts
        self.extra = np.zeros((self.n, self.n))
        for k, spring in enumerate(drive.springs):
            row = np.eye(self.n)[self.n - self.belts + k]
            first = stiff[spring.motor_side]
            group = {name: stiff[name] @ first for name in (spring.motor_side, *spring.others)}
            self.bodies = [
                replace(b, spin=row * group[b.name] / (first @ first)) if b.name in group else b
                for b in self.bodies
            ]
        joints = {joint.name: joint for joint in robot.joints}
        self.springs = []
        for record in drive.joints:
            if record.stiffness is not None:
                row = joint_row(robot, joints[record.name])[0]
                (j,) = np.flatnonzero(row)
                z = np.zeros(self.n)
                z[j], z[self.links + self.elastic.index(j)] = -row[j], row[j]
                self.springs.append((z, record.stiffness, record.damping))
        spins = {body.name: body.spin for body in self.bodies}
        for spring in drive.springs:
            first, second = stiff[spring.motor_side], stiff[spring.link_side]
            z = spins[spring.motor_side] - spins[spring.link_side] * (first @ second) / (
                second @ second
            )
            self.springs.append((z, spring.stiffness, spring.damping))

    def follow(self, body: Body, motor_side: bool) -> Body:
        """Give the spin its columns of theta."""
        shaft = np.zeros(len(self.elastic))
        link = body.spin.copy()
        if motor_side:
            shaft = body.spin[self.elastic]
            link[self.elastic] = 0.0
        return replace(body, spin=np.concatenate([link, shaft, np.zeros(self.belts)]))

    def link_pose(self, q: Numbers, link: str) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """As of the rigid arm: links do not move with theta."""
        whole, self.n = self.n, self.links
        rotation, origin, *columns = super().link_pose(q[: self.links], link)
        self.n = whole
        none = np.zeros((3, whole - self.links), q.dtype)
        linear, angular = (
            np.hstack([x, none]) if x.shape[1] == self.links else x for x in columns
        )
        return rotation, origin, linear, angular

    def spring_forces(self, x: Array, rate: Array) -> Array:
        """Force of the springs on x."""
        return -sum(z * (k * (z @ x) + d * (z @ rate)) for z, k, d in self.springs)

    def joint_torque(self, x: Array, rate: Array) -> Array:
        """Torque of the spring before each theta: of the joints on q, then each belt's own."""
        torque = [k * (z @ x) + d * (z @ rate) for z, k, d in self.springs]
        joints = len(self.springs) - self.belts
        on_link = -sum(
            (t * z for t, (z, _, _) in zip(torque[:joints], self.springs, strict=False)),
            np.zeros(self.n),
        )
        return np.concatenate([on_link[self.elastic], torque[joints:]])

    def spring_energy(self, x: Array) -> float:
        """Energy of the springs."""
        return sum(0.5 * k * (z @ x) ** 2 for z, k, _ in self.springs)

    def structure_matrix(self, drive: DrivetrainRecord) -> Array:
        """A (n + n_e, m)."""
        spins = {body.name: body.spin for body in self.bodies}
        return np.column_stack([spins[motor.wheel] for motor in drive.motors])

    def forward_dynamics(self, x: Array, rate: Array, force: Array) -> Array:
        """Acceleration of x under a force on x beside the springs."""
        bias = self.coriolis_matrix(x, rate) @ rate + self.gravity_forces(x)
        return np.linalg.solve(
            self.mass_matrix(x).real, force + self.spring_forces(x, rate) - bias
        )


def elastic_coordinates(robot: RobotRecord, drive: DrivetrainRecord) -> list[int]:
    """Coordinates with a spring, by their index in q."""
    joints = {joint.name: joint for joint in robot.joints}
    rows = [joint_row(robot, joints[j.name])[0] for j in drive.joints if j.stiffness is not None]
    moved = {int(d) for row in rows for d in np.flatnonzero(row)}
    return [d for d in range(len(coordinates(robot))) if d in moved]
