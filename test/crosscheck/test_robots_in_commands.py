"""Every robot of example-robot-data through the commands: an answer or one line of error."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from command_documents import validate
from crosscheck.example_robots import IMMOBILE, UNREADABLE, example_files
from geared_dynamics.apps.cli.main import main
from geared_dynamics.files import folder

FILES = example_files()
ROBOTS = [name for name in FILES if name not in (*UNREADABLE, *IMMOBILE)]
OWN = [
    "brisk6",
    "elbow",
    "kr300",
    "manutec_r3",
    "puma560",
    "tx40",
    "wave6",
]
THEIRS = [
    "kinova.urdf",
    "panda.urdf",
    "so101.urdf",
    "talos_left_arm.urdf",
    "ur3_robot.urdf",
    "ur5_robot.urdf",
    "ur10_robot.urdf",
    "xarm7.urdf",
    "z1.urdf",
]
# Links without inertia but their rotors', or with one that no body has: no case for MuJoCo.
BODILESS = ("kr300", "tx40", "panda.urdf", "so101.urdf")
LIGHT = ("kinova.urdf", "so101.urdf")  # their links cannot contain rotors of 1e-4 kg m^2
WEAK = ("talos_left_arm.urdf",)  # whose limits of effort are for gears that it does not have here
# Whose demo is in test_every_command.py.
IN_TABLE = ("brisk6", "elbow", "wave6")
NEEDED = {"check": "pinocchio", "view": "viser"}

pytestmark = [
    pytest.mark.skipif(not FILES, reason="example-robot-data is not installed"),
    pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning"),
]


def lines(urdf: Path, out: Path, *, quick: bool) -> dict[str, list[str]]:
    """Each command's words."""
    few = {
        "describe": [],
        "init": ["--ratio", "80", "--rotor-inertia", "1e-5", "--force",
                 "--out", str(out / "new.yaml")],
        "coupling": ["--states", "10"],
    }  # fmt: skip
    more = {
        "check": ["--states", "2"],
        "export": ["--mjcf", str(out / "arm.xml"), "--force"],
        "excite": ["--output", str(out / "motion.yaml"), "--duration", "4", "--starts", "1",
                   "--changes", "1", "--force"],
        "view": ["--out", str(out / "arm.html"), "--no-meshes", "--force"],
    }  # fmt: skip
    chosen = few if quick else few | more
    return {command: [command, str(urdf), *words] for command, words in chosen.items()}


