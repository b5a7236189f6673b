"""Equations of recordings: what is kept of stretches, what is refused, what is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis import identification as identify_module
from geared_dynamics.analysis import identification_equations as module
from geared_dynamics.analysis.identification import identify, instrument_columns
from geared_dynamics.analysis.identification_equations import (
    Equations,
    drive_gains_from_load,
    equations,
)
from geared_dynamics.analysis.identification_rows import (
    EquationRows,
    Settings,
    joined_motions,
    thinned,
    together,
    top_speeds,
)
from geared_dynamics.analysis.span_comparison import predicted
from geared_dynamics.description.yaml_files import read_data
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.errors import RecordingError
from geared_dynamics.model.inertia import parameters_of
from geared_dynamics.recordings.motions import JointMotion, Meaning
from geared_dynamics.recordings.recording import Recording, recording_from_arrays
from recorded_motions import ROBOTS, elbow, motion, nanoseconds, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
X = truth(MODEL)
RATE = 200.0
T, Q, V, A = motion(40.0, RATE)
TAU = torques(MODEL, X, Q, V, A)
PERIOD = int(1e9 / RATE)


def stretch(stop: int = len(T)) -> JointMotion:
    """The motion, exact."""
    core = np.ones(stop, bool)
    return JointMotion(nanoseconds(T[:stop]), *(x[:stop] for x in (Q, V, A, TAU, TAU)), core)


def pieces(whole: JointMotion, size: int) -> list[JointMotion]:
    """The same in pieces."""
    return [
        JointMotion(*(part[k : k + size] for part in whole))
        for k in range(0, len(whole.stamp), size)
    ]


def test_small_pieces_give_what_the_whole_gives() -> None:
    whole = stretch()
    assert len(whole.stamp) // 100 > 2  # a period of the equations' filter is 67 samples
    again = [*joined_motions(pieces(whole, 100), PERIOD)]
    assert len(again) == 1
    for one, other in zip(again[0], whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pieces_with_a_gap_stay_apart() -> None:
    parts = pieces(stretch(1000), 250)
    late = [part._replace(stamp=part.stamp + k // 2 * 3 * PERIOD) for k, part in enumerate(parts)]
    assert [len(part.q) for part in joined_motions(late, PERIOD)] == [500, 500]
    assert [*joined_motions([parts[0]._replace(**{
        name: getattr(parts[0], name)[:3] for name in JointMotion._fields
    })], PERIOD)] == []  # fmt: skip


def test_a_clock_that_starts_anew_is_a_gap() -> None:
    parts = pieces(stretch(1000), 500)
    again = [parts[0], parts[1]._replace(stamp=parts[1].stamp - 10**12)]
    assert [len(part.q) for part in joined_motions(again, PERIOD)] == [500, 500]


def test_a_bandwidth_that_is_too_much_is_capped_and_said() -> None:
    found = equations(MODEL, [recording_from_arrays(T, Q, TAU)], Settings(bandwidth=5000.0))
    assert found.bandwidth == (80.0, 16.0)
    assert found.notes == ("a bandwidth of 5000 Hz is more than 200 Hz allow: 80 Hz is used",)
    given = Settings(bandwidth=10.0, keep=50.0)
    found = equations(MODEL, [recording_from_arrays(T, Q, TAU)], given)
    assert found.bandwidth == (10.0, 10.0)
    assert "below 10 Hz, not 50 Hz" in found.notes[0]


def test_a_joint_without_a_limit_has_the_top_speed_that_it_reached() -> None:
    """However fast: it decides which equations are too slow to count."""
    text = (ROBOTS / "elbow.urdf").read_text("utf-8")
    for given, other in (
        ('velocity="4"', 'velocity="0"'),
        ('velocity="5"', ""),
        ('velocity="6"', 'velocity="1.5"'),
    ):
        text = text.replace(given, other)
    free = gd.load_model(text)
    v = np.array([[3.0, -20.0, 2.0], [-1.0, 0.5, 1.0]])
    np.testing.assert_array_equal(top_speeds(free, v), [3.0, 20.0, 1.5])


def rows_of(part: JointMotion, keep: float, factor: int) -> EquationRows:
    """Rows of one stretch."""
    return thinned(MODEL, Meaning(), part, RATE, keep, factor)


def test_both_ends_of_a_filtered_stretch_are_left_out() -> None:
    """A period of the filter's; without that the torque's step at the ends is in the rows."""
    part = stretch(2000)
    bent = part.effort.copy()
    bent[:20] += 50.0
    rows = rows_of(part._replace(effort=bent), 3.0, 10)
    edge = 67  # RATE / 3
    inside = [k for k in range(0, 2000, 10) if edge <= k < 2000 - edge]
    assert len(rows.v) == len(inside)
    np.testing.assert_allclose(rows.q, Q[inside], atol=0.01)
    residual = np.abs(rows.tau - rows.Y @ X).max(axis=1)
    assert residual.max() < 1.0  # at the very start it is tens


def test_long_recordings_are_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [recording_from_arrays(T, Q, TAU), recording_from_arrays(T, Q, TAU)]
    usual = equations(MODEL, runs)
    monkeypatch.setattr(module, "MOST", len(usual.tau) // 3)
    few = equations(MODEL, runs)
    assert few.rate == usual.rate / 4
    assert len(few.tau) <= len(usual.tau) // 3
    first = [part.tau[part.run == 0] for part in (few, usual)]
    np.testing.assert_array_equal(first[0], first[1][::4][: len(first[0])])


def late_motion() -> Recording:
    """Five sixths at rest, then the motion."""
    parts = [np.vstack([np.repeat(x[:1], 5 * 2400, axis=0), x[:2400]]) for x in (Q, 0 * V, 0 * A)]
    parts[1][-2400:], parts[2][-2400:] = V[:2400], A[:2400]
    tau = torques(MODEL, X, *parts)
    return recording_from_arrays(np.arange(len(tau)) / RATE, parts[0], tau)


@pytest.mark.parametrize(
    ("recording", "holdout", "said"),
    [
        (
            late_motion(),
            0.2,
            r"joint_1, joint_2, joint_3 hardly move .*in the 80 % .*hold out less",
        ),
        (recording_from_arrays(T, Q, TAU), 0.9, r"equations for 48 unknowns in the 10 % that are"),
        (recording_from_arrays(T, Q, TAU), 0.99, r"hardly move .*in the 1 % that are not held"),
    ],
)
def test_too_little_that_is_not_held_out(recording: Recording, holdout: float, said: str) -> None:
    with pytest.raises(RecordingError, match=said):
        identify(MODEL, [recording], Settings(bandwidth=15.0, holdout=holdout))


def test_motion_at_the_end_is_enough_if_nothing_is_held_out() -> None:
    found = identify(MODEL, [late_motion()], Settings(bandwidth=15.0, holdout=0.0), physical=False)
    assert (100 * found.residual[1] / found.rms < 20.0).all()  # it starts with a jerk


def test_a_recording_too_short_for_the_filter() -> None:
    with pytest.raises(RecordingError, match="no gap-free interval is long enough"):
        equations(
            MODEL, [recording_from_arrays(T[:70], Q[:70], TAU[:70])], Settings(bandwidth=6.0)
        )


def test_validation_is_in_the_band_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Equations] = []

    def noted(*args: Any, **options: Any) -> Equations:
        made.append(equations(*args, **options))
        return made[-1]

    monkeypatch.setattr(identify_module, "equations", noted)
    _, q, v, a = motion(40.0, RATE)
    fast = recording_from_arrays(T / 4.0, q, torques(MODEL, X, q, 4 * v, 16 * a))
    usual = recording_from_arrays(T, Q, TAU)
    identify(MODEL, [usual], Settings(), validate=[fast], physical=False)
    assert made[0].bandwidth == made[1].bandwidth
    assert equations(MODEL, [fast]).bandwidth != made[0].bandwidth  # its own is another


def test_instruments_of_another_motion_are_refused() -> None:
    random = np.random.default_rng(0)
    usual = recording_from_arrays(T, Q + 1e-4 * random.normal(size=Q.shape), TAU)
    same = recording_from_arrays(T + 1e3, Q, TAU)  # a repetition is later
    identify(MODEL, [usual], Settings(bandwidth=15.0), instruments=[same], physical=False)
    _, q, v, a = motion(40.0, RATE, seed=9)
    other = recording_from_arrays(T, q, torques(MODEL, X, q, v, a))
    with pytest.raises(RecordingError, match=r"another motion: joint_\d differs by"):
        identify(MODEL, [usual], Settings(bandwidth=15.0), instruments=[other], physical=False)


def resent(each: int = 101) -> Recording:
    """The motion from a publisher that now and then sends a sample again."""
    rows = np.arange(len(T))
    rows[each::each] -= 1
    return recording_from_arrays(T, Q[rows], TAU[rows])


@pytest.mark.parametrize("doubled", ["equations", "instruments", "both"])
def test_instruments_are_paired_by_stamps(doubled: str) -> None:
    whole = recording_from_arrays(T, Q, TAU)
    settings = Settings(bandwidth=15.0, keep=3.0)
    one = whole if doubled == "instruments" else resent()
    other = whole if doubled == "equations" else resent()
    found = equations(MODEL, [one], settings)
    columns, there = instrument_columns(MODEL, [one], [other], settings, found)
    assert there.mean() > 0.98
    smooth = ["coulomb" not in name for name in found.names]
    scale = np.abs(found.Y).max(axis=(0, 1)).clip(1e-9)[smooth]

    def off(one: Any, other: Any) -> float:
        return float((np.abs(one - other)[..., smooth].max(axis=(0, 1)) / scale).max())

    assert off(columns, found.Y[there]) < 0.02
    if doubled != "both":  # paired by their number, they drift apart
        numbered = equations(MODEL, [other], settings).Y
        both = min(len(numbered), len(found.Y))
        assert off(numbered[:both], found.Y[:both]) > 0.2


def test_instruments_may_count_turns_where_the_recording_does_not() -> None:
    urdf = (ROBOTS / "elbow.urdf").read_text("utf-8")
    urdf = urdf.replace('name="joint_1" type="revolute"', 'name="joint_1" type="continuous"')
    model = gd.load_model(urdf.encode(), ROBOTS / "elbow.drivetrain.yaml")
    many = np.array([6.0, 1.0, 1.0])
    tau = torques(model, X, many * Q, many * V, many * A)
    wrapped = many * Q
    wrapped[:, 0] = (wrapped[:, 0] + np.pi) % (2.0 * np.pi) - np.pi
    runs = [recording_from_arrays(T, q, tau) for q in (wrapped, many * Q)]
    assert np.abs(np.diff(wrapped, axis=0)).max() > 6.0
    settings = Settings(bandwidth=15.0)
    found = identify(model, runs[:1], settings, instruments=runs[1:], physical=False)
    alone = identify(model, runs[1:], settings, physical=False)
    np.testing.assert_allclose(found.x, alone.x, atol=1e-6)


def test_what_the_instruments_do_not_have_is_left_out_and_said() -> None:
    usual = recording_from_arrays(T, Q, TAU)
    most = recording_from_arrays(T[:6400], Q[:6400], TAU[:6400])
    settings = Settings(bandwidth=15.0)
    found = identify(MODEL, [usual], settings, instruments=[most], physical=False)
    every = len(equations(MODEL, [usual], settings).tau)
    left_out = every - len(found.equations.tau)
    assert 0.15 < left_out / every < 0.25
    assert f"left out: {left_out} of {every} instants" in found.notes[-1]


def test_there_is_an_instrument_for_each_recording() -> None:
    usual = recording_from_arrays(T, Q, TAU)
    with pytest.raises(RecordingError, match="has 2 recordings for 1"):
        identify(MODEL, [usual], Settings(bandwidth=15.0), instruments=[usual, usual])


def rich_friction() -> gd.GearedModel:
    """The elbow with all that friction can be in a file."""
    data, _ = read_data(Path(ROBOTS / "elbow.drivetrain.yaml"))
    law = {"viscous": 4.0, "coulomb": [3.0, 4.0], "load": 0.05, "offset": 0.2,
           "stribeck": {"static": [9.0, 8.0], "speed": 0.4},
           "ripple": [{"order": 3, "amplitude": 1.0}]}  # fmt: skip
    data["joints"] = {name: {"friction": law} for name in MODEL.joint_names}
    own = {"viscous": 1e-4, "coulomb": [0.01, 0.03], "offset": 0.02}
    data["motors"]["motor_2"]["friction"] = own
    return gd.load_model(ROBOTS / "elbow.urdf", data)


def test_friction_that_no_column_stands_for_is_as_the_files_say() -> None:
    """ "Files say" is the model that the comparison uses."""
    model = rich_friction()
    tau = predicted(model, Q, V, A).models[2]
    found = identify(model, [recording_from_arrays(T, Q, tau)], Settings(), physical=False)
    assert (100 * found.residual[0] / found.rms < 2.0).all()  # what reversals leave
    assert (100 * found.residual[1] / found.rms < 2.0).all()
    rubbing = np.array(["viscous" in name for name in found.base.names])
    np.testing.assert_allclose(found.x[rubbing], found.files[rubbing], rtol=0.05)
    linear = replace(model, joint_friction=MODEL.joint_friction)  # the control: none
    worse = identify(linear, [recording_from_arrays(T, Q, tau)], Settings(), physical=False)
    assert (worse.residual[1] > 2.0 * found.residual[1]).all()


def test_drive_gains_beside_springs() -> None:
    """A balancer's force is no current's; taken for one it was 9 % of axis 2."""
    model = gd.load_model(ROBOTS / "kr300.urdf", ROBOTS / "kr300.drivetrain.yaml")
    assert model.balancers.names
    t, q, v, a = motion(30.0, 100.0, n=6, seed=3)
    q = 0.5 * q + np.array([0.0, -1.2, 1.2, 0.0, 0.0, 0.0])
    v, a = 0.5 * v, 0.5 * a
    com, tensor = (0.1, 0.05, 0.2), 5.0 * np.eye(3)
    gains, random = np.array([1.1, 0.9, 1.0, 1.2, 0.8, 1.0]), np.random.default_rng(0)
    runs = []
    for arm in (model, model.with_payload(150.0, com, tensor, link=model.body_names[-1])):
        tau = gd.inverse_dynamics(arm, q, v, a) - balancer_forces(model, q)
        effort = gd.motor_torques(model, tau) / gains + 1e-3 * random.normal(size=q.shape)
        runs.append(recording_from_arrays(t, q, effort))
    found = equations(model, runs, Settings(Meaning("motor_torque"), holdout=0.0))
    load, tip = parameters_of(150.0, com, tensor), model.body_names[-1]
    result = drive_gains_from_load(model, found, found.run == 1, load, tip)
    np.testing.assert_allclose(result.gains, gains, rtol=2e-3)
    without = found._replace(tau=found.tau - found.known, known=np.zeros_like(found.known))
    wrong = drive_gains_from_load(model, without, found.run == 1, load, tip)
    assert abs(wrong.gains[1] / gains[1] - 1.0) > 0.05  # control


def test_rows_are_put_together() -> None:
    parts = [rows_of(stretch(stop), 3.0, 10) for stop in (1000, 600)]
    both = together(parts)
    assert len(both.v) == sum(len(part.v) for part in parts)
    np.testing.assert_array_equal(both.Y[-1], parts[1].Y[-1])
