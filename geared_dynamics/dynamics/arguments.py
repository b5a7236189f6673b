"""Callers' arrays to kernels and back, one state or many; a kernel's status to an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf, prod
from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import REAL, Array, ArrayLike, is_masked, real
from geared_dynamics.dynamics.packing import packed, refuse_balancer
from geared_dynamics.errors import ArrayError, ModelError, shown
from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel, require_model

# -- From whatever the caller passes to what a kernel takes, and back; all checks -----------------
#
# The kernels check finiteness and aliasing themselves and say so by a status; here
# arrays are converted and broadcast, and a status becomes an error with a name.


Inputs = Mapping[str, tuple[ArrayLike, int]]
FLOAT = np.dtype(np.float64)


def call(
    name: str,
    model: GearedModel,
    inputs: Inputs,
    core: tuple[int, ...],
    out: Array | None = None,
    constants: tuple[Array, ...] = (),
) -> Array:
    """Run a kernel, at once where it takes the arguments as they are.

    Args as in ``convert_and_call``.
    """
    try:
        values = [value for value, _ in inputs.values()]
        result, flat = for_one_state(values[0], core, out)
        if getattr(kernels, name)(packed(model), *constants, *values, flat) == at.OK:
            return result
    except kernels.NOT_TAKEN:
        pass  # a batch, or not plain float64 arrays
    return convert_and_call(name, model, inputs, core, out, constants)


def convert_and_call(
    name: str,
    model: GearedModel,
    inputs: Inputs,
    core: tuple[int, ...],
    out: Array | None = None,
    constants: tuple[Array, ...] = (),
) -> Array:
    """Run a kernel over one state or any leading batch dimensions.

    Args:
        name: The kernel.
        model: The model.
        inputs: By argument name, the values and their last dimension's length.
        core: Shape of the result for one state.
        out: Where to put the result, float64, C-contiguous, of its full shape.
        constants: What the kernel takes beside the model.
    """
    arrays = {key: as_input(key, value, width) for key, (value, width) in inputs.items()}
    lead = common_lead(arrays)
    result = np.empty(lead + core) if out is None else as_output(out, lead + core)
    flat: list[Array]
    target: Array = np.asarray(result).view(FLOAT)
    if not lead:
        flat, target = list(arrays.values()), target.reshape(-1)
    else:
        flat = [
            np.broadcast_to(x, lead + x.shape[-1:]).reshape(prod(lead), x.shape[-1])
            for x in arrays.values()
        ]
        target = target.reshape(flat[0].shape[0], -1) if result.size else target
    if result.size:
        status = run(name, model, constants, flat, target)
        if status >= has.FAULT:
            refuse_balancer(status, model, arrays["q"])
        if status != at.OK:
            refuse(status, arrays, result)
    return result


def run(
    name: str, model: GearedModel, constants: tuple[Array, ...], flat: list[Array], target: Array
) -> int:
    """Status of a kernel, or of code for many states that a compiled model has in its place."""
    kernel, arrays = getattr(kernels, name), (packed(model), *constants)
    if target.ndim > 1 and name in model.batch_code:
        return int(model.batch_code[name](kernel, arrays, flat, target))
    return int(kernel(*arrays, *flat, target))


def by_own_code(model: GearedModel, name: str, inputs: Inputs) -> Array | None:
    """Result (..., r) of a compiled model's own code for a function of joined inputs.

    None where the model has no such code, or the code does not take one of the states: whoever
    calls then goes on as for any model.
    """
    code: Callable[[Array], Array | None] | None = model.joined_code.get(name)
    if code is None:
        return None
    if all(
        type(x) is np.ndarray and x.dtype is FLOAT and x.shape == (width,)
        for x, width in inputs.values()
    ):
        return code(np.concatenate([x for x, _ in inputs.values()]))
    arrays = {key: as_input(key, value, width) for key, (value, width) in inputs.items()}
    lead = common_lead(arrays)
    if lead:
        arrays = {key: np.broadcast_to(x, lead + x.shape[-1:]) for key, x in arrays.items()}
    return code(np.concatenate(list(arrays.values()), axis=-1))


def coordinates(model: GearedModel) -> int:
    """Return the number of the model's coordinates; refuse what is no model."""
    return require_model(model).n


