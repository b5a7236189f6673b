"""Functions of a model as C99: a header, a source, a test of itself, a file for CMake.

The numbers of the model stand in the source, in hexadecimal for double and rounded for float, so
that a compiler reads what is meant. There is no allocation, no state and no library but
``math.h``, of which the rigid dynamics need sine and cosine alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics import rigid
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.files import MARK, new_files
from geared_dynamics.kernels.drive_layout import CURRENT, VOLTAGE
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace import derivatives
from geared_dynamics.trace import graph as of
from geared_dynamics.trace.compiled import USUAL, function_names
from geared_dynamics.trace.functions import FUNCTIONS, Program, program_of
from geared_dynamics.trace.structure import Structure, forms_of

PRECISIONS = ("double", "float")
TOLERANCE = {"double": 1e-12, "float": 1e-4}  # of the test, relative to the largest result
STATES = 8  # of the test
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
# What the functions give, for the header.
RESULTS = {
    "inverse_dynamics": "joint force for a motion, without friction",
    "mass_matrix": "mass matrix, by rows",
    "bias_forces": "joint force at zero acceleration",
    "gravity_forces": "joint force that holds the arm still",
    "forward_dynamics": "joint acceleration for a joint force",
    "motor_commands": "rows of one number a motor: torque [N m], current [A], voltage [V], speed "
    "[rad/s], encoder's angle [rad], shaft torque [N m], torque that the gear passes on [N m], "
    "limits exceeded (sum of 1 voltage, 2 current, 4 torque, 8 speed, 16 envelope); "
    "NaN where a motor's constants are not known",
    "inverse_dynamics_derivatives": "joint force, then its derivatives by q, v, a, by rows",
    "forward_dynamics_derivatives": "acceleration, then its derivatives by q, v, tau, by rows",
    "torque_terms": "rows of joint forces: inertia, coriolis, gravity, armature, coupling of the "
    "rotors; then the sums of the first three, four, five",
    "regressor": "joint force by each parameter of the model, by rows",
}
INPUTS = {
    "q": "joint positions [rad or m]",
    "v": "joint velocities [rad/s or m/s]",
    "a": "joint accelerations [rad/s^2 or m/s^2]",
    "tau": "joint forces [N m or N]",
}


def export_c(
    model: GearedModel,
    folder: str | Path,
    functions: Iterable[str] | None = None,
    *,
    precision: str = "double",
) -> tuple[Path, ...]:
    """Write functions of a model as C99; return the files.

    Args:
        model: Geared model.
        folder: Where they are put; made if it is not there.
        functions: Names as of ``gd.compiled``; by default the same ones.
        precision: ``double`` or ``float``.

    Raises:
        UnknownNameError: If there is no such function, or precision.
        OSError: If a file cannot be written.
    """
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise UnknownNameError("precision", "precision", precision, PRECISIONS)
    texts = c_files(require_model(model), functions, precision)
    paths = tuple(Path(folder) / name for name in texts)
    with new_files(*paths, parents=True) as drafts:
        for draft, text in zip(drafts, texts.values(), strict=True):
            draft.write_text(text, encoding="utf-8")
    return paths


def c_names(model: GearedModel) -> tuple[str, str, str, str]:
    """Names of the files: header, functions, test, CMake."""
    prefix = identifier(model.name)
    return f"{prefix}.h", f"{prefix}.c", f"{prefix}_test.c", "CMakeLists.txt"


def c_files(model: GearedModel, functions: Iterable[str] | None, precision: str) -> dict[str, str]:
    """Texts of the files, by name."""
    prefix = identifier(model.name)
    programs = {}
    for name in function_names(USUAL if functions is None else functions, "export_c"):
        try:
            forms = forms_of(model, FUNCTIONS[name].forms)
        except ModelError:
            if functions is None:
                continue  # no motors, or too few of them
            raise
        program = program_of(name, fixed(forms))
        if name == "motor_commands":
            results = zip(program.results, unknown(model).flat, strict=True)
            program = replace(program, results=tuple(np.nan if no else x for x, no in results))
        programs[name] = program
    head = f"/* {MARK} */\n"
    texts = (
        head + header(model, prefix, programs, precision),
        head + source(prefix, programs, precision),
        head + test(model, prefix, programs, precision),
        f"# {MARK}\n{cmake(prefix)}",
    )
    return dict(zip(c_names(model), texts, strict=True))


def unknown(model: GearedModel) -> BoolArray:
    """Which numbers of the motor commands no constant is known for (8, m): they are NaN."""
    motors = model.motors
    found = np.zeros(FUNCTIONS["motor_commands"].shape(model), bool)
    found[CURRENT : VOLTAGE + 1] = np.isnan(motors.torque_constant)
    found[VOLTAGE] |= np.isnan(motors.resistance)
    return found


def identifier(name: str) -> str:
    """Name that C takes, and a file system: its beginning, if it is long."""
    found = re.sub(r"\W", "_", name[:LONGEST_NAME], flags=re.ASCII).lower()
    return found if found[:1].isalpha() else f"arm_{found}"


def fixed(forms: dict[str, Any]) -> Structure:
    """Structure in which every number is constant."""
    arrays = tuple(form.numbers for form in forms.values())
    return Structure(tuple(forms), arrays, tuple(np.zeros(len(x), np.int8) for x in arrays))


# -- the source -----------------------------------------------------------------------------------


def literal(x: float, precision: str) -> str:
    """A number as C reads it."""
    if np.isnan(x):
        return "NAN" if precision == "float" else "(double)NAN"
    if np.isinf(x):
        return "INFINITY" if precision == "float" else "(double)INFINITY"
    if precision == "float":
        text = repr(float(np.float32(x)))
        return f"{np.format_float_positional(np.float32(x)) if 'e' not in text else text}F"
    return x.hex()


def signature(prefix: str, name: str, program: Program, precision: str) -> str:
    """Head of a function."""
    n = program.width
    inputs = ", ".join(f"const {precision} {key}[{n}]" for key in program.inputs)
    return f"int {prefix}_{name}({inputs}, {precision} out[{len(program.results)}])"


def source(prefix: str, programs: dict[str, Program], precision: str) -> str:
    """The source file."""
    parts = [f'#include "{prefix}.h"\n\n#include <math.h>\n']
    for name, program in programs.items():
        lines = [signature(prefix, name, program, precision), "{"]
        lines += [f"    {line}" for line in body(program, precision)]
        parts.append("\n".join([*lines, "}", ""]))
    return "\n".join(parts)


def body(program: Program, precision: str) -> Iterator[str]:
    """Lines of a function."""
    graph = program.graph
    ends = graph.symbols(program.results)
    nodes = graph.needed([*ends, *program.guards])
    names: dict[int, str] = {}
    used = {graph.arguments[k][0] for k in nodes if graph.operations[k] == of.INPUT}
    yield from (f"(void){key};" for key in program.inputs if key not in used)
    for node in nodes:
        operation, arguments = graph.operations[node], graph.arguments[node]
        if operation == of.CONSTANT:
            names[node] = literal(arguments[0], precision)
        elif operation == of.INPUT:
            names[node] = f"{arguments[0]}[{arguments[1]}]"
        else:
            names[node] = f"t{node}"
            kind = "int" if operation in of.COMPARISONS else precision
            parts = [names[k] for k in arguments]
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


# -- the files beside it --------------------------------------------------------------------------


def header(model: GearedModel, prefix: str, programs: dict[str, Program], precision: str) -> str:
    """The header file."""
    guard = f"{prefix.upper()}_H"
    lines = [
        f"/* Dynamics of {comment(model.name)}, coupling of its rotors: {model.coupling}.",
        " *",
        " * Coordinates, in this order:",
        *(f" *   {k} {comment(name)}" for k, name in enumerate(model.joint_names)),
        " * Motors:" if model.motor_names else " * No motors.",
        *(f" *   {k} {comment(name)}" for k, name in enumerate(model.motor_names)),
        " *",
        " * Forces are on the joint side, in N m or N. Inputs must be finite and must not share",
        " * memory with out. A function returns 0, or 1 where out is of no use because the mass",
        " * matrix is not positive definite or a spring has no force.",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#define {prefix.upper()}_JOINTS {model.n}",
        f"#define {prefix.upper()}_MOTORS {len(model.motor_names)}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    for name, program in programs.items():
        told = "; ".join(f"{key}: {INPUTS[key]}" for key in program.inputs)
        lines += ["", f"/* {told};", f" * out: {RESULTS[name]}. */"]
        lines.append(f"{signature(prefix, name, program, precision)};")
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def comment(text: str) -> str:
    """A name that ends no comment."""
    return re.sub(r"[^ -~]|\*/|/\*|\?\?", "_", text)


def test(model: GearedModel, prefix: str, programs: dict[str, Program], precision: str) -> str:
    """A program that compares the functions with reference states from the kernels."""
    limit = literal(TOLERANCE[precision], precision)
    zero, one = literal(0.0, precision), literal(1.0, precision)
    lines = [
        f'#include "{prefix}.h"',
        "",
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        f"static int differs(const char *name, int count, const {precision} *got, "
        f"const {precision} *expected)",
        "{",
        f"    {precision} largest = {zero}, error = {zero};",
        "    int k;",
        "    for (k = 0; k < count; k++) {",
        f"        const {precision} size = {absolute('expected[k]', precision)};",
        f"        const {precision} apart = {absolute('got[k] - expected[k]', precision)};",
        "        if (size != size) {  /* unknown: so must the result be */",
        f"            error = got[k] == got[k] ? {one} : error;",
        "            continue;",
        "        }",
        "        largest = size > largest ? size : largest;",
        "        error = apart > error || apart != apart ? apart : error;",
        "    }",
        f"    error = error / (largest > {zero} ? largest : {one});",
        '    printf("%s: %.1e\\n", name, (double)error);',
        f"    return !(error <= {limit});",
        "}",
        "",
        "int main(void)",
        "{",
        "    int wrong = 0;",
    ]
    for name, program in programs.items():
        for arguments, expected in references(model, name, precision):
            lines.append("    {")
            for key, x in arguments.items():
                lines.append(f"        const {precision} {key}[] = {{{row(x, precision)}}};")
            lines.append(f"        const {precision} expected[] = {{{row(expected, precision)}}};")
            lines.append(f"        {precision} out[{len(program.results)}];")
            call = f"{prefix}_{name}({', '.join(program.inputs)}, out)"
            lines.append(f"        wrong += {call} != 0;")
            for start, count in parts_of(name, model):
                lines.append(
                    f'        wrong += differs("{name}", {count}, out + {start}, '
                    f"expected + {start});"
                )
            lines.append("    }")
    lines += ["    if (wrong)", '        printf("%d wrong\\n", wrong);', "    else"]
    lines += ['        printf("all right\\n");', "    return wrong != 0;"]
    return "\n".join([*lines, "}", ""])


def absolute(text: str, precision: str) -> str:
    """Magnitude of an expression."""
    return f"fabs{'f' if precision == 'float' else ''}({text})"


def row(x: Array, precision: str) -> str:
    """Numbers of an array, without their shape."""
    return ", ".join(literal(float(value), precision) for value in np.ravel(x))


def parts_of(name: str, model: GearedModel) -> list[tuple[int, int]]:
    """Parts of a result that have a unit of their own: first element and length."""
    shape = FUNCTIONS[name].shape(model)
    if name == "motor_commands":
        return [(k * shape[1], shape[1]) for k in range(shape[0])]
    if name.endswith("_derivatives"):
        n = model.n
        return [(0, n), *((n + k * n * n, n * n) for k in range(3))]
    return [(0, int(np.prod(shape)))]


def references(
    model: GearedModel, name: str, precision: str
) -> Iterator[tuple[dict[str, Array], Array]]:
    """Inputs and results of a function at some states, by the kernels."""
    random = np.random.default_rng(0)
    kind = np.float32 if precision == "float" else np.float64
    for _ in range(STATES):
        arguments = {
            key: (size * random.uniform(-1.0, 1.0, model.n)).astype(kind).astype(np.float64)
            for key, size in zip(FUNCTIONS[name].inputs, (3.0, 2.0, 4.0), strict=False)
        }
        yield arguments, answer(model, name, arguments)


def answer(model: GearedModel, name: str, arguments: dict[str, Array]) -> Array:
    """Result of a public function as an array."""
    if name == "motor_commands":
        values = np.asarray(motor_commands(model, **arguments)._values)
        return np.asarray(np.where(unknown(model), np.nan, values))
    if name.endswith("_derivatives"):
        return np.asarray(getattr(derivatives, name)(model, **arguments).rows)
    if name == "regressor":
        return regressor(model, *arguments.values())
    return np.asarray(getattr(rigid, name)(model, **arguments))


def cmake(prefix: str) -> str:
    """Build library and test."""
    return f"""cmake_minimum_required(VERSION 3.10)
project({prefix} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
add_library({prefix} STATIC {prefix}.c)
target_include_directories({prefix} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({prefix} PUBLIC m)
endif()
enable_testing()
add_executable({prefix}_test {prefix}_test.c)
target_link_libraries({prefix}_test {prefix})
add_test(NAME {prefix}_test COMMAND {prefix}_test)
"""
