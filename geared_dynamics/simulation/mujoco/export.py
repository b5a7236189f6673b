"""MJCF: the arm with its rotors and gears as a file for MuJoCo."""

from __future__ import annotations

import warnings

import numpy as np

from geared_dynamics.errors import ArrayError, GearedDynamicsWarning
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.simulation.mujoco.build import blueprint, compiled
from geared_dynamics.simulation.mujoco.mjcf import mjcf
from geared_dynamics.simulation.plants.friction import Friction, friction_of

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
        raise ArrayError("timestep", f"is {timestep!r}", "give a time between 0 and 1 s")
    for words in left_out(model, friction_of(model, friction)):
        warnings.warn(f"MJCF: {words}", GearedDynamicsWarning, stacklevel=2)
    plan = blueprint(model, timestep, friction=friction)
    compiled(plan)  # refuses what would not load
    return mjcf(plan)


def left_out(model: GearedModel, friction: Friction) -> list[str]:
    """What of the arm is not in the file."""
    missing = []
    if model.drivetrain.balancers:
        names = ", ".join(balancer.name for balancer in model.drivetrain.balancers)
        missing.append(f"balancers {names} are left out: apply gd.balancer_forces to the joints")
    if np.any(friction.static != friction.coulomb) or np.any(np.ptp(friction.static, axis=1)):
        missing.append("friction has its breakaway level, the same in both directions")
    if friction.ripple.size or friction.offset.any():
        missing.append("offset and ripple of friction are left out")
    elastic = model.elasticity
    if np.any((elastic.gap > 0.0) & (elastic.damping > 0.0)):
        missing.append("damping of springs with backlash is left out")
    return missing
