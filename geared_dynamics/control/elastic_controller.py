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
from typing import Literal, get_args

import numpy as np

from geared_dynamics.actuation.elastic_commands import motor_commands
from geared_dynamics.actuation.motor_commands import MotorCommands
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.elastic_gains import Feedback, motor_feedback
from geared_dynamics.control.gains import Driven, Gains, driven
from geared_dynamics.control.laws import position_error, turns
from geared_dynamics.control.outputs import (
    Saturation,
    command_limits,
    elastic_output,
    refuse_unknown,
    without_friction,
)
from geared_dynamics.control.safety.memory import Brake
from geared_dynamics.control.terms import (
    Memory,
    Output,
    Reference,
    Side,
    Terms,
    choice,
    derivatives_of,
    numbers,
    refuse_overflow,
    vector,
)
from geared_dynamics.dynamics.elastic.flatness import Method, derivatives_needed, feedforward
from geared_dynamics.dynamics.motor_side import motor_shares
from geared_dynamics.dynamics.rigid import gravity_forces
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, require_model

ElasticLaw = Literal["flatness", "flatness_plus_pd"]


@dataclass(frozen=True, eq=False)
class ElasticController:
    """Control of an elastic arm; made by ``elastic_controller``.

    Attributes:
        model: The model.
        law: Name of the law.
        method: Of the feedforward.
        order: Order of the method ``expanded``.
        terms: The switches.
        gains: Of the feedback, an entry for each driven coordinate; None for none.
        feedback: Of what, as of ``gains_from_modes``.
        side: What commands are.
        saturation: Whether commands are clipped (``each``) or not (``none``).
        driven: The driven coordinates.
        arm: The model that the feedforward counts, without what is switched off.
        smooth: The same without friction.
        per_turn: As of ``error.turns``.
        limits: Largest commands (m,) or (n,).
    """

    model: GearedModel
    law: ElasticLaw
    method: Method
    order: int | None
    terms: Terms
    gains: Gains | None
    feedback: Feedback
    side: Side
    saturation: Saturation
    driven: Driven
    arm: GearedModel
    smooth: GearedModel
    per_turn: Array | None
    limits: Array

    @property
    def derivatives_needed(self) -> int:
        """Highest derivative of q that a reference must hold."""
        return derivatives_needed(self.arm, self.method, self.order)

    def start(self) -> Memory:
        """Memory before the first cycle."""
        return Memory(np.zeros(self.model.n))

    def step(
        self, memory: Memory, state: State | None, reference: Reference, dt: float
    ) -> tuple[Memory, Output]:
        """One cycle, as of ``Controller.step``.

        Args:
            memory: Handed on as it is.
            state: Measured state; with motor-side feedback of ``q`` only rigid joints are read.
            reference: Wanted motion with ``derivatives``; its other fields are not read.
            dt: Not read: these laws have no integral.
        """
        path, arm = derivatives_of(reference, self.derivatives_needed), self.arm
        planned = feedforward(arm, path, self.method, self.order, friction=True)
        commands = motor_commands(arm, path, self.method, self.order)
        torque = commands.torque - self.carried(path[0])
        if self.gains is not None:
            if state is None:
                raise ArrayError("state", "is None", f"give {self.law} a measured state")
            x = np.concatenate([path[0], planned.theta])
            rate = np.concatenate([path[1], planned.vtheta])
            torque = torque + self.corrected(self.gains, state, x, rate)
        speed = self.speeds(state, commands.speed)
        result = self.sent(torque, speed, commands)
        refuse_overflow(result.command)
        return memory, result

    def corrected(self, gains: Gains, state: State, x: Array, rate: Array) -> Array:
        """Motor torques of the feedback (m,) [N m].

        Args:
            gains: Gains with an entry for each driven coordinate.
            state: Measured state.
            x: Wanted q and theta (n + n_e,).
            rate: Their rates.
        """
        found, n = self.driven, self.model.n
        measured, measured_rate = self.measured(state)
        y, dy = x[:n], rate[:n]
        if self.feedback == "motor":
            y = found.inverse @ x[found.rows]
        if self.feedback != "joint":
            dy = found.inverse @ rate[found.rows]
        error = found.rigid @ position_error(y, measured, self.per_turn)
        change = found.rigid @ (dy - measured_rate)
        return np.asarray(found.shares @ (gains.kp * error + gains.kv * change))

    def measured(self, state: State) -> tuple[Array, Array]:
        """Joint position and velocity that the feedback sees (n,): those to give to safety.

        Args:
            state: Measured state.
        """
        n, found = self.model.n, self.driven
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
            return links, found.inverse @ rate[found.rows]
        if state.theta is None or state.vtheta is None:
            remedy = "give theta and vtheta, or use joint-side feedback"
            raise ArrayError("state.theta", "is not given", remedy)
        angle, speed = numbers("state.q", state.q, n), numbers("state.v", state.v, n)  # or NaN
        x = np.concatenate([angle, vector("state.theta", state.theta, count)])
        rate = np.concatenate([speed, vector("state.vtheta", state.vtheta, count)])
        y = vector("state.q", x[found.rows], n)
        return found.inverse @ y, found.inverse @ vector("state.v", rate[found.rows], n)

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

    def hold(self, posture: Array, state: State | None) -> Output:
        """Hold a posture of the motors against gravity; without a state by gravity alone.

        Args:
            posture: Joint position to hold, as of ``measured`` (n,) [rad or m].
            state: Measured state, or None where it is not known any more.
        """
        seen = (None, None) if state is None else self.measured(state)
        return Output(self.fallback(posture, *seen), self.static(posture), np.zeros(0, np.int64))

    def fallback(self, posture: Array, q: Array | None, v: Array | None) -> Array:
        """Command that holds a posture, for ``gd.control.safety.step``.

        Args:
            posture: Joint position to hold, as of ``measured`` (n,).
            q: Position as of ``measured`` (n,), or None.
            v: Its rate (n,), or None.
        """
        model, found, n = self.model, self.driven, self.model.n
        where = vector("posture", posture, n)
        torque, speed = np.zeros((2, len(model.motor_names)))
        if self.terms.use_gravity_compensation:
            torque = self.static(where) @ motor_shares(model)
        if q is not None and v is not None:
            y, dy = vector("q", q, n), vector("v", v, n)
            speed = dy @ model.structure_matrix
            if self.gains is not None:
                error = found.rigid @ position_error(where, y, self.per_turn)
                force = self.gains.kp * error - self.gains.kv * (found.rigid @ dy)
                torque = torque + found.shares @ force
        command = self.sent(torque, speed, None).command
        refuse_overflow(command)
        return command

    @property
    def brake(self) -> Brake:
        """How the arm is slowed down, for ``gd.control.safety.step``.

        Damping by what the links do acts through the springs and excites them: only the motors'
        own motion is fed back.
        """
        return Brake(self.decelerate, closed=self.feedback == "motor")

    def nominal(self, q: Array, v: Array, a: Array) -> Array:
        """Command of a motion without feedback, as of ``Controller.nominal``.

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
        commands = motor_commands(arm, path, self.method, self.order)
        torque = commands.torque - self.carried(path[0])
        command = self.sent(torque, commands.speed, commands, clip).command
        refuse_overflow(command)
        return command

    def sent(
        self, torque: Array, speed: Array, commands: MotorCommands | None, clip: bool = True
    ) -> Output:
        """The command of motor torques (m,) on the side that is sent."""
        clip = clip and self.saturation != "none"
        return elastic_output(self.model, self.side, self.limits, torque, speed, commands, clip)

    def with_model(self, model: GearedModel) -> ElasticController:
        """The same controller for another model of the same joints.

        Args:
            model: Geared model with the same joints, elastic ones too.
        """
        require_model(model)
        if model.joint_names != self.model.joint_names:
            finding = f"has the joints {', '.join(model.joint_names)}"
            remedy = f"give one with {', '.join(self.model.joint_names)}, in this order"
            raise ModelError("model", finding, remedy)
        return self._again(model=model)

    def with_gains(self, gains: Gains) -> ElasticController:
        """The same controller with other gains.

        Args:
            gains: The gains.
        """
        return self._again(gains=gains)

    def with_terms(self, terms: Terms) -> ElasticController:
        """The same controller with other switches.

        Args:
            terms: The switches.
        """
        return self._again(terms=terms)

    def _again(
        self,
        model: GearedModel | None = None,
        gains: Gains | None = None,
        terms: Terms | None = None,
    ) -> ElasticController:
        return elastic_controller(
            self.model if model is None else model,
            self.law,
            gains=self.gains if gains is None else gains,
            feedback=self.feedback,
            method=self.method,
            order=self.order,
            terms=self.terms if terms is None else terms,
            side=self.side,
            saturation=self.saturation,
        )


def elastic_controller(
    model: GearedModel,
    law: ElasticLaw = "flatness_plus_pd",
    *,
    gains: Gains | None = None,
    feedback: Feedback = "motor",
    method: Method = "expanded",
    order: int | None = None,
    terms: Terms | None = None,
    side: Side = "motor_torque",
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
        side: What commands are.
        saturation: ``each`` clips commands at the motors' limits, ``none`` does not.

    Raises:
        ArrayError: for gains that are missing or of the wrong kind, and for terms that cannot
            be switched off.
        ModelError: as ``gd.elastic.motor_commands``; for missing constants of motors.
    """
    require_model(model)
    choice("law", "law", law, get_args(ElasticLaw))
    choice("feedback", "feedback", feedback, get_args(Feedback))
    choice("side", "side", side, get_args(Side))
    choice("saturation", "way to saturate", saturation, ("each", "none"))
    on = Terms() if terms is None else terms
    for name in ("use_coriolis_compensation", "use_inertia_feedforward", "use_rotor_inertia"):
        if not getattr(on, name):
            remedy = "leave it on, or use a rigid controller"
            raise ArrayError(f"terms.{name}", "cannot be switched off in an elastic arm", remedy)
    gains = motor_feedback(gains, model.n) if law == "flatness_plus_pd" else None
    arm = model if on.use_friction else without_friction(model)
    arm = arm if on.use_rotor_coupling else arm.with_elasticity("uncoupled")
    refuse_unknown(model, side)
    made = ElasticController(
        model=model,
        law=law,
        method=method,
        order=order,
        terms=on,
        gains=gains,
        feedback=feedback,
        side=side,
        saturation=saturation,
        driven=driven(model),
        arm=arm,
        smooth=without_friction(arm),
        per_turn=turns(model),
        limits=readonly(command_limits(model, side)),
    )
    warm(made)
    return made


def warm(made: ElasticController) -> None:
    """Run every path of a cycle once, so that nothing is made or compiled in the first."""
    still, shafts = np.zeros(made.model.n), np.zeros(made.model.elasticity.count)
    state = State(still, still, shafts, shafts)
    path = np.zeros((made.derivatives_needed + 1, made.model.n))
    made.step(made.start(), state, Reference(still, still, still, None, path), 0.0)
    made.hold(still, state)
    made.hold(still, None)
    made.nominal(still, still, still)
    made.decelerate(still, still, still, still)
