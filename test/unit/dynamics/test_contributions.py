"""What each wheel alone adds (Chen 1998, section 5), and what its carrier's name does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from naive.measure import derivative, error, examples
from random_robots import RobotCase, random_robot, random_state, robots

# Sums of rounded terms in another order, relative to the largest element of the sum.
ROUNDING = 1e-12
# The central difference of eighth order, relative to the largest derivative.
DIFFERENCE = 1e-9
# What a ratio or an axis that is wrong must cost in the same measure.
NEGATIVE = 1e-9

SEEDS = st.integers(0, 2**20)


def total(parts: dict[str, gd.WheelContribution], name: str) -> Any:
    """Sum of one quantity over the wheels."""
    return sum(getattr(part, name) for part in parts.values())


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_relative_parts_are_what_the_model_adds_to_its_locked_links(
    case: RobotCase, seed: int
) -> None:
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    parts = gd.wheel_contributions(model, q, v, a)
    locked = model.with_coupling("none")
    M, tau = gd.mass_matrix(model, q), gd.inverse_dynamics(model, q, v, a)
    assert error(gd.mass_matrix(locked, q) + total(parts, "relative_mass"), M) < ROUNDING
    expected = tau - gd.inverse_dynamics(locked, q, v, a)
    assert error(total(parts, "relative_force") + np.zeros(case.n), expected, M @ a) < ROUNDING


@pytest.mark.parametrize("coupling", ["none", "diagonal", "complete"])
def test_couplings_keep_what_they_count(coupling: str) -> None:
    model, state = random_robot(2, branched=True).load().with_coupling(coupling), random_state(6)
    parts = gd.wheel_contributions(model, *state)
    locked = gd.inverse_dynamics(model.with_coupling("none"), *state)
    expected = gd.inverse_dynamics(model, *state)
    assert error(locked + total(parts, "relative_force"), expected) < ROUNDING


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_locked_parts_are_in_the_links(case: RobotCase, seed: int) -> None:
    """The arm without the file's wheels, plus those that its links did not contain."""
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    plain = gd.load_model(case.urdf, gravity=case.gravity)
    parts = gd.wheel_contributions(model, q, v, a)
    added = {
        w.name: parts[w.name] for w in model.records.drivetrain.wheels if not w.included_in_link
    }
    locked = model.with_coupling("none")
    M, tau = gd.mass_matrix(locked, q), gd.inverse_dynamics(locked, q, v, a)
    assert error(gd.mass_matrix(plain, q) + total(added, "locked_mass"), M) < ROUNDING
    found = gd.inverse_dynamics(plain, q, v, a) + total(added, "locked_force")
    assert error(found, tau, M @ a) < ROUNDING


@examples(20)
@given(case=robots(max_joints=4, max_wheels=3), seed=SEEDS)
def test_coupling_arrays_are_the_christoffel_symbols(case: RobotCase, seed: int) -> None:
    """Derivatives of M_{j/i} by differences; symmetric in h and k to the last digit."""
    model, (q, v, a) = case.load(), random_state(case.n, seed)
    slopes = [derivative(lambda t, d=d: masses(model, q + t * d)) for d in np.eye(case.n)]
    slope = np.stack(slopes, axis=-1)  # [wheel, r, h, k] = dM_rh/dq_k
    symbols = 0.5 * (slope + slope.transpose(0, 1, 3, 2) - slope.transpose(0, 3, 1, 2))
    for part, expected in zip(
        gd.wheel_contributions(model, q, v, a).values(), symbols, strict=True
    ):
        assert error(part.coriolis, expected, np.abs(part.relative_mass).max()) < DIFFERENCE
        np.testing.assert_array_equal(part.coriolis, part.coriolis.transpose(0, 2, 1))


def masses(model: gd.GearedModel, q: Array) -> Array:
    """M_{j/i} of every wheel (w, n, n)."""
    parts = gd.wheel_contributions(model, q, 0 * q, 0 * q)
    return np.array([p.relative_mass for p in parts.values()]).reshape(-1, len(q), len(q))


