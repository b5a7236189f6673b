"""Print the figures of the house: sizes, doors, names, and the walks through it.

    python tools/house [--static] [--names]

``--static`` leaves the walks out, which import the package and run it; ``--names`` lists what
the figures count: modules with one importer, circles, names that exist more than once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tree import House, median, rooms

ROOT = Path(__file__).resolve().parents[2]
# What needs a door, not readers: commands, kernels, file formats, and what starts a process.
DOORS = ("apps.cli", "kernels")
READERS = {"mcap_file", "sqlite_file", "table_file", "trajectory_file", "ros2_control"}
READERS |= {"yaml_loader", "other_transmissions", "denavit_hartenberg", "rodrigues"}
READERS |= {"joint_state_wire", "mcap_records", "table_style", "mjcf", "drivetrain_skeleton"}
READERS |= {"motor_sections", "urdf_files"}
ENTRIES = {"feedforward_node", "elastic_observer_node", "plant_node", "main"}
ENTRIES |= {"publish_trajectory", "echo", "node_timing"}
ENTRIES |= {"compiled", "derivatives", "c_code"}  # public names that ``api`` loads late
# Drawing engines that a later plan replaces as a whole.
APART = ("apps.gear_graph", "scene.")
SMALL, LARGE = 60, 50  # code lines: of a file too small to be one, of a function too long


def is_door(module: str) -> bool:
    """Whether a module is a command, a kernel, a format or an entry point."""
    below = module.partition(".")[2]
    last = module.rpartition(".")[2]
    return below.startswith(DOORS) or last in READERS | ENTRIES


def figures(house: House) -> dict[str, str]:
    """What is counted in the sources, by name."""
    modules = house.modules.values()
    code = sum(len(m.code) for m in modules)
    imports = sum(len(m.import_lines) for m in modules)
    apart = [m for m in modules if m.name.partition(".")[2].startswith(APART)]
    sizes = [len(m.code) for m in modules if not m.is_package]
    functions = [n for m in modules for n in m.functions]
    lonely = house.lonely()
    others = [name for name in house.importers if not is_door(name)]
    closed = [name for name in lonely if not is_door(name)]
    return {
        "files": f"{len(house.modules)} ({len(house.modules) - len(apart)} without drawing)",
        "code lines": f"{code} ({code - sum(len(m.code) for m in apart)} without drawing)",
        "import lines, share of code": f"{imports} ({imports / code:.1%})",
        "imports from a room into itself": f"{house.internal()}",
        "modules with one importer": share(len(lonely), len(house.importers)),
        "  without doors": share(len(closed), len(others)),
        "files below 60 code lines": share(sum(n < SMALL for n in sizes), len(sizes)),
        "median / largest file, code lines": f"{median(sizes):.0f} / {max(sizes)}",
        "largest file, lines": f"{max(m.text.count(chr(10)) for m in modules)}",
        "median / largest function": f"{median(functions):.0f} / {max(functions)}",
        "functions above 50 lines": f"{sum(n > LARGE for n in functions)}",
        "class names twice": f"{len(house.classes_twice())}",
        "file names more than twice": f"{len(house.files_often())}",
        "circles of files": f"{len(house.circles())}",
    }


def share(part: int, whole: int) -> str:
    """A number and its share."""
    return f"{part} of {whole} ({part / whole:.1%})"


def report(house: House) -> None:
    """Print the static figures and the rooms."""
    for name, value in figures(house).items():
        print(f"{name:36s} {value}")
    print(f"\n{'room':14s}{'files':>7s}{'code':>8s}")
    for name, (files, lines) in rooms(house).items():
        print(f"{name:14s}{files:7d}{lines:8d}")


def report_names(house: House) -> None:
    """Print what the figures count."""
    for module in house.lonely():
        (user,) = house.importers[module]
        print(f"one importer: {module} <- {user}")
    for name, count in (house.classes_twice() | house.files_often()).items():
        print(f"{count} times: {name}")
    for group in house.circles():
        print("circle:", " ".join(group))


def report_walks() -> None:
    """Print the walks."""
    from walks import walks

    heads = f"{'files':>7s}{'switches':>10s}{'borders':>9s}{'calls':>8s}{'depth':>7s}"
    print(f"\n{'walk':32s}{heads}")
    for name, *figures in walks():
        files, switches, borders, calls, depth = figures
        print(f"{name:32s}{files:7d}{switches:10d}{borders:9d}{calls:8d}{depth:7d}")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description="Figures of the house.")
    parser.add_argument("--static", action="store_true", help="without the walks")
    parser.add_argument("--names", action="store_true", help="list what is counted")
    arguments = parser.parse_args()
    house = House(ROOT)
    report(house)
    if arguments.names:
        report_names(house)
    if not arguments.static:
        report_walks()


if __name__ == "__main__":
    main()
