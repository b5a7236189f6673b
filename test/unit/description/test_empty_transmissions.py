"""Transmissions of a URDF that say nothing, under a drivetrain file with motors."""

from __future__ import annotations

from geared_dynamics.description import read_drivetrain, read_robot
from geared_dynamics.model.drive_sources import one_drivetrain

WHEEL = "{carrier: link_1, axis: [0, 0, 1], mass: 0.3, inertia: {axial: 5e-4}}"
EMPTY = """<ros2_control name="Arm" type="system">
  <joint name="joint_1"/><joint name="joint_2"/><joint name="joint_3"/>""" + "".join(
    f"""<transmission name="t{i}"><plugin>transmission_interface/SimpleTransmission</plugin>
  <actuator name="m{i}" role="actuator1"/><joint name="joint_{i}" role="joint1">
  <mechanical_reduction>{ratio}</mechanical_reduction><offset>{offset}</offset></joint>
  </transmission>"""
    for i, ratio, offset in ((1, 1, 0), (2, -1, 0), (3, 1, 0.3))
) + "</ros2_control>"  # fmt: skip
ALL_THREE = "".join(f"  w{i}: {WHEEL}\n" for i in (1, 2, 3))
ALL_THREE = f"wheels:\n{ALL_THREE}spins:\n" + "".join(
    f"  - {{wheel: w{i}, joint: joint_{i}, ratio: 99}}\n" for i in (1, 2, 3)
)


def test_transmissions_that_say_nothing_are_replaced_without_a_warning(arm) -> None:
    """Ratio 1 and no inertia, as the URs' files have it: one remark on all of them."""
    motors_of_all = "motors: {a: {wheel: w1}, b: {wheel: w2}, c: {wheel: w3}}"
    robot, found = read_robot(arm(EMPTY))
    file = read_drivetrain(f"version: 1\n{ALL_THREE}{motors_of_all}", alone=False)
    _, (remark, doubt) = one_drivetrain(robot, robot, file, found.drivetrain, frozenset())
    assert "replace the URDF's transmissions m1, m2, which" in remark
    assert remark.remedy == ""
    assert "transmission 't3'" in doubt  # its offset is lost
    assert doubt.remedy
