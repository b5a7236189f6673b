"""Numbers with exact first derivatives: the kernels' source run over them, without any graph."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from geared_dynamics.trace.run import Tracer


class Dual:
    """A number and its derivatives by some variables; comparisons are of the number."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: float, slopes: np.ndarray) -> None:
        self.value = float(value)
        self.slopes = slopes

    def chain(self, value: float, slope: float) -> Dual:
        """A function of this number."""
        return Dual(value, slope * self.slopes)

    def other(self, y: Any) -> Dual:
        return y if isinstance(y, Dual) else Dual(y, np.zeros_like(self.slopes))

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slopes)

    def __abs__(self) -> Dual:
        return -self if self.value < 0.0 else self

    def __add__(self, y: Any) -> Dual:
        y = self.other(y)
        return Dual(self.value + y.value, self.slopes + y.slopes)

    def __sub__(self, y: Any) -> Dual:
        return self + -self.other(y)

    def __rsub__(self, y: Any) -> Dual:
        return self.other(y) - self

    def __mul__(self, y: Any) -> Dual:
        y = self.other(y)
        return Dual(self.value * y.value, self.value * y.slopes + y.value * self.slopes)

    def __truediv__(self, y: Any) -> Dual:
        y = self.other(y)
        value = self.value / y.value
        return Dual(value, (self.slopes - value * y.slopes) / y.value)

    def __rtruediv__(self, y: Any) -> Dual:
        return self.other(y) / self

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, y: Any) -> bool:
        return self.value < self.other(y).value

    def __le__(self, y: Any) -> bool:
        return self.value <= self.other(y).value

    def __gt__(self, y: Any) -> bool:
        return self.value > self.other(y).value

    def __ge__(self, y: Any) -> bool:
        return self.value >= self.other(y).value

    def __eq__(self, y: object) -> bool:
        return self.value == self.other(y).value

    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        return self.value


def of(name: str, slope: Any) -> Any:
    """A function of ``math`` for duals and floats; its derivative from x and f(x)."""
    function = getattr(math, name)

    def both(x: Any) -> Any:
        if not isinstance(x, Dual):
            return function(x)
        value = function(x.value)
        return x.chain(value, slope(x.value, value))

    return both


def hypot(x: Any, y: Any) -> Any:
    return MATH.sqrt(x * x + y * y)


def copysign(size: Any, sign: Any) -> Any:
    return -abs(size) if float(sign) < 0.0 else abs(size)


MATH = SimpleNamespace(
    sin=of("sin", lambda x, _: math.cos(x)),
    cos=of("cos", lambda x, _: -math.sin(x)),
    sqrt=of("sqrt", lambda _, f: 0.5 / f),
    tanh=of("tanh", lambda _, f: 1.0 - f * f),
    exp=of("exp", lambda _, f: f),
    expm1=of("expm1", lambda _, f: f + 1.0),
    log=of("log", lambda x, _: 1.0 / x),
    hypot=hypot,
    copysign=copysign,
    pi=math.pi,
    inf=math.inf,
)


def dual_run(
    kernel: Any, constants: list[np.ndarray], inputs: list[np.ndarray], width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Results (width,) of a kernel's source and their derivatives (width, sum of the inputs)."""
    tracer = Tracer()
    tracer._twins["math"] = MATH
    tracer._float = lambda x: x  # type: ignore[assignment, method-assign]
    tracer._builtins["float"] = lambda x: x
    flat = np.concatenate(inputs)
    numbers = [Dual(x, row) for x, row in zip(flat, np.eye(len(flat)), strict=True)]
    parts, start = [], 0
    for given in inputs:
        parts.append(numbers[start : start + len(given)])
        start += len(given)
    found = tracer.run(kernel, [list(x.tolist()) for x in constants], parts, width)
    rows = [x if isinstance(x, Dual) else Dual(x, np.zeros(len(flat))) for x in found]
    return np.array([x.value for x in rows]), np.array([x.slopes for x in rows])
