"""Where the motors' encoders read zero."""

from __future__ import annotations

from geared_dynamics.description.records import DrivetrainRecord, RobotRecord


def encoder_zeros(robot: RobotRecord, drivetrain: DrivetrainRecord) -> tuple[float, ...]:
    """Return phi(q = 0) of each motor (m,) [rad].

    With joint positions x = k q + b (k = 1, b = 0 but for mimic joints), offsets o and
    the motors' spin coefficients G over the joints, ros2_control's phi = G (x - o) is
    phi = A' q + G (b - o), the last term of which is returned. Without mimic joints it
    is phi = A' (q - o).

    Args:
        robot: The robot; what a frozen joint adds is constant and left out, since its
            encoder shows whatever it showed.
        drivetrain: Resolved: every wheel is fixed by one spin over joints.
    """
    given = {joint.name: joint.offset or 0.0 for joint in drivetrain.joints}
    shift = {name: own - given.get(name, 0.0) for name, own in _mimic_offsets(robot).items()}
    spins = {spin.wheel: spin.coefficients for spin in drivetrain.spins}
    return tuple(
        sum(c * shift.get(joint, 0.0) for joint, c in spins[motor.wheel]) + 0.0
        for motor in drivetrain.motors
    )


def _mimic_offsets(robot: RobotRecord) -> dict[str, float]:
    """Return b of x = k q + b for every joint that moves, through all leaders."""
    joints = {joint.name: joint for joint in robot.joints}
    result = {}
    for joint in robot.joints:
        if joint.kind == "fixed":
            continue
        offset, multiplier, leader = 0.0, 1.0, joint
        while leader.mimic is not None:
            offset += multiplier * leader.mimic.offset
            multiplier *= leader.mimic.multiplier
            leader = joints[leader.mimic.leader]
        result[joint.name] = offset
    return result
