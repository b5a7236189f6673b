"""The redundant model's functions: what is refused, batches, names, the left inverse."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import elastic_arm, elbow, joined, state, with_state
from geared_dynamics.dynamics.cartesian.coordinates import bodies_of
from geared_dynamics.dynamics.cartesian.properties import blocks, point_bounds

ELBOW = elbow(damping=2.0)
ZERO, NAN = np.zeros(3), np.array([0.0, np.nan, 0.0])
PLAIN = gd.load_model(ELBOW.records.robot.source, {"version": 1})

# Arguments of ``dynamics`` and ``accelerations`` that differ from zeros; words in the error.
STATES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "q's length": ({"q": np.zeros(4)}, ["q", "(4,)", "(3,)"]),
    "q is None": ({"q": None}, ["q", "real numbers"]),
    "q is text": ({"q": "abc"}, ["q", "real numbers"]),
    "NaN in q": ({"q": NAN}, ["q", "NaN", "finite"]),
    "theta's length": ({"theta": np.zeros(2)}, ["theta", "(2,)", "(3,)"]),
    "NaN in theta": ({"theta": NAN}, ["theta", "NaN"]),
    "infinity in v": ({"v": [0, 0, np.inf]}, ["v", "infinity"]),
    "v is None": ({"v": None}, ["v", "real numbers"]),
    "vtheta complex": ({"vtheta": ZERO * 1j}, ["vtheta", "real numbers"]),
    "theta alone": ({"vtheta": None}, ["vtheta", "None", "rigid"]),
    "vtheta alone": ({"theta": None}, ["theta", "None", "rigid"]),
    "states": ({"q": np.zeros((2, 3)), "v": np.zeros((5, 3))}, ["broadcast", "(2, 3)", "(5, 3)"]),
    "v overflows": ({"v": np.full(3, 1e200)}, ["v", "overflows"]),
    "vtheta overflows": ({"vtheta": np.full(3, 1e307)}, ["vtheta", "overflows"]),
    "theta overflows": ({"theta": np.full(3, 1e307)}, ["theta", "overflows"]),
    "no springs": ({"model": PLAIN}, ["elastic", "stiffness"]),
    "coupling": ({"model": ELBOW.with_coupling("diagonal")}, ["coupling", "with_coupling"]),
    "none": ({"model": ELBOW.with_coupling("none")}, ["coupling 'none'", "complete"]),
    "uncoupled": ({"model": ELBOW.with_elasticity("uncoupled")}, ["'uncoupled'", "complete"]),
    "spong": (
        {"model": ELBOW.with_elasticity("spong_truncated")},
        ["'spong_truncated'", "with_elasticity"],
    ),
}
FRAMES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "angles' length": ({"frame_angles": np.zeros(2)}, ["frame_angles", "(2,)", "(3,)"]),
    "NaN in angles": ({"frame_angles": NAN}, ["frame_angles", "NaN"]),
    "angles as text": ({"frame_angles": "rotor"}, ["frame_angles", "real numbers"]),
    "rates' length": ({"frame_rates": 1.0}, ["frame_rates", "()"]),
    "NaN in rates": ({"frame_rates": NAN}, ["frame_rates", "NaN"]),
    "rates overflow": (
        {"frame_rates": np.full(3, 1e308), "v": np.full(3, 1e10), "vtheta": np.ones(3)},
        ["frame_rates", "overflows"],
    ),
    "states": ({"frame_angles": np.zeros((2, 3)), "q": np.zeros((5, 3))}, ["broadcast"]),
}
TORQUES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "tau_m's length": ({"tau_m": np.zeros(2)}, ["tau_m", "(2,)", "(3,)"]),
    "NaN in tau_m": ({"tau_m": NAN}, ["tau_m", "NaN"]),
    "tau's length": ({"tau": np.zeros(6)}, ["tau", "(6,)", "(3,)"]),
    "NaN in tau": ({"tau": NAN}, ["tau", "NaN"]),
    "f_ext's shape": ({"f_ext": np.zeros(6)}, ["f_ext", "(6,)", "(..., 3, 6)"]),
    "NaN in f_ext": ({"f_ext": np.full((3, 6), np.nan)}, ["f_ext", "nan"]),
    "tau overflows": ({"tau": np.full(3, 1e308)}, ["tau", "overflows"]),
    "states": ({"tau_m": np.zeros((2, 3)), "q": np.zeros((5, 3))}, ["broadcast", "tau_m"]),
}
POSTURES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "q's length": ({"q": np.zeros(4)}, ["q", "(4,)", "(3,)"]),
    "NaN in q": ({"q": NAN}, ["q", "NaN"]),
    "no posture": ({"q": np.zeros((0, 3))}, ["q", "no position"]),
    "coupling": ({"model": ELBOW.with_coupling("diagonal")}, ["coupling", "with_coupling"]),
}
CASES = [
    pytest.param(function, given, words, id=f"{function}: {name}")
    for function, table in {
        "dynamics": STATES | FRAMES,
        "accelerations": STATES | {f"forces, {name}": case for name, case in TORQUES.items()},
        "properties": POSTURES,
    }.items()
    for name, (given, words) in table.items()
]


@pytest.mark.parametrize(("function", "given", "words"), CASES)
def test_refused(function: str, given: dict[str, Any], words: list[str]) -> None:
    rest = {"q": ZERO}
    if function != "properties":
        rest |= {"theta": ZERO, "v": ZERO, "vtheta": ZERO}
    arguments = {"model": ELBOW, **rest, **given}
    if function != "properties":
        arguments = with_state(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(gd.GearedDynamicsError) as caught:
            getattr(gd.cartesian, function)(**arguments)
    assert caught.value.place
    assert caught.value.finding
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("function", [gd.cartesian.left_inverse, gd.cartesian.coordinate_names])
def test_reduced_models_are_refused(function: Any) -> None:
    with pytest.raises(gd.GearedDynamicsError, match="with_coupling"):
        function(ELBOW.with_coupling("none"))


def slider(first: str, axis: str = "0 0 1", before: str = "") -> gd.GearedModel:
    """A joint, then a sliding one along z, then a revolute one; ``before`` ends the first link."""
    body = (
        '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial>'
    )
    kinds = (("turn", first, axis), ("slide", "prismatic", "0 0 1"), ("wrist", "continuous", axis))
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="0.3 0.1 0"/><axis xyz="{direction}"/>{limit}</joint>'
        for k, (name, kind, direction) in enumerate(kinds)
    )
    links = '<link name="l0"/>' + "".join(f'<link name="l{k + 1}">{body}</link>' for k in range(3))
    return gd.load_model(f'<robot name="arm">{links}{joints}{before}</robot>')


@pytest.mark.parametrize(
    "arm", [slider("prismatic", "0.6 0 0.8"), slider("continuous")], ids=["sliding", "parallel"]
)
def test_left_inverse_of_sliding_joints(arm: gd.GearedModel) -> None:
    """An axis that nothing turns: sliding joints alone, or turned about itself as in a SCARA."""
    L = gd.cartesian.left_inverse(arm)
    q, v = np.random.default_rng(0).uniform(-2, 2, (2, 20, 3))
    J = gd.cartesian.dynamics(arm, gd.State(q, v)).jacobian
    np.testing.assert_allclose(L @ J, np.broadcast_to(np.eye(3), (20, 3, 3)), rtol=0, atol=1e-14)
    assert not L.flags.writeable


def test_left_inverse_is_refused_by_name() -> None:
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.cartesian.left_inverse(slider("continuous", "1 0 0"))
    assert "prismatic joint 'slide'" in str(caught.value)
    assert "joint 'turn' turns it" in str(caught.value)


def test_bounds_with_a_turned_slide_are_infinite() -> None:
    """P1b is of purely revolute and purely sliding arms; what is found is finite all the same."""
    found = gd.cartesian.properties(slider("continuous", "1 0 0"), np.zeros(3))
    assert found.norm_bound == found.inverse_bound == found.lipschitz_bound == np.inf
    assert found.rank == 3
    assert np.isfinite([found.largest_norm, found.lipschitz, found.link_inverse]).all()


@pytest.mark.parametrize("rigid", [False, True], ids=["elastic", "rigid"])
def test_batches(rigid: bool) -> None:
    """Each state of a batch as if alone; leading dimensions broadcast."""
    arm = elastic_arm(2, 4, share=0.6, branched=True, prismatic=True)
    random = np.random.default_rng(1)
    q, v = random.uniform(-2, 2, (2, 2, 3, 4))
    shafts = arm.elasticity.joint.size
    theta, vtheta = (None, None) if rigid else random.uniform(-2, 2, (2, 3, shafts))
    tau_m = random.normal(size=4)
    model = gd.cartesian.dynamics(arm, gd.State(q, v, theta, vtheta))
    motion = gd.cartesian.accelerations(arm, gd.State(q, v, theta, vtheta), tau_m)
    assert model.jacobian.shape[:2] == motion.a.shape[:2] == (2, 3)
    assert motion.atheta.shape == (2, 3, 0 if rigid else shafts)
    for i, j in np.ndindex(2, 3):
        one = None if theta is None else theta[j]
        rate = None if vtheta is None else vtheta[j]
        single = gd.cartesian.dynamics(arm, gd.State(q[i, j], v[i, j], one, rate))
        alone = gd.cartesian.accelerations(arm, gd.State(q[i, j], v[i, j], one, rate), tau_m)
        pairs = [*zip(model[1:5], single[1:5], strict=True), *zip(motion, alone, strict=True)]
        pairs += zip(model.forces, single.forces, strict=True)
        for many, expected in pairs:
            scale = np.abs(expected).max(initial=1.0)
            np.testing.assert_allclose(many[i, j], expected, rtol=0, atol=1e-12 * scale)


def test_no_states() -> None:
    empty = np.zeros((0, 3))
    found = gd.cartesian.accelerations(ELBOW, gd.State(empty, empty, empty, empty))
    assert found.a.shape == found.atheta.shape == (0, 3)


def test_properties_of_many_postures_are_their_worst() -> None:
    postures = np.random.default_rng(0).uniform(-3, 3, (70, 3))
    whole = gd.cartesian.properties(ELBOW, postures)
    each = [gd.cartesian.properties(ELBOW, q) for q in postures]
    assert whole.link_inverse == pytest.approx(max(one.link_inverse for one in each), rel=1e-12)
    assert whole.lipschitz == pytest.approx(max(one.lipschitz for one in each), rel=1e-12)


def test_compatible_forces_project_back() -> None:
    """Any Q with J'Q = u will do; this one is the least, and free of reactions."""
    q, theta, v, vtheta = state(ELBOW, 0, 2)
    found = gd.cartesian.dynamics(ELBOW, gd.State(q, v, theta, vtheta))
    u = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.3])
    Q = found.compatible(u)
    np.testing.assert_allclose(found.projected(Q), u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(Q, np.linalg.pinv(found.jacobian).T @ u, rtol=0, atol=1e-12)


def point_on_a_rail() -> gd.GearedModel:
    """A massless turntable, and on it a point mass that slides through its axis."""
    point = '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    return gd.load_model(
        f'<robot name="rail"><link name="l0"/><link name="l1"/><link name="l2">{point}</link>'
        '<joint name="turn" type="continuous"><parent link="l0"/><child link="l1"/>'
        '<axis xyz="0 0 1"/></joint>'
        '<joint name="slide" type="prismatic"><parent link="l1"/><child link="l2"/>'
        f'<origin xyz="0.25 0 0"/><axis xyz="1 0 0"/>{limit}</joint></robot>'
    )


