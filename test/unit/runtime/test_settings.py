"""From parameters to gains, limits, rules, model."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elbow as elastic_elbow
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime import model_source
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.feedforward_settings import (
    controller_of,
    gains_of,
    policy_of,
    rules_of,
    unlimited,
    unread_gains,
)
from geared_dynamics.runtime.model_source import loaded, payload_words
from geared_dynamics.runtime.parameters import ParameterError
from node_values import feedforward

URDF = Path(__file__).resolve().parents[3] / "urdf"
ELBOW, DRIVES = URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml"


@pytest.fixture(scope="module")
def model() -> gd.GearedModel:
    return gd.load_model(ELBOW, DRIVES)


def values(model: gd.GearedModel | None = None, **changes: Any) -> FeedforwardParameters:
    return feedforward(model, **{"mode": "stream"} | changes)


def test_gains_by_bandwidth(model: gd.GearedModel) -> None:
    found = gains_of(values(model, mode="computed_torque", bandwidth=5.0))
    assert found is not None
    assert found.kind == "acceleration"
    assert float(found.kp) == 25.0
    assert gains_of(values(model)) is None


def test_gains_as_the_joint_trajectory_controller_has_them(model: gd.GearedModel) -> None:
    given = values(
        model,
        mode="computed_torque",
        law="pd_plus_feedforward",
        gains__joint_1__p=100.0,
        gains__joint_2__d=7.0,
        gains__joint_3__i=2.0,
        gains__joint_3__i_clamp_max=3.0,
    )
    found = gains_of(given)
    assert found is not None
    assert found.kind == "torque"
    assert found.kp.tolist() == [100.0, 0.0, 0.0]
    assert found.kv.tolist() == [0.0, 7.0, 0.0]
    assert found.integral_limit.tolist() == [math.inf, math.inf, 3.0]


def test_limits_replace_the_urdfs(model: gd.GearedModel) -> None:
    usual = policy_of(values(model), model)
    given = values(
        model,
        joint_limits__joint_2__max_effort=10.0,
        joint_limits__joint_1__min_position=-1.0,
        constraints__joint_3__trajectory=0.1,
        cmd_timeout=0.5,
        safety__command_rate=500.0,
    )
    found = policy_of(given, model)
    assert found.command == (usual.command[0], 10.0, usual.command[2])
    assert found.lower[0] == -1.0
    assert found.tracking == (math.inf, math.inf, 0.1)
    assert found.reference_timeout == 0.5
    assert found.command_rate == (500.0,) * 3
    assert usual.command_rate == tuple(most / 0.02 for most in usual.command)
    assert (
        policy_of(values(model, safety__command_rate=0.0), model).command_rate == (math.inf,) * 3
    )
    lowered = policy_of(values(model, joint_limits__joint_2__max_effort=10.0), model)
    assert lowered.command_rate[1] == 500.0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("joint_1__max_effort", 100.1, "is 100.1, and the robot's description allows 100"),
        ("joint_2__max_velocity", 5.01, "allows 5"),
        ("joint_3__max_position", 2.7, "allows 2.6"),
        ("joint_2__min_position", -1.3, "allows -1.2"),
        ("joint_2__min_position", -math.inf, "allows -1.2"),
        ("joint_1__max_effort", math.inf, "correct it in the URDF or in the drivetrain file"),
    ],
)
def test_no_parameter_widens_a_limit(
    model: gd.GearedModel, name: str, value: float, words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        policy_of(values(model, **{f"joint_limits__{name}": value}), model)
    assert caught.value.place == f"joint_limits.{name.replace('__', '.')}"


def test_the_descriptions_own_limits_may_be_given_again(model: gd.GearedModel) -> None:
    usual = policy_of(values(model), model)
    given = values(
        model,
        joint_limits__joint_1__max_effort=100.0,
        joint_limits__joint_1__max_velocity=4.0,
        joint_limits__joint_1__min_position=-2.9,
        joint_limits__joint_1__max_position=2.9,
    )
    assert policy_of(given, model) == usual


def without_limits() -> gd.GearedModel:
    return gd.load_model(re.sub(r'effort="[^"]*"', 'effort="0"', ELBOW.read_text("utf-8")), DRIVES)


def test_where_no_limit_is_known_there_is_no_rate_and_a_line_about_it() -> None:
    arm = without_limits()
    free = policy_of(values(arm), arm)
    assert free.command == free.command_rate == (math.inf,) * 3
    assert "joint_1, joint_2, joint_3: neither" in unlimited(free, arm, "joint_torque")[0]
    given = values(arm, joint_limits__joint_1__max_effort=40.0)
    some = policy_of(given, arm)
    assert some.command_rate == (2000.0, math.inf, math.inf)
    assert "commands of joint_2, joint_3:" in unlimited(some, arm, "joint_torque")[0]
    known = policy_of(values(elbow_of_files()), elbow_of_files())
    assert unlimited(known, elbow_of_files(), "joint_torque") == []


def elbow_of_files() -> gd.GearedModel:
    return gd.load_model(ELBOW, DRIVES)


def test_a_rate_below_zero_is_none(model: gd.GearedModel) -> None:
    with pytest.raises(ParameterError, match=r"safety.command_rate: is -1"):
        policy_of(values(model, safety__command_rate=-1.0), model)


def test_continuous_joints_are_known_to_the_rules() -> None:
    text = ELBOW.read_text("utf-8").replace(
        'name="joint_1" type="revolute"', 'name="joint_1" type="continuous"'
    )
    arm = gd.load_model(text, DRIVES)
    assert rules_of(values(arm), arm).continuous == ("joint_1",)


def test_payload(model: gd.GearedModel) -> None:
    assert loaded(model, values(model)) is model
    given = values(
        model,
        payload__mass=1.5,
        payload__center_of_mass=[0.1, 0.0, 0.0],
        payload__inertia=[1e-3, 1e-4, 2e-4, 2e-3, 3e-4, 2.5e-3],
    )
    tensor = [[1e-3, 1e-4, 2e-4], [1e-4, 2e-3, 3e-4], [2e-4, 3e-4, 2.5e-3]]
    same = model.with_payload(1.5, [0.1, 0.0, 0.0], tensor)
    q = [0.1, 0.2, 0.3]
    np.testing.assert_allclose(
        gd.mass_matrix(loaded(model, given), q), gd.mass_matrix(same, q), rtol=1e-12
    )


def test_payload_link(model: gd.GearedModel) -> None:
    """The tip if none is named, as in ``with_payload``; any frame of a fixed joint by name."""
    q = [0.1, 0.2, 0.3]
    for given, link, place in (
        ({}, "tip", "tip, at 0.4 0 0 m in link_3"),
        ({"payload__link": "tip"}, "tip", "tip, at 0.4 0 0 m in link_3"),
        ({"payload__link": "link_2"}, "link_2", "link_2, at its joint's frame"),
    ):
        changed = values(model, payload__mass=1.5, **given)
        same = model.with_payload(1.5, link=link)
        np.testing.assert_array_equal(
            gd.gravity_forces(loaded(model, changed), q), gd.gravity_forces(same, q)
        )
        words = f"1.5 kg, centre of mass 0 0 0 m in the frame of {place}"
        assert payload_words(model, changed.payload) == words
    assert payload_words(model, values(model).payload) == "none"
    with pytest.raises(
        gd.GearedDynamicsError, match=r"payload\.link: 'base_link' is fixed to the"
    ):
        loaded(model, values(model, payload__mass=1.0, payload__link="base_link"))


def test_several_tips_need_a_payload_link() -> None:
    text = ELBOW.read_text("utf-8").replace(
        "</robot>",
        '<link name="camera"/><joint name="seat" type="fixed"><parent link="link_3"/>'
        '<child link="camera"/></joint></robot>',
    )
    arm = gd.load_model(text, DRIVES)
    assert loaded(arm, values(arm)) is arm
    with pytest.raises(gd.GearedDynamicsError, match=r"payload\.link: is not given.*tip, camera"):
        loaded(arm, values(arm, payload__mass=1.0))


def test_a_model_from_text_path_or_topic() -> None:
    text = ELBOW.read_text("utf-8")
    for given, published in (
        (values(urdf_path=str(ELBOW)), None),
        (values(robot_description=text), None),
        (values(), text),
        (values(robot_description=text), "<not this one/>"),
    ):
        assert model_source.load(given, published).name == "elbow"
    assert model_source.needs_topic(values())
    assert not model_source.needs_topic(values(urdf_path="x"))


def test_a_drivetrain_as_text_and_chosen_joints() -> None:
    given = values(
        urdf_path=str(ELBOW),
        drivetrain=DRIVES.read_text("utf-8"),
        locked_joints=["joint_3"],
        locked_positions=[0.5],
        joints=["joint_2", "joint_1"],
    )
    model = model_source.load(given, None)
    assert model.joint_names == ("joint_1", "joint_2")


@pytest.mark.parametrize(
    ("changes", "published", "words"),
    [
        ({}, None, "nothing has been published on this topic yet"),
        ({}, "/etc/hostname", "is not XML"),
        ({"robot_description": "arm.urdf"}, None, "set urdf_path"),
        ({"urdf_path": "a", "robot_description": "<robot/>"}, None, "leave one of the two empty"),
        ({"urdf_path": "no/such.urdf"}, None, "no/such.urdf"),
        ({"urdf_path": str(ELBOW), "joints": ["joint_9"]}, None, "joint_9"),
        ({"urdf_path": str(ELBOW), "gravity": [0.0]}, None, "gravity"),
        (
            {
                "urdf_path": str(ELBOW),
                "locked_joints": ["joint_1"],
                "locked_positions": [0.0, 1.0],
            },
            None,
            "locked_positions: has 2 numbers",
        ),
    ],
)
def test_wrong_descriptions(changes: Any, published: str | None, words: str) -> None:
    with pytest.raises(GearedDynamicsError) as error:
        model_source.load(values(**changes), published)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("mode", "law", "said"),
    [
        ("stream", "computed_torque", "no feedback"),
        ("computed_torque", "computed_torque", "set law: pd_plus_feedforward"),
        ("computed_torque", "pd_plus_feedforward", None),
        ("annotate", "computed_torque", None),
    ],
)
def test_gains_that_no_law_reads_are_told_of_once(
    model: gd.GearedModel, mode: str, law: str, said: str | None
) -> None:
    assert unread_gains(values(model, mode=mode, law=law), model) == []
    given = values(model, mode=mode, law=law, gains__joint_1__p=1.0, gains__joint_2__d=1.0)
    lines = unread_gains(given, model)
    assert len(lines) == (said is not None)
    assert all(said in line and "gains.joint_1.p and others" in line for line in lines)  # type: ignore[operator]


def test_elastic_arms_read_the_gains_of_computed_torque() -> None:
    arm = elastic_elbow(damping=1.0)
    given = values(arm, mode="computed_torque", gains__joint_1__p=1.0)
    assert unread_gains(given, arm) == []
    assert unread_gains(given.replaced({"use_elasticity": False}), arm) != []


def test_unstable_default_gains_are_refused_with_parameters_that_there_are() -> None:
    arm = elastic_elbow(damping=0.0)
    given = values(arm, mode="computed_torque", feedback="joint")
    with pytest.raises(GearedDynamicsError) as caught:
        controller_of(given, arm)
    text = str(caught.value)
    assert "fraction" not in text
    assert "feedback: is joint" in text
    assert "set feedback: motor" in text
    assert "gains.<joint>.p" in text


@pytest.mark.parametrize("name", ["p", "d"])
def test_gains_of_an_elastic_arm_are_its_own_where_one_is_given(name: str) -> None:
    """Damping alone is a law, too: nothing is added to it unasked."""
    arm = elastic_elbow(damping=1.0)
    given: dict[str, Any] = {f"gains__joint_2__{name}": 7.0, "mode": "computed_torque"}
    gains = controller_of(values(arm, **given), arm).gains
    assert gains is not None
    found = {"p": np.asarray(gains.kp), "d": np.asarray(gains.kv)}
    np.testing.assert_array_equal(found.pop(name), [0.0, 7.0, 0.0])
    assert not next(iter(found.values())).any()
    usual = controller_of(values(arm, mode="computed_torque", feedback="motor"), arm).gains
    assert usual is not None
    assert np.asarray(usual.kp).all()
    assert np.asarray(usual.kv).all()
