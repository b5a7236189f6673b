"""Run a launch file as ``ros2 launch`` does: ``launch_file.py FILE [name:=value ...]``.

ros2launch itself needs the whole command line of ROS; its engine is enough.
"""

from __future__ import annotations

import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def main() -> int:
    path, *words = sys.argv[1:]
    pairs = [tuple(word.split(":=", 1)) for word in words]
    source = PythonLaunchDescriptionSource(path)
    service = LaunchService(argv=words)
    service.include_launch_description(
        LaunchDescription([IncludeLaunchDescription(source, launch_arguments=pairs)])
    )
    return int(service.run())


if __name__ == "__main__":
    sys.exit(main())
