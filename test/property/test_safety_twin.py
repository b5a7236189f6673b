"""The safety step is the slow one that follows the words of docs/safety.md, cycle by cycle.

Random histories of an arm to which everything happens. All times and positions are binary
fractions, and so are the constants here, so that thresholds are met exactly, from both sides.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety.step import full_step
from naive.safety_step import Numbers, Twin
from safety_rig import same

S = gd.control.safety
INF = math.inf
NUMBERS = Numbers(
    refresh=1 / 64, dwell=1 / 32, rate_span=1 / 8, slack=1 / 128, arrival=1 / 32, soft=1 / 8,
    longest=0.25, short=1 / 32, long=1 / 8, rest=1 / 8, step=1 / 128,
)  # fmt: skip
CONSTANTS = {
    "detection": {"ARRIVAL": "arrival", "SLACK": "slack"},
    "commands": {
        "REFRESH": "refresh", "DWELL": "dwell", "LONGEST": "longest", "LONGEST_STEP": "rate_span",
        "SOFT": "soft", "SHORT": "short", "LONG": "long", "REST": "rest", "STEP": "step",
    },
    "step": {
        "REFRESH": "refresh", "LONGEST_STEP": "rate_span", "ARRIVAL": "arrival", "SLACK": "slack",
    },
}  # fmt: skip
FROZEN = "f7c3cd43d2c520f737c8e879a5a409e5d3e73720b239a6a954e1013fc50c2cbb"  # of decisions
# The digest has the names and texts of its time, so that it still shows that nothing else changed.
FORMER = {"OPEN_LOOP": "BLIND", "RAMPING_TO_GRAVITY": "RAMPING", "RAMPING_TO_ZERO": "ZEROING"}
FORMER_TEXTS = {
    "no model is loaded, so no holding command can be computed": "there is no model",
    "load a model": "load one",
}
REACTIONS = ("hold", "hold", "ramp_to_gravity", "zero")
OPTIONS: dict[str, tuple[Any, ...]] = {
    "velocity": ((64.0, INF), (8.0, 64.0), (INF, 64.0)),
    "command": ((24.0, 16.0), (24.0, INF), (INF, INF)),
    "command_rate": ((256.0, 128.0), (INF, 256.0), (INF, INF)),
    "tracking": ((0.25, 0.5), (INF, 0.25), (INF, INF)),
    "needs_reference": (True, True, True, False),
    "reference_timeout": (0.125, INF),
    "position_margin": (0.0625, 0.0),
    "position_tolerance": (0.03125, 0.0),
    "time_jump": (0.25, 1.0),
    "open_loop_time": (0.125, 0.125, 0.25, 0.0),
    "open_loop_end": ("gravity", "zero"),
    "ramp_time": (0.125, 0.25, 0.5),
    "hold_velocity": (0.25, 0.0),
    "settle_time": (0.125, 0.25, 0.0),
    "recovery_time": (0.0625, 0.03125, 0.0),
    "resume_time": (0.0625, 0.125, 0.0),
    "resume_error": (0.125, 0.125, INF),
    "stop_time": (0.25, 0.0625),
}
FIXED = {
    "lower": (-2.0, -INF), "upper": (2.0, INF), "continuous": (False, True),
    "state_timeout": 0.0625, "velocity_near": 0.875, "velocity_tolerance": 0.125,
}  # fmt: skip


class Model:
    """Commands of an arm that are linear in all that they depend on, or none at all."""

    M = np.array([[2.0, 0.5], [0.25, 1.0]])
    DRAG = 0.125 + 0.75

    def __init__(self, nominal: bool, brake: bool, closed: bool) -> None:
        self.state = "whole"
        self.nominal = self.moving if nominal else None
        self.brake = S.Brake(self.slowing, closed) if brake else None

    def fallback(self, posture: Any, q: Any, v: Any) -> Any:
        if self.state == "broken":
            raise gd.GearedDynamicsError("model", "is broken", "repair it")
        if self.state == "wild":
            return np.array([math.nan, 1.0])
        gravity = np.array([4.0, -2.0]) + np.array([1.5, 0.5]) * (posture if q is None else q)
        return gravity if q is None else gravity + 8.0 * (posture - q) - 2.0 * v

    def moving(self, q: Any, v: Any, a: Any) -> Any:
        return np.array([1.0, 2.0]) + 3.0 * q - 0.5 * v + self.M @ a

    def slowing(self, q: Any, v: Any, a: Any, rate: Any) -> Any:
        if self.state == "broken":
            raise gd.GearedDynamicsError("model", "is broken", "repair it")
        return np.array([3.0, -1.0]) + 0.25 * q + 0.125 * v + self.M @ a + 0.75 * rate

    def for_twin(self) -> Any:
        """The same for lists; None where there is no command."""

        def listed(call: Any) -> Any:
            def found(*rows: Any) -> Any:
                try:
                    return call(*[None if r is None else np.array(r) for r in rows]).tolist()
                except gd.GearedDynamicsError:
                    return None

            return found

        def acceleration(q: Any, v: Any, sent: Any, ahead: float) -> Any:
            """By Cramer's rule, with the drag of the velocity that is gained until then."""
            rest = listed(self.slowing)(q, v, [0.0, 0.0], v)
            if rest is None:
                from naive.safety_commands import NoCommandError

                raise NoCommandError
            (a, b), (c, d) = (self.M + ahead * self.DRAG * np.eye(2)).tolist()
            x, y = sent[0] - rest[0], sent[1] - rest[1]
            det = a * d - b * c
            return [(d * x - b * y) / det, (a * y - c * x) / det]

        gone = self.state == "gone"
        return SimpleNamespace(
            fallback=None if gone else self.fallback,
            held=(lambda *_: None) if gone else listed(self.fallback),
            open_loop=self.nominal,
            moved=listed(self.moving),
            brake=self.brake,
            slowed=listed(self.slowing),
            acceleration=acceleration,
        )


