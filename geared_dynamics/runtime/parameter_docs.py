"""The table of parameters in docs/nodes.md, from the schema.

``python -m geared_dynamics.runtime.parameter_docs docs/nodes.md feedforward``
writes it again.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from geared_dynamics.runtime.parameters import Parameter, Value, interval

BEGIN, END = "<!-- parameters: generated -->", "<!-- end of parameters -->"
WHEN = {"start": "start", "configure": "configure", "run": "any time"}

SCHEMAS = {
    "feedforward": "feedforward_schema",
    "observer": "observer_settings",
    "plant": "plant_node_settings",
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


def schema_of(node: str) -> Sequence[Parameter]:
    """The parameters of one of our nodes: feedforward, observer or plant."""
    module = importlib.import_module(f"geared_dynamics.runtime.{SCHEMAS[node]}")
    return cast("Sequence[Parameter]", module.SCHEMA)


def main() -> int:
    """Write the table into a page."""
    page, room = Path(sys.argv[1]), sys.argv[2]
    schema = schema_of(room)
    page.write_text(replaced(page.read_text(encoding="utf-8"), schema), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
