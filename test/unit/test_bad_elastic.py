"""What a user can get wrong of elastic joints, in files and in calls."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import with_state

UNIT = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>'
    '<axis xyz="0 1 0"/></joint>'
)
ROBOT = (
    f'<robot name="arm"><link name="base"/><link name="one">{UNIT}</link>'
    f'<link name="two">{UNIT}</link>'
    + JOINT.format("j1", "base", "one")
    + JOINT.format("j2", "one", "two")
    + "</robot>"
)
MASSLESS = ROBOT.replace(f'<link name="two">{UNIT}</link>', '<link name="two"/>')
WHEEL = {"carrier": "base", "axis": [0, 1, 0], "mass": 0.1, "inertia": {"axial": 1e-3}}
GOOD: dict[str, Any] = {
    "version": 1,
    "wheels": {
        "r1": WHEEL,
        "r2": copy.deepcopy(WHEEL),
        "p1": copy.deepcopy(WHEEL),
        "light": {**WHEEL, "inertia": {"axial": 0.0}},
    },
    "spins": [
        {"wheel": "r1", "joint": "j1", "ratio": 50},
        {"wheel": "r2", "joint": "j2", "ratio": 50},
        {"wheel": "p1", "joint": "j1", "ratio": 20},
        {"wheel": "light", "joint": "j1", "ratio": 50},
    ],
    "motors": {"m1": {"wheel": "r1"}, "m2": {"wheel": "r2"}},
    "joints": {"j1": {"stiffness": 1e3, "damping": 1.0}, "j2": {"stiffness": 1e3}},
}
J1, J2 = "joints.j1.stiffness", "joints.j2.stiffness"
NO_INERTIA = "no wheel with inertia is on the motor side of the spring of joint 'j2'"
BOTH = [
    {"wheel": "r1", "coefficients": {"j1": 50, "j2": 50}},
    {"wheel": "r2", "coefficients": {"j1": 20, "j2": 20}},
    {"wheel": "p1", "coefficients": {"j1": 20, "j2": 20}},
    {"wheel": "light", "joint": "j1", "ratio": 50},
]


def belt(between: list[str], **keys: Any) -> dict[str, Any]:
    """Section of springs."""
    return {"belt": {"between": between, "stiffness": 5.0, **keys}}


# Key path, what to write there ("-": take the key out), words that the error must contain.
TABLE: dict[str, tuple[str, Any, list[str]]] = {
    "zero": (J1, 0, [J1, "0 is not above 0"]),
    "negative": (J1, -1e3, [J1, "-1000 is not above 0"]),
    "NaN": (J1, float("nan"), [J1, "finite"]),
    "infinite": (J1, float("inf"), [J1, "finite"]),
    "text": (J1, "1e3 Nm", [J1, "a number"]),
    "huge": (J1, 1e40, ["joints.j1", "too large"]),
    "denormal": (J1, 1e-320, [J1, "too small a stiffness", "1e-30"]),
    "soft belt": (
        "springs",
        belt(["r1", "p1"], stiffness=1e-31),
        ["springs.belt.stiffness", "too small"],
    ),
    "negative damping": ("joints.j1.damping", -1, ["joints.j1.damping", "less than 0"]),
    "damping alone": (J1, "-", ["joints.j1", "damping requires a stiffness", "'stiffness'"]),
    "negative backlash": ("joints.j2.backlash", -1e-3, ["joints.j2.backlash", "less than 0"]),
    "backlash alone": ("joints.j2", {"backlash": 1e-3}, ["joints.j2", "backlash", "'stiffness'"]),
    "rest of a drive": ("joints.j2.rest", 0.1, ["joints.j2.rest", "passive"]),
    "side": ("wheels.r2.side", "left", ["wheels.r2.side", "motor or link"]),
    "no wheel behind the spring": ("wheels.r2.side", "link", [J2, NO_INERTIA, "motor side"]),
    "weightless rotor": ("wheels.r2.inertia.axial", 0, [J2, NO_INERTIA]),
    "one combination": ("spins", BOTH, ["joints 'j1', 'j2'", "repeat each other"]),
    "no motor": (
        "motors.m2",
        "-",
        ["joints.j2", "no motor drives the motor side of", "passive: true"],
    ),
    "passive with a motor": ("joints.j2", {"passive": True}, ["joints.j2.passive", "'m2'"]),
    "spring to nowhere": ("springs", belt(["r1", "r9"]), ["springs.belt", "'r9'", "r1, r2"]),
    "spring of two drives": ("springs", belt(["r1", "r2"]), ["springs.belt", "fixed ratio"]),
    "spring of one shaft": ("springs", belt(["r1", "r1"]), ["belt.between", "same name twice"]),
    "spring of three shafts": ("springs", belt(["r1", "r2", "r3"]), ["between", "2 names"]),
    "loose spring": (
        "springs",
        {"belt": {"between": ["r1", "p1"]}},
        ["springs.belt.stiffness", "missing"],
    ),
    "both sides": ("springs", belt(["r1", "p1"], **{"with": ["p1"]}), ["belt.with", "both sides"]),
    "stiff belt": ("springs", belt(["r1", "p1"], stiffness=0), ["belt.stiffness", "not above 0"]),
    "two belts on one wheel": (
        "springs",
        belt(["r1", "p1"]) | {"other": {"between": ["r1", "p1"], "stiffness": 1}},
        ["springs.other", "'r1' is on the motor side of spring 'belt'"],
    ),
    "belt without inertia": (
        "springs",
        belt(["light", "p1"]),
        ["springs.belt", "no wheel with inertia is on the motor side of spring 'belt'"],
    ),
    "passive is text": ("joints.j2.passive", "yes", ["joints.j2.passive", "true or false"]),
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The good drivetrain with one entry changed."""
    drives = copy.deepcopy(GOOD)
    *keys, last = path.split(".")
    place = drives
    for key in keys:
        place = place[key]
    if value == "-":
        del place[last]
    else:
        place[last] = value
    return drives


