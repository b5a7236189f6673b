"""What a user can get wrong in a simulation of an elastic arm, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import MOTOR
from elastic_arms import URDF
from simulated_arms import arm, moving

step, rates, simulate = (
    gd.simulation.elastic_step,
    gd.simulation.elastic_rates,
    gd.simulation.simulate_elastic,
)
MODEL = arm()
GOOD = moving(MODEL)
U = np.zeros(3)
T = [0.0, 0.1]
NAN = np.array([0.0, np.nan, 0.0])
LOSSY = arm(efficiency=MOTOR["efficiency"])
LOADED = arm(friction=True)
RIGID = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


def rubbing() -> gd.GearedModel:
    """Rotor friction that grows with the load."""
    friction = LOADED.motors.friction
    loaded = replace(friction, load=np.full(friction.count, 0.01))
    return replace(LOADED, motors=replace(LOADED.motors, friction=loaded))


# Call, words that the error must contain.
TABLE: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "dt zero": (lambda: step(MODEL, GOOD, 0.0), ["dt", "is 0.0", "above zero"]),
    "dt negative": (lambda: step(MODEL, GOOD, -1e-3), ["dt", "is -0.001"]),
    "dt NaN": (lambda: step(MODEL, GOOD, float("nan")), ["dt", "is nan"]),
    "dt infinite": (lambda: step(MODEL, GOOD, float("inf")), ["dt", "is inf"]),
    "dt too long": (lambda: step(MODEL, GOOD, 2.0), ["dt", "of 2 s is too long", "joint_", "rad"]),
    "dt beyond numbers": (lambda: step(MODEL, GOOD, 1e300), ["too long"]),
    "dt no number": (lambda: step(MODEL, GOOD, "1"), ["dt", "is '1'"]),
    "dt without end": (lambda: step(MODEL, GOOD, -(10**5000)), ["dt", "cannot be written"]),
    "dt a list": (lambda: step(MODEL, GOOD, [1e-3, 1e-3]), ["dt"]),
    "both inputs": (lambda: step(MODEL, GOOD, 1e-3, voltage=U, torque=U), ["torque", "one of"]),
    "both inputs, run": (lambda: simulate(MODEL, GOOD, T, voltage=U, torque=U), ["torque"]),
    "voltage too short": (lambda: rates(MODEL, GOOD, voltage=[1.0]), ["voltage", "(3,)"]),
    "voltage NaN": (lambda: rates(MODEL, GOOD, voltage=NAN), ["voltage", "NaN"]),
    "torque a batch": (lambda: rates(MODEL, GOOD, torque=np.zeros((2, 3))), ["torque", "(2, 3)"]),
    "external NaN": (lambda: step(MODEL, GOOD, 1e-3, external=NAN), ["external", "NaN"]),
    "q too short": (lambda: rates(MODEL, GOOD._replace(q=[0.0])), ["q", "(3,)"]),
    "theta NaN": (lambda: rates(MODEL, GOOD._replace(theta=NAN)), ["theta", "NaN"]),
    "v a batch": (lambda: rates(MODEL, GOOD._replace(v=np.zeros((2, 3)))), ["v", "(2, 3)"]),
    "vtheta words": (lambda: rates(MODEL, GOOD._replace(vtheta="abc")), ["vtheta"]),
    "current NaN": (
        lambda: rates(MODEL, GOOD._replace(current=NAN), voltage=U),
        ["current", "NaN"],
    ),
    "no springs": (lambda: step(RIGID, moving(arm()), 1e-3), ["joints", "no joint", "stiffness"]),
    "losses": (lambda: step(LOSSY, GOOD, 1e-3), ["motors.motor_1.efficiency", "coulomb"]),
    "friction by load": (lambda: rates(rubbing(), GOOD), ["motors.motor_1.friction.load"]),
    "no resistance": (
        lambda: rates(arm(resistance=None, inductance=None), GOOD, voltage=U),
        ["motors.motor_1.resistance", "is not given"],
    ),
    "times fall": (lambda: simulate(MODEL, GOOD, [0.1, 0.0]), ["times", "increase"]),
    "one time": (lambda: simulate(MODEL, GOOD, [0.1]), ["times", "two"]),
    "times a number": (lambda: simulate(MODEL, GOOD, 0.1), ["times", "two"]),
    "times NaN": (lambda: simulate(MODEL, GOOD, [0.0, np.nan]), ["times", "finite"]),
    "method": (lambda: simulate(MODEL, GOOD, T, method="Euler"), ["method", "'Euler'", "LSODA"]),
    "method no text": (lambda: simulate(MODEL, GOOD, T, method=5), ["method", "5"]),
    "rtol": (lambda: simulate(MODEL, GOOD, T, rtol=0.0), ["rtol", "between 0 and 1"]),
    "atol": (lambda: simulate(MODEL, GOOD, T, atol=float("nan")), ["atol", "between 0 and 1"]),
    "function too short": (
        lambda: simulate(MODEL, GOOD, T, voltage=lambda _: [1.0]),
        ["voltage", "(3,)"],
    ),
    "function turns NaN": (
        lambda: simulate(MODEL, GOOD, T, torque=lambda t: U if t < 0.05 else NAN),
        ["torque", "NaN"],
    ),
    "function without time": (
        lambda: simulate(MODEL, GOOD, T, torque=lambda _: "much"),
        ["torque", "real numbers"],
    ),
    "rtol too fine": (lambda: simulate(MODEL, GOOD, T, rtol=1e-20), ["rtol", "1e-20", "2.2e-14"]),
    "evaluations none": (lambda: simulate(MODEL, GOOD, T, max_evaluations=0), ["max_ev", "is 0"]),
    "evaluations negative": (lambda: simulate(MODEL, GOOD, T, max_evaluations=-5), ["is -5"]),
    "evaluations True": (lambda: simulate(MODEL, GOOD, T, max_evaluations=True), ["is True"]),
    "absurd torque": (
        lambda: simulate(MODEL, GOOD, T, torque=np.full(3, 1e200), max_evaluations=500),
        ["max_evaluations", "500", "were used by 0 s"],
    ),
    "explosion, explicit": (
        lambda: simulate(MODEL, GOOD, T, torque=np.full(3, 1e200), method="DOP853"),
        ["simulate_elastic", "cannot be followed", "inputs and state"],
    ),
    "explosion, implicit": (
        lambda: simulate(MODEL, GOOD, T, torque=np.full(3, 1e200), method="Radau"),
        ["simulate_elastic", "cannot be followed", "inputs and state"],
    ),
    "evaluations": (lambda: simulate(MODEL, GOOD, T, max_evaluations="9"), ["max_evaluations"]),
    "state too short": (lambda: rates(MODEL, tuple(GOOD)[:4]), ["state", "tuple", "gd.State"]),
    "no state": (lambda: simulate(MODEL, None, T), ["state", "missing", "gd.State"]),
    "function without return": (
        lambda: simulate(MODEL, GOOD, T, torque=lambda t: None),
        ["torque", "None", "each motor"],
    ),
    "absurd deflection": (
        lambda: step(MODEL, GOOD._replace(theta=np.full(3, 1e50)), 1e-6, external=U + 1e100),
        ["dt", "of 1e-06 s is too long: the state overflows", "smaller step"],
    ),
    "absurd velocity": (lambda: step(MODEL, GOOD._replace(v=np.full(3, 1e200)), 1e-6), ["v: is"]),
    "absurd step": (lambda: step(MODEL, GOOD, 1e-3, torque=np.full(3, 1e300)), ["overflow"]),
}


@pytest.mark.parametrize("case", TABLE)
def test_bad_simulation(case: str) -> None:
    call, words = TABLE[case]
    with pytest.raises(gd.GearedDynamicsError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize("method", ["LSODA", "DOP853", "Radau"])
def test_used_up_evaluations_are_said_with_another_method(method: Any) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        simulate(MODEL, GOOD, T, method=method, max_evaluations=20)
    assert caught.value.place == "max_evaluations"
    assert "all 20 evaluations were used by " in caught.value.finding
    assert "of 0.1 s" in caught.value.finding
    assert "'" in caught.value.remedy
    assert f"'{method}'" not in caught.value.remedy


@pytest.mark.filterwarnings("error")
def test_nothing_of_the_integrator_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finest tolerance warns of nothing; that LSODA gives up is an error of our own."""
    integrate = pytest.importorskip("scipy.integrate")
    finest = gd.simulation.adaptive.LEAST_RTOL
    assert simulate(MODEL, GOOD, [0.0, 1e-3], rtol=finest).evaluations > 0

    def gives_up(*_: Any, **__: Any) -> None:
        warnings.warn("lsoda: Repeated convergence failures", UserWarning, stacklevel=2)

    monkeypatch.setattr(integrate, "solve_ivp", gives_up)
    with pytest.raises(gd.GearedDynamicsError, match=r"beyond 0 s \(lsoda: Repeated conv"):
        simulate(MODEL, GOOD, T)


@pytest.mark.filterwarnings("error")
def test_singular_matrix_of_an_absurd_damper_is_an_error_of_our_own() -> None:
    absurd = arm(damping=1e30)
    with pytest.raises(gd.GearedDynamicsError, match=r"simulate_elastic|max_evaluations"):
        simulate(absurd, moving(absurd), [0.0, 1e-3], method="Radau", max_evaluations=5000)


def test_errors_and_warnings_of_a_function_are_the_callers() -> None:
    def broken(t: float) -> Any:
        if t > 0.0:
            raise ValueError("mine")
        return U

    for method in ("LSODA", "DOP853", "Radau"):
        with pytest.raises(ValueError, match="mine"):
            simulate(MODEL, GOOD, T, torque=broken, method=method)

    def doubtful(t: float) -> Any:
        warnings.warn("mine", UserWarning, stacklevel=2)
        return U

    with pytest.warns(UserWarning, match="mine"):
        simulate(MODEL, GOOD, [0.0, 1e-3], torque=doubtful)
