"""Files that ``geared-dynamics identify`` writes."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from geared_dynamics.analysis.identification.gains import Gains
from geared_dynamics.analysis.identification.identify import Identified
from geared_dynamics.analysis.identification.writing import Written, written
from geared_dynamics.analysis.report.yaml_text import yaml_text
from geared_dynamics.cli.drive_gains import with_constants
from geared_dynamics.description.yaml_input import read_data
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model.model import GearedModel

LISTED_KINDS = (".J", ".viscous", ".coulomb", ".offset", ".static")
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
    with targets.table.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["parameter", "column", "value", "sigma", "files"])
        columns = [found.equations.names[k] for k in found.base.selection]
        rows = zip(found.base.names, columns, found.x, found.sigma, found.files, strict=True)
        for name, column, *numbers in rows:
            out.writerow([name, column, *(repr(float(x)) for x in numbers)])
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
    targets.robot.write_text(new.urdf, encoding="utf-8")
    text = yaml_text(new.drivetrain, comment(new, args, [*found.notes, *notes]))
    targets.drivetrain.write_text(text, encoding="utf-8")
    saved = f"saved {targets.robot} and {targets.drivetrain}"
    console.print(f"{saved}: {len(new.changes)} numbers changed")
    for line in notes:
        console.print(line, style="yellow")


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
