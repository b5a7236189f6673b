"""A recording compared with the model: exact where the model is, and not where it is wrong."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis import comparison_numbers
from geared_dynamics.analysis.compare import Analysis, analyze, delays_in, over_spans
from geared_dynamics.analysis.comparison_numbers import joint_figures, motor_figures, summary
from geared_dynamics.analysis.coupling_gap import coupling_parts, coupling_sums, unabsorbed_share
from geared_dynamics.analysis.span_comparison import Kept, predicted
from geared_dynamics.checks import or_dash
from geared_dynamics.description.yaml_files import read_data
from geared_dynamics.errors import GearedDynamicsError, RecordingError
from geared_dynamics.recordings.motions import JointMotion, Meaning
from geared_dynamics.recordings.recording import open_recording, recording_from_arrays
from geared_dynamics.recordings.spans import RESTING
from naive.drives import ratios_scaled
from recorded_motions import JOINT_STATE, ROBOTS, elbow, messages, motion, write_sqlite

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
T, Q, V, A = motion(30.0, 200.0)
TAU = np.asarray(gd.inverse_dynamics(MODEL, Q, V, A))
EXACT = 0.02  # [%] what filter and differences make of an exact recording


def analysis(tau: np.ndarray = TAU, model: gd.GearedModel = MODEL, **options: object) -> Analysis:
    """Hold torques along the motion against a model."""
    return analyze(model, recording_from_arrays(T, Q, tau, V), bandwidth_hz=20.0, **options)


def percent(found: Analysis) -> np.ndarray:
    """Residual of the three models by joint (n, 3)."""
    return np.array([joint.percent for joint in joint_figures(found)])


def test_an_exact_model_leaves_nothing_and_the_others_do() -> None:
    found = percent(analysis())
    assert (found[:, 2] < EXACT).all()
    assert (found[:, 1] > 2 * EXACT).all()
    assert (found[:, 0] > found[:, 1]).all()


@pytest.mark.parametrize("joint", range(3))
def test_a_ratio_one_percent_off_shows(joint: int) -> None:
    assert percent(analysis(model=ratios_scaled(MODEL, joint, 1.01)))[joint, 2] > 3 * EXACT


def test_terms_add_up_to_the_models() -> None:
    found = predicted(MODEL, Q, V, A)
    np.testing.assert_allclose(sum(found.terms), found.models[2], rtol=0, atol=1e-10)
    armature = sum(term for k, term in enumerate(found.terms) if k != 4)
    np.testing.assert_allclose(armature, found.models[1], rtol=0, atol=1e-10)
    for kind, tau in zip(("none", "diagonal", "complete"), found.models, strict=True):
        expected = gd.inverse_dynamics(MODEL.with_coupling(kind), Q, V, A)
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-10)


def test_missing_friction_is_named_with_its_size() -> None:
    tau = TAU + np.array([4.0, 0.0, 0.0]) * V + np.array([0.0, 3.0, 0.0]) * np.sign(V)
    first, second, third = joint_figures(analysis(tau + np.array([0.0, 0.0, 2.0])))
    assert first.missing["velocity"] == pytest.approx(4.0, rel=0.01)
    assert second.missing["direction"] == pytest.approx(3.0, rel=0.05)
    assert third.missing["constant"] == pytest.approx(2.0, rel=0.01)
    assert "viscous +4 N m s/rad" in first.hint
    assert "viscous +4 N s/m" in first._replace(unit="N").hint
    assert max(first.fitted, third.fitted) < 0.1


def test_terms_that_explain_next_to_nothing_are_not_named() -> None:
    noise = np.random.default_rng(3).normal(size=TAU.shape)
    both = 4.0 * V[:, :1] + 2.0 * np.sign(V[:, :1])  # correlated, and both there
    tau = TAU + noise * [0.05, 0.05, 1.0] + np.hstack([both, 4.0 * V[:, 1:2], 0.0 * V[:, :1]])
    first, second, third = joint_figures(analysis(tau))
    assert set(first.missing) == {"velocity", "direction"}
    assert first.missing["velocity"] == pytest.approx(4.0, rel=0.1)
    assert set(second.missing) == {"velocity"}
    assert second.hint.startswith("viscous +4 N m s/rad would leave")
    assert third.missing == {}
    assert third.hint == "no simple term is missing"
    assert third.fitted == pytest.approx(third.percent[2])
    assert second.fitted < 0.2 * second.percent[2]


def test_delay_is_found() -> None:
    late = analyze(MODEL, recording_from_arrays(T[3:], Q[3:], TAU[:-3]), bandwidth_hz=20.0)
    np.testing.assert_allclose(late.delays, 0.015, atol=1e-4)


def test_starts_and_stops_do_not_count_for_the_delay() -> None:
    """Where a joint begins and ends to move, friction is another than the model's."""
    count, end = 9 * RESTING, 7 * RESTING
    v, a = V[:count].copy(), A[:count].copy()
    for rest in (slice(0, RESTING), slice(8 * RESTING, count)):
        v[rest] = a[rest] = 0.0
    expected = np.asarray(gd.inverse_dynamics(MODEL, Q[:count], v, a))
    effort = np.roll(expected, 3, axis=0)  # 15 ms late
    begun = slice(RESTING, 2 * RESTING)
    ended = slice(end, 8 * RESTING)
    part = JointMotion(
        np.arange(count), Q[:count], v, a, effort, effort, np.ones(count, dtype=bool)
    )
    reader = SimpleNamespace(model=MODEL, meaning=Meaning(), recording=SimpleNamespace(rate=200.0))
    for spoilt in (begun, ended):
        effort[spoilt] = 5.0 * np.roll(expected, -6, axis=0)[spoilt]
    delays = delays_in(reader, part, np.arange(3), 100)  # type: ignore[arg-type]
    np.testing.assert_allclose(delays, 0.015, atol=1e-4)
    # The negative control: they would, where the rest of the motion is too short.
    delays = delays_in(reader, part, np.arange(3), count)  # type: ignore[arg-type]
    assert (np.abs(np.array(delays) - 0.015) > 1e-3).any()


