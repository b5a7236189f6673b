"""Functions of a model as C99: a header, a source, a test of itself, a file for CMake.

The numbers of the model stand in the source, in hexadecimal for double and rounded for float, so
that a compiler reads what is meant, or in a struct (``c_text``). There is no allocation, no
state and no library but ``math.h``, of which the rigid dynamics need sine and cosine alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.checks import choice
from geared_dynamics.errors import ModelError, UnknownNameError
from geared_dynamics.files import MARK, new_files
from geared_dynamics.model import GearedModel, require_model
from geared_dynamics.trace.c_reference import test, unknown
from geared_dynamics.trace.c_text import (
    Export,
    Parameters,
    arguments,
    body,
    comment,
    identifier,
    literal,
    parameters_of,
    turns,
)
from geared_dynamics.trace.compiled import USUAL
from geared_dynamics.trace.joined_functions import forms_for, function_names, traced
from geared_dynamics.trace.structure import Structure

PRECISIONS = ("double", "float")
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
    "friction_forces": "joint friction, which opposes the velocity",
    "external_forces": "joint force of the wrenches, sum of J' f; its opposite is the feedforward "
    "that exerts them on the environment",
    "motor_commands_derivatives": "torque of each motor [N m], then for each motor its "
    "derivatives by q, by v, by a (friction and losses: at a kink those of one side); of the "
    "current divide by the torque constant",
    "motor_commands_parameter_derivatives": "torque of each motor [N m], then for each motor its "
    "derivatives by each parameter of the model",
    "forward_dynamics_parameter_derivatives": "acceleration, then its derivatives by each "
    "parameter of the model, by rows",
    "elastic.inverse_dynamics": "forces on the joints, then on theta, for a motion, beyond what "
    "the springs give",
    "elastic.forward_dynamics": "accelerations of the joints, then of theta",
    "elastic.inverse_dynamics_derivatives": "force on x = (q, theta), then its derivatives by x, "
    "its velocity, its acceleration, by rows",
    "elastic.forward_dynamics_derivatives": "acceleration of x = (q, theta), then for each "
    "element of it the derivatives by x, rate, tau_m, tau",
    "elastic.feedforward": "theta, its velocity, its acceleration, then the motors' torque [N m]",
    "elastic.feedforward_derivatives": "the same, then for each number of it the derivatives by "
    "q and its time derivatives",
}
INPUTS = {
    "q": "joint positions [rad or m]",
    "v": "joint velocities [rad/s or m/s]",
    "a": "joint accelerations [rad/s^2 or m/s^2]",
    "tau": "joint forces [N m or N]",
    "f_ext": "force [N] and moment [N m] on each link at its origin, in its frame",
    "theta": "motor-side positions [rad or m], joint side of the gear",
    "vtheta": "their velocities",
    "atheta": "their accelerations",
    "tau_m": "torques at the motors' shafts [N m], motor side",
    "x": "positions of q, then of theta",
    "rate": "their velocities",
    "derivatives": "q and its time derivatives, one after the other",
}
PARAMETERS = ("constants", "struct")


def export_c(
    model: GearedModel,
    folder: str | Path,
    functions: Iterable[str] | None = None,
    *,
    precision: str = "double",
    parameters: str = "constants",
) -> tuple[Path, ...]:
    """Write functions of a model as C99; return the files.

    Where a derivative does not exist (at the end of a backlash, where friction without smoothing
    or a loss changes its sign) the C gives that of one side.

    Args:
        model: Geared model.
        folder: Where they are put; made if it is not there.
        functions: Names as of ``gd.compiled``; by default the same ones.
        precision: ``double`` or ``float``.
        parameters: ``constants`` of the source, or a ``struct`` that every function takes
            first, so that masses, gravity and the constants of motors, friction and springs can
            be changed at run time (``c_text``).

    Raises:
        UnknownNameError: If there is no such function, precision or kind of parameters.
        ArrayError: If a function cannot be exported; the text says why.
        OSError: If a file cannot be written.
    """
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise UnknownNameError("precision", "precision", precision, PRECISIONS)
    choice("parameters", "kind of parameters", parameters, PARAMETERS)
    texts = c_files(require_model(model), functions, precision, parameters)
    paths = tuple(Path(folder) / name for name in texts)
    with new_files(*paths, parents=True) as drafts:
        for draft, text in zip(drafts, texts.values(), strict=True):
            draft.write_text(text, encoding="utf-8")
    return paths


def c_names(model: GearedModel) -> tuple[str, str, str, str]:
    """Names of the files: header, functions, test, CMake."""
    prefix = identifier(model.name)
    return f"{prefix}.h", f"{prefix}.c", f"{prefix}_test.c", "CMakeLists.txt"


def c_files(
    model: GearedModel, functions: Iterable[str] | None, precision: str, parameters: str
) -> dict[str, str]:
    """Texts of the files, by name."""
    code = Export(identifier(model.name), model, precision, {}, {}, {})
    for name in function_names(USUAL if functions is None else functions, "export_c"):
        try:
            forms = forms_for(name, model)
        except ModelError:
            if functions is None:
                continue  # no motors, or too few of them
            raise
        read = Parameters(fixed(forms), ())
        if parameters == "struct":
            read = parameters_of(model, name, forms, code.fields)
        program = traced(name, read.structure, kinks=False)
        if name == "motor_commands":
            results = zip(program.results, unknown(model).flat, strict=True)
            program = replace(program, results=tuple(np.nan if no else x for x, no in results))
        code.programs[name], code.tables[name] = program, read.names
    head = f"/* {MARK} */\n"
    texts = (
        head + header(code),
        head + source(code),
        head + test(code),
        f"# {MARK}\n{cmake(code.prefix)}",
    )
    return dict(zip(c_names(model), texts, strict=True))


def fixed(forms: dict[str, Any]) -> Structure:
    """Structure in which every number is constant."""
    arrays = tuple(form.numbers for form in forms.values())
    return Structure(tuple(forms), arrays, tuple(np.zeros(len(x), np.int8) for x in arrays))


# -- The source -----------------------------------------------------------------------------------


def source(code: Export) -> str:
    """The source file."""
    prefix, precision = code.prefix, code.precision
    parts = [f'#include "{prefix}.h"\n\n#include <math.h>\n']
    if code.fields:
        lines = [f"const {prefix}_parameters {prefix}_default = {{"]
        lines += [
            f"    {literal(field.value, precision)}, /* {name} */"
            for name, field in code.fields.items()
        ]
        parts.append("\n".join([*lines, "};", ""]))
    for name, program in code.programs.items():
        lines = [code.signature(name), "{"]
        lines += [f"    {line}" for line in body(program, precision, code.tables[name])]
        parts.append("\n".join([*lines, "}", ""]))
    return "\n".join(parts)


# -- The files beside it --------------------------------------------------------------------------


def header(code: Export) -> str:
    """The header file."""
    model, prefix = code.model, code.prefix
    guard = f"{prefix.upper()}_H"
    lines = [
        f"/* Dynamics of {comment(model.name)}, coupling of its rotors: {model.coupling}.",
        " *",
        " * Coordinates, in this order:",
        *(f" *   {k} {comment(name)}" for k, name in enumerate(model.joint_names)),
        " * Motors:" if model.motor_names else " * No motors.",
        *(f" *   {k} {comment(name)}" for k, name in enumerate(model.motor_names)),
        *(f" * theta {k}: {comment(name)}" for k, name in enumerate(model.elasticity.names)),
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
        *(struct(code) if code.fields else ()),
    ]
    for name, program in code.programs.items():
        inputs = "; ".join(f"{key}: {INPUTS[key]}" for key, _ in arguments(program))
        lines += ["", f"/* {inputs};", f" * out: {RESULTS[name]}. */"]
        lines.append(f"{code.signature(name)};")
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def struct(code: Export) -> list[str]:
    """Lines of the struct of parameters, and of the constant that has the model's numbers."""
    prefix = code.prefix
    lines = [
        "",
        "/* Numbers that can be changed at run time. First moments (mc) and tensors (i) are about",
        " * the origin of the link's frame, in axes of which z is the joint's axis: those of the",
        " * link's frame turned by",
    ]
    for name, turn in zip(code.model.body_names, turns(code.model), strict=True):
        rows = "; ".join(" ".join(f"{x:.9g}" for x in line) for line in turn)
        lines.append(f" *   {comment(name)}: {rows}")
    lines += [
        " * (rows; a vector of these axes times it is one of the link's frame). Of drives and",
        " * springs, a number that is zero in this arm is not here, and the others keep their",
        f" * sign. {prefix}_default holds the numbers of the arm. */",
        "typedef struct {",
        *(f"    {code.precision} {name}; /* [{f.unit}] */" for name, f in code.fields.items()),
        f"}} {prefix}_parameters;",
        f"extern const {prefix}_parameters {prefix}_default;",
    ]
    return lines


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
