"""Exact linear forms in spins of wheels and rates of joints.

Numbers of teeth are integers, and a radius or ratio is taken as the decimal number that
was written, so that a train of any length is solved without rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from geared_dynamics.errors import ModelError

NAMED = 6  # wheels, places or terms that an error names before it counts


class Variable(NamedTuple):
    """A wheel's spin relative to what carries it, or a joint's rate."""

    kind: Literal["spin", "rate"]
    name: str


Form = Mapping[Variable, Fraction]


def exact(number: float) -> Fraction:
    """The decimal number that ``number`` was written as: 0.1 is one tenth."""
    return Fraction(repr(float(number)))


def combined(terms: Iterable[tuple[Fraction | int, Form]]) -> Form:
    """Sum of multiples of forms; what cancels is left out."""
    total: dict[Variable, Fraction] = {}
    for factor, form in terms:
        for variable, coefficient in form.items():
            total[variable] = total.get(variable, Fraction(0)) + factor * coefficient
    return {variable: coefficient for variable, coefficient in total.items() if coefficient}


def names(form: Form, kind: Literal["spin", "rate"]) -> list[str]:
    """Names of the wheels or joints in a form."""
    return [variable.name for variable in form if variable.kind == kind]


def coefficients(form: Form, place: str) -> tuple[tuple[str, float], ...]:
    """Joint names with their coefficients, rounded once [1 or rad/m]."""
    try:
        return tuple((variable.name, float(value)) for variable, value in form.items())
    except OverflowError:
        finding, remedy = "the ratio is too large for a number", "check the sizes of the train"
        raise ModelError(place, finding, remedy) from None


def in_words(form: Form) -> str:
    """A form up to its sign as text, such as ``2 joint_1 - 0.5 joint_2``."""
    text, first = "", 0
    terms = sorted(form.items())
    for variable, value in terms[:NAMED]:
        first = first or (1 if value > 0 else -1)
        sign = (" + " if first * value > 0 else " - ") if text else ""
        text += f"{sign}{float(abs(value)):.6g} {variable.name}"
    if len(terms) > NAMED:
        text += f" + ... ({len(terms)} terms)"
    return text or "0"


def quoted(items: Iterable[str], noun: str = "wheel") -> str:
    """``wheel 'a'`` or ``wheels 'a', 'b'``; of many the first few, and how many more."""
    names_of = [repr(item) for item in items]
    return f"{noun}{'s' if len(names_of) != 1 else ''} {listed(names_of)}"


def listed(items: Sequence[str]) -> str:
    """``a, b``; of many the first few, and how many more."""
    more = len(items) - NAMED
    return ", ".join(items) if more <= 0 else f"{', '.join(items[:NAMED])} and {more} more"
