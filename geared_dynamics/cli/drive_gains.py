"""``identify --identify-drive-gains``: the scale of motor currents, from a known load."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console

from geared_dynamics.analysis.identification.equations import Settings, equations
from geared_dynamics.analysis.identification.gains import Gains, drive_gains_from_load
from geared_dynamics.analysis.reading.recording import Recording
from geared_dynamics.arrays import Array
from geared_dynamics.cli.arguments import finite_number
from geared_dynamics.cli.console import numeric_table, print_table
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model.inertia import doubt, parameters_of
from geared_dynamics.model.model import GearedModel
from geared_dynamics.model.payload import payload_frame

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
) -> Gains:
    """Find the gains.

    Raises:
        GearedDynamicsError: If an option is missing that this needs.
    """
    if not settings.meaning.of_motors:
        finding = f"needs efforts of motors, not {settings.meaning.effort}"
        raise GearedDynamicsError("--identify-drive-gains", finding, "--effort motor_current")
    if args.gains:
        raise GearedDynamicsError("--gains", "are to be found", "leave one of the two options out")
    if not opened["loaded"]:
        finding = "needs recordings of the arm with a known load"
        raise GearedDynamicsError("--identify-drive-gains", finding, "name them with --loaded")
    frame = payload_frame(model, args.load_link, "--load-link")
    load = known_load(args.known_load)
    raw = replace(settings.meaning, gains=(1.0,) * len(model.motor_names))
    both = [*opened["recordings"], *opened["loaded"]]
    found = equations(model, both, replace(settings, meaning=raw))
    loaded = found.run >= len(opened["recordings"])
    expected = model.motors.torque_constant if args.effort == "motor_current" else None
    return drive_gains_from_load(model, found, loaded, load, frame.link, expected=expected)


def known_load(numbers: Sequence[float] | None) -> Array:
    """Ten parameters (10,) of the load that the option describes."""
    if numbers is None or len(numbers) not in SIZES:
        finding = "is not given" if numbers is None else f"has {len(numbers)} numbers"
        raise GearedDynamicsError("--known-load", finding, "give KG X Y Z, or these and a tensor")
    tensor = np.zeros((3, 3))
    if len(numbers) == SIZES[1]:
        upper = np.triu_indices(3)
        tensor[upper] = tensor.T[upper] = numbers[4:]
    load = parameters_of(numbers[0], numbers[1:4], tensor)
    problem = "has no mass" if numbers[0] <= 0.0 else doubt(load)
    if problem:
        raise GearedDynamicsError("--known-load", problem, "give the load as it was weighed")
    return load


def show_gains(console: Console, model: GearedModel, found: Gains, effort: str) -> None:
    """Print the gains."""
    unit = "N m/A" if effort == "motor_current" else "1"
    table = numeric_table("motor", f"gain [{unit}]", "sigma", "files say")
    files = (
        model.motors.torque_constant if effort == "motor_current" else np.ones(len(found.gains))
    )
    for name, gain, sigma, before in zip(model.motor_names, *found, files, strict=True):
        said = "-" if np.isnan(before) else f"{before:.5g}"
        if np.isnan(gain):  # its joints are frozen
            table.add_row(name, "-", "-", said)
        else:
            table.add_row(name, f"{gain:.5g}", f"{sigma:.2g}", said)
    print_table(console, "Drive gains, motor side", table)


def with_constants(data: dict[str, Any], model: GearedModel, found: Gains) -> None:
    """Write gains of currents into a drivetrain's data, as torque constants."""
    for name, gain in zip(model.motor_names, found.gains.tolist(), strict=True):
        if name in data.get("motors", {}) and np.isfinite(gain):
            data["motors"][name]["torque_constant"] = gain
