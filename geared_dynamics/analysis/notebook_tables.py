"""Tables that notebooks show of results: HTML without scripts or styles of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with its title; a cell is text, or a number of three digits.

    Args:
        title: Above the table.
        heads: Of the columns, units in them.
        rows: Cells; names come from files and are shown as text.
    """
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell(value))}</td>' for value in row)}</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def cell(value: object) -> str:
    """Text as it is, a number with three digits, nothing as a dash."""
    if isinstance(value, float):
        return f"{value:.3g}" if value == value else "–"
    return "–" if value is None else str(value)
