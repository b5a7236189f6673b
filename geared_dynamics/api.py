"""The public names of ``geared_dynamics``, all of them."""

from geared_dynamics import contact, control, elastic, observers, simulation, trajectory
from geared_dynamics.actuation.driven_dynamics import (
    DrivenRates,
    DrivenTerms,
    driven_acceleration,
    driven_rates,
    driven_terms,
)
from geared_dynamics.actuation.heat_and_power import (
    PowerBalance,
    power_balance,
    thermal_current,
    thermal_step,
)
from geared_dynamics.actuation.linear_actuators import (
    CombinedSystem,
    LinearActuator,
    combine_actuators,
    dc_actuator,
)
from geared_dynamics.actuation.motion_from_torque import Sticking, motion_from_torque, sticking
from geared_dynamics.actuation.motor_commands import Limit, MotorCommands, motor_commands
from geared_dynamics.actuation.motor_limits import Saturated, saturate, torque_range
from geared_dynamics.actuation.stepping import driven_step
from geared_dynamics.dynamics import cartesian
from geared_dynamics.dynamics.frames import external_forces, jacobian, jacobian_drift, pose
from geared_dynamics.dynamics.friction_and_balancers import (
    balancer_energy,
    balancer_force_rates,
    balancer_forces,
    friction_forces,
)
from geared_dynamics.dynamics.motor_side import motor_angles, motor_speeds, motor_torques
from geared_dynamics.dynamics.regressor import (
    BaseParameters,
    base_parameters,
    parameter_names,
    parameters,
    regressor,
)
from geared_dynamics.dynamics.rigid import (
    KineticEnergyTerms,
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_dynamics_time_derivatives,
    kinetic_energy,
    kinetic_energy_terms,
    mass_matrix,
    potential_energy,
)
from geared_dynamics.dynamics.state import Measurement, State, replaced
from geared_dynamics.dynamics.wheel_contributions import WheelContribution, wheel_contributions
from geared_dynamics.errors import GearedDynamicsError, GearedDynamicsWarning
from geared_dynamics.load import from_dh, from_rodrigues, load_model, to_urdf
from geared_dynamics.model import GearedModel

DrivenState = replaced("gd.DrivenState", "gd.State(q, v, current=current)")
inverse_dynamics_derivatives = replaced(
    "gd.inverse_dynamics_derivatives",
    "gd.inverse_dynamics_time_derivatives(model, derivatives), as the former name will belong to "
    "the partial derivatives",
)
FORMER = ("DrivenState", "inverse_dynamics_derivatives")  # a call raises and names the new one

__all__ = [
    "BaseParameters",
    "CombinedSystem",
    "DrivenRates",
    "DrivenTerms",
    "GearedDynamicsError",
    "GearedDynamicsWarning",
    "GearedModel",
    "KineticEnergyTerms",
    "Limit",
    "LinearActuator",
    "Measurement",
    "MotorCommands",
    "PowerBalance",
    "Saturated",
    "State",
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
    "inverse_dynamics_time_derivatives",
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
