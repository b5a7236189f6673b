"""``gd.compiled``: a model with functions of its own in machine code."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from geared_dynamics.arrays import ArrayLike
from geared_dynamics.checks import as_order, flag
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsWarning,
    ModelError,
)
from geared_dynamics.kernels.door import admit, fault, set_record, shape_words
from geared_dynamics.kernels.door_code import COMPILED, Record
from geared_dynamics.kernels.native import Code, fused
from geared_dynamics.model import Coupling, GearedModel, require_model
from geared_dynamics.model.elasticity import ElasticModel
from geared_dynamics.trace.assembly import one_state
from geared_dynamics.trace.batches import Batch, many_states
from geared_dynamics.trace.cache import key_of, made, there
from geared_dynamics.trace.functions import FUNCTIONS, Function
from geared_dynamics.trace.joined import JoinedCode, numbers
from geared_dynamics.trace.joined_functions import JOINED, function_names, traced
from geared_dynamics.trace.structure import Form, Structure, forms_of, structure_of

USUAL = (
    "inverse_dynamics",
    "mass_matrix",
    "bias_forces",
    "gravity_forces",
    "forward_dynamics",
    "motor_commands",
)
LARGEST = 12_000  # operations: up to there a function is compiled in a second or so
# The same of a joined function: without code of its own it is a list that is played, many times
# slower than a kernel, so a longer compilation pays. Six elastic joints have up to 18 000.
LARGEST_JOINED = 20_000
MOST_THREADS = 256
ONE = "one_state"  # name of the function in the object code
STILL_THERE = "it answers as before, not compiled: call gd.compiled again to have it so"


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """Code of one function, of one state and perhaps of many; and the structure it is for."""

    structure: Structure
    code: Code
    many: Code | None = None

    @property
    def size(self) -> int:
        """Bytes of object code."""
        return self.code.size + (0 if self.many is None else self.many.size)


class CompiledModel(GearedModel):
    """A ``GearedModel`` with functions in machine code; made by ``compiled``.

    ``with_payload`` returns a compiled model where its numbers stand in the table of the same
    code. Whatever else makes a new model of its fields (``dataclasses.replace``,
    ``with_coupling``) returns a plain one. It is pickled as a plain model with the names of its
    functions: where their code is on disk, they are loaded again.
    """

    entries: dict[str, CompiledFunction]
    dense: bool
    batches: bool
    threads: int
    batch_code: dict[str, Batch]  # type: ignore[misc] # of a class, but empty, in a plain model
    joined_code: dict[str, JoinedCode]  # type: ignore[misc] # so is this one

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        """Make a plain model of changed fields."""
        warn_user("replace: the new model")
        return GearedModel(*fields, **named)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy the plain model, and what to load beside it."""
        kept = self.dense, self.batches, self.threads
        return loaded_again, (plain(self), tuple(self.entries), *kept)

    def __reduce_ex__(self, _protocol: Any) -> tuple[object, ...]:
        """As ``__reduce__``."""
        return self.__reduce__()

    def __repr__(self) -> str:
        """Name the compiled functions too."""
        return f"{super().__repr__()[:-1]}, compiled: {', '.join(self.entries)}>"

    def with_coupling(self, coupling: Coupling) -> GearedModel:
        """Return a plain model, or itself; see ``GearedModel.with_coupling``."""
        if coupling == self.coupling:
            return self
        result = plain(self).with_coupling(coupling)
        warn_user("with_coupling: the new model")
        return result

    def with_elasticity(self, elastic_model: ElasticModel) -> GearedModel:
        """Return a plain model; see ``GearedModel.with_elasticity``."""
        result = plain(self).with_elasticity(elastic_model)
        warn_user("with_elasticity: the new model")
        return result

    def with_payload(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        *,
        link: str | None = None,
    ) -> GearedModel:
        """Return the same arm with a load, compiled where code for it is there.

        At a tip that is always so. A load elsewhere may make a number of the model nonzero that
        the code takes for zero: such functions are the kernels' again until ``compiled`` is
        called. See ``GearedModel.with_payload``.
        """
        loaded = plain(self).with_payload(mass, com, inertia, link=link)
        layout = Layout(loaded, self.dense)
        entries = {}
        for name, entry in self.entries.items():
            if entry.structure.holds(layout.forms(name)):
                entries[name] = entry
            else:
                found = find(name, layout.structure(name), self.batches, compile_it=False)
                if found is not None:
                    entries[name] = found
        return attached(layout, entries, self.batches, self.threads)


