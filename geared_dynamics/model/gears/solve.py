"""Equations of gear meshes, solved exactly for the spins of the wheels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from geared_dynamics.errors import ModelError

# -- Exact linear forms in spins of wheels and rates of joints ------------------------------------
#
# Numbers of teeth are integers, and a radius or ratio is taken as the decimal number that
# was written, so that a train of any length is solved without rounding.


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


# -- Mesh equations A s = B v solved for the spins s, exactly, with everything named --------------


# Radii and ratios are rounded to the digits that a file prints: what a redundant mesh leaves
# over of the joints' rates, relative to the largest term that it adds up.
ROUNDED = 1e-9


@dataclass(frozen=True)
class Equation:
    """``form`` = 0; ``place`` is the key path of what says so, a spin or (else) a mesh."""

    form: Form
    place: str
    is_spin: bool = False


@dataclass(frozen=True, eq=False)
class Row:
    """A combination of equations: multiples of earlier rows, or one equation as it is.

    How it was made is kept, and worked out in ``made_of`` only where an error names it.
    """

    form: Form
    parts: tuple[tuple[Fraction, Row], ...] = ()
    equation: int = -1
    age: int = 0


def solve(equations: Sequence[Equation], wheels: Sequence[str], source: str) -> dict[str, Form]:
    """Each wheel's spin relative to what carries it, in rates of joints.

    Gauss and Jordan's elimination, one equation at a time: the first one that leaves no spin
    behind is the one too many. Isolated is the spin that the fewest other rows have, so that
    along a train few of them change.

    Args:
        equations: Spins that are given, then meshes.
        wheels: Names of all wheels.
        source: The drivetrain file, for errors.
    """
    rows: dict[Variable, Row] = {}
    users: dict[Variable, set[Variable]] = {}  # of each spin not isolated: whose rows have it
    for k, equation in enumerate(equations):
        row = without(Row(equation.form, equation=k), rows)
        unknown = [variable for variable in row.form if variable.kind == "spin"]
        if not unknown:
            raise too_many(k, row, equations, source)
        pivot = min(unknown, key=lambda variable: len(users.get(variable, ())))
        row = summed((1 / row.form[pivot], row))
        changed = users.pop(pivot, set())
        rows |= {other: without(rows[other], {pivot: row}) for other in changed}
        rows[pivot] = row
        for variable in unknown:
            if variable != pivot:
                others = users.setdefault(variable, set()) - changed
                others |= {other for other in (*changed, pivot) if variable in rows[other].form}
                users[variable] = others
    refuse_free(rows, wheels, source)
    pivots = {wheel: Variable("spin", wheel) for wheel in wheels}
    spins = {
        wheel: combined([(-1, rows[pivot].form), (1, {pivot: Fraction(1)})])
        for wheel, pivot in pivots.items()
    }
    refuse_locked(spins, equations, source)
    return spins


def without(row: Row, rows: dict[Variable, Row]) -> Row:
    """Eliminate the isolated spins from an equation; none of them is in another's row."""
    found = [(-value, rows[pivot]) for pivot, value in row.form.items() if pivot in rows]
    return summed((Fraction(1), row), *found) if found else row


def summed(*parts: tuple[Fraction, Row]) -> Row:
    """A sum of multiples of equations."""
    form = combined([(factor, part.form) for factor, part in parts])
    return Row(form, parts, age=1 + max(part.age for _, part in parts))


def made_of(row: Row) -> dict[int, Fraction]:
    """The multiples of equations that a row is the sum of, by their numbers."""
    rows, waiting = {row}, [row]
    while waiting:
        new = [part for _, part in waiting.pop().parts if part not in rows]
        rows.update(new)
        waiting += new
    shares, found = {row: Fraction(1)}, {}
    for later in sorted(rows, key=lambda row: row.age, reverse=True):
        share = shares[later]
        if later.equation >= 0:
            found[later.equation] = share
        for factor, part in later.parts:
            shares[part] = shares.get(part, Fraction(0)) + factor * share
    return {k: share for k, share in sorted(found.items()) if share}


def too_many(k: int, row: Row, equations: Sequence[Equation], source: str) -> ModelError:
    """An equation that the others make superfluous or impossible."""
    used = made_of(row)
    forms = [equations[j].form for j in used]
    wheels = dict.fromkeys(name for form in forms for name in names(form, "spin"))
    others = listed([*dict.fromkeys(equations[j].place for j in used if j != k)])
    largest = max(
        (abs(share * value) for j, share in used.items() for value in equations[j].form.values()),
        default=Fraction(0),
    )
    left = max((abs(value) for value in row.form.values()), default=Fraction(0))
    subject = f"over-determines {quoted(wheels)}" if wheels else "determines no wheel"
    if left <= ROUNDED * largest:
        finding = f"{subject}: it repeats what follows from {others or 'nothing'}"
        remedy = "remove one of them"
    else:
        demand = in_words(combined([(1 / left, row.form)]))
        finding = f"{subject}: it contradicts {others or 'itself'} unless {demand} = 0"
        remedy = "correct sizes, signs and mesh carriers, or remove one of them"
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
        finding = f"the spin of {quoted(free)} is not determined: {count} missing"
        remedy = "add an entry to 'spins', or a mesh with a wheel whose spin is known, for each"
        raise ModelError(f"{source}, spins", finding, remedy)


def refuse_locked(spins: dict[str, Form], equations: Sequence[Equation], source: str) -> None:
    """Raise if meshes alone stop a wheel from turning."""
    given = {name for e in equations if e.is_spin for name in names(e.form, "spin")}
    locked = [wheel for wheel, form in spins.items() if not form and wheel not in given]
    if locked:
        touching = [e.place for e in equations if set(names(e.form, "spin")) & set(locked)]
        place = f"{source}, {listed([*dict.fromkeys(touching)])}"
        remedy = (
            "correct sizes and mesh carriers, or remove a mesh; a ring of three gears cannot turn"
        )
        raise ModelError(place, f"these meshes lock {quoted(locked)}", remedy)
