"""Control of arms with elastic joints: flatness feedforward and feedback at the motors.

With theta_d(t) and tau_m,d(t) from the reference alone (docs/feedforward.md), the driven
coordinates x_d (theta of elastic drives, q of rigid ones) and A_d the motors' rows of them,

    flatness           tau_m = tau_m,d
    flatness_plus_pd   tau_m = tau_m,d + A_d^-1 (Kp (x_d,d - x_d) + Kv (x_d,d' - x_d'))
    decelerate         tau_m = tau_m of (q, v, a, 0, ...), their higher derivatives zero
    hold               tau_m = A^-1 g(posture) + A_d^-1 (Kp E_d (posture - y) - Kv E_d y')

y = E_d^-1 x_d is the joint position that the motors show. Feedback of the motors' position is
passive (P. Tomei, IEEE Trans. Automatic Control 36, 1991); with ``feedback="joint"`` E_d q
takes the place of x_d, which only slow loops stand; with ``"mixed"`` only in the position, which
without any damping is stable while Kp is below the springs' stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Literal, get_args

import numpy as np

from geared_dynamics.actuation.command_type import CommandType, as_command_type, require_constants
from geared_dynamics.actuation.motor_commands import MotorCommands, elastic_motor_commands
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.checks import choice, renamed
from geared_dynamics.control.controller import Instant, PreparedLaw, refuse_state, warm
from geared_dynamics.control.elastic_gains import Feedback, motor_feedback
from geared_dynamics.control.gains import Driven, Gains, driven
from geared_dynamics.control.hybrid import refuse_contact
from geared_dynamics.control.laws import position_error, turns
from geared_dynamics.control.outputs import (
    Saturation,
    command_limits,
    elastic_output,
    without_friction,
)
from geared_dynamics.control.safety.memory import Brake
from geared_dynamics.control.terms import (
    Memory,
    Output,
    Reference,
    Terms,
    derivatives_of,
    numbers,
    refuse_overflow,
    vector,
)
from geared_dynamics.dynamics.drives import motor_shares
from geared_dynamics.dynamics.elastic.flatness import Method, derivatives_needed, feedforward
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model

ElasticLaw = Literal["flatness", "flatness_plus_pd"]


@dataclass(frozen=True, eq=False)
class ElasticController(PreparedLaw):
    """Control of an elastic arm; made by ``elastic_controller``. See ``Controller``.

    Attributes:
        method: Of the feedforward.
        order: Order of the method ``expanded``.
        feedback: Of what, as of ``gains_from_modes``.
        driven: The driven coordinates.
        arm: The model that the feedforward counts, without what is switched off.
        smooth: The same without friction.
        per_turn: As of ``laws.turns``.
        limits: Largest commands (m,) or (n,).
    """

    closed_laws: ClassVar[tuple[str, ...]] = ("flatness_plus_pd",)

    method: Method
    order: int | None
    feedback: Feedback
    driven: Driven
    arm: GearedModel
    smooth: GearedModel
    per_turn: Array | None
    limits: Array

    @cached_property
    def derivatives_needed(self) -> int:
        """Highest derivative of q that a reference must hold."""
        return derivatives_needed(self.arm, self.method, self.order)

    @property
    def brake(self) -> Brake:
        """How the arm is slowed down, for ``gd.control.safety.step``.

        Damping by what the links do acts through the springs and excites them: only the motors'
        own motion is fed back.
        """
        return Brake(self.decelerate, closed=self.feedback == "motor")

    def state(self, q: Array, v: Array) -> State:
        """State for ``step`` from what joint states show, of joints or of motors, as joints."""
        n, driven = self.model.n, self.driven
        if self.feedback == "joint":
            return State(q, v)
        x, dx = np.zeros((2, n + self.model.elasticity.count))
        x[driven.rows], dx[driven.rows] = driven.rigid @ q, driven.rigid @ v
        return State(x[:n], dx[:n], x[n:], dx[n:])

    def reference(
        self, now: Instant, ahead: Instant, derivatives: Array | None = None
    ) -> Reference:
        """Reference for ``step``: what is compared now, the derivatives ``ahead``."""
        return Reference(now.q, now.v, ahead.a, None, derivatives)

    def step(
        self, memory: Memory, state: State | None, reference: Reference | None, dt: float
    ) -> tuple[Memory, Output]:
        """One cycle, as of ``Controller``.

        Args:
            memory: Handed on as it is.
            state: Measured state; with motor-side feedback of ``q`` only rigid joints are read.
            reference: Desired motion: ``derivatives`` at the instant of the command, ``q`` and
                ``v`` when the state was measured; its other fields are not read.
            dt: Not read: these laws have no integral.
        """
        if reference is None:
            raise ArrayError("reference", "is None", f"give {self.law} a desired motion")
        refuse_contact(reference)
        path, arm = derivatives_of(reference, self.derivatives_needed), self.arm
        planned = feedforward(arm, path, self.method, self.order, friction=True)
        commands = elastic_motor_commands(arm, path, self.method, self.order)
        torque = commands.torque - self.carried(path[0])
        if self.gains is not None:
            if state is None:
                raise ArrayError("state", "is None", f"give {self.law} a measured state")
            x = np.concatenate([path[0], planned.theta])
            rate = np.concatenate([path[1], planned.vtheta])
            # From the command's instant to the measurement's the springs' deflection stays.
            back = (
                vector("reference.q", reference.q, self.model.n) - path[0],
                vector("reference.v", reference.v, self.model.n) - path[1],
            )
            torque = torque + self.corrected(self.gains, state, x, rate, back)
        speed = self.speeds(state, commands.speed)
        result = self.sent(torque, speed, commands)
        refuse_overflow(result.command)
        return memory, result

    def corrected(
        self, gains: Gains, state: State, x: Array, rate: Array, back: tuple[Array, Array]
    ) -> Array:
        """Motor torques of the feedback (m,) [N m].

        Args:
            gains: Gains with an entry for each driven coordinate.
            state: Measured state.
            x: Desired q and theta (n + n_e,).
            rate: Their rates.
            back: Change of q and of v from then to the instant of the measurement (n,), each.
        """
        driven, n = self.driven, self.model.n
        measured, measured_rate = self.measured(state)
        y, dy = x[:n], rate[:n]
        if self.feedback == "motor":
            y = driven.inverse @ x[driven.rows]
        if self.feedback != "joint":
            dy = driven.inverse @ rate[driven.rows]
        error = driven.rigid @ position_error(y + back[0], measured, self.per_turn)
        change = driven.rigid @ (dy + back[1] - measured_rate)
        return np.asarray(driven.shares @ (gains.kp * error + gains.kv * change))

    def measured(self, state: State) -> tuple[Array, Array]:
        """Joint position and velocity that the feedback sees (n,): those to give to safety.

        Args:
            state: Measured state.
        """
        n, driven = self.model.n, self.driven
        if self.feedback == "joint":
            return vector("state.q", state.q, n), vector("state.v", state.v, n)
        count = self.model.elasticity.count
        if self.feedback == "mixed":
            if state.vtheta is None:
                remedy = "give it, or use joint-side feedback"
                raise ArrayError("state.vtheta", "is not given", remedy)
            links = vector("state.q", state.q, n)
            shafts = vector("state.vtheta", state.vtheta, count)
            rate = np.concatenate([vector("state.v", state.v, n), shafts])
            return links, driven.inverse @ rate[driven.rows]
        if state.theta is None or state.vtheta is None:
            remedy = "give theta and vtheta, or use joint-side feedback"
            raise ArrayError("state.theta", "is not given", remedy)
        angle, speed = numbers("state.q", state.q, n), numbers("state.v", state.v, n)  # or NaN
        x = np.concatenate([angle, vector("state.theta", state.theta, count)])
        rate = np.concatenate([speed, vector("state.vtheta", state.vtheta, count)])
        y = vector("state.q", x[driven.rows], n)
        return driven.inverse @ y, driven.inverse @ vector("state.v", rate[driven.rows], n)

    def carried(self, q: Array) -> Array:
        """Motor torques of gravity where the robot itself adds them (m,), else zero."""
        if self.terms.use_gravity_compensation:
            return np.zeros(len(self.model.motor_names))
        return np.asarray(self.static(q) @ motor_shares(self.model))

    def static(self, q: Array) -> Array:
        """g(q) (n,); arms with balancers are refused."""
        return gravity_forces(self.model, q)

    def speeds(self, state: State | None, planned: Array) -> Array:
        """Rotor speeds A' y' (m,) [rad/s]: measured with motor-side feedback, else planned."""
        if state is None or state.vtheta is None or self.feedback == "joint":
            return planned
        return np.asarray(self.measured(state)[1] @ self.model.structure_matrix)

    def hold(self, posture: Array, q: Array | None = None, v: Array | None = None) -> Array:
        """Command that holds a posture of the motors against gravity, as of ``Controller``.

        Args:
            posture: Joint position to hold, as of ``measured`` (n,).
            q: Position as of ``measured`` (n,), or None.
            v: Its rate (n,), or None.
        """
        model, driven, n = self.model, self.driven, self.model.n
        if q is not None and v is None:
            refuse_state(q)
        target = vector("posture", posture, n)
        torque, speed = np.zeros((2, len(model.motor_names)))
        if self.terms.use_gravity_compensation:
            torque = self.static(target) @ motor_shares(model)
        if q is not None and v is not None:
            y, dy = vector("q", q, n), vector("v", v, n)
            speed = dy @ model.structure_matrix
            if self.gains is not None:
                error = driven.rigid @ position_error(target, y, self.per_turn)
                force = self.gains.kp * error - self.gains.kv * (driven.rigid @ dy)
                torque = torque + driven.shares @ force
        command = self.sent(torque, speed, None).command
        refuse_overflow(command)
        return command

    def open_loop(self, q: Array, v: Array, a: Array) -> Array:
        """Command of a motion without feedback, as of ``Controller``.

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            a: Joint acceleration (n,), taken as constant.
        """
        return self.planned(self.arm, q, v, a, clip=True)

    def decelerate(self, q: Array, v: Array, a: Array, rate: Array) -> Array:
        """Command of an acceleration from a state, not made to fit the motors' limits.

        Args:
            q: Joint position (n,), as of ``measured``: the springs' deflection is left out.
            v: Its rate (n,).
            a: Joint acceleration (n,).
            rate: Velocity at which friction is taken (n,): zero, or ``v``.
        """
        return self.planned(self.arm if rate.any() else self.smooth, q, v, a, clip=False)

    def planned(self, arm: GearedModel, q: Array, v: Array, a: Array, clip: bool) -> Array:
        """Command of a motion whose acceleration is constant, by an arm."""
        n = self.model.n
        path = np.zeros((self.derivatives_needed + 1, n))
        path[:3] = vector("q", q, n), vector("v", v, n), vector("a", a, n)
        commands = elastic_motor_commands(arm, path, self.method, self.order)
        torque = commands.torque - self.carried(path[0])
        command = self.sent(torque, commands.speed, commands, clip).command
        refuse_overflow(command)
        return command

    def sent(
        self, torque: Array, speed: Array, commands: MotorCommands | None, clip: bool = True
    ) -> Output:
        """The command of motor torques (m,), in its type."""
        clip = clip and self.saturation != "none"
        return elastic_output(
            self.model, self.command_type, self.limits, torque, speed, commands, clip
        )

    def term_torques(self, state: State | None, reference: Reference) -> None:
        """None: the terms cannot be separated in an elastic arm."""


@renamed("side", "command_type")
def elastic_controller(
    model: GearedModel,
    law: ElasticLaw = "flatness_plus_pd",
    *,
    gains: Gains | None = None,
    feedback: Feedback = "motor",
    method: Method = "expanded",
    order: int | None = None,
    terms: Terms | None = None,
    command_type: CommandType = "motor_torque",
    saturation: Saturation = "each",
) -> ElasticController:
    """Prepare a controller of an elastic arm and run it once.

    Args:
        model: Geared model with elastic joints.
        law: ``flatness``, or ``flatness_plus_pd`` with feedback.
        gains: Gains of forces on the driven coordinates, e.g. of ``gains_from_modes``.
        feedback: Of what, as of ``gains_from_modes``.
        method: Of the feedforward.
        order: Order of the method ``expanded``.
        terms: Gravity, friction and rotor coupling can be switched off; the others cannot be
            separated in an elastic arm.
        command_type: What commands are.
        saturation: ``each`` clips commands at the motors' limits, ``none`` does not.

    Raises:
        ArrayError: for gains that are missing or of the wrong kind, and for terms that cannot
            be switched off.
        ModelError: as ``gd.elastic.motor_commands``; for missing constants of motors.
    """
    require_model(model)
    choice("law", "law", law, get_args(ElasticLaw))
    choice("feedback", "feedback", feedback, get_args(Feedback))
    command_type = as_command_type("command_type", command_type)
    choice("saturation", "way to saturate", saturation, ("each", "none"))
    on = Terms() if terms is None else terms
    for name in ("use_coriolis_compensation", "use_inertia_feedforward", "use_rotor_inertia"):
        if not getattr(on, name):
            remedy = "leave it on, or use a rigid controller"
            raise ArrayError(f"terms.{name}", "cannot be switched off in an elastic arm", remedy)
    gains = motor_feedback(gains, model.n) if law == "flatness_plus_pd" else None
    arm = model if on.use_friction else without_friction(model)
    arm = arm if on.use_rotor_coupling else arm.with_elasticity("uncoupled")
    require_constants(model, command_type)
    made = ElasticController(
        model=model,
        law=law,
        terms=on,
        gains=gains,
        command_type=command_type,
        saturation=saturation,
        remade=partial(
            elastic_controller, model=model, law=law, gains=gains, feedback=feedback,
            method=method, order=order, terms=on, command_type=command_type, saturation=saturation,
        ),
        method=method,
        order=order,
        feedback=feedback,
        driven=driven(model),
        arm=arm,
        smooth=without_friction(arm),
        per_turn=turns(model),
        limits=readonly(command_limits(model, command_type)),
    )  # fmt: skip
    still, path = np.zeros(model.n), np.zeros((made.derivatives_needed + 1, model.n))
    warm(made, [Reference(still, still, still, None, path)])
    return made
