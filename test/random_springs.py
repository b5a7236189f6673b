"""Random springs for random robots: every kind, anchors on any link, the root's too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.description.drive_records import (
    BalancerRecord,
    LineElementRecord,
    Point,
    TorsionSpringRecord,
)
from geared_dynamics.description.robot_records import MOVABLE_KINDS
from geared_dynamics.model import build_model
from geared_dynamics.model.facts import root_link
from geared_dynamics.model.model import GearedModel

KINDS = ("coil", "gas", "constant")


def with_springs(model: GearedModel, *springs: BalancerRecord) -> GearedModel:
    """The same arm with these springs."""
    drives = replace(model.records.drivetrain, balancers=springs)
    return build_model(model.records.robot, drives, gravity=model.gravity)


def random_springs(model: GearedModel, seed: int, count: int = 5) -> tuple[BalancerRecord, ...]:
    """Line elements between any two links, the first on the root, and springs on joints."""
    rng = np.random.default_rng(seed)
    links = [link.name for link in model.records.robot.links]
    joints = [joint.name for joint in model.records.robot.joints if joint.kind in MOVABLE_KINDS]
    springs: list[BalancerRecord] = []
    for k in range(count):
        first = root_link(model.records.robot) if k == 0 else str(rng.choice(links))
        others = [link for link in links if model.frame(link).body != model.frame(first).body]
        anchors = (point(first, rng), point(str(rng.choice(others)), rng))
        springs.append(line_element(f"line_{k}", KINDS[k % 3], anchors, rng))
    for k in range(count):
        numbers = (float(x) for x in rng.uniform(-2, 2, 2))
        stiffness = float(rng.uniform(1, 30))
        springs.append(
            TorsionSpringRecord(f"turn_{k}", str(rng.choice(joints)), stiffness, *numbers)
        )
    return tuple(springs)


def point(link: str, rng: np.random.Generator) -> Point:
    """An anchor near the origin of a link's frame."""
    x, y, z = (float(x) for x in rng.uniform(-0.5, 0.5, 3))
    return link, (x, y, z)


def line_element(
    name: str, kind: str, anchors: tuple[Point, Point], rng: np.random.Generator
) -> LineElementRecord:
    """A spring of the size of an arm's; a gas has volume left within a dozen metres."""
    return LineElementRecord(
        name,
        kind,  # type: ignore[arg-type]
        anchors,
        length=float(rng.uniform(0.1, 0.6)),
        stiffness=float(rng.uniform(10, 200)),
        preload=float(rng.uniform(-50, 50)),
        area=float(rng.uniform(1e-4, 1e-3)),
        pressure=float(rng.uniform(1e5, 5e5)),
        volume=float(rng.uniform(0.012, 0.03)),
        exponent=float(rng.choice([1.0, 1.3])),
        pull=bool(rng.random() < 0.5),
    )
