"""Compiled models against Pinocchio, called from Python: measured beside asked.

Peers are called as they are installed, with the armature model: they have no exact rotors. One
interleaved run, medians, one core.
"""

import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pinocchio as pin
from arms import armature, drivetrain, ours
from timing import interleaved, turn, verdict

import geared_dynamics as gd
from geared_dynamics import inverse_dynamics
from geared_dynamics.trace import cache
from geared_dynamics.trace.c_code import export_c
from geared_dynamics.trace.functions import FUNCTIONS

DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
STATES = 100_000
LOOP = """#include "arm.h"
#include <stdio.h>
#include <time.h>
int main(void)
{{
    double x[18], out[6], sum = 0.0;
    struct timespec start, end;
    int k;
    for (k = 0; k < 18; k++) x[k] = 0.1 * k;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (k = 0; k < {calls}; k++) {{
        arm_inverse_dynamics(x, x + 6, x + 12, out);
        x[0] += 1e-9 * out[5];
        sum += out[0];
    }}
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.17g %g", ((double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec
        - start.tv_nsec)) / {calls}, sum);
    return 0;
}}
"""


def generic(joints: int = 6) -> gd.GearedModel:
    """Six skew axes, bodies with full tensors."""
    random = np.random.default_rng(1)
    parts = ['<robot name="arm"><link name="base"/>']
    for k in range(1, joints + 1):
        square = random.normal(size=(3, 3))
        tensor = 0.02 * square @ square.T + 0.05 * np.eye(3)
        moments = " ".join(
            f'i{a}{b}="{tensor[i, j]:.17g}"'
            for i, a in enumerate("xyz")
            for j, b in enumerate("xyz")
            if i <= j
        )
        com, place, turn_, axis = random.normal(size=(4, 3)) * [[0.1], [0.3], [1.0], [1.0]]
        words = [" ".join(f"{x:.17g}" for x in vector) for vector in (com, place, turn_, axis)]
        parent = "base" if k == 1 else f"link_{k - 1}"
        parts.append(
            f'<link name="link_{k}"><inertial><origin xyz="{words[0]}"/>'
            f'<mass value="{2 + 5 * random.random()}"/><inertia {moments}/></inertial></link>'
            f'<joint name="joint_{k}" type="continuous"><origin xyz="{words[1]}" '
            f'rpy="{words[2]}"/><axis xyz="{words[3]}"/><parent link="{parent}"/>'
            f'<child link="link_{k}"/></joint>'
        )
    return gd.load_model("".join([*parts, "</robot>"]), drivetrain(joints))


def calls(model: gd.GearedModel, label: str) -> dict[str, Callable[[], object]]:
    """Calls of a compiled model, with results that are there already."""
    fast = gd.compiled(model, [n for n in FUNCTIONS if n != "motor_commands"])
    q, v, a = np.random.default_rng(0).normal(size=(3, model.n))
    tau, matrix = np.empty(model.n), np.empty((model.n, model.n))
    inverse = gd.inverse_dynamics_derivatives(fast, q, v, a)
    forward = gd.forward_dynamics_derivatives(fast, q, v, a)
    return {
        f"ID {label}": lambda: gd.inverse_dynamics(fast, q, v, a, out=tau),
        f"M {label}": lambda: gd.mass_matrix(fast, q, out=matrix),
        f"FD {label}": lambda: gd.forward_dynamics(fast, q, v, a, out=tau),
        f"dID {label}": lambda: gd.inverse_dynamics_derivatives(fast, q, v, a, out=inverse),
        f"dFD {label}": lambda: gd.forward_dynamics_derivatives(fast, q, v, a, out=forward),
    }


def peers() -> dict[str, Callable[[], object]]:
    """Pinocchio's functions of the arm with armature."""
    usual = armature()
    data = usual.createData()
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    return {
        "rnea": lambda: pin.rnea(usual, data, q, v, a),
        "crba": lambda: pin.crba(usual, data, q),
        "aba": lambda: pin.aba(usual, data, q, v, a),
        "computeRNEADerivatives": lambda: pin.computeRNEADerivatives(usual, data, q, v, a),
        "computeABADerivatives": lambda: pin.computeABADerivatives(usual, data, q, v, a),
    }


ASKED = (
    ("ID", "rnea", 0.13, 0.19),
    ("M", "crba", 0.30, 0.35),
    ("FD", "aba", 0.16, 0.22),
    ("dID", "computeRNEADerivatives", 0.20, 0.33),
    ("dFD", "computeABADerivatives", 0.25, 0.40),
)


def imported(model: gd.GearedModel, state: tuple[np.ndarray, ...]) -> Callable[[], object]:
    """The call of a function that is not looked up in the package each time."""
    fast, tau = gd.compiled(model, ["inverse_dynamics"]), np.empty(model.n)
    q, v, a = state
    return lambda: inverse_dynamics(fast, q, v, a, out=tau)


