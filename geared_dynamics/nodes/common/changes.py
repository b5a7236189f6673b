"""What a new description changes of an arm that is driven: bodies, gears, limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.control.safety import default_policy
from geared_dynamics.model import GearedModel

PART = 0.01  # of a number, by which it may differ
SHORT = 1e-3  # [m]: lengths below it count as this long, for they may be rounding
TINY = 1e-12
VECTORS = ("rotation", "position", "axis", "points")  # compared by their largest component
BODIES = {"mass": slice(0, 1), "centre of mass": slice(1, 4), "inertia": slice(4, 10)}
PARTS = ("tree", "wheels", "motors", "joint_friction", "balancers", "elasticity")
NAMES = {"spin": "gear ratios", "parent": "order of the links"}
TURN = 6.3  # [rad]: position limits are compared with it where a joint has only one
MOST = 3  # changes that are named


def changes(before: GearedModel, now: GearedModel) -> list[str]:
    """Return what differs by more than 1 %, a few words each; empty where nothing does.

    Args:
        before: The model in use.
        now: Another of the same joints and motors.
    """
    found = [*body_changes(before, now), *limit_changes(before, now)]
    for part in PARTS:
        old, new = getattr(before, part), getattr(now, part)
        found += [f"{part.replace('_', ' ')}: {name}" for name in record_changes(old, new)]
    if differs(before.gravity, now.gravity, np.abs(before.gravity).max(initial=0.0)).any():
        found.append("gravity")
    return found


def summary(found: list[str]) -> str:
    """The first few changes and how many more there are."""
    rest = len(found) - MOST
    return ", ".join(found[:MOST]) + (f", and {rest} more" if rest > 0 else "")


def body_changes(before: GearedModel, now: GearedModel) -> Iterator[str]:
    """Bodies whose mass, mass times centre of mass or inertia differ."""
    if before.tree.names != now.tree.names:
        yield "the links"
        return
    for name, old, new in zip(
        before.tree.names, before.tree.parameters, now.tree.parameters, strict=True
    ):
        floors = {"mass": TINY, "centre of mass": SHORT * old[0], "inertia": SHORT**2 * old[0]}
        for what, columns in BODIES.items():
            scale = max(np.abs(old[columns]).max(), floors[what])
            if differs(old[columns], new[columns], scale).any():
                yield f"{what} of {name}{numbers(old[columns], new[columns])}"


def limit_changes(before: GearedModel, now: GearedModel) -> Iterator[str]:
    """Joints whose limits differ, as the safety step takes them from the description."""
    old, new = default_policy(before), default_policy(now)
    lower, upper = np.array(old.lower), np.array(old.upper)
    span = np.where(np.isfinite(upper) & np.isfinite(lower), upper - lower, TURN)
    for what in ("lower", "upper", "velocity", "command"):
        first, second = np.array(getattr(old, what)), np.array(getattr(new, what))
        scale = span if what in ("lower", "upper") else np.abs(first)
        words = {"lower": "lower limit", "upper": "upper limit", "velocity": "velocity limit"}
        for k in np.flatnonzero(differs(first, second, scale)):
            name = before.joint_names[k]
            change = numbers(first[k : k + 1], second[k : k + 1])
            yield f"{words.get(what, 'effort limit')} of {name}{change}"


def record_changes(before: Any, now: Any) -> Iterator[str]:
    """Names of a record's fields that differ; ``parameters`` is looked at elsewhere."""
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(now, field.name)
        if field.name != "parameters" and not alike(field.name, old, new):
            yield NAMES.get(field.name, field.name.replace("_", " "))


def alike(name: str, before: Any, now: Any) -> bool:
    """Whether two values of a field are the same but for 1 %."""
    if dataclasses.is_dataclass(before):
        return type(before) is type(now) and not any(record_changes(before, now))
    if isinstance(before, tuple) and any(isinstance(one, np.ndarray) for one in before):
        pairs = zip(before, now, strict=False)
        return len(before) == len(now) and all(alike(name, one, two) for one, two in pairs)
    if not isinstance(before, np.ndarray) or before.dtype.kind != "f":
        return bool(np.array_equal(before, now))
    if before.shape != now.shape:
        return False
    scale = np.abs(before)
    if name in VECTORS and before.size:
        scale = np.maximum(scale.max(axis=-1, keepdims=True), SHORT)
    return not differs(before, now, scale).any()


def differs(before: Array, now: Array, scale: Any) -> Any:
    """Which numbers differ by more than 1 % of a scale; NaN and infinity only from others."""
    with np.errstate(invalid="ignore"):
        same = np.abs(now - before) <= PART * np.minimum(np.maximum(scale, TINY), 1e300)
    return ~(same | (before == now) | (np.isnan(before) & np.isnan(now)))


def numbers(before: Array, now: Array) -> str:
    """A single number's change in figures, else nothing."""
    return f" ({before[0]:g}, now {now[0]:g})" if before.size == 1 else ""
