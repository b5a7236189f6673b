"""Where a payload goes: one rule for the commands, the nodes and Python."""

from __future__ import annotations

import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import geared_dynamics as gd
from crosscheck.example_robots import UNREADABLE, example_files, is_arm
from geared_dynamics.description.urdf_reader import read_urdf
from geared_dynamics.errors import GearedDynamicsWarning, ModelError, UnknownNameError
from geared_dynamics.model.build import build_model
from recorded_motions import ROBOTS, elbow

# The only tip of each robot of this repository, the link that moves it and where it is in
# that link's frame, from the URDF files.
OWN = {
    "brisk6": ("tool", "link_6", (0.0, 0.0, 0.08)),
    "elbow": ("tip", "link_3", (0.4, 0.0, 0.0)),
    "kr300": ("flange", "link_6", (0.0, 0.0, 0.0)),
    "manutec_r3": ("load", "arm_3", (0.0, 0.0, 0.98)),
    "planetary_2r": ("link_2", "link_2", (0.0, 0.0, 0.0)),
    "puma560": ("link_6", "link_6", (0.0, 0.0, 0.0)),
    "tx40": ("link_6", "link_6", (0.0, 0.0, 0.0)),
    "virtual_link_arm": ("link_3", "link_3", (0.0, 0.0, 0.0)),
    "wave6": ("tool", "link_6", (0.0, 0.10, 0.0)),
}
MASS, COM = 2.5, (0.03, -0.02, 0.1)
TENSOR = np.array([[0.03, 0.001, 0.0], [0.001, 0.04, -0.002], [0.0, -0.002, 0.05]])


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize("name", OWN)
def test_the_tip_of_our_robots(name: str) -> None:
    model = gd.load_model(ROBOTS / f"{name}.urdf", ROBOTS / f"{name}.drivetrain.yaml")
    link, carrier, position = OWN[name]
    frame = model.payload_frame()
    assert (frame.link, frame.carrier) == (link, carrier)
    np.testing.assert_allclose(frame.position, position, atol=1e-12)
    usual = model.with_payload(MASS, COM, TENSOR)
    named = model.with_payload(MASS, COM, TENSOR, link=link)
    np.testing.assert_array_equal(usual.tree.parameters, named.tree.parameters)


def test_every_robot_of_ours_is_looked_at() -> None:
    assert {path.stem for path in ROBOTS.glob("*.urdf")} == set(OWN)


def ends_of(urdf: str) -> set[str]:
    """Links that move and have nothing attached, from the file's elements alone."""
    robot = ET.fromstring(urdf)
    joints = [joint for joint in robot.findall("joint") if joint.find("parent") is not None]
    above = {}
    for joint in joints:
        ends = [joint.find(tag) for tag in ("child", "parent")]
        child, parent = (str(end.get("link")) for end in ends if end is not None)
        above[child] = (parent, joint.get("type") != "fixed")
    names = {str(link.get("name")) for link in robot.findall("link")}
    found = set()
    for name in names - {parent for parent, _ in above.values()}:
        link, moves = name, False
        while link in above:
            link, moved = above[link]
            moves |= moved
        found |= {name} if moves else set()
    return found


EXAMPLES = {k: v for k, v in example_files().items() if is_arm(k) and k not in UNREADABLE}


@pytest.mark.filterwarnings("ignore::geared_dynamics.errors.GearedDynamicsWarning")
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_tips_of_arms_of_others(name: str) -> None:
    """The only tip, or an error with the names of all; each of them can then be named."""
    path = EXAMPLES[name]
    try:
        model = gd.load_model(path)
    except ModelError as error:
        pytest.skip(str(error))
    expected = ends_of(path.read_text("utf-8"))
    assert set(model.tips) == expected
    if len(expected) == 1:
        assert model.payload_frame().link in expected
        return
    with pytest.raises(ModelError, match=f"the arm has {len(expected)} tips") as caught:
        model.with_payload(1.0)
    assert all(link in str(caught.value) for link in expected)
    for link in expected:
        loaded = model.with_payload(1.0, link=link)
        assert loaded.tree.parameters[:, 0].sum() == pytest.approx(
            model.tree.parameters[:, 0].sum() + 1.0
        )