class World:
    """Facts of cycle after cycle: most are healthy, and each fault comes and goes."""

    # (how often it begins, how often it ends)
    FAULTS: ClassVar[dict[str, tuple[float, float]]] = {
        "silent": (0.02, 0.15), "deaf": (0.01, 0.2), "unknown": (0.01, 0.2), "stop": (0.006, 0.2),
        "moving": (0.05, 0.1), "mute": (0.01, 0.2), "off": (0.015, 0.15), "beyond": (0.02, 0.08),
        "broken": (0.006, 0.15), "wild": (0.003, 0.15), "gone": (0.004, 0.15),
        "missing": (0.01, 0.3), "bad": (0.01, 0.4), "clockless": (0.005, 0.3),
        "unstamped": (0.02, 0.05), "slow": (0.05, 0.1), "pull": (0.02, 0.2),
        "leaving": (0.006, 0.01), "hurried": (0.01, 0.2),
    }  # fmt: skip

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        chosen = {name: draw.choice(values) for name, values in OPTIONS.items()}
        for name in S.Policy.__dataclass_fields__:
            if name.startswith("on_"):
                chosen[name] = draw.choice(REACTIONS)
        self.rules = S.Policy(**FIXED, **chosen)
        self.model = Model(draw.random() < 0.8, draw.random() < 0.85, draw.random() < 0.6)
        self.base = draw.choice([1 / 64, 1 / 64, 1 / 128, 1 / 32])
        self.leave = draw.choice(["gravity", "zero"])
        first = draw.sample(sorted(self.FAULTS), 2)
        self.on = set(first) if draw.random() < 0.3 else set()
        self.now = draw.choice([0.0, 0.0, 8.0])
        self.clock = self.now + 4.0
        self.q, self.v = np.array([0.25, 0.5]), np.zeros(2)
        self.message: dict[str, Any] = {"state_stamp": None, "q": None, "v": None}
        self.heard: float | None = None
        self.wanted = np.array([6.0, -2.0])

    def chance(self, part: float) -> bool:
        return self.draw.random() < part

    def facts(self, twin: Twin) -> tuple[Any, Any]:
        """The observation and the wanted command of the next cycle."""
        draw, on = self.draw, self.on
        for name, (begins, ends) in self.FAULTS.items():
            if self.chance(ends if name in on else begins):
                on ^= {name}
        dt = self.base
        if self.chance(0.03):
            dt = draw.choice([0.0, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 1.25])
        if self.chance(0.006):
            dt = -draw.choice([1 / 64, 1 / 2])
        self.now += dt
        if self.chance(0.01):
            self.clock += draw.choice([0.0, 0.25, 1.0, 1.125, -0.25])
        else:
            self.clock += abs(dt)
        self.move(max(dt, 0.0))
        if "silent" not in on:
            self.measure(twin)
        if "deaf" not in on:
            self.heard = self.now if not self.chance(0.01) else self.now + 0.125
        if self.chance(0.2):
            self.wanted = np.array([draw.randrange(-40, 40) / 2, draw.randrange(-30, 30) / 2])
        state = next((name for name in ("gone", "broken", "wild") if name in on), "whole")
        self.model.state = state
        seen = S.Observation(
            now=self.now, **self.message, reference_stamp=self.heard, q_d=self.reference(),
            clock=None if "clockless" in on else self.clock,
            names_reordered=self.chance(0.01), failed=self.chance(0.005),
            emergency_stop="stop" in on, acknowledged=self.chance(0.15),
            leaving=self.leave if "leaving" in on else None,
            hurried="leaving" in on and "hurried" in on,
        )  # fmt: skip
        return seen, self.command(twin, dt)

    def move(self, dt: float) -> None:
        """Where the arm is: still, in motion, near its limits, beyond them."""
        draw, on = self.draw, self.on
        if "slow" in on:
            self.v = np.array([draw.choice([0.0, 0.03125, -0.25, 0.28125]), -0.03125])
        elif "moving" not in on:
            self.v = np.zeros(2)
        elif self.chance(0.2):
            self.v = np.array(
                [draw.choice([1.0, -2.0, 7.0, -9.0]), draw.choice([3.0, -56.0, 72.0])]
            )
        self.q = self.q + dt * self.v
        margin, past = self.rules.position_margin, self.rules.position_tolerance
        if "beyond" in on and self.chance(0.3):
            edge = draw.choice([2.0 - margin, 2.0, 2.0 + past, 2.125])
            edge = draw.choice([edge, math.nextafter(edge, 9.0)])
            self.q = np.array([draw.choice([edge, -edge]), self.q[1]])
        elif "beyond" not in on and self.chance(0.1):
            self.q = np.array([0.25, 0.5 + draw.choice([0.0, 2.0 * math.pi])])

    def measure(self, twin: Twin) -> None:
        """The joint state that comes now, some of them impossible, some at the edge of it."""
        draw, on = self.draw, self.on
        q, v = self.q, self.v
        sampled = None if "unstamped" in on else self.now - 4.0
        if self.chance(0.03):
            was = None if twin.track is None else twin.track[2]
            sampled = draw.choice([5.0, 5.0 if was is None else was + draw.choice([0.0, 1 / 16])])
        stamp = self.now
        if self.chance(0.015):
            stamp += draw.choice([-1 / 16, -5 / 64, 1 / 16, 5 / 64])
        if self.chance(0.03) and twin.track is not None:
            before, arrived, was = twin.track
            span = max(stamp - arrived, 0.0) + NUMBERS.arrival
            if sampled is not None and was is not None and sampled > was:
                span = sampled - was + NUMBERS.slack
            k, limit = draw.randrange(2), 0.0
            limit = min(self.rules.velocity[k], max(20.0, abs(v[k])))
            limit = self.rules.velocity[k] if self.rules.velocity[k] < INF else limit
            if span < INF and not (k and 2.0 * limit * span > 3.0):
                q = np.array(before)
                q[k] += draw.choice([1.0, -1.0, 1.0 + 2.0**-20, -2.0]) * 2.0 * limit * span
        if self.chance(0.02):
            v = np.array([draw.choice([7.0, 7.25, 9.0, 9.25, 16.0, 16.25, 144.0, -56.0]), 0.0])
        if self.chance(0.01):
            v = np.array([0.0, draw.choice([56.0, -72.0, 72.5, 128.0, 128.5, 1000.0, 1001.0])])
        if "bad" in on:
            bad = [np.array([math.nan, 0.0]), np.zeros(3), None, np.array([0.0, -INF])]
            q, v = draw.choice([(draw.choice(bad), v), (q, draw.choice(bad))])
        self.message = {
            "state_stamp": stamp if not self.chance(0.003) else None, "q": q, "v": v,
            "sampled": sampled, "names_missing": "missing" in on,
        }  # fmt: skip

    def reference(self) -> Any:
        """Where the arm is wanted: where it is, at the edge of a tolerance, off, unknown."""
        draw, on = self.draw, self.on
        if "unknown" in on:
            return draw.choice([None, None, np.zeros(3)])
        off = np.zeros(2)
        if "off" in on or "beyond" in on or self.chance(0.05):
            k, far = draw.randrange(2), draw.choice([0.125, 0.25, 0.5, 0.126, 0.26, 0.51])
            off[k] = draw.choice([far, -far, 1 / 64])
        if self.chance(0.1):
            off[1] += 4.0 * math.pi
        return self.q + off

    def command(self, twin: Twin, dt: float) -> Any:
        """What the law wants: a command, none, a bad one, one at the edge of what may be sent."""
        draw, on = self.draw, self.on
        if "mute" in on:
            return None
        if self.chance(0.005):
            return draw.choice([np.array([math.nan, 0.0]), np.zeros(3), np.array([1.0, -INF])])
        if "pull" in on:
            return draw.choice([1.0, -1.0]) * np.array([24.0, draw.choice([16.0, 64.0])])
        if self.chance(0.03) and twin.sent is not None and INF not in self.rules.command_rate:
            reach = np.array(self.rules.command_rate) * min(max(dt, 0.0), NUMBERS.rate_span)
            return np.array(twin.sent) + draw.choice([1.0, -1.0, 1.0625]) * reach
        return self.wanted


