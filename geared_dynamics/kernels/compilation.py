"""Compilation of a kernel, and the folder in which compiled code is kept.

numba keeps pickles, and reading a pickle may run anything. A folder that others may write is
therefore not used: see ``fault_of``. Which folder it is numba decides: that of the environment
variable NUMBA_CACHE_DIR, ``__pycache__`` beside the sources, or one in the user's home.
"""

import ctypes
import logging
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.dispatcher import Dispatcher

try:
    import grp
    import pwd
except ImportError:  # not POSIX: folders have no modes to look at
    grp = pwd = None  # type: ignore[assignment]

LOG = logging.getLogger(__name__)  # a line for each kernel, before it is compiled or read
OPTIONS = {"error_model": "numpy"}  # of the compilation
# What only Python and C need of a function: a sixth of the compilation of those that kernels call.
NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
FOLDER = Path(__file__).parent
IMPORT = re.compile(
    rf"^from {re.escape(__package__ or '')}(?:\.(\w+))? import (\([^)]*\)|[^(\n]*)", re.MULTILINE
)


def compile_kernel(function: Any, signatures: Iterable[Any]) -> Callable[..., int]:
    """Compile a function for some signatures and no others, or read it from the cache."""
    module = function.__module__.rpartition(".")[2]
    name = function.__name__
    LOG.info("%s", name)
    leave_out_wrappers(module)
    # numba keys its cache by this name and the entry's own file; what the entry imports
    # must count as well, or an updated checkout would run old code.
    function.__qualname__ = f"{name}_{source_digest(module)}"
    try:
        dispatcher = njit(**OPTIONS, cache=True)(function)
        fault = fault_of(Path(dispatcher.stats.cache_path), f"{module}.{name}_")
        if not fault:
            return with_signatures(dispatcher, signatures)
    except Exception:
        # No place on this machine to keep compiled code, or what lies there is broken, in
        # which case unpickling may raise anything. An error of our own is raised again here.
        fault = ""
    if fault:
        warnings.warn(
            f"compiled code is not kept: {fault}; set NUMBA_CACHE_DIR to a folder of your own",
            RuntimeWarning,
            stacklevel=3,
        )
    return with_signatures(njit(**OPTIONS)(function), signatures)


def leave_out_wrappers(module: str) -> None:
    """Let the functions of a module, and of those it imports, be called by compiled code alone."""
    for name in sources(module):
        for value in vars(sys.modules.get(f"{__package__}.{name}", object)).values():
            if isinstance(value, Dispatcher):
                value.targetoptions.update(NO_WRAPPERS)


def with_signatures(dispatcher: Any, signatures: Iterable[Any]) -> Callable[..., int]:
    """Compile for these signatures, and let no call add another."""
    for signature in signatures:
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


# -- What a kernel is made of --------------------------------------------------------------------


def source_digest(module: str) -> str:
    """Return the digest of what the kernels of a module are compiled from, and how.

    NumPy counts, whose arrays the kernels read by their place in memory; numba looks after its
    own version and Python's.
    """
    digest = sha256(repr((OPTIONS, np.__version__)).encode())
    for name, text in sorted(sources(module).items()):
        digest.update(name.encode() + b"\0" + text)
    return digest.hexdigest()[:12]


def sources(module: str) -> dict[str, bytes]:
    """Return the sources of a module and of all that it imports from this package, by name."""
    texts: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = FOLDER / f"{name}.py"
        if name not in texts and path.exists():
            texts[name] = path.read_bytes()
            waiting += imported(texts[name].decode())
    return texts


def imported(source: str) -> list[str]:
    """Return what a source imports from this package: names of modules, and perhaps others."""
    found = []
    for module, names in IMPORT.findall(source):
        found += [module] if module else re.findall(r"(\w+)(?: as \w+)?", names)
    return found


# -- Whose folder it is --------------------------------------------------------------------------


def fault_of(folder: Path, prefix: str) -> str:
    """Return why others could have put code into a folder; empty if they could not.

    Args:
        folder: Where compiled code is kept.
        prefix: How the names of a kernel's files begin.
    """
    if pwd is None:
        return ""
    own = folder.resolve()
    # Who owns the sources can change what they do anyway.
    trusted = {0, os.geteuid(), FOLDER.stat().st_uid}
    for path in way_to(folder):
        status = path.lstat()
        if status.st_uid not in trusted:
            return f"{path} belongs to another user"
        # In a folder like /tmp no other user can replace our folder.
        sticky = path != own and status.st_mode & stat.S_ISVTX
        if not stat.S_ISLNK(status.st_mode) and others_write(status) and not sticky:
            return f"other users may write {path}"
    for path in folder.glob(f"{prefix}*"):
        if path.stat().st_uid not in trusted:
            return f"{path} belongs to another user"
    return ""


def way_to(folder: Path) -> list[Path]:
    """Return the folders and links on the way to a folder: who replaces one leads elsewhere."""
    found: dict[Path, None] = {}
    waiting = [folder.absolute()]
    while waiting:
        path = waiting.pop()
        for one in (path, *path.parents):
            if one not in found and one.is_symlink():
                waiting.append(one.parent / one.readlink())
            found[one] = None
    return list(found)


def others_write(status: os.stat_result) -> bool:
    """Return whether users other than the owner may write; a group of the owner's own is none."""
    if status.st_mode & stat.S_IWOTH:
        return True
    if not status.st_mode & stat.S_IWGRP:
        return False
    try:
        group, owner = grp.getgrgid(status.st_gid), pwd.getpwuid(status.st_uid)
    except KeyError:
        return True
    return group.gr_name != owner.pw_name or not set(group.gr_mem) <= {owner.pw_name}


# -- The arrays' memory --------------------------------------------------------------------------


@cache
def check_memory_layout() -> None:
    """Compare what the kernels read of an array's object with what Python says of it.

    Raises:
        RuntimeError: where this NumPy or numba places it otherwise than ``memory`` says.
    """
    from geared_dynamics.kernels import memory  # slow to import

    array = np.zeros(1)
    expected = (id(array.dtype), id(type(array)))
    places = (memory.DTYPE, memory.KIND)
    in_python = tuple(ctypes.c_size_t.from_address(id(array) + place).value for place in places)
    signature = types.UniTuple(types.intp, 2)(types.float64[::1])
    identities: Any = compile_kernel(memory.identities.py_func, [signature])
    if in_python != expected or identities(array) != expected:
        raise RuntimeError(
            f"geared_dynamics.kernels: arrays of NumPy {np.__version__} have another memory "
            "layout than the kernels read; install an older NumPy or numba"
        )
