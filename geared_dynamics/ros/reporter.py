"""What the node tells: log lines where something changes, figures once a second."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from geared_dynamics.control.safety import Decision, Event, Mode
from geared_dynamics.control.safety import memory as at
from geared_dynamics.ros import diagnostics
from geared_dynamics.ros.joint_state_wire import WireState
from geared_dynamics.runtime.cycle_report import Figures
from geared_dynamics.runtime.joint_readings import JointMap, Reading
from geared_dynamics.runtime.model_source import payload_words

if TYPE_CHECKING:
    from geared_dynamics.ros.feedforward import FeedforwardNode


# -- ``~/timing``: the figures of the last second, for plots --------------------------------------


TIMING = (
    "rate", "period_mean", "period_std", "period_max", "compute_p50", "compute_p99",
    "compute_max", "latency_p50", "latency_max",
)  # fmt: skip


class TimingTopic:
    """Publishes figures."""

    def __init__(self, node: Node) -> None:
        """Make publisher and message."""
        self._publisher = node.create_publisher(Float64MultiArray, "~/timing", 1)
        self._message = Float64MultiArray(data=[0.0] * len(TIMING))
        self._message.layout.dim = [
            MultiArrayDimension(label=name, size=1, stride=1) for name in TIMING
        ]

    def send(self, figures: Figures) -> None:
        """Publish one second's."""
        flat = [figures.rate, *figures.period, *figures.compute, *figures.latency]
        for k, value in enumerate(flat):
            self._message.data[k] = value
        self._publisher.publish(self._message)


# -- What the node tells: log lines where something changes, figures once a second ----------------


TOLD = at.STOPPING | at.BAD_STATE | at.NAMES_MISSING
PAUSE = 1.0  # [s] between two lines about the same thing
TIMING = (
    "rate", "period_mean", "period_std", "period_max", "compute_p50", "compute_p99",
    "compute_max", "latency_p50", "latency_max",
)  # fmt: skip


