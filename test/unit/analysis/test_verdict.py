"""Verdicts on fits of which the truth is known: what is wrong is named, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.analysis.hypotheses import elsewhere, explained
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.impossible import at_bounds, costs
from geared_dynamics.analysis.parameter_columns import column_names, prior, unit_of
from geared_dynamics.analysis.verdict import (
    FitFinding,
    _fails,
    _too_little,
    judged,
    wider_residual,
)
from geared_dynamics.apps.cli.identify_output import about_physical
from geared_dynamics.arrays import Array
from geared_dynamics.model import build_model
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import Recording, recording_from_arrays
from geared_dynamics.recordings.signals import WIDER
from geared_dynamics.recordings.spans import found_bandwidth
from recorded_motions import ROBOTS, elbow, motion, torques, truth

pytest.importorskip("scipy", reason="needs geared_dynamics[analysis]")
pytest.importorskip("clarabel", reason="needs geared_dynamics[analysis]")

MODEL = elbow()
RATE, SECONDS = 200.0, 20.0


def recorded(
    noise: float = 0.02,
    seed: int = 5,
    size: float = 1.0,
    tau: Array | None = None,
    **changed: float,
) -> Recording:
    """The elbow in motion with torque noise (share of the RMS), and some parameters changed."""
    t, *moving = motion(SECONDS, RATE, seed=seed)
    q, v, a = (size * x for x in moving)
    x, names = truth(MODEL), column_names(MODEL)
    for name, value in changed.items():
        x[names.index(name.replace("__", "."))] = value
    tau = torques(MODEL, x, q, v, a) if tau is None else tau
    random = np.random.default_rng(seed + 100)
    level = noise * np.sqrt(np.mean(tau**2, axis=0))
    noisy = tau + level * random.normal(size=tau.shape)
    return recording_from_arrays(t, q + 1e-5 * random.normal(size=q.shape), noisy)


def fit(recording: Recording, **meaning: object) -> Identified:
    """Identify, in a band that is known, so that tests are quick."""
    settings = Settings(Meaning(**meaning), bandwidth=20.0, keep=4.0)  # type: ignore[arg-type]
    return identify(MODEL, [recording], settings)


def without_inertia(wheel: str) -> gd.GearedModel:
    """The elbow with a wheel whose inertia is 0, as of a URDF that does not state it."""
    robot, drivetrain = MODEL.records
    wheels = tuple(
        replace(record, axial=0.0, transverse=0.0) if record.name == wheel else record
        for record in drivetrain.wheels
    )
    return build_model(robot, replace(drivetrain, wheels=wheels))


def stating_friction() -> gd.GearedModel:
    """The elbow whose URDF states the friction of its second joint."""
    head, name, rest = (
        (ROBOTS / "elbow.urdf").read_text("utf-8").partition('<joint name="joint_2"')
    )
    text = rest.replace("</joint>", '<dynamics damping="5" friction="2.5"/></joint>', 1)
    return gd.load_model(head + name + text, ROBOTS / "elbow.drivetrain.yaml")


def of(found: Identified, word: str) -> FitFinding:
    """The finding that says a word."""
    (finding,) = [one for one in judged(found).findings if word in one.what]
    return finding


@pytest.mark.parametrize(("noise", "seed"), [(0.005, 5), (0.02, 6), (0.05, 7), (0.1, 8)])
def test_good_data_are_used_without_a_word(noise: float, seed: int) -> None:
    verdict = judged(fit(recorded(noise, seed)))
    assert verdict.usable
    assert verdict.findings == ()
    assert verdict.sentence.startswith("Use these parameters: they leave ")
    assert (verdict.elsewhere < 0.05).all()


@pytest.mark.parametrize(
    ("joint", "degrees"), [(1, 90.0), (1, -90.0), (1, 180.0), (2, 90.0), (2, -45.0)]
)
def test_a_wrong_zero_posture_is_named_with_its_remedy(joint: int, degrees: float) -> None:
    zero = np.zeros(3)
    zero[joint] = np.deg2rad(degrees)
    found = fit(recorded(), zero=tuple(zero))
    verdict = judged(found)
    assert not verdict.usable
    name = MODEL.joint_names[joint]
    finding = of(found, f"{name} looks {abs(degrees):.0f}° off")
    assert finding is verdict.findings[0] or finding == verdict.findings[0]
    assert verdict.sentence.startswith(f"Do not use these parameters: {name} looks")
    said = float(finding.remedy.split(f"{name}=")[1].split(",")[0])
    assert np.cos(said + zero[joint]) > 1.0 - 1e-6  # taken back


def test_two_wrong_zeros_that_belong_together() -> None:
    """The upper arm counts from another zero, the forearm's direction is right."""
    found = fit(recorded(), zero=(0.0, np.pi / 2, -np.pi / 2))
    finding = of(found, "off")
    assert "joint_2 looks 90° off and joint_3 looks 90° off" in finding.what


