"""Which wheels of a random drivetrain can carry motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geared_dynamics.description.drive_records import DrivetrainRecord
from geared_dynamics.description.robot_records import RobotRecord
from geared_dynamics.model import GearedModel, build_model


def built(
    robot: RobotRecord, drivetrain: DrivetrainRecord, gravity: tuple[float, float, float]
) -> GearedModel:
    """The model, with those motors that can be independent."""
    return build_model(robot, with_independent_motors(robot, drivetrain), gravity=gravity)


def with_independent_motors(robot: RobotRecord, drivetrain: DrivetrainRecord) -> DrivetrainRecord:
    """Keep the motors whose wheels' ratios are independent of those before them.

    Motors on one train may repeat each other, and such a drivetrain is refused.
    """
    bare = build_model(robot, replace(drivetrain, motors=()))
    kept, rows = [], np.zeros((0, bare.n))
    for motor in drivetrain.motors:
        ratios = bare.Gamma[bare.wheel_names.index(motor.wheel)]
        size = float(np.linalg.norm(ratios))
        if size <= 1e-9:
            continue
        more = np.vstack([rows, ratios / size])
        if np.linalg.matrix_rank(more, tol=1e-6) == len(more):
            kept, rows = [*kept, motor], more
    return replace(drivetrain, motors=tuple(kept))
