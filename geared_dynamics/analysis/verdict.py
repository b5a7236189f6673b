"""Whether what was identified can be used, why not, and what to do: a function of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from geared_dynamics.analysis.hypotheses import (
    Explained,
    Scale,
    elsewhere,
    explained,
    other_scale,
)
from geared_dynamics.analysis.identification import UNEXPLAINED, Identified
from geared_dynamics.analysis.identification_equations import equations
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.impossible import at_bounds, costs, negative_sums
from geared_dynamics.analysis.least_squares import deviation
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.checks import two_digits
from geared_dynamics.recordings.recording import Recording
from geared_dynamics.recordings.signals import WIDER, usable_cutoff
from geared_dynamics.recordings.spans import found_bandwidth

TWICE = 2.0  # times the residual of the fit, from which on what was held out says that it fails
SMALL = 0.05  # of a joint's torque: a residual below it is small, whatever it is compared with
UNSURE, UNKNOWN = 0.2, 0.5  # of a torque: its uncertainty in other motions
SHORT_WAY = 0.25  # of a joint's range: with less, its motion is called short
SCALED, CERTAIN = 0.003, 5.0  # change of a torque's scale, and deviations, that are named
AS_GOOD = 1.05  # times the residual of new parameters: files that leave no more can stay
LIGHT = 0.05  # kg: a mass that is not worth a line

Severity = Literal["red", "yellow"]


class FitFinding(NamedTuple):
    """Something that is wrong with a fit, or doubtful.

    Attributes:
        severity: ``red``: do not use it; ``yellow``: to be known.
        what: What was found.
        cause: What it probably comes from.
        remedy: What to do.
        evidence: More about it, in numbers.
    """

    severity: Severity
    what: str
    cause: str
    remedy: str
    evidence: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Evidence, likely cause and remedy, as sentences."""
        more = (self.evidence, f"likely cause: {self.cause}", self.remedy)
        return tuple(f"{text[0].upper()}{text[1:]}." for text in more if text)


class Judgement(NamedTuple):
    """What is to be done with identified parameters.

    Attributes:
        findings: Red ones first.
        reason: Why they can be used, in numbers; also said where they cannot.
        explained: Hypotheses that would explain the torques.
        elsewhere: Uncertainty of the torque in other motions, over the torque (n,).
        coverage: Part of each joint's range that was gone through (n,); NaN without limits.
        unchanged: The finding that the files are as good as the parameters, if they are.
    """

    findings: tuple[FitFinding, ...]
    reason: str
    explained: Explained
    elsewhere: Array
    coverage: Array
    unchanged: FitFinding | None = None

    @property
    def usable(self) -> bool:
        """Whether nothing is red."""
        return not any(finding.severity == "red" for finding in self.findings)

    @property
    def sentence(self) -> str:
        """The verdict, first line of terminal and report."""
        if self.usable and self.unchanged is not None:
            what = self.unchanged.what
            return f"{what[0].upper()}{what[1:]}: nothing to change."
        if self.usable:
            return f"Use these parameters: {self.reason}."
        red = [finding.what for finding in self.findings if finding.severity == "red"]
        more = f", and {len(red) - 1} more" if len(red) > 1 else ""
        return f"Do not use these parameters: {red[0]}{more}."


def judged(result: Identified) -> Judgement:
    """Judge a fit.

    Args:
        result: What was identified.
    """
    better, unsure, way = explained(result), elsewhere(result), coverage(result)
    unchanged = _unchanged(result)
    findings = [
        *_zeros(result, better),
        *_unexplained(result),
        *_fails_elsewhere(result),
        *_impossible(result, better),
        *_too_little(result, unsure, way),
        *_mass(better),
        *([] if better.zero.any() else _scale(result, other_scale(result))),
        *_unvalidated(result),
        *([unchanged] if unchanged else []),
    ]
    findings.sort(key=lambda finding: finding.severity != "red")
    return Judgement(tuple(findings), _reason(result), better, unsure, way, unchanged)


def held_percent(result: Identified) -> Array:
    """Residual of what was held out, of the physical parameters where there are some (n,) [%]."""
    row = 3 if result.physical is None else 4
    scale = np.where(result.held_rms > 0.0, result.held_rms, np.nan)
    return np.asarray(100.0 * result.residual[row] / scale)


def wider_residual(
    result: Identified, recordings: Sequence[Recording], settings: Settings
) -> Array:
    """Residual of all samples in the band of ``analyze``, over the torque (n,).

    Of the physical parameters where there are some. ``analyze`` filters torques less than
    ``identify`` does and counts joints at rest: it shows noise and friction that this leaves out.

    Args:
        result: What was identified.
        recordings: What it was identified from.
        settings: As they were given to ``identify``.
    """
    readers = settings.readers(result.model, recordings)
    requested = settings.bandwidth or WIDER * max(map(found_bandwidth, readers))
    cutoff = usable_cutoff(requested, max(recording.rate for recording in recordings))
    whole = replace(settings, bandwidth=cutoff, keep=cutoff, slow=0.0, holdout=0.0)
    found = equations(result.model, recordings, whole)
    full = result.physical
    x = None if full is None else full.x + result.load
    left = found.tau - (result.expected(found) if x is None else found.Y @ x)
    every = np.ones(found.used.shape, bool)
    return np.asarray(deviation(left, every) / np.maximum(deviation(found.tau, every), 1e-300))