@pytest.mark.parametrize(("path", "value", "words"), TABLE.values(), ids=TABLE)
def test_bad_file_is_refused(path: str, value: Any, words: list[str]) -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(ROBOT, changed(path, value))
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_fewer_wheels_than_shafts_are_refused() -> None:
    drives = changed("spins", BOTH)
    del drives["motors"]
    with pytest.raises(gd.GearedDynamicsError, match="'j1', the spring of joint 'j2' has fewer"):
        gd.load_model(ROBOT, drives)


def without_second_motor(**j2: Any) -> dict[str, Any]:
    """The good drivetrain with a rigid second joint that nothing drives."""
    drives = changed("motors.m2", "-")
    del drives["joints"]["j2"]
    if j2:
        drives["joints"]["j2"] = j2
    return drives


def test_undriven_rigid_joint_must_be_declared_passive() -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(ROBOT, without_second_motor())
    assert caught.value.place.endswith("joints.j2")
    assert "no motor drives joint 'j2', and it is not declared passive" in str(caught.value)
    assert "joints.j2.passive: true" in caught.value.remedy
    without_springs = without_second_motor()
    del without_springs["joints"]
    assert gd.load_model(ROBOT, without_springs).n == 2  # the rigid functions need no motors
    without_motors = without_second_motor()
    del without_motors["motors"]
    assert gd.load_model(ROBOT, without_motors).elasticity.count == 1
    assert gd.load_model(ROBOT, without_second_motor(), joints=["j1"]).n == 1


def test_passive_joint_without_spring_is_free() -> None:
    model = gd.load_model(ROBOT, without_second_motor(passive=True))
    assert model.elasticity.passive.tolist() == [1]
    assert model.elasticity.names == ("j1.theta",)
    q, theta, v, vtheta = [0.1, 0.2], [0.11], [0.3, -0.4], [0.5]
    a, atheta = gd.elastic.forward_dynamics(model, gd.State(q, v, theta, vtheta), [2.0])
    tau, shaft = gd.elastic.inverse_dynamics(model, gd.State(q, v, theta, vtheta), a, atheta)
    np.testing.assert_allclose(tau, 0.0, atol=1e-9)
    np.testing.assert_allclose(gd.elastic.motor_torques(model, tau, shaft), [2.0], rtol=1e-9)


@pytest.mark.parametrize(
    ("between", "others", "said"),
    [
        (["p1", "r1"], [], "its motor side, 'p1'; motor 'm1' drives 'r1', on its link side"),
        (["p1", "i1"], [], "its motor side, 'p1'"),  # the motor's wheel is not named
        (["p1", "i1"], ["r1"], None),
        (["r1", "p1"], [], None),
    ],
)
def test_spring_without_a_motor_behind_it_is_warned_of(
    between: list[str], others: list[str], said: str | None
) -> None:
    drives = changed("springs", belt(between, **{"with": others}))
    drives["wheels"]["i1"] = copy.deepcopy(WHEEL)
    drives["spins"].append({"wheel": "i1", "joint": "j1", "ratio": -30})
    if said is None:
        assert gd.load_model(ROBOT, drives, strict=True).notes == ()
        return
    with pytest.warns(gd.GearedDynamicsWarning, match="springs.belt: no motor drives") as found:
        model = gd.load_model(ROBOT, drives)
    assert said in str(found[0].message)
    assert model.notes == (str(found[0].message),)
    with pytest.raises(gd.GearedDynamicsError, match=rf"between: \[{between[1]}, p1\]"):
        gd.load_model(ROBOT, drives, strict=True)
    del drives["motors"]
    assert gd.load_model(ROBOT, drives, strict=True).notes == ()


