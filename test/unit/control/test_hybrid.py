"""Laws with a desired contact force: the force is held, feedback moves what is free only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_arms import SLIDING, Q, planar, tip, wall
from driven_arms import driven_arm
from geared_dynamics.control.laws import position_error, turns
from geared_dynamics.control.terms import compensated_force
from random_robots import random_robot

contact, control = gd.contact, gd.control
URDF = Path(__file__).resolve().parents[3] / "urdf"
EXACT = {"rtol": 0, "atol": 1e-10}
WANTED = np.array([0.5, -1.205512035219])  # s'' = 0 at Q, SLIDING
QUIET = control.Terms(use_friction=False)
GAINS = {
    "computed_torque": control.gains_from_bandwidth(20.0, integral=0.2),
    "pd_plus_feedforward": control.Gains(np.array(300.0), np.array(40.0), kind="torque"),
}


def arm(seed: int) -> gd.GearedModel:
    """A random arm of six joints, wheels anywhere, without friction."""
    case = random_robot(seed, joints=6, mimics=0, fixed=1, wheels=6, massless=False)
    return gd.load_model(case.urdf, case.drivetrain, gravity=case.gravity)


def objects(model: gd.GearedModel, q: np.ndarray, kind: str, rng: Any) -> list[Any]:
    """Bilateral contacts that the arm's last link touches, at rest or moving."""
    link = model.body_names[-1]
    place = gd.pose(model, q, link)[:3, 3]
    shapes = {"surface": (contact.Surface,), "line": (contact.Line,)}
    shapes |= {"edge": (contact.Surface, contact.Surface)}
    found = []
    for shape in shapes[kind]:
        options = {"bilateral": True} if shape is contact.Surface else {}
        found.append(shape(link, place, rng.normal(size=3), **options))
    return found


def scene(seed: int, kind: str) -> tuple[Any, ...]:
    """An arm on its way along what it touches, and a reference that it is off by any error."""
    rng = np.random.default_rng(seed)
    model = arm(seed)
    q = rng.uniform(-1.5, 1.5, model.n)
    ready = contact.prepare(model, objects(model, q, kind, rng))
    J = contact.coordinates(model, ready, q, q, free=False).jacobian
    v = rng.normal(size=model.n)
    v -= np.linalg.pinv(J) @ (J @ v)
    seen = contact.coordinates(model, ready, q, v, free=False)
    if np.linalg.cond(J) > 1e3:
        pytest.skip("a posture that the contacts pin")
    a = rng.normal(size=model.n)
    a -= np.linalg.pinv(J) @ (J @ a + seen.drift)
    force = rng.normal(size=ready.rows) * 20.0
    return model, ready, q, v, a, force, rng


def stepped(model: Any, law: str, state: Any, reference: Any, **options: Any) -> np.ndarray:
    """The command of one cycle."""
    made = control.controller(model, law, gains=GAINS.get(law), terms=QUIET, **options)
    return made.step(made.start(), state, reference, 1e-3)[1].command


@pytest.mark.parametrize("law", ["feedforward", *GAINS])
def test_planar_arm_presses_with_20_newton(law: str) -> None:
    model = planar()
    there = control.desired_contact(model, wall(), [20.0], Q, SLIDING)
    reference = control.Reference(Q, SLIDING, WANTED, contact=there)
    tau = stepped(model, law, gd.State(Q, SLIDING), reference)
    np.testing.assert_allclose(tau, [37.628113932035, 8.257424302466], **EXACT)
    found = contact.constrained_dynamics(model, wall(), Q, SLIDING, tau)
    np.testing.assert_allclose(found.force, [20.0], **EXACT)
    np.testing.assert_allclose(found.a, WANTED, rtol=0, atol=1e-9)


@pytest.mark.parametrize("law", ["feedforward", *GAINS])
def test_friction_of_the_tool_is_carried(law: str) -> None:
    model = planar()
    there = control.desired_contact(model, wall(), [20.0], Q, SLIDING, friction=0.3)
    reference = control.Reference(Q, SLIDING, WANTED, contact=there)
    tau = stepped(model, law, gd.State(Q, SLIDING), reference)
    found = contact.constrained_dynamics(model, wall(), Q, SLIDING, tau, friction=0.3)
    np.testing.assert_allclose(found.force, [20.0], **EXACT)
    np.testing.assert_allclose(found.a, WANTED, rtol=0, atol=1e-9)
    still = control.desired_contact(model, wall(), [20.0], Q, 0 * SLIDING, friction=0.3)
    plain = control.desired_contact(model, wall(), [20.0], Q, SLIDING)
    np.testing.assert_array_equal(still.force, plain.force)


