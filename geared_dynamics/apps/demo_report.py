"""What a demo has shown: its figures, and its report."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.report import Curve, Panel, Provenance, Report, ReportPlot
from geared_dynamics.apps.demo_motion import DemoMotion, motor_load
from geared_dynamics.apps.demo_plan import (
    ENCODER,
    LATENCY,
    RATE,
    WAYS,
    DemoPlan,
    Way,
    bandwidth_of,
    ways_of,
)
from geared_dynamics.arrays import Array
from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.derived import Knowledge
from geared_dynamics.recordings.bag import open_bag
from geared_dynamics.recordings.container import Container
from geared_dynamics.recordings.joint_topics import decoded, joint_samples
from geared_dynamics.recordings.samples import joined
from geared_dynamics.trajectory import (
    JointTrajectory,
    Point,
    Rules,
    checked,
    follow,
    sample,
    state,
)

# -- Its pictures: errors of each way, load of each motor -----------------------------------------


COLOURS = {
    "no_feedforward": "plain", "armature": "armature", "rigid": "armature", "complete": "model",
    "springs": "model",
}  # fmt: skip
LINES = 1000  # points of a curve, at most


def bars(found: Sequence[Outcome], joints: Sequence[str]) -> ReportPlot:
    """RMS error of each joint, each way beside the others."""
    curves = [
        Curve(one.way.label, COLOURS[one.way.name], joints, 1e3 * one.rms_by_joint, "bars")
        for one in found
    ]
    panel = Panel("RMS tracking error", "mrad", curves, from_zero=True)
    return ReportPlot("RMS tracking error of each joint.", [panel], height=220)


def over_time(
    found: Sequence[Outcome], names: Sequence[str], units: Sequence[str], values: Sequence[Array]
) -> list[Panel]:
    """A panel for each name; values (k, n) of each way; no feedforward is shown at a click."""
    panels = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        curves = []
        for one, signal in zip(found, values, strict=True):
            step = max(1, len(one.times) // LINES)
            hidden = one.way.name == "no_feedforward"
            curves.append(
                Curve(
                    one.way.label, COLOURS[one.way.name], one.times[::step], signal[::step, k],
                    hidden=hidden,
                )
            )  # fmt: skip
        panels.append(Panel(name, unit, curves))
    return panels


def errors(found: Sequence[Outcome], joints: Sequence[str]) -> ReportPlot:
    """Error over time, a panel for each joint."""
    panels = over_time(found, joints, ["mrad"] * len(joints), [1e3 * one.error for one in found])
    return ReportPlot(
        "A click on the legend shows and hides a curve.", panels, "time [s]", height=95
    )


def loads(found: Sequence[Outcome], motors: Sequence[str]) -> ReportPlot:
    """Torque of each motor, as a part of its limit where that is known."""
    limited = np.any([one.torque_part.any(axis=0) for one in found], axis=0)
    parts = [100.0 * np.sign(one.torque) * one.torque_part for one in found]
    values = [np.where(limited, part, one.torque) for part, one in zip(parts, found, strict=True)]
    units = np.where(limited, "% of limit", "N m").tolist()
    without = "" if limited.all() else ", in N m where that is not known"
    caption = f"Motor torque{f', part of the limit{without}' if limited.any() else ' [N m]'}."
    return ReportPlot(caption, over_time(found, motors, units, values), "time [s]", height=95)


# -- The report: one HTML file that needs no network ----------------------------------------------


ENGINES = {
    "mujoco": "MuJoCo, every rotor and gear wheel a body of its own",
    "equations": "our own equations of the complete model",
}
HEADER = ("feedforward", "RMS error [mrad]", "peak [mrad]", "peak torque", "at a torque limit",
          "peak voltage", "at a voltage limit")  # fmt: skip
FIRST_LIMIT = 3  # the first column about limits


def table_rows(found: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The table's rows, as in the terminal: name, errors [mrad], parts of limits."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        errors = f"{1e3 * one.rms:.2f}", f"{1e3 * one.peak:.1f}"
        rows.append((one.way.label, *errors, *used(one.torque_part), *used(one.voltage_part)))
    return rows


def known_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns of the table that say something: those of limits only where one is known."""
    return [k for k in range(len(HEADER)) if k < FIRST_LIMIT or any(row[k] != "-" for row in rows)]


def used(part: Array) -> tuple[str, str]:
    """How near a limit came, and for how long it was reached; a dash where there is none."""
    if not part.any():
        return "-", "-"
    found = saturation(part)
    return f"{found.peak:.0%}", f"{found.time:.1%}"


