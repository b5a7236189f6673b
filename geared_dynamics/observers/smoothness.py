r"""Whether a reading goes on from its own history, whatever an observer predicts.

On the motor side of a spring a rotor moves smoothly, however hard the link is pushed: the cubic
through its last four readings, and what its own motor's known torque adds, lead to the next one.
What is left,

    r = y - sum_i w_i y_i - G (\tau_k - \tau_{k-1} - \tau_{k-2} + \tau_{k-3}) dt^2 / 2,

is at even times a fourth difference: snap dt^4 of a motion, 8.4 \sigma of noise, s of an encoder
that leaps by s, then - 3 s, 3 s, - s, and a dt^2 / 2 of a rotor's acceleration that leaps by a.

After a pause the readings on both sides of it, with their slopes and curvatures, are the ends of a
quintic; what that does not reach is what the encoder leapt by in the pause.
"""

from __future__ import annotations

from math import hypot, nan
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly_int

ORDER = 4  # readings that a cubic goes through
KEPT = 64  # instants that are kept, to look back over a pause
LATE = 1.5  # A step longer than so many of those before is a pause.
EVEN = 1e-7  # So uneven stamps count as even [s].
FASTER = 1.5  # So many times as fast as in the last step the reading may have been.
BENT = 1.0  # of the quintic's curved part: so far it may be off
SLOPE, CURVE = 4.5, 7.0  # noise of a cubic's slope and curvature at its end, of one reading's
SURE = 6.0  # standard deviations that noise does not reach

PROVEN = readonly_int([0])  # instants for which predictions must still be right: none

Point = tuple[float, float]  # time [s], reading


class ReadingHistory(NamedTuple):
    """The last instants of all readings, the newest last.

    Attributes:
        times: [s]
        rows: Readings (c,), NaN for those that were not there or stood still.
        surprises: How many deviations they were off their predictions then, or shortly before.
        torques: Of the motors over the step before each (m,) [N m].
        pulls: What the observer added to the model's acceleration of each reading (c,).
    """

    times: tuple[float, ...]
    rows: tuple[Array, ...]
    surprises: tuple[Array, ...]
    torques: tuple[Array, ...]
    pulls: tuple[Array, ...]

    def after(
        self, time: float, row: Array, surprise: Array, torque: Array, pull: Array
    ) -> ReadingHistory:
        """The same with another instant."""
        return ReadingHistory(
            (*self.times[1 - KEPT :], time),
            (*self.rows[1 - KEPT :], row),
            (*self.surprises[1 - KEPT :], surprise),
            (*self.torques[1 - KEPT :], torque),
            (*self.pulls[1 - KEPT :], pull),
        )

    def paused(self) -> ReadingHistory:
        """The same with an instant in which nothing was read, if it goes back far enough."""
        t = self.times
        if len(t) < ORDER:
            return self
        time = t[-1] + (t[-1] - t[-ORDER]) / (ORDER - 1)
        nothing = np.full_like(self.rows[-1], nan)
        return self.after(time, nothing, self.surprises[-1], self.torques[-1], self.pulls[-1])

    def even(self, dt: float) -> bool:
        """Whether a step dt from the last instant is no longer than those before."""
        t = self.times
        return len(t) >= ORDER and dt <= LATE * (t[-1] - t[-ORDER]) / (ORDER - 1)

    def residual(
        self, readings: Array, torque: Array, agility: Array, dt: float
    ) -> tuple[Array, Array]:
        """What readings (c,) are off their own history, see above; how much of it may be untrue.

        That is the torques' part, which may act a little later, and, where samples are even and
        their stamps t are not, speed times d^4 t.

        Args:
            readings: NaN for what is not there.
            torque: Of the motors over this step (m,) [N m].
            agility: G, what it accelerates the readings by (c, m).
            dt: Of the step [s].
        """
        e, f, g, h = self.times[-ORDER:]
        a, b, c, d = weights(h + dt, (e, f, g, h))
        p, q, r, s = self.rows[-ORDER:]
        x, y, z = self.torques[1 - ORDER :]
        added = agility @ ((0.5 * dt * dt) * (torque - z - y + x))
        untrue = np.abs(added)
        uneven = h + dt - 4.0 * (h + f) + 6.0 * g + e
        if abs(uneven) > EVEN:
            untrue += abs(FASTER * uneven / (h - g)) * np.abs(s - r)
        return readings - (a * p + b * q + c * r + d * s) - added, untrue

    def last(self, channel: int, skip: int = 0) -> list[Point]:
        """The newest four readings of a channel that are there, after ``skip`` instants."""
        found: list[Point] = []
        end = len(self.times) - skip
        for k in range(end - 1, -1, -1):
            value = float(self.rows[k][channel])
            if value == value:
                found.append((self.times[k], value))
                if len(found) == ORDER:
                    break
        return found[::-1]

    def still(self, channel: int, value: float) -> int:
        """For how many of the newest instants a channel has shown a value, or nothing."""
        count = 0
        for row in reversed(self.rows):
            if row[channel] == row[channel] and row[channel] != value:
                break
            count += 1
        return count

    def shifted(self, channel: int, by: float, skip: int = 0) -> ReadingHistory:
        """The same with a channel's readings moved by an offset; NaN takes them out.

        Args:
            channel: Which one.
            by: Offset.
            skip: Newest instants that stay.
        """
        begin, end = max(len(self.rows) - skip - ORDER, 0), len(self.rows) - skip
        return self._changed(channel, by, begin, end)

    def without(self, channel: int, newest: int) -> ReadingHistory:
        """The same without the newest readings of a channel."""
        return self._changed(channel, nan, len(self.rows) - newest, len(self.rows))

    def _changed(self, channel: int, by: float, begin: int, end: int) -> ReadingHistory:
        rows = list(self.rows)
        for k in range(begin, end):
            rows[k] = rows[k].copy()
            rows[k][channel] += by
        return self._replace(rows=tuple(rows))


