"""What of a model stands in its code, and what in a table beside it.

The packed arrays (``kernels.layout`` and its neighbours) hold a *structure*: tree, geometry,
ratios of mimics, where lists begin, and which of the other numbers are zero. It is part of the
code. The *table* holds the numbers: masses, moments, tensors, spins of the wheels, gravity,
constants of drives and springs. Models with one structure share their code.

Two things are done to the bodies first. Rounding noise is taken out of frames and tensors. And
what lies on the axis of a turning joint is moved to the parent's body (mass, first moment along
the axis, the tensor's yy), of a sliding one the tensor: that changes no motion and no force of
the joints, only what single bodies have, and leaves fewer numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.drives import motor_shares, packed_drives
from geared_dynamics.dynamics.elimination_plan import elimination_plan
from geared_dynamics.dynamics.packing import UPPER, packed, packed_balancers
from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import drive_layout as drive
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.trace.graph import ExpressionGraph, Number

NOISE = 4e-16  # of a frame, or relative to a body's largest number of a kind
TENSOR = ((0, 1, 2), (1, 3, 4), (2, 4, 5))  # places of xx xy xz yy yz zz
# How a place is treated: as part of the structure; in the table unless it is zero; the same, but
# its sign belongs to the structure, because kernels read it.
STRUCTURAL, NUMBER, SIGNED = 0, 1, 2
# What a structure says of a place: constant; any number; a number above or below zero.
CONSTANT, ANY, ABOVE, BELOW = 0, 1, 2, 3
# Parameters of a load at a tip that leave no zero: what a payload may change is in the table.
PROBE = (1.0, 0.3, 0.7, 0.9, 2.1, 0.17, 0.23, 2.3, 0.31, 2.9)


class Form(NamedTuple):
    """A packed array as it is traced, and how its places are treated."""

    numbers: Array
    places: Any


@dataclass(frozen=True, eq=False)
class Structure:
    """Where the numbers of some packed arrays stand.

    Attributes:
        names: Of the arrays.
        arrays: Their constant numbers, zero at the others.
        kinds: What is said of each place, as above.
    """

    names: tuple[str, ...]
    arrays: tuple[Array, ...]
    kinds: tuple[Any, ...]

    def digest(self) -> bytes:
        """Return what tells structures apart."""
        parts = sha256(repr((self.names, [len(x) for x in self.arrays])).encode())
        for array, kinds in zip(self.arrays, self.kinds, strict=True):
            parts.update(array.tobytes() + kinds.tobytes())
        return parts.digest()

    def table(self, forms: dict[str, Form]) -> Array:
        """Numbers of a model that stand in the table, one after the other."""
        pairs = zip(self.names, self.kinds, strict=True)
        parts = [forms[name].numbers[kinds > CONSTANT] for name, kinds in pairs]
        return readonly(np.concatenate(parts))

    def holds(self, forms: dict[str, Form]) -> bool:
        """Whether a model has this structure."""
        for name, array, kinds in zip(self.names, self.arrays, self.kinds, strict=True):
            form = forms[name].numbers
            if form.shape != array.shape or np.any((form != array) & (kinds == CONSTANT)):
                return False
            wrong = (kinds == ABOVE) & ~(form > 0.0) | (kinds == BELOW) & ~(form < 0.0)
            if np.any(wrong):
                return False
        return True

    def symbols(self, graph: ExpressionGraph) -> dict[str, list[Number]]:
        """The arrays as a tracing run takes them: numbers, and symbols for the table's."""
        result: dict[str, list[Number]] = {}
        count = 0
        for name, array, kinds in zip(self.names, self.arrays, self.kinds, strict=True):
            cells: list[Number] = list(array.tolist())
            for place in np.flatnonzero(kinds):
                cells[place] = symbol = graph.input("table", count)
                if kinds[place] != ANY:
                    graph.sign[symbol.node] = 1 if kinds[place] == ABOVE else -1
                count += 1
            result[name] = cells
        return result


def structure_of(forms: dict[str, Form], dense: bool) -> Structure:
    """Structure of a model's packed arrays.

    Args:
        forms: The arrays, by name.
        dense: Keep every number in the table, also those that are zero.
    """
    arrays, kinds = [], []
    for name, (form, places) in forms.items():
        used = form != 0.0
        if name == "model" and not dense:
            used |= on_axes_moved(probed(form)) != 0.0
        said = np.where(places == STRUCTURAL, CONSTANT, ANY).astype(np.int8)
        signed = places == SIGNED
        if not dense:
            said[~used | np.isinf(form)] = CONSTANT
            said[signed & (said == ANY) & (form > 0.0)] = ABOVE
            said[signed & (said == ANY) & (form < 0.0)] = BELOW
        arrays.append(readonly(np.where(said == CONSTANT, form, 0.0)))
        kinds.append(said)
    return Structure(tuple(forms), tuple(arrays), tuple(kinds))


