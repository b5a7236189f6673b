"""C of the example robots: it compiles without a warning, and agrees with the kernels."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import geared_dynamics as gd
from elastic_arms import elbow as elastic_elbow
from geared_dynamics.apps.cli.main import main
from geared_dynamics.arrays import readonly
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from geared_dynamics.trace.c_code import export_c
from geared_dynamics.trace.c_text import literal, parameters_of
from geared_dynamics.trace.joined_functions import ALL, forms_for
from geared_dynamics.trace.structure import ABOVE, BELOW
from long_cases import cases
from traced_arms import any_arm

URDF = Path(__file__).parents[3] / "urdf"
STRICT = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wdouble-promotion -Werror -O1".split()
CORTEX = (
    "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16 -std=c99 -Wdouble-promotion -Werror -O2"
).split()
ROBOTS = sorted(path.name.split(".")[0] for path in URDF.glob("*.drivetrain.yaml"))
needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


def load(name: str) -> gd.GearedModel:
    return gd.load_model(URDF / f"{name}.urdf", URDF / f"{name}.drivetrain.yaml")


def names_for(model: gd.GearedModel) -> list[str]:
    """All functions that a model has."""
    of_motors = [] if model.motor_names else [name for name in ALL if name.startswith("motor")]
    without = ["elastic."] if model.elasticity.count == 0 else []
    without += ["elastic.feedforward"] if model.elasticity.damping.any() else []
    return [name for name in ALL if name not in of_motors and not name.startswith((*without,))]


def built(files: tuple[Path, ...], *more: str) -> subprocess.CompletedProcess[str]:
    """Compile the sources and run their test."""
    program = files[0].with_suffix("")
    sources = [str(path) for path in files if path.suffix == ".c"]
    command = ["gcc", *STRICT, *more, *sources, "-lm", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return subprocess.run([str(program)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("number", "double", "single"),
    [
        (math.nan, "(double)NAN", "NAN"),
        (math.inf, "(double)INFINITY", "INFINITY"),
        (-math.inf, "-(double)INFINITY", "-INFINITY"),
        (0.75, "0x1.8000000000000p-1", "0.75F"),
        (-1e-8, "-0x1.5798ee2308c3ap-27", "-9.99999993922529e-09F"),
    ],
)
def test_numbers_as_c_reads_them(number: float, double: str, single: str) -> None:
    """NAN and INFINITY are floats in C; strict compilers warn where one becomes a double."""
    assert literal(number, "double") == double
    assert literal(number, "float") == single


@needs_compiler
@pytest.mark.parametrize(("name", "precision"), [("elbow", "double"), ("brisk6", "float")])
def test_code_agrees_with_the_kernels(name: str, precision: str, tmp_path: Path) -> None:
    check(name, precision, tmp_path)


@needs_compiler
@pytest.mark.validate
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", ROBOTS)
def test_code_of_all_robots_agrees(name: str, precision: str, tmp_path: Path) -> None:
    check(name, precision, tmp_path)


def check(name: str, precision: str, folder: Path) -> None:
    """Export, compile and run; the errors are those that the precision has."""
    model = load(name)
    files = export_c(model, folder, names_for(model), precision=precision)
    done = built(files)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == "all right"
    largest = max(float(line.split(": ")[1]) for line in lines[:-1])
    assert largest <= (1e-13 if precision == "double" else 1e-4)
    assert {line.split(": ")[0] for line in lines[:-1]} == set(names_for(model))


@needs_compiler
@pytest.mark.parametrize("precision", cases(["double"], ["float"]))
def test_elastic_arms_in_c(precision: str, tmp_path: Path) -> None:
    model = elastic_elbow()
    files = export_c(model, tmp_path, names_for(model), precision=precision)
    done = built(files)
    assert done.stdout.splitlines()[-1] == "all right", done.stdout
    found = {line.split(": ")[0] for line in done.stdout.splitlines()[:-1]}
    assert found == set(names_for(model))
    assert "theta 2: " in files[0].read_text()


# -- parameters in a struct -----------------------------------------------------------------------


def in_struct(model: gd.GearedModel) -> list[str]:
    """Functions whose parameters can be a struct."""
    return [name for name in names_for(model) if "feedforward" not in name]


@needs_compiler
@pytest.mark.parametrize(("name", "precision"), [("elbow", "float"), ("springs", "double")])
def test_parameters_in_a_struct_give_the_same(name: str, precision: str, tmp_path: Path) -> None:
    check_struct(name, precision, tmp_path)


@needs_compiler
@pytest.mark.validate  # a compiler takes ten seconds for the largest
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", ["brisk6", "elbow", "springs", "odd"])
def test_parameters_of_all_in_a_struct(name: str, precision: str, tmp_path: Path) -> None:
    check_struct(name, precision, tmp_path)


def check_struct(name: str, precision: str, tmp_path: Path) -> None:
    """Export with a struct, compile and run; the errors are those that the precision has."""
    model = {"springs": elastic_elbow, "odd": lambda: any_arm(3)}.get(name, lambda: load(name))()
    files = export_c(model, tmp_path, in_struct(model), precision=precision, parameters="struct")
    done = built(files)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == "all right"
    largest = max(float(line.split(": ")[1]) for line in lines[:-1])
    assert largest <= (1e-12 if precision == "double" else 1e-4)


@needs_compiler
def test_a_struct_of_other_numbers_is_the_other_arm(tmp_path: Path) -> None:
    """The source of an arm, with the numbers of that arm under a load, friction and gravity."""
    model = load("elbow")
    loaded = model.with_payload(2.5, (0.1, 0.02, 0.3), [[0.03, 0, 0], [0, 0.05, 0], [0, 0, 0.04]])
    other = dataclasses.replace(loaded, gravity=readonly([0.5, -1.0, -9.0]))
    names = ["inverse_dynamics", "forward_dynamics", "motor_commands", "regressor"]
    bare = export_c(model, tmp_path / "bare", names, parameters="struct")
    full = export_c(other, tmp_path / "full", names, parameters="struct")

    def split(path: Path) -> tuple[str, str]:
        head, numbers, code = re.split(
            r"(const elbow_parameters elbow_default = .*?};\n)", path.read_text(), flags=re.DOTALL
        )
        return head + code, numbers

    source, numbers = split(bare[1])
    other_source, other_numbers = split(full[1])
    assert numbers != other_numbers
    assert built(bare).returncode == 0
    full[1].write_text(source + other_numbers)
    assert built(full).returncode == 0
    full[1].write_text(source + numbers)
    assert built(full).returncode == 1
    assert other_source == source
    assert "elbow_parameters *parameters" in bare[0].read_text()


@pytest.mark.parametrize("name", ["elbow", "brisk6"])
def test_code_for_a_struct_counts_on_the_signs_that_the_arm_has(name: str) -> None:
    model, seen = load(name), []
    forms = forms_for("motor_commands", model)
    kinds = parameters_of(model, "motor_commands", forms, {}).structure.kinds
    for form, said in zip(forms.values(), kinds, strict=True):
        assert (form.numbers[said == ABOVE] > 0.0).all()
        assert (form.numbers[said == BELOW] < 0.0).all()
        seen += said.tolist()
    assert ABOVE in seen


def test_what_a_struct_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArrayError, match=r"elastic\.feedforward: works with numbers.*constants"):
        export_c(elastic_elbow(), tmp_path, ["elastic.feedforward"], parameters="struct")
    with pytest.raises(UnknownNameError, match="kind of parameters"):
        export_c(load("elbow"), tmp_path, parameters="table")


@needs_compiler
def test_the_programs_own_test_finds_a_wrong_number(tmp_path: Path) -> None:
    files = export_c(load("elbow"), tmp_path, ["inverse_dynamics"])
    source = next(path for path in files if path.name == "elbow.c")
    text = source.read_text()
    wrong = re.sub(r"out\[1\] = (\w+);", r"out[1] = \1 * 1.001;", text)
    assert wrong != text
    source.write_text(wrong)
    done = built(files)
    assert done.returncode == 1
    assert "wrong" in done.stdout.splitlines()[-1]


@needs_compiler
def test_odd_arms_and_names(tmp_path: Path) -> None:
    for seed in (1, 3, 4):
        files = export_c(any_arm(seed), tmp_path / str(seed))
        assert built(files).returncode == 0
    one = (
        '<robot name="7 */ arm"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j ??/ */" type="continuous"><parent link="a"/><child link="b"/></joint>'
        "</robot>"
    )
    files = export_c(gd.load_model(one), tmp_path / "one")
    assert files[0].name == "arm_7____arm.h"
    assert built(files).returncode == 0


needs_arm = pytest.mark.skipif(
    not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"
)
CALLER = """#include "{0}.h"
static volatile float x[96];
int main(void)
{{
    float q[32], v[32], a[32];
    static float out[1024];
    int k;
    for (k = 0; k < 32; k++) {{ q[k] = x[k]; v[k] = x[k + 32]; a[k] = x[k + 64]; }}
    k = {0}_inverse_dynamics(q, v, a, out) + {0}_forward_dynamics(q, v, a, out + 32);
    x[0] = out[0] + out[32];
    return k;
}}
"""


@needs_arm
@pytest.mark.parametrize(
    "name",
    ["brisk6", *(pytest.param(x, marks=pytest.mark.validate) for x in ROBOTS if x != "brisk6")],
)
def test_single_precision_links_without_double_arithmetic(name: str, tmp_path: Path) -> None:
    files = export_c(load(name), tmp_path, precision="float")
    source = next(path for path in files if path.suffix == ".c" and "_test" not in path.name)
    (tmp_path / "main.c").write_text(CALLER.format(source.stem))
    parts, linked = tmp_path / "functions.o", tmp_path / "linked"
    options = ["arm-none-eabi-gcc", *CORTEX]
    subprocess.run([*options, "-c", str(source), "-o", str(parts)], check=True)
    link = ["--specs=nosys.specs", str(tmp_path / "main.c"), str(parts), "-lm", "-o", str(linked)]
    subprocess.run([*options, *link], check=True)
    for path in (parts, linked):
        symbols = subprocess.run(
            ["arm-none-eabi-nm", str(path)], capture_output=True, text=True, check=True
        ).stdout
        assert "__aeabi_d" not in symbols


def test_the_rigid_functions_call_sine_and_cosine_only(tmp_path: Path) -> None:
    rigid = ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives"]
    export_c(load("brisk6"), tmp_path, rigid)
    text = (tmp_path / "brisk6.c").read_text()
    assert set(re.findall(r"= (\w+)\(", text)) == {"sin", "cos"}
    assert not re.search(r"malloc|static|extern", text)


def test_the_command_writes_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = [str(URDF / "elbow.urdf"), str(URDF / "elbow.drivetrain.yaml")]
    folder = tmp_path / "c"
    assert main(["export", "--c", *robot, "-o", str(folder), "--float"]) == 0
    names = {"elbow.h", "elbow.c", "elbow_test.c", "CMakeLists.txt"}
    assert {path.name for path in folder.iterdir()} == names
    assert "const float q[3]" in (folder / "elbow.h").read_text()
    assert capsys.readouterr().out.count(str(folder)) == 4
    assert main(["export", "--c", *robot]) != 0
    assert "export --c: -o DIR: is not given" in capsys.readouterr().err


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="export_c: functions: there is no function"):
        export_c(load("elbow"), tmp_path, ["coriolis_matrices"])
    with pytest.raises(ArrayError, match=r"'observer_update' cannot be.*keeps memory"):
        export_c(load("elbow"), tmp_path, ["observer_update"])
    with pytest.raises(UnknownNameError, match="double, float"):
        export_c(load("elbow"), tmp_path, precision="half")
    damped = "joint_1, .* damped, .*leave the feedforward to gd.elastic.feedforward, or set joints"
    for name in ("elastic.feedforward", "elastic.feedforward_derivatives"):
        with pytest.raises(ModelError, match=damped):
            export_c(load("wave6"), tmp_path, [name])
    with pytest.raises(ModelError, match="motors"):
        export_c(any_arm(0), tmp_path, ["motor_commands"])
    assert list(tmp_path.iterdir()) == []


def test_what_no_constant_is_known_for_is_nan(tmp_path: Path) -> None:
    """Current and voltage of motors without constants; of brisk6, whose motors have them, none."""
    for name, missing in (("elbow", {3, 4, 5, 6, 7, 8}), ("brisk6", set())):
        export_c(load(name), tmp_path / name, ["motor_commands"])
        text = (tmp_path / name / f"{name}.c").read_text("utf-8")
        assert set(map(int, re.findall(r"out\[(\d+)\] = \(double\)NAN;", text))) == missing


@pytest.mark.parametrize("letter", ["a", "_", "\N{ROBOT FACE}"])
def test_a_long_name_is_cut(letter: str, tmp_path: Path) -> None:
    """File systems take 255 bytes of a name."""
    urdf = f"""<robot name="{300 * letter}"><link name="base"/><link name="arm"><inertial>
      <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    files = export_c(gd.load_model(urdf), tmp_path, ["gravity_forces"])
    assert all(len(file.name) < 100 for file in files)
