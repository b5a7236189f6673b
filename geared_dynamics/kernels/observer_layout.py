"""Where each number of the observers stands in their flat arrays.

State: x = (q, theta) (N), its rate (N), unaccounted force on x (N): k = 3 N.
Readings: motors (m), links (n), springs (n_e): c = m + n + n_e.
Given: torque at the motors' shafts (m), what else acts on the joints (n), length of the step.
Tuning: rows of the readings (c, k), then the four lists below.

A covariance P is kept as U (k, k) with U' U = P: its rows are the columns of a square root.

What friction at rest leaves open (``observer_linear``), of p laws: rows (GROUPS p, k) behind U,
and behind the step's length the number of the present interval, whether it begins, and of each
law level, smoothing, share in motion, whether it is known to move, and its row over x (N).
"""

from numba import njit

WINDOWS = 5  # intervals in which friction at rest may be another number
GROUPS = 1 + WINDOWS
HEAD = 4  # numbers of a law before its row over x


@njit(inline="always")
def torque_at(k: int, c: int) -> int:
    """Where the torque noise on x begins (N) [N m s^0.5 or N s^0.5]."""
    return c * k


@njit(inline="always")
def walk_at(k: int, c: int, size: int) -> int:
    """Where the walk of the unaccounted force begins (N) [N m / s^0.5 or N / s^0.5]."""
    return torque_at(k, c) + size


@njit(inline="always")
def noise_at(k: int, c: int, size: int) -> int:
    """Where the readings' variances begin (c)."""
    return walk_at(k, c, size) + size


@njit(inline="always")
def tuning_size(k: int, c: int, size: int) -> int:
    """Length of the tuning."""
    return noise_at(k, c, size) + c


# Numbers of each friction law after a step (``observer_stepping``): slope of its force by its
# mean rate, 1 where it holds the rate, rate at the end, its change by a unit force, level.
FIELDS = 5
SLOPE, HELD, SPEED, RESPONSE, LEVEL = range(FIELDS)
