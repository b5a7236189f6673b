"""Friction and balancers: what else acts on the joints at a state."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import by_own_code, call, coordinates, deliver
from geared_dynamics.dynamics.drive_packing import packed_drives
from geared_dynamics.dynamics.packing import packed_balancers
from geared_dynamics.model import GearedModel

# -- Springs between links and on joints: what they do to the joints ------------------------------
#
# They appear as M a + C v + g + friction = tau + balancer_forces; the rigid functions
# leave them out.


def balancer_forces(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Force of the model's springs on the joints: -dU/dq (..., n) [N m or N], joint side.

    A drive has that much less to give: tau = M a + C v + g - balancer_forces.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (..., n), returned.

    Raises:
        ModelError: naming the element whose anchors meet or whose gas has no volume left.
    """
    n = coordinates(model)
    return call("balancer_forces", model, {"q": (q, n)}, (n,), out, (packed_balancers(model),))


def balancer_force_rates(
    model: GearedModel, q: ArrayLike, v: ArrayLike, *, out: Array | None = None
) -> Array:
    """Time derivative of ``balancer_forces`` along a motion (..., n) [N m/s or N/s].

    What ``inverse_dynamics_time_derivatives`` leaves out of d tau/dt.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        out: Result array (..., n), returned.

    Raises:
        ModelError: as ``balancer_forces``.
    """
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n)}
    return call("balancer_rates", model, inputs, (n,), out, (packed_balancers(model),))


def balancer_energy(model: GearedModel, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Potential energy U of the model's springs, shape (...) [J].

    A spring between links has none at its stated length, a spring on a joint none where
    its coordinate is zero.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        out: Result array (...), returned; ``np.empty(())`` for one state.

    Raises:
        ModelError: naming the element whose gas has no volume left.
    """
    inputs, constants = {"q": (q, coordinates(model))}, (packed_balancers(model),)
    energy = call("balancer_energy", model, inputs, (1,), None, constants)
    return deliver(energy[..., 0], out, {"q": q})


# -- Joint friction, which the rigid functions leave out ------------------------------------------


def friction_forces(
    model: GearedModel,
    v: ArrayLike,
    q: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Joint friction as control needs it: smooth in the velocity.

    See ``FrictionRecord`` for the law; the sign of the rate is tanh(v / smoothing).

    Args:
        model: Geared model.
        v: Joint velocity (..., n).
        q: Joint position (..., n) [rad or m], read by friction that ripples with it; zero
            where not given.
        tau: Joint force (..., n) [N m or N] before friction, read by friction that grows
            with the load; zero where not given.
        out: Result array (..., n), returned.

    Returns:
        Force that opposes the motion (..., n) [N m or N], joint side: the sign
        convention is M a + C v + g + friction = tau.
    """
    n = coordinates(model)
    still = np.zeros(n)
    inputs = {
        "q": (still if q is None else q, n),
        "v": (v, n),
        "tau": (still if tau is None else tau, n),
    }
    if model.joined_code:
        found = by_own_code(
            model, "friction_forces", {key: inputs[key] for key in ("v", "q", "tau")}
        )
        if found is not None:
            return deliver(found, out, {key: value for key, (value, _) in inputs.items()})
    return call("friction_forces", model, inputs, (n,), out, (packed_drives(model),))