@pytest.mark.parametrize(
    "meaning", ["joint_torque", "gravity_compensated", "motor_torque", "motor_current"]
)
def test_every_meaning_of_efforts(meaning: str) -> None:
    gains = (0.06, 0.08, 0.1)
    tau_m = gd.motor_torques(MODEL, TAU)
    effort = {
        "joint_torque": TAU,
        "gravity_compensated": TAU - gd.gravity_forces(MODEL, Q),
        "motor_torque": tau_m,
        "motor_current": tau_m / gains,
    }[meaning]
    own = gains if meaning == "motor_current" else ()
    found = analysis(effort, meaning=Meaning(meaning, gains=own))
    assert (percent(found)[:, 2] < EXACT).all()
    if meaning != "joint_torque":  # control: taken for what it is not
        assert (percent(analysis(effort))[:, 2] > 1.0).any()


def test_motor_angles_and_another_zero() -> None:
    phi = gd.motor_angles(MODEL, Q - [0.1, -0.2, 0.3])
    recording = recording_from_arrays(T, phi, TAU)
    meaning = Meaning(position="motor", zero=(0.1, -0.2, 0.3))
    found = analyze(MODEL, recording, meaning=meaning, bandwidth_hz=20.0)
    assert (percent(found)[:, 2] < EXACT).all()


def test_current_without_a_gain_says_what_to_give() -> None:
    with pytest.raises(RecordingError, match=r"torque_constant.*--gains"):
        analysis(meaning=Meaning("motor_current"))


def test_efforts_of_zero_are_refused_and_one_joint_noted() -> None:
    with pytest.raises(
        RecordingError, match=r"efforts of zero in all 5960 samples.*measures efforts"
    ):
        analysis(0.0 * TAU)
    notes = analysis(TAU * [1.0, 0.0, 1.0]).notes
    assert notes == ("joint_2: the effort is zero in all samples",)


def test_nan_and_gaps_are_left_out_and_counted() -> None:
    tau = TAU.copy()
    tau[1000:1200] = np.nan
    found = analysis(tau)
    edges = 4 * 20  # two periods of 20 Hz at each end of two stretches
    assert found.totals.samples == len(T) - 200 - edges
    assert "200 samples with NaN" in found.notes[0]
    assert "1 gaps" in found.notes[0]
    assert (percent(found)[:, 2] < EXACT).all()


def test_positions_beyond_the_limits_are_doubted() -> None:
    shifted = recording_from_arrays(T, Q + 10.0, TAU)
    notes = " ".join(analyze(MODEL, shifted, bandwidth_hz=20.0).notes)
    assert "another robot" in notes


