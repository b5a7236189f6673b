"""The arm and linear actuators as one system x' = C_hat(x) + D_hat(x) u.

The load torques M of the actuators and the joint accelerations follow together from

    A M = H a + h,   H = M_arm - A J A'        the arm; the actuators hold J
    A' a = T x',     x' = C x + F M + D u      the shafts, phi'' = T x'

which with as many shafts as joints is Vukobratovic 2002, eq. (20.79)-(20.82), for a transmission
A; D_hat is D + F (E - HTF)^-1 H T D there, one F more than printed. Joint friction, smooth
in the rate, springs and gravity are part of h. Gears that lose are not linear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.driven_dynamics import refuse_losses, windings
from geared_dynamics.actuation.friction_elements import ArmAtState, plant_at, warn_if_elastic
from geared_dynamics.arrays import Array, ArrayLike, Frozen, readonly
from geared_dynamics.dynamics.arguments import (
    as_numbers,
    check_finite,
    check_results,
    joint_inputs,
    motor_inputs,
    one_driven_state,
    real_number,
)
from geared_dynamics.dynamics.drives import motor_angles, motor_shares, motor_speeds
from geared_dynamics.errors import ArrayError, ModelError, UnknownNameError
from geared_dynamics.model import GearedModel, require_model

# -- Actuators with a linear model of their own, whatever they are made of ------------------------
#
#     x' = C x + f M + d u,   |u| <= u_max       one actuator, M the torque it gives
#     phi = angle x, phi' = speed x              its shaft, relative to what carries it
#
# The shaft turns a motor's wheel of the model. The actuator holds the inertia of that
# wheel's own spin, J = -1 / (speed f); the arm keeps its coupling to the carrier:
#
#     A M = (M_arm - A J A') a + h,   a from phi'' = A' a
#
# Vukobratovic 2002, eq. (20.74)-(20.82), with a transmission and D_hat = D + F (E - HTF)^-1 H T D.


ROUNDING = 1e-9  # relative


@dataclass(frozen=True, eq=False)
class LinearActuator(Frozen):
    """x' = C x + f M + d u with k states, one input and a shaft.

    Attributes:
        C: (k, k).
        f: Effect of the load torque M [N m] (k,).
        d: Effect of the input u (k,).
        angle: Shaft angle phi = angle x (k,) [rad], motor side.
        speed: Shaft speed phi' = speed x (k,) [rad/s]; follows from C and ``angle``, and
            both must agree.
        limit: Largest |u|, infinite where there is none.
    """

    C: Array
    f: Array
    d: Array
    angle: Array
    speed: Array
    limit: float = float("inf")

    def __post_init__(self) -> None:
        """Copy the arrays read-only and check that they describe a shaft."""
        matrix = readonly(finite_numbers("C", self.C))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ArrayError("C", f"has shape {matrix.shape}", "give a square matrix")
        object.__setattr__(self, "C", matrix)
        for name in ("f", "d", "angle", "speed"):
            row = readonly(finite_numbers(name, getattr(self, name)))
            if row.shape != (self.order,):
                raise ArrayError(name, f"has shape {row.shape}", f"give {self.order} numbers")
            object.__setattr__(self, name, row)
        limit = real_number("limit", self.limit, "give the largest |u|, above 0", lambda x: x > 0)
        object.__setattr__(self, "limit", limit)
        self._check_shaft()

    @property
    def order(self) -> int:
        """Number of states k."""
        return len(self.C)

    @property
    def inertia(self) -> float:
        """J = -1 / (speed f) [kg m^2]: what the load torque accelerates."""
        return float(-1.0 / (self.speed @ self.f))

    def _check_shaft(self) -> None:
        """Refuse a speed that is not the angle's rate, and a shaft without inertia."""
        rate, size = self.angle @ self.C, np.abs(self.angle) @ np.abs(self.C)
        wrong = np.abs(rate - self.speed) > ROUNDING * (size + np.abs(self.speed))
        effects = np.stack([self.f, self.d], axis=1)
        kicks, terms = self.angle @ effects, np.abs(self.angle) @ np.abs(effects)
        if np.any(wrong) or np.any(np.abs(kicks) > ROUNDING * terms):
            finding = "does not equal the time derivative of the angle, angle (C x + f M + d u)"
            raise ArrayError(
                "speed", finding, "set speed to angle C, and let angle f and angle d be zero"
            )
        if not float(self.speed @ self.f) < 0.0:
            finding = "leaves the motor shaft without inertia: speed f is not below 0"
            raise ArrayError("f", finding, "set f to -1/J in the row of the motor speed")