def forms_of(model: GearedModel, names: tuple[str, ...]) -> dict[str, Form]:
    """Packed arrays of a model as they are traced."""
    return {name: FORMS[name](model) for name in names}


# -- The arrays and what their places are --------------------------------------------------------


def body_form(model: GearedModel) -> Form:
    """Packed model without noise and with what lies on the joints' axes moved; its places."""
    return bodies_of(packed(model))


def bodies_of(packed_model: Array) -> Form:
    """The same of a model that is packed already."""
    form = on_axes_moved(without_noise(packed_model))
    places = np.zeros(len(form), np.int8)
    places[at.GRAVITY : at.GRAVITY + 3] = NUMBER
    for b in body_starts(form):
        places[b + at.MASS : b + at.MASS + 10] = NUMBER
    start, end = int(form[at.REFLECTED]), int(form[at.REFLECTED_END])
    places[start + 2 : end : at.REFLECTED_SIZE] = NUMBER
    for entry in range(end, int(form[at.WHEELS]), at.CARRIED_SIZE):
        places[entry + 1 : entry + 4] = NUMBER
    # Wheels serve the regressor (``column_form``), TURN that and wrenches: no others read them.
    form[int(form[at.WHEELS]) :] = 0.0
    for b in body_starts(form):
        form[b + at.TURN : b + at.TURN + 9] = 0.0
    return Form(form, places)


def column_form(model: GearedModel) -> Form:
    """Packed model as the regressor reads it: geometry, wheels and gravity, no masses."""
    form = without_noise(packed(model))
    places = np.zeros(len(form), np.int8)
    places[at.GRAVITY : at.GRAVITY + 3] = NUMBER
    for b in body_starts(form):
        form[b + at.MASS : b + at.MASS + 10] = 0.0
        turn = form[b + at.TURN : b + at.TURN + 9]
        turn[np.abs(turn) < NOISE] = 0.0
    start, end = int(form[at.REFLECTED]), int(form[at.REFLECTED_END])
    form[start + 2 : end : at.REFLECTED_SIZE] = 0.0
    for entry in range(end, int(form[at.WHEELS]), at.CARRIED_SIZE):
        form[entry + 1 : entry + 4] = 0.0
    return Form(form, places)


def drive_form(model: GearedModel) -> Form:
    """Packed drives and their places; a model whose motors cannot move every joint is refused."""
    motor_shares(model)
    form = packed_drives(model).copy()
    places = np.full(len(form), SIGNED, np.int8)
    places[: drive.HEADER_SIZE] = STRUCTURAL
    size, n = int(form[drive.MOTOR_SIZE]), model.n
    for block in range(int(form[drive.COUNT])):
        b = int(form[drive.MOTORS]) + block * size
        for place in (drive.CARRIER, drive.COUPLED, drive.ENVELOPE, drive.ENVELOPE_END, drive.LAW):
            places[b + place] = STRUCTURAL
        for start, count in ((drive.AXIS, 3), (drive.ZERO, 1), (drive.ROWS, 2 * n)):
            places[b + start : b + start + count] = NUMBER
        axis = form[b + drive.AXIS : b + drive.AXIS + 3]
        axis[np.abs(axis) < NOISE] = 0.0
    laws = [*range(int(form[drive.JOINT_LAWS]), int(form[drive.JOINT_LAWS_END]), drive.LAW_SIZE)]
    blocks = range(int(form[drive.COUNT]))
    laws += [int(form[int(form[drive.MOTORS]) + k * size + drive.LAW]) for k in blocks]
    for law in laws:
        if law > 0:
            for place in (drive.INDEX, drive.MULTIPLIER, drive.RIPPLES, drive.RIPPLES_END):
                places[law + place] = STRUCTURAL
            places[law + drive.SHIFT] = NUMBER
    return Form(form, places)


