"""The safety step as docs/safety.md has it: sets of names, lists of numbers, rule after rule.

Slow and obvious: no flags, no quick look, one joint after the other. The constants of the package
are arguments, so that a test can choose numbers that binary fractions of a second meet exactly.
"""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

from naive.safety_commands import Commands, NoCommandError

IDLE = {"STALE_REFERENCE", "NO_REFERENCE"}
UNUSABLE = {"BAD_STATE", "NAMES_MISSING", "IMPOSSIBLE_STATE"}
LATCHED = {
    "BAD_COMMAND", "POSITION_LIMIT", "VELOCITY_LIMIT", "TRACKING_ERROR", "TIME_JUMP",
    "COMPUTATION", "EMERGENCY_STOP", "IMPOSSIBLE_STATE",
}  # fmt: skip
STOPPING = LATCHED | IDLE | {"STALE_STATE", "ENDING"}
OPTION = {name: f"on_{name.lower()}" for name in LATCHED | {"STALE_REFERENCE"}}
SEVERITY = ("hold", "ramp_to_gravity", "zero")


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
    step: float


class Answer(NamedTuple):
    """What a cycle ends in."""

    command: list[float] | None
    mode: str
    found: set[str]
    latched: set[str]
    failed: bool


def numbers(given: Any, n: int) -> list[float] | None:
    """A row of n finite numbers, None for all else."""
    if given is None or given.shape != (n,) or not all(map(math.isfinite, given.tolist())):
        return None
    found: list[float] = given.tolist()
    return found


