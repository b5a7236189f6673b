"""Arms with elastic joints: link positions q and motor-side positions theta.

The functions take a model whose drivetrain gives joints a ``stiffness``; theta has an entry
for each of these joints, n_e of them, in the order of ``model.joint_names``, on the joint
side. Formulas and sources: docs/elastic.md, docs/feedforward.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from geared_dynamics.actuation.motor_commands import elastic_motor_commands as motor_commands
from geared_dynamics.dynamics import elastic as _dynamics
from geared_dynamics.dynamics.elastic import *  # noqa: F403

if TYPE_CHECKING:
    from geared_dynamics.trace.elastic_derivatives import (
        ElasticForwardDerivatives,
        ElasticInverseDerivatives,
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
    )
    from geared_dynamics.trace.motor_derivatives import (
        FeedforwardDerivatives,
        feedforward_derivatives,
    )

__all__ = [
    *_dynamics.__all__,
    "ElasticForwardDerivatives",
    "ElasticInverseDerivatives",
    "FeedforwardDerivatives",
    "feedforward_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
    "motor_commands",
]


def __getattr__(name: str) -> Any:
    """Load the derivatives at first use: their module loads sources of kernels."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = "motor_derivatives" if name.lower().startswith("feed") else "elastic_derivatives"
    module = import_module(f"geared_dynamics.trace.{room}")
    return globals().setdefault(name, getattr(module, name))
