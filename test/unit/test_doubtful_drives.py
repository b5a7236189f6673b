"""What is possible of motors and unlikely: warned of, refused when strict."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import geared_dynamics as gd
from geared_dynamics.errors import DescriptionError, ModelError, Note
from good_drives import ROBOT, changed

M = "motors.m"
DOUBTFUL = {
    "k_e of a dc motor": (
        {"torque_constant": 0.06, "back_emf_constant": 0.04},
        ["motors.m.back_emf_constant", "0.6667 times", "DC motor it must be 1 times"],
    ),
    "k_e of a brushless motor": (
        {"kind": "brushless", "torque_constant": 0.06, "back_emf_constant": 0.06},
        ["motors.m.back_emf_constant", "1 times", "brushless", "0.6667 times"],
    ),
    "thermal current": (
        {
            "torque_constant": 0.06,
            "limits": {"current": 5, "thermal": {"continuous_current": 6, "time_constant": 1}},
        },
        ["motors.m.limits.thermal.continuous_current", "6 A is above the peak current 5 A"],
    ),
}


@pytest.mark.parametrize(("entry", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_motors_are_warned_of(entry: dict[str, Any], words: list[str]) -> None:
    data = changed(M, {"wheel": "r", **entry})
    with pytest.warns(gd.GearedDynamicsWarning) as found:
        model = gd.load_model(ROBOT, data)
    assert model.notes == (str(found[0].message),)
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.load_model(ROBOT, data, strict=True)
    assert "without strict=True" in caught.value.remedy
    for word in words:
        assert word in model.notes[0]
        assert word in str(caught.value)


@pytest.mark.parametrize(("kind", "k_e"), [("dc", 0.0572), ("dc", 0.0628), ("brushless", 0.0419)])
def test_constants_that_agree_to_five_percent_do_not_warn(kind: str, k_e: float) -> None:
    motor = {"wheel": "r", "kind": kind, "torque_constant": 0.06, "back_emf_constant": k_e}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gd.load_model(ROBOT, changed(M, motor))


TRANSMISSION = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
  <joint name="{joint}"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
  <actuator name="a"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""


def test_notes_of_both_files_are_of_one_kind_and_reported_in_one_place() -> None:
    """Doubts of the URDF first, then remarks on it, then doubts of the model."""
    (joint,) = gd.load_model(ROBOT).joint_names[:1]
    urdf = ROBOT.replace("</robot>", TRANSMISSION.format(joint=joint) + "</robot>")
    odd = {"wheel": "r", "torque_constant": 0.06, "back_emf_constant": 0.04}
    with pytest.warns(gd.GearedDynamicsWarning) as seen:
        model = gd.load_model(urdf, changed(M, odd))
    assert {type(note) for note in model.notes} == {Note}
    doubts = [note for note in model.notes if note.remedy]
    assert [str(item.message) for item in seen] == doubts
    assert {item.filename for item in seen} == {__file__}
    assert "transmission 't'" in doubts[0]
    assert doubts[-1].place.endswith("motors.m.back_emf_constant")
    assert [note.error for note in (doubts[0], doubts[-1])] == [DescriptionError, ModelError]
