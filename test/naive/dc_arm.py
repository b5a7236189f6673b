"""A planar 2R arm with two DC motors from positions and energies alone, symbolic.

Coordinates q1, q2 and the charges of the two windings: the Lagrangian is T - U plus the
magnetic energy and the coupling of shaft and winding is a force k i on the shaft and -k s
in the winding. Motor 1 stands on the base, motor 2 rides on link 1; both turn about z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from naive.bodies import Array

Q, V, ACC = (sp.symbols(f"{x}1:3") for x in ("q", "v", "a"))
# Lengths [m], centres [m], masses [kg], inertias [kg m^2], ratios, rotors' J [kg m^2], motor mass.
LENGTH, CENTRE, MASS, INERTIA = (0.4, 0.3), (0.15, 0.12), (3.0, 2.0), (0.05, 0.02)
RATIO, ROTOR, MOTOR_MASS = (50.0, -40.0), (2e-4, 1.5e-4), 0.6
RESISTANCE, INDUCTANCE, K, VISCOUS = (0.9, 1.2), (2e-3, 3e-3), (0.07, 0.05), (3e-5, 2e-5)
GRAVITY = 9.81  # along -y


def lagrangian() -> Any:
    """T - U of links and rotors, each rotor a body with its absolute angular velocity."""
    elbow = sp.Matrix([LENGTH[0] * sp.cos(Q[0]), LENGTH[0] * sp.sin(Q[0])])
    along = [sp.Matrix([sp.cos(x), sp.sin(x)]) for x in (Q[0], Q[0] + Q[1])]
    points = [
        (MASS[0], CENTRE[0] * along[0]),
        (MASS[1], elbow + CENTRE[1] * along[1]),
        (MOTOR_MASS, elbow),
    ]
    total = sp.Integer(0)
    for mass, point in points:
        velocity = point.jacobian(Q) * sp.Matrix(V)
        total += mass * velocity.dot(velocity) / 2 - mass * GRAVITY * point[1]
    spins = [
        (INERTIA[0], V[0]),
        (INERTIA[1], V[0] + V[1]),
        (ROTOR[0], RATIO[0] * V[0]),
        (ROTOR[1], V[0] + RATIO[1] * V[1]),
    ]
    return total + sum(inertia * spin**2 / 2 for inertia, spin in spins)


def equations() -> tuple[Any, Any]:
    """M and h of the arm with its rotors as functions of q and of (q, v)."""
    L = lagrangian()
    momenta = sp.Matrix([sp.diff(L, v) for v in V])
    mass = momenta.jacobian(V)
    free = momenta.jacobian(Q) * sp.Matrix(V) - sp.Matrix([sp.diff(L, q) for q in Q])
    numeric = sp.lambdify([Q], mass, "numpy"), sp.lambdify([Q, V], free, "numpy")
    return numeric


MASS_OF, FREE_OF = equations()


def torques_on_joints(current: Array, v: Array) -> Array:
    """N (k i - B N q') of each motor."""
    ratio = np.array(RATIO)
    return np.asarray(ratio * (np.array(K) * current - np.array(VISCOUS) * ratio * v))


def acceleration(q: Array, v: Array, current: Array) -> Array:
    """Accelerations that the currents give."""
    force = torques_on_joints(current, v) - FREE_OF(q, v).ravel()
    return np.asarray(np.linalg.solve(MASS_OF(q), force))


def current_rate(v: Array, current: Array, voltage: Array) -> Array:
    """di/dt of each winding."""
    drop = np.array(RESISTANCE) * current + np.array(K) * np.array(RATIO) * v
    return np.asarray((voltage - drop) / np.array(INDUCTANCE))


def steady_current(v: Array, voltage: Array) -> Array:
    """Current with di/dt = 0."""
    return np.asarray((voltage - np.array(K) * np.array(RATIO) * v) / np.array(RESISTANCE))


def urdf() -> str:
    """The same arm as a URDF; motor 2 is a wheel of the drivetrain."""
    links, joints = ['<link name="base"/>'], []
    for k, name in enumerate(("upper", "fore")):
        links.append(
            f'<link name="{name}"><inertial><origin xyz="{CENTRE[k]} 0 0"/>'
            f'<mass value="{MASS[k]}"/><inertia ixx="{INERTIA[k]}" iyy="{INERTIA[k]}" '
            f'izz="{INERTIA[k]}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        parent, x = ("base", 0.0) if k == 0 else ("upper", LENGTH[0])
        joints.append(
            f'<joint name="joint_{k + 1}" type="continuous"><origin xyz="{x} 0 0"/>'
            f'<parent link="{parent}"/><child link="{name}"/><axis xyz="0 0 1"/></joint>'
        )
    return f'<robot name="planar">{"".join(links + joints)}</robot>'


def drivetrain() -> dict[str, Any]:
    """The rotors; the transverse inertia lies in no coordinate."""
    wheels: dict[str, Any] = {}
    for k, (carrier, x) in enumerate((("base", 0.0), ("upper", LENGTH[0]))):
        wheels[f"rotor_{k + 1}"] = {
            "carrier": carrier,
            "axis": [0, 0, 1],
            "position": [x, 0, 0],
            "mass": MOTOR_MASS,
            "inertia": {"axial": ROTOR[k]},
        }
    return {
        "version": 1,
        "wheels": wheels,
        "spins": [
            {"wheel": f"rotor_{k + 1}", "joint": f"joint_{k + 1}", "ratio": RATIO[k]}
            for k in range(2)
        ],
        "motors": {f"motor_{k + 1}": {"wheel": f"rotor_{k + 1}"} for k in range(2)},
    }
