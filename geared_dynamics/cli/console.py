"""How the commands print: tables that fit 80 columns, on a terminal or not."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH = 80  # columns when the output is not a terminal


def open_console() -> Console:
    """Return a console on standard output; plain text of 80 columns when piped."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def numeric_table(title: str, first: str, *columns: str) -> Table:
    """Return an empty table: names in the first column, numbers in the others."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