def verdict(found: Sequence[Outcome], knowledge: Knowledge) -> str:
    """The demo in one sentence, and what is not known."""
    ratio = advantage(tuple(found))
    nothing, simpler, complete = (f"{1e3 * one.rms:.2f}" for one in found)
    names = [f"the {one.way.label}" for one in found[1:]]
    if knowledge.rotors == "none":
        return (
            f"Tracking error {complete} mrad RMS with the model, "
            f"{nothing} without feedforward. {knowledge.rotor_note}"
        )
    if ratio < 0.9:
        return (
            f"{names[1].capitalize()} ({complete} mrad RMS) tracked worse than "
            f"{names[0]} ({simpler}): in real time a busy machine does that."
        )
    if ratio < 1.1:
        return (
            f"On this arm {names[0]} ({simpler} mrad RMS) is as good as {names[1]} ({complete})."
        )
    return (
        f"The same gains, {ratio:.1f} times less error: {complete} mrad RMS by "
        f"{names[1]}, {simpler} by {names[0]}."
    )


def facts(plan: DemoPlan, lock_step: bool) -> list[tuple[str, str]]:
    """What was run."""
    pace = "simulated, one command for each joint state: the table does not depend on the machine"
    model, times = plan.model, plan.motion.times
    bandwidth = bandwidth_of(plan.gains, model.joint_names[0])
    return [
        ("robot", f"{model.name}, {model.n} joints, {len(model.wheel_names)} wheels"),
        ("plant", ENGINES[plan.engine]),
        ("sensors", f"encoders of {ENCODER} counts; commands act after {1e3 * LATENCY:g} ms"),
        ("feedforward node", f"pd_plus_feedforward, {bandwidth:.3g} rad/s, {RATE:g} Hz over DDS"),
        ("reference", f"{len(times)} waypoints in {times[-1]:g} s, one frequency for each joint"),
        ("time", pace if lock_step else "the wall clock's"),
    ]  # fmt: skip


def write_report(
    path: Path,
    plan: DemoPlan,
    found: Sequence[Outcome],
    *,
    lock_step: bool,
    provenance: Provenance | None = None,
) -> None:
    """Write the report.

    Args:
        path: File to write.
        plan: What was run.
        found: What came of it.
        lock_step: Whether time was simulated.
        provenance: Where it comes from.
    """
    model, run = plan.model, facts(plan, lock_step)
    line = "; ".join(text for _, text in run[:2])
    report = Report(f"demo {model.name}", verdict(found, model.knowledge), line)
    report.plot(bars(found, model.joint_names))
    last = [len(found) - 1]
    rows = table_rows(found)
    known = known_columns(rows)
    shown = [[row[k] for k in known] for row in rows]
    header = [HEADER[k] for k in known]
    report.table("Tracking error, and what it took", header, shown, strong=last)
    limits = (
        "Torque and voltage: the hardest-worked motor, part of its limit, and the part of the "
        "time in which a motor was at it."
        if known[FIRST_LIMIT:]
        else "The drivetrain file has no limits of motors, so their load is not known."
    )
    report.text(f"Errors over all joints [mrad]. {limits}", "facts")
    report.heading("Tracking error over time")
    report.plot(errors(found, model.joint_names))
    report.heading("Motor torque")
    report.plot(loads(found, model.motor_names))
    report.heading("What was run")
    report.table("The demo", ("", ""), run, words=True)
    units = {"p": "p [N m/rad]", "d": "d [N m s/rad]"}
    rows = [
        (name, *(f"{plan.gains[f'gains.{name}.{key}']:.4g}" for key in units))
        for name in model.joint_names
    ]
    report.table("Gains, the same for all", ("joint", *units.values()), rows)
    report.write(path, provenance)


# -- The bag of a demo as arrays ------------------------------------------------------------------


STATES, LINKS, MOTORS = "joint_states", "link_states", "motor_states"
TRAJECTORY = "feedforward_node/joint_trajectory"
SECOND = 1_000_000_000  # [ns]
ENCAPSULATION, STAMP = 4, struct.Struct("<iI")  # bytes before header.stamp, and that


class Series(NamedTuple):
    """One topic's ``JointState`` messages.

    Attributes:
        times: Stamps [s], from the motion's start (k,).
        position: (k, n), as all others.
        velocity: (k, n).
        effort: (k, n).
    """

    times: Array
    position: Array
    velocity: Array
    effort: Array


class Track(NamedTuple):
    """One run.

    Attributes:
        joints: Topic joint_states; of arms with springs link_states, which has no effort.
        motors: Topic motor_states.
    """

    joints: Series
    motors: Series


