"""``geared-dynamics identify``: the files that it writes, and drive gains from a known load."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from geared_dynamics.analysis.analysis_files import write_table
from geared_dynamics.analysis.identification import Identified
from geared_dynamics.analysis.identification_equations import (
    DriveGains,
    drive_gains_from_load,
    equations,
)
from geared_dynamics.analysis.identification_results import Written, written
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.impossible import at_bounds
from geared_dynamics.analysis.parameter_columns import prior
from geared_dynamics.analysis.verdict import Judgement
from geared_dynamics.apps.cli.command_output import numeric_table, print_table, robot_part
from geared_dynamics.apps.cli.options import finite_number, load_robot
from geared_dynamics.arrays import Array
from geared_dynamics.checks import or_dash
from geared_dynamics.description.yaml_files import read_data, yaml_text
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import MARK, new_files, refuse_foreign
from geared_dynamics.model.inertia import doubt, parameters_of
from geared_dynamics.model.model import GearedModel
from geared_dynamics.recordings.recording import Recording

# -- ``identify --identify-drive-gains``: the scale of motor currents, from a known load ----------


SIZES = (4, 10)  # numbers of a point mass, and of a body


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what says that gains are to be found, and the load that sets their scale."""
    group = parser.add_argument_group("drive gains")
    group.add_argument(
        "--identify-drive-gains", action="store_true",
        help="find the joint torque per unit of motor current, from --loaded and --known-load",
    )  # fmt: skip
    group.add_argument(
        "--known-load", nargs="+", type=finite_number, metavar="NUMBER",
        help="KG X Y Z [IXX IXY IXZ IYY IYZ IZZ]: mass, centre of mass in the frame of "
        "--load-link [m], tensor about it [kg m^2]",
    )  # fmt: skip


def find_gains(
    args: argparse.Namespace,
    model: GearedModel,
    settings: Settings,
    opened: Mapping[str, Sequence[Recording]],
) -> DriveGains:
    """Find the gains.

    Raises:
        GearedDynamicsError: If an option is missing that this needs.
    """
    if not settings.meaning.of_motors:
        finding = f"needs efforts of motors, not {settings.meaning.effort}"
        raise GearedDynamicsError("--identify-drive-gains", finding, "add --effort motor_current")
    if args.gains:
        raise GearedDynamicsError(
            "--gains", "is given with --identify-drive-gains", "remove one of the two"
        )
    if not opened["loaded"]:
        finding = "needs recordings of the arm with a known load"
        raise GearedDynamicsError("--identify-drive-gains", finding, "name them with --loaded")
    frame = model.payload_frame(args.load_link, "--load-link")
    load = known_load(args.known_load)
    raw = replace(settings.meaning, gains=(1.0,) * len(model.motor_names))
    both = [*opened["recordings"], *opened["loaded"]]
    unscaled = equations(model, both, replace(settings, meaning=raw))
    loaded = unscaled.run >= len(opened["recordings"])
    expected = model.motors.torque_constant if args.effort == "motor_current" else None
    return drive_gains_from_load(model, unscaled, loaded, load, frame.link, expected=expected)


def known_load(numbers: Sequence[float] | None) -> Array:
    """Ten parameters (10,) of the load that the option describes."""
    if numbers is None or len(numbers) not in SIZES:
        finding = "is not given" if numbers is None else f"has {len(numbers)} numbers"
        raise GearedDynamicsError(
            "--known-load", finding, "give KG X Y Z, or these and six inertias"
        )
    tensor = np.zeros((3, 3))
    if len(numbers) == SIZES[1]:
        upper = np.triu_indices(3)
        tensor[upper] = tensor.T[upper] = numbers[4:]
    load = parameters_of(numbers[0], numbers[1:4], tensor)
    problem = "has no mass" if numbers[0] <= 0.0 else doubt(load)
    if problem:
        raise GearedDynamicsError(
            "--known-load", problem, "give the mass and centre of mass of the load as weighed"
        )
    return load


def show_gains(console: Console, model: GearedModel, gains: DriveGains, effort: str) -> None:
    """Print the gains."""
    unit = "N m/A" if effort == "motor_current" else "1"
    table = numeric_table("motor", f"gain [{unit}]", "sigma", "files say")
    files = (
        model.motors.torque_constant if effort == "motor_current" else np.ones(len(gains.gains))
    )
    for name, gain, sigma, before in zip(model.motor_names, *gains, files, strict=True):
        said = or_dash(before, ".5g")
        if np.isnan(gain):  # its joints are frozen
            table.add_row(name, "-", "-", said)
        else:
            table.add_row(name, f"{gain:.5g}", f"{sigma:.2g}", said)
    print_table(console, "Drive gains, motor side", table)


