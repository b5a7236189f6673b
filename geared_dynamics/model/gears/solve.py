"""Mesh equations A s = B v solved for the spins s, exactly, with everything named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from geared_dynamics.errors import ModelError
from geared_dynamics.model.gears.forms import Form, Variable, combined, in_words, names, quoted

# Radii and ratios are rounded to the digits that a file prints: what a redundant mesh leaves
# over of the joints' rates, relative to the largest term that it adds up.
ROUNDED = 1e-9


@dataclass(frozen=True)
class Equation:
    """``form`` = 0; ``place`` is the key path of what says so, a spin or (else) a mesh."""

    form: Form
    place: str
    is_spin: bool = False


@dataclass(frozen=True)
class Row:
    """An equation in which one spin is isolated, and the multiples that it was made of."""

    form: Form
    made_of: dict[int, Fraction]


def solve(equations: Sequence[Equation], wheels: Iterable[str], source: str) -> dict[str, Form]:
    """Each wheel's spin relative to what carries it, in rates of joints.

    Gauss and Jordan's elimination, one equation at a time: the first one that leaves no spin
    behind is the one too many.

    Args:
        equations: Spins that are given, then meshes.
        wheels: Names of all wheels.
        source: The drivetrain file, for errors.
    """
    rows: dict[Variable, Row] = {}
    for k, equation in enumerate(equations):
        row = without(Row(equation.form, {k: Fraction(1)}), rows)
        pivot = next((variable for variable in row.form if variable.kind == "spin"), None)
        if pivot is None:
            raise too_many(k, row, equations, source)
        row = multiple(1 / row.form[pivot], row)
        rows = {other: without(old, {pivot: row}) for other, old in rows.items()}
        rows[pivot] = row
    refuse_free(rows, wheels, source)
    spins = {
        pivot.name: combined([(-1, row.form), (1, {pivot: Fraction(1)})])
        for pivot, row in rows.items()
    }
    refuse_locked(spins, equations, source)
    return spins


def without(row: Row, rows: dict[Variable, Row]) -> Row:
    """Eliminate the isolated spins from an equation."""
    for pivot, other in rows.items():
        if pivot in row.form:
            factor = -row.form[pivot]
            made_of = dict(row.made_of)
            for k, share in other.made_of.items():
                made_of[k] = made_of.get(k, Fraction(0)) + factor * share
            row = Row(combined([(1, row.form), (factor, other.form)]), made_of)
    return row


def multiple(factor: Fraction, row: Row) -> Row:
    """A multiple of an equation."""
    made_of = {k: factor * share for k, share in row.made_of.items()}
    return Row(combined([(factor, row.form)]), made_of)


def too_many(k: int, row: Row, equations: Sequence[Equation], source: str) -> ModelError:
    """An equation that the others make superfluous or impossible."""
    used = {j: share for j, share in sorted(row.made_of.items()) if share}
    forms = [equations[j].form for j in used]
    wheels = dict.fromkeys(name for form in forms for name in names(form, "spin"))
    others = ", ".join(dict.fromkeys(equations[j].place for j in used if j != k))
    largest = max(
        (abs(share * value) for j, share in used.items() for value in equations[j].form.values()),
        default=Fraction(0),
    )
    left = max((abs(value) for value in row.form.values()), default=Fraction(0))
    subject = f"over-determines {quoted(wheels)}" if wheels else "fixes no wheel"
    if left <= ROUNDED * largest:
        finding = f"{subject}: it repeats what follows from {others or 'nothing'}"
        remedy = "leave one of them out"
    else:
        demand = in_words(multiple(1 / left, row).form)
        finding = f"{subject}: it contradicts {others or 'itself'} unless {demand} = 0"
        remedy = "correct sizes, signs and arms, or leave one of them out"
    return ModelError(f"{source}, {equations[k].place}", finding, remedy)


def refuse_free(rows: dict[Variable, Row], wheels: Iterable[str], source: str) -> None:
    """Raise if equations are missing."""
    free = [
        wheel
        for wheel in wheels
        if (pivot := Variable("spin", wheel)) not in rows
        or any(variable.kind == "spin" for variable in rows[pivot].form if variable != pivot)
    ]
    missing = [wheel for wheel in wheels if Variable("spin", wheel) not in rows]
    if free:
        count = f"{len(missing)} equation{'s' if len(missing) > 1 else ''}"
        finding = f"{quoted(free)} left free: {count} missing"
        remedy = "add a spin, or a mesh with a wheel that follows the joints, for each"
        raise ModelError(f"{source}, spins", finding, remedy)


def refuse_locked(spins: dict[str, Form], equations: Sequence[Equation], source: str) -> None:
    """Raise if meshes alone stop a wheel from turning."""
    given = {name for e in equations if e.is_spin for name in names(e.form, "spin")}
    locked = [wheel for wheel, form in spins.items() if not form and wheel not in given]
    if locked:
        touching = [e.place for e in equations if set(names(e.form, "spin")) & set(locked)]
        place = f"{source}, {', '.join(dict.fromkeys(touching))}"
        remedy = "correct sizes and arms, or leave a mesh out: three gears in a ring cannot turn"
        raise ModelError(place, f"{quoted(locked)} locked by these meshes", remedy)
