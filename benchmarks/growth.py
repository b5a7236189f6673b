"""Time of a call by the number of joints, against Pinocchio, MuJoCo and CasADi; and a figure.

Run: python benchmarks/growth.py [FILE.svg]

Chains and binary trees with a skew rotor for each joint. The others have the armature model, and
are called from Python as they are installed. MuJoCo's inverse dynamics is ``mj_inverse``, CasADi
evaluates the complete model of ``gd.to_casadi``. A missing library is left out by name.
"""

import importlib
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from arms import AXIAL, RATIO, TABLE, drivetrain
from timing import interleaved

import geared_dynamics as gd

SIZES = (6, 12, 20, 50, 100, 200)
LONGEST_GRAPH = 20  # joints up to which derivatives and CasADi's functions are built
STATES = 4096  # of a batch
Sides = dict[str, Callable[[], object]]


def urdf(joints: int, branched: bool) -> str:
    """A chain, or a tree in which every link carries two."""
    parts = ['<robot name="tree"><link name="base"/>']
    for k in range(1, joints + 1):
        a, alpha, d, mass, *_ = TABLE[(k - 1) % len(TABLE)]
        parent = k // 2 if branched else k - 1
        above = "base" if parent == 0 else f"link_{parent}"
        parts.append(
            f'<link name="link_{k}"><inertial><origin xyz="{-0.5 * a} 0.01 -0.02"/>'
            f'<mass value="{mass}"/><inertia ixx="{0.02 * mass}" iyy="{0.03 * mass}" '
            f'izz="{0.025 * mass}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint_{k}" type="continuous"><origin xyz="{a} 0 {d}" '
            f'rpy="{alpha} 0 0"/><axis xyz="0 0 1"/><parent link="{above}"/>'
            f'<child link="link_{k}"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def drives(joints: int, branched: bool) -> dict[str, object]:
    """A rotor for each joint, on the link before it."""
    found: Any = drivetrain(joints)
    for k in range(1, joints + 1):
        parent = k // 2 if branched else k - 1
        found["wheels"][f"rotor_{k}_1"]["carrier"] = f"link_{parent}" if parent else "base"
    return found


def ours(model: gd.GearedModel, q: Any, v: Any, a: Any) -> Sides:
    """Our functions, compiled and not."""
    n = model.n
    tau, matrix = np.empty(n), np.empty((n, n))
    fast = gd.compiled(model, ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
    sides: Sides = {}
    for label, one in (("any model", model), ("compiled", fast)):
        entries = getattr(one, "entries", ("inverse_dynamics", "mass_matrix", "forward_dynamics"))
        calls: Sides = {
            "inverse_dynamics": lambda one=one: gd.inverse_dynamics(one, q, v, a, out=tau),
            "mass_matrix": lambda one=one: gd.mass_matrix(one, q, out=matrix),
            "forward_dynamics": lambda one=one: gd.forward_dynamics(one, q, v, a, out=tau),
        }
        sides |= {f"{name}, {label}": calls[name] for name in calls if name in entries}
    if n <= LONGEST_GRAPH:
        slopes = gd.compiled(model, ["inverse_dynamics_derivatives"])
        kept = gd.inverse_dynamics_derivatives(slopes, q, v, a)
        sides["derivatives, compiled"] = lambda: gd.inverse_dynamics_derivatives(
            slopes, q, v, a, out=kept
        )
    many = gd.compiled(model, ["inverse_dynamics"], batches=True)
    states = [np.random.default_rng(k).normal(size=(STATES, n)) for k in range(3)]
    out = np.empty_like(states[0])
    sides["batch, any model"] = lambda: gd.inverse_dynamics(model, *states, out=out)
    sides["batch, compiled"] = lambda: gd.inverse_dynamics(many, *states, out=out)
    return sides


def pinocchio(text: str, q: Any, v: Any, a: Any) -> Sides:
    """Pinocchio's functions of the arm with armature."""
    pin = importlib.import_module("pinocchio")
    model = pin.buildModelFromXML(text)
    model.armature[:] = RATIO**2 * AXIAL
    data = model.createData()
    place = pin.integrate(model, pin.neutral(model), q)
    return {
        "inverse_dynamics, Pinocchio": lambda: pin.rnea(model, data, place, v, a),
        "mass_matrix, Pinocchio": lambda: pin.crba(model, data, place),
        "forward_dynamics, Pinocchio": lambda: pin.aba(model, data, place, v, a),
        "derivatives, Pinocchio": lambda: pin.computeRNEADerivatives(model, data, place, v, a),
    }


def mujoco(text: str, q: Any, v: Any, a: Any) -> Sides:
    """MuJoCo's functions of the arm with armature, contacts off."""
    library = importlib.import_module("mujoco")
    model = library.MjModel.from_xml_string(text)
    model.dof_armature[:] = RATIO**2 * AXIAL
    model.opt.disableflags |= library.mjtDisableBit.mjDSBL_CONTACT
    data = library.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    return {
        "inverse_dynamics, MuJoCo": lambda: library.mj_inverse(model, data),
        "forward_dynamics, MuJoCo": lambda: library.mj_forward(model, data),
    }


def casadi(model: gd.GearedModel, q: Any, v: Any, a: Any) -> Sides:
    """CasADi's evaluation of our graph."""
    importlib.import_module("casadi")  # a missing one is left out
    function = gd.to_casadi(model, "inverse_dynamics")
    return {"inverse_dynamics, CasADi": lambda: function(q, v, a)}


def times(joints: int, branched: bool) -> dict[str, float]:
    """Median time of each call [s], of batches per state."""
    text = urdf(joints, branched)
    model = gd.load_model(text, drives(joints, branched))
    q, v, a = np.random.default_rng(0).normal(size=(3, joints))
    sides = ours(model, q, v, a)
    for name, peer in {
        "Pinocchio": lambda: pinocchio(text, q, v, a),
        "MuJoCo": lambda: mujoco(text, q, v, a),
        "CasADi": lambda: casadi(model, q, v, a) if joints <= LONGEST_GRAPH else {},
    }.items():
        try:
            sides |= peer()
        except ImportError as error:
            print(f"{name}: left out, {error}")
    calls = {name: call for name, call in sides.items() if not name.startswith("batch")}
    found = interleaved(calls, rounds=30, calls=max(2, 600 // joints))
    batches = {name: call for name, call in sides.items() if name.startswith("batch")}
    for name, value in interleaved(batches, rounds=5, calls=1).items():
        found[name] = value / STATES
    return found


def start_up() -> None:
    """Print how long a fresh Python takes to import each library, and its memory then."""
    program = "import {0}; print(open('/proc/self/statm').read().split()[1])"  # pages
    for name in ("numpy", "geared_dynamics", "pinocchio", "mujoco", "casadi"):
        spent, memory = [], ""
        for _ in range(5):
            start = time.perf_counter()
            command = [sys.executable, "-c", program.format(name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            spent.append(time.perf_counter() - start)
            memory = done.stdout.strip()
        found = f"{sorted(spent)[2]:.2f} s, {int(memory) / 256:.0f} MB" if memory else "missing"
        print(f"start of Python with {name:<16} {found}")


def draw(path: str, found: dict[tuple[str, bool], dict[str, list[tuple[int, float]]]]) -> None:
    """Write the figure: a panel for each function, chains above trees."""
    from matplotlib.figure import Figure

    functions = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "derivatives", "batch")
    figure = Figure(figsize=(18, 7), layout="constrained")
    panels = figure.subplots(2, len(functions), sharex=True)
    for row, branched in enumerate((False, True)):
        for panel, function in zip(panels[row], functions, strict=True):
            for label, points in found.get((function, branched), {}).items():
                panel.loglog(*zip(*points, strict=True), "o-", label=label, markersize=3)
            panel.set_title(f"{function.replace('_', ' ')}, {'tree' if branched else 'chain'}")
            panel.set_xlabel("joints")
            panel.set_ylabel("us")
            panel.legend(fontsize=7)
    figure.savefig(path)


def versions() -> str:
    """What it is measured with."""
    names = ("pinocchio", "mujoco", "casadi", "numpy", "numba")
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.import_module(name).__version__}")
        except ImportError:
            found.append(f"no {name}")
    return f"{llvm.get_host_cpu_name()}, {', '.join(found)}"


def main() -> None:
    """Print all times [us]; write the figure where a file is named."""
    warnings.simplefilter("ignore")  # functions that are too large to compile
    print(versions())
    found: dict[tuple[str, bool], dict[str, list[tuple[int, float]]]] = {}
    for branched in (False, True):
        for joints in SIZES:
            print(f"{'tree' if branched else 'chain'} of {joints} joints [us]")
            for name, value in times(joints, branched).items():
                function, label = name.split(", ")
                print(f"  {name:<32} {value * 1e6:10.3f}")
                lines = found.setdefault((function, branched), {})
                lines.setdefault(label, []).append((joints, value * 1e6))
    start_up()
    if len(sys.argv) > 1:
        draw(sys.argv[1], found)


if __name__ == "__main__":
    main()
