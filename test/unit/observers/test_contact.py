"""Contact wrench: what comes back, and what the joints do not tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from elastic_arms import URDF
from simulated_arms import arm

ob = gd.observers


def test_a_force_at_the_tip_comes_back() -> None:
    model, q = arm(), np.array([0.3, -0.5, 0.8])
    force = np.array([10.0, -5.0, 20.0])
    tau = gd.jacobian(model, q, "tip")[:3].T @ force
    found = ob.contact_wrench(model, q, tau, "tip", moment=False)
    np.testing.assert_allclose(found.force, force, atol=1e-9)
    np.testing.assert_array_equal(found.moment, 0.0)
    assert found.directions.shape == (6, 3)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    noise = ob.contact_wrench(model, q, tau, "tip", moment=False, covariance=4.0 * np.eye(3))
    np.testing.assert_allclose(noise.covariance, 4.0 * _unit(model, q), rtol=1e-9)


def _unit(model: gd.GearedModel, q: np.ndarray) -> np.ndarray:
    return ob.contact_wrench(model, q, np.zeros(3), "tip", moment=False).covariance


def test_a_wrench_on_six_joints_comes_back() -> None:
    model = gd.load_model(*_six())
    q = np.array([0.2, -0.5, 0.9, 0.4, 0.7, -0.3])
    wrench = np.array([10.0, -5.0, 20.0, 1.0, 2.0, -3.0])
    tau = gd.jacobian(model, q, "flange").T @ wrench
    found = ob.contact_wrench(model, q, tau, "flange", length=0.3)
    np.testing.assert_allclose(np.r_[found.force, found.moment], wrench, atol=1e-6)
    assert found.directions.shape == (6, 6)
    np.testing.assert_allclose(found.components(), wrench, atol=1e-6)


def _six() -> tuple[Any, Any]:
    from elastic_arms import URDF

    return URDF / "kr300.urdf", URDF / "kr300.drivetrain.yaml"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"covariance": -np.eye(3)}, "covariance"),
        ({"covariance": np.ones((3, 2))}, "covariance"),
        ({"covariance": [[1, 5, 0], [0, 1, 0], [0, 0, 1]]}, "covariance: is not symmetric"),
        ({"covariance": "a"}, "covariance"),
        ({"length": 0.0}, "length"),
        ({"length": np.nan}, "length"),
        ({"length": np.inf}, "length"),
        ({"length": "a"}, "length"),
        ({"q": np.zeros((2, 3))}, "q: has shape"),
        ({"q": [np.nan, 0.0, 0.0]}, "q"),
        ({"external": np.zeros((2, 3))}, "external: has shape"),
        ({"frame": "nowhere"}, "nowhere"),
        ({"external": [np.nan, 0.0, 0.0]}, "external"),
    ],
)
def test_contact_refuses_what_is_none(change: dict[str, Any], says: str) -> None:
    given = {"q": np.zeros(3), "external": np.zeros(3), "frame": "tip"} | change
    with pytest.raises(gd.GearedDynamicsError, match=says):
        ob.contact_wrench(arm(), **given)


SKEW = """
<joint name="to_skew" type="fixed">
  <parent link="tip"/><child link="skew"/><origin xyz="0.03 -0.02 0.05" rpy="0.4 -0.7 1.1"/>
