"""Dynamics of the spanning tree, projected onto the robot's coordinates.

Every function takes the tree and one state and returns what our public function of the
same name should.
"""

from __future__ import annotations

import numpy as np

from geared_dynamics.analysis.pinocchio_tree import SpanningTree, pinocchio
from geared_dynamics.arrays import Array

# Our order of the ten parameters m, mx my mz, xx xy xz yy yz zz in Pinocchio's
# m, mx my mz, xx xy yy xz yz zz.
PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def inverse_dynamics(ref: SpanningTree, q: Array, v: Array, a: Array) -> Array:
    """Joint forces tau = G' rnea(q_tree, G v, G a) (n,)."""
    pin = pinocchio()
    full = pin.rnea(ref.tree, ref.data, ref.configuration(q), ref.G @ v, ref.G @ a)
    return np.asarray(ref.G.T @ full)


def loaded_inverse_dynamics(
    ref: SpanningTree, q: Array, v: Array, a: Array, f_ext: Array, bodies: tuple[str, ...]
) -> Array:
    """Joint forces (n,) with force and moment f_ext (bodies, 6) on the named links."""
    pin = pinocchio()
    forces = pin.StdVec_Force()
    forces.extend(pin.Force.Zero() for _ in range(ref.tree.njoints))
    for link, wrench in zip(bodies, f_ext, strict=True):
        frame = ref.tree.frames[ref.link_frame(link)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
    full = pin.rnea(ref.tree, ref.data, ref.configuration(q), ref.G @ v, ref.G @ a, forces)
    return np.asarray(ref.G.T @ full)


def mass_matrix(ref: SpanningTree, q: Array) -> Array:
    """M = G' M_tree G (n, n)."""
    full = _matrix(ref, pinocchio().crba(ref.tree, ref.data, ref.configuration(q)))
    full = np.triu(full) + np.triu(full, 1).T
    return np.asarray(ref.G.T @ full @ ref.G)


def coriolis_matrix(ref: SpanningTree, q: Array, v: Array) -> Array:
    """Christoffel's C (n, n) from the velocity forces h(v) = G' (rnea(q, G v, 0) - g).

    They are a quadratic form, and Christoffel's C(q, v) w is its symmetric bilinear form:
    column k is (h(v + e_k) - h(v - e_k)) / 4. (Pinocchio's own C projects to the same, but
    loses digits where it multiplies the wheels' large spins in the world's axes.)
    """
    columns = [
        (bias_forces(ref, q, v + e) - bias_forces(ref, q, v - e)) / 4 for e in np.eye(len(v))
    ]
    return np.stack(columns, axis=1)


def gravity_forces(ref: SpanningTree, q: Array) -> Array:
    """Gravity forces G' g_tree (n,)."""
    pin = pinocchio()
    return np.asarray(
        ref.G.T @ pin.computeGeneralizedGravity(ref.tree, ref.data, ref.configuration(q))
    )


def bias_forces(ref: SpanningTree, q: Array, v: Array) -> Array:
    """C v + g (n,), by inverse dynamics without acceleration."""
    return inverse_dynamics(ref, q, v, np.zeros_like(v))


def forward_dynamics(ref: SpanningTree, q: Array, v: Array, tau: Array) -> Array:
    """Accelerations (n,) from M a = tau - bias."""
    return np.asarray(np.linalg.solve(mass_matrix(ref, q), tau - bias_forces(ref, q, v)), float)


def kinetic_energy(ref: SpanningTree, q: Array, v: Array) -> float:
    """Kinetic energy of links and wheels [J]."""
    pin = pinocchio()
    return float(pin.computeKineticEnergy(ref.tree, ref.data, ref.configuration(q), ref.G @ v))


def potential_energy(ref: SpanningTree, q: Array) -> float:
    """Potential energy [J] of the bodies that move, zero for a mass at the root's origin."""
    pin = pinocchio()
    pin.forwardKinematics(ref.tree, ref.data, ref.configuration(q))
    energy = 0.0
    for joint, moves in enumerate(ref.moving):
        if moves:
            body = ref.tree.inertias[joint]
            energy -= body.mass * ref.tree.gravity.linear @ ref.data.oMi[joint].act(body.lever)
    return float(energy)


def tree_regressor(ref: SpanningTree, q: Array, v: Array, a: Array) -> Array:
    """Columns of all the tree's bodies, (n, njoints, 10) in our order; the universe's are 0."""
    pin = pinocchio()
    full = pin.computeJointTorqueRegressor(
        ref.tree, ref.data, ref.configuration(q), ref.G @ v, ref.G @ a
    )
    columns = (ref.G.T @ _matrix(ref, full)).reshape(ref.G.shape[1], -1, 10)[:, :, PINOCCHIO_ORDER]
    return np.concatenate([np.zeros_like(columns[:, :1]), columns], axis=1)


def regressor(
    ref: SpanningTree,
    q: Array,
    v: Array,
    a: Array,
    links: tuple[str, ...],
    wheels: tuple[str, ...],
) -> Array:
    """Columns (n, 10 links + wheels): first the named links', then the named wheels'.

    A wheel's parameter is its axial inertia at fixed parameters of the locked link: what a
    tensor e e' adds to the spinning wheel less what it adds to the carrier.
    """
    columns = tree_regressor(ref, q, v, a)
    n = columns.shape[0]
    frames = [ref.tree.frames[ref.link_frame(link)] for link in links]
    blocks = [columns[:, frame.parentJoint] for frame in frames]
    for name in wheels:
        place = ref.tree.frames[ref.locked_frame(name)]
        joint = ref.wheel_joint[name]
        spinning = columns[:, joint, 4:] @ _square(np.array([0.0, 0.0, 1.0]))
        locked = columns[:, place.parentJoint, 4:] @ _square(place.placement.rotation[:, 2])
        blocks.append((spinning - locked)[:, None])
    return np.concatenate([np.empty((n, 0)), *blocks], axis=1)


def pose(ref: SpanningTree, q: Array, link: str) -> Array:
    """Pose of a link in the root's frame (4, 4)."""
    pin = pinocchio()
    pin.framesForwardKinematics(ref.tree, ref.data, ref.configuration(q))
    return np.asarray(ref.data.oMf[ref.link_frame(link)].homogeneous)


def jacobian(ref: SpanningTree, q: Array, link: str) -> Array:
    """Jacobian of a link (6, n): linear rows first, root's axes, at the frame's origin."""
    pin = pinocchio()
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    frame = ref.link_frame(link)
    full = pin.computeFrameJacobian(ref.tree, ref.data, ref.configuration(q), frame, axes)
    return np.asarray(np.reshape(full, (6, -1)) @ ref.G)


def wheel_position(ref: SpanningTree, q: Array, wheel: str) -> Array:
    """Position of a wheel's centre of mass in the root's frame (3,), locked on its link."""
    pinocchio().framesForwardKinematics(ref.tree, ref.data, ref.configuration(q))
    return np.array(ref.data.oMf[ref.locked_frame(wheel)].translation)


def wheel_jacobian(ref: SpanningTree, q: Array, wheel: str) -> Array:
    """Jacobian of a wheel (6, n): the point of its link at its centre of mass, and its spin."""
    pin = pinocchio()
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    configuration = ref.configuration(q)
    linear = pin.computeFrameJacobian(
        ref.tree, ref.data, configuration, ref.locked_frame(wheel), axes
    )
    pin.computeJointJacobians(ref.tree, ref.data, configuration)
    angular = pin.getJointJacobian(ref.tree, ref.data, ref.wheel_joint[wheel], axes)
    rows = [np.reshape(linear, (6, -1))[:3], np.reshape(angular, (6, -1))[3:]]
    return np.asarray(np.concatenate(rows) @ ref.G)


def jacobian_drift(ref: SpanningTree, q: Array, v: Array, link: str) -> Array:
    """Jdot v of a link (6,): its acceleration without joint accelerations."""
    pin = pinocchio()
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    rest = np.zeros(ref.tree.nv)
    pin.forwardKinematics(ref.tree, ref.data, ref.configuration(q), ref.G @ v, rest)
    frame = ref.link_frame(link)
    motion = pin.getFrameClassicalAcceleration(ref.tree, ref.data, frame, axes)
    return np.asarray(motion.vector)


def _matrix(ref: SpanningTree, values: Array) -> Array:
    """Restore the rows of a matrix (nv_tree, ...): Pinocchio returns one row as a vector."""
    return np.reshape(values, (ref.tree.nv, -1))


def _square(axis: Array) -> Array:
    """The tensor e e' as its six entries xx xy xz yy yz zz."""
    x, y, z = axis
    return np.array([x * x, x * y, x * z, y * y, y * z, z * z])
