"""Pictures for notebooks: torques, coupling, gear trains, identified parameters (``gd.plot``).

Each function returns a ``Plot``: a notebook shows it, ``save`` writes it to a file. They need
matplotlib, the gear train does not.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geared_dynamics.analysis.coupling_gap import CAUSES, coupling_sums, unabsorbed_share
from geared_dynamics.analysis.crosscheck import random_states
from geared_dynamics.analysis.identification import Identified
from geared_dynamics.apps.gear_graph_drawing import graph_svg
from geared_dynamics.checks import finite_array
from geared_dynamics.dynamics.arguments import finite_input
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.errors import ArrayError, GearedDynamicsError, drawable, extra
from geared_dynamics.files import new_files, write_text
from geared_dynamics.model.model import GearedModel, require_model

__all__ = ["Plot", "coupling", "gear_train", "identification", "torques"]

WIDTH = 8.0  # inches
FORMATS = (".svg", ".png", ".pdf")


class Plot(NamedTuple):
    """A picture.

    Attributes:
        title: What it shows.
        svg: The picture as SVG text.
        figure: The matplotlib figure, for changes and other formats; None of a gear train.
    """

    title: str
    svg: str
    figure: Any = None

    def __repr__(self) -> str:
        """One line."""
        return f"<Plot {self.title!r}>"

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write it as SVG, or a matplotlib figure also as PNG or PDF; return the path.

        Raises:
            GearedDynamicsError: The ending of the name is none of these.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (FORMATS if self.figure is not None else FORMATS[:1]):
            finding = f"cannot be written as {kind or 'a file without an ending'}"
            raise GearedDynamicsError(str(path), finding, "end the name in .svg")
        if kind == ".svg":
            write_text(path, self.svg)
            return path
        with new_files(path) as (draft,):
            self.figure.savefig(draft, format=kind[1:], dpi=150)
        return path


def torques(
    model: GearedModel,
    t: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    measured: ArrayLike | None = None,
) -> Plot:
    """Joint forces of the complete and the armature model along a motion, and measured ones.

    Args:
        model: Geared model.
        t: Times (k,) [s].
        q: Joint position (k, n) [rad or m].
        v: Joint velocity (k, n).
        a: Joint acceleration (k, n).
        measured: Measured joint force (k, n) [N m or N], joint side.
    """
    require_model(model)
    moments = finite_array("t", t, 1)
    count = len(np.atleast_2d(finite_input("q", q, model.n)))
    if count != len(moments):
        finding = f"has shape {moments.shape} for {count} positions"
        raise ArrayError("t", finding, "give a time for each row of q")
    lines = {
        "complete model": inverse_dynamics(model.with_coupling("complete"), q, v, a),
        "armature model": inverse_dynamics(model.with_coupling("diagonal"), q, v, a),
    }
    if measured is not None:
        lines = {"measured": np.asarray(finite_input("measured", measured, model.n)), **lines}

    def draw(axes: Any) -> None:
        for j, (ax, name) in enumerate(zip(axes, model.joint_names, strict=True)):
            for label, tau in lines.items():
                ax.plot(moments, np.asarray(tau)[:, j], lw=1.0, label=label)
            ax.set_ylabel(f"{drawable(name)}\n[{model.force_units[j]}]", fontsize="small")
            ax.grid(alpha=0.3)
        axes[0].legend(fontsize="small", ncols=3, frameon=False, loc="lower left",
                       bbox_to_anchor=(0.0, 1.0))  # fmt: skip
        axes[-1].set_xlabel("time [s]")

    return drawn(f"Joint forces of {model.name}", model.n, draw)


def coupling(model: GearedModel, *, states: int = 2000, seed: int = 0) -> Plot:
    """What the armature model leaves out at each joint, by cause, in percent of the torque.

    Args:
        model: Geared model with rotors of known inertia.
        states: Number of random states within the joint limits.
        seed: Of the states.

    Raises:
        GearedDynamicsError: No rotor inertia is known.
    """
    if require_model(model).knowledge.rotors == "none":
        remedy = "give a drivetrain file; geared-dynamics init writes one to fill in"
        raise GearedDynamicsError("plot.coupling", "no rotor inertia is known", remedy)
    sums = coupling_sums(model, *random_states(model, states, seed))
    shares = sums.shares(unabsorbed_share(model))
    scale = 100.0 / np.where(shares.rms > 0.0, shares.rms, np.inf)
    places, width = np.arange(model.n), 0.8 / len(CAUSES)

    def draw(axes: Any) -> None:
        (ax,) = axes
        for k, cause in enumerate(CAUSES):
            ax.bar(places + (k - 1) * width, shares.parts[k] * scale, width, label=cause)
        ax.set_xticks(
            places, list(map(drawable, model.joint_names)), rotation=30 if model.n > 4 else 0
        )
        ax.set_ylabel("RMS, % of the joint's torque")
        ax.grid(axis="y", alpha=0.3)
        ax.legend(fontsize="small", frameon=False)

    return drawn(f"What the armature model of {model.name} leaves out", 1, draw, 3.4)


def gear_train(model: GearedModel) -> Plot:
    """The gear graph, its canonical graph and the open-loop chain (Chen 1998, section 2)."""
    return Plot(f"Gear train of {model.name}", graph_svg(require_model(model)))


def identification(result: Identified) -> Plot:
    """Measured and predicted torque of each joint on the held-out samples.

    Args:
        result: What ``gd.analysis.identify`` gives.
    """
    model, held = result.model, result.held
    predicted = held.Y[..., list(result.base.selection)] @ result.x
    rows = np.flatnonzero(result.held_used.any(axis=1))
    seconds = 1e-9 * (held.stamp[rows] - held.stamp[rows].min(initial=held.stamp.max()))

    def draw(axes: Any) -> None:
        for j, (ax, name) in enumerate(zip(axes, model.joint_names, strict=True)):
            used = result.held_used[rows, j]
            for label, tau, style in (("measured", held.tau, "."), ("predicted", predicted, "-")):
                ax.plot(seconds, np.where(used, tau[rows, j], np.nan), style, lw=1.0, label=label)
            ax.set_ylabel(f"{drawable(name)}\n[{model.force_units[j]}]", fontsize="small")
            share = 100.0 * result.residual[3, j] / max(result.held_rms[j], 1e-300)
            text = f"residual {share:.2g} %" if np.isfinite(share) else "hardly moves"
            ax.set_title(text, fontsize="small", loc="right")
            ax.grid(alpha=0.3)
        axes[0].legend(fontsize="small", ncols=2, frameon=False, loc="lower left",
                       bbox_to_anchor=(0.0, 1.0))  # fmt: skip
        axes[-1].set_xlabel("time in the held-out part [s]")

    return drawn(f"Held-out torques of {model.name}", model.n, draw)


def drawn(title: str, rows: int, draw: Callable[[Any], None], height: float | None = None) -> Plot:
    """A matplotlib figure of some rows, which is no window's."""
    figures = extra("matplotlib.figure", "gd.plot")
    size = (WIDTH, height if height is not None else 1.5 * rows + 0.8)
    figure = figures.Figure(figsize=size, layout="constrained")
    draw(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    figure.suptitle(drawable(title), fontsize="medium")
    text = StringIO()
    figure.savefig(text, format="svg")
    return Plot(title, text.getvalue(), figure)