def test_a_posture_without_inertia_is_refused() -> None:
    arm, zero = point_on_a_rail(), np.zeros(2)
    gd.cartesian.accelerations(arm, gd.State([0.0, 0.5], zero))
    with pytest.raises(gd.GearedDynamicsError, match="not positive definite"):
        gd.cartesian.accelerations(arm, gd.State([0.0, -0.25], zero))


def test_a_link_of_wheels_alone_has_no_mass_of_its_own() -> None:
    """Not even the rounding that is left when the wheels' masses are taken off again."""
    text = gd.to_urdf(slider("continuous"))
    start = text.index('<link name="l1"')
    bare = text[:start] + '<link name="l1"/>' + text[text.index("</link>", start) + 7 :]
    wheels: dict[str, Any] = {
        f"rotor_{k}": {
            "carrier": "l1",
            "axis": [0, 0.6, 0.8],
            "position": [0.1, -0.3, 0.2 * k],
            "mass": 0.1 * k,
            "inertia": {"axial": 2e-3, "transverse": 1.3e-3},
        }
        for k in (1, 2, 3)
    }
    spins = [{"wheel": name, "joint": "wrist", "ratio": 50} for name in wheels]
    arm = gd.load_model(bare, {"version": 1, "wheels": wheels, "spins": spins})
    assert sum(0.1 * k for k in (1, 2, 3)) - 0.1 - 0.2 - 0.3 > 0.0  # rounding
    q, v, tau = np.random.default_rng(0).normal(size=(3, 3))
    found = gd.cartesian.dynamics(arm, gd.State(q, v))
    assert not np.any(found.inertia[:3, :3])
    np.testing.assert_allclose(found.mass_matrix, gd.mass_matrix(arm, q), rtol=0, atol=1e-12)
    motion = gd.cartesian.accelerations(arm, gd.State(q, v), tau=tau)
    np.testing.assert_allclose(motion.a, gd.forward_dynamics(arm, q, v, tau), rtol=0, atol=1e-11)


