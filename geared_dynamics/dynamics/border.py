"""From whatever the caller passes to what a kernel takes, and back; all checks.

The kernels check finiteness and aliasing themselves and say so by a status; here
arrays are converted and broadcast, and a status becomes an error with a name.
"""

import math
from collections.abc import Mapping
from typing import NoReturn

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics.balancer_packing import refuse_balancer
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.kernels import balancer_layout as has
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel

Inputs = Mapping[str, tuple[ArrayLike, int]]


def call(
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
    target: Array
    if not lead:
        flat, target = list(arrays.values()), result.reshape(-1)
    else:
        flat = [
            np.broadcast_to(x, lead + x.shape[-1:]).reshape(math.prod(lead), x.shape[-1])
            for x in arrays.values()
        ]
        target = result.reshape(flat[0].shape[0], -1) if result.size else result
    if result.size:
        status = getattr(kernels, name)(packed(model), *constants, *flat, target)
        if status >= has.FAULT:
            refuse_balancer(status, model, arrays["q"])
        if status != at.OK:
            refuse(status, arrays, result)
    return result


def as_input(name: str, value: ArrayLike, width: int) -> Array:
    """Convert an input to float64 with the given last dimension."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = np.require(array, np.float64, "A")
    except (TypeError, ValueError):
        remedy = f"give {width} real numbers, or an array (..., {width}) of them"
        raise ArrayError(name, "is not an array of real numbers", remedy) from None
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
    if not isinstance(out, np.ndarray):
        raise ArrayError("out", f"is a {type(out).__name__}", "give a float64 array")
    if out.dtype != np.float64 or not out.flags.c_contiguous or not out.flags.writeable:
        finding = f"is a {out.dtype} array with flags {sorted(flag_names(out))}"
        raise ArrayError("out", finding, "give a writeable, C-contiguous float64 array")
    if out.shape != shape:
        raise ArrayError("out", f"has shape {out.shape}", f"give shape {shape}")
    return out


def flag_names(array: Array) -> list[str]:
    """Which of the flags that matter are set."""
    flags = {"C_CONTIGUOUS": array.flags.c_contiguous, "WRITEABLE": array.flags.writeable}
    return [name for name, is_set in flags.items() if is_set]


def refuse(status: int, arrays: Mapping[str, Array], out: Array) -> NoReturn:
    """Turn a kernel's status into the error it stands for."""
    if status == at.NOT_FINITE:
        name = next(name for name, x in arrays.items() if not np.all(np.isfinite(x)))
        where = np.argwhere(~np.isfinite(arrays[name]))[0]
        index = ", ".join(str(i) for i in where)
        value = arrays[name][tuple(where)]
        raise ArrayError(f"{name}[{index}]", f"is {value}", "give finite numbers")
    if status == at.OVERLAP:
        name = next(name for name, x in arrays.items() if np.may_share_memory(x, out))
        raise ArrayError("out", f"shares memory with {name}", "give an array of its own")
    if status == at.OVERFLOW:
        largest = max(arrays, key=lambda name: float(np.abs(arrays[name]).max()))
        raise ArrayError(largest, "is so large that the result overflows", "use SI units")
    if status == at.NOT_POSITIVE:
        finding = "is not positive definite at a given posture"
        raise ModelError("mass matrix", finding, "give the massless links behind it an inertia")
    shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
    raise ArrayError("inputs", f"do not fit the model: {shapes}", "see the function's shapes")
