"""``geared-dynamics compile``: a model's functions in machine code, ahead of their use."""

from __future__ import annotations

import argparse
import time
from typing import Any

from geared_dynamics.apps.cli.command_output import (
    add_json_option,
    numeric_table,
    print_document,
    print_table,
    robot_part,
)
from geared_dynamics.apps.cli.options import (
    add_functions_option,
    add_robot_arguments,
    load_robot,
    open_console,
    stage,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Compile functions of a robot for gd.compiled and keep their machine code on disk: "
        "programs that compile this robot later load it in milliseconds. Robots of one structure "
        "(tree, geometry, which numbers are zero) share their code."
    )
    add_robot_arguments(parser)
    add_functions_option(parser)
    parser.add_argument(
        "--batches", action="store_true", help="compile code for many states at once too"
    )
    parser.add_argument(
        "--dense",
        action="store_true",
        help="keep every number variable: the code fits any masses and inertias of this geometry",
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compile; return 0, or 1 where functions are left to the kernels."""
    from geared_dynamics.trace.cache import folder
    from geared_dynamics.trace.compiled import USUAL, CompiledModel, compiled

    model = load_robot(args)
    start = time.perf_counter()
    with stage("compiling"):
        fast = compiled(model, args.functions, dense=args.dense, batches=args.batches)
    seconds = time.perf_counter() - start
    entries = fast.entries if isinstance(fast, CompiledModel) else {}
    sizes = {name: entry.size for name, entry in entries.items()}
    asked = USUAL if args.functions is None else args.functions
    missing = [name for name in asked if name not in sizes]
    if args.json:
        document: dict[str, Any] = {"robot": robot_part(model), "folder": str(folder())}
        document |= {"functions": sizes, "kernels": missing, "seconds": seconds}
        print_document("compile", document)
    else:
        console, table = open_console(), numeric_table("function", "bytes")
        for name, size in sizes.items():
            table.add_row(name, f"{size:,}".replace(",", " "))
        print_table(console, f"{model.name}: compiled in {seconds:.2f} s", table)
        for name in missing:
            console.print(f"{name}: not compiled, the kernels answer", soft_wrap=True)
        console.print(f"kept in {folder()}", soft_wrap=True)
    return 1 if missing and args.functions is not None else 0
