"""Names to indices, once and again."""

from __future__ import annotations

from array import array

import numpy as np

from geared_dynamics.runtime.joint_readings import JointMap, Reading, order

WANTED = ["a", "b", "c"]


def doubles(*values: float) -> array[float]:
    return array("d", values)


def test_other_joints_are_ignored_and_the_order_does_not_matter() -> None:
    found = JointMap(WANTED)
    reading = found.read(
        ["c", "x", "a", "b"], doubles(3.0, 9.0, 1.0, 2.0), doubles(0.3, 9.0, 0.1, 0.2)
    )
    assert reading is Reading.COMPLETE
    assert found.q.tolist() == [1.0, 2.0, 3.0]
    assert found.v.tolist() == [0.1, 0.2, 0.3]
    assert not found.reordered


def test_a_new_order_is_told_once() -> None:
    found = JointMap(WANTED)
    q = doubles(1.0, 2.0, 3.0)
    found.read(["a", "b", "c"], q, q)
    assert found.read(["c", "b", "a"], q, q) is Reading.COMPLETE
    assert found.reordered
    assert found.q.tolist() == [3.0, 2.0, 1.0]
    found.read(["c", "b", "a"], q, q)
    assert not found.reordered


def test_a_message_of_another_device_does_not_make_ours_reordered() -> None:
    found = JointMap(WANTED)
    q = doubles(1.0, 2.0, 3.0)
    found.read(["a", "b", "c"], q, q)
    assert found.read(["gripper"], doubles(0.0), doubles(0.0)) is Reading.FOREIGN
    assert found.read(["a", "b", "c"], q, q) is Reading.COMPLETE
    assert not found.reordered


def test_what_is_missing_has_a_name() -> None:
    found = JointMap(WANTED)
    assert found.read(["a", "c"], doubles(1.0, 2.0), doubles(1.0, 2.0)) is Reading.MISSING
    assert found.absent == ("b",)


def test_a_joint_that_is_named_twice_is_not_guessed() -> None:
    found = JointMap(WANTED)
    four = doubles(1.0, 2.0, 3.0, 4.0)
    for _ in range(2):
        assert found.read(["a", "b", "c", "b"], four, four) is Reading.TWICE
    assert found.twice == ("b",)
    assert found.read(["a", "x", "c", "b", "x"], doubles(*range(5)), doubles(*range(5))) is (
        Reading.COMPLETE
    )


def test_sizes_that_disagree() -> None:
    found = JointMap(WANTED)
    names, three, two = ["a", "b", "c"], doubles(1, 2, 3), doubles(1, 2)
    assert found.read(names, two, three) is Reading.SIZES
    assert found.read(names, three, two) is Reading.SIZES
    assert found.read(names, doubles(), doubles()) is Reading.SIZES
    assert found.read(names, three, doubles()) is Reading.NO_VELOCITY
    assert found.read([], doubles(), doubles()) is Reading.FOREIGN


def test_earlier_readings_stay_as_they_were() -> None:
    """The safety step keeps the last good state: it must not change under it."""
    found = JointMap(WANTED)
    found.read(["a", "b", "c"], doubles(1, 2, 3), doubles(0, 0, 0))
    kept = found.q
    found.read(["a", "b", "c"], doubles(7, 8, np.nan), doubles(0, 0, 0))
    assert kept.tolist() == [1.0, 2.0, 3.0]


def test_order() -> None:
    assert order(["a", "b", "c"], ["c", "a", "b"]).tolist() == [2, 0, 1]
