"""Joint side and motor side: positions with encoder offsets, speeds, torques, power."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import geared_dynamics as gd

LINK = (
    '<link name="{0}"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
    '<axis xyz="0 {3} 1"/></joint>'
)
ARM = (
    '<robot name="wrist"><link name="base"/>'
    + LINK.format("one")
    + LINK.format("two")
    + JOINT.format("j1", "base", "one", 0)
    + JOINT.format("j2", "one", "two", 1)
    + '<ros2_control name="Wrist" type="system"><joint name="j1"/><joint name="j2"/>'
    "{}</ros2_control></robot>"
)
TRANSMISSION = (
    '<transmission name="t"><plugin>transmission_interface/{0}</plugin>'
    '<actuator name="a1" role="actuator1"><mechanical_reduction>{1[0]}</mechanical_reduction>'
    '</actuator><actuator name="a2" role="actuator2">'
    "<mechanical_reduction>{1[1]}</mechanical_reduction></actuator>"
    '<joint name="j1" role="joint1"><mechanical_reduction>{2[0]}</mechanical_reduction>'
    '<offset>{3[0]}</offset></joint><joint name="j2" role="joint2">'
    "<mechanical_reduction>{2[1]}</mechanical_reduction><offset>{3[1]}</offset></joint>"
    "</transmission>"
)
ACTUATOR, JOINT_RATIO, OFFSET = (20.0, -30.0), (2.0, 1.5), (0.3, -0.2)


def wrist(kind: str) -> gd.GearedModel:
    """The two-joint arm whose URDF states a coupled transmission."""
    return gd.load_model(
        ARM.format(TRANSMISSION.format(kind, ACTUATOR, JOINT_RATIO, OFFSET)),
    )


def differential(x: np.ndarray) -> np.ndarray:
    """ros2_control's DifferentialTransmission, joint to actuator."""
    first, second = JOINT_RATIO * (x - OFFSET)
    return np.array([ACTUATOR[0] * (first + second), ACTUATOR[1] * (first - second)])


def four_bar(x: np.ndarray) -> np.ndarray:
    """ros2_control's FourBarLinkageTransmission, joint to actuator."""
    first, second = x - OFFSET
    one = JOINT_RATIO[0] * ACTUATOR[0] * first
    return np.array([one, ACTUATOR[1] * (first + JOINT_RATIO[1] * second)])


@pytest.mark.parametrize(
    ("kind", "to_actuator"),
    [("DifferentialTransmission", differential), ("FourBarLinkageTransmission", four_bar)],
)
def test_coupled_transmissions_are_those_of_ros2_control(kind: str, to_actuator) -> None:  # type: ignore[no-untyped-def]
    model = wrist(kind)
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_allclose(gd.motor_angles(model, q), to_actuator(q), rtol=1e-14)
    rates = to_actuator(v) - to_actuator(np.zeros(2))
    np.testing.assert_allclose(gd.motor_speeds(model, v), rates, rtol=1e-13)
    tau_m = gd.motor_torques(model, tau)
    assert tau_m @ rates == pytest.approx(tau @ v, rel=1e-12)  # power in = power out


def test_effort_of_the_differential() -> None:
    tau = np.array([3.0, -2.0])
    first, second = tau / JOINT_RATIO
    expected = [(first + second) / (2 * ACTUATOR[0]), (first - second) / (2 * ACTUATOR[1])]
    found = gd.motor_torques(wrist("DifferentialTransmission"), tau)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_batches() -> None:
    model = wrist("DifferentialTransmission")
    q = np.random.default_rng(1).normal(size=(4, 3, 2))
    assert gd.motor_angles(model, q).shape == (4, 3, 2)
    np.testing.assert_allclose(gd.motor_angles(model, q)[1, 2], gd.motor_angles(model, q[1, 2]))


def test_more_motors_than_joints_share_with_least_norm() -> None:
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}
    drives = {
        "version": 1,
        "wheels": {"left": wheel, "right": wheel, "far": wheel},
        "spins": [
            {"wheel": "left", "joint": "j1", "ratio": 30},
            {"wheel": "right", "joint": "j1", "ratio": -40},
            {"wheel": "far", "joint": "j2", "ratio": 10},
        ],
        "motors": {name: {"wheel": name} for name in ("left", "right", "far")},
    }
    model = gd.load_model(ARM.format(""), drives)
    tau_m = gd.motor_torques(model, [50.0, 20.0])
    np.testing.assert_allclose(model.structure_matrix @ tau_m, [50.0, 20.0], rtol=1e-13)
    np.testing.assert_allclose(tau_m, [30 * 50 / 2500, -40 * 50 / 2500, 2.0], rtol=1e-13)