EMPTY = ReadingHistory((), (), (), (), ())


def weights(time: float, times: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Weights of four readings in their cubic's value at a time, by Lagrange."""
    a, b, c, d = times
    ta, tb, tc, td = time - a, time - b, time - c, time - d
    ab, ac, ad, bc, bd, cd = a - b, a - c, a - d, b - c, b - d, c - d
    return (
        tb * tc * td / (ab * ac * ad),
        -ta * tc * td / (ab * bc * bd),
        ta * tb * td / (ac * bc * cd),
        -ta * tb * tc / (ad * bd * cd),
    )


def extended(points: list[Point], time: float) -> tuple[float, float]:
    """The cubic through four points at a time; how many times as far it may be off there.

    As many as the fourth derivative counts more than at even times, the shortest distance apart.
    """
    times = tuple(t for t, _ in points)
    value = sum(w * y for w, (_, y) in zip(weights(time, times), points, strict=True))
    a, b, c, d = times
    least = min(b - a, c - b, d - c, time - d)
    product = (time - a) * (time - b) * (time - c) * (time - d)
    return value, product / (24.0 * least**4)


def leap(
    before: list[Point], after: list[Point], noise: float, slack: float
) -> tuple[float, float]:
    """What a reading leapt by in a pause, and how much of that may be motion.

    y_b - y_a - T/2 (v_a + v_b) - T^2/12 (a_a - a_b) is zero for any quintic.

    Args:
        before: The last four readings before the pause.
        after: The first four after it.
        noise: Standard deviation of a reading.
        slack: What is no leap without a pause.
    """
    (ta, ya), (tb, yb) = before[-1], after[0]
    va, aa = slopes(before, ta)
    vb, ab = slopes(after, tb)
    pause = tb - ta
    part = 3.0 * pause / min(ta - before[0][0], after[-1][0] - tb)
    bent = pause * pause / 12.0
    spread = SURE * noise * hypot(SLOPE * part, CURVE * part * part / 6.0)
    off = yb - ya - 0.5 * pause * (va + vb) - bent * (aa - ab)
    return off, slack + spread + BENT * bent * (abs(aa) + abs(ab))


def slopes(points: list[Point], time: float) -> tuple[float, float]:
    """First and second derivative of the cubic through four points, at a time."""
    t, y = np.array(points).T
    t = t - time
    scale = float(np.abs(t).max())
    found = np.linalg.solve(np.vander(t / scale, ORDER, increasing=True), y - y[0])
    return float(found[1]) / scale, 2.0 * float(found[2]) / scale**2
