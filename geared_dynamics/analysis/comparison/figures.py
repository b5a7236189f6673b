"""Numbers of a comparison, per joint and per motor, from its totals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.comparison.analyze import Analysis
from geared_dynamics.analysis.comparison.prediction import TERMS
from geared_dynamics.analysis.comparison.totals import CLUES
from geared_dynamics.dynamics.terms import MODELS

TELLING = 0.1  # share of the residual that a clue must explain to be named


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
        fitted: NRMSE [%] that would remain if viscous friction, Coulomb friction, an offset
            and an inertia were added to the complete model.
        missing: These four, as fitted to its residual.
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
    missing: dict[str, float]
    saturated: float
    delay: float

    @property
    def hint(self) -> str:
        """What the residual looks like."""
        if not self.percent[-1] > 0 or 1.0 - (self.fitted / self.percent[-1]) ** 2 < TELLING:
            return "no simple term is missing"
        words = {
            "velocity": "viscous",
            "direction": "Coulomb",
            "constant": "offset",
            "acceleration": "inertia",
        }
        parts = [f"{words[key]} {value:+.3g}" for key, value in self.missing.items()]
        return f"{', '.join(parts)} would leave {self.fitted:.1f} %"


class MotorFigures(NamedTuple):
    """One motor along the recorded motion, by the model.

    Attributes:
        motor: Its name.
        rms: RMS of torque [N m], current [A] and voltage [V]; 0 where not known.
        peak: Their peaks.
        exceeded: Share of samples beyond its limits [%].
    """

    motor: str
    rms: tuple[float, float, float]
    peak: tuple[float, float, float]
    exceeded: float


def joint_figures(analysis: Analysis) -> list[JointFigures]:
    """Figures of all joints."""
    totals, kinds = analysis.totals, {j.name: j.kind for j in analysis.model.robot.joints}
    k = totals.samples
    rms = np.sqrt(totals.measured / k)
    residual = np.sqrt(totals.residual / k)
    scale = 100.0 / np.where(rms > 0.0, rms, np.nan)  # of nothing there are no percents
    shares = np.sqrt(totals.terms / k) * scale
    result = []
    for j, name in enumerate(analysis.model.joint_names):
        left, missing = explained(totals.clues[j])
        result.append(
            JointFigures(
                name,
                "N" if kinds[name] == "prismatic" else "N m",
                float(rms[j]),
                float(totals.measured_peak[j]),
                tuple(residual[:, j].tolist()),
                tuple((residual[:, j] * scale[j]).tolist()),
                tuple(totals.residual_peak[:, j].tolist()),
                dict(zip(TERMS, shares[:, j].tolist(), strict=True)),
                float(np.sqrt(left / k) * scale[j]),
                dict(zip(CLUES[1:], missing.tolist(), strict=True)),
                100.0 * float(totals.saturated[j]) / k,
                float(analysis.delays[j]),
            )
        )
    return result


def explained(
    clues: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Least squares of the residual on the other clues, from their products (5, 5)."""
    matrix, right = clues[1:, 1:], clues[1:, 0]
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    solution = (
        np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-10)[0] / scale
    )
    return max(0.0, float(clues[0, 0] - right @ solution)), solution


def motor_figures(analysis: Analysis) -> list[MotorFigures]:
    """Figures of all motors; none if they cannot be computed."""
    totals = analysis.totals
    if not totals.motors.any():
        return []
    rms = np.sqrt(totals.motors / totals.samples)
    return [
        MotorFigures(
            name,
            tuple(rms[:, i].tolist()),
            tuple(totals.motors_peak[:, i].tolist()),
            100.0 * float(totals.exceeded[i]) / totals.samples,
        )
        for i, name in enumerate(analysis.model.motor_names)
    ]


def percents(value: float) -> str:
    """Write percents; a dash where there are none."""
    return "-" if np.isnan(value) else f"{value:.1f}"


def summary(analysis: Analysis) -> str:
    """One plain sentence about the three models."""
    figures = joint_figures(analysis)
    mean = [
        float(np.sqrt(np.nanmean([joint.percent[i] ** 2 for joint in figures])))
        for i in range(len(MODELS))
    ]
    return "residual over all joints: " + ", ".join(
        f"{name} {value:.1f} %" for name, value in zip(MODELS, mean, strict=True)
    )
