"""How a body's joint places its frame in its parent's."""

from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.kinds import Pointer, Vector
from geared_dynamics.kernels.sine import sine_cosine
from geared_dynamics.kernels.vector import load


@njit
def body_at(i: int) -> int:
    """Where body i's block begins."""
    return at.HEADER_SIZE + i * at.BODY_SIZE


@njit
def joint_position(model: Pointer, b: int, q: Pointer) -> float:
    """Position of the joint of the body at b [rad or m]: multiplier q + offset."""
    return model[b + at.MULTIPLIER] * q[int(model[b + at.DOF])] + model[b + at.OFFSET]


@njit(forceinline=True)
def place(model: Pointer, b: int, x: float) -> tuple[float, float, Vector]:
    """Cosine and sine of the joint's turn, and the frame's origin in the parent's frame.

    The body's rotation in its parent is ROTATION turn_z(cosine, sine).
    """
    p = load(model, b + at.POSITION)
    if model[b + at.PRISMATIC] == 0.0:
        sine, cosine = sine_cosine(x)
        return cosine, sine, p
    r = b + at.ROTATION
    along = (p[0] + model[r + 2] * x, p[1] + model[r + 5] * x, p[2] + model[r + 8] * x)
    return 1.0, 0.0, along