SERIAL = robots(mimics=0, fixed=0, branched=False, shuffled=False)


def carried_before(case: RobotCase) -> gd.GearedModel:
    """The serial arm with each wheel in a link before the first of its joints."""
    plain = gd.load_model(case.urdf)
    drive = {**case.drivetrain, "wheels": {}}
    for spin in case.drivetrain["spins"]:
        joints = spin.get("coefficients", {spin.get("joint"): 0})
        first = min(plain.joint_names.index(name) for name in joints)
        carrier = ("base", *plain.body_names)[first]
        wheel = case.drivetrain["wheels"][spin["wheel"]]
        drive["wheels"][spin["wheel"]] = {**wheel, "carrier": carrier, "included_in_link": False}
    return gd.load_model(case.urdf, drive, gravity=case.gravity)


@examples(30)
@given(case=SERIAL, seed=SEEDS)
def test_classes_of_chen_wang_1998(case: RobotCase, seed: int) -> None:
    """Wheels that follow outer joints only: the lists after eq. 18, 19 and 20."""
    model, state = carried_before(case), random_state(case.n, seed)
    for part in gd.wheel_contributions(model, *state).values():
        inner = np.array([name in part.inner_joints for name in model.joint_names])
        outer = ~inner
        assert part.inner_joints + part.outer_joints == model.joint_names  # a serial arm
        assert np.all(part.mass_kind[np.ix_(inner, inner)] == "zero")  # (1), eq. 18a
        assert np.all(part.mass_kind[np.ix_(outer, outer)] != "posture")  # (3), eq. 18d
        one_of_each = inner[:, None] ^ inner[None, :]
        for r in range(case.n):
            kinds = part.coriolis_kind[r]
            assert np.all(np.diagonal(kinds) == "zero")  # no centrifugal terms
            zero = ~one_of_each if inner[r] else ~(inner[:, None] & inner[None, :])
            assert np.all(kinds[zero] == "zero")  # eq. 19e, 20c
        assert np.all(np.einsum("rhh->rh", part.coriolis) == 0)


@examples(30)
@given(case=SERIAL, seed=SEEDS)
def test_elements_of_chen_wang_1998(case: RobotCase, seed: int) -> None:
    """Eq. 18a to 18d by the Jacobian of the carrier, for wheels that follow outer joints only."""
    model, (q, v, a) = carried_before(case), random_state(case.n, seed)
    for r, part in enumerate(gd.wheel_contributions(model, q, v, a).values()):
        along, carrier = np.zeros(case.n), int(model.wheels.carrier[r])  # e_j . z_k
        if carrier >= 0:
            link = model.body_names[carrier]
            axis = gd.pose(model, q, link)[:3, :3] @ model.wheels.axis[r]
            along = axis @ gd.jacobian(model, q, link)[3:]
        outer = np.array([name in part.outer_joints for name in model.joint_names])
        inertia, b = float(model.J[r]), model.Gamma[r]
        elements = [
            [
                0.0 if not (outer[j] or outer[k])  # 18a
                else b[j] * b[k] if outer[j] and outer[k]  # 18d
                else b[k] * along[j] if outer[k]  # 18b
                else b[j] * along[k]  # 18c
                for k in range(case.n)
            ]
            for j in range(case.n)
        ]  # fmt: skip
        scale = inertia * np.outer(np.abs(b) + 1.0, np.abs(b) + 1.0).max()
        assert error(part.relative_mass, inertia * np.array(elements), scale) < ROUNDING


@examples(30)
@given(case=robots(), seed=SEEDS)
def test_kinds_hold_at_every_posture(case: RobotCase, seed: int) -> None:
    model, (q, v, a) = case.load(), random_state(case.n, seed, batch=(3,))
    for part in gd.wheel_contributions(model, q, v, a).values():
        for values, kinds in (
            (part.relative_mass, part.mass_kind),
            (part.coriolis, part.coriolis_kind),
        ):
            scale = max(np.abs(part.relative_mass).max(), 1e-300)
            assert np.abs(values[:, kinds == "zero"]).max(initial=0) < ROUNDING * scale
            constant = values[:, kinds == "constant"]
            assert np.abs(np.ptp(constant, axis=0)).max(initial=0) < ROUNDING * scale
            assert np.all(np.ptp(values[:, kinds == "posture"], axis=0) > 0)