def test_motor_behind_two_springs_is_behind_both() -> None:
    springs = belt(["r1", "p1"]) | {"shaft": {"between": ["p1", "i1"], "stiffness": 9.0}}
    drives = changed("springs", springs)
    drives["wheels"]["i1"] = copy.deepcopy(WHEEL)
    drives["spins"].append({"wheel": "i1", "joint": "j1", "ratio": -30})
    assert gd.load_model(ROBOT, drives, strict=True).notes == ()


def test_rigid_joint_behind_a_belt_is_driven() -> None:
    """Its motor's wheel follows the belt's shaft alone, and turns the joint through it."""
    drives = changed("springs", belt(["r1", "p1"]))
    del drives["joints"]
    assert gd.load_model(ROBOT, drives).elasticity.names == ("belt.theta",)
    del drives["motors"]["m1"]
    with pytest.raises(gd.GearedDynamicsError, match="no motor drives joint 'j1'"):
        gd.load_model(ROBOT, drives)


def test_link_without_inertia_before_its_spring_is_refused() -> None:
    """Rigid, the reflected rotor would carry the joint; behind a spring it does not."""
    assert gd.load_model(MASSLESS, changed("joints", {"j1": {"offset": 0}})).n == 2
    with pytest.raises(gd.GearedDynamicsError, match=r"M_link: is not pos.*'j2' moves no.*stiff"):
        gd.load_model(MASSLESS, GOOD)


def test_arm_without_springs_is_refused() -> None:
    rigid = gd.load_model(ROBOT, changed("joints", {"j1": {"offset": 0}}))
    with pytest.raises(gd.GearedDynamicsError, match=r"no joint.*elastic.*joints\.<name>\.stiff"):
        gd.elastic.mass_matrix(rigid, [0, 0])
    with pytest.raises(gd.GearedDynamicsError, match="no joint"):
        gd.elastic.forward_dynamics(rigid, gd.State(*np.zeros((4, 2))), np.zeros(2))


def test_motors_are_optional_where_no_torque_is_asked_for() -> None:
    drives = copy.deepcopy(GOOD)
    del drives["motors"]
    model = gd.load_model(ROBOT, drives)
    assert gd.elastic.mass_matrix(model, [0, 0]).shape == (4, 4)
    batch = np.zeros((3, 2))
    a, _ = gd.elastic.forward_dynamics(model, gd.State(batch, batch, batch, batch), np.zeros(0))
    assert a.shape == (3, 2)
    with pytest.raises(
        gd.GearedDynamicsError,
        match="0 motors drive 0 of 2 degrees of freedom: none drives j1, j2",
    ):
        gd.elastic.motor_torques(model, [0, 0], [0, 0])


def test_joints_that_motors_turn_together_only_are_named() -> None:
    drives = changed("spins", copy.deepcopy(GOOD["spins"]))
    drives["spins"][0] = {"wheel": "r1", "coefficients": {"j1": 50, "j2": 50}}
    del drives["motors"]["m2"]
    model = gd.load_model(ROBOT, drives)
    with pytest.raises(
        gd.GearedDynamicsError, match=r"1 motor drives 1 of 2 degrees of freedom: .* j1, j2;"
    ):
        gd.elastic.motor_torques(model, [0, 0], [0, 0])


def test_elastic_model_is_a_name() -> None:
    model = gd.load_model(ROBOT, GOOD)
    for wrong in ("spong", 5, None):
        with pytest.raises(gd.GearedDynamicsError, match="complete, uncoupled, spong_truncated"):
            model.with_elasticity(wrong)  # type: ignore[arg-type]
    with pytest.raises(gd.GearedDynamicsError, match="free, held"):
        gd.elastic.modes(model, [0, 0], rotors="loose")  # type: ignore[arg-type]
    with pytest.raises(gd.GearedDynamicsError, match=r"q: has shape \(2, 2\)"):
        gd.elastic.modes(model, np.zeros((2, 2)))


MODEL = gd.load_model(ROBOT, GOOD)
GIVEN = {
    name: np.zeros(2) for name in ("q", "theta", "v", "vtheta", "a", "atheta", "tau_m", "tau")
}
GIVEN["tau_theta"] = np.zeros(2)
CALLS = {
    "mass_matrix": ["q"],
    "coriolis_matrix": ["q", "v", "vtheta"],
    "bias_forces": ["q", "v", "vtheta"],
    "joint_torque": ["q", "theta", "v", "vtheta"],
    "spring_forces": ["q", "theta", "v", "vtheta"],
    "spring_energy": ["q", "theta"],
    "forward_dynamics": ["q", "theta", "v", "vtheta", "tau_m"],
    "inverse_dynamics": ["q", "theta", "v", "vtheta", "a", "atheta"],
    "kinetic_energy": ["q", "v", "vtheta"],
    "potential_energy": ["q", "theta"],
    "motor_torques": ["tau", "tau_theta"],
    "motor_angles": ["q", "theta"],
    "motor_speeds": ["v", "vtheta"],
    "friction_forces": ["q", "theta", "v", "vtheta"],
    "modes": ["q"],
}