def spring_form(model: GearedModel) -> Form:
    """Packed balancers and their places; their anchors are geometry."""
    form = packed_balancers(model).copy()
    places = np.zeros(len(form), np.int8)
    start = has.HEADER_SIZE
    for _ in range(int(form[has.LINES])):
        for place in (has.LENGTH, has.STIFFNESS, has.PRELOAD, has.AREA, has.PRESSURE, has.VOLUME):
            places[start + place] = SIGNED
        start += has.LINE_SIZE
    for _ in range(int(form[has.SPRINGS])):
        places[start + has.RATE] = places[start + has.FORCE] = NUMBER
        start += has.SPRING_SIZE
    return Form(form, places)


def plan_form(model: GearedModel) -> Form:
    """Elimination plan, all of it structure; empty where the mass matrix is factorised."""
    plan = elimination_plan(model)
    return Form(plan.copy(), np.zeros(len(plan), np.int8))


FORMS: dict[str, Callable[[GearedModel], Form]] = {
    "model": body_form,
    "columns": column_form,
    "drives": drive_form,
    "springs": spring_form,
    "plan": plan_form,
}


# -- Fewer numbers for the same motion -----------------------------------------------------------


def body_starts(form: Array) -> list[int]:
    """Where the bodies' blocks begin."""
    return [at.HEADER_SIZE + k * at.BODY_SIZE for k in range(int(form[at.BODIES]))]


def without_noise(form: Array) -> Array:
    """Packed model in which what rounding left of zero and of one is zero and one."""
    form = form.copy()

    def clean(start: int, count: int, scale: float | None = None) -> None:
        part = form[start : start + count]
        largest = np.abs(part).max(initial=0.0) if scale is None else scale
        part[np.abs(part) < NOISE * largest] = 0.0

    clean(at.GRAVITY, 3)
    for b in body_starts(form):
        clean(b + at.ROTATION, 9, 1.0)
        turn = form[b + at.ROTATION : b + at.ROTATION + 9]
        ones = np.abs(np.abs(turn) - 1.0) < NOISE
        turn[ones] = np.sign(turn[ones])
        for start, count in ((at.POSITION, 3), (at.MOMENT, 3), (at.INERTIA, 6)):
            clean(b + start, count)
    for entry in range(int(form[at.REFLECTED_END]), int(form[at.WHEELS]), at.CARRIED_SIZE):
        clean(entry + 1, 3)
    return form


def on_axes_moved(form: Array) -> Array:
    """Packed model in which bodies pass to their parents what lies on the joints' axes.

    Of a body at p with axis u = R z that turns, a mass m, a first moment along z and the tensor
    diag(J, J, 0) move like a part of the parent; of one that slides, the whole tensor does.
    """
    form = form.copy()
    for b in reversed(body_starts(form)):
        turn = form[b + at.ROTATION : b + at.ROTATION + 9].reshape(3, 3)
        place = form[b + at.POSITION : b + at.POSITION + 3]
        moment = form[b + at.MOMENT : b + at.MOMENT + 3]
        entries = form[b + at.INERTIA : b + at.INERTIA + 6]
        tensor = entries[np.array(TENSOR)]
        mass, first = 0.0, np.zeros(3)
        if form[b + at.PRISMATIC] != 0.0:
            moved = turn @ tensor @ turn.T
            entries[:] = 0.0
        else:
            axis, mass = turn[:, 2], float(form[b + at.MASS])
            along = moment[2] * axis
            first = mass * place + along
            # Points m at p, and the moment along the axis: sum of m (x.x 1 - x x').
            cross = np.outer(place, along)
            moved = spread(mass * np.outer(place, place) + cross + cross.T)
            moved += tensor[1, 1] * (np.eye(3) - np.outer(axis, axis))
            entries[[0, 3]] -= entries[3]
            form[b + at.MASS] = moment[2] = 0.0
        if form[b + at.PARENT] >= 0.0:
            up = at.HEADER_SIZE + int(form[b + at.PARENT]) * at.BODY_SIZE
            form[up + at.MASS] += mass
            form[up + at.MOMENT : up + at.MOMENT + 3] += first
            form[up + at.INERTIA : up + at.INERTIA + 6] += moved[UPPER]
    return form


def spread(second: Any) -> Any:
    """Tensor of inertia of second moments: their trace times 1, less themselves."""
    return np.trace(second) * np.eye(3) - second


def probed(form: Array) -> Array:
    """Packed model in which bodies without children have other parameters, none of them zero."""
    form = form.copy()
    starts = body_starts(form)
    inner = {int(form[b + at.PARENT]) for b in starts}
    for k, b in enumerate(starts):
        if k not in inner:
            form[b + at.MASS : b + at.MASS + 10] = PROBE
    return form
