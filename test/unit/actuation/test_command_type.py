"""What the number of a command or of a measured effort means, against sums written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import geared_dynamics as gd
from driven_arms import driven_arm
from geared_dynamics.actuation.command_type import (
    ALIASES,
    COMMANDS,
    EFFORTS,
    SHORT_NAMES,
    as_command_type,
    command_names,
    command_of_torque,
    require_constants,
)
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from plant_arms import pendulum

ROBOTS = Path(__file__).parents[3] / "urdf"
NAN = float("nan")
MOTOR_TORQUE = np.array([0.3, -0.2, 0.5, 0.1])
Q = np.array([0.3, -0.4, 0.2, 0.6])


def written_out(model: gd.GearedModel, tau_m: np.ndarray) -> list[float]:
    """tau = A tau_m, sum by sum."""
    A = model.structure_matrix.tolist()
    return [sum(a * t for a, t in zip(row, tau_m.tolist(), strict=True)) for row in A]


def numbers(model: gd.GearedModel, kind: str) -> np.ndarray:
    """What a robot would report of ``MOTOR_TORQUE``."""
    tau = np.array(written_out(model, MOTOR_TORQUE))
    found = {
        "joint_torque": tau,
        "gravity_compensated": tau - gd.gravity_forces(model, Q),
        "motor_torque": MOTOR_TORQUE,
        "motor_current": MOTOR_TORQUE / 0.06,
    }
    return found[kind]


@pytest.mark.parametrize("kind", EFFORTS)
@pytest.mark.parametrize("to", ["joint_torque", "motor_torque"])
def test_every_type_is_the_same_torque(kind: Any, to: Any) -> None:
    model = driven_arm(3)
    wanted = MOTOR_TORQUE if to == "motor_torque" else written_out(model, MOTOR_TORQUE)
    convert, given = gd.torque_map(model, kind, to), numbers(model, kind)
    np.testing.assert_allclose(convert(given, Q), wanted, rtol=1e-9, atol=1e-9)
    rows = convert(np.array([given, given]), np.array([Q, Q]))
    np.testing.assert_allclose(rows, [wanted, wanted], rtol=1e-9, atol=1e-9)
    other = driven_arm(4, torque_constant=0.07) if to != kind else None  # negative control
    if other is not None:
        assert not np.allclose(gd.torque_map(other, kind, to)(given, Q), wanted, rtol=1e-3)


def test_gains_and_signs_multiply_the_numbers_alone() -> None:
    model = driven_arm(3)
    gains, signs = np.array([2.0, 1.0, 0.5, 4.0]), np.array([1.0, -1.0, 1.0, -1.0])
    convert = gd.torque_map(model, "motor_current", "motor_torque", gains=gains, signs=signs)
    np.testing.assert_allclose(convert(MOTOR_TORQUE / gains / signs), MOTOR_TORQUE)
    lacking = gd.torque_map(model, "gravity_compensated", "joint_torque", gains=gains)
    tau = numbers(model, "gravity_compensated") / gains
    np.testing.assert_allclose(lacking(tau, Q), written_out(model, MOTOR_TORQUE), rtol=1e-9)


@pytest.mark.parametrize("bad", [NAN, np.inf])
def test_nan_stays_with_what_depends_on_it(bad: float) -> None:
    model = driven_arm(3)
    convert, given = gd.torque_map(model, "motor_torque", "joint_torque"), MOTOR_TORQUE.copy()
    given[1] = bad
    whole, hit = convert(MOTOR_TORQUE), model.structure_matrix[:, 1] != 0.0
    assert 0 < hit.sum() < len(hit)
    for found in (convert(given), convert(np.array([given]))[0]):
        np.testing.assert_array_equal(np.isnan(found), hit)
        np.testing.assert_allclose(found[~hit], whole[~hit])


def test_a_constant_that_is_not_known_makes_its_torques_unknown() -> None:
    model = driven_arm(3, torque_constant=None, resistance=None, inductance=None)
    assert np.isnan(gd.torque_map(model, "motor_current", "joint_torque")(MOTOR_TORQUE)).any()
    finding = "is not given for .*, and motor_current needs it; say so"
    with pytest.raises(ModelError, match=finding):
        require_constants(model, "motor_current", "say so")
    require_constants(model, "motor_current", needed=np.zeros(4, bool))
    require_constants(model, "motor_torque")


def test_where_motors_are_missing_the_torques_are_those_of_least_squares() -> None:
    """A tau_m - tau is orthogonal to what the motors can do: A' (A tau_m - tau) = 0."""
    drives = yaml.safe_load((ROBOTS / "elbow.drivetrain.yaml").read_text("utf-8"))
    drives["motors"] = dict(list(drives["motors"].items())[:2])
    model = gd.load_model(ROBOTS / "elbow.urdf", drives)
    tau, A = np.array([1.0, 2.0, -3.0]), model.structure_matrix
    found = gd.torque_map(model, "joint_torque", "motor_torque")(tau)
    assert np.abs(A @ found - tau).max() > 0.1
    np.testing.assert_allclose(A.T @ (A @ found - tau), 0.0, atol=1e-9)