def test_grippers_have_several_tips() -> None:
    """Known by name, so that the test above cannot pass on no gripper at all."""
    if not EXAMPLES:
        pytest.skip("needs example-robot-data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GearedDynamicsWarning)
        panda = gd.load_model(EXAMPLES["panda_description/urdf/panda.urdf"])
    text = "tips: panda_hand_tcp, panda_leftfinger, panda_rightfinger"
    with pytest.raises(ModelError, match=text):
        panda.payload_frame()
    held = gd.load_model(
        EXAMPLES["panda_description/urdf/panda.urdf"],
        lock={"panda_finger_joint1": 0.0},
    )
    with pytest.raises(ModelError, match=text):  # a frozen gripper has fingers too
        held.payload_frame()


TURNED = (
    (ROBOTS / "elbow.urdf")
    .read_text("utf-8")
    .replace('<origin xyz="0.4 0 0" rpy="0 0 0"/>', '<origin xyz="0.4 0 0" rpy="0.3 -0.5 0.8"/>')
)
DRIVE = ROBOTS / "elbow.drivetrain.yaml"


def with_body(link: str) -> str:
    """The elbow with the payload as a link of its own, fixed to a link by a joint."""
    xx, xy, xz, yy, yz, zz = TENSOR[np.triu_indices(3)]
    body = (
        f'<link name="body"><inertial><origin xyz="{COM[0]} {COM[1]} {COM[2]}"/>'
        f'<mass value="{MASS}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" '
        f'iyz="{yz}" izz="{zz}"/></inertial></link>'
        f'<joint name="held" type="fixed"><parent link="{link}"/><child link="body"/></joint>'
    )
    return TURNED.replace("</robot>", f"{body}</robot>")


@pytest.mark.parametrize("link", ["tip", "link_3", "link_2"])
def test_a_payload_is_what_a_link_fixed_there_would_be(link: str) -> None:
    """An independent way to the same arm: the payload as a link of the URDF; and a control."""
    bare, reference = gd.load_model(TURNED, DRIVE), gd.load_model(with_body(link), DRIVE)
    state = np.random.default_rng(0).normal(size=(3, 20, 3))
    expected = gd.inverse_dynamics(reference, *state)
    loaded = bare.with_payload(MASS, COM, TENSOR, link=link)
    np.testing.assert_allclose(gd.inverse_dynamics(loaded, *state), expected, rtol=1e-10)
    if link == "tip":
        usual = bare.with_payload(MASS, COM, TENSOR)
        np.testing.assert_allclose(gd.inverse_dynamics(usual, *state), expected, rtol=1e-10)
        before = bare.with_payload(MASS, COM, TENSOR, link="link_3")  # where it was taken to be
        off = gd.inverse_dynamics(before, *state) - expected
        assert np.abs(off).max() > 0.1 * np.abs(expected).max()


def test_what_is_said_of_a_frame() -> None:
    model = elbow()
    assert str(model.payload_frame()) == "tip, at 0.4 0 0 m in link_3"
    assert str(model.payload_frame("link_2")) == "link_2, at its joint's frame"
    turned = gd.load_model(TURNED, DRIVE)
    assert str(turned.payload_frame("tip")) == "tip, at 0.4 0 0 m in link_3, rpy 0.3 -0.5 0.8"


def test_links_that_cannot_carry() -> None:
    model = elbow()
    with pytest.raises(ModelError, match=r"with_payload: link: 'base_link' is fixed to the r"):
        model.with_payload(1.0, link="base_link")
    with pytest.raises(UnknownNameError, match="did you mean 'tip'"):
        model.with_payload(1.0, link="tipp")
    with pytest.raises(UnknownNameError, match="there is no link 'rotor_1'"):
        model.with_payload(1.0, link="rotor_1")


def test_nothing_needs_no_link() -> None:
    """A load taken off: also from an arm with several tips."""
    text = (ROBOTS / "elbow.urdf").read_text("utf-8")
    forked = text.replace(
        "</robot>",
        '<link name="camera"/><joint name="seat" type="fixed"><parent link="link_2"/>'
        '<child link="camera"/></joint></robot>',
    )
    model = build_model(read_urdf(forked))
    assert model.tips == ("tip", "camera")
    np.testing.assert_array_equal(model.with_payload(0.0).tree.parameters, model.tree.parameters)
    with pytest.raises(ModelError, match="the arm has 2 tips: tip, camera; name the link"):
        model.with_payload(0.1)


def test_the_flange_of_the_kr300_is_turned() -> None:
    """Its z points outward and that of link_6 inward: 0.1 m out was 0.1 m in by default."""
    model = gd.load_model(ROBOTS / "kr300.urdf", ROBOTS / "kr300.drivetrain.yaml")
    usual, inward = (model.with_payload(150.0, (0.0, 0.0, z), link=link) for z, link in
                     ((0.1, None), (-0.1, "link_6")))  # fmt: skip
    np.testing.assert_allclose(usual.tree.parameters, inward.tree.parameters, atol=1e-9)
    assert str(model.payload_frame()) == "flange, at 0 0 0 m in link_6, rpy 3.142 0 0"
