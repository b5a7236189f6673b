"""A safety step with two joints whose facts can be broken one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import geared_dynamics as gd
from geared_dynamics.control.safety.step import full_step

S = gd.control.safety
GRAVITY = np.array([5.0, -3.0])
LIMIT, RATE = np.array([20.0, 15.0]), np.array([400.0, 300.0])


def policy(**options: Any) -> S.Policy:
    given = {
        "lower": (-2.0, -math.inf),
        "upper": (2.0, math.inf),
        "velocity": (3.0, 4.0),
        "command": tuple(LIMIT),
        "command_rate": tuple(RATE),
        "tracking": (0.3, 0.3),
        "continuous": (False, True),
        "reference_timeout": 0.2,
    }
    return S.Policy(**(given | options))


def same(one: object, other: object) -> bool:
    """Whether two values are equal in every bit, arrays and NaN included."""
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.tobytes() == other.tobytes()
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return repr(one) == repr(other) if isinstance(one, Exception) else bool(one == other)


def step(*arguments: Any) -> Any:
    """The safety step, which decides as the complete look does where it took the quick one."""
    found = S.step(*arguments)
    complete = full_step(*arguments, *[None] * (7 - len(arguments)))
    assert same(found, complete)
    return found


class Rig:
    """Keeps the facts of a healthy arm, and the memory; ``cycle`` breaks what it is told to."""

    def __init__(self, rules: S.Policy) -> None:
        self.policy = rules
        self.memory = S.START
        self.now = 10.0
        self.q = np.array([0.3, 0.4])
        self.v = np.zeros(2)
        self.q_d = self.q.copy()
        self.message: dict[str, Any] = {"state_stamp": None, "q": None, "v": None}
        self.reference: float | None = None
        self.wanted: np.ndarray | None = np.array([6.0, -2.0])
        self.broken = False
        self.model = True
        self.calls: list[tuple[Any, ...]] = []
        self.decision: Any = None

    def fallback(self, posture: Any, q: Any, v: Any) -> np.ndarray:
        self.calls.append((posture, q, v))
        if self.broken:
            raise gd.GearedDynamicsError("model", "is broken", "repair it")
        return GRAVITY if q is None else GRAVITY + 10.0 * (posture - q) - v

    def slow_down(self, q: Any, v: Any, a: Any, rate: Any) -> np.ndarray:
        if self.broken:
            raise gd.GearedDynamicsError("model", "is broken", "repair it")
        return GRAVITY + 0.1 * a

    def cycle(
        self,
        dt: float = 0.001,
        *,
        fresh: bool = True,
        heard: bool = True,
        look_twice: bool = True,
        **facts: Any,
    ) -> Any:
        """One step; ``facts`` are fields of the observation, and ``wanted``."""
        self.now += dt
        if fresh:
            self.message = {
                "state_stamp": self.now,
                "q": facts.pop("q", self.q),
                "v": facts.pop("v", self.v),
                "names_missing": facts.pop("names_missing", False),
            }
        self.reference = self.now if heard else self.reference
        given = {
            "now": self.now,
            **self.message,
            "reference_stamp": self.reference,
            "q_d": self.q_d,
            "clock": self.now,
        }
        wanted = facts.pop("wanted", self.wanted)
        seen = S.Observation(**(given | facts))
        called = len(self.calls)
        self.memory, self.decision = (step if look_twice else S.step)(
            self.policy,
            self.memory,
            seen,
            wanted,
            self.fallback if self.model else None,
            None,
            S.Brake(self.slow_down, True) if self.model else None,
        )
        if look_twice:  # the calls of the second look are none
            del self.calls[called + (len(self.calls) - called) // 2 :]
        return self.decision

    def run(self, seconds: float, **facts: Any) -> Any:
        """Cycles of a millisecond."""
        for _ in range(round(seconds * 1000)):
            self.cycle(**facts)
        return self.decision


def running(at: Any = None, **options: Any) -> Rig:
    """An arm that runs, at a position."""
    rig = Rig(policy(**options))
    if at is not None:
        rig.q, rig.q_d = np.array(at), np.array(at)
    rig.run(0.05)
    assert rig.decision.running
    return rig