def test_efforts_without_gravity_need_to_know_where_the_arm_is() -> None:
    convert = gd.torque_map(driven_arm(3), "gravity_compensated", "joint_torque")
    with pytest.raises(ArrayError, match="q: is not given"):
        convert(MOTOR_TORQUE)


def test_names() -> None:
    model = driven_arm(3)
    for aliases in (ALIASES, SHORT_NAMES):
        for name, canonical in aliases.items():
            found = as_command_type("here", name, (*COMMANDS, *EFFORTS), aliases)
            assert found == canonical
    for kind in COMMANDS:
        names = model.motor_names if kind.startswith("motor") else model.joint_names
        assert command_names(model, kind) == names
        assert as_command_type("here", kind) == kind
    for wrong in ("gravity_compensated", "Joint_torque", "torque", None, 3, ["joint_torque"]):
        with pytest.raises(UnknownNameError, match="here: there is no command type"):
            as_command_type("here", wrong)
    with pytest.raises(UnknownNameError, match="motor_voltage"):
        gd.torque_map(model, "motor_voltage", "joint_torque")  # no torque follows from it alone


def test_what_is_sent_for_a_torque_is_what_the_motor_needs() -> None:
    model, speed, inductive = driven_arm(3), np.array([3.0, -2.0, 0.0, 9.0]), np.full(4, 0.02)
    current = MOTOR_TORQUE / 0.06
    wanted = {
        "joint_torque": written_out(model, MOTOR_TORQUE),
        "motor_torque": MOTOR_TORQUE,
        "motor_current": current,
        "motor_voltage": 0.8 * current + 0.06 * speed + inductive,
    }
    for kind in COMMANDS:
        found = command_of_torque(model, kind, MOTOR_TORQUE, speed, inductive)
        np.testing.assert_allclose(found, wanted[kind], rtol=1e-12)


def test_the_former_keyword_of_a_type_is_still_taken() -> None:
    model = driven_arm(3)
    with pytest.warns(DeprecationWarning, match="the argument side is now called command_type"):
        made = gd.control.controller(model, side="motor_torque")  # type: ignore[call-arg]
    assert made.command_type == "motor_torque"
    with pytest.warns(DeprecationWarning, match="default_policy"):
        gd.control.safety.default_policy(model, side="motor_torque")
    for kind in ("motor_torque", "torque"):
        plant = gd.simulation.Plant(pendulum(), command=kind, engine="equations")
        assert plant.command == "motor_torque"


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"gains": [1.0, 2.0]}, "gains"),
        ({"signs": "minus"}, "signs"),
        ({"signs": [[1.0, 1.0, 1.0]]}, "signs"),
        ({"to": "motor_current"}, "to"),
    ],
)
def test_wrong_arguments_of_the_converter(options: dict[str, Any], place: str) -> None:
    model = gd.load_model(ROBOTS / "elbow.urdf", ROBOTS / "elbow.drivetrain.yaml")
    arguments: dict[str, Any] = {"to": "joint_torque"} | options
    with pytest.raises(gd.GearedDynamicsError, match=f"^{place}: "):
        gd.torque_map(model, "motor_torque", **arguments)