def history(seed: int, cycles: int = 60) -> Counter[str]:
    """Live through one history with both; how often each mode and each event was there."""
    world = World(random.Random(seed))
    twin, memory = Twin(world.rules, NUMBERS), S.START
    modes: Counter[str] = Counter()
    for cycle in range(cycles):
        seen, wanted = world.facts(twin)
        fallback = None if world.model.state == "gone" else world.model.fallback
        lent = [None if row is None else np.array(row) for row in (seen.q, seen.v, wanted)]
        mine = seen._replace(q=lent[0], v=lent[1])
        given = (mine, lent[2], fallback, world.model.nominal, world.model.brake)
        complete = full_step(world.rules, memory, *given)
        memory, found = S.step(world.rules, memory, *given)
        assert same((memory, found), complete), (seed, cycle)
        for row in lent:  # the caller's arrays may change afterwards
            if row is not None:
                row[...] = math.nan
        answer = twin.cycle(seen, wanted, world.model.for_twin())
        events = {e.name for e in S.Event if e and e & found.found}
        latched = {e.name for e in S.Event if e and e & found.latched}
        decided = (found.mode.name, events, latched, found.error is not None)
        assert decided == (answer.mode, answer.found, answer.latched, answer.failed), (seed, cycle)
        if answer.command is None or found.command is None:
            assert answer.command is found.command
        else:
            np.testing.assert_allclose(
                found.command, answer.command, rtol=1e-9, atol=1e-9, err_msg=f"{seed}, {cycle}"
            )
        assert S.finished(world.rules, memory, found.found) == twin.finished(answer.found)
        modes.update([answer.mode, *answer.found, *(["failed"] if answer.failed else [])])
    return modes


