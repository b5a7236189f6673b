"""Controllers of rigid arms: model, law, gains, switches and output, prepared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, get_args

import numpy as np

from geared_dynamics import kernels
from geared_dynamics.actuation.command_type import CommandType, as_command_type
from geared_dynamics.arrays import Array, readonly
from geared_dynamics.checks import choice, renamed
from geared_dynamics.control.controller import Instant, PreparedLaw, refuse_state, warm
from geared_dynamics.control.gains import Gains
from geared_dynamics.control.hybrid import checked_contact, hybrid_law
from geared_dynamics.control.laws import (
    CLOSED,
    LAWS,
    CompiledLaw,
    Demand,
    Rate,
    Setting,
    compiled_law,
    decelerate,
    feedforward,
    hold,
    integral_bound,
    integrate,
    turns,
)
from geared_dynamics.control.outputs import NOTHING, OutputStage, Saturation, drives, output
from geared_dynamics.control.safety.memory import Brake
from geared_dynamics.control.terms import (
    Memory,
    Output,
    Reference,
    Terms,
    TermTorques,
    compensation,
    duration,
    refuse_overflow,
    term_torques,
    vector,
)
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel, require_model

# A named tuple of all its values by position, in a third of the time of its own class.
made = tuple.__new__


@dataclass(frozen=True, eq=False)
class RigidController(PreparedLaw):
    """Control of a rigid arm; made by ``controller``. See ``Controller`` for its methods.

    Attributes:
        setting: Prepared model, gains, continuous joints.
        drives: The output side.
        unclipped: The same without the motors' limits.
        effort: Joint force at which the integral stops growing (n,), infinite for none.
        integrating: Whether the gains have an integral part.
        bound: Largest integral of the error (n,) [rad s or m s].
        compiled: The law as one compiled call, None where only Python has it.
        holding: The same of the law that holds a posture.
    """

    closed_laws: ClassVar[tuple[str, ...]] = CLOSED

    setting: Setting
    drives: OutputStage
    unclipped: OutputStage
    effort: Array
    integrating: bool
    bound: Array
    compiled: CompiledLaw | None
    holding: CompiledLaw | None

    @property
    def derivatives_needed(self) -> int:
        """3 where L di/dt of the motors needs the reference's jerk, else 2."""
        return 3 if self.drives.wound and self.command_type == "motor_voltage" else 2

    @property
    def brake(self) -> Brake:
        """How the arm is slowed down, for ``gd.control.safety.step``."""
        return Brake(self.decelerate, closed=True)

    def state(self, q: Array, v: Array) -> State:
        """State for ``step`` from what joint states show (n,)."""
        return made(State, (q, v, None, None, None))

    def reference(
        self, now: Instant, ahead: Instant, derivatives: Array | None = None
    ) -> Reference:
        """Reference for ``step`` at the instants that the law reads, as of ``Controller``."""
        jerk = None if derivatives is None else derivatives[3]
        if self.law == "computed_torque":
            return Reference(now.q, now.v, ahead.a, jerk)
        point = now if self.law == "pd_plus_feedforward" else ahead
        return Reference(point.q, point.v, point.a, jerk)

    def step(
        self, memory: Memory, state: State | None, reference: Reference | None, dt: float
    ) -> tuple[Memory, Output]:
        """One cycle: the next memory, and what to send.

        Args:
            memory: Of the cycle before, or ``start()``.
            state: Measured state; ``feedforward`` does without (None).
            reference: Wanted motion; ``gravity_compensation`` does without (None).
            dt: Time since the last cycle [s], which the integral grows by.

        Raises:
            ArrayError: for shapes that do not fit, NaN or infinity.
        """
        law = self.compiled
        if law is None or state is None or reference is None or reference.contact is not None:
            return self.plain_step(memory, state, reference, dt)
        q, v, a = reference.q, reference.v, reference.a
        try:
            command = np.empty(len(self.effort))
            model, drives, settings = law
            status = kernels.control_law(
                model, drives, settings, state.q, state.v, q, v, a, command
            )
            if not status and reference.jerk is None:  # which is not read, but to be checked
                return memory, made(Output, (command, command, NOTHING))
        except kernels.NOT_TAKEN:
            pass  # Python looks at the arguments
        return self.plain_step(memory, state, reference, dt)

    def plain_step(
        self, memory: Memory, state: State | None, reference: Reference | None, dt: float
    ) -> tuple[Memory, Output]:
        """``step`` by the laws in Python, which check every argument."""
        n = self.model.n
        if reference is None:
            if self.law != "gravity_compensation":
                raise ArrayError("reference", "is None", f"give {self.law} a desired motion")
            still = self.setting.compensation.still
            reference = Reference(still, still, still)
        wanted = Reference(
            vector("reference.q", reference.q, n),
            vector("reference.v", reference.v, n),
            vector("reference.a", reference.a, n),
            None if reference.jerk is None else vector("reference.jerk", reference.jerk, n),
        )
        if state is not None:
            state = State(vector("state.q", state.q, n), vector("state.v", state.v, n))
        elif self.law != "feedforward":
            raise ArrayError("state", "is None", f"give {self.law} a measured state")
        integral = vector("memory.integral", memory.integral, n) if self.integrating else None
        law, jerk = LAWS[self.law], wanted.jerk
        if reference.contact is not None:
            law, jerk = hybrid_law(self.law, self.model, self.command_type), None
            wanted = wanted._replace(contact=checked_contact(reference.contact, n))
        demand = law(self.setting, state, wanted, integral)
        result = output(self.drives, demand, None if state is None else state.v, jerk)
        refuse_overflow(result.command)
        if integral is not None and demand.error is not None:
            grown = integrate(
                integral,
                demand.error,
                duration(dt),
                self.bound,
                result.joint_torque,
                self.effort,
            )
            memory = Memory(grown)
        return memory, result

    def hold(self, posture: Array, q: Array | None = None, v: Array | None = None) -> Array:
        """Command that holds a posture, as of ``Controller``."""
        law, still = self.holding, self.setting.compensation.still
        if q is not None and v is None:
            refuse_state(q)
        if law is not None:
            at, rate = (posture, still) if q is None or v is None else (q, v)
            try:
                command = np.empty(self.effort.shape)
                if not kernels.control_law(*law, at, rate, posture, still, still, command):
                    return command
            except kernels.NOT_TAKEN:
                pass  # Python looks at the arguments
        return self.plain_hold(posture, q, v)

    def plain_hold(self, posture: Array, q: Array | None, v: Array | None) -> Array:
        """``hold`` by the law in Python, which checks every argument."""
        n = self.model.n
        target, state = vector("posture", posture, n), None
        if q is not None and v is not None:
            state = State(vector("q", q, n), vector("v", v, n))
        demand = hold(self.setting, state, target)
        return self.sent(self.drives, demand, None if state is None else state.v)

    def open_loop(self, q: Array, v: Array, a: Array) -> Array:
        """Command of a motion without feedback, as of ``Controller``."""
        n = self.model.n
        motion = Reference(vector("q", q, n), vector("v", v, n), vector("a", a, n))
        return self.sent(self.drives, feedforward(self.setting, None, motion), None)

    def decelerate(self, q: Array, v: Array, a: Array, rate: Array) -> Array:
        """Command of an acceleration from a state, not made to fit the motors' limits.

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            a: Joint acceleration (n,), with the complete mass matrix whatever is switched off.
            rate: Velocity at which friction is taken (n,).
        """
        n = self.model.n
        point = vector("q", q, n), vector("v", v, n), vector("a", a, n), vector("rate", rate, n)
        return self.sent(self.unclipped, decelerate(self.setting, *point), point[1])

    @staticmethod
    def sent(drives: OutputStage, demand: Demand, v: Array | None) -> Array:
        """The command for a law's demand at a measured velocity; None: at that of the demand."""
        command = output(drives, demand, v, None).command
        refuse_overflow(command)
        return command

    def term_torques(self, state: State | None, reference: Reference) -> TermTorques:
        """Each term's joint force where this law evaluates the model (n,) [N m or N].

        At the reference of ``feedforward`` and ``pd_plus_feedforward``, at the measured state
        of the others; friction as the law takes it. Terms that are switched off are included.

        Args:
            state: Measured state; None at the reference.
            reference: Wanted motion.
        """
        measured = state is not None and self.law not in {"feedforward", "pd_plus_feedforward"}
        q, v = (state.q, state.v) if measured and state is not None else reference[:2]
        by_state = state is not None and self.setting.rate == "measured" and self.law in CLOSED
        rate = state.v if by_state and state is not None else reference.v
        return term_torques(self.model, q, v, reference.a, rate=rate)


