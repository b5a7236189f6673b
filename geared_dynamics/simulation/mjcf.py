"""The arm with its rotors and gears as an MJCF file for MuJoCo, all digits written."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

import numpy as np

from geared_dynamics.actuation.friction_elements import FrictionTable
from geared_dynamics.arrays import Array
from geared_dynamics.errors import ArrayError, GearedDynamicsWarning, shown
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.simulation.integrators import friction_of
from geared_dynamics.simulation.mujoco_bodies import Blueprint, blueprint, compiled, wheel_joint
from geared_dynamics.simulation.mujoco_parts import coefficient, mujoco

# -- MJCF text of a blueprint with all digits -----------------------------------------------------
#
# MuJoCo's own writer keeps six, with which the moments of a thin disc may no longer be those of
# any body and gears no longer have their ratios.


Value = str | float | Iterable[float]


def mjcf(plan: Blueprint) -> str:
    """Write the MJCF of a blueprint.

    Args:
        plan: The arm as described to MuJoCo.
    """
    lines = [
        opening("mujoco", model=plan.model.name),
        element("compiler", angle="radian", autolimits="false", balanceinertia="false"),
        opening(
            "option",
            timestep=plan.spec.option.timestep,
            gravity=plan.spec.option.gravity,
            integrator="RK4",
            solver="Newton",
            jacobian="dense",  # see ``set_options``
            tolerance=plan.spec.option.tolerance,
        ),
        element("flag", contact="disable"),
        "</option>",
        "<worldbody>",
        *(line for body in plan.spec.worldbody.bodies for line in body_lines(body)),
        "</worldbody>",
        "<tendon>",
        *tendons(plan),
        "</tendon>",
        "<equality>",
        *equalities(plan),
        "</equality>",
        "<actuator>",
        *actuators(plan),
        "</actuator>",
        "</mujoco>",
    ]
    return "\n".join(indented(lines)) + "\n"


def body_lines(body: Any) -> Iterator[str]:
    """A body with its joints, shapes and children."""
    yield opening("body", name=body.name, pos=body.pos, quat=body.quat)
    if body.explicitinertial:
        yield element(
            "inertial", pos=body.ipos, quat=body.iquat, mass=body.mass, diaginertia=body.inertia
        )
    for joint in body.joints:
        yield joint_line(joint)
    for geom in body.geoms:
        yield geom_line(geom)
    for child in body.bodies:
        yield from body_lines(child)
    yield "</body>"


def joint_line(joint: Any) -> str:
    """A joint with its friction."""
    slides = joint.type == mujoco().mjtJoint.mjJNT_SLIDE
    values: dict[str, Value] = {
        "name": joint.name,
        "type": "slide" if slides else "hinge",
        "axis": joint.axis,
    }
    if np.any(joint.range):
        values |= {"range": joint.range, "limited": "false"}
    damping = coefficient(joint, "damping")
    if damping:
        values["damping"] = damping
    if joint.frictionloss:
        values |= {
            "frictionloss": joint.frictionloss,
            "solreffriction": joint.solref_friction,
            "solimpfriction": joint.solimp_friction,
        }
    return element("joint", **values)


def geom_line(geom: Any) -> str:
    """A shape, which is only to be seen."""
    kinds = mujoco().mjtGeom
    names = {kinds.mjGEOM_CAPSULE: "capsule", kinds.mjGEOM_CYLINDER: "cylinder"}
    kind = names.get(geom.type, "box")
    values: dict[str, Value] = {"type": kind, "rgba": geom.rgba, "mass": 0.0}
    if kind == "box":
        values["size"] = geom.size
    else:
        values |= {"fromto": geom.fromto, "size": float(geom.size[0])}
    return element("geom", **values, contype="0", conaffinity="0")


def tendons(plan: Blueprint) -> Iterator[str]:
    """Fixed tendons: ties and springs."""
    made = {tendon.name: tendon for tendon in plan.spec.tendons}
    for name, row in plan.tendons.items():
        tendon = made[name]
        values: dict[str, Value] = {"name": name}
        stiffness, damping = (coefficient(tendon, key) for key in ("stiffness", "damping"))
        if stiffness:
            values |= {"stiffness": stiffness, "springlength": tendon.springlength}
        if damping:
            values["damping"] = damping
        yield opening("fixed", **values)
        yield from (element("joint", joint=joint, coef=c) for joint, c in terms(plan, row))
        yield "</fixed>"


def terms(plan: Blueprint, row: Array) -> Iterator[tuple[str, float]]:
    """Joints of a row (n + w,) over joints and wheels, with their coefficients."""
    n = plan.model.n
    for d in np.flatnonzero(row):
        name = plan.model.joint_names[d] if d < n else wheel_joint(plan.wheels[d - n])
        yield name, float(row[d])


def equalities(plan: Blueprint) -> Iterator[str]:
    """Mimic joints and gears."""
    for tie in plan.spec.equalities:
        stiff: dict[str, Value] = {"solref": tie.solref, "solimp": tie.solimp}
        if tie.type == mujoco().mjtEq.mjEQ_JOINT:
            yield element(
                "joint",
                name=tie.name,
                joint1=tie.name1,
                joint2=tie.name2,
                polycoef=tie.data[:5],
                **stiff,
            )
        else:
            yield element("tendon", name=tie.name, tendon1=tie.name1, **stiff)


def actuators(plan: Blueprint) -> Iterator[str]:
    """The motors."""
    for motor in plan.spec.actuators:
        values: dict[str, Value] = {"name": motor.name, "joint": motor.target}
        if np.any(motor.ctrlrange):
            values |= {"ctrlrange": motor.ctrlrange, "ctrllimited": "true"}
        yield element("motor", **values)


def opening(tag: str, **values: Value) -> str:
    """The beginning of an element with others inside."""
    return f"<{' '.join([tag, *attributes(values)])}>"


def element(tag: str, **values: Value) -> str:
    """An element with nothing inside."""
    return f"<{' '.join([tag, *attributes(values)])}/>"


def attributes(values: dict[str, Value]) -> Iterator[str]:
    """Attributes, numbers with all their digits."""
    for name, value in values.items():
        if isinstance(value, str):
            text = value
        else:
            text = " ".join(repr(float(x)) for x in np.atleast_1d(np.asarray(value, float)))
        yield f'{name}="{escape(text)}"'


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Indent by depth."""
    depth = 0
    for line in lines:
        depth -= line.startswith("</")
        yield "  " * depth + line
        depth += not line.startswith("</") and not line.endswith("/>")