def by_name(name: str, given: dict[str, Any]) -> Any:
    """Call an elastic function with its arrays by name; those of the state become one."""
    whole = "theta" in given or "vtheta" in given
    return getattr(gd.elastic, name)(MODEL, **(with_state(given) if whole else given))


WRONG: dict[str, tuple[Any, str]] = {
    "shape": (np.zeros(3), r"has shape \(3,\)"),
    "scalar": (1.0, r"has shape \(\)"),
    "NaN": (np.array([0.0, np.nan]), "nan|NaN"),
    "infinite": (np.array([np.inf, 0.0]), "inf|NaN or infinity"),
    "text": ("xy", "not an array of real numbers"),
    "None": (None, "not an array of real numbers|is None, and this arm has elastic joints"),
    "complex": (np.zeros(2, complex), "not an array of real numbers"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    ("name", "argument"), [(name, key) for name, keys in CALLS.items() for key in keys]
)
def test_bad_argument_is_refused_by_name(name: str, argument: str, wrong: str) -> None:
    value, words = WRONG[wrong]
    given = {key: GIVEN[key] for key in CALLS[name]} | {argument: value}
    with pytest.raises(gd.GearedDynamicsError, match=words) as caught:
        by_name(name, given)
    assert argument in str(caught.value)


@pytest.mark.parametrize("name", [name for name in CALLS if "theta" in CALLS[name]])
def test_overflow_is_refused(name: str) -> None:
    given = {key: GIVEN[key] for key in CALLS[name]} | {"theta": np.full(2, 1e307)}
    with pytest.raises(gd.GearedDynamicsError, match="so large that the result overflows"):
        by_name(name, given)


def test_overflow_of_the_sum_alone_is_refused() -> None:
    """Inertia, springs and wrenches are finite each, their sum is not."""
    zero, model = np.zeros(2), MODEL
    given = dict.fromkeys(("q", "theta", "v", "vtheta", "a", "atheta"), zero)
    inertia = gd.elastic.mass_matrix(model, zero)[3, 3]
    push = np.array([0.0, 1.5e308 / inertia])
    pull = np.array([0.0, 1.5e305])  # through 1e3 N m/rad
    by_name("inverse_dynamics", given | {"atheta": push})
    by_name("inverse_dynamics", given | {"theta": pull})
    with pytest.raises(gd.GearedDynamicsError, match="theta: is so large that the result overf"):
        by_name("inverse_dynamics", given | {"atheta": push, "theta": pull})
    loads = np.zeros((2, 6))
    loads[1, 4] = -1.5e308
    with pytest.raises(gd.GearedDynamicsError, match="f_ext: is so large that the result overf"):
        by_name("inverse_dynamics", given | {"theta": -pull, "f_ext": loads})


def test_numbers_of_states_must_agree() -> None:
    with pytest.raises(gd.GearedDynamicsError, match="do not broadcast"):
        gd.elastic.bias_forces(
            MODEL, gd.State(np.zeros((3, 2)), np.zeros((4, 2)), vtheta=np.zeros(2))
        )
    with pytest.raises(gd.GearedDynamicsError, match="do not broadcast"):
        gd.elastic.kinetic_energy(
            MODEL, gd.State(np.zeros(2), np.zeros((4, 2)), vtheta=np.zeros((3, 2)))
        )


def test_output_must_fit_and_lie_apart() -> None:
    x = np.zeros(2)
    state = gd.State(x, x, x, x), x
    with pytest.raises(gd.GearedDynamicsError, match=r"out: has shape \(2,\)"):
        gd.elastic.forward_dynamics(MODEL, *state, out=np.zeros(2))
    with pytest.raises(gd.GearedDynamicsError, match="out: is a float32"):
        gd.elastic.forward_dynamics(MODEL, *state, out=np.zeros(4, np.float32))
    memory = np.zeros(4)
    with pytest.raises(gd.GearedDynamicsError, match="shares memory with vtheta"):
        gd.elastic.forward_dynamics(MODEL, gd.State(x, x, x, memory[1:3]), x, out=memory)
    with pytest.raises(gd.GearedDynamicsError, match=r"tau_m: is so large.*overflows"):
        gd.elastic.forward_dynamics(MODEL, gd.State(x, x, x, x), x + 1e308)
