"""The notebooks run from top to bottom and show what their cells end with; without Jupyter."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NEEDS = {"pinocchio": ["pinocchio"], "identification": ["scipy", "matplotlib", "clarabel"]}
LONGEST_RESULT = 300  # characters


def cells(notebook: Path) -> list[str]:
    """Sources of the code cells."""
    found = json.loads(notebook.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; what its last line gives, None if that is no expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ["matplotlib", *NEEDS.get(notebook.stem, [])]:
        pytest.importorskip(package)
    monkeypatch.chdir(FOLDER)
    names: dict[str, Any] = {"__name__": notebook.stem}
    results = [shown(source, names) for source in cells(notebook)]
    assert any(hasattr(result, "_repr_svg_") for result in results), "it shows a picture"
    for result in results:
        assert len(repr(result)) <= LONGEST_RESULT


def test_there_are_four_without_results() -> None:
    """Results of one machine would change with every run on another."""
    assert len(NOTEBOOKS) == 4
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
            assert not cell.get("outputs")