class Twin(Commands):
    """One arm from the first cycle on."""

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
        self.guess: Any = None  # (q, v, at, slow)

    # -- the cycle -------------------------------------------------------------------------------

    def cycle(self, seen: Any, wanted: Any, model: Any) -> Answer:
        """One cycle; ``model`` has ``fallback``, ``open_loop``, ``brake``, each may be None."""
        rules, now = self.rules, seen.now
        back = self.now is not None and now < self.now
        found = {"TIME_JUMP"} if back or self.clock_jumped(seen) else set()
        if back:
            self.begin_times_again(now)
        state = self.newest(seen)
        found |= state
        if self.q is None:
            return self.waiting(seen, found)
        if state & UNUSABLE:
            wanted = None
        found |= self.conditions(seen, wanted, state)
        last, self.now, self.clock = self.now, now, seen.clock
        self.judge(seen, found, wanted)
        kept = copy.copy(self.__dict__)
        failed = False
        try:
            target = self.target(seen, wanted, model)
        except NoCommandError:
            self.__dict__ = kept
            target, failed = self.blind(now), True
        failed = failed or self.static_failed
        if failed:
            found.add("COMPUTATION")
            self.latched |= {"COMPUTATION"}
            self.seen |= found
            self.clear, self.acknowledged = None, False
        dt = 0.0 if last is None else min(max(now - last, 0.0), self.constants.rate_span)
        before, self.sent = self.sent, []
        cut = set()
        for k, value in enumerate(target):
            rate, most = rules.command_rate[k], rules.command[k]
            if before is not None and rate < math.inf:
                low, high = before[k] - rate * dt, before[k] + rate * dt
                if not low <= value <= high:
                    cut.add("COMMAND_RATE")
                    value = low if value < low else high
            if abs(value) > most:
                cut.add("COMMAND_LIMIT")
                value = math.copysign(most, value)
            self.sent.append(value)
        return Answer(self.sent, self.mode, found | cut, set(self.latched), failed)

    def clock_jumped(self, seen: Any) -> bool:
        if self.clock is None or seen.clock is None:
            return False
        return not 0.0 <= seen.clock - self.clock <= self.rules.time_jump

    def begin_times_again(self, now: float) -> None:
        """The steady clock went back: every time that is remembered is now."""
        self.now = self.since = self.refreshed = now
        self.clear = self.resumed = self.guess = None
        self.stamp = None if self.stamp is None else now
        self.wanted = None if self.wanted is None else now
        self.doubt = None if self.doubt is None else now
        self.leaving = None if self.leaving is None else now
        if self.track is not None:
            self.track = (self.track[0], -math.inf, self.track[2])

    def waiting(self, seen: Any, found: set[str]) -> Answer:
        if seen.emergency_stop:
            found.add("EMERGENCY_STOP")
        self.latched |= found & {"EMERGENCY_STOP", "IMPOSSIBLE_STATE"}
        self.now, self.clock, self.since = seen.now, seen.clock, seen.now
        return Answer(None, "WAITING", found, set(self.latched), False)

    # -- what is the state -----------------------------------------------------------------------

    def newest(self, seen: Any) -> set[str]:
        """Take this cycle's state where it is good; what was found."""
        if seen.state_stamp is None:
            return set()
        found = {"NAMES_REORDERED"} if seen.names_reordered else set()
        q, v, stamp = numbers(seen.q, self.n), numbers(seen.v, self.n), seen.state_stamp
        if seen.names_missing:
            return found | {"NAMES_MISSING"}
        if q is None or v is None:
            return found | {"BAD_STATE"}
        if self.track is None or stamp != self.track[1]:
            if not self.possible(q, v, seen):
                self.doubt = stamp
            if self.overdue(seen):
                found.add("STALE_STATE")
            self.track = (q, stamp, seen.sampled)
        if self.doubt is not None and stamp - self.doubt <= self.rules.state_timeout:
            return found | {"IMPOSSIBLE_STATE"}
        self.doubt, self.q, self.v, self.stamp = None, q, v, stamp
        return found

    def possible(self, q: list[float], v: list[float], seen: Any) -> bool:
        """No joint is faster than twice its limit, none moved faster than that."""
        rules, span = self.rules, math.inf
        if self.track is not None:
            before, arrived, sampled = self.track
            span = max(seen.state_stamp - arrived, 0.0) + self.constants.arrival
            if sampled is not None and seen.sampled is not None and seen.sampled > sampled:
                span = seen.sampled - sampled + self.constants.slack
        for k in range(self.n):
            limit = rules.velocity[k]
            fastest = 2.0 * limit if limit < math.inf else 1000.0
            pace = 2.0 * limit if limit < math.inf else 2.0 * max(20.0, abs(v[k]))
            if abs(v[k]) > fastest:
                return False
            if self.track is not None:
                way = q[k] - before[k]
                if rules.continuous[k]:
                    way = math.remainder(way, 2.0 * math.pi)
                if abs(way) > pace * span:
                    return False
        return True

    def overdue(self, seen: Any) -> bool:
        """Whether this state ends a gap that was too long."""
        if self.mode == "OPEN_LOOP" or self.stamp is None or self.track is None:
            return False
        gaps = [seen.state_stamp - self.stamp]
        if seen.sampled is not None and self.track[2] is not None:
            gaps.append(seen.sampled - self.track[2])
        return max(gaps) > self.rules.state_timeout

    def old(self, now: float) -> bool:
        return self.stamp is None or abs(now - self.stamp) > self.rules.state_timeout

    # -- what is wrong ---------------------------------------------------------------------------

    def conditions(self, seen: Any, wanted: Any, state: set[str]) -> set[str]:
        rules, now = self.rules, seen.now
        missing = self.reference(seen)
        found = set(missing)
        if self.old(now):
            found.add("STALE_STATE")
        else:
            q_d = None if missing or seen.q_d is None else seen.q_d.tolist()
            found |= self.joints(q_d)
            if q_d is not None and (self.mode != "RUNNING" or min(rules.tracking) < math.inf):
                found |= self.errors(q_d)
            elif self.mode != "RUNNING" and rules.needs_reference and not missing:
                found.add("RESUME_ERROR")  # unknown is too far
        if seen.emergency_stop:
            found.add("EMERGENCY_STOP")
        if seen.leaving is not None:
            found.add("ENDING")
        if not state & UNUSABLE:
            if wanted is not None and numbers(wanted, len(rules.command)) is None:
                found.add("BAD_COMMAND")
            if seen.failed:
                found.add("COMPUTATION")
        quiet = wanted is None and self.mode == "RUNNING" and "STALE_STATE" not in found
        if quiet and now - self.wanted > rules.state_timeout:
            found.add("COMPUTATION")
        return found

    def reference(self, seen: Any) -> set[str]:
        if seen.q_d is not None and seen.q_d.shape != (self.n,):
            return {"NO_REFERENCE"}
        if not self.rules.needs_reference:
            return set()
        if seen.reference_stamp is None:
            return {"NO_REFERENCE"}
        late = abs(seen.now - seen.reference_stamp) > self.rules.reference_timeout
        return {"STALE_REFERENCE"} if late else set()

    def joints(self, q_d: Any) -> set[str]:
        rules, found = self.rules, set()
        known = self.returning or "POSITION_LIMIT" in self.latched
        for k in range(self.n):
            x, low, high = self.q[k], rules.lower[k], rules.upper[k]
            if x < low + rules.position_margin or x > high - rules.position_margin:
                found.add("POSITION_NEAR")
            if abs(self.v[k]) > rules.velocity_near * rules.velocity[k]:
                found.add("VELOCITY_NEAR")
            if abs(self.v[k]) > (1.0 + rules.velocity_tolerance) * rules.velocity[k]:
                found.add("VELOCITY_LIMIT")
            below, above = (
                x < low - rules.position_tolerance,
                x > high + rules.position_tolerance,
            )
            back = q_d is not None and (q_d[k] <= x if above else q_d[k] >= x)
            if (below or above) and not (known and back):
                found.add("POSITION_LIMIT")
        return found

    def errors(self, q_d: list[float]) -> set[str]:
        rules, found = self.rules, set()
        for k in range(self.n):
            error = q_d[k] - self.q[k]
            if rules.continuous[k] and math.isfinite(error):
                error = math.remainder(error, 2.0 * math.pi)
            if not abs(error) <= rules.tracking[k]:
                found.add("TRACKING_ERROR")
            if not abs(error) <= rules.resume_error:
                found.add("RESUME_ERROR")
        return found

    # -- what follows ----------------------------------------------------------------------------

    def judge(self, seen: Any, found: set[str], wanted: Any) -> None:
        rules, now, before = self.rules, seen.now, self.mode
        stopping = found & STOPPING
        self.latched |= found & LATCHED
        self.seen |= stopping | self.latched
        if stopping - IDLE:
            self.clear, self.acknowledged = None, False
        else:
            self.clear = now if self.clear is None else self.clear
            self.acknowledged |= seen.acknowledged
        nothing = not self.seen - IDLE
        calm = self.clear is not None and (nothing or now - self.clear >= rules.recovery_time)
        if calm and self.acknowledged:
            self.latched = set()
        if stopping or self.latched:
            self.mode = self.reaction(stopping | self.latched, found, now)
        elif before != "RUNNING":
            if calm and "RESUME_ERROR" not in found and wanted is not None:
                self.mode = "RUNNING"
                self.returning = "POSITION_LIMIT" in self.seen
                self.resumed = None if nothing else now
            elif before in {"WAITING", "OPEN_LOOP", "BRAKING"}:
                self.mode = "HOLDING"
        past = rules.position_tolerance
        edges = zip(self.q, rules.lower, rules.upper, strict=True)
        if all(low - past <= x <= high + past for x, low, high in edges):
            self.returning = False
        if self.mode == "RUNNING":
            self.seen, self.acknowledged = set(), False
        if seen.leaving is None:
            self.leaving = None
        elif self.leaving is None:
            self.leaving = now
        if wanted is not None:
            self.wanted = now
        if self.mode != before:
            self.since, self.origin = now, self.sent
            self.posture, self.settled, self.guess = None, False, None

    def reaction(self, active: set[str], found: set[str], now: float) -> str:
        asked = [SEVERITY.index(getattr(self.rules, OPTION[e])) for e in active if e in OPTION]
        worst = SEVERITY[max(asked, default=0)]
        if worst == "zero":
            return "RAMPING_TO_ZERO"
        if "ENDING" in active and (self.mode == "BRAKING" or not self.old(now)):
            return "BRAKING"
        if self.old(now) or "IMPOSSIBLE_STATE" in found:
            return "OPEN_LOOP"
        return "RAMPING_TO_GRAVITY" if worst == "ramp_to_gravity" else "HOLDING"