def test_missing_motors_are_named() -> None:
    drives = {
        "version": 1,
        "wheels": {
            "r": {"carrier": "base", "axis": [0, 0, 1], "mass": 0, "inertia": {"axial": 1e-4}}
        },
        "spins": [{"wheel": "r", "joint": "j1", "ratio": 30}],
        "motors": {"m": {"wheel": "r"}},
    }
    model = gd.load_model(ARM.format(""), drives)
    with pytest.raises(gd.GearedDynamicsError, match=r"none acts on j2.*declare"):
        gd.motor_torques(model, [1.0, 1.0])


def one_wheel_each(*rows: dict[str, float]) -> gd.GearedModel:
    """The wrist with a motor for each set of ratios."""
    wheel = {"carrier": "base", "axis": [0, 0, 1], "mass": 0.1, "inertia": {"axial": 1e-4}}
    names = [f"w{k}" for k in range(len(rows))]
    spins = [{"wheel": w, "coefficients": row} for w, row in zip(names, rows, strict=True)]
    motors = {f"m{k}": {"wheel": name} for k, name in enumerate(names)}
    wheels = dict.fromkeys(names, wheel)
    drives = {"version": 1, "wheels": wheels, "spins": spins, "motors": motors}
    return gd.load_model(ARM.format(""), drives)


def test_too_few_motors_are_told_from_missing_ones() -> None:
    model = one_wheel_each({"j1": 3.0, "j2": 4.0})
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.motor_torques(model, [1.0, 1.0])
    assert "1 motor moves 1 of 2 coordinates independently of each other" in str(caught.value)
    assert "declare more motors" in caught.value.remedy


@pytest.mark.parametrize(
    "rows",
    [
        ({"j1": 1e5}, {"j2": 1e-9}),
        ({"j1": 1e5, "j2": 1e-9}, {"j1": 1.0, "j2": 1.0}),
        ({"j1": 1e5, "j2": 1e-9}, {"j1": 1.0, "j2": 1e-9}, {"j1": -2.0, "j2": 3e-9}),
    ],
)
def test_ratios_of_very_different_size(rows: tuple[dict[str, float], ...]) -> None:
    """Each joint's force is met, relative to the largest share of a motor in it."""
    model = one_wheel_each(*rows)
    A, tau = model.structure_matrix, np.array([50.0, 3e-9])
    tau_m = gd.motor_torques(model, tau)
    shares = np.abs(A * tau_m).max(axis=1)
    np.testing.assert_allclose((A @ tau_m - tau) / shares, 0.0, atol=1e-14)
    # No other solution is smaller: this one is a combination of the rows.
    rest = (
        tau_m
        - (A / np.linalg.norm(A, axis=1)[:, None]).T
        @ np.linalg.lstsq((A / np.linalg.norm(A, axis=1)[:, None]).T, tau_m, rcond=None)[0]
    )
    np.testing.assert_allclose(rest / np.linalg.norm(tau_m), 0.0, atol=1e-14)


def test_the_inverse_is_kept_on_the_model_and_left_out_of_pickles() -> None:
    model = wrist("DifferentialTransmission")
    first = gd.motor_torques(model, [1.0, 2.0])
    kept = model.motor_map
    assert not kept.inverse.flags.writeable
    np.testing.assert_array_equal(gd.motor_torques(model, [1.0, 2.0]), first)
    assert model.motor_map is kept
    assert model.with_payload(1.0, link=model.link_names[-1]).motor_map is kept
    assert "motor_map" not in pickle.loads(pickle.dumps(model)).__dict__


BY_NAME = {
    "tau": gd.motor_torques,
    "q": gd.motor_angles,
    "v": gd.motor_speeds,
}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, "NaN"), (np.inf, "infinity"), (1.7e308, "is so large that the result overflows")],
)
def test_no_infinity_in_silence(name: str, value: float, words: str) -> None:
    """Neither in a state nor in a batch; squares that overflow are no reason to refuse."""
    ratio = 0.5 if name == "tau" else 2.0
    model = one_wheel_each({"j1": ratio}, {"j2": ratio})
    function = BY_NAME[name]
    for state in ([0.0, value], [[0.0, 1.0], [value, 1.0]]):
        with pytest.raises(gd.GearedDynamicsError, match=f"^{name}: .*{words}"):
            function(model, state)
    large = function(model, [1e300, 0.0])
    np.testing.assert_allclose(large, [2e300, 0.0])


def test_friction_of_a_speed_too_large() -> None:
    urdf = ARM.format("").replace("</joint>", '<dynamics damping="9"/></joint>', 1)
    model = gd.load_model(urdf)
    with pytest.raises(gd.GearedDynamicsError, match="result overflows"):
        gd.friction_forces(model, [1.7e308, 0.0])