def bag(folder: Path, seconds: float) -> Path:
    """A bag of several spans."""
    t, q, v, a = motion(seconds, 1000.0)
    data = messages(MODEL.joint_names, t, q, v, gd.inverse_dynamics(MODEL, q, v, a) + v)
    return write_sqlite(folder / "bag.db3", {"/joint_states": (JOINT_STATE, data)})


def test_processes_give_the_same_to_the_last_digit(tmp_path: Path) -> None:
    path = bag(tmp_path, 70.0)
    # The machine's cores do not matter here, the order of the sums does.
    results = [analyze(MODEL, open_recording(path, MODEL.joint_names), jobs=k) for k in (1, 2)]
    for one, two in zip(*(result.totals for result in results), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(results[0].drawn, results[1].drawn)


@pytest.mark.validate
def test_dask_gives_the_same_to_the_last_digit(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs geared_dynamics[analysis]")
    path = bag(tmp_path, 70.0)
    alone = analyze(MODEL, open_recording(path, MODEL.joint_names))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        recording = open_recording(path, MODEL.joint_names)
        spread = analyze(MODEL, recording, scheduler=cluster.scheduler_address)
    for one, two in zip(alone.totals, spread.totals, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.validate
def test_dask_takes_a_relative_path_and_tells_what_a_worker_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs geared_dynamics[analysis]")
    path = bag(tmp_path, 70.0)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:  # the worker stays in this folder
        monkeypatch.chdir(tmp_path)
        recording = open_recording(path.name, MODEL.joint_names)
        words = {"bandwidth_hz": 20.0, "scheduler": cluster.scheduler_address}
        assert analyze(MODEL, recording, **words).totals.samples > 60_000
        path.unlink()
        with pytest.raises(RecordingError, match=r"cannot be opened again.*the same path"):
            analyze(MODEL, recording, **words)
        with pytest.raises(GearedDynamicsError, match=r"a worker failed \(TypeError"):
            next(over_spans(len, 0, 1, scheduler=cluster.scheduler_address))


def test_spans_are_joined_without_a_seam(tmp_path: Path) -> None:
    parts: list[Kept] = []
    recording = open_recording(bag(tmp_path, 70.0), MODEL.joint_names)
    analyze(MODEL, recording, bandwidth_hz=20.0, keep=parts.append)
    whole = [np.concatenate([getattr(part, key) for part in parts]) for key in ("q", "v", "a")]
    t, *expected = motion(70.0, 1000.0)
    assert len(parts) == 2
    for found, values in zip(whole, expected, strict=True):
        assert len(found) == len(t) - 200  # two periods of 20 Hz at both ends
        values, seam = values[100:-100], slice(65436 - 500, 65436 + 500)
        assert np.abs(found - values)[seam].max() < 1e-4 * np.abs(values).max()


def test_no_scheduler_says_so() -> None:
    pytest.importorskip("distributed", reason="needs geared_dynamics[analysis]")
    with pytest.raises(GearedDynamicsError, match="no scheduler answers"):
        next(over_spans(max, 0, 1, scheduler="nonsense://nowhere"))


def test_motors_need_data_and_their_budget_is_the_commands() -> None:
    first = motor_figures(analysis())[0]  # no torque constants: torques only
    assert np.isnan([*first.rms[1:], *first.peak[1:], first.exceeded]).all()  # nor limits
    settled = slice(20, -20)  # two periods of 20 Hz
    data = gd.motor_commands(MODEL, Q[settled], V[settled], A[settled])
    found = np.array([motor.rms[0] for motor in motor_figures(analysis())])
    expected = np.sqrt(np.mean(data.torque**2, axis=0))
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_currents_and_voltages_are_the_commands() -> None:
    data = read_data(ROBOTS / "elbow.drivetrain.yaml")[0]
    for motor in data["motors"].values():
        electrics = {"resistance": 0.8, "torque_constant": 0.06, "limits": {"current": 5.0}}
        motor.update(electrics)
    model = gd.load_model(ROBOTS / "elbow.urdf", data)
    found = motor_figures(analysis(model=model))
    settled = slice(20, -20)  # two periods of 20 Hz
    expected = gd.motor_commands(model, Q[settled], V[settled], A[settled])
    for k, values in ((1, expected.current), (2, expected.voltage)):
        rms = np.sqrt(np.mean(values**2, axis=0))
        np.testing.assert_allclose([motor.rms[k] for motor in found], rms, rtol=1e-3)
        peaks = [motor.peak[k] for motor in found]
        np.testing.assert_allclose(peaks, np.abs(values).max(axis=0), rtol=1e-2)
    beyond = 100.0 * np.mean(np.abs(expected.current) > 5.0, axis=0)
    assert beyond.max() > 1.0
    np.testing.assert_allclose([motor.exceeded for motor in found], beyond, atol=0.2)


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ({"torque_constant": 0.06}, [2]),
        ({}, [1, 2]),
        ({"torque_constant": 0.06, "resistance": 0.8}, []),
    ],
)
def test_what_a_motor_lacks_leaves_the_others_to_be_compared(
    known: dict[str, float], missing: list[int]
) -> None:
    """One motor without a datum is enough: sums over all of them would mislead."""
    data = read_data(ROBOTS / "elbow.drivetrain.yaml")[0]
    for k, motor in enumerate(data["motors"].values()):
        motor.update({"torque_constant": 0.06, "resistance": 0.8} if k else known)
    found = motor_figures(analysis(model=gd.load_model(ROBOTS / "elbow.urdf", data)))
    for motor in found:
        values = np.array([motor.rms, motor.peak])
        assert np.isnan(values[:, missing]).all()
        assert (np.delete(values, missing, axis=1) > 0.0).all()


def test_summary_is_one_sentence() -> None:
    found = analysis()
    assert "complete 0.0 %" in summary(found, joint_figures(found))


def test_causes_of_coupling_add_up() -> None:
    parts = coupling_parts(MODEL, Q, V, A)
    rest = TAU - gd.inverse_dynamics(MODEL.with_coupling("diagonal"), Q, V, A)
    np.testing.assert_allclose(sum(parts), rest, rtol=0, atol=1e-10)
    assert not parts[0].any()  # one rotor per joint: nothing by the transmission
    sums = coupling_sums(MODEL, Q[:100], V[:100], A[:100])
    whole = sums.plus(coupling_sums(MODEL, Q[100:], V[100:], A[100:]))
    np.testing.assert_allclose(whole.total, (rest**2).sum(axis=0), rtol=1e-9)


def test_a_coaxial_rotor_is_absorbed_and_a_skew_one_is_not() -> None:
    rotor = {"mass": 0, "inertia": {"axial": 1e-3}}
    links = [(0.0, np.pi / 2, 0.3), (0.4, 0.0, 0.0), (0.3, 0.0, 0.0)]  # joints 2 and 3 parallel
    rows = [
        {"a": a, "alpha": alpha, "d": d, "mass": 3.0, "tensor": np.eye(3) * 0.05}
        for a, alpha, d in links
    ]
    spins = [{"wheel": "r3", "joint": "joint_3", "ratio": 50}]
    for axis, seen in (([0, 0, 1], False), ([1, 0, 0], True)):  # along joint 3; across it
        wheel = {**rotor, "carrier": "link_2", "axis": axis}
        arm = gd.from_dh(rows, {"version": 1, "wheels": {"r3": wheel}, "spins": spins})
        assert coupling_sums(arm, Q, V, A).total.max() > 1e-3  # it is there in both
        assert unabsorbed_share(arm).any() == seen


def test_cells_of_what_is_not_known_are_dashes() -> None:
    assert [or_dash(1e3 * x, ".1f") for x in (0.0123, -0.0005, np.nan)] == ["12.3", "-0.5", "-"]
    assert [or_dash(x) for x in (1234.5, 0.0, np.nan)] == ["1.23e+03", "0", "-"]
    assert [or_dash(x, ".1f") for x in (12.34, 0.0, np.nan)] == ["12.3", "0.0", "-"]


def test_a_dash_among_the_delays_is_explained() -> None:
    found = joint_figures(analysis())
    assert comparison_numbers.delay_note(found) == ""
    dashed = [found[0], found[1]._replace(delay=np.nan)]
    assert (
        comparison_numbers.delay_note(dashed) == "delay -: none found within 50 ms to either side"
    )


def test_a_recording_at_rest_has_nothing_to_compare() -> None:
    still = np.tile(Q[:1], (len(T), 1))
    recording = recording_from_arrays(T, still, np.ones_like(still))
    with pytest.raises(RecordingError, match=r"no sample to compare .*rest") as caught:
        analyze(MODEL, recording, bandwidth_hz=20.0, rest=0.05)
    assert caught.value.remedy == "record the robot in motion, or lower --rest-speed"