def for_one_state(
    q: ArrayLike, core: tuple[int, ...], out: Array | None = None
) -> tuple[Array, Array]:
    """Result for one state, and its numbers in a row as the kernels fill them.

    Raises:
        TypeError: if q is a batch, or ``out`` needs a closer look.
    """
    if q.ndim != 1:  # type: ignore[union-attr]
        raise TypeError
    if out is None:
        flat = np.empty(prod(core))
        return flat.reshape(core), flat
    if out.shape != core or not out.flags.c_contiguous:
        raise TypeError
    return out, out.reshape(-1)


def as_numbers(name: str, value: ArrayLike, remedy: str) -> Array:
    """Convert an argument to an array of native, aligned float64."""
    try:
        if type(value) is not np.ndarray and is_masked(value):
            raise ArrayError(name, "has masked elements", "fill them, or leave them out")
        array = np.asarray(value)
        if array.dtype is FLOAT and array.flags.aligned:
            return array
        if array.dtype.kind not in REAL:
            raise TypeError
        # The view has the one dtype object that the kernels know.
        return np.require(array, np.float64, "A").view(FLOAT)
    except (TypeError, ValueError, RecursionError):
        raise ArrayError(name, "is not an array of real numbers", remedy) from None


def as_input(name: str, value: ArrayLike, width: int) -> Array:
    """Convert an input to float64 with the given last dimension."""
    remedy = f"give {width} real numbers, or an array (..., {width}) of them"
    array = as_numbers(name, value, remedy)
    if array.ndim == 0 or array.shape[-1] != width:
        remedy = f"give shape ({width},), or (..., {width}) for a batch"
        raise ArrayError(name, f"has shape {array.shape}", remedy)
    # The kernels step through an input in whole numbers; a field of a structured array may not.
    return array.copy() if any(stride % array.itemsize for stride in array.strides) else array


def finite_input(name: str, value: ArrayLike, width: int) -> Array:
    """Convert an input as ``as_input`` does, and refuse NaN and infinity."""
    array = as_input(name, value, width)
    if not np.all(np.isfinite(array)):
        raise ArrayError(name, "contains NaN or infinity", "give finite numbers")
    return array