class FeedforwardReporter:
    """Looks at each decision, speaks at changes.

    Attributes:
        decision: The one looked at last.
    """

    def __init__(self, node: FeedforwardNode) -> None:
        """Make the publishers."""
        self._node = node
        self.decision: Decision | None = None
        self._mode: Mode | None = None  # that of the decision
        self._key: tuple[Mode, int] | None = None  # what was reported last
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._timing = node.create_publisher(Float64MultiArray, "~/timing", 1)
        self._message = Float64MultiArray(data=[0.0] * len(TIMING))
        self._message.layout.dim = [
            MultiArrayDimension(label=name, size=1, stride=1) for name in TIMING
        ]
        self._said: dict[str, float] = {}
        self.begin()

    def begin(self) -> None:
        """Forget what was reported."""
        self.decision = self._mode = None
        self._key = None

    def endpoints(self, annotating: bool) -> str:
        """Return a line about where the node listens, where it sends, and what it waits for.

        Args:
            annotating: Whether the mode is annotate.
        """
        values, name = self._node.parameters.values, self._node.resolve_topic_name
        outputs = {
            str(values["annotate.topic"]): annotating,
            "~/commands": not annotating and values["publish_commands"],
            "~/joint_commands": not annotating and values["publish_joint_commands"],
        }
        sent = ", ".join(name(topic) for topic, used in outputs.items() if used) or "no topic"
        what = "trajectories with effort" if annotating else "commands"
        return (
            f"waiting for trajectories on {name('~/joint_trajectory')} and joint states on "
            f"{name('joint_states')}; {what} go to {sent}"
        )

    # -- log ---------------------------------------------------------------------------------

    def calm(self, decision: Decision) -> bool:
        """Whether the arm runs as reported before, with nothing to log; called in each cycle."""
        return not (decision.found or decision.latched) and decision.mode is self._mode

    def look(self, decision: Decision | None) -> None:
        """Log the mode and what waits for an acknowledgement, where they have changed."""
        if decision is None or decision is self.decision:
            return
        self.decision, self._mode = decision, decision.mode
        away = decision.mode is Mode.HOLDING and decision.found & at.RESUME_ERROR
        key = decision.mode, decision.latched | away
        self._tell_of_given_up(decision)
        if decision.found & at.NAMES_REORDERED:
            self.say("reordered", "joint_states has its names in another order now")
        if key == self._key:
            return
        self._key = key
        self._tell(decision)

    def _tell_of_given_up(self, decision: Decision) -> None:
        loop = self._node.loop
        if loop is not None and loop.given_up:
            loop.given_up = False
            why = diagnostics.named(Event(decision.found & at.LATCHING))
            self._node.get_logger().error(
                f"trajectory not followed: {why} is still there; remove the cause, then send it "
                "again"
            )

    def _tell(self, decision: Decision) -> None:
        mode, log = decision.mode, self._node.get_logger()
        why = diagnostics.named(Event((decision.found & TOLD) | decision.latched))
        if mode is Mode.RUNNING:
            log.info("running: following the reference")
        elif mode is Mode.WAITING:
            log.info("waiting for joint states; nothing is sent")
        elif mode is Mode.BRAKING:
            log.info("braking: the node ends")
        elif mode is Mode.HOLDING and not (decision.found & at.STOPPING & ~at.IDLE):
            end = "" if not decision.latched else "; a new trajectory or ~/reset ends it"
            if decision.found & at.RESUME_ERROR:
                end = "; the arm is away from its reference: send a new trajectory"
            log.info(f"holding: {'recovering' if why == 'none' else why}{end}")
        else:
            loop = self._node.loop
            error = None if loop is None else loop.error
            cause = f" ({error})" if decision.found & at.COMPUTATION and error else ""
            if decision.found & at.TIME_JUMP and loop is not None and loop.clock.stopped:
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
        self.say(reading.name, text)

    def say(self, key: str, text: str) -> None:
        """Warn, not more often than once a second."""
        now = time.monotonic()
        if now - self._said.get(key, -math.inf) >= PAUSE:
            self._said[key] = now
            self._node.get_logger().warning(text)

    # -- once a second -----------------------------------------------------------------------

    def publish(self) -> None:
        """Send ``/diagnostics`` and ``~/timing``."""
        node, now = self._node, time.monotonic()
        figures = node.timing.report(now)
        entries = [self._model_status()]
        if node.active:
            self._send_timing(figures)
            rate = int(node.parameters.values["update_rate"])  # type: ignore[arg-type]
            entries += [diagnostics.loop_status(figures, rate), *self._loop_entries(now)]
            entries.append(node.surroundings.status())
        name = node.get_fully_qualified_name().lstrip("/")
        stamp = node.get_clock().now().to_msg()
        hardware = node.model.name if node.model is not None else "none"
        self._diagnostics.publish(diagnostics.message(stamp, name, hardware, entries))

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
        }
        age = math.nan if loop.stamp is None else now - loop.stamp
        ages = diagnostics.ages_status(age, loop.reference_age(now), loop.stale)
        references = self._node.references
        counted = references.accepted, loop.counters.refused
        taken = diagnostics.trajectory_status(references.last, *counted, loop.emergency_stop)
        if self._node.annotating or loop.decision is None:
            return [ages, taken]
        made = loop.decision
        return [ages, taken, diagnostics.safety_status(made.mode, made.events, loop.error, counts)]

    def _model_status(self) -> diagnostics.Status:
        node = self._node
        if node.model is None:
            wrong = "; ".join(node.parameters.wrong.values())
            return diagnostics.model_status({}, wrong or "no model is loaded")
        model, values = node.model, node.parameters.values
        facts = {
            "robot": model.name,
            "joints": ", ".join(model.joint_names),
            "wheels": str(len(model.wheel_names)),
            "motors": ", ".join(model.motor_names),
            "coupling": model.coupling,
            "payload [kg]": f"{values['payload.mass']:g}",
            "payload": payload_words(model, values),
            "mode": str(values["mode"]),
            "state": node.state_label,
        }
        return diagnostics.model_status(facts, node.description.problem)

    def _send_timing(self, figures: Figures) -> None:
        flat = [figures.rate, *figures.period, *figures.compute, *figures.latency]
        for k, value in enumerate(flat):
            self._message.data[k] = value
        self._timing.publish(self._message)
