"""The public names of ``geared_dynamics``, all of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from geared_dynamics import contact, control, elastic, observers, simulation, trajectory
from geared_dynamics.actuation.command_type import TorqueMap, torque_map
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
from geared_dynamics.dynamics import cartesian
from geared_dynamics.dynamics.drives import (
    balancer_energy,
    balancer_force_rates,
    balancer_forces,
    friction_forces,
    motor_angles,
    motor_speeds,
    motor_torques,
)
from geared_dynamics.dynamics.frames import external_forces, jacobian, jacobian_drift, pose
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
from geared_dynamics.simulation.driven_arm import driven_step

if TYPE_CHECKING:
    from geared_dynamics.scene.page import view
    from geared_dynamics.trace.c_code import export_c
    from geared_dynamics.trace.casadi_functions import to_casadi
    from geared_dynamics.trace.compiled import compiled
    from geared_dynamics.trace.crocoddyl_models import to_crocoddyl
    from geared_dynamics.trace.crocoddyl_steps import to_crocoddyl_action
    from geared_dynamics.trace.derivatives import (
        ForwardDynamicsDerivatives,
        InverseDynamicsDerivatives,
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
    )
    from geared_dynamics.trace.motor_derivatives import (
        MotorCommandsDerivatives,
        motor_commands_derivatives,
    )
    from geared_dynamics.trace.parameter_derivatives import (
        MotorParameterDerivatives,
        ParameterDerivatives,
        forward_dynamics_parameter_derivatives,
        motor_commands_parameter_derivatives,
    )

DrivenState = replaced("gd.DrivenState", "gd.State(q, v, current=current)")
FORMER = ("DrivenState",)  # a call raises and names the new one

__all__ = [
    "BaseParameters",
    "CombinedSystem",
    "DrivenRates",
    "DrivenTerms",
    "ForwardDynamicsDerivatives",
    "GearedDynamicsError",
    "GearedDynamicsWarning",
    "GearedModel",
    "InverseDynamicsDerivatives",
    "KineticEnergyTerms",
    "Limit",
    "LinearActuator",
    "Measurement",
    "MotorCommands",
    "MotorCommandsDerivatives",
    "MotorParameterDerivatives",
    "ParameterDerivatives",
    "PowerBalance",
    "Saturated",
    "State",
    "Sticking",
    "TorqueMap",
    "WheelContribution",
    "balancer_energy",
    "balancer_force_rates",
    "balancer_forces",
    "base_parameters",
    "bias_forces",
    "cartesian",
    "combine_actuators",
    "compiled",
    "contact",
    "control",
    "coriolis_matrix",
    "dc_actuator",
    "driven_acceleration",
    "driven_rates",
    "driven_step",
    "driven_terms",
    "elastic",
    "export_c",
    "external_forces",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
    "friction_forces",
    "from_dh",
    "from_rodrigues",
    "gravity_forces",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
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
    "motor_commands_derivatives",
    "motor_commands_parameter_derivatives",
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
    "to_casadi",
    "to_crocoddyl",
    "to_crocoddyl_action",
    "to_urdf",
    "torque_map",
    "torque_range",
    "trajectory",
    "view",
    "wheel_contributions",
]

# Names whose modules load sources of kernels, which few programs need: loaded at first use.
LATE = {
    "ForwardDynamicsDerivatives": "trace.derivatives",
    "InverseDynamicsDerivatives": "trace.derivatives",
    "MotorCommandsDerivatives": "trace.motor_derivatives",
    "MotorParameterDerivatives": "trace.parameter_derivatives",
    "ParameterDerivatives": "trace.parameter_derivatives",
    "compiled": "trace.compiled",
    "export_c": "trace.c_code",
    "forward_dynamics_derivatives": "trace.derivatives",
    "forward_dynamics_parameter_derivatives": "trace.parameter_derivatives",
    "inverse_dynamics_derivatives": "trace.derivatives",
    "motor_commands_derivatives": "trace.motor_derivatives",
    "motor_commands_parameter_derivatives": "trace.parameter_derivatives",
    "to_casadi": "trace.casadi_functions",
    "to_crocoddyl": "trace.crocoddyl_models",
    "to_crocoddyl_action": "trace.crocoddyl_steps",
    "view": "scene.page",
}


def __getattr__(name: str) -> Any:
    """Load one of the late names."""
    if name not in LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__package__}.{LATE[name]}")
    return globals().setdefault(name, getattr(module, name))