admit(CompiledModel, 1)


class Layout:
    """Packed arrays and structures of one model, each made once."""

    def __init__(self, model: GearedModel, dense: bool) -> None:
        """Start without any."""
        self.model = model
        self.dense = dense
        self._forms: dict[tuple[str, ...], dict[str, Form]] = {}
        self._joined: dict[tuple[str, ...], dict[str, Form]] = {}
        self._structures: dict[tuple[str, ...], Structure] = {}

    def forms(self, name: str) -> dict[str, Form]:
        """Packed arrays that a function needs."""
        if name in JOINED:
            if (name,) not in self._joined:
                self._joined[name,] = JOINED[name].forms(self.model)
            return self._joined[name,]
        names = FUNCTIONS[name].forms
        if names not in self._forms:
            known = {key: form for forms in self._forms.values() for key, form in forms.items()}
            missing = tuple(key for key in names if key not in known)
            made = forms_of(self.model, missing)
            self._forms[names] = {key: known.get(key) or made[key] for key in names}
        return self._forms[names]

    def structure(self, name: str) -> Structure:
        """Structure that a function's code is for."""
        names = (name,) if name in JOINED else FUNCTIONS[name].forms
        if names not in self._structures:
            self._structures[names] = structure_of(self.forms(name), self.dense)
        return self._structures[names]


def compiled(
    model: GearedModel,
    functions: Iterable[str] | None = None,
    *,
    dense: bool = False,
    batches: bool = False,
    threads: int = 1,
) -> GearedModel:
    """Return the same model with functions of its own in machine code.

    Every function of the library takes it; those compiled are several times faster and agree
    with the others to rounding. Compiling takes a fraction of a second, once for a structure
    (tree, geometry, which numbers are zero): its code is kept on disk. Call it before a control
    loop, not in it.

    States beyond an angle of 1e5 rad, and arguments that are not plain arrays, go to the kernels
    as for any model. A function of more than ``LARGEST`` operations (the
    forward dynamics of 30 joints in a chain), or of more than ``LARGEST_JOINED`` that combines
    several kernels, stays theirs, and a warning says so.

    Args:
        model: Geared model.
        functions: Names of functions to compile, of ``trace.joined_functions.ALL``; by default
            ``USUAL``, without ``motor_commands`` where the motors cannot move every joint.
        dense: Take no number for zero: any masses, moments and tensors fit the code, which is
            slower.
        batches: Compile code for many states at once too, in the lanes of the processor's
            vectors; without it batches are the kernels'.
        threads: How many threads share a batch of some thousand states; the result does not
            depend on it to the last bit. Give more than one with ``batches`` only.

    Raises:
        UnknownNameError: If there is no such function to compile.
        ArrayError: If ``functions`` are no names, an option is neither True nor False, or
            ``threads`` is no whole number above zero, or above one without ``batches``.
        ModelError: If a function that is named has no meaning for the model.
    """
    dense, batches = flag("dense", dense), flag("batches", batches)
    threads = as_order("threads", threads, MOST_THREADS, 1)
    if threads > 1 and not batches:
        raise ArrayError("threads", f"is {threads} without batches", "give batches=True as well")
    names = function_names(USUAL if functions is None else functions, "compiled")
    base = plain(require_model(model))
    why = fault()
    if why:
        warn(f"compiled: {base.name!r} stays as it is, not compiled: {why}")
        return base
    layout = Layout(base, dense)
    entries, left = {}, []
    for name in names:
        try:
            structure = layout.structure(name)
        except ModelError:
            if functions is None:
                continue  # no motors, or too few of them
            raise
        found = find(name, structure, batches, compile_it=True)
        if found is None:
            left.append(name)
        else:
            entries[name] = found
    if left:
        warn(
            f"compiled: {', '.join(left)} of {base.name!r} take more than {LARGEST} operations, "
            f"or {LARGEST_JOINED} of what combines several kernels; "
            "they are left to the kernels, because compiling them would take long"
        )
    return attached(layout, entries, batches, threads)


class Attempt(NamedTuple):
    """What became of compiling a model that does without as well.

    Attributes:
        model: The model, compiled or as it was.
        line: What was compiled and how long it took, or why the kernels answer; for a log.
        done: Whether it is compiled.
    """

    model: GearedModel
    line: str
    done: bool


