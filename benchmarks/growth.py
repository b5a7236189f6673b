"""Time of a call by the number of joints, against Pinocchio, MuJoCo and CasADi; and a figure.

Run: python benchmarks/growth.py [FILE.svg]

Chains and binary trees with a skew rotor for each joint. The others have the armature model, and
are called from Python as they are installed. MuJoCo's inverse dynamics is ``mj_inverse``, CasADi
evaluates the complete model of ``gd.to_casadi`` through its buffers. A function that is too large
to compile has no time as a compiled one. A missing library is left out by name. Times are those of
the processor, medians of interleaved turns.
"""

import importlib
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from arms import AXIAL, RATIO, TABLE, drivetrain
from timing import interleaved

import geared_dynamics as gd
from geared_dynamics.trace.compiled import LARGEST

SIZES = (6, 12, 20, 50, 100, 200)
LONGEST_GRAPH = 20  # joints up to which our derivatives are traced
STATES = 4096  # of a batch
Sides = dict[str, Callable[[], object]]
Found = dict[tuple[str, bool], dict[str, list[tuple[int, float]]]]  # joints and times [us]


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


def rigid(model: gd.GearedModel, q: Any, v: Any, a: Any) -> Sides:
    """Calls of the functions that every model has, with results that are there already."""
    n = model.n
    tau, matrix = np.empty(n), np.empty((n, n))
    return {
        "inverse_dynamics": lambda: gd.inverse_dynamics(model, q, v, a, out=tau),
        "mass_matrix": lambda: gd.mass_matrix(model, q, out=matrix),
        "forward_dynamics": lambda: gd.forward_dynamics(model, q, v, a, out=tau),
    }


def slopes(model: gd.GearedModel, q: Any, v: Any, a: Any) -> Sides:
    """The call of the derivatives."""
    kept = gd.inverse_dynamics_derivatives(model, q, v, a)
    return {"derivatives": lambda: gd.inverse_dynamics_derivatives(model, q, v, a, out=kept)}


def batch(model: gd.GearedModel) -> Sides:
    """The call of the inverse dynamics for many states."""
    states = [np.random.default_rng(k).normal(size=(STATES, model.n)) for k in range(3)]
    out = np.empty_like(states[0])
    return {"batch": lambda: gd.inverse_dynamics(model, *states, out=out)}


def ours(model: gd.GearedModel, q: Any, v: Any, a: Any) -> Sides:
    """Our functions; compiled where they are not too large for that."""
    wanted = (
        (("inverse_dynamics", "mass_matrix", "forward_dynamics"), False, rigid),
        (("inverse_dynamics_derivatives",), False, slopes),
        (("inverse_dynamics",), True, lambda one, *_: batch(one)),
    )
    sides: Sides = {}
    for names, batches, calls in wanted:
        if calls is slopes and model.n > LONGEST_GRAPH:
            continue
        fast = gd.compiled(model, names, batches=batches)
        entries = getattr(fast, "entries", {})
        made = {"derivatives" if calls is slopes else name for name in entries}
        if batches and made:
            made = {"batch"}
        sides |= {f"{name}, any model": call for name, call in calls(model, q, v, a).items()}
        quick = calls(fast, q, v, a).items()
        sides |= {f"{name}, compiled": call for name, call in quick if name in made}
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
    """CasADi's evaluation of our graph, into memory that is there already."""
    importlib.import_module("casadi")  # a missing one is left out
    function = gd.to_casadi(model, "inverse_dynamics")
    buffer, evaluate = function.buffer()
    arrays = [q.copy(), v.copy(), a.copy(), np.empty(model.n)]
    for k in range(3):
        buffer.set_arg(k, memoryview(arrays[k]))
    buffer.set_res(0, memoryview(arrays[3]))

    def call(kept: object = (function, buffer, arrays)) -> object:
        return evaluate()

    return {"inverse_dynamics, CasADi": call}