def test_the_zero_of_an_upright_axis_does_not_matter() -> None:
    assert judged(fit(recorded(), zero=(np.pi / 2, 0.0, 0.0))).findings == ()


def test_an_unknown_mass_is_weighed() -> None:
    _, q, v, a = motion(SECONDS, RATE)
    heavy = MODEL.with_payload(2.5, (0.1, 0.0, 0.05))
    tau = torques(MODEL, truth(MODEL), q, v, a)
    tau = tau + gd.inverse_dynamics(heavy, q, v, a) - gd.inverse_dynamics(MODEL, q, v, a)
    found = fit(recorded(tau=tau))
    assert judged(found).usable
    better = explained(found)
    assert abs(better.mass - 2.5) < 3.0 * better.sigma + 0.02
    assert better.sigma < 0.25
    assert of(found, "kg more than the files say").severity == "yellow"


@pytest.mark.parametrize(("name", "value"), [("joint_2__coulomb", -5.0), ("rotor_3__J", -2e-3)])
def test_values_that_no_arm_has(name: str, value: float) -> None:
    found = fit(recorded(**{name: value}))
    finding = of(found, "no arm has")
    assert finding.severity == "red"
    assert name.replace("__", ".") in finding.what
    assert "leave more of the torque" in finding.evidence
    unit = unit_of(MODEL, name.replace("__", "."))
    assert f" {unit}" in finding.what


def test_a_bound_that_the_data_contradict_is_red_though_it_costs_nothing() -> None:
    """Files that state friction, and torques that show some of the other sign."""
    found = replace(fit(recorded(joint_2__coulomb=-0.5)), model=stating_friction())
    assert costs(found) == ""
    finding = of(found, "joint_2.coulomb")
    assert finding.severity == "red"
    assert "At the bound: joint_2.coulomb = 0 (files: 2.5 N m)" in finding.lines[0]
    assert "sign" in finding.cause
    assert "data sheet" in finding.remedy
    k = [found.equations.names[i] for i in found.base.selection].index("joint_2.coulomb")
    x = found.x.copy()
    x[k] = abs(x[k])  # no sum is negative: the bound alone is left
    alone = of(replace(found, x=x), "a parameter is at its bound: joint_2.coulomb = 0")
    assert alone.severity == "red"
    unstated = judged(replace(found, model=MODEL))
    assert [one.severity for one in unstated.findings] == ["yellow"]


@pytest.mark.parametrize(
    ("changed", "noise", "seed", "text"),
    [
        ({"joint_2__coulomb": 0.0}, 0.02, 5, "joint_2.coulomb = 0 (files: 2.5 N m)"),
        ({}, 0.1, 8, "link_2 on the border of what is a body"),
    ],
)
def test_a_bound_that_may_be_the_truth_is_listed_and_not_red(
    changed: dict[str, float], noise: float, seed: int, text: str
) -> None:
    """No friction at all is at its bound, and so is a link that noise has made too thin."""
    found = replace(fit(recorded(noise, seed, **changed)), model=stating_friction())
    (bound,) = at_bounds(found)
    assert bound.text == text
    assert not bound.contradicted
    assert judged(found).findings == ()
    assert f"physical parameters at their bounds: {text}" in about_physical(found, "rest")
    assert at_bounds(fit(recorded())) == []  # nothing is on its bound by being small


@pytest.mark.parametrize(("beyond", "said"), [(2.5, False), (3.5, True)])
def test_a_negative_value_that_does_no_harm_may_be_chance(beyond: float, said: bool) -> None:
    found = fit(recorded())
    k = [found.equations.names[i] for i in found.base.selection].index("joint_2.coulomb")
    x, sigma = found.x.copy(), found.sigma.copy()
    x[k], sigma[k] = -x[k], x[k] / beyond
    verdict = judged(replace(found, x=x, sigma=sigma))
    named = [one.severity for one in verdict.findings if "joint_2.coulomb" in one.what]
    assert named == (["yellow"] if said else [])


