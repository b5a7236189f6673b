"""Files that come with the package: robots and settings, in a checkout or installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from geared_dynamics.errors import DescriptionError, suggestion

PACKAGE = "geared_dynamics"
DRIVETRAIN = ".drivetrain.yaml"


class RobotFiles(NamedTuple):
    """A robot's files.

    Attributes:
        urdf: Path of the URDF.
        drivetrain: Path of the drivetrain file; None: there is none.
    """

    urdf: Path
    drivetrain: Path | None


def folder(name: str) -> Path:
    """Return ``urdf``, ``config`` or another folder of this package's files.

    Raises:
        DescriptionError: if the package was installed without them.
    """
    prefixes = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    installed = [Path(prefix) / "share" / PACKAGE for prefix in prefixes if prefix]
    for root in (Path(__file__).resolve().parents[2], *installed):
        if (root / name).is_dir():
            return root / name
    remedy = "install the package again, or run from a checkout"
    raise DescriptionError(name, "this folder of the package is not installed", remedy)


def robot_files(name: str, drivetrain: str | None = None) -> RobotFiles:
    """Return the files of a robot.

    Args:
        name: One of ``urdf/`` by its name, or the path of a URDF.
        drivetrain: Path of its drivetrain file; None: the one beside the URDF of the same
            name, if there is one.

    Raises:
        DescriptionError: if there is no such robot.
    """
    known = sorted(path.stem for path in folder("urdf").glob("*.urdf"))
    path = folder("urdf") / f"{name}.urdf" if name in known else Path(name)
    if not path.is_file():
        remedy = f"give the path of a URDF, or a robot of this package: {suggestion(name, known)}"
        raise DescriptionError("robot", f"{name!r} does not exist", remedy)
    if drivetrain is not None:
        return RobotFiles(path, Path(drivetrain))
    beside = path.with_name(path.stem + DRIVETRAIN)
    return RobotFiles(path, beside if beside.is_file() else None)
