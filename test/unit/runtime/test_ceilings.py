"""Limits while a node runs: as tight as anybody likes, as wide as its start allows."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import Policy
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.feedforward_settings import policy_of, refuse_wider_than_start
from geared_dynamics.runtime.parameters import Parameter, ParameterError, Value, schema_of
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
ELBOW, DRIVES = URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml"
UNLIMITED = re.sub(r'(effort|velocity)="[^"]*"', r'\1="0"', ELBOW.read_text("utf-8"))
OFF, NONE = 0.0, math.nan


@pytest.fixture(scope="module")
def arm() -> gd.GearedModel:
    return gd.load_model(ELBOW, DRIVES)


@pytest.fixture(scope="module")
def free() -> gd.GearedModel:
    """An arm whose description limits neither effort nor speed."""
    return gd.load_model(UNLIMITED, DRIVES)


SCHEMA = FeedforwardParameters.rows()


def values(model: gd.GearedModel, **changes: Any) -> FeedforwardParameters:
    return feedforward(model, **{"mode": "computed_torque"} | changes)


def allowed(model: gd.GearedModel, start: dict[str, Any], **changes: Any) -> bool:
    """Whether a node that was started with some values takes others while it runs."""
    begin = values(model, **start)
    try:
        refuse_wider_than_start(values(model, **start | changes), begin, model)
    except ParameterError:
        return False
    return True


EFFORT, SPEED = "joint_limits__joint_1__max_effort", "joint_limits__joint_1__max_velocity"
TRACKING = "constraints__joint_1__trajectory"


@pytest.mark.parametrize(
    ("start", "change", "taken"),
    [
        ({}, {"safety__command_rate": OFF}, False),
        ({}, {"safety__command_rate": 2500.0}, True),  # that of the weakest joint
        ({}, {"safety__command_rate": 2501.0}, False),
        ({"safety__command_rate": OFF}, {"safety__command_rate": 1e9}, True),
        ({"safety__command_rate": 3000.0}, {"safety__command_rate": 3000.0}, True),
        ({"safety__command_rate": 3000.0}, {"safety__command_rate": 3001.0}, False),
        ({"safety__command_rate": 100.0}, {"safety__command_rate": NONE}, True),
        ({}, {TRACKING: OFF}, False),
        ({}, {TRACKING: 0.2}, True),
        ({}, {TRACKING: 0.21}, False),
        ({TRACKING: OFF}, {TRACKING: 3.0}, True),
        ({TRACKING: 0.05}, {TRACKING: NONE}, True),
        ({"mode": "stream"}, {TRACKING: OFF}, True),
        ({"mode": "stream", TRACKING: 0.1}, {TRACKING: OFF}, False),
        ({"mode": "stream", TRACKING: 0.1}, {TRACKING: 0.05}, True),
        ({"type": "a JTC's file"}, {TRACKING: OFF}, True),
        ({}, {"cmd_timeout": 5.0}, True),
        ({"cmd_timeout": 5.0}, {"cmd_timeout": OFF}, False),
        ({"cmd_timeout": 5.0}, {"cmd_timeout": 6.0}, False),
        ({"cmd_timeout": 5.0}, {"constraints__goal_time": 6.0}, False),  # it would not count
        ({EFFORT: 50.0}, {EFFORT: 100.0}, True),
        ({EFFORT: 50.0}, {EFFORT: NONE}, True),
    ],
)
def test_limits_that_are_known(
    arm: gd.GearedModel, start: dict[str, Value], change: dict[str, Value], taken: bool
) -> None:
    assert allowed(arm, start, **change) is taken


@pytest.mark.parametrize(
    ("start", "change", "taken"),
    [
        ({}, {EFFORT: 1e9}, True),  # nothing has limited it ever
        ({EFFORT: 50.0}, {EFFORT: 51.0}, False),
        ({EFFORT: 50.0}, {EFFORT: NONE}, False),
        ({EFFORT: 50.0}, {EFFORT: 10.0}, True),
        ({EFFORT: 50.0}, {"safety__command_rate": 2500.0}, True),
        ({EFFORT: 50.0}, {"safety__command_rate": 2501.0}, False),
        ({SPEED: 2.0}, {SPEED: NONE}, False),
        ({SPEED: 2.0}, {SPEED: 2.0}, True),
    ],
)
def test_limits_that_only_the_start_gives(
    free: gd.GearedModel, start: dict[str, Value], change: dict[str, Value], taken: bool
) -> None:
    assert allowed(free, start, **change) is taken


def test_the_refusal_names_parameter_and_bound(arm: gd.GearedModel) -> None:
    given = values(arm, safety__command_rate=0.0)
    with pytest.raises(
        ParameterError, match="is not limited, and while the node runs it must be"
    ) as error:
        refuse_wider_than_start(given, values(arm), arm)
    assert error.value.place == "safety.command_rate"
    assert "restart the node" in error.value.remedy


@pytest.mark.parametrize(
    ("name", "start", "value", "taken"),
    [
        ("safety.state_timeout", None, 0.05, True),
        ("safety.state_timeout", None, 0.06, False),
        ("safety.state_timeout", 0.5, 0.5, True),
        ("safety.state_timeout", 0.5, 0.51, False),
        ("safety.state_timeout", 0.01, 0.05, True),
        ("safety.resume_error", None, math.inf, False),
        ("safety.time_jump", None, math.inf, False),
        ("safety.recovery_time", None, 0.0, False),
        ("safety.recovery_time", 0.0, 0.0, True),
        ("safety.recovery_time", None, 5.0, True),
        ("safety.open_loop_time", None, 1e6, False),  # the arm would coast
        ("safety.open_loop_time", None, 0.0, False),  # no braking at all
        ("safety.open_loop_time", 0.0, 0.1, True),
        ("safety.open_loop_end", None, "zero", False),
        ("safety.open_loop_end", "zero", "zero", True),
        ("safety.open_loop_end", "zero", "gravity", True),
        ("safety.on_time_jump", None, "zero", False),
        ("safety.on_time_jump", None, "ramp_to_gravity", True),
        ("on_deactivate", None, "zero", False),
        ("annotate.beyond_limits", None, "warn", False),
        ("annotate.beyond_limits", "warn", "warn", True),
    ],
)
def test_numbers_and_choices(name: str, start: Value | None, value: Value, taken: bool) -> None:
    entry = {entry.name: entry for entry in SCHEMA}[name]
    begin = entry.default if start is None else start
    if taken:
        entry.refuse_weaker(value, begin)
        return
    with pytest.raises(ParameterError, match="restart the node") as error:
        entry.refuse_weaker(value, begin)
    assert error.value.place == name


def test_no_parameter_of_the_safety_step_is_forgotten() -> None:
    """Each is guarded, or listed here with the reason."""
    harmless = {"safety.position_margin": "only logs"}
    found = {e.name for e in SCHEMA if e.name.startswith(("safety.", "joint_limits.")) and
             e.when == "run" and not (e.weaker or e.weakest)}  # fmt: skip
    assert found == set(harmless)


WIDER = {"lower": -1.0, "upper": 1.0, "velocity": 1.0, "command": 1.0, "command_rate": 1.0,
         "tracking": 1.0, "reference_timeout": 1.0, "state_timeout": 1.0, "time_jump": 1.0,
         "position_tolerance": 1.0, "velocity_tolerance": 1.0, "ramp_time": 1.0,
         "resume_error": 1.0, "stop_time": 1.0, "recovery_time": -1.0,
         "resume_time": -1.0}  # fmt: skip


def beyond(found: Policy, usual: Policy, start: Policy) -> list[str]:
    """Fields in which a policy protects less than both others; one without a limit is none."""
    names = []
    for name, sign in WIDER.items():
        now, one, other = (sign * np.atleast_1d(getattr(p, name)) for p in (found, usual, start))
        most = np.where(np.isfinite(one), np.maximum(one, other), other)
        if (now > most + 1e-6 * np.abs(np.where(np.isfinite(most), most, 0.0))).any():
            names.append(name)
    return names


def drawn(rng: Any, entry: Parameter) -> Value:
    """A value of a parameter, extreme ones among them."""
    if entry.choices:
        return str(rng.choice(entry.choices))
    number = float(entry.default)  # type: ignore[arg-type]
    size = 1.0 if number != number or number == 0.0 else abs(number)
    pool = [
        number,
        0.0,
        math.nan,
        math.inf,
        -math.inf,
        1e9,
        -1e9,
        -size,
        *(size * rng.lognormal(0.0, 2.0, 6)),
    ]
    return float(rng.choice(pool))


@pytest.mark.parametrize("seed", range(3))
def test_histories_of_changes_never_widen_what_the_start_allows(
    arm: gd.GearedModel, free: gd.GearedModel, seed: int
) -> None:
    """As the node takes changes, one or several at a time; the policy is compared itself."""
    rng = np.random.default_rng(seed)
    taken = refused = 0
    for model in (arm, free):
        schema = schema_of(FeedforwardParameters, model.joint_names, model.motor_names)
        guarded = [e for e in schema.values() if e.weaker or e.weakest]
        usual = policy_of(values(model), model)
        begin = values(model)
        for entry in rng.choice(guarded, 5):  # type: ignore[arg-type]
            begin = changed(model, begin, {entry.name: drawn(rng, entry)}, begin=None) or begin
        start, now = policy_of(begin, model), begin
        for _ in range(60):
            chosen = rng.choice(guarded, int(rng.integers(1, 4)))  # type: ignore[arg-type]
            change = {entry.name: drawn(rng, entry) for entry in chosen}
            after = changed(model, now, change, begin)
            taken, refused = taken + (after is not None), refused + (after is None)
            now = after or now
            assert beyond(policy_of(now, model), usual, start) == []
    assert taken > 10
    assert refused > 10


def changed(
    model: gd.GearedModel,
    now: FeedforwardParameters,
    change: dict[str, Value],
    begin: FeedforwardParameters | None,
) -> FeedforwardParameters | None:
    """The parameters after a change, None where it is refused; ``begin`` None: at the start."""
    schema = schema_of(FeedforwardParameters, model.joint_names, model.motor_names)
    try:
        given = {name: schema[name].checked(value) for name, value in change.items()}
        after = now.replaced(given)
        policy_of(after, model)
        if begin is not None:
            for name, value in given.items():
                schema[name].refuse_weaker(value, begin.values[name])
            refuse_wider_than_start(after, begin, model)
    except gd.GearedDynamicsError:
        return None
    return after