def finite_numbers(name: str, value: ArrayLike) -> Array:
    """Convert to finite float64."""
    array = as_numbers(name, value, "give real numbers")
    check_finite(name, array)
    return array


def shaft_motor(
    inertia: float, damping: float, torque: ArrayLike, drag: ArrayLike, decay: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """C, f, angle and speed of a shaft with k further states z.

    phi'' = (torque z - damping phi' - M) / J,   z' = -drag phi' + decay z

    Args:
        inertia: J [kg m^2].
        damping: Viscous friction [N m s/rad].
        torque: Torque per z (k,).
        drag: What the speed takes from z' (k,).
        decay: (k, k).
    """
    pull, back = np.atleast_1d(np.asarray(torque, float)), np.atleast_1d(np.asarray(drag, float))
    k = len(pull)
    C, f = np.zeros((2 + k, 2 + k)), np.zeros(2 + k)
    C[0, 1] = 1.0
    C[1, 1], C[1, 2:] = -damping / inertia, pull / inertia
    C[2:, 1], C[2:, 2:] = -back, np.reshape(decay, (k, k))
    f[1] = -1.0 / inertia
    angle, speed = np.eye(2 + k)[:2]
    return C, f, angle, speed


# -- The arm and linear actuators as one system x' = C_hat(x) + D_hat(x) u ------------------------


SAME = 1e-9  # relative difference of two inertias that are the same


class StateTerms(NamedTuple):
    """x' = drift + input u.

    Attributes:
        drift: C_hat (N,).
        input: D_hat (N, m).
    """

    drift: Array
    input: Array


class CombinedSystem:
    """An arm with a linear actuator on every motor; build it with ``combine_actuators``.

    The state x (N,) is that of the actuators one after the other, motors in the model's
    order. It contains the arm's: the shafts' angles and speeds are those of the rotors.

    Attributes:
        model: The arm.
        actuators: One a motor.
        C: Block diagonal (N, N).
        F: Block diagonal (N, m).
        D: Block diagonal (N, m).
        T: phi'' = T x' (m, N).
        limits: Largest |u| (m,).
    """

    def __init__(self, model: GearedModel, actuators: tuple[LinearActuator, ...]) -> None:
        """Lay the blocks out; ``combine_actuators`` checks first."""
        self.model = model
        self.actuators = actuators
        ends = np.cumsum([actuator.order for actuator in actuators])
        self.parts = tuple(
            slice(int(end) - actuator.order, int(end))
            for end, actuator in zip(ends, actuators, strict=True)
        )
        m, size = len(actuators), int(ends[-1])
        C, F, D = np.zeros((size, size)), np.zeros((size, m)), np.zeros((size, m))
        T, angle = np.zeros((m, size)), np.zeros((m, size))
        for k, (part, actuator) in enumerate(zip(self.parts, actuators, strict=True)):
            C[part, part] = actuator.C
            F[part, k], D[part, k] = actuator.f, actuator.d
            T[k, part], angle[k, part] = actuator.speed, actuator.angle
        self.C, self.F, self.D, self.T = (readonly(matrix) for matrix in (C, F, D, T))
        self.angle = readonly(angle)
        self.limits = readonly([actuator.limit for actuator in actuators])

    @np.errstate(over="ignore", invalid="ignore")
    def joints(self, x: ArrayLike) -> tuple[Array, Array]:
        """Joint position and velocity (n,) of a state."""
        state = self._state(x)
        shares = motor_shares(self.model)
        phi = self.angle @ state - self.model.motor_zeros
        q, v = np.asarray(shares @ phi), np.asarray(shares @ (self.T @ state))
        check_results({"x": state}, q, v)
        return q, v

    def state(self, q: ArrayLike, v: ArrayLike, rest: ArrayLike | None = None) -> Array:
        """State with the shafts where the joints put them (N,).

        Args:
            q: Joint position (n,) [rad or m].
            v: Joint velocity (n,).
            rest: A state from which to take what angle and speed leave open; zero where
                not given.
        """
        one_driven_state(joint_inputs(self.model, q=q, v=v))
        size = self.C.shape[0]
        base = np.zeros(size) if rest is None else self._state(rest)
        rows = np.concatenate([self.angle, self.T])
        wanted = np.concatenate([motor_angles(self.model, q), motor_speeds(self.model, v)])
        return np.asarray(base + np.linalg.pinv(rows) @ (wanted - rows @ base))

    @np.errstate(over="ignore", invalid="ignore")
    def terms(self, x: ArrayLike, external: ArrayLike | None = None) -> StateTerms:
        """C_hat and D_hat of x' = C_hat + D_hat u, before saturation.

        Args:
            x: State (N,).
            external: Joint force from outside (n,) [N m or N].
        """
        state = self._state(x)
        drift, gain = self.C @ state, self.D
        solved = self._load(state, external, np.column_stack([drift, gain]))
        result = StateTerms(drift + self.F @ solved[:, 0], gain + self.F @ solved[:, 1:])
        given = joint_inputs(self.model, external=external) | {"x": state}
        check_results(given, *result)
        return result

    @np.errstate(over="ignore", invalid="ignore")
    def rates(self, x: ArrayLike, u: ArrayLike, external: ArrayLike | None = None) -> Array:
        """X' (N,) with inputs u (m,), clipped to their limits.

        Args:
            x: State (N,).
            u: Inputs (m,).
            external: Joint force from outside (n,) [N m or N].
        """
        (given,) = one_driven_state(motor_inputs(self.model, u=u))
        drift, gain = self.terms(x, external)
        result = np.asarray(drift + gain @ np.clip(given, -self.limits, self.limits))
        check_results({"x": self._state(x), "u": given}, result)
        return result

    @np.errstate(over="ignore", invalid="ignore")
    def acceleration(self, x: ArrayLike, u: ArrayLike) -> Array:
        """Joint acceleration (n,) that the inputs give."""
        result = np.asarray(motor_shares(self.model) @ (self.T @ self.rates(x, u)))
        inputs = {"x": self._state(x)} | motor_inputs(self.model, u=u)
        check_results(inputs, result)
        return result

    def _state(self, x: ArrayLike) -> Array:
        state = finite_numbers("x", x)
        if state.shape != (len(self.C),):
            raise ArrayError("x", f"has shape {state.shape}", f"give {len(self.C)} numbers")
        return state

    def _load(self, x: Array, external: ArrayLike | None, free: Array) -> Array:
        """Load torques M (m, 1 + m): of the state, and per input; ``free`` is x' without them."""
        q, v = self.joints(x)
        (outside,) = one_driven_state(joint_inputs(self.model, external=external))
        plant = plant_at(self.model, q, v, outside)
        n, m = plant.structure.shape
        matrix, right = np.zeros((n + m, n + m)), np.zeros((n + m, 1 + m))
        matrix[:n, :n] = -arm_inertia(self.model, plant)
        matrix[:n, n:] = plant.structure
        matrix[n:, :n], matrix[n:, n:] = -plant.structure.T, self.T @ self.F
        right[:n, 0] = plant.free + plant.joint_base
        right[n:] = -self.T @ free
        return np.asarray(np.linalg.solve(matrix, right)[n:])


def arm_inertia(model: GearedModel, plant: ArmAtState) -> Array:
    """H = M - A J A': the mass matrix without the rotors' own spin (n, n)."""
    A = plant.structure
    return np.asarray(plant.mass - (A * rotor_spin(model)) @ A.T)


def rotor_spin(model: GearedModel) -> Array:
    """Spin inertia of the rotors that the mass matrix contains (m,) [kg m^2]."""
    count = len(model.motor_names)
    return np.zeros(count) if model.coupling == "none" else model.J[model.motor_wheel]


def combine_actuators(
    model: GearedModel, actuators: Mapping[str, LinearActuator]
) -> CombinedSystem:
    """The arm with a linear actuator on each of its motors.

    What the model says of its motors' electrics and friction is not used: the actuators say
    it. Each must have the inertia of the wheel it turns; with the coupling ``none`` the mass
    matrix has none of it, and the actuators bring their own.

    Args:
        model: Geared model.
        actuators: By the motor's name.

    Raises:
        ModelError: naming the motor whose gear loses, whose actuator has another inertia
            than its wheel, or the joint whose friction depends on the load.
        UnknownNameError: for an actuator without motor, or a motor without actuator.
    """
    require_model(model)
    warn_if_elastic(model, "combine_actuators")
    if not isinstance(actuators, Mapping):
        finding = f"is a {type(actuators).__name__}"
        raise ArrayError("actuators", finding, "give a mapping of motor to LinearActuator")
    for name, actuator in actuators.items():
        if not isinstance(actuator, LinearActuator):
            finding = f"is a {type(actuator).__name__}"
            raise ArrayError(f"actuators[{name!r}]", finding, "give a LinearActuator")
        if name not in model.motor_names:
            raise UnknownNameError("actuators", "motor", name, model.motor_names)
    for name in model.motor_names:
        if name not in actuators:
            raise UnknownNameError("actuators", "actuator for motor", name, actuators)
    motor_shares(model)
    refuse_losses(model, rotors=False)
    ordered = tuple(actuators[name] for name in model.motor_names)
    for name, actuator, inertia in zip(model.motor_names, ordered, rotor_spin(model), strict=True):
        if model.coupling != "none" and abs(actuator.inertia - inertia) > SAME * inertia:
            place = f"actuators[{name!r}].f"
            finding = f"has inertia {actuator.inertia:g}, its wheel {inertia:g} kg m^2"
            raise ModelError(place, finding, "give both the same inertia")
    return CombinedSystem(model, ordered)


def dc_actuator(model: GearedModel, motor: str) -> LinearActuator:
    """A motor of the model as a linear actuator: x = (phi, phi', i), or (phi, phi') for L = 0.

    The input is its voltage, limited as the model says.

    Args:
        model: Geared model.
        motor: The motor's name.

    Raises:
        ModelError: where a constant is not given, the rotor has no inertia, or friction
            that is more than viscous.

    References:
        Vukobratovic 2002, eq. (20.65) and (20.67), corrected.
    """
    require_model(model)
    if motor not in model.motor_names:
        raise UnknownNameError("motor", "motor", motor, model.motor_names)
    r = model.motor_names.index(motor)
    R, L, k, e = (float(column[0]) for column in windings(model, r))
    damping, J = viscous_friction(model, r), float(model.J[model.motor_wheel[r]])
    if J <= 0.0:
        place = f"{model.drivetrain_source}, motors.{motor}.wheel"
        raise ModelError(
            place, "has no inertia", "add the wheel's inertia, which this actuator needs"
        )
    if L > 0.0:
        C, f, angle, speed = shaft_motor(J, damping, [k], [e / L], [[-R / L]])
        d = np.array([0.0, 0.0, 1.0 / L])
    else:
        C, f, angle, speed = shaft_motor(J, damping + k * e / R, [], [], np.zeros((0, 0)))
        d = np.array([0.0, k / (R * J)])
    limit = float(model.motors.limits[r, 0])
    return LinearActuator(C, f, d, angle, speed, limit)


def viscous_friction(model: GearedModel, r: int) -> float:
    """Viscous friction of rotor r; anything else is refused."""
    laws = model.motors.friction
    for k in np.flatnonzero(laws.index == r):
        rest = (laws.coulomb[k], laws.static[k], laws.load[k], laws.offset[k])
        if np.any(np.hstack(rest)) or np.any(laws.ripple[:, 0] == k):
            place = f"{model.drivetrain_source}, motors.{model.motor_names[r]}.friction"
            finding = "is not only viscous, and a linear actuator supports viscous friction alone"
            raise ModelError(place, finding, "use driven_rates, or remove the other fields")
        return float(laws.viscous[k])
    return 0.0
