"""Control laws: model, gains, state and reference to commands; what is safe to send."""

from geared_dynamics.control import safety
from geared_dynamics.control.controller import Controller
from geared_dynamics.control.elastic_controller import ElasticController, elastic_controller
from geared_dynamics.control.elastic_gains import closed_loop_poles, gains_from_modes
from geared_dynamics.control.gains import Gains, gains_from_bandwidth, torque_gains
from geared_dynamics.control.hybrid import desired_contact
from geared_dynamics.control.laws import (
    Demand,
    Setting,
    computed_torque,
    feedforward,
    gravity_compensation,
    hold,
    pd_plus_feedforward,
)
from geared_dynamics.control.outputs import limit_names
from geared_dynamics.control.rigid_controller import RigidController, controller
from geared_dynamics.control.terms import (
    Compensation,
    DesiredContact,
    Memory,
    Output,
    Reference,
    Terms,
    TermTorques,
    compensation,
    term_torques,
)
from geared_dynamics.dynamics.state import State as State  # its former place, for one release

__all__ = [
    "Compensation",
    "Controller",
    "Demand",
    "DesiredContact",
    "ElasticController",
    "Gains",
    "Memory",
    "Output",
    "Reference",
    "RigidController",
    "Setting",
    "TermTorques",
    "Terms",
    "closed_loop_poles",
    "compensation",
    "computed_torque",
    "controller",
    "desired_contact",
    "elastic_controller",
    "feedforward",
    "gains_from_bandwidth",
    "gains_from_modes",
    "gravity_compensation",
    "hold",
    "limit_names",
    "pd_plus_feedforward",
    "safety",
    "term_torques",
    "torque_gains",
]
