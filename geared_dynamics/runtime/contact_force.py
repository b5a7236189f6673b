"""A desired contact force that comes from outside: bounded, ramped, withdrawn where nothing holds.

The wrench is what the environment shall exert on the tool's origin, in the axes of a frame. Its
force and its torque each constrain a coordinate, along their direction n: feedback does nothing
there, the reference there is what is measured, and

    F = F_d clip(1 - u / u_max, 0, 1),   u = n . (rate of the reference - rate of the tool)

so that a tool without a wall runs away with u_max at most. It ends where tool and reference are
apart by a given distance along n. Feedback goes and comes back by a fade, the force by a ramp
while there is no feedback. Time is an argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.control import Controller, DesiredContact, Memory, Output, Reference
from geared_dynamics.control.controller import Instant
from geared_dynamics.control.hybrid import hybrid_law
from geared_dynamics.dynamics.frames import jacobian, jacobian_drift, pose
from geared_dynamics.errors import GearedDynamicsError, UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import RESTART, ParameterError

# -- How forces are read, by the parameters, and why none may be accepted -------------------------


PLACE = "~/contact_wrench"


class ContactForceError(GearedDynamicsError):
    """A desired contact force that is not acted on."""


@dataclass(frozen=True, eq=False)
class ContactSetup:
    """How contact forces are read, by the parameters.

    Attributes:
        model: With the payload.
        tool: Link on whose origin they act.
        bounds: Largest force and torque (2,) [N], [N m].
        rates: Largest changes per second (2,).
        speeds: At which nothing is left of them (2,) [m/s], [rad/s].
        distances: From the reference, at which they end (2,) [m], [rad].
        timeout: Age of the last message at which they ramp to zero [s].
        friction: Coulomb's coefficient of the tool.
        closed: Whether the law reads the measured state.
        refusal: Why none is accepted, None where they are.
    """

    model: GearedModel
    tool: str
    bounds: tuple[float, float]
    rates: tuple[float, float]
    speeds: tuple[float, float]
    distances: tuple[float, float]
    timeout: float
    friction: float
    closed: bool
    refusal: GearedDynamicsError | None


def contact_setup(parameters: FeedforwardParameters, control: Controller) -> ContactSetup:
    """How contact forces are read.

    Args:
        parameters: The parameters.
        control: The law, with the model and its payload.

    Raises:
        ParameterError: for a tool that the robot does not have.
    """
    own, model = parameters.contact_force, control.model
    if own.tool and (own.tool not in model.frames or model.frames[own.tool].wheel >= 0):
        links = [name for name, frame in model.frames.items() if frame.wheel < 0]
        wrong = UnknownNameError("contact_force.tool", "link", own.tool, links)
        raise ParameterError(wrong.place, wrong.finding, wrong.remedy)
    tool, refusal = own.tool or model.tips[0], refusal_of(parameters, control)
    if not own.tool and len(model.tips) > 1:
        finding = f"is not given, and the arm has {len(model.tips)} tips: {', '.join(model.tips)}"
        remedy = "set it to the link that touches the environment"
        refusal = refusal or ParameterError("contact_force.tool", finding, remedy)
    return ContactSetup(
        model=model,
        tool=tool,
        bounds=(own.max_force, own.max_torque),
        rates=(own.force_rate, own.torque_rate),
        speeds=(own.max_speed, own.max_turning_speed),
        distances=(own.max_distance, own.max_angle),
        timeout=own.timeout,
        friction=own.friction,
        closed=parameters.mode == "computed_torque",
        refusal=refusal,
    )


def refusal_of(
    parameters: FeedforwardParameters, control: Controller
) -> GearedDynamicsError | None:
    """Why no contact force is accepted at all, None where it is."""
    if parameters.mode == "annotate":
        remedy = "set mode to computed_torque"
        return ContactForceError(PLACE, "has no effect in the mode annotate", remedy)
    if not (parameters.contact_force.max_force or parameters.contact_force.max_torque):
        finding = "is not accepted: contact_force.max_force and max_torque are 0"
        remedy = "restart the node with a bound above zero"
        return ContactForceError(PLACE, finding, remedy)
    law = getattr(control, "law", "")
    if law.startswith("flatness"):
        remedy = "set use_elasticity to false"
        return ContactForceError(PLACE, "is not read by laws of elastic arms", remedy)
    try:
        hybrid_law(law, control.model, control.command_type)
    except GearedDynamicsError as error:
        return ContactForceError(PLACE, error.finding, error.remedy)
    return None


# -- The force in the loop ------------------------------------------------------------------------


FADE = 0.2  # [s] in which feedback along the force goes, before the force comes, and returns
SLIDING = 2e-3  # [m/s] below which the tool's friction is taken as less, to zero at rest
ROUNDING = 1e-9  # part by which a wrench may exceed its bound
CUT = 1e-3  # part of the largest singular value below which a tool's motion counts as none
TRANSLATION, ROTATION = slice(0, 3), slice(3, 6)


class PressedAxis(NamedTuple):
    """A constrained coordinate.

    Attributes:
        kind: 0 along a force, 1 about a torque.
        axis: Its direction (3,), in the axes of the wrench's frame.
    """

    kind: int
    axis: Array


class Tool(NamedTuple):
    """The tool at the measured state, seen along the rows.

    Attributes:
        jacobian: Of its frame (6, n).
        rows: Of the constrained coordinates (m, n).
        axes: Their directions in root axes (m, 3).
        gap: Reference less tool along them (m,) [m or rad].
        rate: The same of their rates (m,).
    """

    jacobian: Array
    rows: Array
    axes: Array
    gap: Array
    rate: Array


class ContactForce:
    """What is wanted, what acts, and how far feedback is out of its way.

    Attributes:
        acting: Force and torque of the last cycle, axes of their frame (6,); before what the
            tool's speed leaves of them.
        share: From 0, feedback along all coordinates, to 1, only along the free ones.
        lost: Whether a force was ended; it is accepted again after a message of zero.
        news: A line for the log, empty for none; whoever logs it sets it back.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.news = ""
        self.drop()

    def drop(self) -> None:
        """Forget what is wanted, at once: another command acts."""
        self.acting, self._wanted = np.zeros(6), np.zeros(6)
        self._frame, self._heard, self.share = "", -math.inf, 0.0
        self._rows: list[PressedAxis] = []
        self.lost = self._pressing = False

    @property
    def idle(self) -> bool:
        """Whether nothing is wanted and nothing acts."""
        return self.share == 0.0 and not self._pressing

    def take(
        self,
        setup: ContactSetup,
        force: ArrayLike,
        torque: ArrayLike,
        frame: str,
        now: float,
        following: bool = True,
    ) -> None:
        """Want a wrench from now on.

        Args:
            setup: How it is read.
            force: (3,) [N].
            torque: (3,) [N m].
            frame: Whose axes these are.
            now: Steady time [s].
            following: Whether the law follows a trajectory; else no force is accepted.

        Raises:
            GearedDynamicsError: naming why it is not acted on; what was wanted before stays.
        """
        if setup.refusal is not None:
            raise setup.refusal
        wrench = np.array([*np.asarray(force, float), *np.asarray(torque, float)])
        if not np.isfinite(wrench).all():
            raise ContactForceError(PLACE, "is not finite", "check its sender")
        names = [name for name, place in setup.model.frames.items() if place.wheel < 0]
        if frame not in names:
            error = UnknownNameError(f"{PLACE}: header.frame_id", "link", frame, names)
            raise ContactForceError(error.place, error.finding, error.remedy)
        for part, what, unit, name, most in (
            (TRANSLATION, "a force", "N", "max_force", setup.bounds[0]),
            (ROTATION, "a torque", "N m", "max_torque", setup.bounds[1]),
        ):
            size = math.hypot(*wrench[part])
            if size > most * (1.0 + ROUNDING):
                finding = f"is {what} of {size:g} {unit}, and contact_force.{name} is {most:g}"
                raise ContactForceError(PLACE, finding, f"give less, or {RESTART}")
        if not following and wrench.any():
            finding = "is ignored while the arm follows no trajectory"
            raise ContactForceError(PLACE, finding, "send a trajectory, then the force again")
        if self.lost and wrench.any():
            finding = "is not accepted after the contact was lost"
            raise ContactForceError(PLACE, finding, "send zero first, then a force again")
        if frame != self._frame and self.acting.any():
            remedy = f"send zero in {self._frame!r} first, until the force is zero"
            raise ContactForceError(f"{PLACE}: header.frame_id", "changes under force", remedy)
        if self.lost:
            self.lost, self.news = False, "contact force: accepted again"
        self._wanted, self._frame, self._heard = wrench, frame, now
        if wrench.any() and not self._pressing:
            self._pressing = True
            self.news = f"contact force: pressing with {described(wrench)}, axes of {frame}"

    def step(
        self,
        setup: ContactSetup,
        control: Controller,
        memory: Memory,
        measured: tuple[Array, Array],
        reference: Reference,
        present: Instant,
        now: float,
        dt: float,
    ) -> tuple[Memory, Output]:
        """One cycle of the law with the contact force that is wanted, where this is not ``idle``.

        Args:
            setup: How contact forces are read.
            control: The law.
            memory: Of the law.
            measured: Joint position and velocity, (n,) each.
            reference: For the law.
            present: The desired motion at the time of the measured state.
            now: Steady time [s].
            dt: Since the last cycle [s].

        Raises:
            GearedDynamicsError: as of the law.
        """
        self._advance(setup, now, dt)
        state = control.state(*measured)
        if self.idle:
            return control.step(memory, state, reference, dt)
        try:
            tool = self._seen(setup, measured, present)
            pressed = self._pressed(setup, measured, reference, tool)
            after, out = control.step(memory, state, pressed, dt)
        except GearedDynamicsError as error:  # as of a direction in which the tool cannot move
            self._end(str(error))
            return control.step(memory, state, reference, dt)
        apart = np.abs(tool.gap) > [setup.distances[row.kind] for row in self._rows]
        if apart.any() and not self.lost:
            k = int(np.argmax(apart))
            unit = "rad" if self._rows[k].kind else "m"
            what = f"the tool is {abs(tool.gap[k]):.3g} {unit} away from the reference along it"
            self._end(f"{what}: is the surface where it should be?")
        if self.share < 1.0:
            usual = control.step(memory, state, reference, 0.0)[1]
            out = out.blended(usual, self.share)
        return after, out

    def rehearse(self, setup: ContactSetup, now: float) -> None:
        """Want something, so that the first real force finds everything in memory."""
        if setup.refusal is None:
            force, torque = np.outer(setup.bounds, [0.0, 0.0, 1.0])
            self.take(setup, force, torque, setup.model.root, now)

    def _end(self, why: str) -> None:
        """Take the force back at once, for good."""
        self.lost, self.acting, self._wanted = True, np.zeros(6), np.zeros(6)
        self.news = f"contact force ended: {why}; send zero, then a force again"

    def _advance(self, setup: ContactSetup, now: float, dt: float) -> None:
        """Move share and force on by a cycle."""
        wanted, acting, silent = self._wanted, self.acting, now - self._heard > setup.timeout
        if silent and wanted.any():
            self._wanted = wanted = np.zeros(6)
            self.news = f"contact force: no message for {setup.timeout:g} s, it ramps to zero"
        moving = bool(wanted.any() or acting.any())
        if self.share == 1.0 and moving:
            for kind, part in enumerate((TRANSLATION, ROTATION)):
                aim = within(wanted[part], setup.bounds[kind])
                acting[part] += within(aim - acting[part], setup.rates[kind] * dt)
        else:
            step = dt / FADE
            self.share = min(1.0, self.share + step) if moving else max(0.0, self.share - step)
        if wanted.any() or acting.any():  # else feedback returns along what was constrained
            self._rows = rows_of(acting, wanted)
        elif self.share == 0.0 and self._pressing:
            self._pressing, self.news = False, "contact force: none any more"

    def _seen(self, setup: ContactSetup, measured: tuple[Array, Array], present: Instant) -> Tool:
        """Tool and reference along the constrained coordinates."""
        model, (q, v) = setup.model, measured
        rotation = pose(model, q, self._frame)[:3, :3]
        at, to = (pose(model, position, setup.tool) for position in (q, present.q))
        moving = jacobian(model, q, setup.tool)
        turn = to[:3, :3] @ at[:3, :3].T
        skew = 0.5 * (turn - turn.T)
        off = (to[:3, 3] - at[:3, 3], np.array([skew[2, 1], skew[0, 2], skew[1, 0]]))
        axes = np.array([rotation @ row.axis for row in self._rows])
        parts = [moving[3 * row.kind : 3 * row.kind + 3] for row in self._rows]
        rows = np.array([axis @ part for axis, part in zip(axes, parts, strict=True)])
        gap = [axis @ off[row.kind] for axis, row in zip(axes, self._rows, strict=True)]
        return Tool(moving, rows, axes, np.array(gap), rows @ (present.v - v))

    def _pressed(
        self, setup: ContactSetup, measured: tuple[Array, Array], reference: Reference, tool: Tool
    ) -> Reference:
        """The reference with the contact, along it as measured."""
        v, force = measured[1], np.zeros(len(measured[1]))
        drift = jacobian_drift(setup.model, *measured, setup.tool)
        drifts = []
        for k, row in enumerate(self._rows):
            part = slice(3 * row.kind, 3 * row.kind + 3)
            left = min(max(1.0 - tool.rate[k] / setup.speeds[row.kind], 0.0), 1.0)
            size = left * float(self.acting[part] @ row.axis)
            force += size * tool.rows[k]
            drifts.append(tool.axes[k] @ drift[part])
            if row.kind == 0 and setup.friction:
                rate = tool.jacobian[:3] @ v
                rate -= (rate @ tool.axes[k]) * tool.axes[k]
                rate /= max(float(np.linalg.norm(rate)), SLIDING)
                force -= setup.friction * size * (rate @ tool.jacobian[:3])
        contact = DesiredContact(force, tool.rows, np.array(drifts))
        if not setup.closed:
            return reference._replace(contact=contact)
        shift = self._shift(tool)
        q, v = reference.q + shift[:, 0], reference.v + shift[:, 1]
        return reference._replace(q=q, v=v, contact=contact)

    def _shift(self, tool: Tool) -> Array:
        """Joint motion (n, 2), of position and velocity, that leads the reference to the tool."""
        turning = any(row.kind for row in self._rows)
        moving = tool.jacobian if turning or tool.jacobian.shape[1] >= 6 else tool.jacobian[:3]
        way = np.zeros((6, 2))
        for k, row in enumerate(self._rows):
            part = slice(3 * row.kind, 3 * row.kind + 3)
            way[part] -= np.outer(tool.axes[k], [tool.gap[k], tool.rate[k]])
        return np.asarray(np.linalg.lstsq(moving, way[: len(moving)], rcond=CUT)[0])


def rows_of(acting: Array, wanted: Array) -> list[PressedAxis]:
    """Constrained coordinates of a wrench: along what acts, or what is wanted before that."""
    found = []
    for kind, part in enumerate((TRANSLATION, ROTATION)):
        along = acting[part] if acting[part].any() else wanted[part]
        if along.any():
            along = along / np.abs(along).max()  # the square of a tiny force is zero
            found.append(PressedAxis(kind, along / np.linalg.norm(along)))
    return found


def within(vector: Array, most: float) -> Array:
    """The vector, shorter where it is longer than allowed."""
    size = float(np.linalg.norm(vector))
    return vector if size <= most else vector * (most / size)


def described(wrench: Array) -> str:
    """Size of force and torque, in words."""
    sizes = np.linalg.norm(wrench[:3]), np.linalg.norm(wrench[3:])
    parts = [f"{size:g} {unit}" for size, unit in zip(sizes, ("N", "N m"), strict=True) if size]
    return " and ".join(parts)