def one_wheel(**wheel: Any) -> gd.GearedModel:
    """Three skew joints and one wheel."""
    case = random_robot(5, joints=3, wheels=1, prismatic=False, included=False, shuffled=False)
    drive = dict(case.drivetrain)
    name = next(iter(drive["wheels"]))
    coefficients = wheel.pop("coefficients")
    drive["wheels"] = {name: {**drive["wheels"][name], **wheel}}
    drive["spins"] = [{"wheel": name, "coefficients": coefficients}]
    return gd.load_model(case.urdf, drive)


def test_a_wheel_after_its_joint_has_centrifugal_terms() -> None:
    """What Chen 1998 excludes: the wheel of joint 1 that rides on link 2 (behind joint 3)."""
    names = one_wheel(coefficients={"own_0": 1}).joint_names
    model = one_wheel(carrier="link_2", coefficients={names[0]: 50})
    (part,) = gd.wheel_contributions(model, *random_state(3)).values()
    assert part.inner_joints == names
    assert part.outer_joints == ()
    assert part.mass_kind[0, 0] == "posture"
    assert part.coriolis_kind[1, 0, 0] == "posture"  # of joint 1's rate, on joint 2
    assert part.coriolis[1, 0, 0] != 0


def test_a_wheel_on_the_base_is_constant() -> None:
    names = one_wheel(coefficients={"own_0": 1}).joint_names
    model = one_wheel(carrier="base", coefficients={names[0]: 50, names[2]: -20})
    (part,) = gd.wheel_contributions(model, *random_state(3)).values()
    expected = np.full((3, 3), "zero", dtype=object)
    expected[np.ix_([0, 2], [0, 2])] = "constant"
    np.testing.assert_array_equal(part.mass_kind, expected)
    assert set(part.coriolis_kind.ravel()) == {"zero"}
    assert part.inner_joints == ()
    assert not part.locked_mass.any()


def test_wheels_of_a_planetary_set_have_their_shares() -> None:
    """A carrier that turns, with the mass of its planets, and planets that ride on it."""
    case = random_robot(4, joints=2, wheels=0, prismatic=False, shuffled=False)
    gear = {"mass": 0.3, "inertia": {"axial": 1e-4}}
    carried = {"joint": case.joint_names[1], "housing": "link_0", "layout": "ring_fixed"}
    carried |= {"input": "sun", "output": "carrier", "planets": 3, "radius": 0.03}
    carried |= {"teeth": {"sun": 24, "planet": 12, "ring": 48}, "sun": gear, "planet": gear}
    drive = {"version": 1, "planetary": {"set": carried}}
    model = gd.load_model(case.urdf, drive, gravity=case.gravity)
    q, v, a = random_state(2, 1)
    parts = gd.wheel_contributions(model, q, v, a)
    assert tuple(parts) == model.wheel_names
    bare = gd.inverse_dynamics(gd.load_model(case.urdf, gravity=case.gravity), q, v, a)
    shares = total(parts, "locked_force") + total(parts, "relative_force")
    tau = gd.inverse_dynamics(model, q, v, a)
    assert error(bare + shares, tau) < ROUNDING
    assert abs(tau - bare).max() > NEGATIVE


def test_batches_are_stacked_states() -> None:
    model, (q, v, a) = random_robot(7, mimics=1).load(), random_state(6, batch=(2, 3))
    parts = gd.wheel_contributions(model, q, v[0], a[0, 0])
    for name, part in parts.items():
        one = gd.wheel_contributions(model, q[1, 2], v[0, 2], a[0, 0])[name]
        for field in ("locked_mass", "locked_force", "relative_mass", "relative_force"):
            assert error(getattr(part, field)[1, 2], getattr(one, field)) < ROUNDING
        assert part.coriolis.shape == (2, 3, 6, 6, 6)
        np.testing.assert_array_equal(part.mass_kind, one.mass_kind)