@renamed("side", "command_type")
def controller(
    model: GearedModel,
    law: str = "feedforward",
    *,
    gains: Gains | None = None,
    terms: Terms | None = None,
    command_type: CommandType = "joint_torque",
    saturation: Saturation = "each",
    friction_rate: Rate = "reference",
) -> RigidController:
    """Prepare a controller and run it once.

    Args:
        model: Geared model.
        law: ``feedforward``, ``computed_torque``, ``pd_plus_feedforward`` or
            ``gravity_compensation``.
        gains: Of the feedback; needed by ``computed_torque`` and ``pd_plus_feedforward``, not
            read by the others.
        terms: The switches; all on if not given.
        command_type: What commands are.
        saturation: How motor commands beyond the motors' limits are made to fit: ``each``
            motor by itself, all by one factor (``direction``), or not (``none``).
        friction_rate: Whether friction is that at the reference's velocity or the measured
            one, which chatters at standstill.

    Raises:
        UnknownNameError: for a law, command type or choice that there is none of.
        ArrayError: for gains that are missing, do not fit, or are of the wrong kind.
        ModelError: for motors that cannot turn every joint, or whose constants are missing.
    """
    require_model(model)
    choice("law", "law", law, LAWS)
    command_type = as_command_type("command_type", command_type)
    choice("saturation", "way to saturate", saturation, get_args(Saturation))
    choice("friction_rate", "velocity", friction_rate, get_args(Rate))
    if gains is None and law in CLOSED:
        remedy = "give gd.control.gains_from_bandwidth(...)"
        raise ArrayError("gains", f"are missing; the law {law!r} needs them", remedy)
    if gains is not None and not isinstance(gains, Gains):
        raise ArrayError("gains", f"are a {type(gains).__name__}", "give a gd.control.Gains")
    if law == "computed_torque" and gains is not None and gains.kind != "acceleration":
        finding = "are of kind 'torque', and computed_torque needs kind 'acceleration'"
        raise ArrayError("gains", finding, "use gd.control.gains_from_bandwidth(...)")
    given = compensation(model, terms)
    each = None if gains is None else gains.for_joints(model.n)
    closed = each if law in CLOSED else None
    setting = Setting(given, closed, turns(model), friction_rate)
    integrating = closed is not None and bool(np.any(closed.ki > 0.0))
    stage = drives(model, given.terms, command_type, saturation)
    prepared = RigidController(
        model=model,
        law=law,
        terms=given.terms,
        gains=closed,
        command_type=command_type,
        saturation=saturation,
        remade=partial(
            controller, model=model, law=law, gains=closed, terms=given.terms,
            command_type=command_type, saturation=saturation, friction_rate=friction_rate,
        ),
        setting=setting,
        drives=stage,
        unclipped=replace(stage, saturation="none", bounded=False),
        effort=model.limits.effort,
        integrating=integrating,
        bound=readonly(np.zeros(model.n)) if closed is None else integral_bound(closed),
        compiled=compiled_law(law, setting, command_type, integrating),
        holding=compiled_law("hold", setting, command_type, False),
    )  # fmt: skip
    still = given.still
    warm(prepared, [Reference(still, still, still, still), Reference(still, still, still)])
    return prepared