def with_constants(data: dict[str, Any], model: GearedModel, gains: DriveGains) -> None:
    """Write gains of currents into a drivetrain's data, as torque constants."""
    for name, gain in zip(model.motor_names, gains.gains.tolist(), strict=True):
        if name in data.get("motors", {}) and np.isfinite(gain):
            data["motors"][name]["torque_constant"] = gain


# -- Files that ``geared-dynamics identify`` writes -----------------------------------------------


LISTED_KINDS = (".J", ".viscous", ".coulomb", ".offset", ".static")
ALIKE = (0.05, 0.001)  # share of a residual, and of the torque, that make no difference
TOLD = 3.0  # deviations by which a parameter is another
TABLE_HEADS = ("parameter", "column", "value", "sigma", "files")
LISTED = 40  # changed numbers that are named above a new file


class Targets(NamedTuple):
    """Files that are written."""

    table: Path
    robot: Path
    drivetrain: Path


def output_files(args: argparse.Namespace) -> tuple[Targets, list[Path]]:
    """Where results go, and what is replaced there.

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
    places = [*names, folder / "report.html"]
    return names, refuse_foreign(*places, force=args.force, heads=[",".join(TABLE_HEADS)])


def write(
    console: Console,
    result: Identified,
    model: GearedModel,
    args: argparse.Namespace,
    targets: Targets,
    urdf: str,
    gains: DriveGains | None,
) -> None:
    """Write the parameters, and the robot's files with those of the model without a load."""
    args.output.mkdir(parents=True, exist_ok=True)
    columns = [result.equations.names[k] for k in result.base.selection]
    rows = zip(result.base.names, columns, result.x, result.sigma, result.files, strict=True)
    cells = [[name, column, *(repr(float(x)) for x in numbers)] for name, column, *numbers in rows]
    write_table(targets.table, list(TABLE_HEADS), cells)
    console.print(f"saved {targets.table}")
    if result.physical is None:
        why = "some parameters were known" if args.known else "there are no physical parameters"
        console.print(f"no files of the robot are written, for {why}")
        return
    source = None if args.drivetrain is None else Path(args.drivetrain)
    data = None if source is None else read_data(source)[0]
    new = written(model, result.physical.x, urdf, data)
    if gains is not None and args.effort == "motor_current":
        with_constants(new.drivetrain, model, gains)
    notes = [f"has no place in these files: {line}" for line in new.unwritten]
    notes += [f"kept as the file says: {', '.join(new.kept)}"] if new.kept else []
    if source is not None and re.search(r"(^|\s)#", source.read_text("utf-8", errors="replace")):
        notes.append(f"comments of {source.name} are not kept")
    text = yaml_text(new.drivetrain, comment(new, args, [*result.notes, *notes]))
    with new_files(targets.robot, targets.drivetrain) as drafts:
        for draft, content in zip(drafts, (marked(new.urdf), text), strict=True):
            draft.write_text(content, encoding="utf-8")
    saved = f"saved {targets.robot} and {targets.drivetrain}"
    console.print(f"{saved}: {len(new.changes)} numbers changed")
    for line in notes:
        console.print(line, style="yellow")
    console.print(about_files(result, args, targets), soft_wrap=True)


def marked(urdf: str) -> str:
    """A URDF that says who wrote it, behind its XML declaration."""
    head = f"<!-- {MARK} -->\n"
    if head in urdf:  # written back before
        return urdf
    declaration = re.match(r"\s*<\?xml[^>]*\?>\s*", urdf)
    end = declaration.end() if declaration else 0
    return urdf[:end] + head + urdf[end:]


def about_files(result: Identified, args: argparse.Namespace, targets: Targets) -> str:
    """Load the written files, and say what they leave of the torques that were held out."""
    paths = {"robot": str(targets.robot), "drivetrain": str(targets.drivetrain)}
    again = load_robot(argparse.Namespace(**vars(args) | paths))
    if not np.isfinite(result.residual[4]).any():
        return (
            "the written files load; no joint moves enough in what was held out to validate them"
        )
    listed = other_residuals(result, result.held_residual(prior(again)), result.residual[4])
    if not listed:
        return "the written files, loaded again, explain what was held out as these parameters do"
    return (
        f"the written files, loaded again, leave different residuals of what was held out: "
        f"{listed}; what has no place in the files is missing there"
    )


