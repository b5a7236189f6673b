"""How recordings become equations, and the steps that equations and their band have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from geared_dynamics.analysis.comparison.analyze import ranges_of
from geared_dynamics.analysis.comparison.span import Plan, motions
from geared_dynamics.analysis.reading.meaning import Meaning
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.analysis.reading.samples import Tally
from geared_dynamics.analysis.signals.motion import Motion, Velocity
from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel

PER_BANDWIDTH = 2.5  # samples per second and Hz that are kept
SLOW = 0.02  # of the joint's top speed: around a reversal friction is no constant
STILL = 1e-6  # [rad/s or m/s] that no joint moves with: what filters leave of a rest

JOINT_TORQUES = Meaning()


@dataclass(frozen=True)
class Settings:
    """How recordings become equations.

    Attributes:
        meaning: What their numbers are.
        bandwidth: Of the filter before differentiation [Hz]; None: five times ``keep``, or what
            the motion needs where ``keep`` is given.
        keep: Bandwidth of the equations [Hz]; None: a fifth of ``bandwidth``, or the band that
            predicts torques best (``band``) where neither is given.
        slow: Share of top speed below which a joint's equation is left out.
        velocity: Where velocities come from.
        holdout: Share of each recording, at its end, that is kept for validation.
    """

    meaning: Meaning = JOINT_TORQUES
    bandwidth: float | None = None
    keep: float | None = None
    slow: float = SLOW
    velocity: Velocity = "position"
    holdout: float = 0.2


def span_motions(plan: Plan, tell: Callable[[], None], left_out: list[Tally]) -> Iterator[Motion]:
    """Motions of a recording, span by span; what is left out is added to the tally."""
    for span in range(plan.recording.spans):
        found, totals = motions(plan, span)
        left_out[0] = left_out[0].plus(totals.tally)
        yield from found
        tell()


def counter(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """What to call when another one of all is done."""
    done = count(1)

    def tell() -> None:
        number = next(done)
        if progress is not None:
            progress(number, total)

    return tell


def spacing(recording: Recording, keep: float) -> int:
    """Samples of a recording to one equation."""
    return max(1, int(recording.rate / (PER_BANDWIDTH * keep)))


def top_speeds(model: GearedModel, v: Array) -> Array:
    """Top speed of each joint (n,): the URDF's limit, or what was reached if that is less."""
    reached = np.maximum(np.abs(v).max(axis=0), STILL)
    return np.asarray(np.minimum(ranges_of(model).velocity[1], reached))
