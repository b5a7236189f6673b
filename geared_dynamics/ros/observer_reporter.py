"""What the observer node tells: a log line where something changes, figures once a second."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray

from geared_dynamics.observers import KalmanState, estimate
from geared_dynamics.ros import diagnostics
from geared_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from geared_dynamics.ros.reporter import TimingTopic
from geared_dynamics.runtime.model_source import payload_words
from geared_dynamics.runtime.observer_loop import ObserverLoop, named
from geared_dynamics.runtime.observer_values import Level, ObserverOutput, quality_numbers

if TYPE_CHECKING:
    from geared_dynamics.ros.elastic_observer import ElasticObserverNode


PAUSE = 1.0  # [s] between two lines about the same thing
LEVELS = {Level.GOOD: OK, Level.INVALID: ERROR}  # the others: WARN


class ObserverReporter:
    """Looks at each output, speaks at changes."""

    def __init__(self, node: ElasticObserverNode) -> None:
        """Make the publishers."""
        self._node = node
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._timing = TimingTopic(node)
        self._said: dict[str, float] = {}
        self._last: tuple[Level, str] | None = None

    def begin(self) -> None:
        """Forget what was reported."""
        self._last = None

    def look(self, output: ObserverOutput) -> None:
        """Log the level and its reason where they have changed."""
        if (output.level, output.why) == self._last:
            return
        self._last = output.level, output.why
        if output.level is Level.GOOD:
            self.say("estimates are valid", warn=False)
        else:
            self.say(f"{output.level.name.lower()}: {output.why}")

    def say(self, text: str, *, warn: bool = True) -> None:
        """Log a line; the same one not more often than once a second."""
        now = time.monotonic()
        if now - self._said.get(text, -math.inf) < PAUSE:
            return
        self._said[text] = now
        log = self._node.get_logger()
        if warn:  # rclpy wants a line of its own for each severity
            log.warning(text)
        else:
            log.info(text)

    # -- once a second -----------------------------------------------------------------------

    def publish(self) -> None:
        """Send ``/diagnostics`` and ``~/timing``."""
        node, now = self._node, time.monotonic()
        figures = node.timing.report(now)
        entries = [self._model_status()]
        if node.active and node.loop is not None:
            self._timing.send(figures)
            rate = 1.0 / node.loop.prepared.period
            entries += [diagnostics.loop_status(figures, rate), observer_status(node.loop)]
        name = node.get_fully_qualified_name().lstrip("/")
        stamp = node.get_clock().now().to_msg()
        hardware = node.model.name if node.model is not None else "none"
        self._diagnostics.publish(diagnostics.message(stamp, name, hardware, entries))

    def _model_status(self) -> Status:
        node = self._node
        if node.model is None:
            wrong = "; ".join(node.parameters.wrong.values())
            return diagnostics.model_status({}, wrong or "no model is loaded")
        model, values = node.model, node.parameters.values
        facts = {
            "robot": model.name,
            "joints": ", ".join(model.joint_names),
            "springs": ", ".join(model.elasticity.names),
            "motors": ", ".join(model.motor_names),
            "payload [kg]": f"{values['payload.mass']:g}",
            "payload": payload_words(model, values),
            "observer": str(values["observer"]),
            "state": node.state_label,
        }
        return diagnostics.model_status(facts, node.description.problem)


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
    if isinstance(state, KalmanState):
        ratio, limit = quality_numbers(loop.prepared, output)[2:4]
        values |= {"innovation squared, normalised": f"{ratio:.3f}", "its limit": f"{limit:.3f}"}
        model = loop.prepared.model
        resting = estimate(model, state).resting
        still = [name for name, rests in zip(model.joint_names, resting, strict=True) if rests]
        values["external torque hidden by friction at rest"] = ", ".join(still) or "none"
        names = model.motor_names
        for k, name in enumerate(names):
            values[f"innovation {name} [rad]"] = f"{state.innovation[k]:.3e}"
            values[f"its deviation {name} [rad]"] = f"{state.deviation[k]:.3e}"
    level = LEVELS.get(output.level, WARN)
    return Status("observer", level, output.why or "estimates are valid", values)