# -- MJCF: the arm with its rotors and gears as a file for MuJoCo ---------------------------------


TIMESTEP = 1e-3


def to_mjcf(model: GearedModel, *, timestep: float = TIMESTEP, friction: bool = True) -> str:
    """Write the arm for MuJoCo (MJCF): every rotor and wheel a body, its gears as constraints.

    An actuator for each motor takes the electromagnetic torque [N m] as its control. Ties,
    springs, viscous and Coulomb friction are in the file; what MJCF cannot say is warned of.

    Args:
        model: Geared model.
        timestep: Of the integrator [s]; the gears are as stiff as it allows.
        friction: Whether joints and rotors rub.

    Raises:
        ModelError: naming a link or wheel that cannot be a body of its own.
        MissingPackageError: MuJoCo is not installed.
    """
    require_model(model)
    if not (isinstance(timestep, float) and 0.0 < timestep < 1.0):
        raise ArrayError("timestep", f"is {shown(timestep)}", "give a time between 0 and 1 s")
    for words in left_out(model, friction_of(model, friction)):
        warnings.warn(f"MJCF: {words}", GearedDynamicsWarning, stacklevel=2)
    plan = blueprint(model, timestep, friction=friction)
    compiled(plan)  # refuses what would not load
    return mjcf(plan)


def left_out(model: GearedModel, friction: FrictionTable) -> list[str]:
    """What of the arm is not in the file."""
    missing = []
    if model.balancers.names:
        names = ", ".join(model.balancers.names)
        missing.append(f"balancers {names} are left out: apply gd.balancer_forces to the joints")
    if np.any(friction.laws.static != friction.laws.coulomb) or np.any(
        np.ptp(friction.laws.static, axis=1)
    ):
        missing.append("friction has its breakaway level, the same in both directions")
    if friction.laws.ripple.size or friction.laws.offset.any():
        missing.append("offset and ripple of friction are left out")
    elastic = model.elasticity
    if np.any((elastic.gap > 0.0) & (elastic.damping > 0.0)):
        missing.append("damping of springs with backlash is left out")
    return missing