@pytest.mark.parametrize(
    ("beyond", "known", "said"), [(1.8, True, False), (2.5, True, True), (2.5, False, False)]
)
def test_a_negative_rotor_inertia_is_red_beyond_two_deviations(
    beyond: float, known: bool, said: bool
) -> None:
    """Even where the physical parameters fit as well: a wrong ratio or sign looks like this.

    Of a rotor whose inertia the files do not state, one of fifty is by chance.
    """
    found = fit(recorded())
    if not known:
        found = replace(found, model=without_inertia("rotor_3"))
    k = [found.equations.names[i] for i in found.base.selection].index("rotor_3.J")
    x, sigma = found.x.copy(), found.sigma.copy()
    x[k], sigma[k] = -x[k], x[k] / beyond
    verdict = judged(replace(found, x=x, sigma=sigma))
    named = [one for one in verdict.findings if "rotor_3.J" in one.what]
    assert [one.severity for one in named] == (["red"] if said else [])
    assert all("ratio" in one.cause and "describe" in one.remedy for one in named)


def test_a_ratio_that_is_1_percent_off_shows_where_noise_lets_it() -> None:
    """In torques with 0.1 % noise; with 5 % it is below what can be seen, and harmless."""
    _, q, v, a = motion(SECONDS, RATE)
    A = MODEL.structure_matrix.copy()
    A[:, 1] *= 1.01
    tau = torques(MODEL, truth(MODEL), q, v, a)
    tau = tau @ np.linalg.inv(A).T @ MODEL.structure_matrix.T
    said = of(fit(recorded(0.001, tau=tau)), "for what the other joints show")
    assert said.severity == "yellow"
    assert "joint_2 is 1." in said.what
    assert "too small" in said.what
    assert "gear ratio" in said.cause
    assert judged(fit(recorded(0.001))).findings == ()  # control
    assert judged(fit(recorded(0.05, tau=tau))).findings == ()


def test_too_little_motion() -> None:
    found = fit(recorded(size=0.03))
    verdict = judged(found)
    assert not verdict.usable
    finding = of(found, "uncertain")
    assert "part of the range gone through: joint_1" in finding.cause
    assert "excite" in finding.remedy
    assert (elsewhere(found) > 0.5).any()


@pytest.mark.parametrize(
    ("unsure", "severity"),
    [([0.2, 0.2], ""), ([0.21, 0.2], "yellow"), ([0.5, 0.5], "yellow"), ([0.2, 0.51], "red")],
)
def test_how_uncertain_torques_elsewhere_may_be(unsure: list[float], severity: str) -> None:
    """Above a fifth of a joint's torque it is to be known, above a half of no use."""
    result = SimpleNamespace(model=SimpleNamespace(joint_names=("shoulder", "elbow")))
    far = np.array(unsure)
    for way, part in (([0.3, 0.25], ""), ([0.3, 0.24], "elbow 24 %")):
        found = _too_little(result, far, np.array(way))  # type: ignore[arg-type]
        assert [one.severity for one in found] == ([severity] if severity else [])
        for one in found:
            for name, value in zip(("shoulder", "elbow"), far, strict=True):
                assert (f"{name} ±{100 * value:.0f} %" in one.what) == (value > 0.2)
            assert ("range gone through" in one.cause) == bool(part)
            assert part in one.cause


def test_what_fails_where_it_was_not_fitted() -> None:
    found = fit(recorded(0.1))
    held = found.residual.copy()
    held[3, 1] = 3.0 * found.residual[1, 1] * max(1.0, found.held_rms[1] / found.rms[1])
    worse = replace(found, residual=held)
    finding = of(worse, "twice the fit's")
    assert finding.severity == "red"
    assert "joint_2 (" in finding.what
    assert "N m" in finding.what
    held[3, 1] = 1.5 * found.residual[1, 1]
    assert judged(replace(found, residual=held)).usable


def test_a_small_residual_is_no_alarm_whatever_the_fit_left() -> None:
    """A few samples at a reversal are many times what a nearly exact fit leaves elsewhere."""
    found = fit(recorded(0.005))
    held = found.residual.copy()
    held[3, 1] = 5.0 * found.residual[1, 1]
    assert held[3, 1] < 0.02 * found.held_rms[1]
    assert judged(replace(found, residual=held)).findings == ()


