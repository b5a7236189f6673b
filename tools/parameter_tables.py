"""The tables of the nodes' parameters in the documentation, from their dataclasses.

``python tools/parameter_tables.py`` writes them into docs/.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.observer_settings import ObserverParameters
from geared_dynamics.runtime.parameters import Parameter, Value, interval
from geared_dynamics.runtime.plant_node_settings import PlantParameters

BEGIN, END = "<!-- parameters: generated -->", "<!-- end of parameters -->"
WHEN = {"start": "start", "configure": "configure", "run": "any time"}

PAGES = {
    "nodes.md": FeedforwardParameters,
    "observer_node.md": ObserverParameters,
    "demo.md": PlantParameters,
}


def table(schema: Iterable[Parameter]) -> str:
    """The table as Markdown."""
    entries = list(schema)
    lines = ["| parameter | default | values | set | for |", "|---|---|---|---|---|"]
    lines += [row(entry) for entry in entries if not entry.ignored]
    unused = ", ".join(f"`{entry.name}`" for entry in entries if entry.ignored)
    if unused:
        lines += ["", f"Of a joint trajectory controller, accepted without effect: {unused}."]
    return "\n".join(lines)


def row(entry: Parameter) -> str:
    """One parameter."""
    values: str = entry.kind
    if entry.choices:
        values = ", ".join(f"`{choice}`" for choice in entry.choices)
    elif (entry.low, entry.high) != (-math.inf, math.inf):
        values += f", {interval(entry.low, entry.high)}"
    when = "; ".join(filter(None, [WHEN[entry.when], entry.reserved]))
    cells = (f"`{entry.name}`", shown(entry.default), values, when, entry.text)
    return f"| {' | '.join(cells)} |"


def shown(value: Value) -> str:
    """A default as YAML has it."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f"`{value}`" if value else "empty"
    return "NaN" if value != value else f"`{value}`"


def replaced(page: str, schema: Iterable[Parameter]) -> str:
    """A page with the table between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{table(schema)}\n\n{END}{tail}"


def main() -> None:
    """Write the tables into their pages."""
    for name, kind in PAGES.items():
        page = Path(__file__).resolve().parents[1] / "docs" / name
        page.write_text(replaced(page.read_text(encoding="utf-8"), kind.rows()), encoding="utf-8")


if __name__ == "__main__":
    main()