</joint>
<link name="skew"/>
"""


def skew_arm() -> gd.GearedModel:
    """The elbow with a frame on its tip that is turned about all axes."""
    text = (URDF / "elbow.urdf").read_text().replace("</robot>", SKEW + "</robot>")
    return gd.load_model(text, URDF / "elbow.drivetrain.yaml")


def test_a_force_comes_back_in_the_axes_of_a_skew_frame() -> None:
    model, q = skew_arm(), np.array([0.3, -0.5, 0.8])
    at = gd.pose(model, q, "skew")
    local = np.array([3.0, -2.0, 5.0])
    # By virtual work, with differences of the origin's position in root axes.
    h = 1e-6
    turned = [gd.pose(model, q + h * e, "skew")[:3, 3] for e in np.eye(3)]
    back = [gd.pose(model, q - h * e, "skew")[:3, 3] for e in np.eye(3)]
    tau = (np.array(turned) - np.array(back)) / (2 * h) @ (at[:3, :3] @ local)
    found = ob.contact_wrench(model, q, tau, "skew", moment=False)
    np.testing.assert_allclose(found.components(at[:3, :3]), np.r_[local, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(found.components()[:3], at[:3, :3] @ local, atol=1e-7)
    assert np.abs(found.components(at[:3, :3].T)[:3] - local).max() > 1.0, "negative control"


def test_what_the_joints_do_not_tell_is_nan() -> None:
    """Three joints do not tell six components; at joint 3 its axis hides a force."""
    model, q, tau = arm(), np.array([0.3, -0.5, 0.8]), np.array([1.0, 2.0, 3.0])
    whole = ob.contact_wrench(model, q, tau, "tip")
    assert whole.rank == 3
    assert np.isnan(whole.components()).all()
    assert np.isfinite(whole.force).all(), "the least-norm answer is there all the same"
    axes = gd.pose(model, q, "link_3")[:3, :3]
    found = ob.contact_wrench(model, q, tau, "link_3", moment=False)
    assert found.rank == 2
    np.testing.assert_array_equal(found.determined(), [False] * 3 + [True] * 3)
    told = found.components(axes)
    np.testing.assert_array_equal(np.isnan(told), [True, True, False, False, False, False])
    assert told[2] == pytest.approx(axes[:, 2] @ found.force)
    # About its own axis joint 3 tells the moment, whatever else acts there.
    turning = ob.contact_wrench(model, q, tau, "link_3")
    np.testing.assert_array_equal(turning.determined(axes), [False] * 5 + [True])
    assert turning.components(axes)[5] == pytest.approx(3.0)


@pytest.mark.parametrize("frame", ["base_link", "link_1", "link_2", "link_3", "tip"])
@pytest.mark.parametrize("moment", [True, False])
def test_told_components_are_those_that_no_unseen_wrench_changes(frame: str, moment: bool) -> None:
    """A component is told if all wrenches that the joints do not feel have none of it."""
    model, q = arm(), np.array([0.3, -0.5, 0.8])
    J = gd.jacobian(model, q, frame)
    rows = J if moment else J[:3]
    _, s, vt = np.linalg.svd(rows.T)
    unfelt = vt[int(np.sum(s > 1e-9)) :]
    change = np.abs(unfelt).max(axis=0) if len(unfelt) else np.zeros(len(rows))
    found = ob.contact_wrench(model, q, np.ones(3), frame, moment=moment)
    np.testing.assert_array_equal(found.determined()[: len(rows)], change < 1e-6)
    np.testing.assert_allclose(
        found.directions.T @ found.directions, np.eye(found.rank), atol=1e-12
    )
    assert found.rank == int(np.sum(s > 1e-9))


def test_covariance_and_rank_do_not_hang_on_each_other() -> None:
    """Covariance is that of the linear map from forces on the joints; rank is the arm's."""
    model, q = arm(), np.array([0.3, -0.5, 0.8])
    root = np.array([[1.0, 0, 0], [0.3, 1e-5, 0], [-2.0, 0.1, 1e3]])
    P = root @ root.T
    for frame, rank in (("tip", 3), ("link_3", 3)):
        units = [ob.contact_wrench(model, q, e, frame, covariance=P) for e in np.eye(3)]
        L = np.array([np.r_[u.force, u.moment] for u in units]).T
        np.testing.assert_allclose(units[0].covariance, L @ P @ L.T, rtol=1e-5, atol=1e-9)
        assert units[0].rank == rank


@pytest.mark.parametrize("axes", [np.eye(2), 2 * np.eye(3), np.full((3, 3), np.nan), "a"])
def test_axes_that_are_none_are_refused(axes: Any) -> None:
    found = ob.contact_wrench(arm(), np.zeros(3), np.zeros(3), "tip")
    with pytest.raises(gd.GearedDynamicsError, match="axes"):
        found.components(axes)


def test_former_names_warn_and_give_the_same() -> None:
    """For one release the attributes are read by their former names as well."""
    model, q = arm(), np.array([0.3, -0.5, 0.8])
    found = ob.contact_wrench(model, q, np.ones(3), "tip")
    with pytest.warns(DeprecationWarning, match=r"ContactWrench.seen is now called directions"):
        np.testing.assert_array_equal(found.seen, found.directions)
    with pytest.warns(DeprecationWarning, match=r"told is now called components"):
        np.testing.assert_array_equal(found.told(), found.components())
