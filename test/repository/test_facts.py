"""Facts of the model have one home: who may read records, invert A, or see the kernels' forms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "geared_dynamics"
# Who reads the records of a model: the loader, writers, listings of what the files say, and
# the reference that shall share nothing with the model's arrays.
READERS = {
    "load.py": "loader",
    "analysis/identification_results.py": "writes URDF and drivetrain files",
    "analysis/pinocchio_tree.py": "writes a URDF for Pinocchio, from the records alone",
    "apps/cli/describe.py": "lists what the files say",
    "apps/cli/drive_tables.py": "lists what the files say",
    "scene/meshes.py": "draws what the URDF draws of links",
    "scene/page.py": "shows the teeth of the files' wheels",
    "scene/shapes.py": "draws the planetary sets of the files",
    "scene/solids.py": "draws the planetary sets of the files",
    "apps/gear_graph_drawing.py": "draws the gears of the files",
}
# Pseudo-inverses of other matrices than A, each with their number.
OTHER_INVERSES = {
    "actuation/linear_actuators.py": 1,  # of the actuators' rows
    "analysis/least_squares.py": 1,  # of the information
    "dynamics/cartesian/properties.py": 1,  # of the wheels' spins
    "model/motor_map.py": 1,  # here
    "observers/readings.py": 1,  # of the stiffness that encoders do not see
    "observers/standing.py": 2,  # of what a resting arm leaves open
    "runtime/rehearsal.py": 2,  # of the maps from readings to motors
}
PART_OF_A = "recordings/motions.py"  # one motor for each joint, where there are more
DRAWS = "apps/gear_graph.py"  # the graph of the files' gears, given records
INVERSES = {"pinv", "inv", "lstsq", "solve", "matrix_rank"}
A = {"structure_matrix", "structure"}
RECORDS = {"JointRecord", "LimitRecord"}


def room_of(file: str) -> str:
    """The folder, or the file that lies in the package itself."""
    return file.split("/", maxsplit=1)[0]


def names_in(node: ast.AST) -> set[str]:
    """Names and attributes anywhere below a node."""
    return {
        part.attr if isinstance(part, ast.Attribute) else part.id
        for part in ast.walk(node)
        if isinstance(part, (ast.Attribute, ast.Name))
    }


def offences(file: str, text: str) -> Iterator[str]:
    """What a file does with facts that are not its own."""
    room, inverses = room_of(file), 0
    for node in ast.walk(ast.parse(text)):
        place = f"{file}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Attribute):
            if node.attr == "records" and room != "model" and file not in READERS:
                yield f"{place} reads records"
            own = room in {"dynamics", "trace"} or file == "model/model.py"
            if node.attr == "_forms" and not own:
                yield f"{place} reads the kernels' forms of a model"
        elif isinstance(node, ast.ImportFrom) and room not in {"model", "description"}:
            taken = {alias.name for alias in node.names} & RECORDS
            if (
                file != DRAWS
                and taken
                and (node.module or "").startswith("geared_dynamics.description")
            ):
                yield f"{place} imports {', '.join(sorted(taken))}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in INVERSES and node.args and names_in(node.args[0]) & A:
                if file != PART_OF_A:
                    yield f"{place} inverts A"
            inverses += node.func.attr == "pinv"
    if inverses != OTHER_INVERSES.get(file, 0):
        yield f"{file} has {inverses} pseudo-inverses, not {OTHER_INVERSES.get(file, 0)}"


def test_facts_are_read_from_their_home() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        found += offences(file, path.read_text(encoding="utf-8"))
    assert found == []


def test_readers_still_read() -> None:
    """The lists name no file that has nothing to do there."""
    for file in READERS:
        assert ".records" in (PACKAGE / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize(
    ("file", "text", "finding"),
    [
        ("control/laws.py", "kinds = model.records.robot.joints", "reads records"),
        ("simulation/plant.py", "drive = self.model.records.drivetrain", "reads records"),
        ("control/laws.py", "form = model._forms.packed", "kernels' forms"),
        ("analysis/compare.py", "x = np.linalg.pinv(model.structure_matrix.T)", "inverts A"),
        (
            "observers/kalman.py",
            "x = solve(A)\ny = np.linalg.lstsq(plant.structure, b)",
            "inverts",
        ),
        ("observers/kalman.py", "A = elastic.structure_matrix(m)\nnp.linalg.pinv(A)", "1 pseudo"),
        (
            "control/outputs.py",
            "from geared_dynamics.description.robot_records import LimitRecord",
            "imports LimitRecord",
        ),
    ],
)
def test_an_offence_is_found(file: str, text: str, finding: str) -> None:
    found = list(offences(file, text))
    assert any(finding in line for line in found), found


def test_the_home_may() -> None:
    assert not list(offences("model/inertia.py", "links = model.records.robot.links"))
    assert not list(offences("dynamics/packing.py", "forms = model._forms"))
    assert not list(offences("load.py", "write_urdf(model.records.robot)"))
