"""What controllers are to the loop that runs them, and what those of all arms share.

A controller is a value: ``step`` has no effect but its result, ``with_...`` return new
controllers that are complete and have run once, so that a loop can exchange one for the other
between two cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

from geared_dynamics.actuation.command_type import CommandType
from geared_dynamics.arrays import Array
from geared_dynamics.checks import warn_former
from geared_dynamics.control.gains import Gains
from geared_dynamics.control.outputs import Saturation
from geared_dynamics.control.safety.memory import Brake
from geared_dynamics.control.terms import Memory, Output, Reference, Terms, TermTorques
from geared_dynamics.dynamics.state import State
from geared_dynamics.errors import ArrayError, ModelError
from geared_dynamics.model import GearedModel, require_model


class Instant(Protocol):
    """The reference at an instant, arrays (n,)."""

    @property
    def q(self) -> Array:
        """Joint position [rad or m]."""

    @property
    def v(self) -> Array:
        """Joint velocity."""

    @property
    def a(self) -> Array:
        """Joint acceleration."""


class Controller(Protocol):
    """A prepared law: ``controller`` makes one for rigid arms, ``elastic_controller`` for elastic.

    Positions and velocities of ``hold``, ``open_loop``, ``brake`` and ``state`` are those that
    joint states show: of the joints, or of the motors carried through the gears.
    """

    @property
    def model(self) -> GearedModel:
        """The model."""

    @property
    def command_type(self) -> CommandType:
        """What commands are: joint torque, motor torque, current or voltage."""

    @property
    def gains(self) -> Gains | None:
        """Gains of the feedback; None where the law has none."""

    @property
    def terms(self) -> Terms:
        """The switches."""

    @property
    def derivatives_needed(self) -> int:
        """Highest derivative of q that ``reference`` needs; 2: the instants alone do."""

    @property
    def brake(self) -> Brake:
        """How the arm is slowed down, for ``gd.control.safety.step``."""

    def start(self) -> Memory:
        """Memory before the first cycle."""

    def state(self, q: Array, v: Array) -> State:
        """State for ``step`` from what joint states show (n,)."""

    def reference(
        self, now: Instant, ahead: Instant, derivatives: Array | None = None
    ) -> Reference:
        """Reference for ``step`` from the motion now and at the instant of the command.

        Args:
            now: With which the measured state is compared.
            ahead: When the command acts.
            derivatives: q and its derivatives ``ahead``, up to ``derivatives_needed`` (k+1, n).
        """

    def step(
        self, memory: Memory, state: State | None, reference: Reference | None, dt: float
    ) -> tuple[Memory, Output]:
        """One cycle: the next memory, and what to send.

        Args:
            memory: Of the cycle before, or ``start()``.
            state: Measured state; laws without feedback do without (None).
            reference: Desired motion; ``gravity_compensation`` does without (None).
            dt: Time since the last cycle [s], which the integral grows by.

        Raises:
            ArrayError: for shapes that do not fit, NaN or infinity.
        """

    def hold(self, posture: Array, q: Array | None = None, v: Array | None = None) -> Array:
        """Command that holds a posture against gravity; without q and v by gravity alone.

        Laws that close the loop hold with their gains. For those that do not, something else
        does, and this is gravity's force at the measured position.

        Args:
            posture: Joint position to hold (n,) [rad or m].
            q: Measured position (n,), None where it is not known any more.
            v: Measured velocity (n,), None with q.
        """

    def open_loop(self, q: Array, v: Array, a: Array) -> Array:
        """Command of a motion without feedback.

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            a: Joint acceleration (n,).
        """

    def term_torques(self, state: State | None, reference: Reference) -> TermTorques | None:
        """Each term's joint force (n,) [N m or N]; None where terms cannot be separated."""

    def with_model(self, model: GearedModel) -> Controller:
        """The same controller for another model of the same joints, such as with a payload."""

    def with_gains(self, gains: Gains) -> Controller:
        """The same controller with other gains."""

    def with_terms(self, terms: Terms) -> Controller:
        """The same controller with other switches."""


Law = TypeVar("Law", bound="PreparedLaw")


@dataclass(frozen=True, eq=False)
class PreparedLaw:
    """What the controllers of rigid and of elastic arms share; see ``Controller``.

    Attributes:
        model: The model.
        law: Name of the law.
        terms: The switches.
        gains: Of the feedback, an entry for each joint; None for none.
        command_type: What commands are.
        saturation: How commands beyond the motors' limits are made to fit.
        remade: Makes the same controller with some of its arguments changed.
    """

    closed_laws: ClassVar[Sequence[str]]  # that have feedback

    model: GearedModel
    law: str
    terms: Terms
    gains: Gains | None
    command_type: CommandType
    saturation: Saturation
    remade: Callable[..., Any]

    def start(self) -> Memory:
        """Memory before the first cycle."""
        return Memory(np.zeros(self.model.n))

    def fallback(self, posture: Array, q: Array | None, v: Array | None) -> Array:
        """Former name of ``hold``."""
        return self.hold(posture, q, v)  # type: ignore[attr-defined,no-any-return]

    def nominal(self, q: Array, v: Array, a: Array) -> Array:
        """Former name of ``open_loop``, for one release."""
        warn_former("nominal", "open_loop")
        return self.open_loop(q, v, a)  # type: ignore[attr-defined,no-any-return]

    def with_model(self: Law, model: GearedModel) -> Law:
        """The same controller for another model of the same joints, such as with a payload.

        Args:
            model: Geared model with the same joints, elastic ones too.
        """
        require_model(model)
        if model.joint_names != self.model.joint_names:
            finding = f"has the joints {', '.join(model.joint_names)}"
            remedy = f"give one with {', '.join(self.model.joint_names)}, in this order"
            raise ModelError("model", finding, remedy)
        return cast("Law", self.remade(model=model))

    def with_gains(self: Law, gains: Gains) -> Law:
        """The same controller with other gains.

        Args:
            gains: The gains.
        """
        if self.law not in self.closed_laws:
            remedy = f"take {' or '.join(self.closed_laws)}"
            finding = f"are not read by {self.law}, which has no feedback"
            raise ArrayError("gains", finding, remedy)
        return cast("Law", self.remade(gains=gains))

    def with_terms(self: Law, terms: Terms) -> Law:
        """The same controller with other switches.

        Args:
            terms: The switches.
        """
        return cast("Law", self.remade(terms=terms))


def refuse_state(q: object) -> None:
    """Raise for the former arguments of ``hold``, which would else go by gravity alone."""
    if isinstance(q, tuple):
        raise ArrayError("hold", "takes no State", "call hold(posture, q, v)")


def warm(made: Controller, references: Sequence[Reference]) -> None:
    """Run every path of a cycle once, so that nothing is made or compiled in the first."""
    still = np.zeros(made.model.n)
    for reference in references:
        made.step(made.start(), made.state(still, still), reference, 0.0)
    made.hold(still, still, still)
    made.hold(still)
    made.open_loop(still, still, still)
    made.brake.command(still, still, still, still)
