"""Tables are as wide as the terminal: names whole where they fit, else in parts, none lost."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from geared_dynamics.apps.cli.command_output import numeric_table, print_matrix, print_table
from geared_dynamics.apps.cli.options import StrictConsole

NAMES = ["rotor_shoulder_lift_joint", "rotor_wrist_3_joint", "a", "ros/deep.name-of/a_rotor"]


def example() -> Table:
    """A table as wide as that of a UR10's wheels."""
    table = numeric_table("wheel", "carried by", "J\n[kg m^2]", "limits\n[rad]", "spin")
    for name in NAMES:
        row = ["shoulder_link", "1.25e-05", "-6.28..6.28", "+101 shoulder_lift_joint"]
        table.add_row(name, *row)
    return table


def printed(table: Table, width: int) -> str:
    """What a terminal of this width shows."""
    console = StrictConsole(file=io.StringIO(), width=width, markup=False)
    print_table(console, "", table)
    return console.file.getvalue()  # type: ignore[attr-defined]


def column(text: str, start: int, end: int) -> str:
    """Letters of a column of the table, without the breaks."""
    return "".join(line[start:end].strip() for line in text.splitlines())


@pytest.mark.parametrize("width", [72, 80, 90, 100, 140, 100_000])
def test_names_and_numbers_are_complete_at_each_width(width: int) -> None:
    text = printed(example(), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    (head,) = (line for line in lines if "wheel" in line)
    first = column(text, 0, head.index("carried by") - 3)
    assert all(name in first for name in NAMES)
    for number in ("1.25e-05", "-6.28..6.28", "[kg m^2]"):
        assert number in text
    # A piece ends where a part of the name ends.
    broken = [line.split()[0] for line in lines if line.strip().startswith(("rotor", "ros"))]
    ends = tuple("_./-")
    assert all(x.endswith(ends) or any(name.endswith(x) for name in NAMES) for x in broken)
    assert (width >= 100) == all(name in text for name in NAMES)


def test_columns_of_a_wide_matrix_have_numbers() -> None:
    joints = [f"shoulder_number_{k}_joint" for k in range(6)]
    motors = [f"motor_of_{name}" for name in joints]
    cells = [["=" if i == j else "0.0101" for j in range(6)] for i in range(6)]
    for columns, rows, said in (
        (joints, joints, [f"{k + 1} {name}" for k, name in enumerate(joints)]),
        (motors, joints, [f"{k + 1}={name}" for k, name in enumerate(motors)]),
    ):
        console = StrictConsole(file=io.StringIO(), width=80, markup=False)
        print_matrix(console, "matrix", rows, columns, cells)
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert max(map(len, text.splitlines())) <= 80
        assert all(words in text for words in said)
        wide = StrictConsole(file=io.StringIO(), width=400, markup=False)
        print_matrix(wide, "matrix", rows, columns, cells)
        text = wide.file.getvalue()  # type: ignore[attr-defined]
        assert all(name in text.splitlines()[2] for name in columns)