def test_what_was_not_validated_is_said_and_no_more() -> None:
    found = fit(recorded())
    alone = found.residual.copy()
    alone[3:] = np.nan
    verdict = judged(replace(found, residual=alone))
    assert verdict.usable
    assert [one.severity for one in verdict.findings] == ["yellow"]
    assert "that were fitted" in verdict.sentence


def test_files_that_are_as_good_can_stay() -> None:
    found = fit(recorded())
    held = found.residual.copy()
    np.testing.assert_allclose(held[5], found.held_residual(prior(MODEL)))
    assert judged(found).unchanged is None  # the files have no friction
    held[5] = 1.04 * held[4]
    verdict = judged(replace(found, residual=held))
    assert verdict.usable
    assert verdict.sentence.startswith("The files explain what was not fitted as well as new")
    assert verdict.sentence.endswith("%): nothing to change.")
    assert [one.severity for one in verdict.findings] == ["yellow"]
    held[5] = 1.1 * held[4]
    assert judged(replace(found, residual=held)).sentence.startswith("Use these parameters")
    held[5], held[3] = held[4], 9.0 * held[3]
    assert judged(replace(found, residual=held)).sentence.startswith("Do not use")


def test_the_wider_band_has_the_noise_that_the_fit_leaves_out() -> None:
    run = recorded(0.1)
    settings = Settings(bandwidth=20.0, keep=4.0)
    found = identify(MODEL, [run], settings)
    wider = wider_residual(found, [run], settings)
    fitted = found.residual[1] / found.rms
    # White noise of 0.1 filtered at 20 of 100 Hz leaves about its root; at 4 Hz less by another.
    assert (wider > 1.5 * fitted).all()
    np.testing.assert_allclose(wider, 0.1 * np.sqrt(20.0 / 100.0), rtol=0.25)


def test_the_wider_band_is_the_one_given_or_the_one_found() -> None:
    run = recorded(0.1)
    found = fit(run)
    seen = [
        wider_residual(found, [run], Settings(bandwidth=bandwidth, keep=4.0))
        for bandwidth in (10.0, 40.0, None)
    ]
    assert (seen[1] > 1.5 * seen[0]).all()  # of white noise the part in the band
    readers = Settings(keep=4.0).readers(found.model, [run])
    own = WIDER * max(map(found_bandwidth, readers))
    np.testing.assert_array_equal(
        seen[2], wider_residual(found, [run], Settings(bandwidth=own, keep=4.0))
    )


def test_what_fails_has_twice_the_residual_and_not_a_small_one() -> None:
    """Joints: twice and no more, above that, above that by torque only, small, above small."""
    fit, held = np.array([1.0, 1.0, 1.0, 0.02, 0.02]), np.array([2.0, 2.1, 2.1, 0.05, 0.051])
    rms, held_rms = np.ones(5), np.array([1.0, 1.0, 1.1, 1.0, 1.0])
    none = np.zeros(5)
    result = SimpleNamespace(
        residual=np.array([none, fit, none, held, none, none]), rms=rms, held_rms=held_rms
    )
    np.testing.assert_array_equal(_fails(result), [False, True, False, False, True])  # type: ignore[arg-type]


def test_units() -> None:
    assert unit_of(MODEL, "link_1.m") == "kg"
    assert unit_of(MODEL, "link_2.mcx") == "kg m"
    assert unit_of(MODEL, "link_2.Ixy") == unit_of(MODEL, "rotor_1.J") == "kg m²"
    assert unit_of(MODEL, "joint_1.viscous") == "N m s/rad"


@pytest.mark.validate
def test_false_alarms_and_silence_over_random_recordings() -> None:
    """Of 60 good recordings none is refused, few get a remark; 30 wrong zeros are all named."""
    random, usable, remarks, named = np.random.default_rng(11), 0, 0, 0
    for seed in range(1000, 1060):
        verdict = judged(fit(recorded(float(random.choice([0.005, 0.02, 0.05, 0.1])), seed)))
        usable += verdict.usable
        remarks += bool(verdict.findings)
    for seed in range(1060, 1090):
        zero = np.zeros(3)
        joint = int(random.integers(1, 3))
        zero[joint] = np.deg2rad(random.choice([90.0, -90.0, 180.0, -45.0]))
        found = explained(fit(recorded(0.03, seed), zero=tuple(zero))).zero
        named += bool(np.cos(found[joint] + zero[joint]) > 0.999 and np.count_nonzero(found) == 1)
    assert usable == 60
    assert remarks <= 6
    assert named == 30
