"""``geared-dynamics describe``: what the files say, and what the model makes of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from geared_dynamics.analysis.coupling_gap import diagonal_exactness
from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_indented,
    print_matrix,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.drive_tables import assumptions, gaps, orbits, print_drives, sources
from geared_dynamics.apps.cli.options import (
    add_force_option,
    add_robot_arguments,
    load_robot,
    open_console,
    robot_words,
    say_replaced,
    stage,
)
from geared_dynamics.apps.gear_graph_drawing import graph_svg
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.files import MARK, refuse_foreign, write_text
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.inertia import central_tensor
from geared_dynamics.model.model import GearedModel

ROUNDING = 1e-12  # relative; printed as zero
WIDEST_MATRIX = 7  # columns that fit 80 characters; longer matrices are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Show what was read and what the model makes of it: joints, wheels, carriers, "
        "ratios, reflected inertias, links with their wheels locked, structure matrix, "
        "and for which elements of the mass matrix the armature model is exact."
    )
    add_robot_arguments(parser)
    parser.add_argument(
        "--graph",
        type=Path,
        metavar="OUT.svg",
        help="also draw the gear graph, its canonical graph and the open-loop chain",
    )
    add_force_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Describe the robot; return 0."""
    model = load_robot(args)
    replaced: list[Path] = []
    if args.graph is not None:
        with stage("drawing the gear graph"):
            replaced = write_graph(model, args.graph, force=args.force)
    if args.json:
        print_document("describe", {"robot": robot_part(model), **document(model, args.graph)})
    else:
        show(model, args.graph, replaced)
        if not gaps(model) and Path(args.robot).is_file():
            again = f"geared-dynamics check {robot_words(args)}"
            open_console().print(f"next: {again}", soft_wrap=True)
    return 0


def show(model: GearedModel, graph: Path | None, replaced: Sequence[Path]) -> None:
    """Print everything, table by table."""
    console = open_console()
    for line in sources(model):
        console.print(line)
    if graph is not None:
        console.print(f"gear graph drawn: {graph}", soft_wrap=True)
    say_replaced(console, replaced)
    console.print()
    print_table(console, "Joints", joint_table(model))
    if model.wheel_names:
        print_table(
            console, "Wheels (axis and spin relative to the carrying link)", wheel_table(model)
        )
        print_orbits(console, model)
    print_table(console, "Links with their wheels locked, own frames", link_table(model))
    if model.motor_names:
        print_structure(console, model)
        print_zeros(console, model)
    if model.knowledge.rotors != "none":
        print_exactness(console, model)
    if model.knowledge.rotor_note:
        console.print(f"{model.knowledge.rotor_note}\n")
    print_drives(console, model)
    for title, lines in (("Missing", gaps(model)), ("Assumed or doubtful", assumptions(model))):
        if lines:
            console.print(title, style="bold")
            for line in lines:
                print_indented(console, line)
            console.print()


def document(model: GearedModel, graph: Path | None) -> dict[str, object]:
    """The same for ``--json``; friction, limits and balancers are in ``lines``, as text."""
    exactness = diagonal_exactness(model) if model.knowledge.rotors != "none" else None
    limits = model.limits
    return {
        "sources": sources(model),
        "graph": graph,
        "joints": [
            {
                "name": name,
                "kind": model.joint_types[j],
                "lower": limits.lower[j],
                "upper": limits.upper[j],
                "velocity": limits.velocity[j],
                "effort": limits.effort[j],
                "reflected_inertia": model.reflected_inertia[j, j],
            }
            for j, name in enumerate(model.joint_names)
        ],
        "wheels": [
            {
                "name": wheel.name,
                "carrier": wheel.carrier,
                "axis": wheel.axis,
                "inertia": wheel.axial,
                "mass": wheel.mass,
                "included_in_link": wheel.included_in_link,
                "spin": dict(zip(model.joint_names, row, strict=True)),
            }
            for wheel, row in zip(model.records.drivetrain.wheels, model.Gamma, strict=True)
        ],
        "links": [
            {
                "name": name,
                "mass": parameters[0],
                "centre": parameters[1:4] / parameters[0] if parameters[0] > 0.0 else None,
                "tensor": central_tensor(parameters),
            }
            for name, parameters in zip(model.body_names, model.tree.parameters, strict=True)
        ],
        "structure_matrix": model.structure_matrix,
        "motor_zeros": model.motor_zeros,
        "armature_exact": None if exactness is None else exactness.exact,
        "armature_error": None if exactness is None else exactness.error,
        "missing": gaps(model),
        "assumed": assumptions(model),
    }


