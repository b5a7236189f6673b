"""One order of states and measurements; calls in a former order raise and name the new one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from driven_arms import driven_arm
from elastic_arms import URDF, elbow, elbow_drives, joined, state

MODEL = elbow(damping=2.0)
Q, THETA, V, VTHETA, A, ATHETA = state(MODEL, 0)
NOW = gd.State(Q, V, THETA, VTHETA)
FORMER: dict[str, tuple[str, ...]] = {
    "coriolis_matrix": ("q", "v", "vtheta"),
    "bias_forces": ("q", "v", "vtheta"),
    "kinetic_energy": ("q", "v", "vtheta"),
    "joint_torque": ("q", "theta", "v", "vtheta"),
    "spring_forces": ("q", "theta", "v", "vtheta"),
    "spring_energy": ("q", "theta"),
    "potential_energy": ("q", "theta"),
    "motor_angles": ("q", "theta"),
    "motor_speeds": ("v", "vtheta"),
    "friction_forces": ("v", "vtheta", "q", "theta"),
    "forward_dynamics": ("q", "theta", "v", "vtheta", "tau_m"),
    "inverse_dynamics": ("q", "theta", "v", "vtheta", "a", "atheta"),
}
ARRAYS = {"q": Q, "theta": THETA, "v": V, "vtheta": VTHETA, "a": A, "atheta": ATHETA, "tau_m": A}


def test_states_of_all_rooms_are_one() -> None:
    assert gd.State._fields == ("q", "v", "theta", "vtheta", "current")
    assert gd.control.State is gd.State
    assert gd.observers.Measurement is gd.simulation.Measurement is gd.Measurement
    np.testing.assert_array_equal(NOW.x, np.r_[Q, THETA])
    np.testing.assert_array_equal(NOW.rate, np.r_[V, VTHETA])
    assert gd.State(Q, V).x is Q
    assert gd.State(Q, V).rate is V


@pytest.mark.parametrize("name", FORMER)
def test_former_calls_with_arrays_name_the_new_one(name: str) -> None:
    """All joints are elastic here: only the type tells an array of q from one of theta."""
    function, values = getattr(gd.elastic, name), [ARRAYS[key] for key in FORMER[name]]
    for call in (
        lambda: function(MODEL, *values),
        lambda: function(MODEL, **{key: ARRAYS[key] for key in FORMER[name]}),
        lambda: function(MODEL, tuple(NOW), *values[4:]),
    ):
        with pytest.raises(gd.GearedDynamicsError) as caught:
            call()
        assert f"call {name}(model, state" in str(caught.value)
        assert "gd.State(q, v, theta, vtheta)" in str(caught.value)


def test_former_calls_of_the_cartesian_model_name_the_new_one() -> None:
    for function in (gd.cartesian.dynamics, gd.cartesian.accelerations):
        for given in ((Q, THETA, V, VTHETA), (Q, None, V, None)):
            with pytest.raises(
                gd.GearedDynamicsError, match=rf"{function.__name__}\(model, state"
            ):
                function(MODEL, *given)  # type: ignore[arg-type, call-arg]


@pytest.mark.parametrize(
    ("name", "part"),
    [("forward_dynamics", "theta"), ("forward_dynamics", "vtheta"), ("spring_energy", "theta")],
)
def test_a_state_without_its_motor_side_is_refused(name: str, part: str) -> None:
    more = [A] if name == "forward_dynamics" else []
    with pytest.raises(gd.GearedDynamicsError, match=rf"state.{part}: is None.*elastic joints"):
        getattr(gd.elastic, name)(MODEL, NOW._replace(**{part: None}), *more)


FORMER_NAMES: dict[str, tuple[Callable[[], Any], str]] = {
    "time derivatives": (
        lambda: gd.inverse_dynamics_derivatives(MODEL, np.zeros((3, 3))),
        r"inverse_dynamics_time_derivatives\(model, derivatives\)",
    ),
    "driven state": (lambda: gd.DrivenState(Q, V, A), r"gd\.State\(q, v, current=current\)"),
    "elastic state": (
        lambda: gd.simulation.ElasticState(Q, THETA, V, VTHETA),
        r"gd\.State\(q, v, theta, vtheta, current\)",
    ),
    "moving": (
        lambda: gd.observers.momentum_start(MODEL, gd.observers.Moving(Q, V, A)),  # type: ignore[arg-type]
        r"Moving\(gd\.State\(q, v, theta, vtheta\), tau_m",
    ),
    "motor_position": (
        lambda: gd.Measurement(motor_position=Q, tau_m=A),  # type: ignore[call-arg]
        "use motor_",
    ),
    "known force": (lambda: gd.Measurement(Q, A, tau=A), "observer's step, known="),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", FORMER_NAMES)
def test_former_names_raise_and_name_the_new_ones(name: str) -> None:
    call, words = FORMER_NAMES[name]
    with pytest.raises(gd.GearedDynamicsError, match=words):
        call()


@pytest.mark.parametrize(
    ("name", "new"), [("q", "joint_state"), ("effort", "motor_torque"), ("z", "time")]
)
def test_former_fields_of_a_measurement_are_named(name: str, new: str) -> None:
    with pytest.raises(AttributeError, match=new):
        getattr(gd.Measurement(Q, A), name)
    assert not hasattr(gd.Measurement(Q, A), name)


def steps() -> dict[str, Callable[..., Any]]:
    """All public functions that move something on by a time."""
    rooms = (gd, gd.simulation, gd.observers)
    found = {
        name: getattr(room, name)
        for room in rooms
        for name in room.__all__
        if name.endswith("_step")
    }
    classes = (gd.simulation.Plant, gd.control.Controller, gd.control.ElasticController)
    return found | {f"{kind.__name__}.step": kind.step for kind in classes}


@pytest.mark.parametrize("name", steps())
def test_the_length_of_a_step_is_the_last_positional_argument(name: str) -> None:
    parameters = inspect.signature(steps()[name]).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional[-1] == "dt"


@pytest.mark.parametrize("seed", range(4))
def test_encoders_show_the_joints_through_any_gears(seed: int) -> None:
    """Of rigid joints exactly; joints that no motor determines by their own encoders."""
    model = driven_arm(seed)
    random = np.random.default_rng(seed)
    q, v = random.normal(size=(2, model.n))
    angle, speed = gd.motor_angles(model, q), gd.motor_speeds(model, v)
    own = {"link_position": q, "link_velocity": v}
    shown = gd.Measurement(angle, 0 * angle, motor_speed=speed, **own).joint_state(model)
    np.testing.assert_allclose(shown.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shown.v, v, rtol=0, atol=1e-11)
    off = gd.Measurement(angle + 1.0, 0 * angle, motor_speed=speed, **own).joint_state(model)
    assert np.abs(off.q - q).max() > 1e-3
    with pytest.raises(gd.GearedDynamicsError, match="motor_speed: is not measured"):
        gd.Measurement(angle, 0 * angle).joint_state(model)


def test_a_plant_reads_joints_without_motor_by_their_own_encoders() -> None:
    drives = elbow_drives()
    del drives["joints"], drives["motors"]["motor_3"]
    model = gd.load_model(URDF / "elbow.urdf", drives)
    plant = gd.simulation.Plant(model, command="torque", engine="equations")
    q, v = np.random.default_rng(0).uniform(-0.1, 0.1, (2, model.n))
    plant.reset(gd.State(q, v))
    seen = plant.read()
    assert seen.link_position is not None
    assert np.isfinite(seen.link_position).tolist() == [False, False, True]
    np.testing.assert_allclose(seen.joint_state(model).q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen.joint_state(model).v, v, rtol=0, atol=1e-12)
    bare = seen._replace(link_position=None, link_velocity=None).joint_state(model)
    assert np.abs(bare.q - q).max() > 1e-3


def test_the_order_of_the_ten_parameters_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    inertia = pin.Inertia.Random()
    names = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    arm = gd.load_model(
        '<robot name="r"><link name="a"/><link name="b"><inertial>'
        '<origin xyz="{} {} {}"/><mass value="{}"/>'
        '<inertia ixx="{}" ixy="{}" ixz="{}" iyy="{}" iyz="{}" izz="{}"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'.format(
            *inertia.lever, inertia.mass, *inertia.inertia[np.triu_indices(3)]
        )
    )
    assert gd.parameter_names(arm) == tuple(f"b.{name}" for name in names)
    ours = gd.parameters(arm)[[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    np.testing.assert_allclose(ours, inertia.toDynamicParameters(), rtol=1e-9, atol=1e-12)


def test_pairs_of_the_helpers_are_states() -> None:
    """The tests' own order of pairs is turned into the one order here and nowhere else."""
    for found, expected in zip(joined(Q, THETA, V, VTHETA), NOW, strict=True):
        assert found is expected
