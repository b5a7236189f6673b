"""Numbers of a comparison, per joint and per motor, from its totals."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.compare import Analysis
from geared_dynamics.analysis.span_comparison import CLUES, TERMS
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import MODELS
from geared_dynamics.model import GearedModel
from geared_dynamics.recordings.signals import SEARCH

TELLING = 0.1  # share of the residual's mean square that simple terms must explain to be named
NAMED = 0.01  # share of it that each of them must explain
UNEXPLAINED = 50.0  # % of the torque: a model that leaves more is not that of the recording
RUB = [CLUES.index(clue) for clue in ("velocity", "direction", "constant")]
OFFERED = 0.5  # % of a joint's torque: friction that gives less is not offered


WORDS = {
    "velocity": "viscous",
    "direction": "Coulomb",
    "constant": "offset",
    "acceleration": "inertia",
}
UNITS_OF = {  # by the unit of the joint's torque
    "N m": ("N m", "N m s/rad", "N m", "N m", "kg m^2"),
    "N": ("N", "N s/m", "N", "N", "kg"),
}


FRICTION = ("viscous", "coulomb", "offset")  # as drivetrain files call it
FRICTION_OF = {"velocity": "viscous", "direction": "coulomb", "constant": "offset"}


class JointFigures(NamedTuple):
    """One joint.

    Attributes:
        joint: Its name.
        unit: ``N m`` or ``N``.
        rms: RMS of the measured torque [unit].
        peak: Its peak [unit].
        residual: RMS of measured less predicted, by model (3,) [unit].
        percent: The same in percent of ``rms`` (NRMSE); NaN where nothing was measured.
        residual_peak: Peaks (3,) [unit].
        shares: RMS of each term in percent of ``rms``.
        missing: What the complete model's residual looks like, fitted to it: those of CLUES
            (viscous and Coulomb friction, an offset, an inertia) that explain a share NAMED
            of its mean square each, and TELLING together; none if they do not.
        weights: RMS of each of these terms in percent of ``rms``.
        fitted: NRMSE [%] that would remain if they were added to the model.
        beside_friction: NRMSE [%] that friction and an offset would leave, whatever they are.
        saturated: Share of samples at the effort limit [%].
        delay: Of the measured torque [s].
    """

    joint: str
    unit: str
    rms: float
    peak: float
    residual: tuple[float, ...]
    percent: tuple[float, ...]
    residual_peak: tuple[float, ...]
    shares: dict[str, float]
    fitted: float
    beside_friction: float
    missing: dict[str, float]
    weights: dict[str, float]
    saturated: float
    delay: float

    @property
    def hint(self) -> str:
        """What the residual looks like."""
        if not self.missing:
            return "no simple term is missing"
        units = dict(zip(CLUES, UNITS_OF[self.unit], strict=True))
        parts = [f"{WORDS[key]} {value:+.3g} {units[key]}" for key, value in self.missing.items()]
        return f"{', '.join(parts)} would leave {self.fitted:.1f} %"


class MotorFigures(NamedTuple):
    """One motor along the recorded motion, by the model.

    Attributes:
        motor: Its name.
        rms: RMS of torque [N m], current [A] and voltage [V]; NaN where not known.
        peak: Their peaks.
        exceeded: Share of samples beyond its limits [%]; NaN where none is known.
    """

    motor: str
    rms: tuple[float, float, float]
    peak: tuple[float, float, float]
    exceeded: float


def joint_figures(analysis: Analysis) -> list[JointFigures]:
    """Figures of all joints."""
    totals, units = analysis.totals, analysis.model.force_units
    k = totals.samples
    rms = np.sqrt(totals.measured / k)
    residual = np.sqrt(totals.residual / k)
    scale = 100.0 / np.where(rms > 0.0, rms, np.nan)  # of nothing there are no percents
    shares = np.sqrt(totals.terms / k) * scale
    size = np.sqrt(np.diagonal(totals.clues, axis1=1, axis2=2) / k)
    result = []
    for j, name in enumerate(analysis.model.joint_names):
        left, missing = explained(totals.clues[j])
        result.append(
            JointFigures(
                joint=name,
                unit=units[j],
                rms=float(rms[j]),
                peak=float(totals.measured_peak[j]),
                residual=tuple(residual[:, j].tolist()),
                percent=tuple((residual[:, j] * scale[j]).tolist()),
                residual_peak=tuple(totals.residual_peak[:, j].tolist()),
                shares=dict(zip(TERMS, shares[:, j].tolist(), strict=True)),
                fitted=float(np.sqrt(left / k) * scale[j]),
                beside_friction=float(np.sqrt(fit(totals.clues[j], RUB)[0] / k) * scale[j]),
                missing=missing,
                weights={
                    clue: float(abs(factor) * size[j, CLUES.index(clue)] * scale[j])
                    for clue, factor in missing.items()
                },
                saturated=100.0 * float(totals.saturated[j]) / k,
                delay=float(analysis.delays[j]),
            )
        )
    return result


def explained(clues: Array) -> tuple[float, dict[str, float]]:
    """What simple terms tell of the residual, from the clues' products (5, 5).

    Terms are taken one after another, each time the one that explains most of what is left,
    as long as it explains a share NAMED of the residual's sum of squares.

    Returns:
        Sum of squares that they leave, and the terms.
    """
    whole = left = float(clues[0, 0])
    chosen: list[int] = []
    values = np.empty(0)
    while others := [k for k in range(1, len(CLUES)) if k not in chosen]:
        tries = [fit(clues, [*chosen, k]) for k in others]
        best = min(range(len(others)), key=lambda i: tries[i][0])
        if left - tries[best][0] <= NAMED * whole:
            break
        chosen.append(others[best])
        left, values = tries[best]
    if whole - left <= TELLING * whole:
        return whole, {}
    factors = dict(zip(chosen, values.tolist(), strict=True))
    return left, {CLUES[k]: factors[k] for k in sorted(factors)}


def fit(clues: Array, chosen: list[int]) -> tuple[float, Array]:
    """Sum of squares left by least squares of the residual on some clues, and their factors."""
    matrix, right = clues[np.ix_(chosen, chosen)], clues[chosen, 0]
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    solution = (
        np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-10)[0] / scale
    )
    return max(0.0, float(clues[0, 0] - right @ solution)), solution


def friction_yaml(model: GearedModel, joints: Sequence[JointFigures]) -> str:
    """Friction of the files with what the residuals ask for, as lines of a drivetrain file.

    Joints whose friction would be negative are left out, and terms that give less than OFFERED;
    empty if nothing is left, or if the model does not explain the recording at all.
    """
    if unexplained(joints):
        return ""
    lines = []
    for j, joint in enumerate(joints):
        terms = dict(zip(FRICTION, (float(x[j]) for x in model.friction), strict=True))
        offered = {clue for clue, weight in joint.weights.items() if weight >= OFFERED}
        more = {
            key: joint.missing[clue] if clue in offered else 0.0
            for clue, key in FRICTION_OF.items()
        }
        values = {key: terms[key] + more[key] for key in terms}
        if not any(more.values()) or values["viscous"] < 0.0 or values["coulomb"] < 0.0:
            continue
        listed = ", ".join(f"{key}: {value:.4g}" for key, value in values.items() if value)
        lines.append(f"  {quoted(joint.joint)}:\n    friction: {{{listed}}}")
    return "joints:\n" + "\n".join(lines) if lines else ""


def unexplained(joints: Sequence[JointFigures]) -> str:
    """Say so if the complete model and any friction leave most of the torque; else empty."""
    if not rms_over([joint.beside_friction for joint in joints]) > UNEXPLAINED:
        return ""
    return (
        f"the model does not explain this recording ({over_all(joints, -1):.0f} % left): check "
        "--degrees, --effort, signs and the order of joints"
    )


def over_all(joints: Sequence[JointFigures], i: int) -> float:
    """RMS over the joints of a model's residual [%]."""
    return rms_over([joint.percent[i] for joint in joints])