def coverage(result: Identified) -> Array:
    """Part of each joint's range that was gone through (n,); NaN where it has no limits."""
    given, way = result.model.limits, np.ptp(result.equations.q, axis=0)
    range_ = np.where(given.bounded, given.upper - given.lower, np.nan)
    return np.asarray(np.minimum(way / np.minimum(range_, 2.0 * np.pi), 1.0))


def _reason(result: Identified) -> str:
    """Say how well the torques are explained, joint by joint at worst."""
    held = held_percent(result)
    if not np.isfinite(held).any():
        fit = 100.0 * result.residual[1] / np.maximum(result.rms, 1e-300)
        j = int(np.argmax(fit))
        return (
            f"they leave {np.sqrt(np.mean(fit**2)):.1f} % of the torques that were fitted "
            f"(worst {result.model.joint_names[j]} {fit[j]:.1f} %)"
        )
    j = int(np.nanargmax(held))
    return (
        f"they leave {np.sqrt(np.nanmean(held**2)):.1f} % of torques that were not fitted "
        f"(worst {result.model.joint_names[j]} {held[j]:.1f} %)"
    )


def _unchanged(result: Identified) -> FitFinding | None:
    """Say so if the files explain what was held out as well as the new parameters do."""
    new = held_percent(result)
    if not np.isfinite(new).any():
        return None
    files = 100.0 * result.residual[5] / np.where(result.held_rms > 0.0, result.held_rms, np.nan)
    of_files, of_new = (float(np.sqrt(np.nanmean(held**2))) for held in (files, new))
    if of_files > AS_GOOD * of_new:
        return None
    what = (
        "the files explain what was not fitted as well as new parameters do "
        f"({of_files:.1f} and {of_new:.1f} %)"
    )
    cause = "the parameters of the files are those of this arm"
    return FitFinding("yellow", what, cause, "keep the files")


def _zeros(result: Identified, better: Explained) -> list[FitFinding]:
    """Zero positions that look wrong."""
    joints = np.flatnonzero(better.zero).tolist()
    if not joints:
        return []
    names = result.model.joint_names
    off = " and ".join(
        f"{names[j]} looks {abs(np.rad2deg(better.zero[j])):.0f}° off" for j in joints
    )
    evidence = (
        f"with its zero position corrected the files' links leave {100 * better.after:.0f} % of "
        f"the torques, as it is {100 * better.before:.0f} %"
    )
    added = " ".join(f"{names[j]}={better.zero[j]:.3f}" for j in joints)
    cause = "the recording and the URDF count positions from different zeros"
    remedy = f"add to the positions [rad]: --zero {added}, and identify again"
    return [FitFinding("red", off, cause, remedy, evidence)]


def _scale(result: Identified, scale: Scale) -> list[FitFinding]:
    """A torque that does not fit the others."""
    sure = abs(scale.change) > max(SCALED, CERTAIN * scale.sigma)
    if not sure:
        return []
    large = "large" if scale.change > 0.0 else "small"
    name = result.model.joint_names[scale.joint]
    what = (
        f"the torque of {name} is "
        f"{' ± '.join(two_digits(100 * abs(scale.change), 100 * scale.sigma))} % too {large} for "
        "what the other joints show"
    )
    cause = "a gear ratio, a drive gain or a torque constant in the files"
    remedy = "compare them with the data sheet; the parameters of this joint contain the factor"
    return [FitFinding("yellow", what, cause, remedy)]


def _unexplained(result: Identified) -> list[FitFinding]:
    """Joints whose torque is hardly explained, though it was fitted."""
    fit = result.residual[1] / np.maximum(result.rms, 1e-300)
    held = result.residual[3] / np.maximum(result.held_rms, 1e-300)
    share = np.where(_fails(result), fit, np.fmax(fit, held))
    names = result.model.joint_names
    listed = [f"{names[j]} ({100 * share[j]:.0f} %)" for j in np.flatnonzero(share > UNEXPLAINED)]
    if not listed:
        return []
    what = f"the residual is near the torque itself for {', '.join(listed)}"
    cause = (
        "the efforts have another meaning than --effort and --gains state, a sign or a joint is "
        "wrong, or the torque is noise"
    )
    remedy = "plot the torques (geared-dynamics analyze --output), and correct these options"
    return [FitFinding("red", what, cause, remedy)]