def single_states(model: gd.GearedModel) -> float:
    """Print ratios of single calls; return the time of Pinocchio's rnea [s]."""
    plain, tau = model, np.empty(6)
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    sides = peers() | calls(model, "six skew rotors") | calls(generic(), "generic")
    sides |= {
        "plain": lambda: gd.inverse_dynamics(plain, q, v, a, out=tau),
        "wheels": calls(ours(6, 8), "")["ID "],
        "imported": imported(model, (q, v, a)),
    }
    times = interleaved(sides, rounds=100, calls=200)
    for short, peer, *limits in ASKED:
        for label, limit in zip(("six skew rotors", "generic"), limits, strict=True):
            ratio = times[f"{short} {label}"] / times[peer]
            print(verdict(f"{short}, {label}, compiled / pin.{peer}", ratio, limit))
    rigid = times["ID six skew rotors"]
    print(verdict("ID, any model, not compiled / pin.rnea", times["plain"] / times["rnea"], 0.38))
    print(verdict("ID, eight wheels per joint / one", times["wheels"] / rigid, 1.02))
    label = "ID, six skew rotors, compiled, imported by name / pin.rnea"
    print(verdict(label, times["imported"] / times["rnea"], 0.13))
    print(f"pin.rnea {times['rnea'] * 1e9:.0f} ns, ID compiled {rigid * 1e9:.0f} ns")
    return times["rnea"]


def batch(model: gd.GearedModel, rnea: float) -> None:
    """Print the time per state of a batch."""
    fast = gd.compiled(model, ["inverse_dynamics"], batches=True)
    q, v, a = np.random.default_rng(1).normal(size=(3, STATES, 6))
    out = np.empty_like(q)
    usual = armature()
    data = usual.createData()
    double = gd.compiled(model, ["inverse_dynamics"], batches=True, threads=2)
    sides: dict[str, Callable[[], object]] = {
        "batch": lambda: gd.inverse_dynamics(fast, q, v, a, out=out),
        "two threads": lambda: gd.inverse_dynamics(double, q, v, a, out=out),
        "loop": lambda: [pin.rnea(usual, data, *x) for x in zip(q, v, a, strict=True)],
    }
    times = {name: min(turn(call, 1) for _ in range(9)) / STATES for name, call in sides.items()}
    ratio = times["batch"] / times["loop"]
    print(verdict(f"batch of {STATES}, per state / Python loop over rnea", ratio, 0.02))
    gain = times["batch"] / times["two threads"]
    print(f"two threads: {gain:.2f} x one (asked >= 1.7, on two free cores)")
    print(f"batch {times['batch'] * 1e9:.1f} ns a state, rnea alone {rnea * 1e9:.0f} ns")


def exported(model: gd.GearedModel, rnea: float) -> None:
    """Print the time of the exported inverse dynamics, compiled by gcc."""
    if not shutil.which("gcc"):
        print("C export: gcc is not installed, skipped")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export_c(model, folder, ["inverse_dynamics"])
        (folder / "loop.c").write_text(LOOP.format(calls=300_000))
        command = ["gcc", "-O2", "-o", str(folder / "loop"), str(folder / "loop.c")]
        command += [str(folder / "arm.c"), "-lm"]
        subprocess.run(command, check=True)
        runs = [
            subprocess.run([folder / "loop"], capture_output=True, text=True) for _ in range(5)
        ]
        times = sorted(float(done.stdout.split()[0]) for done in runs)
    print(verdict("C, gcc -O2, ID / pin.rnea from Python", times[2] / rnea, 0.12))


def compilation(model: gd.GearedModel) -> None:
    """Print how long compiling and loading take."""
    arms = {"usual": None, "ID": ["inverse_dynamics"], "all": list(FUNCTIONS)[:5]}
    with tempfile.TemporaryDirectory() as name:
        cache.folder = lambda: Path(name)
        gd.compiled(ours(1))  # the doors, the compiler itself

        def seconds(functions: list[str] | None, **options: bool) -> float:
            start = time.perf_counter()
            gd.compiled(model, functions, **options)
            return time.perf_counter() - start

        cache._loaded.clear()
        print(verdict("compile ID [80 ms]", seconds(arms["ID"]) / 0.08, 1.0))
        cache._loaded.clear()
        print(verdict("load ID from disk [5 ms]", seconds(arms["ID"]) / 0.005, 1.0))
        print(verdict("gd.compiled(model) [0.6 s]", seconds(None) / 0.6, 1.0))
        everything = [*arms["all"], *DERIVATIVES]
        ratio = seconds(everything, batches=True) / 4.0
        print(verdict("with derivatives and batches [4 s]", ratio, 1.0))


def main() -> None:
    """Print all figures, and what they were measured with."""
    warnings.simplefilter("ignore")
    print(
        f"pinocchio {pin.__version__}, LLVM {llvm.llvm_version_info}, {llvm.get_host_cpu_name()}"
    )
    model = ours()
    rnea = single_states(model)
    batch(model, rnea)
    exported(model, rnea)
    compilation(model)


if __name__ == "__main__":
    main()