def times(joints: int, branched: bool) -> dict[str, float]:
    """Median time of each call [s], of batches per state."""
    text = urdf(joints, branched)
    model = gd.load_model(text, drives(joints, branched))
    q, v, a = np.random.default_rng(0).normal(size=(3, joints))
    sides = ours(model, q, v, a)
    for name, peer in {
        "Pinocchio": lambda: pinocchio(text, q, v, a),
        "MuJoCo": lambda: mujoco(text, q, v, a),
        "CasADi": lambda: casadi(model, q, v, a),
    }.items():
        try:
            sides |= peer()
        except ImportError as error:
            print(f"{name}: left out, {error}")
    calls = {name: call for name, call in sides.items() if not name.startswith("batch")}
    clock = time.process_time
    found = interleaved(calls, rounds=30, calls=max(10, 1200 // joints), clock=clock)
    batches = {name: call for name, call in sides.items() if name.startswith("batch")}
    for name, value in interleaved(batches, rounds=9, calls=1, clock=clock).items():
        found[name] = value / STATES
    return found


def start_up() -> None:
    """Print how long a fresh Python takes to import each library, and its memory then."""
    ending = "; print(open('/proc/self/statm').read().split()[1])"  # pages
    ours_too = "from geared_dynamics import inverse_dynamics, load_model"  # loaded when asked for
    for name in ("numpy", "geared_dynamics", "pinocchio", "mujoco", "casadi"):
        spent, memory = [], ""
        for _ in range(5):
            start = time.perf_counter()
            program = ours_too if name == "geared_dynamics" else f"import {name}"
            command = [sys.executable, "-c", program + ending]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            spent.append(time.perf_counter() - start)
            memory = done.stdout.strip()
        found = f"{sorted(spent)[2]:.2f} s, {int(memory) / 256:.0f} MB" if memory else "missing"
        print(f"start of Python with {name:<16} {found}")


PANELS = {  # functions and how the figure names them
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "derivatives": "inverse dynamics' derivatives",
    "batch": f"inverse dynamics, per state of {STATES}",
}
STYLES = {  # colour and line of each side
    "any model": ("#1f5fa8", "--"),
    "compiled": ("#1f5fa8", "-"),
    "Pinocchio": ("#c8501e", "-"),
    "MuJoCo": ("#3c8a4a", "-"),
    "CasADi": ("#7d5aa6", "-"),
}
NAMES = {
    "any model": "geared_dynamics, any model",
    "compiled": "geared_dynamics, compiled",
    "CasADi": "CasADi (geared_dynamics' graph)",
}


def notes() -> str:
    """What the figure is measured with, and where its lines end."""
    return (
        "Calls from Python, one core: median processor time of interleaved turns. geared_dynamics "
        "and CasADi have a skew rotor at each joint, Pinocchio and MuJoCo the armature model.\n"
        f"Compiled lines end where the function has more than {LARGEST:,} operations; "
        f"geared_dynamics' derivatives are measured up to {LONGEST_GRAPH} joints.\n"
        f"{versions()}"
    )


def draw(path: str, found: Found) -> None:
    """Write the figure: a panel for each function, chains above trees."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    fonts = ["DejaVu Sans", "Arial", "sans-serif"]
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "growth"}
    matplotlib.rcParams["font.sans-serif"] = fonts
    figure = Figure(figsize=(15, 7.4), layout="constrained")
    panels = figure.subplots(2, len(PANELS), sharex=True, sharey="col", squeeze=False)
    shown = {}
    for row, branched in zip(panels, (False, True), strict=True):
        for panel, (function, title) in zip(row, PANELS.items(), strict=True):
            for label, points in found.get((function, branched), {}).items():
                colour, line = STYLES[label]
                (shown[label],) = panel.loglog(
                    *zip(*points, strict=True), line, color=colour, marker="o", markersize=3.5
                )
            panel.set_title(f"{title}\n{'binary tree' if branched else 'chain'}", fontsize=9)
            panel.xaxis.set_major_locator(FixedLocator(SIZES))
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.yaxis.set_minor_locator(NullLocator())
            panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            panel.tick_params(labelbottom=True)
            panel.grid(alpha=0.3)
        row[0].set_ylabel("time of a call [µs]")
    for panel in panels[1]:
        panel.set_xlabel("joints")
    labels = [label for label in STYLES if label in shown]
    names = [NAMES.get(label, label) for label in labels]
    figure.legend(
        [shown[label] for label in labels], names, loc="outside upper center", ncols=len(labels)
    )
    figure.supxlabel(notes(), fontsize=8, x=0.01, ha="left")
    figure.savefig(path, metadata={"Date": None})


def versions() -> str:
    """What it is measured with."""
    names = ("pinocchio", "mujoco", "casadi", "numpy", "numba")
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.import_module(name).__version__}")
        except ImportError:
            found.append(f"no {name}")
    machine = f"{processor()} ({llvm.get_host_cpu_name()}), {platform.system()}"
    return f"{machine}, Python {platform.python_version()}, {', '.join(found)}"


def processor() -> str:
    """Name of the processor; that of its architecture where the system does not tell it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    """Print all times [us]; write the figure where a file is named."""
    warnings.simplefilter("ignore")  # functions that are too large to compile
    print(versions())
    found: Found = {}
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
