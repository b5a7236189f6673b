"""The terms of the inverse dynamics apart, for whoever asks which of them matters."""

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import call, coordinates
from geared_dynamics.model import GearedModel

TORQUE_TERMS = ("inertia", "coriolis", "gravity", "armature", "coupling")
MODELS = ("without rotors", "armature", "complete")


def torque_terms(
    model: GearedModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None
) -> Array:
    r"""Terms of the joint force and its sums, in one recursion; without friction.

    Rows: M_locked a; C_locked v; g; diag(\Gamma'J\Gamma) a; what else the wheels' spin does;
    then the forces without rotors (the first three), with their armature (the first four),
    and complete (all five, ``inverse_dynamics``). ``model.coupling`` says which terms of the
    wheels there are.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        out: Result array (..., 8, n), returned.

    Returns:
        (..., 8, n) [N m or N], joint side: ``TORQUE_TERMS``, then ``MODELS``.
    """
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n), "a": (a, n)}
    shape = (len(TORQUE_TERMS) + len(MODELS), n)
    return np.asarray(call("torque_terms", model, inputs, shape, out))