@pytest.fixture
def binary(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, names in CONSTANTS.items():
        module = importlib.import_module(f"geared_dynamics.control.safety.{room}")
        for name, number in names.items():
            monkeypatch.setattr(module, name, getattr(NUMBERS, number))


@pytest.mark.usefixtures("binary")
def test_histories() -> None:
    found: Counter[str] = Counter()
    for seed in range(130):
        found += history(seed)
    assert {mode.name for mode in S.Mode} <= set(found)
    assert {event.name for event in S.Event if event} <= set(found)
    assert min(found.values()) >= 5


def digest(seeds: range, cycles: int = 60) -> str:
    """Digest of the decisions without a brake: its least squares depend on the machine."""
    found = hashlib.sha256()
    for seed in seeds:
        world = World(random.Random(seed))
        world.model.brake = None
        twin, memory = Twin(world.rules, NUMBERS), S.START
        for _ in range(cycles):
            seen, wanted = world.facts(twin)
            fallback = None if world.model.state == "gone" else world.model.fallback
            given = (seen, wanted, fallback, world.model.nominal, None)
            memory, made = S.step(world.rules, memory, *given)
            twin.cycle(seen, wanted, world.model.for_twin())
            command = b"none" if made.command is None else (made.command + 0.0).tobytes()
            mode = FORMER.get(made.mode.name, made.mode.name)
            facts = repr((mode, made.found, made.latched, repr(made.error)))
            for text, before in FORMER_TEXTS.items():
                facts = facts.replace(text, before)
            found.update(facts.encode() + command)
    return found.hexdigest()


@pytest.mark.usefixtures("binary")
def test_decisions_are_those_of_before_in_every_bit() -> None:
    """Frozen where the memory was one row of fields; zeros of either sign count as one."""
    assert digest(range(3000, 3060)) == FROZEN


@pytest.mark.usefixtures("binary")
def test_a_constant_that_is_off_shows_in_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    commands = importlib.import_module("geared_dynamics.control.safety.commands")
    monkeypatch.setattr(commands, "DWELL", NUMBERS.dwell * (1.0 + 2.0**-50))
    assert digest(range(3000, 3060)) != FROZEN


@pytest.mark.validate
@pytest.mark.usefixtures("binary")
def test_many_histories() -> None:
    for seed in range(1000, 21_000):
        history(seed, 100)