def read(
    bag: Path, joints: Sequence[str], motors: Sequence[str], ways: Sequence[Way] = WAYS
) -> dict[str, Track]:
    """Read the runs by name.

    Args:
        bag: Folder of the bag.
        joints: Names in the order of the columns.
        motors: Names of the motors in the order of the columns.
        ways: What was run.

    Raises:
        GearedDynamicsError: if a run is not in it.
    """
    container = open_bag(bag)
    there = {topic.name for topic in container.topics()}
    shown = STATES if ways[0].springs is None else LINKS
    wanted = [f"/{way.name}/{topic}" for way in ways for topic in (shown, MOTORS, TRAJECTORY)]
    if empty := [topic for topic in wanted if topic not in there]:
        finding = f"has nothing on {', '.join(empty)}"
        raise GearedDynamicsError(str(bag), finding, "run the demo again")
    found = {}
    for way in ways:
        sent = container.read(f"/{way.name}/{TRAJECTORY}", 0).messages[0]
        seconds, rest = STAMP.unpack_from(sent, ENCAPSULATION)
        begin = SECOND * seconds + rest
        states = series(container, f"/{way.name}/{shown}", joints, begin)
        rotors = series(container, f"/{way.name}/{MOTORS}", motors, begin)
        found[way.name] = Track(states, rotors)
    return found


def series(container: Container, topic: str, names: Sequence[str], begin: int) -> Series:
    """Arrays of a topic's messages.

    Args:
        container: The bag.
        topic: One of its topics.
        names: Order of the columns.
        begin: Stamp from which time counts [ns].
    """
    pieces = range(container.pieces(topic))
    read = (decoded(container.read(topic, piece)) for piece in pieces)
    found = joined([joint_samples(messages, tuple(names)) for messages in read])
    times = np.multiply(found.stamp - begin, 1e-9)
    return Series(times, found.position, found.velocity, found.effort)


# -- Figures of a demo: how well each way has tracked, and what it has asked of the motors --------


FULL = 0.999  # part of a limit that counts as at the limit


class Outcome(NamedTuple):
    """What came of one way.

    Attributes:
        way: The way.
        times: [s] (k,).
        error: q_d - q (k, n) [rad or m].
        torque: Motor torques (k, m) [N m].
        torque_part: Of their limits (k, m).
        voltage_part: Voltages as a part of their limits (k, m).
    """

    way: Way
    times: Array
    error: Array
    torque: Array
    torque_part: Array
    voltage_part: Array

    @property
    def rms(self) -> float:
        """Of the error over all joints and times [rad or m]."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def rms_by_joint(self) -> Array:
        """(n,) [rad or m]."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def peak(self) -> float:
        """Largest error [rad or m]."""
        return float(np.abs(self.error).max())


class Saturation(NamedTuple):
    """How near a limit came.

    Attributes:
        peak: Largest part of it.
        time: Part of the time in which a motor was at it.
    """

    peak: float
    time: float


def saturation(part: Array) -> Saturation:
    """Of parts of limits (k, m)."""
    return Saturation(float(part.max()), float(np.mean((part >= FULL).any(axis=1))))


def outcomes(
    model: GearedModel, motion: DemoMotion, tracks: Mapping[str, Track]
) -> tuple[Outcome, ...]:
    """Figures of all ways.

    Args:
        model: Geared model.
        motion: The waypoints that were sent.
        tracks: What was recorded, by name.
    """
    return tuple(outcome(model, motion, way, tracks[way.name]) for way in ways_of(model))


def outcome(model: GearedModel, motion: DemoMotion, way: Way, track: Track) -> Outcome:
    """Figures of one way."""
    seen, motors = track.joints, track.motors
    error = reference(motion, seen.times) - seen.position
    load = motor_load(model, motors.effort, motors.velocity)
    return Outcome(way, seen.times, error, motors.effort, load.torque, load.voltage)


def reference(motion: DemoMotion, times: Array) -> Array:
    """Position of the reference (k, n): between waypoints quintic, as the node has it."""
    names = tuple(f"joint {k}" for k in range(motion.q.shape[1]))
    points = [Point(*row, effort=None) for row in zip(*motion, strict=True)]
    rules = Rules(joints=names)
    waypoints = checked(JointTrajectory(names, points, start=0.0), rules, 0.0)
    path = follow(waypoints, state(motion.q[0]), 0.0, rules)
    return np.array([sample(path, float(t)).q for t in times])


def advantage(found: tuple[Outcome, ...]) -> float:
    """RMS error with the simpler model over that with the complete one, which are the last two."""
    return found[-2].rms / found[-1].rms