def common_lead(arrays: Mapping[str, Array]) -> tuple[int, ...]:
    """Leading dimensions of all inputs together."""
    try:
        return np.broadcast_shapes(*(x.shape[:-1] for x in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        remedy = "give them the same number of states, or one"
        raise ArrayError("inputs", f"do not broadcast: {shapes}", remedy) from None


def as_output(out: Array, shape: tuple[int, ...]) -> Array:
    """Check an output array."""
    if not isinstance(out, np.ndarray) or is_masked(out):
        raise ArrayError("out", f"is a {type(out).__name__}", "give a float64 array")
    flags = {
        "writeable": out.flags.writeable,
        "aligned": out.flags.aligned,
        "C-contiguous": out.flags.c_contiguous,
    }
    if out.dtype != FLOAT or not all(flags.values()):
        missing = "".join(f", not {name}" for name, given in flags.items() if not given)
        remedy = f"give a {', '.join(flags)} float64 array"
        raise ArrayError("out", f"is a {out.dtype} array{missing}", remedy)
    if out.shape != shape:
        raise ArrayError("out", f"has shape {out.shape}", f"give shape {shape}")
    return out


def deliver(value: Array, out: Array | None, inputs: Mapping[str, ArrayLike]) -> Array:
    """Return a result, in ``out`` where that is given, after the checks that kernels do."""
    if out is None:
        return value
    keep_apart(as_output(out, value.shape), inputs)
    out[...] = value
    return out


def keep_apart(out: Array, inputs: Mapping[str, ArrayLike]) -> None:
    """Refuse an output that shares memory with an input."""
    for name, value in inputs.items():
        if np.may_share_memory(np.asarray(value), out):
            raise ArrayError("out", f"shares memory with {name}", "give an array of its own")


def check_finite(name: str, array: Array) -> None:
    """Refuse NaN and infinity, and say where they are."""
    finite = np.isfinite(array)
    if not finite.all():
        where = np.argwhere(~finite)[0]
        index = ", ".join(str(i) for i in where)
        raise ArrayError(f"{name}[{index}]", f"is {array[tuple(where)]}", "give finite numbers")


def refuse(status: int, arrays: Mapping[str, Array], out: Array) -> NoReturn:
    """Turn a kernel's status into the error it stands for."""
    if status == at.NOT_FINITE:
        for name, array in arrays.items():
            check_finite(name, array)
    if status == at.OVERLAP:
        keep_apart(out, arrays)
    if status == at.OVERFLOW:
        refuse_overflow(arrays)
    if status == at.NOT_POSITIVE:
        finding = "is not positive definite at one of the positions"
        raise ModelError("mass matrix", finding, "add inertia to the massless links or wheels")
    shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
    raise ArrayError(
        "inputs", f"do not fit the model: {shapes}", "use the shapes that the docstring states"
    )


def refuse_overflow(arrays: Mapping[str, Array]) -> NoReturn:
    """Blame an overflow on the array with the largest number."""
    largest = max(arrays, key=lambda name: float(np.abs(arrays[name]).max(initial=0.0)))
    raise ArrayError(largest, "is so large that the result overflows", "use SI units")


# -- One state after the other, for what cannot be written for a batch at once --------------------


def each_state(inputs: Mapping[str, Array]) -> tuple[tuple[int, ...], Iterator[tuple[Array, ...]]]:
    """Leading dimensions of the inputs together, and the states one by one."""
    lead = common_lead(inputs)
    flat = [
        np.broadcast_to(x, lead + x.shape[-1:]).reshape(prod(lead), x.shape[-1])
        for x in inputs.values()
    ]
    return lead, zip(*flat, strict=True)


def joint_inputs(model: GearedModel, **values: ArrayLike | None) -> dict[str, Array]:
    """Check arrays (..., n) by name; None stands for zero."""
    still = np.zeros(coordinates(model))
    return {
        name: finite_input(name, still if value is None else value, len(still))
        for name, value in values.items()
    }


def motor_inputs(model: GearedModel, **values: ArrayLike | None) -> dict[str, Array]:
    """Check arrays (..., m) by name; None stands for zero."""
    still = np.zeros(len(model.motor_names))
    return {
        name: finite_input(name, still if value is None else value, len(still))
        for name, value in values.items()
    }


def one_driven_state(inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """Return the arrays of a single state."""
    for name, value in inputs.items():
        if value.ndim != 1:
            raise ArrayError(name, f"has shape {value.shape}", f"give {value.shape[-1]} numbers")
    return tuple(inputs.values())


def real_number(name: str, value: float, remedy: str, accept: Callable[[float], bool]) -> float:
    """Check a single number; ``accept`` says whether its value will do."""
    array = np.asarray(value)
    if array.ndim > 0 or array.dtype.kind not in "fiu":
        raise ArrayError(name, f"is {shown(value)}", remedy)
    number = float(array)
    if not accept(number):
        raise ArrayError(name, f"is {number:g}", remedy)
    return number


def positive(number: float) -> bool:
    """Whether a number is finite and above zero."""
    return 0.0 < number < inf


def check_results(inputs: Mapping[str, Array], *results: Array) -> None:
    """Refuse results that are not finite though the inputs were."""
    if not all(np.isfinite(result).all() for result in results):
        refuse_overflow(inputs)


# -- Checks of what a caller gives to observers of forces, for one state at a time ----------------


def seconds(name: str, value: object) -> float:
    """A time as a float, NaN and infinity too: what they mean is the observer's matter."""
    try:
        return real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is {shown(value)}", "give a time [s]") from None


def above_zero(name: str, value: object, what: str, *, zero: bool = False) -> float:
    """A finite number above zero, or zero where that is allowed."""
    remedy = f"give {what}, {'zero or more' if zero else 'above zero'}"
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise ArrayError(name, f"is {shown(value)}", remedy) from None
    if not (np.isfinite(number) and (number > 0.0 or (zero and number == 0.0))):
        raise ArrayError(name, f"is {number:g}", remedy)
    return number


def one_state(name: str, value: ArrayLike, width: int, *, missing: bool = False) -> Array:
    """Numbers (width,) of one instant; finite, unless some may be missing."""
    array = as_input(name, value, width)
    if array.ndim != 1:
        raise ArrayError(name, f"has shape {array.shape}", f"give one instant, shape ({width},)")
    if not missing:
        check_finite(name, array)
    return array


def each(name: str, value: ArrayLike, width: int, what: str, *, zero: bool = False) -> Array:
    """Finite numbers above zero (width,), of one for all or one for each."""
    remedy = (
        f"give {what}, {'zero or more' if zero else 'above zero'}: one number for all, or {width}"
    )
    array = as_numbers(name, value, remedy)
    if array.shape not in ((), (1,), (width,)):
        raise ArrayError(name, f"has shape {array.shape}", remedy)
    wrong = ~(np.isfinite(array) & ((array >= 0.0) if zero else (array > 0.0)))
    if wrong.any():
        raise ArrayError(name, f"is {array[wrong].flat[0]:g}", remedy)
    return np.broadcast_to(array, (width,))
