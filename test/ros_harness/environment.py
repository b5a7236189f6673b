"""The environment variables of processes on a test's graph."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "config" / "fastdds_fast_discovery.xml"


def ros_environment(domain: int, logs: Path) -> dict[str, str]:
    """Return what to add to the environment.

    Processes see this machine only, find each other quickly, check the type of every
    field of a message, log into a folder of the test, and import the source tree.
    """
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    return {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(logs),
        "ROS_PYTHON_CHECK_FIELDS": "1",
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(PROFILE),  # Jazzy
        "FASTDDS_DEFAULT_PROFILES_FILE": str(PROFILE),  # Kilted
        # With wheels the virtual environment is an ament prefix, but nothing says so.
        "AMENT_PREFIX_PATH": os.pathsep.join(dict.fromkeys([*prefixes, sys.prefix])),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "RCUTILS_COLORIZED_OUTPUT": "0",
    }
