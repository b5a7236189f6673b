"""Doors look like functions, and where objects differ from what they read there are none."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.kernels import door
from traced_arms import any_arm

pytestmark = pytest.mark.skipif(bool(door.fault()), reason=door.fault())


# -- doors look like functions --------------------------------------------------------------------


def test_help_signature_pickle_and_copies() -> None:
    function: Any = gd.inverse_dynamics
    behind = function.__wrapped__
    assert inspect.signature(function) == inspect.signature(behind)
    assert list(inspect.signature(function).parameters)[-1] == "out"
    assert inspect.isroutine(function)
    assert callable(function)
    assert function.__doc__ == behind.__doc__
    assert function.__module__ == behind.__module__
    text = pydoc.plain(pydoc.render_doc(function))
    assert "inverse_dynamics(model" in text
    assert "Joint force for a motion" in text
    assert inspect.getsource(function) == inspect.getsource(behind)
    assert repr(function).startswith("<function inverse_dynamics at ")
    for same in (
        pickle.loads(pickle.dumps(function)),
        copy.copy(function),
        copy.deepcopy(function),
    ):
        assert same is function
    holder = type("Holder", (), {"call": function})()
    assert holder.call.__self__ is holder  # as functions bind
    with pytest.raises(TypeError, match="cannot create"):
        type(function)()


# -- where there is no door -----------------------------------------------------------------------


PATCHES = {
    "arrays": "door.arrays_as_read = lambda: False",
    "numba": "door.kernels_as_called = lambda: False",
    "python": "sys.implementation.name = 'pypy'",
    "llvm": "door.OLDEST = (99, 0, 0)",
}


@pytest.mark.parametrize("case", PATCHES)
def test_functions_work_without_doors(case: str) -> None:
    code = (
        "import sys, types, numpy as np\n"
        "from geared_dynamics.kernels import door\n"
        f"{PATCHES[case]}\n"
        "import geared_dynamics as gd\n"
        "from traced_arms import any_arm\n"
        "assert type(gd.inverse_dynamics) is types.FunctionType, type(gd.inverse_dynamics)\n"
        "model = any_arm(3)\n"
        "x = np.linspace(0.1, 0.7, model.n)\n"
        "print(gd.inverse_dynamics(model, x, x, x).tobytes().hex())\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "assert type(gd.compiled(model)) is gd.GearedModel\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    model = any_arm(3)
    x = np.linspace(0.1, 0.7, model.n)
    assert done.stdout.strip() == gd.inverse_dynamics(model, x, x, x).tobytes().hex()


def test_arrays_that_lie_otherwise_are_noticed() -> None:
    assert door.arrays_as_read()
    for name in ("DATA", "DIMENSIONS", "SHAPE", "DTYPE", "FLAGS"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(door, name, getattr(door, name) + 8)
            if name != "SHAPE":  # the next word is no address of lengths
                assert not door.arrays_as_read(), name
    assert door.entry_as_read(gd.GearedModel)
    moved = type("Moved", (type("First", (), {"__slots__": ("before", "entry")}),), {})
    assert not door.entry_as_read(moved)


def test_another_calling_convention_is_noticed() -> None:
    from numba.core.registry import cpu_target

    assert door.kernels_as_called()
    kind = cpu_target.target_context.call_conv.get_function_type
    changes: list[Callable[[Any], Any]] = [
        lambda t: SimpleNamespace(args=t.args[1:], return_type=t.return_type),
        lambda t: SimpleNamespace(args=t.args[::-1], return_type=t.return_type),
        lambda t: SimpleNamespace(args=t.args, return_type=t.args[-1]),
    ]
    for change in changes:
        with pytest.MonkeyPatch.context() as patch:
            convention = type(cpu_target.target_context.call_conv)
            patch.setattr(
                convention, "get_function_type", lambda _self, *x, change=change: change(kind(*x))
            )
            assert not door.kernels_as_called()
