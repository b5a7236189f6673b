"""Object code on disk and in this process, by the digest of what it is made of.

A file is written whole or not at all, and read only if the digest of its name and contents is
right: what a crash, a full disk or another program leaves there is compiled again. Code is taken
only from a folder that no other user can write (``kernels.compilation.fault_of``).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from geared_dynamics.errors import DescriptionError
from geared_dynamics.files import is_stream, new_files, read_file
from geared_dynamics.kernels.compilation import fault_of, source_digest
from geared_dynamics.kernels.native import LOCK, Code, identity, object_code

FORMAT = b"geared_dynamics object code 2\n"
LARGEST = 2**24  # bytes of a file
# Modules of the kernels whose functions are traced or compile, with all that they import.
TRACED = (
    "inverse",
    "mass",
    "elimination",
    "drive",
    "terms",
    "regressor",
    "elastic",
    "flatness",
    "native",
)
_loaded: WeakValueDictionary[str, Code] = WeakValueDictionary()


@cache
def sources() -> bytes:
    """Digest of the kernels and of this room."""
    digest = sha256(repr([source_digest(module) for module in TRACED]).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def key_of(*parts: bytes) -> str:
    """Name of some code: digest of its parts, of the sources, of LLVM and the processor."""
    digest = sha256(FORMAT + sources() + identity().encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def made(key: str, make: Callable[[], str]) -> Code:
    """Code of this name: loaded, on disk, or compiled from the assembly that ``make`` writes."""
    with LOCK:
        code = there(key)
        if code is None:
            data = object_code(make())
            store(key, data)
            code = _loaded[key] = Code(data)
        return code


def there(key: str) -> Code | None:
    """Code of this name if it is loaded or on disk."""
    with LOCK:
        known = _loaded.get(key)
        if known is None:
            data = stored(key)
            if data is not None:
                known = _loaded[key] = Code(data)
        return known


# -- Files ---------------------------------------------------------------------------------------


def folder() -> Path:
    """Where object code is kept: beside numba's cache, or in the user's."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "traced"
    user = os.environ.get("XDG_CACHE_HOME")
    return (Path(user) if user else Path.home() / ".cache") / "geared_dynamics" / "traced"


def stored(key: str) -> bytes | None:
    """Object code that is kept; None where there is none, or none that can be trusted."""
    try:
        home = folder()
        if not home.is_dir() or fault_of(home, key):
            return None
        text = read_file(home / f"{key}.o", "object code", LARGEST, regular=True)
    except (OSError, RuntimeError, DescriptionError):  # unreadable, or no home on this machine
        return None
    head = len(FORMAT) + 32
    data = text[head:]
    return data if text[:head] == head_of(key, data) else None


def head_of(key: str, data: bytes) -> bytes:
    """What a file begins with: its digest counts the name, so that no other code stands for it."""
    return FORMAT + sha256(key.encode() + data).digest()


def store(key: str, data: bytes) -> None:
    """Keep object code; say so where that is not possible."""
    try:
        home = folder()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        fault = fault_of(home, key)
        if not fault:
            path = home / f"{key}.o"
            if path.is_symlink() or is_stream(path):  # it would be written through
                path.unlink()
            with new_files(path) as (draft,):
                draft.write_bytes(head_of(key, data) + data)
    except (OSError, RuntimeError) as error:
        fault = str(error)
    if fault:
        warnings.warn(
            f"compiled code is not kept: {fault}; set NUMBA_CACHE_DIR to a folder of your own",
            RuntimeWarning,
            stacklevel=2,
        )
