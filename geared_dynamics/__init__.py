"""Complete dynamics of geared robot arms, from a URDF and a description of the drives."""

from geared_dynamics import contact, control, elastic, observers, simulation, trajectory
from geared_dynamics.actuation.combined import (
    CombinedSystem,
    combine_actuators,
    dc_actuator,
)
from geared_dynamics.actuation.commands import Limit, MotorCommands, motor_commands
from geared_dynamics.actuation.driven import (
    DrivenRates,
    DrivenTerms,
    driven_acceleration,
    driven_rates,
    driven_terms,
)
from geared_dynamics.actuation.limits import Saturated, saturate, torque_range
from geared_dynamics.actuation.linear import LinearActuator
from geared_dynamics.actuation.motion import motion_from_torque
from geared_dynamics.actuation.power import PowerBalance, power_balance
from geared_dynamics.actuation.stepping import DrivenState, driven_step
from geared_dynamics.actuation.stiction import Sticking, sticking
from geared_dynamics.actuation.thermal import thermal_current, thermal_step
from geared_dynamics.dynamics import cartesian
from geared_dynamics.dynamics.balancers import (
    balancer_energy,
    balancer_force_rates,
    balancer_forces,
)
from geared_dynamics.dynamics.base_parameters import BaseParameters, base_parameters
from geared_dynamics.dynamics.contributions import WheelContribution, wheel_contributions
from geared_dynamics.dynamics.derivatives import inverse_dynamics_derivatives
from geared_dynamics.dynamics.energy import (
    KineticEnergyTerms,
    kinetic_energy,
    kinetic_energy_terms,
    potential_energy,
)
from geared_dynamics.dynamics.external import external_forces
from geared_dynamics.dynamics.friction import friction_forces
from geared_dynamics.dynamics.kinematics import jacobian, jacobian_drift, pose
from geared_dynamics.dynamics.regressor import parameter_names, parameters, regressor
from geared_dynamics.dynamics.rigid import (
    bias_forces,
    coriolis_matrix,
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
    "CombinedSystem",
    "DrivenRates",
    "DrivenState",
    "DrivenTerms",
    "GearedDynamicsError",
    "GearedDynamicsWarning",
    "GearedModel",
    "KineticEnergyTerms",
    "Limit",
    "LinearActuator",
    "MotorCommands",
    "PowerBalance",
    "Saturated",
    "Sticking",
    "WheelContribution",
    "balancer_energy",
    "balancer_force_rates",
    "balancer_forces",
    "base_parameters",
    "bias_forces",
    "cartesian",
    "combine_actuators",
    "contact",
    "control",
    "coriolis_matrix",
    "dc_actuator",
    "driven_acceleration",
    "driven_rates",
    "driven_step",
    "driven_terms",
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
    "motion_from_torque",
    "motor_angles",
    "motor_commands",
    "motor_speeds",
    "motor_torques",
    "observers",
    "parameter_names",
    "parameters",
    "pose",
    "potential_energy",
    "power_balance",
    "regressor",
    "saturate",
    "simulation",
    "sticking",
    "thermal_current",
    "thermal_step",
    "to_urdf",
    "torque_range",
    "trajectory",
    "wheel_contributions",
]
