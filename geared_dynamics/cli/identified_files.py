"""Files that ``geared-dynamics identify`` writes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from geared_dynamics.analysis.identification.columns import prior
from geared_dynamics.analysis.identification.gains import Gains
from geared_dynamics.analysis.identification.identify import Identified
from geared_dynamics.analysis.identification.writing import Written, written
from geared_dynamics.analysis.report.tables import write_table
from geared_dynamics.analysis.report.yaml_text import yaml_text
from geared_dynamics.arrays import Array
from geared_dynamics.cli.arguments import load_robot
from geared_dynamics.cli.drive_gains import with_constants
from geared_dynamics.description.yaml_input import read_data
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import new_files
from geared_dynamics.model.model import GearedModel

LISTED_KINDS = (".J", ".viscous", ".coulomb", ".offset", ".static")
ALIKE = (0.05, 0.001)  # share of a residual, and of the torque, that make no difference
LISTED = 40  # changed numbers that are named above a new file


class Targets(NamedTuple):
    """Files that are written."""

    table: Path
    robot: Path
    drivetrain: Path


def output_files(args: argparse.Namespace) -> Targets:
    """Where results go.

    Raises:
        GearedDynamicsError: If that is no folder, or a file of the robot would be overwritten.
    """
    folder: Path = args.output
    if folder.exists() and not folder.is_dir():
        raise GearedDynamicsError("--output", f"{folder} is a file", "name a folder")
    given = [Path(path) for path in (args.robot, args.drivetrain, args.srdf) if path is not None]
    drive = Path(args.drivetrain or "robot.drivetrain.yaml").name
    names = Targets(*(folder / n for n in ("base_parameters.csv", Path(args.robot).name, drive)))
    for target in names:
        for source in given:
            if target.resolve() == source.resolve():
                remedy = "name a folder that does not hold the robot's files"
                raise GearedDynamicsError("--output", f"would overwrite {source}", remedy)
    return names


def write(
    console: Console,
    found: Identified,
    model: GearedModel,
    args: argparse.Namespace,
    targets: Targets,
    urdf: str,
    gains: Gains | None,
) -> None:
    """Write the parameters, and the robot's files with those of the model without a load."""
    args.output.mkdir(parents=True, exist_ok=True)
    columns = [found.equations.names[k] for k in found.base.selection]
    rows = zip(found.base.names, columns, found.x, found.sigma, found.files, strict=True)
    cells = [[name, column, *(repr(float(x)) for x in numbers)] for name, column, *numbers in rows]
    write_table(targets.table, ["parameter", "column", "value", "sigma", "files"], cells)
    console.print(f"saved {targets.table}")
    if found.physical is None:
        why = "some parameters were known" if args.known else "there are no physical parameters"
        console.print(f"no files of the robot are written, for {why}")
        return
    source = None if args.drivetrain is None else Path(args.drivetrain)
    data = None if source is None else read_data(source)[0]
    new = written(model, found.physical.x, urdf, data)
    if gains is not None and args.effort == "motor_current":
        with_constants(new.drivetrain, model, gains)
    notes = [f"has no place in these files: {line}" for line in new.unwritten]
    notes += [f"kept as the file says: {', '.join(new.kept)}"] if new.kept else []
    if source is not None and re.search(r"(^|\s)#", source.read_text("utf-8", errors="replace")):
        notes.append(f"comments of {source.name} are not kept")
    text = yaml_text(new.drivetrain, comment(new, args, [*found.notes, *notes]))
    with new_files(targets.robot, targets.drivetrain) as drafts:
        for draft, content in zip(drafts, (new.urdf, text), strict=True):
            draft.write_text(content, encoding="utf-8")
    saved = f"saved {targets.robot} and {targets.drivetrain}"
    console.print(f"{saved}: {len(new.changes)} numbers changed")
    for line in notes:
        console.print(line, style="yellow")
    console.print(about_files(found, args, targets), soft_wrap=True)


def about_files(found: Identified, args: argparse.Namespace, targets: Targets) -> str:
    """Load the written files, and say what they leave of the torques that were held out."""
    paths = {"robot": str(targets.robot), "drivetrain": str(targets.drivetrain)}
    again = load_robot(argparse.Namespace(**vars(args) | paths))
    if not np.isfinite(found.residual[4]).any():
        return (
            "the written files load; no joint moves enough in what was held out to validate them"
        )
    listed = other_residuals(found, found.held_residual(prior(again)), found.residual[4])
    if not listed:
        return "the written files, loaded again, explain what was held out as these parameters do"
    return (
        f"the written files, loaded again, leave different residuals of what was held out: "
        f"{listed}; what has no place in the files is missing there"
    )


def other_residuals(found: Identified, new: Array, old: Array) -> str:
    """List the joints of which two residuals (n,) differ, in % of the torque; empty if alike."""
    apart = np.abs(new - old) > ALIKE[0] * old + ALIKE[1] * found.held_rms
    percent = 100.0 / np.where(found.held_rms > 0.0, found.held_rms, np.nan)
    return some(
        [
            f"{found.model.joint_names[j]} {new[j] * percent[j]:.1f} % for "
            f"{old[j] * percent[j]:.1f} %"
            for j in np.flatnonzero(apart)
        ],
        found.model.n,
    )


def some(words: Sequence[str], most: int = 5) -> str:
    """Write the first few of a list."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def comment(new: Written, args: argparse.Namespace, notes: Sequence[str]) -> str:
    """What changed, and what of the recordings is missing: above the new drivetrain."""
    names = ", ".join(Path(path).name for path in args.recordings)
    lines = [f"Identified from {names}; inertias of links stand in the URDF."]
    if args.payload is not None:
        lines.append(f"The recordings had a load of {args.payload[0]:g} kg; it is not in here.")
    rotors = [c for c in new.changes if c.name.endswith(LISTED_KINDS)]
    lines += ["Changed:"]
    lines += [f"  {c.name}: {c.before:.6g} -> {c.after:.6g}" for c in rotors[:LISTED]]
    lines += [f"  and {len(rotors) - LISTED} more"] if len(rotors) > LISTED else []
    return "\n".join(lines + [f"{line[0].upper()}{line[1:]}" for line in notes])