def joint_table(model: GearedModel) -> Table:
    """Coordinates and mimics, with what the wheels add to the diagonal of M."""
    slides = bool(np.any(model.prismatic))
    bounds_unit, effort_unit, inertia_unit = (
        f"[{turning}, {sliding}]" if slides else f"[{turning}]"
        for turning, sliding in (("rad", "m"), ("N m", "N"), ("kg m^2", "kg"))
    )
    heads = f"limits\n{bounds_unit}", f"effort\n{effort_unit}", f"reflected\nJ {inertia_unit}"
    table = numeric_table("joint", "kind", "moves", *heads)
    reflected = dict(zip(model.joint_names, model.reflected_inertia.diagonal(), strict=True))
    for joint in model.records.robot.joints:
        if joint.kind == "fixed":
            continue
        limit = joint.limit
        bounds = effort = "-"
        if limit is not None:
            if limit.lower is not None and limit.upper is not None:
                bounds = f"{limit.lower:.3g}..{limit.upper:.3g}"
            effort = "-" if limit.effort is None else f"{limit.effort:.4g}"
        last = number(reflected.get(joint.name, 0.0))
        if joint.mimic is not None:
            last = f"= {joint.mimic.multiplier:g} {joint.mimic.leader}"
        table.add_row(joint.name, joint.kind, joint.child, bounds, effort, last)
    return table


def wheel_table(model: GearedModel) -> Table:
    """Wheels with carriers, axes and spins."""
    table = numeric_table("wheel", "carried by", "axis there", "J\n[kg m^2]", "mass\n[kg]", "spin")
    drives = model.records.drivetrain
    riders = dict(drives.riders) if isinstance(drives, ResolvedDrivetrain) else {}
    orbiting = orbits(drives)
    for wheel, row in zip(model.records.drivetrain.wheels, model.Gamma, strict=True):
        axis = " ".join(f"{component:.3g}" for component in wheel.axis)
        mass = "in link" if wheel.included_in_link else number(wheel.mass)
        if wheel.name in orbiting:
            mass = f"in {riders[wheel.name]}"
        terms = [
            f"{ratio:+.6g} {joint}"
            for joint, ratio in zip(model.joint_names, row, strict=True)
            if ratio != 0.0
        ]
        spin = "\n".join(terms) or "frozen"
        holder = riders.get(wheel.name)
        carrier = wheel.carrier if holder is None else f"{holder}\non {wheel.carrier}"
        table.add_row(wheel.name, carrier, axis, number(wheel.axial), mass, spin)
    return table


def print_orbits(console: Console, model: GearedModel) -> None:
    """Say of which wheels the mass includes that of others, and what is their own."""
    drives = model.records.drivetrain
    own = {w.name: w for w in drives.apart} if isinstance(drives, ResolvedDrivetrain) else {}
    holders = set(orbits(drives).values())
    for wheel in drives.wheels:
        if wheel.name in holders:
            alone = own[wheel.name]
            console.print(
                f"{wheel.name}: mass and J with the wheels that orbit on it; its own:"
                f" {number(alone.mass)} kg, {number(alone.axial)} kg m^2"
            )
    if holders:
        console.print()


