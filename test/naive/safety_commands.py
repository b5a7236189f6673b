"""The command of each mode of the slow safety step, and what it remembers: see ``safety_step``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class NoCommandError(Exception):
    """The model gives no command."""


class Numbers(NamedTuple):
    """Constants of the package, seconds but for ``rest`` (a part of ``hold_velocity``)."""

    refresh: float
    dwell: float
    rate_span: float
    slack: float
    arrival: float
    soft: float
    longest: float
    short: float
    long: float
    rest: float


def size(v: list[float]) -> float:
    return max(abs(x) for x in v)


def along(q: list[float], v: list[float], a: list[float], t: float) -> Any:
    """Position and velocity after t under a constant acceleration."""
    where = [x + w * t + b * t * t / 2 for x, w, b in zip(q, v, a, strict=True)]
    return where, [w + b * t for w, b in zip(v, a, strict=True)]


class Commands:
    """What is remembered from cycle to cycle, and the command of each mode."""

    def __init__(self, rules: Any, constants: Numbers) -> None:
        self.rules, self.constants, self.n = rules, constants, len(rules.lower)
        self.mode, self.since = "WAITING", 0.0
        self.now = self.clock = None
        self.latched: set[str] = set()
        self.seen: set[str] = set()
        self.clear: Any = None
        self.acknowledged = self.returning = self.settled = False
        self.q: Any = None
        self.v: Any = None
        self.stamp: Any = None
        self.track: Any = None  # (q, arrived, sampled) of the newest state that could be read
        self.doubt: Any = None
        self.posture: Any = None
        self.sent: Any = None
        self.origin: Any = None
        self.static: Any = None
        self.refreshed = 0.0
        self.wanted: Any = None
        self.resumed: Any = None
        self.leaving: Any = None
        self.static_failed = False
        self.guess: Any = None  # (q, v, a, at, slow, measured)

    def called(self, model: Any, posture: Any, q: Any, v: Any) -> list[float]:
        """The fallback's command, where it is one."""
        found = model.held(posture, q, v)
        if found is None or not all(map(math.isfinite, found)):
            raise NoCommandError
        return list(found)

    def target(self, seen: Any, wanted: Any, model: Any) -> list[float]:
        now, rules = seen.now, self.rules
        self.static_failed = False
        if self.mode == "RUNNING":
            return self.running(now, wanted, model)
        if self.mode == "ZEROING":
            return self.to_zero(now)
        if self.mode == "BRAKING":
            return self.braked(seen, model)
        if self.mode == "BLIND":
            return self.unseen(now, model)
        held = now - self.since
        if self.mode == "RAMPING":
            return self.faded(self.called(model, self.q, self.q, self.v), held, rules.ramp_time)
        if not self.settled:
            self.posture = self.q
            rests = size(self.v) <= rules.hold_velocity and held >= self.constants.dwell
            self.settled = rests or held >= rules.settle_time
        return self.called(model, self.posture, self.q, self.v)

    def running(self, now: float, wanted: Any, model: Any) -> list[float]:
        if self.static is None or now - self.refreshed >= self.constants.refresh:
            try:
                self.static = self.called(model, self.q, None, None)
                self.refreshed = now
            except NoCommandError:
                self.static_failed = True
        if wanted is None:
            return list(self.sent)
        if self.resumed is None:
            return list(wanted.tolist())
        return self.faded(wanted.tolist(), now - self.resumed, self.rules.resume_time)

    def faded(self, target: list[float], t: float, length: float) -> list[float]:
        if self.origin is None or t >= length:
            return target
        return [a + t / length * (b - a) for a, b in zip(self.origin, target, strict=True)]

    def to_zero(self, now: float) -> list[float]:
        late = self.leaving is not None and now - self.leaving >= self.constants.longest
        none = [0.0] * len(self.rules.command)
        if self.origin is None or late:
            return none
        return self.faded(none, now - self.since, self.rules.ramp_time)

    def blind(self, now: float) -> list[float]:
        """Gravity's command, for a time or for good."""
        self.static_failed = False
        rules = self.rules
        if self.static is None:
            return self.to_zero(now)
        over = now - self.since - rules.blind_time
        if rules.blind_end == "gravity" or over <= 0.0 < rules.ramp_time:
            return list(self.static)
        return [x * (1.0 - min(over / rules.ramp_time, 1.0)) for x in self.static]

    def unseen(self, now: float, model: Any) -> list[float]:
        """A steady stop by the model from where the arm was, then gravity."""
        v, length, t = self.v, self.rules.blind_time, now - self.since
        moves = model.nominal is not None and size(v) > self.rules.hold_velocity and length > 0.0
        if self.posture is None:
            self.static, self.refreshed = self.called(model, self.q, None, None), now
            gap = max(self.since - self.stamp, 0.0) if moves else 0.0
            self.posture = [x + gap * w for x, w in zip(self.q, v, strict=True)]
        if moves:
            slower = [-w / length for w in v]
            if t < length:
                return list(model.moved(*along(self.posture, v, slower, t), slower))
            if not self.settled:
                end, _ = along(self.posture, v, slower, length)
                self.static, self.refreshed = self.called(model, end, None, None), now
                self.settled = True
        return self.blind(now)

    # -- the end ---------------------------------------------------------------------------------

    def expected(self, now: float, model: Any) -> tuple[list[float], list[float], bool]:
        """Position and velocity now, and whether they are measured."""
        none = [0.0] * self.n
        if self.guess is None:
            dt, a = max(now - self.stamp, 0.0), none
            known = model.brake is not None and self.sent is not None
            if known and dt and size(self.v) > self.rules.hold_velocity:
                a = model.acceleration(self.q, self.v, self.sent, self.v)
            return (*along(self.q, self.v, a, dt), True)
        q, v, a, at, _, _ = self.guess
        if (model.brake is None or model.brake.closed) and self.stamp > at:
            return (*along(self.q, self.v, none, max(now - self.stamp, 0.0)), True)
        return (*along(q, v, a, max(now - at, 0.0)), False)

    def braked(self, seen: Any, model: Any) -> list[float]:
        now, none, limit = seen.now, [0.0] * self.n, self.rules.hold_velocity
        c = self.constants
        if model.fallback is None:
            raise NoCommandError
        q, v, measured = self.expected(now, model)
        slow = None if self.guess is None else self.guess[4]
        if size(v) > limit:
            slow = None
        elif slow is None:
            slow = now
        if not self.settled:
            began = self.since if self.leaving is None else self.leaving
            enough = c.short if size(v) <= c.rest * limit else c.long
            rests = slow is not None and now - slow >= enough and now - self.since >= c.short
            if rests or now - began >= c.longest or seen.hurried:
                self.static = self.called(model, q, None, None)
                self.refreshed, self.posture, self.settled = now, q, True
        left = max(self.rules.stop_time - (now - self.since), c.soft)
        a = none if self.settled else [-w / left for w in v]
        self.guess = (q, v, a, now, slow, measured)
        if self.settled:
            sent = none if seen.leaving == "zero" else list(self.static)
        elif model.brake is None:
            sent = model.held(q, q, v)
        else:
            sent = model.slowed(q, v, a, none if measured else v)
        if sent is None or not all(map(math.isfinite, sent)):
            raise NoCommandError
        return list(sent)
