"""The dynamics with chosen terms, prepared so that a cycle needs one or two recursions.

With N, D, X the inverse dynamics of the coupling variants ``none``, ``diagonal`` and the
model's own,

    gravity         N(q, 0, 0) - balancers
    coriolis        N(q, v, 0) - N(q, 0, 0)
    inertia         N(q, 0, a) - N(q, 0, 0)
    rotor inertia   D(q, v, a) - N(q, v, a) = diag(Gamma' J Gamma) a
    rotor coupling  X(q, v, a) - D(q, v, a)

add up to X(q, v, a) - balancers. A model without gravity (N0, X0) drops the first; what is
missing of the second and third is N0 with v or a, subtracted from X where the coupling is
wanted and left out of N where it is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike, IntArray, readonly
from geared_dynamics.checks import flag
from geared_dynamics.dynamics.arguments import FLOAT, as_input, as_numbers, check_finite
from geared_dynamics.dynamics.drives import balancer_forces, friction_forces
from geared_dynamics.dynamics.rigid import gravity_forces, inverse_dynamics
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.model import GearedModel, require_model

# -- What goes into a control cycle and what comes out; arrays in the model's joint order ---------


class DesiredContact(NamedTuple):
    """What the environment shall exert at one state; made by ``desired_contact``.

    Attributes:
        force: Joint force of what it shall exert on the arm, Q_d (n,) [N m or N].
        jacobian: ds/dq of the constrained coordinates (m, n), along which feedback does nothing.
        drift: Their s'' at a = 0 (m,).
    """

    force: Array
    jacobian: Array
    drift: Array


class Reference(NamedTuple):
    """Wanted motion at the instant of the command.

    Attributes:
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,).
        jerk: Its derivative (n,), for L di/dt of motors; without it currents count as steady.
        derivatives: q and its time derivatives (k+1, n), for elastic arms.
        contact: What the environment shall exert; None where the arm touches nothing.
    """

    q: Array
    v: Array
    a: Array
    jerk: Array | None = None
    derivatives: Array | None = None
    contact: DesiredContact | None = None


class Memory(NamedTuple):
    """What a law remembers from cycle to cycle.

    Attributes:
        integral: Time integral of the position error (n,) [rad s or m s].
    """

    integral: Array


class Output(NamedTuple):
    """Result of a control cycle.

    Attributes:
        command: What to send (n,) or (m,), in the controller's ``command_type``.
        joint_torque: Joint force that the law asks for (n,) [N m or N], joint side.
        exceeded: Limits that the command exceeded before it was made to fit (m,),
            ``gd.Limit`` as integers; empty on the joint side.
    """

    command: Array
    joint_torque: Array
    exceeded: IntArray

    def blended(self, other: Output, share: float) -> Output:
        """A share of this output, the rest of another."""
        command = share * self.command + (1.0 - share) * other.command
        torque = share * self.joint_torque + (1.0 - share) * other.joint_torque
        return self._replace(command=command, joint_torque=torque)


# -- Which terms of the dynamics a controller adds ------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """Switches, one for each term; off where the robot itself adds that term already.

    Attributes:
        use_gravity_compensation: g(q), less what balancers carry.
        use_coriolis_compensation: C(q, v) v of the links with their wheels locked.
        use_inertia_feedforward: M_locked(q) a.
        use_rotor_inertia: diag(Gamma' J Gamma) a, the usual armature.
        use_rotor_coupling: The wheels' other spin terms: the rest of Gamma' J Gamma,
            Gamma' J Z + Z' J Gamma, and their Coriolis forces.
        use_friction: Friction of the joints; on the motor side also that of the rotors.
    """

    use_gravity_compensation: bool = True
    use_coriolis_compensation: bool = True
    use_inertia_feedforward: bool = True
    use_rotor_inertia: bool = True
    use_rotor_coupling: bool = True
    use_friction: bool = True

    def __post_init__(self) -> None:
        """Refuse what is neither true nor false."""
        for field in fields(self):
            flag(f"terms.{field.name}", getattr(self, field.name))


class TermTorques(NamedTuple):
    """Each term's joint force (n,) [N m or N], joint side; their sum is the complete force.

    Attributes:
        gravity: See ``Terms`` for all of them.
        coriolis: As ``use_coriolis_compensation``.
        inertia: As ``use_inertia_feedforward``.
        rotor_inertia: As ``use_rotor_inertia``.
        rotor_coupling: As ``use_rotor_coupling``.
        friction: As ``use_friction``.
    """

    gravity: Array
    coriolis: Array
    inertia: Array
    rotor_inertia: Array
    rotor_coupling: Array
    friction: Array


# -- Checks of a control cycle's arguments, cheap where nothing is wrong --------------------------


def numbers(name: str, value: ArrayLike, n: int) -> Array:
    """Return one state's numbers as float64 (n,); any may be NaN or infinite."""
    if type(value) is np.ndarray and value.shape == (n,) and value.dtype is FLOAT:
        return value
    array = as_input(name, value, n)
    if array.ndim != 1:
        raise ArrayError(name, f"has shape {array.shape}", f"give one state ({n},)")
    return array


def vector(name: str, value: ArrayLike, n: int) -> Array:
    """Return one state's numbers as finite float64 (n,)."""
    array = numbers(name, value, n)
    if not finite(array):
        check_finite(name, array)
    return array


def derivatives_of(reference: Reference, order: int) -> Array:
    """Return a desired motion's q and derivatives (k + 1, n); more than ``order`` may be given."""
    place, remedy = "reference.derivatives", f"give q and its derivatives up to order {order}"
    if reference.derivatives is None:
        raise ArrayError(place, "are not given", remedy)
    path = as_numbers(place, reference.derivatives, f"{remedy}, a row each")
    if path.ndim != 2:
        raise ArrayError(place, f"have shape {path.shape}", f"{remedy}, a row each")
    return path


def finite(values: Array) -> bool:
    """Whether a few numbers are finite: NaN and infinity stay in a sum."""
    return math.isfinite(sum(values.tolist()))


def duration(dt: object) -> float:
    """Return the length of a cycle [s], which is not negative."""
    try:
        length = float(dt)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        length = math.nan
    if not 0.0 <= length < math.inf:
        raise ArrayError("dt", f"is {shown(dt)}", "give a time of at least zero [s]")
    return length


def refuse_overflow(command: Array) -> None:
    """Refuse a command of finite inputs that is none; nothing physical is that large."""
    if not finite(command):
        raise ArrayError("command", "overflows", "use SI units")


# -- The dynamics with chosen terms, prepared so that a cycle needs one or two recursions ---------


@dataclass(frozen=True, eq=False)
class Recursion:
    """One inverse dynamics: of which model, and whether with v and with a."""

    model: GearedModel
    with_v: bool
    with_a: bool


@dataclass(frozen=True, eq=False)
class Compensation:
    """A model with chosen terms; made by ``compensation``.

    Attributes:
        model: The complete model.
        terms: The switches.
        whole: Recursion whose force is taken, or None.
        missing: Recursion whose force is subtracted, or None.
        armature: What times a is added (n,), or None.
        floating: The model without gravity: M(q) a = inverse dynamics at v = 0.
        still: Zeros (n,).
        balanced: Whether balancers count.
        loaded: Whether joint friction depends on the load.
        accelerating: Whether all terms with a are on, so that the whole mass matrix counts.
    """

    model: GearedModel
    terms: Terms
    whole: Recursion | None
    missing: Recursion | None
    armature: Array | None
    floating: GearedModel
    still: Array
    balanced: bool
    loaded: bool
    accelerating: bool


def compensation(model: GearedModel, terms: Terms | None = None) -> Compensation:
    """Prepare a model for the laws.

    Args:
        model: Geared model. Its own coupling counts: of ``diagonal`` there is no rotor
            coupling, of ``none`` no rotor inertia either.
        terms: The switches; all on if not given.
    """
    require_model(model)
    on = Terms() if terms is None else terms
    if not isinstance(on, Terms):
        finding, remedy = f"is a {type(on).__name__}", "give a gd.control.Terms"
        raise ArrayError("terms", finding, remedy)
    floating = without_gravity(model)
    coriolis, inertia = on.use_coriolis_compensation, on.use_inertia_feedforward
    whole, missing = None, None
    inertial = on.use_rotor_inertia
    rotors = np.diag(model.reflected_inertia) * float(model.coupling != "none")
    if on.use_rotor_coupling:
        whole = Recursion(model if on.use_gravity_compensation else floating, True, True)
        if not (coriolis and inertia):
            missing = Recursion(floating.with_coupling("none"), not coriolis, not inertia)
        armature = None if inertial else readonly(-rotors)
    else:
        if on.use_gravity_compensation or coriolis or inertia:
            base = model if on.use_gravity_compensation else floating
            whole = Recursion(base.with_coupling("none"), coriolis, inertia)
        armature = readonly(rotors) if inertial else None
    return Compensation(
        model=model,
        terms=on,
        whole=whole,
        missing=missing,
        armature=armature,
        floating=floating,
        still=readonly(np.zeros(model.n)),
        balanced=bool(model.balancers.names),
        loaded=bool(np.any(model.joint_friction.load)),
        accelerating=inertia and inertial and on.use_rotor_coupling,
    )


def without_gravity(model: GearedModel) -> GearedModel:
    """The same arm in free fall: its inverse dynamics has no g(q)."""
    return replace(model, gravity=readonly(np.zeros(3)))


def compensated_force(given: Compensation, q: Array, v: Array, a: Array) -> Array:
    """Joint force of the terms that are on, without friction (n,) [N m or N].

    Args:
        given: The prepared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,).
    """
    still = given.still
    whole, missing = given.whole, given.missing
    if whole is None:
        force = np.zeros(given.model.n)
    else:
        force = inverse_dynamics(
            whole.model, q, v if whole.with_v else still, a if whole.with_a else still
        )
    if missing is not None:
        force -= inverse_dynamics(
            missing.model, q, v if missing.with_v else still, a if missing.with_a else still
        )
    if given.armature is not None:
        force += given.armature * a
    if given.balanced and given.terms.use_gravity_compensation:
        force -= balancer_forces(given.model, q)
    return force


def compensated_friction(
    given: Compensation, q: Array, v: Array, a: Array, rate: Array, external: Array | None = None
) -> Array | None:
    """Friction of the joints at a rate (n,) [N m or N]; None where it is switched off.

    Friction that grows with the load sees the complete joint force at (q, v, a), whoever
    provides it, so that this term does not depend on the other switches; less what a contact
    provides (``external``).
    """
    if not given.terms.use_friction or not given.model.joint_friction.count:
        return None
    if given.loaded:
        load = inverse_dynamics(given.model, q, v, a)
        if given.balanced:
            load -= balancer_forces(given.model, q)
        if external is not None:
            load -= external
        return friction_forces(given.model, rate, q, load)
    return friction_forces(given.model, rate, q, given.still)


def inertial_force(given: Compensation, q: Array, a: Array) -> Array:
    """M(q) a with the complete mass matrix (n,), as feedback of accelerations needs it."""
    return inverse_dynamics(given.floating, q, given.still, a)


def static_force(given: Compensation, q: Array) -> Array:
    """Joint force that holds the arm still at q (n,): zero where the robot adds it itself."""
    if not given.terms.use_gravity_compensation:
        return np.zeros(given.model.n)
    force = inverse_dynamics(given.model, q, given.still, given.still)
    if given.balanced:
        force -= balancer_forces(given.model, q)
    return force


def term_torques(
    model: GearedModel, q: Array, v: Array, a: Array, *, rate: Array | None = None
) -> TermTorques:
    """Joint force of every term, switched on or not (n,) [N m or N], joint side.

    Args:
        model: Geared model.
        q: Joint position (n,) [rad or m].
        v: Joint velocity (n,).
        a: Joint acceleration (n,).
        rate: Velocity of the friction (n,); ``v`` if not given.
    """
    given = compensation(model)
    links, still = model.with_coupling("none"), given.still
    static = gravity_forces(links, q)
    bare = inverse_dynamics(links, q, v, a)
    rotors = np.diag(model.reflected_inertia) * float(model.coupling != "none")
    armature = np.asarray(rotors * a)
    rubbing = compensated_friction(given, q, v, a, v if rate is None else rate)
    return TermTorques(
        gravity=static - balancer_forces(model, q) if given.balanced else static,
        coriolis=inverse_dynamics(links, q, v, still) - static,
        inertia=inverse_dynamics(links, q, still, a) - static,
        rotor_inertia=armature,
        rotor_coupling=inverse_dynamics(model, q, v, a) - bare - armature,
        friction=np.zeros(model.n) if rubbing is None else rubbing,
    )