def link_table(model: GearedModel) -> Table:
    """Augmented links: mass, centre, tensor about it (Sciavicco 1994, eq. 21)."""
    table = numeric_table(
        "link",
        "mass\n[kg]",
        "centre x y z\n[m]",
        "Ixx Iyy Izz; Ixy Ixz Iyz\nat the centre [kg m^2]",
    )
    for name, parameters in zip(model.body_names, model.tree.parameters, strict=True):
        mass = parameters[0]
        centre = parameters[1:4] / mass if mass > 0.0 else parameters[1:4]
        tensor = central_tensor(parameters)
        tensor[np.abs(tensor) < ROUNDING * np.abs(tensor).max()] = 0.0
        moments = " ".join(number(tensor[i, i]) for i in range(3))
        products = " ".join(number(tensor[i, j]) for i, j in ((0, 1), (0, 2), (1, 2)))
        place = " ".join(number(x) for x in centre)
        table.add_row(name, number(mass), place, f"{moments}\n{products}")
    return table


def print_structure(console: Console, model: GearedModel) -> None:
    """Structure matrix A, a row per joint, or its non-zero elements if it is wide."""
    title = "Structure matrix A [1, m]: joint force = A x motor torque"
    if len(model.motor_names) <= WIDEST_MATRIX:
        cells = [[f"{x:.6g}" if x else "." for x in row] for row in model.structure_matrix]
        print_matrix(console, title, model.joint_names, model.motor_names, cells)
        return
    console.print(title, style="bold")
    for joint, row in zip(model.joint_names, model.structure_matrix, strict=True):
        pairs = zip(model.motor_names, row, strict=True)
        cells_of = ", ".join(f"{x:.6g} {motor}" for motor, x in pairs if x)
        print_indented(console, f"{joint}: {cells_of}")
    console.print()


def print_zeros(console: Console, model: GearedModel) -> None:
    """What the motors' encoders show at q = 0, where that is not zero."""
    pairs = zip(model.motor_names, model.motor_zeros, strict=True)
    shown = [f"{motor} {zero:.6g}" for motor, zero in pairs if zero]
    if shown:
        console.print("Motor angles at q = 0 [rad]: phi = A' q + phi(0)", style="bold")
        console.print(f"  {', '.join(shown)}\n")


def print_exactness(console: Console, model: GearedModel) -> None:
    """Say where the armature model's mass matrix is right in every posture."""
    found = diagonal_exactness(model)
    unit = "SI" if model.prismatic.any() else "kg m^2"
    title = f"Mass matrix [{unit}]: largest error of the armature model, '=' where exact"
    if found.exact.all():
        console.print(title, style="bold")
        console.print("  The diagonal model is exact in every posture, for every element.\n")
    elif model.n <= WIDEST_MATRIX:
        cells = [
            ["=" if found.exact[i, j] else number(found.error[i, j]) for j in range(model.n)]
            for i in range(model.n)
        ]
        print_matrix(console, title, model.joint_names, model.joint_names, cells)
    else:
        console.print(title, style="bold")
        for i, joint in enumerate(model.joint_names):
            wrong = [j for j in range(i, model.n) if not found.exact[i, j]]
            if wrong:
                listed = [f"{model.joint_names[j]} {number(found.error[i, j])}" for j in wrong]
                print_indented(console, f"{joint}: {', '.join(listed)}")
        console.print("  Exact for all other elements.\n")


def write_graph(model: GearedModel, path: Path, *, force: bool = False) -> list[Path]:
    """Draw the gear graph into an SVG file; return the file if it replaced an earlier one."""
    place = f"--graph {path}"
    if path.suffix.lower() != ".svg":
        # Also keeps a mistyped command from overwriting the robot's files.
        raise GearedDynamicsError(place, "is not an SVG file's name", "end it in .svg")
    try:
        replaced = refuse_foreign(path, force=force)
        declaration, end, rest = graph_svg(model).partition("?>\n")
        write_text(path, f"{declaration}{end}<!-- {MARK} -->\n{rest}")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        finding = str(error.strerror or error)
        remedy = "name a file in a folder that exists and may be written to"
        raise GearedDynamicsError(place, finding, remedy) from None
    return replaced


def number(value: float) -> str:
    """Write a number with four digits."""
    return f"{value:.4g}"
