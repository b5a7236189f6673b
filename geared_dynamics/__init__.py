"""Complete dynamics of geared robot arms, from a URDF and a description of the drives."""

from geared_dynamics import elastic, trajectory
from geared_dynamics.actuation.commands import Limit, MotorCommands, motor_commands
from geared_dynamics.actuation.limits import Saturated, saturate, torque_range
from geared_dynamics.actuation.thermal import thermal_current, thermal_step
from geared_dynamics.dynamics.balancers import balancer_energy, balancer_forces
from geared_dynamics.dynamics.base_parameters import BaseParameters, base_parameters
from geared_dynamics.dynamics.contributions import WheelContribution, wheel_contributions
from geared_dynamics.dynamics.derivatives import inverse_dynamics_derivatives
from geared_dynamics.dynamics.energy import (
    KineticEnergyTerms,
    kinetic_energy,
    kinetic_energy_terms,
    potential_energy,
)
from geared_dynamics.dynamics.friction import friction_forces
from geared_dynamics.dynamics.kinematics import jacobian, jacobian_drift, pose
from geared_dynamics.dynamics.regressor import parameter_names, parameters, regressor
from geared_dynamics.dynamics.rigid import (
    bias_forces,
    coriolis_matrix,
    external_forces,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    mass_matrix,
)
from geared_dynamics.dynamics.transmission import motor_angles, motor_speeds, motor_torques
from geared_dynamics.errors import GearedDynamicsError, GearedDynamicsWarning
from geared_dynamics.load import from_dh, from_rodrigues, load_model, to_urdf
from geared_dynamics.model import GearedModel

__version__ = "0.1.0"

__all__ = [
    "BaseParameters",
    "GearedDynamicsError",
    "GearedDynamicsWarning",
    "GearedModel",
    "KineticEnergyTerms",
    "Limit",
    "MotorCommands",
    "Saturated",
    "WheelContribution",
    "balancer_energy",
    "balancer_forces",
    "base_parameters",
    "bias_forces",
    "coriolis_matrix",
    "elastic",
    "external_forces",
    "forward_dynamics",
    "friction_forces",
    "from_dh",
    "from_rodrigues",
    "gravity_forces",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_drift",
    "kinetic_energy",
    "kinetic_energy_terms",
    "load_model",
    "mass_matrix",
    "motor_angles",
    "motor_commands",
    "motor_speeds",
    "motor_torques",
    "parameter_names",
    "parameters",
    "pose",
    "potential_energy",
    "regressor",
    "saturate",
    "thermal_current",
    "thermal_step",
    "to_urdf",
    "torque_range",
    "trajectory",
    "wheel_contributions",
]
