"""How sphinx-gallery makes the gallery from examples/: their order, what is run, their figures."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

DOCS = Path(__file__).resolve().parent
EXAMPLES, GALLERY = DOCS.parent / "examples", DOCS / "_generated" / "examples"
ORDER = (  # first steps, the source papers, elastic joints, control, contact, recordings
    "quick_tour", "from_a_table", "what_armature_misses", "feedforward_worth",
    "payload_and_locked_joints", "identifiable_parameters",
    "elbow_equations", "virtual_links", "planetary_arm", "rodrigues_table", "driven_arm_volts",
    "elastic_joints", "elastic_observer", "hydraulic_arm",
    "control_laws", "optimal_motion", "energy_optimal_motion", "crocoddyl_voltages",
    "impact_on_gears", "line_on_a_plane",
    "identify_tx40", "torque_of_a_kr300", "stiffness_of_a_kr300",
)  # fmt: skip
NEEDED = re.compile(r"^ *(?:import|from) (casadi|crocoddyl|optimal_motion)\b", re.MULTILINE)


def settings(*, run: bool) -> dict[str, object]:
    """Return the settings of sphinx-gallery; ``run`` also runs the examples."""
    if run:  # thumbnails of a build without figures would stay
        shutil.rmtree(GALLERY, ignore_errors=True)
    names = "|".join(sorted(path.stem for path in EXAMPLES.glob("*.py") if can_run(path)))
    return {
        "examples_dirs": str(EXAMPLES),
        "gallery_dirs": str(GALLERY.relative_to(DOCS)),
        "filename_pattern": rf"/(?:{names})\.py$",
        "within_subsection_order": "site_gallery.place",
        "plot_gallery": run,
        "run_stale_examples": run,
        "abort_on_example_error": run,
        "reset_argv": "site_gallery.arguments",
        "image_scrapers": ("site_gallery.figures",),
        "capture_repr": (),
        "download_all_examples": False,
        "inspect_global_variables": False,
        "notebook_extensions": set(),
        "show_signature": False,
        "write_computation_times": False,
        "min_reported_time": 1e6,
    }


def can_run(example: Path) -> bool:
    """Whether what an example imports beyond the package's own needs is installed."""
    needed = set(NEEDED.findall(example.read_text(encoding="utf-8")))
    return all(find_spec(name.replace("optimal_motion", "casadi")) for name in needed)


def place(name: str) -> int:
    """Return the place of an example in the gallery; a new one without a place comes last."""
    stem = Path(name).stem
    return ORDER.index(stem) if stem in ORDER else len(ORDER)


def arguments(settings: dict[str, Any], example: dict[str, Any]) -> list[str]:
    """Return the arguments of an example: an empty folder for its figures.

    The examples find their robots by ``__file__``, which sphinx-gallery does not set.
    """
    example["example_globals"]["__file__"] = example["src_file"]
    folder = folder_of(example)
    shutil.rmtree(folder, ignore_errors=True)
    return [str(folder.relative_to(EXAMPLES))]  # the example runs beside its source


def folder_of(example: dict[str, Any]) -> Path:
    """Return the folder for the figures of an example."""
    return EXAMPLES / "figures" / Path(example["src_file"]).stem


def figures(block: object, example: dict[str, Any], settings: dict[str, Any]) -> str:
    """Copy the figures that an example has written and return what shows them."""
    shown = ""
    for figure in sorted(folder_of(example).glob("*.[ps][nv]g")):
        name = Path(next(example["image_path_iterator"])).with_suffix(figure.suffix)
        shown += figure_rst([str(shutil.copyfile(figure, name))], settings["src_dir"])
    return shown