def _fails(result: Identified) -> BoolArray:
    """Joints whose residual is twice as large where nothing was fitted, absolute and relative."""
    fit, held = result.residual[1], result.residual[3]
    torque = np.maximum(result.held_rms, 1e-300)
    by_torque = (held / torque) / np.maximum(fit / np.maximum(result.rms, 1e-300), 1e-300)
    times = np.fmin(held / np.maximum(fit, 1e-300), by_torque)
    return np.asarray((times > TWICE) & (held > SMALL * torque))


def _fails_elsewhere(result: Identified) -> list[FitFinding]:
    """Say at which joints the fit fails where nothing was fitted."""
    fit, held = result.residual[1], result.residual[3]
    names, units = result.model.joint_names, result.model.force_units
    named = [
        f"{names[j]} ({held[j]:.2g} for {fit[j]:.2g} {units[j]})"
        for j in np.flatnonzero(_fails(result))
    ]
    if not named:
        return []
    what = f"the residual of what was held out is more than twice the fit's: {', '.join(named)}"
    cause = (
        "the motion that was fitted is too short or too different, or something changed (load, "
        "contact, temperature)"
    )
    remedy = "record longer, with the same load, and more of the range (geared-dynamics excite)"
    return [FitFinding("red", what, cause, remedy)]


def _impossible(result: Identified, better: Explained) -> list[FitFinding]:
    """Values that no arm has, parameters at their bounds, and what it costs."""
    loss, bound = costs(result), [one for one in at_bounds(result) if one.contradicted]
    values = [value for value in negative_sums(result) if value.sure or value.rotor or loss]
    rotor, stated = any(value.rotor for value in values), any(one.stated for one in bound)
    if not values and not (bound and (loss or stated)):
        return []
    severity: Severity = "red" if loss or rotor or stated else "yellow"
    listed = ", ".join(value.text for value in values)
    reached = ", ".join(one.text for one in bound if loss or one.stated)
    what = f"no arm has {listed}" if values else f"a parameter is at its bound: {reached}"
    evidence = f"parameters of a possible arm leave more of the torque: {loss}" if loss else ""
    if reached and values:
        evidence += f"{'; ' if loss else ''}at the bound: {reached}"
    if better.zero.any():
        cause = "the zero position above"
        remedy = "correct that first"
    elif rotor or loss:
        cause = (
            "a gear ratio, a sign or a carrier differs from the drivetrain file"
            if rotor
            else "a joint's sign or zero is another, or something acts that is not in the model"
        )
        remedy = "compare ratios and signs with the data sheet (geared-dynamics describe)"
    elif stated:
        cause = (
            "what the files state is not there or of another kind, or a joint's sign is another"
        )
        remedy = "compare it with the data sheet, and record slow motions in both directions"
    else:
        cause = "the motion hardly determines it, or something small acts that is not in the model"
        remedy = "use the physical parameters, where it is at its bound: they fit as well"
    return [FitFinding(severity, what, cause, remedy, evidence)]


def _too_little(result: Identified, unsure: Array, way: Array) -> list[FitFinding]:
    """Joints of which other motions would need more than was recorded."""
    names = result.model.joint_names
    far = np.flatnonzero(unsure > UNSURE)
    if not far.size:
        return []
    severity: Severity = "red" if (unsure > UNKNOWN).any() else "yellow"
    listed = ", ".join(f"{names[j]} ±{100 * unsure[j]:.0f} %" for j in far)
    what = f"torques elsewhere in the range are uncertain: {listed} of the torque"
    short = [f"{names[j]} {100 * way[j]:.0f} %" for j in np.flatnonzero(way < SHORT_WAY)]
    cause = "the motion is too small or too slow for what it is to determine"
    if short:
        cause += f" (part of the range gone through: {', '.join(short)})"
    remedy = (
        "record a motion of geared-dynamics excite, or use the parameters for this motion only"
    )
    return [FitFinding(severity, what, cause, remedy)]


def _mass(better: Explained) -> list[FitFinding]:
    """A mass at the tip that the files do not have."""
    if abs(better.mass) < LIGHT:
        return []
    more = "more" if better.mass > 0.0 else "less"
    what = (
        f"the last link carries {' ± '.join(two_digits(abs(better.mass), better.sigma))} kg "
        f"{more} than the files say"
    )
    cause = "a tool or a load" if better.mass > 0.0 else "a tool of the files that was not there"
    remedy = "the parameters contain it; give --payload if it is known and removable"
    return [FitFinding("yellow", what, cause, remedy)]


def _unvalidated(result: Identified) -> list[FitFinding]:
    """Joints that hardly move in what was held out."""
    few = np.flatnonzero(~np.isfinite(result.residual[3]))
    if not few.size:
        return []
    listed = ", ".join(result.model.joint_names[j] for j in few)
    what = f"not validated: {listed} hardly moves in what was held out, or it is too short"
    remedy = "record longer, or name another recording with --validate"
    return [FitFinding("yellow", what, "a short recording", remedy)]
