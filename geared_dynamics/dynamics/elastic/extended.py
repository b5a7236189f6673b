"""The arm with a coordinate more for each elastic joint: x = (q, theta).

It is a geared model like any other: the tree's bodies follow q, the wheels q and theta, so
that its mass matrix is H and every rigid function holds for it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from geared_dynamics.arrays import Array, ArrayLike, readonly, readonly_bool, readonly_int
from geared_dynamics.dynamics.arguments import common_lead, finite_input
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, Tree, Wheels
from geared_dynamics.model.elasticity import Elasticity


def extended(model: GearedModel) -> GearedModel:
    """Return the arm of n + n_e coordinates, made at first use and kept on the model.

    Raises:
        ModelError: if no joint of the model is elastic.
    """
    forms = model._forms
    if forms.extended is None:
        forms.extended = extend(model)
    return forms.extended


def with_springs(model: GearedModel) -> GearedModel:
    """Return the arm with elastic joints as a rigid one of coordinates x = (q, theta).

    Every rigid function takes it, and those of ``contact``, with x (..., n + n_e) for q. The
    springs' forces are no part of it: add ``spring_forces`` to the force on x.

    Args:
        model: Geared model with elastic joints.

    Raises:
        ModelError: if no joint of the model is elastic.
    """
    arm, none = extended(model), readonly([])
    stretch = readonly(np.zeros((0, arm.n)))
    rigid = replace(
        model.elasticity,
        names=(),
        joint=readonly_int([]),
        stretch=stretch,
        stiffness=none,
        damping=none,
        rest=none,
        gap=none,
    )
    return replace(arm, elasticity=rigid)


def extend(model: GearedModel) -> GearedModel:
    """Let the wheels follow the shafts behind the springs."""
    elastic = model.elasticity
    if not elastic.stiffness.size:
        place = f"{model.drivetrain_source}, joints"
        remedy = "give joints.<name>.stiffness, or use the rigid functions"
        raise ModelError(place, "no joint of this arm is elastic", remedy)
    tree = model.tree
    if model.elastic_model == "complete":
        spin = np.hstack([elastic.link_spin, elastic.shaft_spin])
        wheels = replace(model.wheels, spin=readonly(spin))
    else:
        wheels = separated(model)
    if model.elastic_model == "spong_truncated":
        tree = without_rotor_tensors(model)
    return replace(model, joint_names=model.joint_names + elastic.names, wheels=wheels, tree=tree)


def behind_springs(elastic: Elasticity) -> NDArray[np.bool_]:
    """Whether each wheel follows a shaft behind a spring (w,)."""
    return np.asarray(np.any(elastic.shaft_spin != 0.0, axis=1))


def separated(model: GearedModel) -> Wheels:
    """Split each wheel behind a spring in two: one follows q, one theta and feels no carrier.

    The kinetic energy is then J (Gamma_q v)^2 / 2 + J (Gamma_q v)(Z v) + J (Gamma_theta
    theta')^2 / 2, so that S = 0; ``spong_truncated`` leaves out the second term as well.
    """
    elastic, wheels = model.elasticity, model.wheels
    behind = behind_springs(elastic)
    count, names = int(behind.sum()), np.array(wheels.names, object)[behind]
    none = np.zeros((len(wheels.names), elastic.count))
    spin = np.vstack(
        [
            np.hstack([elastic.link_spin, none]),
            np.hstack([np.zeros((count, model.n)), elastic.shaft_spin[behind]]),
        ]
    )
    carrier = wheels.carrier.copy()
    if model.elastic_model == "spong_truncated":
        carrier[behind] = -1
    return replace(
        wheels,
        names=wheels.names + tuple(f"{name}.theta" for name in names),
        carrier=readonly_int([*carrier, *[-1] * count]),
        axis=readonly(np.vstack([wheels.axis, wheels.axis[behind]])),
        position=readonly(np.vstack([wheels.position, wheels.position[behind]])),
        inertia=readonly([*wheels.inertia, *wheels.inertia[behind]]),
        spin=readonly(spin),
        links=wheels.links + (model.root,) * count,
        mass=readonly(np.append(wheels.mass, np.zeros(count))),
        transverse=readonly(np.append(wheels.transverse, np.zeros(count))),
        included=readonly_bool([*wheels.included, *[True] * count]),
    )


def without_rotor_tensors(model: GearedModel) -> Tree:
    """Take the tensors of the wheels behind springs out of the links: points of mass remain."""
    parameters = model.tree.parameters.copy()
    for r in np.flatnonzero(behind_springs(model.elasticity)):
        carrier, wheels = int(model.wheels.carrier[r]), model.wheels
        if carrier >= 0:
            along = np.outer(wheels.axis[r], wheels.axis[r])
            tensor = wheels.transverse[r] * (np.eye(3) - along) + wheels.inertia[r] * along
            parameters[carrier, 4:] -= tensor[np.triu_indices(3)]
    return replace(model.tree, parameters=readonly(parameters))


def joined(model: GearedModel, **pairs: tuple[ArrayLike, ArrayLike | None]) -> list[Array]:
    """Join what is given for q and for theta to arrays (..., n + n_e), broadcast.

    Args:
        model: Geared model.
        pairs: By the name of q's part, the parts of q (..., n) and of theta (..., n_e).
    """
    shafts, names = model.elasticity.count, {"q": "theta"}
    arrays = {}
    for name, (link, shaft) in pairs.items():
        other = names.get(name, f"{name}theta")
        arrays[name] = finite_input(name, link, model.n)
        arrays[other] = finite_input(other, motor_side(other, shaft), shafts)
    lead = common_lead(arrays)
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays.values()]
    return [np.concatenate(two, axis=-1) for two in zip(parts[::2], parts[1::2], strict=True)]


def motor_side(name: str, value: ArrayLike | None) -> ArrayLike:
    """A state's part on the motor side of the springs; an error where it is missing."""
    if value is None:
        remedy = "give gd.State(q, v, theta, vtheta); theta = model.elasticity.rigid @ q at rest"
        raise ArrayError(f"state.{name}", "is None, and this arm has elastic joints", remedy)
    return value


def padded(model: GearedModel, q: ArrayLike) -> Array:
    """Join q (..., n) with zeros, for what does not depend on theta."""
    array = finite_input("q", q, model.n)
    return np.concatenate([array, np.zeros((*array.shape[:-1], model.elasticity.count))], axis=-1)
