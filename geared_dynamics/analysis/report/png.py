"""An analysis as a picture: measured and predicted torques, and the residual."""

from __future__ import annotations

from pathlib import Path

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.figures import joint_figures, percents
from geared_dynamics.analysis.extras import extra
from geared_dynamics.analysis.report.curves import DRAWN, envelope
from geared_dynamics.analysis.report.html import COLOURS
from geared_dynamics.files import new_files


def write_png(analysis: Analysis, path: Path) -> None:
    """Draw each joint's torques over time.

    Args:
        analysis: What ``analyze`` gives.
        path: The file.
    """
    figures = extra("matplotlib.figure", "PNG")
    n = analysis.model.n
    figure = figures.Figure(figsize=(11, 1.9 * n + 0.8), layout="constrained")
    axes = figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]
    for j, (ax, joint) in enumerate(zip(axes, joint_figures(analysis), strict=True)):
        for k, name in enumerate(DRAWN):
            if name != "without rotors":
                ax.plot(*envelope(analysis, k, j), color=COLOURS[k], lw=0.8, label=name)
        ax.set_ylabel(f"{joint.joint}\n[{joint.unit}]", fontsize="small")
        ax.grid(alpha=0.3)
        ax.margins(x=0)
        ax.set_title(f"residual {percents(joint.percent[-1])} %", fontsize="small", loc="right")
    axes[0].legend(
        fontsize="small", ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False
    )
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(Path(analysis.recording.path).name)
    with new_files(path) as (draft,):
        figure.savefig(draft, dpi=110, format="png")
