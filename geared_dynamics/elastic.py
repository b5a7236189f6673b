"""Arms with elastic joints: link positions q and motor-side positions theta.

The functions take a model whose drivetrain gives joints a ``stiffness``; theta has an entry
for each of these joints, n_e of them, in the order of ``model.joint_names``, on the joint
side. Formulas and sources: docs/elastic.md, docs/feedforward.md.
"""

from geared_dynamics.actuation.motor_commands import elastic_motor_commands as motor_commands
from geared_dynamics.dynamics import elastic as _dynamics
from geared_dynamics.dynamics.elastic import *  # noqa: F403

__all__ = [*_dynamics.__all__, "motor_commands"]