def answered(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command; what is wrong with its answer, empty if nothing is."""
    capsys.readouterr()
    code = main(words)
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if ": error: " in line]
    if "Traceback" in out + err or code not in (0, 1, 2):
        return f"{words[0]}: exit code {code}: {err.strip()[-300:]}"
    if code == 2 and (len(errors) != 1 or out):
        return f"{words[0]}: refused in {len(errors)} lines, {len(out)} letters of output"
    if code != 2 and "--json" in words:
        validate(json.loads(out))
    return ""


def through(name: str, out: Path, capsys: pytest.CaptureFixture[str], *, quick: bool) -> None:
    """Run a robot through the commands, without and with the drives that ``init`` writes."""
    faults = []
    for words in lines(FILES[name], out, quick=quick).values():
        if words[0] in NEEDED:
            pytest.importorskip(NEEDED[words[0]])
        faults.append(answered(words, capsys))
    drive = str(out / "new.yaml")
    for words in lines(FILES[name], out, quick=quick).values():
        if words[0] != "init" and Path(drive).exists():
            faults.append(answered([*words[:2], drive, *words[2:], "--json"], capsys))
    assert [fault for fault in faults if fault] == []


@pytest.mark.parametrize("name", ROBOTS[:: max(1, len(ROBOTS) // 10)])
def test_ten_robots(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    through(name, tmp_path, capsys, quick=True)


@pytest.mark.validate
@pytest.mark.parametrize("name", ROBOTS)
def test_all_robots(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    through(name, tmp_path, capsys, quick=False)


def named(name: str, out: Path, inertia: str = "1e-5") -> list[str]:
    """Files of a named arm; those that come without rotors get some, of this inertia."""
    if name in OWN:
        return [str(folder("urdf") / f"{name}{end}") for end in (".urdf", ".drivetrain.yaml")]
    urdf = next(path for key, path in FILES.items() if Path(key).name == name)
    drive = str(out / "drive.yaml")
    words = ["init", str(urdf), "--ratio", "80", "--rotor-inertia", inertia, "--out", drive]
    assert main(words) == 0
    return [str(urdf), drive]


def middle(model: gd.GearedModel) -> np.ndarray:
    """Between the limits of position, 0 where there are none."""
    limits = model.limits
    known = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    return 0.5 * (np.where(known, limits.lower, 0.0) + np.where(known, limits.upper, 0.0))


RATE, LENGTH = 100.0, 10.0  # of the recordings made here [Hz, s]


def path(model: gd.GearedModel, rows: int) -> np.ndarray:
    """A motion about the middle, with its derivatives (k, rows, n)."""
    times, speeds = np.arange(0.0, LENGTH, 1.0 / RATE), 1.0 + 0.37 * np.arange(model.n)
    order = np.arange(rows)[:, None]
    turned = speeds * times[:, None, None] + 0.5 * np.pi * order
    found = 0.3 * speeds**order * np.sin(turned)
    found[:, 0] += middle(model)
    return found


def driven(model: gd.GearedModel) -> np.ndarray:
    """Joint torques that the motors give (k, n): with rotors, friction, balancers, springs.

    They come from the motors' side (``motor_commands``), other code than ``analyze`` predicts by.
    """
    if model.knowledge.springs != "none":
        rows = gd.elastic.derivatives_needed(model, "expanded") + 1
        motors = gd.elastic.motor_commands(model, path(model, rows), "expanded").torque
    else:
        motors = gd.motor_commands(model, *path(model, 3).swapaxes(0, 1)).torque
    return np.asarray(motors @ model.structure_matrix.T)


def recorded(model: gd.GearedModel, torques: np.ndarray, file: Path) -> str:
    """Write a recording of the motion with these torques (k, n)."""
    q = path(model, 1)[:, 0]
    heads = [f"{what}.{joint}" for what in ("position", "effort") for joint in model.joint_names]
    table = np.column_stack([np.arange(len(q)) / RATE, q, torques])
    np.savetxt(file, table, delimiter=",", header=",".join(["time", *heads]), comments="")
    return str(file)


def residuals(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[np.ndarray, np.ndarray]:
    """RMS of the torques (n,), and of what the complete model leaves of them."""
    capsys.readouterr()
    assert main(["analyze", *words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["recordings"]
    rows = [(joint["measured"], joint["residual"]["complete"]) for joint in found["joints"]]
    return np.array(rows).T[0], np.array(rows).T[1]


@pytest.mark.validate
@pytest.mark.parametrize("name", [*OWN, *THEIRS])
def test_named_arms_are_analyzed_and_identified(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands answer, and the complete model explains the torques, whatever the arm.

    Where friction changes its sign the filtered torque is smooth, which no model without the
    filter's memory follows: a part of the friction is left. The controls are torques without
    friction and balancers, and where the arm has neither the URDF without its rotors.
    """
    pytest.importorskip("clarabel")
    files = named(name, tmp_path, "1e-5" if name in LIGHT else "1e-4")
    model = gd.load_model(*files)
    whole, out = driven(model), str(tmp_path / "report")
    bag = recorded(model, whole, tmp_path / "run.csv")
    assert answered(["analyze", bag, *files, "--output", out], capsys) == ""
    q, v, a = path(model, 3).swapaxes(0, 1)
    rigid = gd.inverse_dynamics(model, q, v, a) - gd.balancer_forces(model, q)
    friction = np.sqrt(np.mean((whole - rigid) ** 2, axis=0))
    measured, left = residuals([bag, *files], capsys)
    allowed = 0.01 * measured + 0.25 * friction + 1e-6
    assert (left <= allowed).all(), (left, measured, friction)
    links = gd.inverse_dynamics(model, q, v, a)
    if np.allclose(whole, links, rtol=1e-3):
        control = [bag, files[0]]
    else:
        control = [recorded(model, links, tmp_path / "control.csv"), *files]
    assert (residuals(control, capsys)[1] > allowed).any()
    assert answered(["identify", bag, *files, "--output", out, "--json"], capsys) == ""


@pytest.mark.validate
@pytest.mark.parametrize("name", [*(name for name in OWN if name not in IN_TABLE), *THEIRS])
def test_named_arms_in_the_demo(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The complete feedforward follows better than none, whatever the arm."""
    pytest.importorskip("rclpy")
    words = ["demo", *named(name, tmp_path), "--out", str(tmp_path / "demo"), "--json"]
    capsys.readouterr()
    if name in WEAK:
        assert main(words) == 2
        assert "cannot support its own weight" in capsys.readouterr().err
        return
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    validate(document)
    errors = [way["rms"] for way in document["ways"]]
    assert errors[-1] < 0.5 * errors[0]


@pytest.mark.validate
@pytest.mark.parametrize("engine", ["equations", "mujoco"])
@pytest.mark.parametrize("name", [*OWN, *THEIRS])
def test_named_arms_move_in_the_plant(name: str, engine: str, tmp_path: Path) -> None:
    """Held against gravity they stay; let go they fall as forward dynamics say."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    model = gd.load_model(*named(name, tmp_path))
    settings = gd.simulation.PlantSettings(friction=False, end_stops=False, timestep=2e-4)
    refuses = engine == "mujoco" and name in BODILESS
    refused = pytest.raises(gd.GearedDynamicsError, match=r"mass|inertia")
    with refused if refuses else nullcontext():
        plant = gd.simulation.Plant(
            model, command="joint_torque", engine=engine, settings=settings
        )
    if refuses:
        return
    q = middle(model) + 0.3
    balancers = gd.balancer_forces(model, q)
    held = gd.gravity_forces(model, q) - balancers
    expected = gd.forward_dynamics(model, q, np.zeros(model.n), balancers)
    for torque, rates in ((held, 0 * expected), (0 * held, expected)):
        plant.reset(q)
        for _ in range(5):
            plant.step(torque, 1e-3)
        if model.knowledge.springs == "none":  # those give way first
            found = plant.state.v
            scale = max(np.abs(expected).max(), 1e-3)
            np.testing.assert_allclose(found, 5e-3 * rates, atol=0.05 * 5e-3 * scale)
        assert np.isfinite(plant.state.q).all()
