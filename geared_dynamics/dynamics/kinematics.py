"""Pose, Jacobian and its drift, of any link or wheel."""

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.border import call, coordinates
from geared_dynamics.dynamics.packing import packed_frame
from geared_dynamics.model import GearedModel


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
