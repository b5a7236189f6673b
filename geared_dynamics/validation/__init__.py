"""Validation: the user's own robot against an independent library, and what coupling is worth."""

from geared_dynamics.validation.comparison import Quantity
from geared_dynamics.validation.coupling import CouplingGap, JointGap, coupling_gap
from geared_dynamics.validation.crosscheck import CrossCheck, cross_check
from geared_dynamics.validation.exactness import Exactness, diagonal_exactness
from geared_dynamics.validation.spanning_tree import SpanningTree, spanning_tree
from geared_dynamics.validation.states import Ranges, States, random_states, state_ranges

__all__ = [
    "CouplingGap",
    "CrossCheck",
    "Exactness",
    "JointGap",
    "Quantity",
    "Ranges",
    "SpanningTree",
    "States",
    "coupling_gap",
    "cross_check",
    "diagonal_exactness",
    "random_states",
    "spanning_tree",
    "state_ranges",
]
