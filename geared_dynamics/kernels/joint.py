"""How a body's joint places its frame in its parent's, with sine and cosine of its angle."""

import math

from numba import njit

from geared_dynamics.kernels import layout as at
from geared_dynamics.kernels.memory import FUSED, Pointer, Vector, fma
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


# -- Sine and cosine of an angle together, without a call: those of several joints overlap --------
#
# Up to LIMIT they are within an ulp; beyond it, and where the processor does not multiply and
# add in one instruction, they are the system's. ``trace.assembly`` writes the same for vectors.


LIMIT = 1e5  # of an angle [rad], up to which the reduction below is exact

# pi / 2 in three parts, and 2 / pi.
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
TWO_OVER_PI = 0.6366197723675814
SHIFTER = 6755399441055744.0  # 1.5 * 2^52: the sum has the nearest whole number in its low bits
# fdlibm's minimax polynomials on [-pi/4, pi/4], of x^3, x^5 .. and of x^4, x^6 ..
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


@njit(error_model="numpy", forceinline=True)
def sine_cosine(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle [rad]."""
    if not FUSED or not abs(x) <= LIMIT:
        return math.sin(x), math.cos(x)
    # With k the nearest whole number to 2 x / pi, x - k pi / 2 is exact after the first part of
    # pi / 2 (k has at most 16 bits), and is kept as a number r and a correction, low.
    k = fma(x, TWO_OVER_PI, SHIFTER) - SHIFTER
    first = fma(-k, HALF_PI[0], x)
    second = -k * HALF_PI[1]
    rounded = fma(-k, HALF_PI[1], -second)
    r = first + second
    low = fma(-k, HALF_PI[2], first - r + second + rounded)
    z = r * r
    sine = r + fma(r * z, series(SINE, z), low)
    half = 0.5 * z
    near = 1.0 - half
    rest = fma(-r, low, 1.0 - near - half)
    cosine = near + fma(z * z, series(COSINE, z), rest)
    quarter = int(k)
    if quarter & 1:
        sine, cosine = cosine, -sine
    if quarter & 2:
        sine, cosine = -sine, -cosine
    return sine, cosine


@njit(error_model="numpy", forceinline=True)
def series(c: tuple[float, float, float, float, float, float], z: float) -> float:
    """Polynomial of z; pairs first, so that fewer operations wait for each other."""
    square = z * z
    last = fma(fma(c[5], z, c[4]), square, fma(c[3], z, c[2]))
    return fma(last, square, fma(c[1], z, c[0]))
