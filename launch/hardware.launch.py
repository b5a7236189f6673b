"""A real robot: its driver's launch file, if you name it, and the feedforward node with a preset.

The default mode, ``annotate``, sends no torque: trajectories go out with effort to a joint
trajectory controller, which closes the loop. With the other modes commands go to ``commands``;
there the node waits unconfigured until you activate it, unless ``autostart:=true``.

What the drivers call their topics and controllers, and which of them take effort, stands in
``config/drivers/stock.yaml``.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    LogInfo,
    OpaqueFunction,
)
from launch.substitutions import LaunchConfiguration

shared = SimpleNamespace(**runpy.run_path(str(Path(__file__).resolve().with_name("shared.py"))))
SHARE = Path(__file__).resolve().parents[1]
ONE_ARM = SHARE / "launch" / "feedforward.launch.py"
STOCK = SHARE / "config" / "drivers" / "stock.yaml"
PRESETS = ["generic", "ur", "franka", "kuka_fri", "kinova"]
MODES = ["annotate", "stream", "computed_torque"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]
PASSED = (
    "preset", "mode", "urdf", "drivetrain", "params_file", "namespace", "log_level", "enclave",
)  # fmt: skip
TOPICS = ("joint_states", "speed_scaling")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the rest is made from their values."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "preset",
                choices=PRESETS,
                description="Preset of the robot's make: which torques the robot adds itself.",
            ),
            DeclareLaunchArgument(
                "driver",
                default_value="",
                description="Path of the driver's launch file. Empty means that the driver runs "
                "already.",
            ),
            DeclareLaunchArgument(
                "driver_args",
                default_value="",
                description="Arguments name:=value of the driver's launch file.",
            ),
            DeclareLaunchArgument(
                "mode",
                default_value="annotate",
                choices=MODES,
                description="Operating mode of the node.",
            ),
            DeclareLaunchArgument(
                "urdf",
                default_value="",
                description="Path of the URDF. Empty means the driver's topic robot_description.",
            ),
            DeclareLaunchArgument(
                "drivetrain", default_value="", description="Path of the drivetrain file."
            ),
            DeclareLaunchArgument(
                "joint_states",
                default_value="",
                description="Topic of the states. Empty means the stock driver's.",
            ),
            DeclareLaunchArgument(
                "speed_scaling",
                default_value="",
                description="Topic of the speed scaling. Empty means the stock driver's, if it "
                "has one.",
            ),
            DeclareLaunchArgument(
                "trajectory_controller",
                default_value="",
                description="Controller that receives the trajectories with effort in the mode "
                "annotate; it must command effort. Empty means the stock driver's, or that of "
                "config/controllers.",
            ),
            DeclareLaunchArgument(
                "effort_controller",
                default_value="",
                description="Controller that receives the commands in the other modes. Empty "
                "means the stock driver's.",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="",
                choices=["", "true", "false"],
                description="If true, configure and activate the node. Empty does so in the mode "
                "annotate only.",
            ),
            DeclareLaunchArgument(
                "params_file", default_value="", description="Path of your parameter file."
            ),
            DeclareLaunchArgument(
                "namespace", default_value="", description="Namespace of the node."
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                choices=LEVELS,
                description="Log level of the node.",
            ),
            DeclareLaunchArgument(
                "enclave",
                default_value="",
                description="SROS2 enclave of the node. Empty means none.",
            ),
            OpaqueFunction(function=make_all),
        ]
    )


def make_all(context: LaunchContext) -> list[object]:
    """Return the driver and the node."""

    def value(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    annotating = value("mode") == "annotate"
    driver = yaml.safe_load(STOCK.read_text("utf-8"))[value("preset")]
    argument = "trajectory_controller" if annotating else "effort_controller"
    controller = value(argument) or driver.get(argument, "")
    if not controller:
        raise RuntimeError(refusal(value("preset"), value("mode"), argument, driver))
    values = {name: value(name) for name in PASSED}
    values |= {name: value(name) or driver.get(name, "") for name in TOPICS}
    values["autostart"] = value("autostart") or str(annotating).lower()
    if annotating:
        values["annotated_trajectory"] = f"{controller}/joint_trajectory"
    else:
        values["commands"] = f"{controller}/commands"
    found: list[object] = [shared.included(str(ONE_ARM), values)]
    if not value(argument) and "controllers" in driver:
        found.insert(0, LogInfo(msg=hint(controller, driver)))
    if value("driver"):
        if not Path(value("driver")).is_file():
            raise RuntimeError(f"driver: there is no file {value('driver')!r}; give its path")
        words = shared.pairs("driver_args", value("driver_args"))
        found.insert(0, shared.included(value("driver"), words))
    return found


def refusal(preset: str, mode: str, argument: str, driver: dict[str, str]) -> str:
    """Say why a mode does not work with a stock driver, and what does."""
    return (
        f"preset {preset}, mode {mode}: {driver['reason']} Nothing was started. "
        f"What works: {driver['works']} A controller of your own that takes effort: {argument}:="
    )


def hint(controller: str, driver: dict[str, str]) -> str:
    """Say how a controller that the driver does not start is loaded and made active."""
    file = SHARE / "config" / "controllers" / driver["controllers"]
    switch = f"ros2 control switch_controllers --activate {controller}"
    if driver.get("replaces"):
        switch += f" --deactivate {driver['replaces']}"
    return (
        f"{controller} must be active; the driver does not start it. If it is not there yet: "
        f"ros2 run controller_manager spawner {controller} --inactive --param-file {file}, "
        f"then {switch}"
    )
