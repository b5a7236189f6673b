"""What ``tune-observer`` prints of verdicts that are known, and its exit code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from command_documents import validate
from elastic_arms import elbow
from elbow_run import DRIVE, URDF
from geared_dynamics.analysis.innovation_whiteness import Whiteness
from geared_dynamics.analysis.observer_tuning import Suggestion, Verdict
from geared_dynamics.apps.cli import tune_observer
from geared_dynamics.apps.cli.main import main
from geared_dynamics.apps.cli.options import open_console

MODEL = elbow(2.0)
RATE = 500.0  # [1/s]


def white(*coloured: bool) -> Whiteness:
    """Of three motors; the second's correlation is largest at lag 8."""
    return Whiteness(
        first=np.array([0.11, 0.62, 0.13]),
        lag=np.array([3, 8, 5]),
        largest=np.array([0.21, 0.72, 0.23]),
        explained=np.array([0.01, 0.02, 0.03]),
        bound=np.array([0.31, 0.32, 0.33]),
        coloured=np.array(coloured or (False,) * 3),
        scale=np.ones(3),
    )


def judged(ratio: float = 1.0, **changes: Any) -> Verdict:
    """The verdict on a good tuning."""
    good = Verdict(
        rms=np.array([1e-5, 2e-5, 3e-5]),
        expected=np.array([1.5e-5, 2.5e-5, 3.5e-5]),
        white=white(),
        ratio=ratio,
        bounds=(0.9, 1.1),
        likelihood=-3.0,
        starts=2,
        samples=4321,
        skipped=0,
    )
    return good._replace(**changes)


NOISE = np.array([1e-5, 1.05e-5, 1.1e-5])
COLOUR = "motor_2 0.72 at lag 8 (16 ms; lag 1: 0.62)"


def suggestion(**changes: Any) -> Suggestion:
    """Noise that fits at 30 Hz."""
    return Suggestion(30.0, NOISE, judged(), 50.0, False, ())._replace(**changes)


def printed(capsys: pytest.CaptureFixture[str], show: Any, *arguments: Any) -> str:
    """What a function prints, in one line."""
    show(open_console(), MODEL, *arguments)
    return " ".join(capsys.readouterr().out.split())


def test_the_table_of_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, tune_observer.show, judged(), "as given", RATE)
    for name, row in (
        ("motor_1", "1e-05 1.5e-05 0.11 3 0.21 0.01 0.31"),
        ("motor_2", "2e-05 2.5e-05 0.62 8 0.72 0.02 0.32"),
        ("motor_3", "3e-05 3.5e-05 0.13 5 0.23 0.03 0.33"),
    ):
        assert f"{name} {row}" in text
    assert "NIS by reading 1.000, 95 % bounds 0.900" in text
    assert (
        "1.100 (with forces as the bandwidth admits): consistent; 4321 samples, 2 starts" in text
    )


REMEDIES = {
    "at the border": (judged(1.1), ": consistent; 4321", "state more noise"),
    "too large": (judged(1.1001), ": not consistent; the innovations are as white", "careful"),
    "too small": (
        judged(0.8999),
        ": consistent; the encoder noise is smaller than",
        "white as",
    ),
    "at the lower border": (judged(0.9), ": consistent; 4321", "careful"),
    "coloured": (
        judged(1.0, white=white(False, True, False)),
        f"no noise makes them: {COLOUR}. The",
        "motor_1 0.21",
    ),
    "coloured and large": (
        judged(9.0, white=white(True, True, True)),
        "motor_1 0.21 at lag 3 (6 ms",
        "as white as",
    ),
}