def test_no_wheels_no_contributions() -> None:
    assert gd.wheel_contributions(random_robot(0, wheels=0).load(), *random_state(6)) == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros(5)}, ["q", "(5,)"]),
        ({"v": np.full(6, np.nan)}, ["v", "NaN", "finite"]),
        ({"a": np.full(6, np.inf)}, ["a", "NaN", "finite"]),
        ({"a": "fast"}, ["a", "real numbers"]),
        ({"q": np.zeros((2, 6)), "v": np.zeros((3, 6))}, ["broadcast"]),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else None,
)
def test_wrong_arrays_are_refused(change: dict[str, Any], words: list[str]) -> None:
    state = dict(zip("qva", random_state(6), strict=True)) | change
    for wheels in (0, 2):  # also where there is nothing to compute
        with pytest.raises(gd.GearedDynamicsError) as caught:
            gd.wheel_contributions(random_robot(0, wheels=wheels).load(), **state)
        assert all(word in str(caught.value) for word in words)


def on_either_side(case: RobotCase, seed: int, slip: float = 1.0) -> list[gd.GearedModel]:
    """One more wheel on the axis of a joint, carried by the link before it, and after it.

    Carried by the child, its spin is less by the joint's own rate; ``slip`` makes that wrong.
    """
    rng = np.random.default_rng(seed)
    joints = [j for j in case.load().records.robot.joints if j.kind in ("revolute", "continuous")]
    joint = joints[rng.integers(len(joints))]
    height, axial, other = rng.uniform(-0.2, 0.2), 2e-3, case.joint_names[-1]
    along = np.array(joint.axis)
    rotation = np.array(joint.rotation)
    common = {"mass": 0.7, "inertia": {"axial": axial, "transverse": 1.5 * axial}}
    parent = {
        "carrier": joint.parent,
        "axis": (rotation @ along).tolist(),
        "position": (joint.position + rotation @ along * height).tolist(),
    }
    child = {"carrier": joint.child, "axis": along.tolist(), "position": (along * height).tolist()}
    models = []
    for place, share in ((parent, 0.0), (child, slip)):
        spins: dict[str, float] = {other: 9.0}
        if share:
            spins[joint.name] = spins.get(joint.name, 0.0) - share
        wheels = {**case.drivetrain["wheels"], "idler": place | common}
        drive = {**case.drivetrain, "wheels": wheels}
        drive["spins"] = [*case.drivetrain["spins"], {"wheel": "idler", "coefficients": spins}]
        models.append(gd.load_model(case.urdf, drive, gravity=case.gravity))
    return models


@examples(40)
@given(case=robots(prismatic=False), seed=SEEDS)
def test_which_coaxial_link_carries_a_wheel_does_not_matter(case: RobotCase, seed: int) -> None:
    one, other = on_either_side(case, seed)
    q, v, a = random_state(case.n, seed)
    M, tau = gd.mass_matrix(one, q), gd.inverse_dynamics(one, q, v, a)
    assert error(gd.mass_matrix(other, q), M) < ROUNDING
    assert error(gd.inverse_dynamics(other, q, v, a), tau, M @ a) < ROUNDING
    C = gd.coriolis_matrix(one, q, v)
    assert error(gd.coriolis_matrix(other, q, v), C, M) < ROUNDING
    g = gd.gravity_forces(one, q)
    assert error(gd.gravity_forces(other, q), g, tau) < ROUNDING
    alone = [gd.wheel_contributions(m, q, v, a)["idler"] for m in (one, other)]
    shares = [part.locked_force + part.relative_force for part in alone]
    assert error(*shares, tau) < ROUNDING
    masses = [part.locked_mass + part.relative_mass for part in alone]
    assert error(*masses, M) < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_a_carrier_with_a_spin_one_percent_off_matters(seed: int) -> None:
    case = random_robot(seed, prismatic=False)
    one, other = on_either_side(case, seed, slip=1.01)
    q = random_state(6, seed)[0]
    assert error(gd.mass_matrix(other, q), gd.mass_matrix(one, q)) > NEGATIVE
