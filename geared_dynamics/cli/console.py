"""How the commands print: tables that fit 80 columns, on a terminal or not."""

from __future__ import annotations

import sys
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from geared_dynamics.errors import printable

PLAIN_WIDTH = 80  # columns when the output is not a terminal


class StrictConsole(Console):
    """A console that shows what texts hold, and leaves it to ``main`` when its reader has gone."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a line or a table's cell: names come from files, and may steer a terminal."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled; rich would exit with code 1."""
        raise


def open_console() -> Console:
    """Return a console on standard output; plain text of 80 columns when piped."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return StrictConsole(width=width, highlight=False, markup=False, emoji=False)


def print_table(console: Console, title: str, table: Table) -> None:
    """Print a table below its title (a table's own title would be broken at its width)."""
    console.print(title, style="bold")
    console.print(table)


def numeric_table(first: str, *columns: str) -> Table:
    """Return an empty table: names in the first column, numbers in the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
