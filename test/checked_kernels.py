"""The kernels interpreted, with pointers that look where they read and write.

Compiled, a kernel that reads one number behind its scratch memory reads what happens to lie
there. Here the same sources run in Python: each pointer knows the memory that it points into,
what was allocated begins as NaN, and inputs refuse to be written. ``Checked`` puts itself in the
place of the compiled kernels: every call runs both ways, which must agree.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections import Counter
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from geared_dynamics import kernels

FOLDER = Path(kernels.__file__).parent
NAME = "kernels_interpreted"
WORD = 8  # bytes of a number
TOLERANCE = 1e-9  # of the largest number: compilers contract and reorder sums


class OutsideError(AssertionError):
    """A kernel reads or writes where it must not."""


def bytes_of(array: Any) -> tuple[int, int]:
    """Address of an array's first byte, and of that behind its last."""
    low = high = array.ctypes.data
    if not array.size:
        return low, high
    for size, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min((size - 1) * stride, 0), high + max((size - 1) * stride, 0)
    return low, high + array.itemsize


class Span:
    """A pointer to numbers, with the memory that it may reach."""

    __slots__ = ("address", "array", "high", "low")

    def __init__(self, array: Any, address: int, low: int, high: int) -> None:
        """Point to an address, for reads and writes from ``low`` up to ``high``."""
        self.array, self.address, self.low, self.high = array, address, low, high

    def place(self, index: int, what: str) -> int:
        """Address of an element, which must lie in the array."""
        found = self.address + WORD * int(index)
        if not self.low <= found <= self.high - WORD:
            element, size = (found - self.low) // WORD, (self.high - self.low) // WORD
            raise OutsideError(f"{what} of element {element} of {size}")
        return found

    def __getitem__(self, index: int) -> np.float64:
        """Read."""
        return np.float64(ctypes.c_double.from_address(self.place(index, "read")).value)

    def __setitem__(self, index: int, value: float) -> None:
        """Write."""
        if not self.array.flags.writeable:
            raise OutsideError("an input is written")
        ctypes.c_double.from_address(self.place(index, "write")).value = value


class Memory(ModuleType):
    """Stands for ``kernels.memory``; all room is allocated, so that its end is known."""

    Array = Pointer = Vector = Any
    STACK_SIZE = 0
    FUSED, fma = False, None  # of a processor that has no such instruction

    @staticmethod
    def stack_memory() -> None:
        """No room on the stack."""

    @staticmethod
    def row(array: Any, k: int) -> Span:
        """Pointer to row k, to the start of a vector."""
        start = array.ctypes.data + (int(k) * array.strides[0] if array.ndim == 2 else 0)
        return Span(array, start, *bytes_of(array))

    @staticmethod
    def pointer(array: Any) -> Span:
        """Pointer to the first element."""
        return Memory.row(array, 0)

    @staticmethod
    def shift(start: Span, count: int) -> Span:
        """Pointer to any place, as long as nothing is read or written there."""
        return Span(start.array, start.address + WORD * int(count), start.low, start.high)

    @staticmethod
    def keep(_: Any, value: int) -> int:
        """Return the value."""
        return value

    @staticmethod
    def address(array: Any) -> int:
        """Where the first element lies."""
        return int(array.ctypes.data)

    @staticmethod
    def dtype_of(array: Any) -> int:
        """Identity of the dtype."""
        return id(array.dtype)

    @staticmethod
    def type_of(array: Any) -> int:
        """Identity of the type."""
        return id(type(array))


class Uncompiled(ModuleType):
    """Stands for numba."""

    @staticmethod
    def njit(*functions: Any, **_: Any) -> Any:
        """Leave a function as it is."""
        return functions[0] if functions else lambda function: function


class Numbers(ModuleType):
    """NumPy, whose empty memory is full of NaN."""

    def __getattr__(self, name: str) -> Any:
        """Take all else from there."""
        return getattr(np, name)

    @staticmethod
    def empty(shape: Any) -> Any:
        """Memory in which nothing was written yet."""
        return np.full(shape, np.nan)


class Interpreted(MetaPathFinder, Loader):
    """Imports ``kernels_interpreted.NAME`` from the source of ``kernels.NAME``.

    Attributes:
        change: A text in a source and what takes its place, to see that it is noticed.
    """

    change: tuple[str, str] | None = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Ours alone."""
        if name == NAME or name.startswith(f"{NAME}."):
            return ModuleSpec(name, self, is_package=name == NAME)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The memory and numba are made here."""
        last = spec.name.rpartition(".")[2]
        kinds = {"memory": Memory, "numba_here": Uncompiled, "numbers_here": Numbers}
        return kinds[last](spec.name) if last in kinds else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the source with what is made here in place of what is compiled."""
        last = module.__name__.rpartition(".")[2]
        if module.__name__ == NAME or isinstance(module, (Memory, Uncompiled, Numbers)):
            return
        path = FOLDER / f"{last}.py"
        text = path.read_text("utf-8").replace("geared_dynamics.kernels", NAME)
        text = text.replace("from numba import", f"from {NAME}.numba_here import")
        text = text.replace("import numpy as np", f"from {NAME} import numbers_here as np")
        if self.change is not None and self.change[0] in text:
            text = text.replace(*self.change)
        exec(compile(text, str(path), "exec"), module.__dict__)


FINDER = Interpreted()


def interpreted(name: str) -> Any:
    """A kernel as a Python function."""
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)
    source = kernels.KERNELS[name][0]
    return getattr(importlib.import_module(f"{NAME}.{source}"), name)


def broken(patch: pytest.MonkeyPatch, before: str, after: str) -> None:
    """Have the kernels interpreted with a change of their sources, for the length of a test."""
    # All names: modules that are first imported with the change must not outlive the test.
    for module in [NAME, *(f"{NAME}.{path.stem}" for path in FOLDER.glob("*.py"))]:
        patch.setitem(sys.modules, module, ModuleType(module))
        del sys.modules[module]
    patch.setattr(FINDER, "change", (before, after))


class Checked:
    """Every call of a kernel runs compiled and interpreted.

    Attributes:
        calls: How often each was called with a result that counts.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Take the kernels' places."""
        self.calls: Counter[str] = Counter()
        for name in kernels.KERNELS:
            compiled = getattr(kernels, name)
            patch.setattr(kernels, name, self._both(name, compiled, interpreted(name)))

    def _both(self, name: str, compiled: Any, python: Any) -> Any:
        def call(*arguments: Any) -> int:
            *given, out = arguments
            before = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
            status = int(compiled(*arguments))
            again = np.full_like(out, np.nan)
            with np.errstate(all="ignore"):
                found = int(python(*given, again))
            assert found == status, f"{name}: status {found}, compiled {status}"
            if status == 0:
                size = np.abs(out).max(initial=1e-300)
                np.testing.assert_allclose(again, out, rtol=0, atol=TOLERANCE * size)
                self.calls[name] += 1
            for x, y in zip(given, before, strict=True):
                np.testing.assert_array_equal(x, y)
            return status

        return call
