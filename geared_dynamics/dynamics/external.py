"""Wrenches on the bodies: what they come to at the joints, and the sums they enter."""

from collections.abc import Mapping

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import (
    as_input,
    as_numbers,
    as_output,
    call,
    check_finite,
    common_lead,
    keep_apart,
    refuse_overflow,
)
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel


def external_forces(model: GearedModel, q: ArrayLike, f_ext: ArrayLike) -> Array:
    """Joint force of wrenches on the bodies: sum of J' f (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at
            its origin.
    """
    width = 6 * len(model.body_names)
    inputs = {"q": (q, model.n), "f_ext": (as_wrenches(model, f_ext), width)}
    return call("external_forces", model, inputs, (model.n,))


def as_wrenches(model: GearedModel, f_ext: ArrayLike) -> Array:
    """Convert wrenches (..., nb, 6) to float64 (..., 6 nb)."""
    bodies = len(model.body_names)
    remedy = f"give shape (..., {bodies}, 6): force and moment on each body"
    wrenches = as_numbers("f_ext", f_ext, remedy)
    if wrenches.ndim < 2 or wrenches.shape[-2:] != (bodies, 6):
        raise ArrayError("f_ext", f"has shape {wrenches.shape}", remedy)
    check_finite("f_ext", wrenches)  # here, where its indices are still those of the caller
    return wrenches.reshape(*wrenches.shape[:-2], 6 * bodies)


def with_wrenches(
    force: Array,
    sign: float,
    model: GearedModel,
    inputs: Mapping[str, ArrayLike],
    out: Array | None,
) -> Array:
    """Return force + sign sum of J' f_ext; ``out`` is where the caller's result will go.

    Args:
        force: Joint force (..., n).
        sign: 1 or -1.
        model: Geared model.
        inputs: All the caller's arrays by name, ``q`` and ``f_ext`` (..., nb, 6) among them.
        out: Checked to be apart from all inputs, which the kernels do not see together.
    """
    wrenches = as_wrenches(model, inputs["f_ext"])
    widths = {name: (value, model.n) for name, value in inputs.items()}
    widths["f_ext"] = (wrenches, wrenches.shape[-1])
    arrays = {name: as_input(name, *given) for name, given in widths.items()}
    lead = common_lead(arrays)
    if out is not None:
        keep_apart(as_output(out, (*lead, model.n)), inputs)
    load = call("external_forces", model, {key: widths[key] for key in ("q", "f_ext")}, (model.n,))
    with np.errstate(over="ignore", invalid="ignore"):
        total = force + sign * load
    if not np.all(np.isfinite(total)):
        for name, array in arrays.items():
            check_finite(name, array)
        refuse_overflow(arrays)
    return total
