"""The live page: a slider for each joint, the motion replayed, a click on a wheel answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.errors import printable
from geared_dynamics.scene.motion import PACES, ArmMotion, computed, wheel_speeds
from geared_dynamics.scene.page import ArmNodes, ArmPage, look_at_all, motor_of, notes, wheel_facts
from geared_dynamics.scene.shapes import GLASS, body_poses, wheel_angles, wheel_poses

RATE = 30.0  # pictures per second
TEXTS = 6  # pictures from one change of the texts to the next, while the motion plays
REACH = np.pi, 0.5  # of sliders of joints without limits [rad], [m]
ORDER = ("Play the motion", "Time [s]", "Speed of the wheels", "Links")


class LivePage:
    """Sliders and their arm; ``step`` moves it, ``serve`` does so until it is interrupted.

    Attributes:
        server: viser's.
        page: The arm and its motion.
        chosen: The wheel whose facts are shown.
    """

    def __init__(self, server: Any, page: ArmPage) -> None:
        """Add the arm and the sliders to a server."""
        self.server, self.page, self.chosen = server, page, 0
        model, motion = page.shapes.model, page.motion
        self._speeds = wheel_speeds(model, motion)
        look_at_all(server, page.shapes, motion)
        self._nodes = ArmNodes(server, page.shapes)
        for handle, wheel in self._nodes.wheel_parts:
            handle.on_click(self._chooser(wheel))
        gui = server.gui
        gui.set_panel_label(printable(model.name))
        self._text = gui.add_html("")
        self._play = gui.add_checkbox(ORDER[0], initial_value=True)
        self._time = gui.add_slider(ORDER[1], 0.0, max(motion.length, 0.01), 0.01, 0.0)
        rates = {f"1/{round(1.0 / step)}" if step < 1.0 else "1": step for step in PACES}
        self._paces = {name: step for name, step in rates.items() if step >= 0.001}
        first = next(name for name, step in rates.items() if step == page.pace)
        self._paces.setdefault(first, page.pace)
        self._pace = gui.add_dropdown(ORDER[2], tuple(self._paces), initial_value=first)
        self._glass = gui.add_slider(ORDER[3], 0.0, 1.0, 0.05, GLASS)
        self._scale = np.where(model.prismatic, 1000.0, 180.0 / np.pi)
        with gui.add_folder("Joints"):
            self._joints = [self._slider(d) for d in range(model.n)]
        self._seen: object = None
        self._glassy, self._count, self._clock = GLASS, 0, 0.0

    def _chooser(self, wheel: int) -> Callable[[object], None]:
        """What a click on a wheel does."""

        def choose(_: object) -> None:
            self.chosen, self._seen = wheel, None

        return choose

    def _slider(self, d: int) -> Any:
        """The slider of a joint, in degrees or millimetres."""
        model, scale = self.page.shapes.model, self._scale[d]
        reach = REACH[int(model.prismatic[d])]
        low, high = model.limits.lower[d], model.limits.upper[d]
        low, high = (low if np.isfinite(low) else -reach), (high if np.isfinite(high) else reach)
        q = self.page.motion.q[:, d]
        low, high = float(min(low, q.min())), float(max(high, q.max()))
        name = f"{printable(model.joint_names[d])} [{'mm' if model.prismatic[d] else '°'}]"
        low, high = round(scale * low, 1), round(scale * high, 1)
        high = max(high, low + 0.1)
        start = float(np.clip(round(scale * q[0], 1), low, high))
        return self.server.gui.add_slider(name, low, high, 0.1, start)

    def serve(self) -> None:
        """Move the arm until the program is interrupted."""
        last = time.monotonic()
        while True:
            time.sleep(1.0 / RATE)
            now = time.monotonic()
            self.step(now - last)
            last = now

    def step(self, elapsed: float) -> None:
        """Show the next picture.

        Args:
            elapsed: Time since the last one [s].
        """
        motion, model = self.page.motion, self.page.shapes.model
        if self._play.value:
            if abs(self._time.value - self._clock) > 0.02:  # the user moved it
                self._clock = float(self._time.value)
            self._clock = (self._clock + elapsed) % max(motion.length, 1e-6)
            k = int(np.searchsorted(motion.time, self._clock))
            q = motion.q[k]
            for slider, value in zip(self._joints, self._scale * q, strict=True):
                slider.value = round(float(np.clip(value, slider.min, slider.max)), 1)
            self._time.value = self._clock = round(self._clock, 3)
            self._draw(q, None if motion.theta is None else motion.theta[k])
            self._count += 1
            if self._count % TEXTS == 0 or self._seen is None:
                self._write(self._speeds[k], motion.joint_torque[k], motion.motor_torque[k])
                self._seen = "motion"
            return
        q = np.array([slider.value for slider in self._joints]) / self._scale
        state = (tuple(q), self._pace.value, self.chosen, self._glass.value)
        if state != self._seen:
            self._seen = state
            self._draw(q, None)
            rest = held(self.page, q)
            still = np.zeros(len(model.wheel_names))
            self._write(still, rest.joint_torque[0], rest.motor_torque[0], " (at rest)")

    def _draw(self, q: Array, theta: Array | None) -> None:
        """Put the arm at a position."""
        shapes = self.page.shapes
        angles = self._paces[self._pace.value] * wheel_angles(shapes.model, q, theta)
        with self.server.atomic():
            self._nodes.put(body_poses(shapes.model, q), wheel_poses(shapes, angles))
            if self._glass.value != self._glassy:
                self._glassy = self._glass.value
                for handle in self._nodes.links:
                    handle.opacity = float(self._glassy)

    def _write(self, speeds: Array, tau: Array, motors: Array, how: str = "") -> None:
        """Write the tables: the chosen wheel, and the joints' torques."""
        self._text.content = texts(self.page, self.chosen, speeds, tau, motors, how)


