"""The mutator: what it changes, what it leaves alone, which tests it runs, what it says."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from geared_dynamics import kernels

ROOT = Path(__file__).resolve().parents[2]

SOURCE = '''"""Not 1 < 2."""

from typing import cast

LIMIT: "float | None" = 2.0


def law(x: int = 3, *, on: bool = True) -> "float | None":
    """Neither 4 + 4."""
    if x > LIMIT and on:
        raise ValueError(f"{x + 5} is {6 * x}", 7)
    y = cast("6 + 6", x)
    y += 8
    log.warning("9 < 10")
    names["key"] = mix(y, -x)
    return names["key"] @ x
'''
CHANGED = {
    'LIMIT: "float | None" = 4.0',
    'def law(x: int = 4, *, on: bool = True) -> "float | None":',
    'def law(x: int = 2, *, on: bool = True) -> "float | None":',
    'def law(x: int = 3, *, on: bool = False) -> "float | None":',
    "if (x >= LIMIT) and on:",
    "if (x < LIMIT) and on:",
    "if (x > LIMIT or on):",
    "if on:",
    "if (x > LIMIT):",
    "y += 9",
    "y += 7",
    "y -= 8",
    "pass",
    "names['key_'] = mix(y, -x)",
    "names['key'] = mix(y, x)",
    "names['key'] = mix(-x, y)",
    "return names['key_'] @ x",
    "return (x @ names['key'])",
    "return",
}


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the tool, whose folder is no package."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "mutants"))
    names = ("mutations", "choice", "lines")
    found = {name: importlib.import_module(name) for name in names}
    yield SimpleNamespace(**found)
    for name in names:
        del sys.modules[name]


def test_texts_annotations_and_errors_are_left_alone(tool: Any) -> None:
    found = tool.mutations.mutants("law.py", SOURCE)
    changed = set()
    for mutant in found:
        lines = [line for line in mutant.difference(SOURCE).splitlines() if line[0] == "+"]
        changed |= {
            line[1:].strip().replace(chr(34) + "key", "'key").replace("key" + chr(34), "key'")
            for line in lines
        }
        ast.parse(mutant.applied(SOURCE))
    assert changed == CHANGED
    assert Counter(mutant.operator for mutant in found)["statement"] == 3
    spans = {(mutant.line, mutant.last) for mutant in found}
    assert spans == {(5, 5), (8, 8), (10, 10), (11, 11), (13, 13), (15, 15), (16, 16)}


def test_arguments_whose_order_does_not_matter_keep_it(tool: Any) -> None:
    text = "a = max(x, y)\nb = np.minimum(x, y)\nc = atan2(x, y)\n"
    found = [m.after for m in tool.mutations.mutants("law.py", text) if m.operator == "arguments"]
    assert found == ["atan2(y, x)"]


def test_a_strict_zip_stays_strict(tool: Any) -> None:
    found = tool.mutations.mutants("law.py", "a = zip(x, y[1], strict=True)\n")
    assert {m.after for m in found} == {"zip(y[1], x, strict=True)", "2"}


def test_the_same_seed_gives_the_same_mutants_in_the_stated_numbers(tool: Any) -> None:
    choice = tool.choice
    sizes = {"control": 900, "safety": 500, "model": 3000, "nodes": 1000}
    assert choice.numbers(sizes, 300) == {"control": 70, "safety": 70, "model": 120, "nodes": 40}
    assert choice.numbers({"safety": 500}, 7) == {"safety": 7}
    first, again, other = (choice.sample(ROOT, ["trajectory"], 20, s) for s in ("a", "a", "b"))
    assert first == again != other
    assert {mutant.path.split("/")[1] for mutant in first} == {"trajectory"}
    assert len({mutant.operator for mutant in first}) >= 6
    assert len({(mutant.path, mutant.start, mutant.end) for mutant in first}) == 20


TESTS = {
    "control/safety/step.py": ("unit/control/test_safety.py", "property/test_control_safety.py"),
    "kernels/drive.py": ("unit/kernels/test_bounds.py", "golden/test_msl_drives.py"),
    "kernels/observer_linear.py": ("property/test_observers.py",),
    "load.py": ("unit/test_errors.py", "property/test_gear_graphs.py"),
    "description/xml_input.py": ("unit/description/test_xml_input.py",),
    "runtime/feedforward_loop.py": ("unit/runtime/test_loop.py",),
    "scene/solids.py": ("unit/scene/test_shapes.py", "unit/apps/cli/test_view.py"),
}


@pytest.mark.parametrize("source", TESTS)
def test_a_source_has_the_tests_of_the_table(tool: Any, source: str) -> None:
    found = tool.choice.test_files(ROOT, f"geared_dynamics/{source}")
    assert {Path("test") / name for name in TESTS[source]} <= set(found)
    assert all((ROOT / test).is_file() for test in found)
    assert not any(test.parts[1] in ("ros", "repository", "smoke") for test in found)


def test_who_calls_a_kernel_is_found_by_what_it_imports(tool: Any) -> None:
    reached = tool.choice.reached(ROOT, "drive")
    assert {"drive", "inverse", "vector"} <= reached
    assert "regressor" not in reached
    files = {
        file
        for file, _ in tool.choice.kernel_lines(ROOT, "geared_dynamics/kernels/control_cycle.py")
    }
    assert "control/safety/step.py" in files
    assert "dynamics/rigid.py" not in files


def test_every_kernel_is_called_somewhere(tool: Any) -> None:
    """By ``kernels.NAME`` or by its name: a source without callers would meet no test."""
    sources = {source for source, _, _ in kernels.KERNELS.values()}
    for source in sources | {"vector", "memory", "border", "observer_linear"}:
        path = f"geared_dynamics/kernels/{source}.py"
        assert tool.choice.kernel_lines(ROOT, path), source
        assert len(tool.choice.test_files(ROOT, path)) > 4, source


def test_what_is_said_to_be_equivalent_can_be_made(tool: Any) -> None:
    """A line that was rewritten leaves no excuse behind."""
    listed = yaml.safe_load((ROOT / "tools/mutants/equivalent.yaml").read_text("utf-8"))
    for path in sorted({item["path"] for item in listed}):
        text = (ROOT / path).read_text("utf-8")
        made = [m.difference(text).splitlines() for m in tool.mutations.mutants(path, text)]
        known = {
            tuple(" ".join(x[1:].strip() for x in lines if x[0] == s) for s in "-+")
            for lines in made
        }
        said = {(item["before"], item["after"]) for item in listed if item["path"] == path}
        assert said <= known, said - known


@pytest.mark.validate
def test_small_project(tmp_path: Path) -> None:
    """Killed by the test that executes the line, survived, not reached, endless, equivalent."""
    files = {
        "geared_dynamics/__init__.py": "",
        "geared_dynamics/room/__init__.py": "",
        "geared_dynamics/room/thing.py": (
            "def larger(x, y):\n    return x if x > y else y\n\n\n"
            "def twice(x):\n    return 2 * x\n\n\n"
            "def never(x):\n    return -x\n\n\n"
            "def down(x):\n    while x > 0:\n        x -= 4\n    return x\n\n\n"
            "def most(x):\n    return min(x, 9)\n"
        ),
        "geared_dynamics/kernels/__init__.py": "",
        "test/unit/room/test_thing.py": (
            "from geared_dynamics.room.thing import down, larger, most, twice\n\n\n"
            "def test_larger():\n    assert (larger(1, 2), larger(3, 2)) == (2, 3)\n\n\n"
            "def test_twice():\n    assert twice(2) == 4\n\n\n"
            "def test_down():\n    assert down(4) == 0\n\n\n"
            "def test_most():\n    assert most(3) == 3\n"
        ),
        "test/unit/room/test_tool.py": (
            "from pathlib import Path\n\n"
            "assert (Path(__file__).parents[3] / 'tools' / 'mutants').is_dir()\n"
        ),
        "test/unit/room/test_unreadable.py": "import no_such_package\n",
        "CONTRIBUTING.md": "### Which tests belong to a file\n\n## End\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n",
    }
    tool = tmp_path / "tools" / "mutants"
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tool.mkdir(parents=True)
    for path in (ROOT / "tools" / "mutants").glob("*.py"):
        text = path.read_text("utf-8").replace("LIMIT = 60.0", "LIMIT = 6.0")
        (tool / path.name).write_text(text.replace("RUNS = 3", "RUNS = 1"))
    (tool / "equivalent.yaml").write_text(
        "- {path: geared_dynamics/room/thing.py, before: return x if x > y else y,"
        " after: return x if (x >= y) else y, why: the same number}\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    places = [f"geared_dynamics/room/thing.py:{line}" for line in (2, 10, 15, 20)]
    command = [sys.executable, str(tool), "--only", *places]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    blocks = done.stdout.split("\n")
    said = {" ".join(line.split()[1:2] + line.split()[4:]) for line in blocks if " s  " in line}
    place = "geared_dynamics/room/thing.py"
    assert "test_unreadable.py is left out" in done.stdout
    assert "test_tool.py is left out" not in done.stdout
    assert f"equivalent {place}:2 (comparison)" in said
    assert f"killed {place}:2 (comparison)" in said
    assert f"unreached {place}:10 (arithmetic)" in said
    assert f"timeout {place}:15 (arithmetic)" in said  # x += 4
    assert f"survived {place}:20 (constant)" in said
    assert f"killed {place}:20 (return)" in said
    assert (tmp_path / place).read_text() == files[place]
