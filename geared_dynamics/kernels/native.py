"""Machine code in this process: LLVM by llvmlite, which numba brings."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

OLDEST = (15, 0, 0)  # LLVM whose assembly has pointers without a type
LOCK = threading.RLock()  # LLVM's global state is not for several threads at once


@cache
def machine(effort: int = 2) -> Any:
    """Return the target: this processor; ``effort`` is that of LLVM's code generator, 0 to 3."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features(),
        opt=effort,
        jit=True,
        codemodel="jitdefault",
    )


@cache
def features() -> str:
    """Return what this processor has, as LLVM writes it."""
    return str(llvm.get_host_cpu_features().flatten())


@cache
def fused() -> bool:
    """Whether this processor multiplies and adds in one instruction."""
    on_arm = llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return on_arm or "+fma" in features().split(",")


def version() -> tuple[int, ...]:
    """Return LLVM's version."""
    return tuple(llvm.llvm_version_info)


@cache
def identity() -> str:
    """Return what else object code depends on."""
    return repr(
        (
            llvmlite.__version__,
            version(),
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            features(),
        )
    )


def object_code(assembly: str, effort: int = 2) -> bytes:
    """Compile assembly to an object file.

    The assembly is straight and has no common parts, so that there is nothing for LLVM's
    optimiser to do: registers and instructions alone are left.
    """
    with LOCK:
        target = machine(effort)
        module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{assembly}')
        module.verify()
        return bytes(target.emit_object(module))


class Code:
    """Loaded object code; its functions live as long as it does."""

    def __init__(self, data: bytes) -> None:
        """Load an object file into this process."""
        self.size = len(data)
        with LOCK:
            module = llvm.parse_assembly(f'target triple = "{machine().triple}"\n')
            # The engine owns its target: one of its own.
            target = llvm.Target.from_default_triple()
            own = target.create_target_machine(opt=2, jit=True, codemodel="jitdefault")
            self._engine = llvm.create_mcjit_compiler(module, own)
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function of it lies."""
        place = int(self._engine.get_function_address(name))
        if not place:
            raise RuntimeError(f"compiled code has no function {name}")
        return place