def held(page: ArmPage, q: Array) -> ArmMotion:
    """The arm at rest at a position (n,), with the torques that hold it."""
    row, zero = np.stack([q, q]), np.zeros((2, len(q)))
    return computed(page.shapes.model, "at rest", np.array([0.0, 1.0]), row, zero, zero)


def texts(page: ArmPage, chosen: int, speeds: Array, tau: Array, motors: Array, how: str) -> str:
    """The live page's tables as HTML: every name is shown as text.

    Args:
        page: The arm and its motion.
        chosen: A wheel.
        speeds: Of the wheels (w,) [rad/s].
        tau: Joint forces (n,).
        motors: Motor torques (m,) [N m].
        how: Added to what is said of torques.
    """
    model, rows = page.shapes.model, list[tuple[str, str]]()
    head = "".join(f"<p>{escape(line)}</p>" for line in notes(page))
    if model.wheel_names:
        name, speed, motor = model.wheel_names[chosen], speeds[chosen], motor_of(model, chosen)
        rows = [("wheel", printable(name)), *wheel_facts(model, chosen)]
        rows.append(("speed", f"{speed:.4g} rad/s = {turns(speed)} rpm"))
        torque = motors[motor] if motor >= 0 else np.nan
        known = f"{torque:.4g} N m{how}" if np.isfinite(torque) else "not known"
        rows.append(("torque of its motor", known if motor >= 0 else "no motor"))
    for joint, unit, value in zip(model.joint_names, model.force_units, tau, strict=True):
        known = f"{value:.4g} {unit}{how}" if np.isfinite(value) else "not known"
        rows.append((f"torque of {printable(joint)}", known))
    cells = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
    style = "font-size:0.85em;margin:0.4em 0.8em"
    return f'<div style="{style}">{head}<table>{cells}</table></div>'


def turns(speed: float) -> str:
    """Write a speed [rad/s] in revolutions per minute, one decimal below 10."""
    rpm = speed * 30.0 / np.pi
    return f"{rpm:.{1 if abs(rpm) < 10.0 else 0}f}"