def rms_over(percents: Sequence[float]) -> float:
    """RMS over the joints of what is known [%]."""
    return float(np.sqrt(np.nanmean(np.square(percents))))


def quoted(name: str) -> str:
    """Write a name as a key of YAML."""
    return name if re.fullmatch(r"[A-Za-z_][\w/-]*", name) else json.dumps(name)


def motor_figures(analysis: Analysis) -> list[MotorFigures]:
    """Figures of all motors; none if they cannot be computed."""
    totals = analysis.totals
    if not totals.motors.any():
        return []
    rms = np.sqrt(totals.motors / totals.samples)
    share = 100.0 * totals.exceeded / totals.samples
    return [
        MotorFigures(
            name,
            tuple(rms[:, i].tolist()),
            tuple(totals.motors_peak[:, i].tolist()),
            float(share[i]) if analysis.model.motors.limited[i] else np.nan,
        )
        for i, name in enumerate(analysis.model.motor_names)
    ]


def delay_note(figures: Sequence[JointFigures]) -> str:
    """What a dash in the column of delays means; empty if there is none."""
    if not any(np.isnan(joint.delay) for joint in figures):
        return ""
    return f"delay -: none found within {1e3 * SEARCH:.0f} ms to either side"


def compared(analysis: Analysis) -> dict[str, int]:
    """Place in the figures of each model that is shown: one where no rotor inertia is known."""
    if analysis.model.knowledge.rotors == "none":
        return {"model": len(MODELS) - 1}
    return {name: i for i, name in enumerate(MODELS)}


def summary(analysis: Analysis, joints: Sequence[JointFigures]) -> str:
    """One plain sentence about the models, from the figures of all joints."""
    parts = []
    for name, i in compared(analysis).items():
        parts.append(f"{name} {over_all(joints, i):.1f} %")
    note = analysis.model.knowledge.rotor_note
    return f"residual over all joints: {', '.join(parts)}{'. ' if note else ''}{note}"
