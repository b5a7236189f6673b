"""The commands of the slow safety step; ``naive.safety_step`` chooses the mode."""

from __future__ import annotations

import math
from typing import Any


class NoCommandError(Exception):
    """The model gives no command."""


def size(v: list[float]) -> float:
    return max(abs(x) for x in v)


def along(q: list[float], v: list[float], a: list[float], t: float) -> Any:
    """Position and velocity after t under a constant acceleration."""
    where = [x + w * t + b * t * t / 2 for x, w, b in zip(q, v, a, strict=True)]
    return where, [w + b * t for w, b in zip(v, a, strict=True)]


class Commands:
    """What is sent in each mode; the memory of a ``Twin``."""

    rules: Any
    constants: Any
    n: int
    mode: str
    since: float
    now: Any
    settled: bool
    static_failed: bool
    refreshed: float
    q: Any
    v: Any
    stamp: Any
    posture: Any
    sent: Any
    origin: Any
    static: Any
    resumed: Any
    leaving: Any
    guess: Any

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
        if self.mode == "RAMPING_TO_ZERO":
            return self.to_zero(now)
        if self.mode == "BRAKING":
            return self.braked(seen, model)
        if self.mode == "OPEN_LOOP":
            return self.unseen(now, model)
        held = now - self.since
        if self.mode == "RAMPING_TO_GRAVITY":
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
        over = now - self.since - rules.open_loop_time
        if rules.open_loop_end == "gravity" or over <= 0.0 < rules.ramp_time:
            return list(self.static)
        return [x * (1.0 - min(over / rules.ramp_time, 1.0)) for x in self.static]

    def unseen(self, now: float, model: Any) -> list[float]:
        """A steady stop by the model from where the arm was, then gravity."""
        v, length, t = self.v, self.rules.open_loop_time, now - self.since
        moves = model.open_loop is not None and size(v) > self.rules.hold_velocity and length > 0.0
        if self.posture is None:
            self.static, self.refreshed = self.called(model, self.q, None, None), now
            self.posture = self.q
            if moves:
                gap = self.since - self.stamp
                self.posture, v = self.predicted(model, self.q, v, gap)
            self.guess = (self.posture, v, self.since, None)
        elif self.guess is not None:
            v = self.guess[1]
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
        closed = model.brake is None or model.brake.closed
        if self.guess is None or (closed and self.stamp > self.guess[2]):
            still = self.guess is None and size(self.v) <= self.rules.hold_velocity
            return (*self.predicted(model, self.q, self.v, now - self.stamp, still), True)
        q, v, at, _ = self.guess
        return (*self.predicted(model, q, v, now - at), False)

    def predicted(
        self, model: Any, q: list[float], v: list[float], t: float, held: bool = False
    ) -> tuple[list[float], list[float]]:
        """Position and velocity under the command sent, by the implicit midpoint rule."""
        if model.brake is None or self.sent is None or held or t <= 0.0:
            return along(q, v, [0.0] * self.n, max(t, 0.0))
        steps = math.ceil(min(t, self.constants.longest) / self.constants.step)
        h = t / steps
        for _ in range(steps):
            middle, _ = along(q, v, [0.0] * self.n, h / 2)
            a = model.acceleration(middle, v, self.sent, h / 2)
            q, v = along(q, v, a, h)
        return q, v

    def braked(self, seen: Any, model: Any) -> list[float]:
        now, none, limit = seen.now, [0.0] * self.n, self.rules.hold_velocity
        c = self.constants
        if model.fallback is None:
            raise NoCommandError
        if self.settled:
            return none if seen.leaving == "zero" else list(self.static)
        q, v, measured = self.expected(now, model)
        slow = None if self.guess is None else self.guess[3]
        if size(v) > limit:
            slow = None
        elif slow is None:
            slow = now
        began = self.since if self.leaving is None else self.leaving
        enough = c.short if size(v) <= c.rest * limit else c.long
        rests = slow is not None and now - slow >= enough and now - self.since >= c.short
        if rests or now - began >= c.longest or seen.hurried:
            self.static = self.called(model, q, None, None)
            self.refreshed, self.posture, self.settled = now, q, True
        left = max(self.rules.stop_time - (now - self.since), c.soft)
        a = none if self.settled else [-w / left for w in v]
        self.guess = (q, v, now, slow)
        if self.settled:
            sent = none if seen.leaving == "zero" else list(self.static)
        elif model.brake is None:
            sent = model.held(q, q, v)
        else:
            sent = model.slowed(q, v, a, none if measured else v)
        if sent is None or not all(map(math.isfinite, sent)):
            raise NoCommandError
        return list(sent)

    def finished(self, found: set[str]) -> bool:
        """Whether nothing is left to be sent to an arm that is left."""
        if self.mode == "WAITING":
            return True
        if "COMMAND_RATE" in found or self.leaving is None:
            return False
        quiet = not any(self.sent)
        if self.mode == "OPEN_LOOP":
            over = self.now - self.since >= self.rules.open_loop_time
            return over and (self.rules.open_loop_end == "gravity" or quiet)
        return quiet if self.mode == "RAMPING_TO_ZERO" else self.settled
