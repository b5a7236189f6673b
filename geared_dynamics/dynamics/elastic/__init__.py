"""Arms with elastic joints: link positions q and motor-side positions theta.

The functions take a model whose drivetrain gives joints a ``stiffness``; theta has an entry
for each of these joints, n_e of them, in the order of ``model.joint_names``, on the joint
side. Formulas and sources: docs/elastic.md.
"""

from geared_dynamics.dynamics.elastic.equations import (
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    inverse_dynamics,
    joint_torque,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    spring_energy,
    spring_forces,
    structure_matrix,
    with_springs,
)
from geared_dynamics.dynamics.elastic.flatness import Feedforward, derivatives_needed, feedforward
from geared_dynamics.dynamics.elastic.motors import (
    friction_forces,
    motor_angles,
    motor_speeds,
    motor_torques,
)
from geared_dynamics.dynamics.elastic.vibration import Modes, modes, poles

__all__ = [
    "Feedforward",
    "Modes",
    "bias_forces",
    "coriolis_matrix",
    "derivatives_needed",
    "feedforward",
    "forward_dynamics",
    "friction_forces",
    "inverse_dynamics",
    "joint_torque",
    "kinetic_energy",
    "mass_matrix",
    "modes",
    "motor_angles",
    "motor_speeds",
    "motor_torques",
    "poles",
    "potential_energy",
    "spring_energy",
    "spring_forces",
    "structure_matrix",
    "with_springs",
]