@pytest.mark.parametrize("case", REMEDIES)
def test_the_remedy_of_a_verdict(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, words, absent = REMEDIES[case]
    text = printed(capsys, tune_observer.show, found, "as given", RATE)
    assert words in text
    assert absent not in text
    assert ("not consistent" in text) == (not found.consistent)


def test_noise_is_one_number_where_encoders_are_alike(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, tune_observer.propose, suggestion(), 4.7936e-5, RATE)
    assert text == (
        "for the node: bandwidth: 30.0 encoder_resolution: 4.794e-05 encoder_noise: 1.1e-05 "
        "update_rate: 500"
    )
    apart = suggestion(noise=np.array([1e-5, 1e-5, 1.11e-5]))
    text = printed(capsys, tune_observer.propose, apart, 1e-4, RATE)
    assert "motors.motor_1.encoder_noise: 1e-05 motors.motor_2.encoder_noise: 1e-05" in text
    assert "motors.motor_3.encoder_noise: 1.11e-05 update_rate" in text
    assert tune_observer.listed(NOISE) == "1e-05"
    assert tune_observer.listed(np.array([1e-5, 2e-5])) == "1e-05, 2e-05"


def test_no_noise_is_proposed_where_none_fits(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, tune_observer.propose, suggestion(noise=None), 1e-4, RATE)
    assert text == "no noise is proposed: none explains these innovations"
    some = suggestion(coloured=(5.0, 10.0))
    text = printed(capsys, tune_observer.propose, some, 1e-4, RATE)
    assert text.startswith("at 5, 10 Hz noise does not explain the innovations")
    assert "for the node:" in text


def test_what_a_recording_says_of_the_bandwidth() -> None:
    told = tune_observer.about_bandwidth(suggestion())
    assert told == (
        "bandwidth: 50 Hz is the likeliest for this recording; 30 Hz, as given, is kept"
    )
    edge = tune_observer.about_bandwidth(suggestion(at_edge=True))
    assert "50 Hz, the end of what was tried: this recording does not determine it; 30 Hz" in edge


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "much"])
def test_numbers_above_zero(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune_observer.positive("1e-9") == 1e-9
    with pytest.raises(SystemExit):
        main(["tune-observer", "bag", "--noise", text])
    assert f"{text!r} is not a number above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "best", "title", "code"),
    [
        (judged(), suggestion(), "with the noise that fits: 30 Hz, noise 1e-05 rad", 0),
        (judged(2.0), suggestion(), "with the noise that fits", 1),
        (judged(), suggestion(noise=None), "with any noise: 30 Hz", 0),
    ],
)
def test_the_command(
    first: Verdict,
    best: Suggestion,
    title: str,
    code: int,
    bag: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Replay and search are stubs; the rest is the command's own."""
    asked: dict[str, Any] = {}

    def stretches(model: Any, recording: Any, meaning: Any, seconds: float) -> list[float]:
        return [seconds]

    def gains_of(model: Any, *values: float) -> str:
        asked["gains"] = values
        return "gains"

    def suggest(
        model: Any, samples: Any, *values: float, search: Any, progress: Any
    ) -> Suggestion:
        asked["suggest"], asked["search"] = (samples, *values), search
        return best

    monkeypatch.setattr(tune_observer, "stretches", stretches)
    monkeypatch.setattr(tune_observer, "gains_of", gains_of)
    monkeypatch.setattr(tune_observer, "replay", lambda *_: None)
    monkeypatch.setattr(tune_observer, "verdict", lambda *_: first)
    monkeypatch.setattr(tune_observer, "suggest", suggest)
    robot = ["--robot", URDF, "--drivetrain", DRIVE]
    assert main(["tune-observer", bag, *robot, "--resolution", "3e-4"]) == code
    text = capsys.readouterr().out
    assert "as given: 30 Hz, noise 0.0001 rad" in text
    assert title in text
    resolution, noise, bandwidth, rate = asked["gains"]
    assert (resolution, noise, bandwidth) == (3e-4, pytest.approx(1e-4), 30.0)
    assert asked["suggest"] == ([30.0], 3e-4, noise, 30.0, rate)
    assert asked["search"] == [3.0]
    assert main(["tune-observer", bag, *robot, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    validate(document)
    assert document["given"]["consistent"] is (code == 0)
    assert document["encoder_noise"] == (None if best.noise is None else list(best.noise))
    main(["tune-observer", bag, *robot, "--noise", "2e-5", "--seconds", "4"])
    assert asked["gains"][1] == 2e-5
    assert asked["suggest"][0] == [4.0]
    assert asked["gains"][0] == pytest.approx(2.0 * np.pi / 2**17)