def test_gyroscopic_forces_stand_in_both_blocks_of_the_wheels() -> None:
    """(nu_2 + nu_3) x M_2 (nu_2 + nu_3), and omega x I omega of the links."""
    found = gd.cartesian.dynamics(ELBOW, joined(*state(ELBOW, 0, 2)))
    nu, M, N = found.velocity, found.inertia, found.forces.gyroscopic
    assert not np.any(N[:18])
    for k in range(3):
        omega, link = nu[18 + 3 * k : 21 + 3 * k], slice(18 + 3 * k, 21 + 3 * k)
        expected = np.cross(omega, M[link, link] @ omega)
        np.testing.assert_allclose(N[link], expected, rtol=0, atol=1e-14)
        carrier, spin = slice(27 + 3 * k, 30 + 3 * k), slice(36 + 3 * k, 39 + 3 * k)
        whole = nu[carrier] + nu[spin]
        expected = np.cross(whole, M[spin, spin] @ whole)
        np.testing.assert_allclose(N[carrier], expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(N[spin], expected, rtol=0, atol=1e-14)
        # The base carries rotor 1, and link 1 turns about an axis along rotor 2's.
        assert k < 2 or np.abs(expected).max() > 1e-4


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_block_by_block(seed: int) -> None:
    """Of each column of J, and of its derivative by each coordinate."""
    arm = elastic_arm(seed, 4, share=0.5, branched=seed % 2 == 1, prismatic=seed > 2)
    bodies, k = bodies_of(arm), arm.n + arm.elasticity.joint.size
    q = np.random.default_rng(seed).uniform(-3, 3, (50, 1, arm.n))
    rates = np.eye(k)
    shafts = np.zeros(k - arm.n)
    found = gd.cartesian.dynamics(arm, gd.State(q, rates[:, : arm.n], shafts, rates[:, arm.n :]))
    names = gd.cartesian.coordinate_names(arm)
    wheels = [arm.wheel_names[r] for r in bodies.wheels]
    order = [(link, part) for link in arm.body_names for part in ("p", "omega")]
    order += [(wheel, part) for wheel in wheels for part in ("p", "carrier", "spin")]
    for (one, part), (lengths, slopes) in zip(
        order, blocks(arm.with_springs(), bodies), strict=True
    ):
        start = names.index(f"{one}.{part}.x")
        J = np.linalg.norm(found.jacobian[..., start : start + 3, :], axis=-2)
        rate = np.linalg.norm(found.jacobian_rate[..., start : start + 3, :], axis=-2)
        assert np.all(J <= lengths + 1e-12)
        assert np.all(rate <= slopes.T * (1 + 1e-12) + 1e-12)  # rows: unit rates


def test_bounds_are_reached_by_a_stretched_planar_arm() -> None:
    row = {"a": 0.5, "alpha": 0.0, "mass": 1.0, "com": (-0.2, 0, 0), "tensor": np.eye(3)}
    arm = gd.from_dh([row] * 3)
    found = gd.cartesian.dynamics(arm, gd.State(np.zeros((3, 3)), np.eye(3)))
    reach = found.jacobian[0, 6:9]
    lengths, slopes = point_bounds(arm.tree, 3, 2, bodies_of(arm).com[2])
    np.testing.assert_allclose(np.linalg.norm(reach, axis=0), lengths, rtol=1e-12)
    rate = np.linalg.norm(found.jacobian_rate[:, 6:9], axis=1)
    np.testing.assert_allclose(rate, slopes.T, rtol=1e-12)
