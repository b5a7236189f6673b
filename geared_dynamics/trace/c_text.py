"""Expressions, names and numbers as C99 writes them, and the struct of a model's parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import balancer_layout as balancer
from geared_dynamics.kernels import drive_layout as drive
from geared_dynamics.kernels import elastic_layout as shaft
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.functions import Program
from geared_dynamics.trace.structure import (
    ABOVE,
    ANY,
    BELOW,
    CONSTANT,
    Form,
    Structure,
    body_starts,
    without_noise,
)

LONGEST_NAME = 60  # letters of the robot's name that names in C begin with
BINARY = {of.ADD: "+", of.SUBTRACT: "-", of.MULTIPLY: "*", of.DIVIDE: "/"}
COMPARED = {of.LESS: "<", of.AT_MOST: "<=", of.EQUAL: "=="}
CALLED = {
    of.SIN: "sin",
    of.COS: "cos",
    of.SQRT: "sqrt",
    of.TANH: "tanh",
    of.EXP: "exp",
    of.LOG: "log",
    of.EXPM1: "expm1",
    of.ABS: "fabs",
    of.ROUND: "rint",
}


class Field(NamedTuple):
    """A field of the struct of parameters, by name: its value in the model and its unit."""

    value: float
    unit: str


class Export(NamedTuple):
    """What is exported.

    Attributes:
        prefix: Of all names.
        model: The model.
        precision: ``double`` or ``float``.
        programs: Functions by name.
        tables: Parameters that each of them reads.
        fields: All parameters; empty where the numbers are constants.
    """

    prefix: str
    model: GearedModel
    precision: str
    programs: dict[str, Program]
    tables: dict[str, tuple[str, ...]]
    fields: dict[str, Field]

    def called(self, name: str) -> str:
        """Name of a function in C."""
        return f"{self.prefix}_{name.replace('.', '_')}"

    def signature(self, name: str) -> str:
        """Head of a function."""
        program = self.programs[name]
        inputs = [f"const {self.precision} {key}[{n}]" for key, n in arguments(program)]
        if self.fields:
            inputs.insert(0, f"const {self.prefix}_parameters *parameters")
        out = f"{self.precision} out[{len(program.results)}]"
        return f"int {self.called(name)}({', '.join([*inputs, out])})"


def identifier(name: str) -> str:
    """Name that C takes, and a file system: its beginning, if it is long."""
    found = re.sub(r"\W", "_", name[:LONGEST_NAME], flags=re.ASCII).lower()
    return found if found[:1].isalpha() else f"arm_{found}"


def comment(text: str) -> str:
    """A name that ends no comment."""
    return re.sub(r"[^ -~]|\*/|/\*|\?\?", "_", text)


def absolute(text: str, precision: str) -> str:
    """Magnitude of an expression."""
    return f"fabs{'f' if precision == 'float' else ''}({text})"


def literal(x: float, precision: str) -> str:
    """A number as C reads it."""
    if np.isnan(x):
        return "NAN" if precision == "float" else "(double)NAN"
    if np.isinf(x):
        sign = "-" if x < 0.0 else ""
        return f"{sign}INFINITY" if precision == "float" else f"{sign}(double)INFINITY"
    if precision == "float":
        text = repr(float(np.float32(x)))
        return f"{np.format_float_positional(np.float32(x)) if 'e' not in text else text}F"
    return x.hex()


def arguments(program: Program) -> list[tuple[str, int]]:
    """Inputs of a function in C: names and lengths."""
    return list(program.parts) or [(name, program.width) for name in program.inputs]


def places(program: Program, table: Sequence[str]) -> Callable[[str, int], str]:
    """How an element of an input, or of the table of parameters, is written."""
    if program.parts:
        elements = [f"{name}[{k}]" for name, width in program.parts for k in range(width)]
        return lambda key, k: f"parameters->{table[k]}" if key == "table" else elements[k]
    return lambda key, k: f"parameters->{table[k]}" if key == "table" else f"{key}[{k}]"


def body(program: Program, precision: str, table: Sequence[str]) -> Iterator[str]:
    """Lines of a function; ``table`` names the parameters that it reads of the struct."""
    graph, place = program.graph, places(program, table)
    ends = graph.symbols(program.results)
    nodes = graph.needed([*ends, *program.guards])
    names: dict[int, str] = {}
    read = [place(*graph.arguments[k]) for k in nodes if graph.operations[k] == of.INPUT]
    used = {text.partition("[")[0].partition("->")[0] for text in read}
    given = [*(["parameters"] if table else []), *(key for key, _ in arguments(program))]
    yield from (f"(void){key};" for key in given if key not in used)
    for node in nodes:
        operation, inner = graph.operations[node], graph.arguments[node]
        if operation == of.CONSTANT:
            names[node] = literal(inner[0], precision)
        elif operation == of.INPUT:
            names[node] = place(*inner)
        else:
            names[node] = f"t{node}"
            kind = "int" if operation in of.COMPARISONS else precision
            parts = [names[k] for k in inner]
            yield f"const {kind} t{node} = {expression(operation, parts, precision)};"
    for k, end in enumerate(ends):
        yield f"out[{k}] = {'-' if end.negative else ''}{names[end.node]};"
    guards = {(g.node, g.negated) for g in program.guards}
    conditions = [f"{'!' if negated else ''}{names[node]}" for node, negated in sorted(guards)]
    yield f"return ({' && '.join(conditions)}) ? 0 : 1;" if conditions else "return 0;"


def expression(operation: int, parts: Sequence[str], precision: str) -> str:
    """Right side of an assignment."""
    if operation in BINARY:
        return f"{parts[0]} {BINARY[operation]} {parts[1]}"
    if operation in COMPARED:
        return f"{parts[0]} {COMPARED[operation]} {parts[1]}"
    if operation == of.SELECT:
        return f"{parts[0]} ? {parts[1]} : {parts[2]}"
    if operation == of.HELD:
        return parts[0]
    return f"{CALLED[operation]}{'f' if precision == 'float' else ''}({parts[0]})"


# -- The struct of parameters, which can be changed at run time -----------------------------------
#
# In it are: gravity; of each link with all that is fixed to it the mass, the first moment and the
# tensor; what the rotors add (elements of Gamma' J Gamma, and the spin that a link carries for
# each coordinate); the constants of motors, friction, balancers and springs. Geometry and ratios
# are part of the code. So is a number of a drive, a balancer or a spring that is zero, and the
# sign of one that is not; a mass, moment or tensor may have any value.


AXES = ("x", "y", "z")
BODY = (
    *((at.MASS, "mass", "kg"),),
    *((at.MOMENT + k, f"mc{x}", "kg m") for k, x in enumerate(AXES)),
    *(
        (at.INERTIA + k, f"i{x}", "kg m^2")
        for k, x in enumerate(("xx", "xy", "xz", "yy", "yz", "zz"))
    ),
)
MOTOR = (
    (drive.INERTIA, "inertia", "kg m^2"),
    (drive.RESISTANCE, "resistance", "ohm"),
    (drive.INDUCTANCE, "inductance", "H"),
    (drive.TORQUE_CONSTANT, "torque_constant", "N m/A"),
    (drive.BACK_EMF, "back_emf_constant", "V s/rad"),
    (drive.DRIVING, "loss_driving", "1/efficiency - 1"),
    (drive.BACKDRIVING, "loss_backdriving", "1 - efficiency"),
    (drive.SMOOTHING, "loss_smoothing", "rad/s"),
    *(
        (drive.LIMITS + k, f"limit_{name}", unit)
        for k, (name, unit) in enumerate(
            (("voltage", "V"), ("current", "A"), ("torque", "N m"), ("speed", "rad/s"))
        )
    ),
)
FRICTION = (
    (drive.VISCOUS, "viscous", "N m s/rad or N s/m"),
    (drive.COULOMB, "coulomb_forward", "N m or N"),
    (drive.COULOMB + 1, "coulomb_backward", "N m or N"),
    (drive.EXCESS, "static_excess_forward", "N m or N"),
    (drive.EXCESS + 1, "static_excess_backward", "N m or N"),
    (drive.STRIBECK_SPEED, "stribeck_speed", "rad/s or m/s"),
    (drive.LOAD, "load_factor", "1"),
    (drive.OFFSET, "offset", "N m or N"),
    (drive.ROUNDING, "smoothing", "rad/s or m/s"),
)
LINE = (
    (balancer.LENGTH, "length", "m"),
    (balancer.STIFFNESS, "stiffness", "N/m"),
    (balancer.PRELOAD, "preload", "N"),
    (balancer.AREA, "area", "m^2"),
    (balancer.PRESSURE, "pressure", "Pa"),
    (balancer.VOLUME, "volume", "m^3"),
)
SHAFT = (
    (shaft.STIFFNESS, "stiffness", "N m/rad or N/m"),
    (shaft.DAMPING, "damping", "N m s/rad or N s/m"),
    (shaft.REST, "rest", "rad or m"),
)


class StructField(NamedTuple):
    """A number of the struct.

    Attributes:
        place: Where it stands in its packed array.
        name: Of the field.
        unit: For the header.
        free: Whether any value will do; else its sign is part of the code, and a zero.
    """

    place: int
    name: str
    unit: str
    free: bool


class Parameters(NamedTuple):
    """What a function reads of the struct.

    Attributes:
        structure: What is part of its code.
        names: Of its parameters, in the order of the structure's table.
    """

    structure: Structure
    names: tuple[str, ...]


def parameters_of(
    model: GearedModel, name: str, forms: dict[str, Form], fields: dict[str, Field]
) -> Parameters:
    """Take a function's numbers into the struct; add them to the fields there are.

    Args:
        model: Geared model.
        name: Of the function.
        forms: Packed arrays that it needs.
        fields: Of the struct; those of this function are added.
    """
    if "flat" in forms:
        finding = "works with numbers that are derived from the springs' constants"
        remedy = "export it with parameters='constants'"
        raise ArrayError(f"export_c: {name}", finding, remedy)
    elastic = "shafts" in forms
    arm = model.with_springs() if elastic else model
    arrays, kinds, names = [], [], []
    for key, form in forms.items():
        values = without_noise(packed(arm)) if key == "model" else form.numbers
        said = np.full(len(values), CONSTANT, np.int8)
        found = sorted(named(key, arm, model, values, "x_" if elastic else ""))
        for parameter in distinct(found):
            value = float(values[parameter.place])
            if parameter.free:
                said[parameter.place] = ANY
            elif value == 0.0 or not np.isfinite(value):
                continue
            else:
                said[parameter.place] = ABOVE if value > 0.0 else BELOW
            fields[parameter.name] = Field(value, parameter.unit)
            names.append(parameter.name)
        arrays.append(readonly(np.where(said == CONSTANT, values, 0.0)))
        kinds.append(said)
    return Parameters(Structure(tuple(forms), tuple(arrays), tuple(kinds)), tuple(names))


def turns(model: GearedModel) -> list[Array]:
    """Of each link the axes in which its numbers are given, as columns in its frame."""
    form = packed(model)
    return [form[b + at.TURN : b + at.TURN + 9].reshape(3, 3) for b in body_starts(form)]


def distinct(found: list[StructField]) -> Iterator[StructField]:
    """The same parameters; a name that there is already gets a number."""
    taken: set[str] = set()
    for parameter in found:
        name, k = parameter.name, 1
        while name in taken:
            k += 1
            name = f"{parameter.name}_{k}"
        taken.add(name)
        yield parameter._replace(name=name)


def named(
    key: str, arm: GearedModel, model: GearedModel, values: Array, prefix: str
) -> Iterator[StructField]:
    """Parameters of a packed array; ``prefix`` is of what the arm with springs has otherwise."""
    if key in ("model", "columns"):
        yield from (
            StructField(at.GRAVITY + k, f"gravity_{x}", "m/s^2", True) for k, x in enumerate(AXES)
        )
    if key == "model":
        yield from of_bodies(arm, values, prefix)
    elif key == "drives":
        yield from of_drives(model, values)
    elif key == "springs":
        yield from of_balancers(values)
    elif key == "shafts":
        starts = range(
            int(values[shaft.SPRINGS]), int(values[shaft.SPRINGS_END]), shaft.SPRING_SIZE
        )
        for k, b in enumerate(starts):
            for place, name, unit in SHAFT:
                yield StructField(b + place, f"spring_{k}_{name}", unit, False)


def of_bodies(arm: GearedModel, values: Array, prefix: str) -> Iterator[StructField]:
    """Masses, moments and tensors, and what the rotors add."""
    for body, b in zip(arm.body_names, body_starts(values), strict=True):
        for place, name, unit in BODY:
            yield StructField(b + place, f"{identifier(body)}_{name}", unit, True)
    joints = [identifier(name) for name in arm.joint_names]
    start, end = int(values[at.REFLECTED]), int(values[at.REFLECTED_END])
    for e in range(start, end, at.REFLECTED_SIZE):
        pair = f"{joints[int(values[e])]}_{joints[int(values[e + 1])]}"
        yield StructField(e + 2, f"{prefix}reflected_{pair}", "kg m^2 or kg", True)
    for body, b in zip(arm.body_names, body_starts(values), strict=True):
        carried = range(
            int(values[b + at.CARRIED]), int(values[b + at.CARRIED_END]), at.CARRIED_SIZE
        )
        yield from of_carrier(identifier(body), carried, joints, values, prefix)


def of_carrier(
    carrier: str, entries: range, joints: list[str], values: Array, prefix: str
) -> Iterator[StructField]:
    """Spin that a link carries."""
    for e in entries:
        joint = joints[int(values[e])]
        for k, x in enumerate(AXES):
            name = f"{prefix}spin_{carrier}_{joint}_{x}"
            yield StructField(e + 1 + k, name, "kg m^2", True)


def of_drives(model: GearedModel, values: Array) -> Iterator[StructField]:
    """Constants of motors and friction."""
    size = int(values[drive.MOTOR_SIZE])
    for r in range(int(values[drive.COUNT])):
        b, motor = int(values[drive.MOTORS]) + r * size, identifier(model.motor_names[r])
        for place, name, unit in MOTOR:
            yield StructField(b + place, f"motor_{motor}_{name}", unit, False)
        law = int(values[b + drive.LAW])
        if law > 0:
            for place, name, unit in FRICTION:
                yield StructField(law + place, f"motor_{motor}_friction_{name}", unit, False)
    laws = range(int(values[drive.JOINT_LAWS]), int(values[drive.JOINT_LAWS_END]), drive.LAW_SIZE)
    for k, law in enumerate(laws):
        joint = identifier(model.joint_names[int(values[law + drive.INDEX])])
        for place, name, unit in FRICTION:
            yield StructField(law + place, f"joint_{joint}_friction_{k}_{name}", unit, False)


def of_balancers(values: Array) -> Iterator[StructField]:
    """Constants of the springs between links and on joints."""
    start = balancer.HEADER_SIZE
    for k in range(int(values[balancer.LINES])):
        for place, name, unit in LINE:
            yield StructField(start + place, f"balancer_{k}_{name}", unit, False)
        start += balancer.LINE_SIZE
    for k in range(int(values[balancer.SPRINGS])):
        yield StructField(start + balancer.RATE, f"joint_spring_{k}_rate", "N m/rad or N/m", False)
        yield StructField(start + balancer.FORCE, f"joint_spring_{k}_force", "N m or N", False)
        start += balancer.SPRING_SIZE
