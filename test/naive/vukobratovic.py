"""The recursion of Vukobratovic 2002 for serial arms without wheels: H(q), h(q, qdot).

tau = H qddot + h, from the matrices Lambda, Gamma, Xi, Delta of each link (20.32 to
20.43) and the elimination of joint reactions (20.47 to 20.60). Two things differ from
print: r' instead of r in (20.43), which a sliding joint needs, and the dot product in
(20.108). The constant turn of a sliding joint is part of ``extended``.

All vectors are in the external frame unless they are called ``own`` (link j) or
``previous`` (link j - 1). The paper's names: e, r_jj (joint j to mass centre j), r_prev =
r_(j-1,j) (joint j to mass centre j - 1), s = 1 for a sliding joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.description.robot_records import InertiaRecord, JointRecord, RobotRecord
from naive.bodies import Array


@dataclass(frozen=True)
class Link:
    """Link j, as the paper describes it (20.2 to 20.6).

    Attributes:
        sliding: True for a linear joint, s_j = 1.
        extended: A0_(j-1,j), link frame j in frame j - 1 at q_j = 0 (3, 3).
        axis: Unit vector e_j in the link's own frame.
        r_own: r_jj in the link's own frame [m].
        r_previous: r_(j-1,j) in the previous link's frame [m].
        mass: m_j [kg].
        tensor: J_j about the mass centre, link's own frame [kg m^2].
    """

    sliding: bool
    extended: Array
    axis: Array
    r_own: Array
    r_previous: Array
    mass: float
    tensor: Array


class LinkState(NamedTuple):
    """What the recursion knows of link j; position of its mass centre, and A_j."""

    A: Array
    position: Array
    joint: Array
    e: Array
    omega: Array
    Lambda: Array
    Gamma: Array
    Xi: Array
    Delta: Array


def rodrigues(e: Array, angle: float, V: Array) -> Array:
    """Turn the columns of V about e (20.108, with the dot product)."""
    along = np.outer(e, e @ V)
    across = np.cross(e, V, axisa=0, axisb=0, axisc=0)
    return V * np.cos(angle) + (1.0 - np.cos(angle)) * along + across * np.sin(angle)


def extended_position(e_previous: Array, e_own: Array, r_previous: Array, r_own: Array) -> Array:
    """A0_(j-1,j) of a joint stretched out (20.101 to 20.106); the r may be the r*."""
    a_previous = -np.cross(e_previous, np.cross(r_previous, e_previous))
    a_own = np.cross(e_own, np.cross(r_own, e_own))
    a_previous, a_own = a_previous / np.linalg.norm(a_previous), a_own / np.linalg.norm(a_own)
    before = np.column_stack([e_previous, a_previous, np.cross(e_previous, a_previous)])
    after = np.column_stack([e_own, a_own, np.cross(e_own, a_own)])
    return before @ np.linalg.inv(after)


def forward(links: Sequence[Link], q: Array, v: Array) -> list[LinkState]:
    """The state of each link, base to tip."""
    n = len(links)
    none, zero = np.zeros((3, n)), np.zeros(3)
    last = LinkState(np.eye(3), zero, zero, zero, zero, none, zero, none, zero)
    states = []
    for j, link in enumerate(links):
        last = step(link, j, float(q[j]), float(v[j]), last)
        states.append(last)
    return states


def step(link: Link, j: int, q: float, v: float, last: LinkState) -> LinkState:
    """From link j - 1 to link j (20.23, 20.25, 20.40 to 20.43)."""
    s = float(link.sliding)
    e = last.A @ (link.extended @ link.axis)
    A = last.A @ link.extended
    A = A if link.sliding else rodrigues(e, q, A)
    r_prev = last.A @ link.r_previous
    r = A @ link.r_own + s * q * e  # r'_jj, (20.8)
    omega = last.omega + v * (1 - s) * e
    Lambda = last.Lambda.copy()
    Lambda[:, j] = (1 - s) * e
    Gamma = last.Gamma + v * (1 - s) * np.cross(omega, e)
    Xi = last.Xi - cross(last.Lambda, r_prev) + cross(Lambda, r)
    Xi[:, j] += s * e
    Delta = last.Delta - np.cross(last.Gamma, r_prev) + np.cross(Gamma, r)
    Delta = Delta - np.cross(last.omega, np.cross(last.omega, r_prev))
    Delta = Delta + np.cross(omega, np.cross(omega, r)) + 2 * s * v * np.cross(omega, e)
    joint = last.position - r_prev  # (20.25)
    return LinkState(A, joint + r, joint, e, omega, Lambda, Gamma, Xi, Delta)


def cross(columns: Array, vector: Array) -> Array:
    """Each column (3, n) times a vector."""
    return np.cross(columns, vector, axisa=0, axisc=0)


def equations(links: Sequence[Link], q: Array, v: Array, gravity: Array) -> tuple[Array, Array]:
    """H (n, n) and h (n,) with tau = H qddot + h (20.52 to 20.60)."""
    n = len(links)
    states = forward(links, q, v)
    H, h = np.zeros((n, n)), np.zeros(n)
    for j, at in enumerate(states):
        for link, state in zip(links[j:], states[j:], strict=True):
            force = link.mass * state.Xi
            free_force = link.mass * (state.Delta - gravity)
            if links[j].sliding:
                H[j] += at.e @ force
                h[j] += at.e @ free_force
                continue
            tensor = state.A @ link.tensor @ state.A.T
            arm = state.position - at.joint  # (20.49)
            H[j] += at.e @ (tensor @ state.Lambda + np.cross(arm, force, axisb=0, axisc=0))
            spin = np.cross(state.omega, tensor @ state.omega)
            h[j] += at.e @ (tensor @ state.Gamma + spin + np.cross(arm, free_force))
    return H, h


def links_of(robot: RobotRecord) -> list[Link]:
    """The paper's description of a serial arm; trailing fixed links may not weigh anything."""
    inertia = {link.name: link.inertia or InertiaRecord(0.0) for link in robot.links}
    joints = [joint for joint in robot.joints if joint.kind != "fixed"]
    centre_before = np.zeros(3)
    links = []
    for joint in joints:
        body = inertia[joint.child]
        links.append(link_of(joint, body, centre_before))
        centre_before = np.array(body.com)
    return links


def link_of(joint: JointRecord, body: InertiaRecord, centre_before: Array) -> Link:
    """A URDF joint and its child; the joint's coordinate needs no extended position."""
    return Link(
        sliding=joint.kind == "prismatic",
        extended=np.array(joint.rotation),
        axis=np.array(joint.axis),
        r_own=np.array(body.com),
        r_previous=centre_before - np.array(joint.position),
        mass=body.mass,
        tensor=np.array(body.tensor),
    )