def about_physical(result: Identified, where: str) -> list[str]:
    """Say whether the physical parameters explain what was held out as the base ones do, and why.

    Args:
        result: What was identified, with physical parameters.
        where: What it was validated with.
    """
    if not np.isfinite(result.residual[3]).any():
        return [f"physical parameters are not validated: no joint moves enough in the {where}"]
    listed = other_residuals(result, result.residual[4], result.residual[3])
    bound = [one.text for one in at_bounds(result)]
    reached = [f"physical parameters at their bounds: {some(bound)}"] if bound else []
    if not listed:
        said = f"physical parameters explain the {where} as well as the base parameters do"
        return [said, *reached]
    than = f"different residuals of the {where} than the base parameters"
    lines = [f"physical parameters leave {than}: {listed}", *reached]
    forbidden = result.physical.forbidden if result.physical is not None else ()
    if forbidden:
        lines.append(f"the best fit would need what no arm has: {some(forbidden)}")
    moved = sorted(result.shifts.items(), key=lambda item: -abs(item[1]))
    told = [f"{name} by {apart:+.1f}" for name, apart in moved if abs(apart) > TOLD]
    if told:
        lines.append(f"base parameters that they change, in standard deviations: {some(told)}")
    else:
        lines.append(
            f"they change no base parameter by more than {TOLD:g} standard deviations: what this "
            "motion hardly determines is near the files' values"
        )
    return lines


def other_residuals(result: Identified, new: Array, old: Array) -> str:
    """List the joints of which two residuals (n,) differ, in % of the torque; empty if alike."""
    apart = np.abs(new - old) > ALIKE[0] * old + ALIKE[1] * result.held_rms
    percent = 100.0 / np.where(result.held_rms > 0.0, result.held_rms, np.nan)
    return some(
        [
            f"{result.model.joint_names[j]} {new[j] * percent[j]:.1f} % for "
            f"{old[j] * percent[j]:.1f} %"
            for j in np.flatnonzero(apart)
        ],
        result.model.n,
    )


def some(words: Sequence[str], most: int = 5) -> str:
    """Write the first few of a list."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def comment(new: Written, args: argparse.Namespace, notes: Sequence[str]) -> str:
    """What changed, and what of the recordings is missing: above the new drivetrain."""
    names = ", ".join(Path(path).name for path in args.recordings)
    lines = [MARK, f"Identified from {names}; inertias of links stand in the URDF."]
    if args.payload is not None:
        lines.append(f"The recordings had a load of {args.payload[0]:g} kg; it is not in here.")
    rotors = [c for c in new.changes if c.name.endswith(LISTED_KINDS)]
    lines += ["Changed:"]
    lines += [f"  {c.name}: {c.before:.6g} -> {c.after:.6g}" for c in rotors[:LISTED]]
    lines += [f"  and {len(rotors) - LISTED} more"] if len(rotors) > LISTED else []
    return "\n".join(lines + [f"{line[0].upper()}{line[1:]}" for line in notes])


def identified_document(
    result: Identified, judgement: Judgement, args: argparse.Namespace
) -> dict[str, object]:
    """Verdict, parameters and residuals for ``--json``; SI units, joint side."""
    heads = ("fit_files", "fit_base", "fit_physical", "held_out_base", "held_out_physical",
             "held_out_files")  # fmt: skip
    joints = zip(result.model.joint_names, result.rms, result.residual.T, strict=True)
    rows = zip(result.base.names, result.x, result.sigma, result.files, strict=True)
    return {
        "robot": robot_part(result.model),
        "recordings": args.recordings,
        "usable": judgement.usable,
        "verdict": judgement.sentence,
        "findings": [finding._asdict() for finding in judgement.findings],
        "condition": result.solution.condition,
        "parameters": [
            dict(zip(("name", "value", "deviation", "files"), row, strict=True)) for row in rows
        ],
        "residuals": [
            {"joint": name, "measured": rms, **dict(zip(heads, residual, strict=True))}
            for name, rms, residual in joints
        ],
        "output": args.output,
    }
