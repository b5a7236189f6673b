"""The state of an arm and what its drives and sensors report: one order of these arrays."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.errors import ArrayError
from geared_dynamics.model import GearedModel

Function = TypeVar("Function", bound=Callable[..., Any])


class State(NamedTuple):
    """State of an arm at one instant, or at many (..., n).

    Attributes:
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,) [rad/s or m/s].
        theta: Motor-side position of the elastic joints (n_e,), reflected to the joints.
        vtheta: Its time derivative (n_e,).
        current: Current of each motor (m,) [A]. None stands for zero, and for motors that torques
            drive. Without inductance the current follows at once and is not read.
    """

    q: Array
    v: Array
    theta: Array | None = None
    vtheta: Array | None = None
    current: Array | None = None

    @property
    def x(self) -> Array:
        """Coordinates (q, theta) (..., n + n_e); q of a rigid arm."""
        return self.q if self.theta is None else np.concatenate([self.q, self.theta], axis=-1)

    @property
    def rate(self) -> Array:
        """Their velocity (v, vtheta) (..., n + n_e); v of a rigid arm."""
        return self.v if self.vtheta is None else np.concatenate([self.v, self.vtheta], axis=-1)


class Measurement(NamedTuple):
    """What drives and sensors report at one instant.

    None: there is no such sensor. NaN: the number is missing in this sample.

    Attributes:
        motor_angle: Encoder angle of each motor (m,) [rad], motor side, zeros as
            ``gd.motor_angles``.
        motor_torque: Electromagnetic torque at each rotor, mean since the sample before (m,)
            [N m]: the command, or k_t i of a measured current.
        link_position: Joint position by encoders on the links (n,) [rad or m].
        joint_torque: Torque of the springs on the links (n_e,) [N m or N].
        motor_speed: Speed of each rotor in its carrier (m,) [rad/s].
        link_velocity: Joint velocity by encoders on the links (n,).
        current: Current of each motor (m,) [A].
        voltage: Voltage of each motor (m,) [V].
        limited: Whether a limit of the motor was active since the sample before (m,).
        time: When the sample was taken [s].
    """

    motor_angle: Array
    motor_torque: Array
    link_position: Array | None = None
    joint_torque: Array | None = None
    motor_speed: Array | None = None
    link_velocity: Array | None = None
    current: Array | None = None
    voltage: Array | None = None
    limited: BoolArray | None = None
    time: float = math.nan

    def joint_state(self, model: GearedModel) -> State:
        """Joint position and velocity that the motors' encoders show, carried through the gears.

        Of an elastic joint this is the motor side of its spring. A joint that no motor determines
        is read from its own encoder, ``link_position`` and ``link_velocity``, and is zero without.

        Args:
            model: Geared model.
        """
        inverse, A = model.motor_map.inverse.T, model.structure_matrix
        if self.motor_speed is None:
            raise ArrayError("motor_speed", "is not measured", "give the rotors' speeds")
        angle = np.asarray(self.motor_angle) - model.motor_zeros
        own, own_rate = (
            np.zeros(model.n) if part is None else np.where(np.isfinite(part), part, 0.0)
            for part in (self.link_position, self.link_velocity)
        )
        q = own + inverse @ (angle - own @ A)
        v = own_rate + inverse @ (self.motor_speed - own_rate @ A)
        return State(np.asarray(q), np.asarray(v))


OLD_FIELDS = {
    "motor_position": "use motor_angle",
    "tau_m": "use motor_torque",
    "tau": "give the known force on the joints to the observer's step, known=...",
    "q": "use joint_state(model).q",
    "v": "use joint_state(model).v",
    "effort": "use model.structure_matrix @ motor_torque",
}


new_measurement = Measurement.__new__


def checked_measurement(cls: type[Measurement], *values: Any, **named: Any) -> Measurement:
    """Make a measurement; an old field's name raises an error that names the new one."""
    try:
        return new_measurement(cls, *values, **named)
    except TypeError:
        for name in named.keys() & OLD_FIELDS.keys():
            raise ArrayError(name, "is not a field of a measurement", OLD_FIELDS[name]) from None
        raise


def unknown_field(measurement: Measurement, name: str) -> NoReturn:
    """Raise for a name that a measurement does not have; an old name's error has the new one."""
    remedy = OLD_FIELDS.get(name, f"it has {', '.join(measurement._fields)}")
    raise AttributeError(f"Measurement has no {name!r}: {remedy}", name=name, obj=measurement)


# A class of ``NamedTuple`` takes neither of the two in its body.
setattr(Measurement, "__new__", checked_measurement)  # noqa: B010
setattr(Measurement, "__getattr__", unknown_field)  # noqa: B010


def takes_state(function: Function) -> Function:
    """Make a function raise where its second argument is no ``State``, and name the new call.

    The check is by type: with all joints elastic q, theta, v and vtheta have one shape, and arrays
    in another order would give wrong numbers.
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        given = args[1] if len(args) > 1 else kwargs.get("state")
        if not isinstance(given, State):
            require_state(given, function.__name__, list(inspect.signature(function).parameters))
        return function(*args, **kwargs)

    return cast("Function", checked)


def require_state(state: object, function: str, arguments: Sequence[str] = ()) -> None:
    """Raise for what is no ``State``.

    Args:
        state: What was given.
        function: To which function.
        arguments: The names of its arguments.
    """
    if not isinstance(state, State):
        finding = f"is of type {type(state).__name__}, not a gd.State"
        if state is None:
            finding = "is missing: positions and velocities are given together as one gd.State"
        call = f"{function}({', '.join(arguments) or 'model, state, ...'})"
        raise ArrayError("state", finding, f"call {call} with gd.State(q, v, theta, vtheta)")


def replaced(old: str, new: str) -> Callable[..., NoReturn]:
    """Return a function under an old name whose call raises and names the new one.

    Args:
        old: The old public name.
        new: What to write now.
    """

    def refuse(*_: object, **__: object) -> NoReturn:
        raise ArrayError(old, "has a new name or a new order of arguments", f"write {new}")

    refuse.__name__ = refuse.__qualname__ = old.rpartition(".")[2]
    refuse.__doc__ = f"Raise: write {new}."
    return refuse
