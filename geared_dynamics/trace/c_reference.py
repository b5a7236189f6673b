"""The program that tests exported C: functions against reference states from the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics import drives, frames, rigid
from geared_dynamics.dynamics.elastic import equations, flatness
from geared_dynamics.dynamics.regressor import regressor
from geared_dynamics.dynamics.state import State
from geared_dynamics.kernels.drive_layout import CURRENT, VOLTAGE
from geared_dynamics.model import GearedModel
from geared_dynamics.trace import (
    derivatives,
    elastic_derivatives,
    motor_derivatives,
    parameter_derivatives,
)
from geared_dynamics.trace.c_text import Export, absolute, arguments, literal
from geared_dynamics.trace.functions import FUNCTIONS, Program
from geared_dynamics.trace.joined import numbers
from geared_dynamics.trace.joined_functions import JOINED
from geared_dynamics.trace.motor_derivatives import feedforward_derivatives

TOLERANCE = {"double": 1e-12, "float": 1e-4}  # of the test, relative to the largest result
STATES = 8  # of the test
# Sizes of random inputs.
SIZES = {"q": 3.0, "v": 2.0, "a": 4.0, "tau": 4.0, "x": 1.0, "rate": 2.0, "tau_m": 0.5}


def test(code: Export) -> str:
    """A program that compares the functions with reference states from the kernels."""
    precision, prefix = code.precision, code.prefix
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
    for name, program in code.programs.items():
        first = [f"&{prefix}_default"] if code.fields else []
        for given, expected in references(code.model, name, program, precision):
            lines.append("    {")
            for key, x in given.items():
                lines.append(f"        const {precision} {key}[] = {{{row(x, precision)}}};")
            lines.append(f"        const {precision} expected[] = {{{row(expected, precision)}}};")
            lines.append(f"        {precision} out[{len(program.results)}];")
            call = f"{code.called(name)}({', '.join([*first, *given, 'out'])})"
            lines.append(f"        wrong += {call} != 0;")
            for start, count in parts_of(name, code.model):
                lines.append(
                    f'        wrong += differs("{name}", {count}, out + {start}, '
                    f"expected + {start});"
                )
            lines.append("    }")
    lines += ["    if (wrong)", '        printf("%d wrong\\n", wrong);', "    else"]
    lines += ['        printf("all right\\n");', "    return wrong != 0;"]
    return "\n".join([*lines, "}", ""])


def row(x: Array, precision: str) -> str:
    """Numbers of an array, without their shape."""
    return ", ".join(literal(float(value), precision) for value in np.ravel(x))


def parts_of(name: str, model: GearedModel) -> list[tuple[int, int]]:
    """Parts of a result that have a unit of their own: first element and length."""
    if name in JOINED:
        shapes = JOINED[name].outputs(numbers(JOINED[name].forms(model)))
        sizes = [prod(shape) for shape in shapes.values()]
        return [(sum(sizes[:k]), size) for k, size in enumerate(sizes)]
    shape = FUNCTIONS[name].shape(model)
    if name == "motor_commands":
        return [(k * shape[1], shape[1]) for k in range(shape[0])]
    if name.endswith("_derivatives"):
        n = model.n
        return [(0, n), *((n + k * n * n, n * n) for k in range(3))]
    return [(0, prod(shape))]


def references(
    model: GearedModel, name: str, program: Program, precision: str
) -> Iterator[tuple[dict[str, Array], Array]]:
    """Inputs and results of a function at some states, by the kernels."""
    random = np.random.default_rng(0)
    kind = np.float32 if precision == "float" else np.float64
    for _ in range(STATES):
        given = {
            key: (SIZES.get(key, 1.0) * random.uniform(-1.0, 1.0, width))
            .astype(kind)
            .astype(np.float64)
            for key, width in arguments(program)
        }
        yield given, np.ravel(reference_result(model, name, given))


def reference_result(model: GearedModel, name: str, given: dict[str, Array]) -> Array:
    """Result of a public function as an array."""
    if name in JOINED:
        return joined_reference(model, name, given)
    if name == "motor_commands":
        values = np.asarray(motor_commands(model, **given)._values)
        return np.asarray(np.where(unknown(model), np.nan, values))
    if name.endswith("_derivatives"):
        return np.asarray(getattr(derivatives, name)(model, **given).rows)
    if name == "regressor":
        return regressor(model, *given.values())
    return np.asarray(getattr(rigid, name)(model, **given))


def joined_reference(model: GearedModel, name: str, given: dict[str, Array]) -> Array:
    """The same of a function whose inputs have lengths of their own."""
    n = model.n
    if name == "friction_forces":
        return drives.friction_forces(model, **given)
    if name == "external_forces":
        return frames.external_forces(model, given["q"], given["f_ext"].reshape(-1, 6))
    if name == motor_derivatives.COMMANDS_BY_MOTION:
        slopes = motor_derivatives.motor_commands_derivatives(model, *given.values())
        by_motion = np.stack([slopes.dtorque_dq, slopes.dtorque_dv, slopes.dtorque_da], axis=1)
        return np.concatenate([slopes.commands.torque, by_motion.ravel()])
    if name == parameter_derivatives.COMMANDS_BY_PARAMETERS:
        return flat(
            parameter_derivatives.motor_commands_parameter_derivatives(model, *given.values())
        )
    if name == parameter_derivatives.ACCELERATION_BY_PARAMETERS:
        return flat(
            parameter_derivatives.forward_dynamics_parameter_derivatives(model, *given.values())
        )
    if name.startswith("elastic.feedforward"):
        path = given["derivatives"].reshape(-1, n)
        if name == "elastic.feedforward":
            return np.asarray(flatness.feedforward(model, path)._values)
        found = feedforward_derivatives(model, path)
        return flat(found)
    if "x" in given:
        x, rate = given["x"], given["rate"]
        now = State(x[:n], rate[:n], x[n:], rate[n:])
        if name == elastic_derivatives.INVERSE_DERIVATIVES:
            a = given["a"]
            return flat(elastic_derivatives.inverse_dynamics_derivatives(model, now, a[:n], a[n:]))
        tau_m, tau = given["tau_m"], given["tau"]
        by = elastic_derivatives.forward_dynamics_derivatives(model, now, tau_m, tau=tau)
        return flat([by.a, np.hstack(by[1:])])
    now = State(given["q"], given["v"], given["theta"], given["vtheta"])
    if name == "elastic.inverse_dynamics":
        return flat(equations.inverse_dynamics(model, now, given["a"], given["atheta"]))
    return flat(equations.forward_dynamics(model, now, given["tau_m"], tau=given["tau"]))


def flat(parts: Iterable[Array]) -> Array:
    """Arrays one after the other."""
    return np.concatenate([np.ravel(part) for part in parts])


def unknown(model: GearedModel) -> BoolArray:
    """Which numbers of the motor commands no constant is known for (8, m): they are NaN."""
    motors = model.motors
    found = np.zeros(FUNCTIONS["motor_commands"].shape(model), bool)
    found[CURRENT : VOLTAGE + 1] = np.isnan(motors.torque_constant)
    found[VOLTAGE] |= np.isnan(motors.resistance)
    return found
