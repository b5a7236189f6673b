"""Springs between links and on joints: what they do to the joints.

They appear as M a + C v + g + friction = tau + balancer_forces; the rigid functions
leave them out.
"""

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.balancer_packing import packed_balancers
from geared_dynamics.dynamics.border import call, coordinates, deliver
from geared_dynamics.model import GearedModel


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

    What ``inverse_dynamics_derivatives`` leaves out of d tau/dt.

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