def weak(gains: control.Gains) -> control.Gains:
    """The same gains, a thousand times smaller."""
    return control.Gains(gains.kp * 1e-3, gains.kv * 1e-3, kind=gains.kind)


@pytest.mark.parametrize("kind", ["surface", "line", "edge"])
@pytest.mark.parametrize("law", list(GAINS))
@pytest.mark.parametrize("seed", range(6))
def test_feedback_leaves_the_force_and_moves_what_is_free(law: str, kind: str, seed: int) -> None:
    model, ready, q, v, a, force, rng = scene(seed, kind)
    there = control.desired_contact(model, ready, force, q, v)
    e, de = 0.3 * rng.normal(size=(2, model.n))
    reference = control.Reference(q + e, v + de, a, contact=there)
    made = control.controller(model, law, gains=GAINS[law], terms=QUIET)

    def motion(made: Any, reference: Any, carried: Any = 0.0) -> Any:
        tau = made.step(made.start(), gd.State(q, v), reference, 1e-3)[1].command - carried
        return contact.constrained_dynamics(model, ready, q, v, tau, tolerance=np.inf)

    strong, soft = motion(made, reference), motion(made.with_gains(weak(GAINS[law])), reference)
    scale = 1.0 + np.abs(gd.inverse_dynamics(model, q + e, v + de, a)).max()
    scale *= np.linalg.cond(there.jacobian)
    np.testing.assert_allclose(strong.force, soft.force, rtol=0, atol=1e-9 * scale)
    assert np.abs(strong.a - soft.a).max() > 1.0
    if law == "computed_torque":
        np.testing.assert_allclose(strong.force, force, rtol=0, atol=1e-9 * scale)
    plain = reference._replace(contact=None)
    pushed = (
        motion(made, plain, there.force).force
        - motion(made.with_gains(weak(GAINS[law])), plain, there.force).force
    )
    assert np.abs(pushed).max() > 1.0, "feedback along all coordinates changes the force"


