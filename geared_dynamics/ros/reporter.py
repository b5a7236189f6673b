"""What the nodes report: log lines where something changes, figures once a second."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.control.safety import Decision, Event, Mode
from geared_dynamics.control.safety import memory as event
from geared_dynamics.model import GearedModel
from geared_dynamics.ros import diagnostics
from geared_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from geared_dynamics.ros.joint_state_wire import WireState
from geared_dynamics.ros.model_node import FeedforwardBase, ModelNode
from geared_dynamics.runtime.joint_readings import JointMap, Reading
from geared_dynamics.runtime.loop_time import Figures
from geared_dynamics.runtime.model_source import payload_words
from geared_dynamics.runtime.observer_estimates import Level, ObserverOutput
from geared_dynamics.runtime.observer_loop import ObserverLoop, named
from geared_dynamics.runtime.observer_settings import ObserverParameters

PAUSE = 1.0  # [s] between two lines about the same thing
TIMING = (
    "rate", "period_mean", "period_std", "period_max", "compute_p50", "compute_p99",
    "compute_max", "latency_p50", "latency_max",
)  # fmt: skip


class Reporter(ABC):
    """What both nodes report alike: warnings, ``/diagnostics``, ``~/timing``."""

    def __init__(self, node: ModelNode[Any]) -> None:
        """Make publishers and messages."""
        self._reported = node
        self._said: dict[str, float] = {}
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._timing = node.create_publisher(Float64MultiArray, "~/timing", 1)
        self._message = Float64MultiArray(data=[0.0] * len(TIMING))
        self._message.layout.dim = [
            MultiArrayDimension(label=name, size=1, stride=1) for name in TIMING
        ]

    @abstractmethod
    def entries(self, figures: Figures, now: float) -> list[Status]:
        """Entries of ``/diagnostics`` while the node is active.

        Args:
            figures: Of the last second.
            now: Steady time [s].
        """

    @abstractmethod
    def facts(self, model: GearedModel) -> dict[str, str]:
        """What the node says of its model beside what both say."""

    def say(self, text: str, key: str = "", *, warn: bool = True) -> None:
        """Log a line; one of the same key, or the same one, not more often than once a second."""
        now, key = time.monotonic(), key or text
        if now - self._said.get(key, -math.inf) < PAUSE:
            return
        self._said[key] = now
        log = self._reported.get_logger()
        if warn:  # rclpy wants a line of its own for each severity
            log.warning(text)
        else:
            log.info(text)

    def publish(self) -> None:
        """Send ``/diagnostics`` and ``~/timing``."""
        node, now = self._reported, time.monotonic()
        figures = node.timing.report(now)
        entries = [self._model_status()]
        if node.active and node.loop is not None:
            flat = [figures.rate, *figures.period, *figures.compute, *figures.latency]
            for k, value in enumerate(flat):
                self._message.data[k] = value
            self._timing.publish(self._message)
            entries += self.entries(figures, now)
        name = node.get_fully_qualified_name().lstrip("/")
        stamp = node.get_clock().now().to_msg()
        hardware = node.model.name if node.model is not None else "none"
        self._diagnostics.publish(diagnostics.message(stamp, name, hardware, entries))

    def _model_status(self) -> Status:
        node = self._reported
        model, load = node.model, node.parameters.payload
        if model is None:
            wrong = "; ".join(node.declared.wrong.values())
            return diagnostics.model_status({}, wrong or "no model is loaded")
        facts = {
            "robot": model.name,
            "joints": ", ".join(model.joint_names),
            "motors": ", ".join(model.motor_names),
            "payload [kg]": f"{load.mass:g}",
            "payload": payload_words(model, load),
            "state": node.state_label,
        }
        return diagnostics.model_status(facts | self.facts(model), node.description.problem)


# -- The feedforward node -------------------------------------------------------------------------


TOLD = event.STOPPING | event.BAD_STATE | event.NAMES_MISSING


class FeedforwardReporter(Reporter):
    """Looks at each decision, speaks at changes.

    Attributes:
        decision: The one looked at last.
    """

    def __init__(self, node: FeedforwardBase) -> None:
        """Begin without a decision."""
        super().__init__(node)
        self._node = node
        self.begin()

    def begin(self) -> None:
        """Forget what was reported."""
        self.decision: Decision | None = None
        self._mode: Mode | None = None  # that of the decision
        self._key: tuple[Mode, int] | None = None  # what was reported last

    # -- log ---------------------------------------------------------------------------------

    def calm(self, decision: Decision) -> bool:
        """Whether the arm runs as reported before, with nothing to log; called in each cycle."""
        return not (decision.detected or decision.latched) and decision.mode is self._mode

    def report(self, decision: Decision | None) -> None:
        """Log the mode and what waits for an acknowledgement, where they have changed."""
        if decision is None or decision is self.decision:
            return
        self.decision, self._mode = decision, decision.mode
        away = decision.mode is Mode.HOLDING and decision.detected & event.RESUME_ERROR
        key = decision.mode, decision.latched | away
        self._tell_of_given_up(decision)
        if decision.detected & event.NAMES_REORDERED:
            self.say("joint_states now lists its joints in another order", "reordered")
        if key == self._key:
            return
        self._key = key
        self._tell(decision)

    def _tell_of_given_up(self, decision: Decision) -> None:
        loop = self._node.loop
        if loop is not None and loop.given_up:
            loop.given_up = False
            why = diagnostics.named(Event(decision.detected & event.LATCHING))
            self._node.get_logger().error(
                f"trajectory not followed: {why} is still active; remove the cause, then send it "
                "again"
            )

    def _tell(self, decision: Decision) -> None:
        mode, log = decision.mode, self._node.get_logger()
        why = diagnostics.named(Event((decision.detected & TOLD) | decision.latched))
        if mode is Mode.RUNNING:
            log.info("running: following the reference")
        elif mode is Mode.WAITING:
            log.info("waiting for joint states; nothing is sent")
        elif mode is Mode.BRAKING:
            log.info("braking: the node ends")
        elif mode is Mode.HOLDING and not (decision.detected & event.STOPPING & ~event.IDLE):
            end = "" if not decision.latched else "; a new trajectory or ~/reset ends it"
            if decision.detected & event.RESUME_ERROR:
                end = "; the arm is away from its reference: send a new trajectory"
            log.info(f"holding: {'recovering' if why == 'none' else why}{end}")
        else:
            loop = self._node.loop
            error = None if loop is None else loop.error
            cause = f" ({error})" if decision.detected & event.COMPUTATION and error else ""
            if decision.detected & event.TIME_JUMP and loop is not None and loop.clock.stopped:
                cause = " (ROS time stands still: is /clock published? On a real robot set "
                cause += "use_sim_time: false)"
            remedy = "it ends with the cause"
            if decision.latched:
                remedy = "remove the cause, then send a new trajectory or call ~/reset"
            log.error(f"{mode.name.lower()}: {why}{cause}; {remedy}")

    def complain(self, reading: Reading, found: JointMap, seen: WireState) -> None:
        """Log why a joint state cannot be used."""
        if reading is Reading.MISSING:
            text = f"joint_states lacks {', '.join(found.absent)}; publish all joints together, "
            text += "or name joints without a sensor, such as a gripper's, in locked_joints"
        elif reading is Reading.TWICE:
            text = f"joint_states names {', '.join(found.twice)} more than once; publish it once"
        elif reading is Reading.NO_VELOCITY:
            text = "joint_states has no velocities; add the velocity state interfaces"
        else:
            sizes = len(seen.names), len(seen.position), len(seen.velocity)
            text = f"joint_states has {sizes[0]} names, {sizes[1]} positions, {sizes[2]} "
            text += "velocities; give one of each for each name"
        self.say(text, reading.name)

    # -- once a second -----------------------------------------------------------------------

    def facts(self, model: GearedModel) -> dict[str, str]:
        """Wheels, coupling, mode."""
        wheels, mode = str(len(model.wheel_names)), self._node.parameters.mode
        return {"wheels": wheels, "coupling": model.coupling, "mode": mode}

    def entries(self, figures: Figures, now: float) -> list[Status]:
        """Entries of ``/diagnostics`` while the node is active."""
        node = self._node
        loop = diagnostics.loop_status(figures, node.parameters.update_rate)
        return [loop, *self._loop_entries(now), node.surroundings.status()]

    def _loop_entries(self, now: float) -> list[diagnostics.Status]:
        loop = self._node.loop
        if loop is None:
            return []
        counts = {
            "joint states not finite": loop.counters.nan,
            "joint states without our joints": loop.counters.missing,
            "failed computations": loop.counters.failed,
            "limited commands": loop.counters.limited,
            "refused trajectories": loop.counters.refused,
            "refused contact forces": loop.counters.forces,
        }
        age = math.nan if loop.stamp is None else now - loop.stamp
        ages = diagnostics.ages_status(age, loop.reference_age(now), loop.stale_after)
        references = self._node.references
        counted = references.accepted, loop.counters.refused
        taken = diagnostics.trajectory_status(references.last, *counted, loop.emergency_stop)
        if self._node.annotating or loop.decision is None:
            return [ages, taken]
        made = loop.decision
        return [ages, taken, diagnostics.safety_status(made.mode, made.events, loop.error, counts)]


# -- The observer node ----------------------------------------------------------------------------


LEVELS = {Level.GOOD: OK, Level.INVALID: ERROR}  # the others: WARN


class ObserverReporter(Reporter):
    """Looks at each output, speaks at changes."""

    def __init__(self, node: ModelNode[ObserverParameters]) -> None:
        """Begin without an output."""
        super().__init__(node)
        self._node = node
        self.begin()

    def begin(self) -> None:
        """Forget what was reported."""
        self._last: tuple[Level, str] | None = None

    def report(self, output: ObserverOutput) -> None:
        """Log the level and its reason where they have changed."""
        if (output.level, output.why) == self._last:
            return
        self._last = output.level, output.why
        if output.level is Level.GOOD:
            self.say("estimates are valid", warn=False)
        else:
            self.say(f"{output.level.name.lower()}: {output.why}")

    def facts(self, model: GearedModel) -> dict[str, str]:
        """Springs, observer."""
        springs, observer = ", ".join(model.elasticity.names), self._node.parameters.observer
        return {"springs": springs, "observer": observer}

    def entries(self, figures: Figures, now: float) -> list[Status]:
        """Entries of ``/diagnostics`` while the node is active."""
        loop = self._node.loop
        if loop is None:
            return []
        rate = 1.0 / loop.setup.period
        return [diagnostics.loop_status(figures, rate), observer_status(loop)]


def observer_status(loop: ObserverLoop) -> Status:
    """What the observer says of itself."""
    output, counters = loop.output, loop.counters
    values = {
        "level": output.level.name.lower(),
        "faults": named(output.faults),
        "starts": str(counters.starts),
        "lost estimates": str(counters.losses),
        "cycles predicted only": str(counters.bridged),
        "cycles invalid": str(counters.invalid),
    }
    state = output.state
    observer = loop.setup.observer
    stated = None if state is None else observer.deviations(state)
    if state is not None and stated is not None:
        ratio, limit = state.ratio, observer.gains.most
        values |= {"innovation squared, normalised": f"{ratio:.3f}", "its limit": f"{limit:.3f}"}
        model = loop.setup.model
        resting = observer.estimate(state).resting
        still = [name for name, rests in zip(model.joint_names, resting, strict=True) if rests]
        values["external torque hidden by friction at rest"] = ", ".join(still) or "none"
        names = model.motor_names
        for k, name in enumerate(names):
            values[f"innovation {name} [rad]"] = f"{state.innovation[k]:.3e}"
            values[f"its deviation {name} [rad]"] = f"{stated.innovation[k]:.3e}"
    level = LEVELS.get(output.level, WARN)
    return Status("observer", level, output.why or "estimates are valid", values)
