"""Random arms of rational geometry, as a model and for the exact oracle of ranks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    MotorRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.geometry import ZERO3, Vector3
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LinkRecord,
    RobotRecord,
)
from geared_dynamics.dynamics.packing import columns_of
from geared_dynamics.model import GearedModel, build_model
from naive.exact_rank import ExactJoint, ExactWheel

# Turns by 90 degrees, which make special positions, and general ones.
QUATERNIONS = [
    *[(1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1), (0, 1, 0, 0), (1, 2, 0, 0)],
    *[(2, 1, -1, 3), (3, 1, 2, -1), (1, -1, 1, 1)],
]
SKEW = (Fraction(3, 5), Fraction(0), Fraction(4, 5))
OBLIQUE = (Fraction(2, 7), Fraction(-3, 7), Fraction(6, 7))
X, Y, Z = ((Fraction(i == k) for i in range(3)) for k in range(3))
AXES = [tuple(axis) for axis in (Z, X, Y)] + [SKEW, OBLIQUE]
BODY = InertiaRecord(1.0, (0.1, 0.2, 0.3), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))


def rotation(quaternion: tuple[int, int, int, int]) -> list[list[Fraction]]:
    """The rotation of an integer quaternion, exactly."""
    w, x, y, z = quaternion
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [[Fraction(value, w * w + x * x + y * y + z * z) for value in row] for row in rows]


def exact_arm(seed: int, decades: float) -> tuple[list[ExactJoint], list[ExactWheel]]:
    """An arm of one to four joints and one to five wheels, ratios up to 10^decades.

    Some wheels are twins of earlier ones, with the same ratios or a multiple.
    """
    draw = random.Random(seed)
    n = draw.randint(1, 4)
    joints = [
        ExactJoint(
            parent=i - 1 if draw.random() < 0.85 else draw.randint(-1, i - 1),
            rotation=rotation(draw.choice(QUATERNIONS)),
            position=[Fraction(draw.choice([0, 0, draw.randint(-8, 8)]), 8) for _ in range(3)],
            axis=AXES[draw.choice([0, 0, 0, 1, 3])],
            slides=draw.random() < 0.3,
        )
        for i in range(n)
    ]
    wheels: list[ExactWheel] = []
    for _ in range(draw.randint(1, 5)):
        if wheels and draw.random() < 0.25:
            other, factor = draw.choice(wheels), draw.choice([1, 1, 2, 1000])
            ratios = [factor * value for value in other.ratios]
            wheels.append(ExactWheel(other.carrier, other.axis, ratios))
            continue
        ratios = [Fraction(0)] * n
        for j in draw.sample(range(n), 1 if draw.random() < 0.7 else draw.randint(1, n)):
            special = [1.0, -1.0, 2.0, 1e6, -1e6, 10.0**decades]
            drawn = 10 ** draw.uniform(0, decades)
            ratios[j] = Fraction(drawn if draw.random() < 0.7 else draw.choice(special))
        wheels.append(ExactWheel(draw.randint(-1, n - 1), draw.choice(AXES), ratios))
    return joints, wheels


def plain(values: Sequence[Fraction]) -> Vector3:
    """Floats, rounded."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def model_of(
    joints: Sequence[ExactJoint], wheels: Sequence[ExactWheel], motors: Sequence[int] = ()
) -> GearedModel:
    """The same arm as a model, with motors on some of its wheels."""
    names = ["base", *(f"link_{i + 1}" for i in range(len(joints)))]
    robot = RobotRecord(
        "arm",
        "exact",
        (LinkRecord("base"), *(LinkRecord(name, BODY) for name in names[1:])),
        tuple(
            JointRecord(
                f"joint_{i + 1}",
                "prismatic" if joint.slides else "revolute",
                names[joint.parent + 1],
                names[i + 1],
                (plain(joint.rotation[0]), plain(joint.rotation[1]), plain(joint.rotation[2])),
                plain(joint.position),
                plain(joint.axis),
            )
            for i, joint in enumerate(joints)
        ),
    )
    drives = DrivetrainRecord(
        "exact",
        tuple(
            WheelRecord(f"w{k}", names[w.carrier + 1], plain(w.axis), ZERO3, 0.0, 1e-4, 5e-5)
            for k, w in enumerate(wheels)
        ),
        tuple(
            SpinRecord(
                f"w{k}", tuple((f"joint_{j + 1}", float(r)) for j, r in enumerate(w.ratios) if r)
            )
            for k, w in enumerate(wheels)
        ),
        motors=tuple(MotorRecord(f"m{k}", f"w{k}") for k in motors),
    )
    return build_model(robot, drives)


def exact_order(model: GearedModel) -> list[int]:
    """The oracle's column of each of the model's: ten for each body, then the wheels."""
    found = columns_of(model)
    order = [0] * found.count
    for body, first in enumerate(found.bodies):
        order[first : first + 10] = range(10 * body, 10 * body + 10)
    for wheel, column in enumerate(found.wheels):
        order[column] = 10 * len(found.bodies) + wheel
    return order