@pytest.mark.parametrize("rate", ["reference", "measured"])
@pytest.mark.parametrize("off", [(), ("use_rotor_coupling", "use_gravity_compensation")])
@pytest.mark.parametrize("law", ["feedforward", *GAINS])
def test_laws_are_the_equations(law: str, off: tuple[str, ...], rate: Any) -> None:
    """Written down with explicit inverses, friction that grows with the load, any gains."""
    model, rng = driven_arm(3), np.random.default_rng(4)
    q, v, q_d, v_d, a_d, Q_d, z = rng.normal(size=(7, model.n))
    J, drift = rng.normal(size=(2, model.n)), rng.normal(size=2)
    terms = control.Terms(**dict.fromkeys(off, False))
    given = control.compensation(model, terms)
    kp, kv, ki = rng.uniform(1.0, 9.0, (3, model.n))
    kind = "acceleration" if law == "computed_torque" else "torque"
    gains = control.Gains(kp, kv, ki, kind=kind)
    options = {"gains": gains} if law in GAINS else {}
    made = control.controller(model, law, terms=terms, friction_rate=rate, **options)
    reference = control.Reference(q_d, v_d, a_d, contact=control.DesiredContact(Q_d, J, drift))
    state = gd.State(q, v)
    found = made.step(control.Memory(z), state, reference, 0.0)[1].command

    M = gd.mass_matrix(model, q)
    back = np.linalg.solve(M, J.T) @ np.linalg.inv(J @ np.linalg.solve(M, J.T))
    P = np.eye(model.n) - back @ J
    f = kp * (P @ position_error(q_d, q, turns(model))) + kv * (P @ (v_d - v)) + ki * z
    at, a, extra = (q_d, v_d), a_d, 0.0
    if law == "computed_torque":
        at, a, extra = (q, v), P @ a_d - back @ drift, M @ P @ f
    if law == "pd_plus_feedforward":
        extra = P.T @ f
    moving = a + P @ f if law == "computed_torque" and not off else a
    load = gd.inverse_dynamics(model, *at, moving) - Q_d
    rubbing = gd.friction_forces(
        model, v if rate == "measured" and law in GAINS else v_d, at[0], load
    )
    expected = compensated_force(given, *at, a) + extra - Q_d + rubbing
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_each_surface_rubs_in_its_own_direction() -> None:
    model, rng = arm(4), np.random.default_rng(5)
    q, v = rng.normal(size=(2, model.n))
    links, forces = model.body_names[-2:], np.array([30.0, 10.0])
    walls = [contact.Surface(k, gd.pose(model, q, k)[:3, 3], rng.normal(size=3)) for k in links]
    expected = np.zeros(model.n)
    for link, wall_, force in zip(links, walls, forces, strict=True):
        J = gd.jacobian(model, q, link)[:3]
        slip = J @ v - wall_.normal * (wall_.normal @ J @ v)
        expected += J.T @ (force * (wall_.normal - 0.4 * slip / np.linalg.norm(slip)))
    found = control.desired_contact(model, walls, forces, q, v, friction=0.4)
    np.testing.assert_allclose(found.force, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_an_error_along_the_constrained_coordinates_does_nothing(seed: int) -> None:
    model, ready, q, v, a, force, _ = scene(seed, "line")
    there = control.desired_contact(model, ready, force, q, v)
    across = np.linalg.solve(gd.mass_matrix(model, q), there.jacobian.T @ [0.1, -0.2])
    gains = control.gains_from_bandwidth(20.0, integral=0.3)
    made = control.controller(model, "computed_torque", gains=gains, terms=QUIET)
    state = gd.State(q, v)
    on, off = (control.Reference(q + x, v - x, a, contact=there) for x in (0.0, across))
    memory, wanted = made.step(made.start(), state, on, 1e-3)
    wound, found = made.step(made.start(), state, off, 1e-3)
    np.testing.assert_allclose(found.command, wanted.command, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(wound.integral, 0.0, atol=1e-12)
    assert not memory.integral.any()


def test_terms_that_are_off_stay_off() -> None:
    model, ready, q, v, a, force, _ = scene(2, "surface")
    terms = control.Terms(use_gravity_compensation=False, use_rotor_coupling=False)
    there = control.desired_contact(model, ready, force, q, v)
    for law, gains in (("feedforward", None), *GAINS.items()):
        made = control.controller(model, law, gains=gains, terms=terms)
        plain = control.Reference(q, v, a)
        state = gd.State(q, v)
        free = made.plain_step(made.start(), state, plain, 0.0)[1].command
        found = made.step(made.start(), state, plain._replace(contact=there), 0.0)[1].command
        np.testing.assert_allclose(found, free - there.force, rtol=1e-9, atol=1e-8)


def test_a_contact_that_moves_is_followed() -> None:
    model = planar()
    moving = wall(velocity=(0.1, 0.2, 0.0), acceleration=(0.5, 0.0, 0.0))
    J = contact.coordinates(model, moving, Q, SLIDING).jacobian
    v = SLIDING + np.linalg.pinv(J) @ [0.1]
    there = control.desired_contact(model, moving, [20.0], Q, v, friction=0.3)
    tau = stepped(
        model, "computed_torque", gd.State(Q, v), control.Reference(Q, v, WANTED, contact=there)
    )
    found = contact.constrained_dynamics(model, moving, Q, v, tau, friction=0.3)
    np.testing.assert_allclose(found.force, [20.0], rtol=0, atol=1e-9)


def test_friction_of_joints_sees_what_the_contact_carries() -> None:
    model = driven_arm(3, efficiency=None)
    q, v, a = np.random.default_rng(0).normal(size=(3, model.n))
    Q_d = 50.0 * np.random.default_rng(1).normal(size=model.n)
    there = control.DesiredContact(Q_d, np.eye(model.n)[:1], np.zeros(1))
    made = control.controller(model)
    found = made.step(made.start(), None, control.Reference(q, v, a, contact=there), 0.0)[1]
    load = gd.inverse_dynamics(model, q, v, a) - Q_d
    expected = load + gd.friction_forces(model, v, q, load)
    np.testing.assert_allclose(found.command, expected, rtol=1e-12)


def test_motor_torques_carry_the_contact() -> None:
    model = driven_arm(3, efficiency=None, friction=None)
    q, v, a = np.random.default_rng(0).normal(size=(3, model.n))
    there = control.DesiredContact(np.full(model.n, 5.0), np.eye(model.n)[:1], np.zeros(1))
    reference = control.Reference(q, v, a, contact=there)
    options = {"terms": QUIET, "saturation": "none"}
    joint = control.controller(model, **options)
    motor = control.controller(model, command_type="motor_torque", **options)
    tau = joint.step(joint.start(), None, reference, 0.0)[1].command
    torque = motor.step(motor.start(), None, reference, 0.0)[1].command
    np.testing.assert_allclose(model.structure_matrix @ torque, tau, rtol=1e-8, atol=1e-8)


def one(**changed: Any) -> control.DesiredContact:
    """A contact of the planar arm with something wrong."""
    return control.DesiredContact(np.zeros(2), np.eye(2)[:1], np.zeros(1))._replace(**changed)


@pytest.mark.parametrize(
    ("there", "finding"),
    [
        ((0, 0, 0), "is a tuple"),
        (one(force=np.zeros(3)), r"contact.force.*shape"),
        (one(force=np.array([np.nan, 0.0])), r"contact.force"),
        (one(jacobian=np.zeros((0, 2))), r"contact.jacobian.*shape"),
        (one(jacobian=np.eye(3)), r"contact.jacobian.*shape"),
        (one(jacobian=np.array([[np.inf, 0.0]])), r"contact.jacobian"),
        (one(drift=np.zeros(2)), r"contact.drift.*shape"),
        (one(jacobian=np.zeros((1, 2))), r"jacobian\[0\].*moves no joint"),
        (one(jacobian=np.ones((2, 2)), drift=np.zeros(2)), r"jacobian\[1\].*moves no joint"),
    ],
)
def test_contacts_that_do_not_fit_are_refused(there: Any, finding: str) -> None:
    reference = control.Reference(Q, SLIDING, WANTED, contact=there)
    for law in GAINS:
        with pytest.raises(gd.GearedDynamicsError, match=finding):
            stepped(planar(), law, gd.State(Q, SLIDING), reference)


def test_what_cannot_press_says_so() -> None:
    reference = control.Reference(Q, SLIDING, WANTED, contact=one())
    with pytest.raises(gd.GearedDynamicsError, match="not read by gravity_compensation"):
        stepped(planar(), "gravity_compensation", gd.State(Q, SLIDING), reference)
    lossy = driven_arm(3)
    q = np.zeros(lossy.n)
    there = control.DesiredContact(q, np.eye(lossy.n)[:1], np.zeros(1))
    made = control.controller(lossy, command_type="motor_torque")
    with pytest.raises(gd.GearedDynamicsError, match="losses"):
        made.step(made.start(), None, control.Reference(q, q, q, contact=there), 0.0)
    springs = control.elastic_controller(planar(stiffness=1e3), "flatness")
    path = np.zeros((springs.derivatives_needed + 1, 2))
    with pytest.raises(gd.GearedDynamicsError, match="elastic"):
        springs.step(springs.start(), None, control.Reference(Q, Q, Q, None, path, one()), 0.0)


def test_a_mass_matrix_that_is_not_positive_is_refused() -> None:
    """The links of the TX40 are what was identified: without the rotors they are no arm."""
    bare = gd.load_model(URDF / "tx40.urdf", URDF / "tx40.drivetrain.yaml").with_coupling("none")
    still = np.zeros(6)
    there = control.DesiredContact(still, np.eye(6)[:1], np.zeros(1))
    reference, state = (
        control.Reference(still, still, still, contact=there),
        gd.State(still, still),
    )
    with pytest.raises(gd.GearedDynamicsError, match="mass matrix"):
        stepped(bare, "computed_torque", state, reference)


def test_bad_forces_are_refused() -> None:
    model = planar()
    for force, finding in (([-1.0], "pull"), ([np.nan], "force"), ([1.0, 2.0], "shape")):
        with pytest.raises(gd.GearedDynamicsError, match=finding):
            control.desired_contact(model, wall(), force, Q, SLIDING)
    across = contact.Line("tip", tip(), (0, 1, 0))
    control.desired_contact(model, [across, wall()], [-1.0, -1.0, 1.0], Q, SLIDING)
    with pytest.raises(gd.GearedDynamicsError, match=r"-2 on contacts\[1\]"):
        control.desired_contact(model, [across, wall()], [-1.0, -1.0, -2.0], Q, SLIDING)
    support = contact.Environment(wall(), 1e4)
    with pytest.raises(gd.GearedDynamicsError, match="pull"):
        control.desired_contact(model, support, [-1.0], Q, SLIDING)
    pulled = control.desired_contact(
        model, wall(bilateral=True), [-20.0], Q, SLIDING, friction=0.3
    )
    tau = stepped(
        model, "feedforward", None, control.Reference(Q, SLIDING, WANTED, contact=pulled)
    )
    found = contact.constrained_dynamics(
        model, wall(bilateral=True), Q, SLIDING, tau, friction=0.3
    )
    np.testing.assert_allclose(found.force, [-20.0], **EXACT)
    with pytest.raises(gd.GearedDynamicsError, match="friction"):
        control.desired_contact(
            model, contact.Line("tip", tip(), (0, 1, 0)), [0.0, 0.0], Q, SLIDING, friction=0.1
        )
