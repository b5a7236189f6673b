"""Frames of links and wheels: pose, Jacobian, its drift, wrenches on bodies, mass at a frame."""

from __future__ import annotations

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.arguments import (
    as_input,
    as_numbers,
    as_output,
    by_own_code,
    call,
    check_finite,
    common_lead,
    convert_and_call,
    coordinates,
    deliver,
    finite_input,
    keep_apart,
    refuse_overflow,
)
from geared_dynamics.dynamics.packing import packed, packed_frame
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

# -- Pose, Jacobian and its drift, of any link or wheel -------------------------------------------


def pose(model: GearedModel, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
    """Place of a link's or wheel's frame in the root link's frame.

    A wheel's frame has its z axis along the spin axis, its origin at the centre of
    mass, and is drawn with the wheel locked; with it all wheels that carry it: a planet
    on a spinning carrier is shown where it is at spin angle zero.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        frame: Name of a link or wheel.
        out: Result array (..., 4, 4), returned.

    Returns:
        Homogeneous transform (..., 4, 4), frame's coordinates to the root's [m].
    """
    block = packed_frame(model, frame)
    return call("pose", model, {"q": (q, coordinates(model))}, (4, 4), out, (block,))


def jacobian(model: GearedModel, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
    """Velocity of a frame's origin and its angular velocity, per joint rate.

    A wheel's angular rows include its spin: e (Z + Gamma)_r along its axis. The linear rows
    are those of its link's point at ``pose``: of a planet on a spinning carrier they leave
    out the orbit, as ``pose`` does.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        frame: Name of a link or wheel.
        out: Result array (..., 6, n), returned.

    Returns:
        Jacobian (..., 6, n): three linear rows [m], three angular [1], root axes.
    """
    block = packed_frame(model, frame)
    n = coordinates(model)
    return call("jacobian", model, {"q": (q, n)}, (6, n), out, (block,))


def jacobian_drift(
    model: GearedModel, q: ArrayLike, v: ArrayLike, frame: str, *, out: Array | None = None
) -> Array:
    """Acceleration of a frame at zero joint acceleration: J_dot v, with J of ``jacobian``.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        frame: Name of a link or wheel.
        out: Result array (..., 6), returned.

    Returns:
        Linear [m/s^2] and angular [rad/s^2] acceleration (..., 6), root axes.
    """
    block = packed_frame(model, frame)
    n = coordinates(model)
    inputs = {"q": (q, n), "v": (v, n)}
    return call("jacobian_drift", model, inputs, (6,), out, (block,))


# -- Wrenches on the bodies: what they come to at the joints, and the sums they enter -------------


def external_forces(
    model: GearedModel, q: ArrayLike, f_ext: ArrayLike, *, out: Array | None = None
) -> Array:
    """Joint force of wrenches on the bodies: sum of J' f (..., n) [N m or N].

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        f_ext: Force and moment on each body (..., nb, 6), in the body's frame, at
            its origin.
        out: Result array (..., n), returned.
    """
    n, loads = coordinates(model), as_wrenches(model, f_ext)
    if out is not None:
        apart_from_wrenches(out, f_ext)
    inputs = {"q": (q, n), "f_ext": (loads, loads.shape[-1])}
    if model.joined_code:
        found = by_own_code(model, "external_forces", inputs)
        if found is not None:
            return deliver(found, out, {"q": q})
    return call("external_forces", model, inputs, (n,), out)


def loaded_inverse_dynamics(
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike,
    out: Array | None,
) -> Array:
    """Inverse dynamics under wrenches: M a + C v + g - sum of J' f_ext (..., n).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n).
        a: Joint acceleration (..., n).
        f_ext: Wrenches (..., nb, 6), as in ``external_forces``.
        out: Result array (..., n) or None.
    """
    try:
        if (form := model._forms.packed) is None:
            form = packed(model)
        shape = f_ext.shape  # type: ignore[union-attr]
        if shape == (len(model.tree.names), 6) and f_ext.flags.c_contiguous:  # type: ignore[union-attr]
            flat = f_ext.reshape(-1)  # type: ignore[union-attr]
            result = np.empty(q.shape) if out is None else out  # type: ignore[union-attr]
            if kernels.inverse_dynamics_loaded(form, q, v, a, flat, result) == 0:
                return result
    except kernels.NOT_TAKEN:
        pass  # not plain float64 arrays of one state: convert them below
    n, loads = coordinates(model), as_wrenches(model, f_ext)
    if out is not None:
        apart_from_wrenches(out, f_ext)
    inputs = {"q": (q, n), "v": (v, n), "a": (a, n), "f_ext": (loads, loads.shape[-1])}
    return convert_and_call("inverse_dynamics_loaded", model, inputs, (n,), out)


def apart_from_wrenches(out: Array, f_ext: ArrayLike) -> None:
    """Refuse an output in the caller's wrenches; the kernels may see a copy of them."""
    if isinstance(out, np.ndarray):  # anything else is refused where its shape is known
        keep_apart(out, {"f_ext": f_ext})


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
    model: GearedModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike,
    out: Array | None,
) -> Array:
    """Return the joint force tau + sum of J' f_ext that moves the arm (..., n).

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        v: Joint velocity (..., n), looked at for its shape only.
        tau: Joint force (..., n).
        f_ext: Wrenches (..., nb, 6).
        out: Where the caller's result will go; checked to be apart from all inputs, which
            the kernels do not see together.
    """
    n, wrenches = coordinates(model), as_wrenches(model, f_ext)
    arrays = {name: as_input(name, x, n) for name, x in (("q", q), ("v", v), ("tau", tau))}
    arrays["f_ext"] = wrenches
    lead = common_lead(arrays)
    if out is not None:
        given = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
        keep_apart(as_output(out, (*lead, n)), given)
    inputs = {"q": (arrays["q"], n), "f_ext": (wrenches, wrenches.shape[-1])}
    load = call("external_forces", model, inputs, (n,))
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.asarray(arrays["tau"] + load)
    if not np.all(np.isfinite(total)):
        for name, array in arrays.items():
            check_finite(name, array)
        refuse_overflow(arrays)
    return total


# -- Mass that an arm puts against a push at a frame ----------------------------------------------


IMMOBILE = 1e-14  # of the largest mobility at the frame


def effective_mass(model: GearedModel, q: ArrayLike, frame: str, direction: ArrayLike) -> Array:
    r"""Mass felt by a push on a frame's origin: 1 / (d' J M^{-1} J' d).

    Of the model as it is: ``with_coupling("diagonal")`` for the armature's. With elastic joints
    it is that of the instant, in which springs give nothing and the motors are free.

    Args:
        model: Geared model.
        q: Joint position (..., n) [rad or m].
        frame: Name of a link or wheel.
        direction: Of the push (..., 3), any length, root axes.

    Returns:
        Mass (...) [kg].

    Raises:
        ArrayError: where the frame cannot move in the direction: the mass is infinite.
    """
    n = coordinates(model)
    position = finite_input("q", q, n)
    push = finite_input("direction", direction, 3)
    length = np.abs(push).max(axis=-1, keepdims=True)
    if not np.all(length > 0.0):
        raise ArrayError("direction", "is zero", "give a vector that is not zero")
    lead = common_lead({"q": position, "direction": push})
    push = push / length
    push = push / np.linalg.norm(push, axis=-1, keepdims=True)
    mobility = mobilities(model, position, frame)
    share = np.einsum("...i,...ij,...j->...", push, mobility, push)
    share = np.broadcast_to(share, lead)
    if not np.all(share > IMMOBILE * np.trace(mobility, axis1=-2, axis2=-1)):
        finding = f"is a direction in which {frame!r} cannot move at one of the positions"
        raise ArrayError("direction", finding, "give another direction or position")
    return np.asarray(1.0 / share)


def mobilities(model: GearedModel, q: Array, frame: str) -> Array:
    """J M^-1 J' of a frame's origin at checked postures (..., n), (..., 3, 3) [1/kg]."""
    moving = jacobian(model, q, frame)[..., :3, :]
    if model.elasticity.count:
        arm = model.with_springs()
        none = np.zeros((*q.shape[:-1], arm.n - model.n))
        inertia = mass_at(arm, np.concatenate([q, none], axis=-1))
        none = np.zeros((*moving.shape[:-1], arm.n - model.n))
        moving = np.concatenate([moving, none], axis=-1)
    else:
        inertia = mass_at(model, q)
    return np.asarray(moving @ np.linalg.solve(inertia, np.swapaxes(moving, -1, -2)))


def mass_at(model: GearedModel, q: Array) -> Array:
    """Mass matrix at checked postures; ``rigid``, which also gives it, imports this file."""
    return call("mass_matrix", model, {"q": (q, model.n)}, (model.n, model.n))