def attempt(model: GearedModel, functions: Iterable[str] | None = None, **options: Any) -> Attempt:
    """Compile a model for a program that goes on with the kernels where that fails.

    Args:
        model: Geared model.
        functions: As of ``compiled``.
        **options: As of ``compiled``.
    """
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = compiled(model, functions, **options)
    except Exception as error:  # of a compiler, a full disk, a structure that is new to it
        why = str(error) or type(error).__name__
        return Attempt(model, f"not compiled, the kernels answer: {why}", False)
    said = [str(warning.message) for warning in caught]
    if not isinstance(made, CompiledModel):
        why = "; ".join(said) or "there is no such function for this arm"
        return Attempt(model, f"not compiled, the kernels answer: {why}", False)
    took = f"compiled {', '.join(made.entries)} in {time.perf_counter() - start:.2f} s"
    return Attempt(made, "; ".join([took, *said]), True)


def find(
    name: str, structure: Structure, batches: bool, *, compile_it: bool
) -> CompiledFunction | None:
    """Code of a function; None if it is too large, or only looked for in vain."""
    keys = [key_of(name.encode(), kind, structure.digest()) for kind in (b"one", b"many")]
    codes = [there(key) for key in keys[: 1 + batches]]
    if None in codes and compile_it:
        program = traced(name, structure)
        if program.operations() <= (LARGEST_JOINED if name in JOINED else LARGEST):
            codes[0] = made(keys[0], lambda: one_state(program, ONE, fused()))
            if batches:
                codes[1] = made(keys[1], lambda: many_states(program))
    return None if codes[0] is None else CompiledFunction(structure, codes[0], *codes[1:])


def attached(
    layout: Layout, entries: dict[str, CompiledFunction], batches: bool, threads: int
) -> GearedModel:
    """Return a model with the functions of these entries; itself without any."""
    model = layout.model
    if not entries:
        return model
    many: dict[str, Batch] = {}
    result = object.__new__(CompiledModel)
    own: dict[str, Any] = {"entries": entries, "dense": layout.dense, "batch_code": many}
    joined: dict[str, JoinedCode] = {}
    own |= {"batches": batches, "threads": threads, "joined_code": joined}
    result.__dict__.update(model.__dict__ | own)
    for name, entry in entries.items():
        table = entry.structure.table(layout.forms(name))
        if name in JOINED:
            size = JOINED[name].size(numbers(layout.forms(name)))
            code = JoinedCode(entry.code, entry.many, table, size, threads, ONE)
            joined[name] = code
            continue
        function: Function = FUNCTIONS[name]
        words = shape_words(function.shape(model), model.n)
        record = Record(COMPILED, entry.code.address(ONE), table.ctypes.data, *words)
        set_record(result, name, record, (entry.code, table))
        if entry.many is not None:
            batch = Batch(entry.many, table, len(function.inputs), threads)
            many.update(dict.fromkeys(function.kernels, batch))
    return result


def plain(model: GearedModel) -> GearedModel:
    """Return a model without compiled functions; itself if it has none."""
    if not isinstance(model, CompiledModel):
        return model
    result = object.__new__(GearedModel)
    own = ("entries", "dense", "batches", "threads", "batch_code", "joined_code")
    result.__dict__.update({k: x for k, x in model.__dict__.items() if k not in own})
    return result


def loaded_again(
    model: GearedModel, names: tuple[str, ...], dense: bool, batches: bool, threads: int
) -> GearedModel:
    """Return an unpickled model, with such functions as have their code here."""
    if fault():
        return model
    layout = Layout(model, dense)
    entries = {}
    for name in names:
        found = find(name, layout.structure(name), batches, compile_it=False)
        if found is not None:
            entries[name] = found
    return attached(layout, entries, batches, threads)


# -- Warnings ------------------------------------------------------------------------------------


def warn(text: str) -> None:
    """Warn at the place from which the library was called."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and library(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    warnings.warn(text, GearedDynamicsWarning, stacklevel=level)


def warn_user(subject: str) -> None:
    """Say that a new model is not compiled, unless the library makes it for itself."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") == "dataclasses":
        frame = frame.f_back
    if not library(frame.f_globals.get("__name__", "")):
        warn(f"{subject} is a plain one; {STILL_THERE}")


def library(module: str) -> bool:
    """Whether a module is ours, or makes dataclasses for us."""
    return module.partition(".")[0] in ("geared_dynamics", "dataclasses")
