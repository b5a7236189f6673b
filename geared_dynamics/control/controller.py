"""A controller for rigid arms: model, law, gains, switches and output, prepared once.

A value: ``step`` has no effect but its result, ``with_...`` return new controllers that are
complete and have run once, so that a loop can exchange one for the other between two cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.control.gains import Gains
from geared_dynamics.control.laws import (
    CLOSED,
    LAWS,
    CompiledLaw,
    Rate,
    Setting,
    compiled_command,
    compiled_law,
    decelerate,
    feedforward,
    hold,
    integral_bound,
    integrate,
    turns,
)
from geared_dynamics.control.outputs import (
    NOTHING,
    OutputStage,
    Saturation,
    drives,
    efforts,
    output,
)
from geared_dynamics.control.safety.memory import Brake
from geared_dynamics.control.terms import (
    Memory,
    Output,
    Reference,
    Side,
    Terms,
    TermTorques,
    choice,
    compensation,
    duration,
    refuse_overflow,
    term_torques,
    vector,
)
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, require_model


@dataclass(frozen=True, eq=False)
class Controller:
    """Control of a rigid arm; made by ``controller``.

    Attributes:
        model: The model.
        law: Name of the law.
        setting: Prepared model, gains, continuous joints.
        drives: The output side.
        unclipped: The same without the motors' limits.
        effort: Joint force at which the integral stops growing (n,), infinite for none.
        integrating: Whether the gains have an integral part.
        bound: Largest integral of the error (n,) [rad s or m s].
        compiled: The law as one compiled call, None where only Python has it.
    """

    model: GearedModel
    law: str
    setting: Setting
    drives: OutputStage
    unclipped: OutputStage
    effort: Array
    integrating: bool
    bound: Array
    compiled: CompiledLaw | None

    @property
    def side(self) -> Side:
        """What commands are: joint torque, motor torque, current or voltage."""
        return self.drives.side

    @property
    def gains(self) -> Gains | None:
        """The gains, an entry for each joint."""
        return self.setting.gains

    @property
    def terms(self) -> Terms:
        """The switches."""
        return self.setting.given.terms

    def start(self) -> Memory:
        """Memory before the first cycle."""
        return Memory(np.zeros(self.model.n))

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
        compiled = self.compiled
        if compiled is not None and state is not None and reference is not None:
            command = compiled_command(compiled, state, reference)
            if command is not None:
                return memory, Output(command, command, NOTHING)
        return self.plain_step(memory, state, reference, dt)

    def plain_step(
        self, memory: Memory, state: State | None, reference: Reference | None, dt: float
    ) -> tuple[Memory, Output]:
        """``step`` by the laws in Python, which check every argument."""
        n = self.model.n
        if reference is None:
            if self.law != "gravity_compensation":
                raise ArrayError("reference", "is None", f"give {self.law} a wanted motion")
            reference = Reference(*[self.setting.given.still] * 3)
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
        demand = LAWS[self.law](self.setting, state, wanted, integral)
        result = output(self.drives, demand, None if state is None else state.v, wanted.jerk)
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

    def hold(self, posture: Array, state: State | None) -> Output:
        """Hold a posture against gravity; without a state by gravity's force there alone.

        Laws that close the loop hold with their gains. For those that do not, something else
        does, and this is gravity's force at the measured position.

        Args:
            posture: Joint position to hold (n,) [rad or m].
            state: Measured state, or None where it is not known any more.
        """
        n = self.model.n
        where = vector("posture", posture, n)
        if state is not None:
            state = State(vector("state.q", state.q, n), vector("state.v", state.v, n))
        found = hold(self.setting, state, where)
        result = output(self.drives, found, None if state is None else state.v, None)
        refuse_overflow(result.command)
        return result

    def fallback(self, posture: Array, q: Array | None, v: Array | None) -> Array:
        """The command of ``hold``, in the form that ``gd.control.safety.step`` calls.

        Args:
            posture: Joint position to hold (n,).
            q: Measured position (n,), or None.
            v: Measured velocity (n,), or None.
        """
        state = None if q is None or v is None else State(q, v)
        return self.hold(posture, state).command

    def nominal(self, q: Array, v: Array, a: Array) -> Array:
        """Command of a motion without feedback, for ``gd.control.safety.step`` to brake with.

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            a: Joint acceleration (n,).
        """
        n = self.model.n
        motion = Reference(vector("q", q, n), vector("v", v, n), vector("a", a, n))
        result = output(self.drives, feedforward(self.setting, None, motion), None, None)
        refuse_overflow(result.command)
        return result.command

    @property
    def brake(self) -> Brake:
        """How the arm is slowed down, for ``gd.control.safety.step``."""
        return Brake(self.decelerate, closed=True)

    def decelerate(self, q: Array, v: Array, a: Array, rate: Array) -> Array:
        """Command of an acceleration from a state, not made to fit the motors' limits.

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            a: Joint acceleration (n,), with the complete mass matrix whatever is switched off.
            rate: Velocity at which friction is taken (n,).
        """
        n = self.model.n
        state, wanted = (vector("q", q, n), vector("v", v, n)), vector("a", a, n)
        found = decelerate(self.setting, *state, wanted, vector("rate", rate, n))
        result = output(self.unclipped, found, state[1], None)
        refuse_overflow(result.command)
        return result.command

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

    def with_model(self, model: GearedModel) -> Controller:
        """The same controller for another model of the same joints, such as with a payload.

        Args:
            model: Geared model with the same joints.
        """
        require_model(model)
        if model.joint_names != self.model.joint_names:
            finding = f"has the joints {', '.join(model.joint_names)}"
            remedy = f"give one with {', '.join(self.model.joint_names)}, in this order"
            raise ModelError("model", finding, remedy)
        return self._again(model=model)

    def with_gains(self, gains: Gains) -> Controller:
        """The same controller with other gains.

        Args:
            gains: The gains.
        """
        if self.law not in CLOSED:
            remedy = f"take {' or '.join(CLOSED)}"
            raise ArrayError("gains", f"are not read by {self.law}, which has no feedback", remedy)
        return self._again(gains=gains)

    def with_terms(self, terms: Terms) -> Controller:
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
    ) -> Controller:
        return controller(
            self.model if model is None else model,
            law=self.law,
            gains=self.gains if gains is None else gains,
            terms=self.terms if terms is None else terms,
            side=self.side,
            saturation=self.drives.saturation,
            friction_rate=self.setting.rate,
        )


def controller(
    model: GearedModel,
    law: str = "feedforward",
    *,
    gains: Gains | None = None,
    terms: Terms | None = None,
    side: Side = "joint_torque",
    saturation: Saturation = "each",
    friction_rate: Rate = "reference",
) -> Controller:
    """Prepare a controller and run it once.

    Args:
        model: Geared model.
        law: ``feedforward``, ``computed_torque``, ``pd_plus_feedforward`` or
            ``gravity_compensation``.
        gains: Of the feedback; needed by ``computed_torque`` and ``pd_plus_feedforward``, not
            read by the others.
        terms: The switches; all on if not given.
        side: What commands are.
        saturation: How motor commands beyond the motors' limits are made to fit: ``each``
            motor by itself, all by one factor (``direction``), or not (``none``).
        friction_rate: Whether friction is that at the reference's velocity or the measured
            one, which chatters at standstill.

    Raises:
        UnknownNameError: for a law, side or choice that there is none of.
        ArrayError: for gains that are missing, do not fit, or are of the wrong kind.
        ModelError: for motors that cannot turn every joint, or whose constants are missing.
    """
    require_model(model)
    choice("law", "law", law, LAWS)
    choice("side", "side", side, get_args(Side))
    choice("saturation", "way to saturate", saturation, get_args(Saturation))
    choice("friction_rate", "velocity", friction_rate, get_args(Rate))
    if gains is None and law in CLOSED:
        remedy = "give gd.control.gains_from_bandwidth(...)"
        raise ArrayError("gains", f"are missing for {law}", remedy)
    if gains is not None and not isinstance(gains, Gains):
        raise ArrayError("gains", f"are a {type(gains).__name__}", "give a gd.control.Gains")
    if law == "computed_torque" and gains is not None and gains.kind != "acceleration":
        finding = "are of forces; computed_torque feeds accelerations back"
        raise ArrayError("gains", finding, "give gains of kind 'acceleration'")
    given = compensation(model, terms)
    each = None if gains is None else gains.for_joints(model.n)
    closed = each if law in CLOSED else None
    setting = Setting(given, closed, turns(model), friction_rate)
    integrating = closed is not None and bool(np.any(closed.ki > 0.0))
    side_of = drives(model, given.terms, side, saturation)
    made = Controller(
        model=model,
        law=law,
        setting=setting,
        drives=side_of,
        unclipped=replace(side_of, saturation="none", bounded=False),
        effort=efforts(model),
        integrating=integrating,
        bound=readonly(np.zeros(model.n)) if closed is None else integral_bound(closed),
        compiled=compiled_law(law, setting, side, integrating),
    )
    warm(made)
    return made


def warm(made: Controller) -> None:
    """Run every path of a cycle once, so that nothing is made or compiled in the first."""
    still = np.zeros(made.model.n)
    state, reference = State(still, still), Reference(still, still, still, still)
    made.step(made.start(), state, reference, 0.0)
    made.step(made.start(), state, replace_jerk(reference), 0.0)
    made.hold(still, state)
    made.hold(still, None)
    made.nominal(still, still, still)
    made.decelerate(still, still, still, still)


def replace_jerk(reference: Reference) -> Reference:
    """The reference without a jerk."""
    return reference._replace(jerk=None)
