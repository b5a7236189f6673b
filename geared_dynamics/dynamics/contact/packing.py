"""Contacts in the form the kernels read: one flat array (see kernels.contact_layout)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from geared_dynamics.arrays import Array, Frozen, WithDoorRecords, readonly
from geared_dynamics.description.geometry import rotation_with_z
from geared_dynamics.dynamics.contact.constraints import (
    Constraint,
    Contact,
    Environment,
    Geometric,
    Line,
    LockedGear,
    Peg,
    Surface,
    not_negative,
)
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import (
    ArrayError,
    GearedDynamicsWarning,
    ModelError,
    UnknownNameError,
    shown,
)
from geared_dynamics.kernels import contact_layout as at
from geared_dynamics.model import Frame, GearedModel, require_model

KINDS = (Surface, Line, Peg, Constraint, LockedGear, Environment)
ELASTIC = (
    "contacts: this arm has elastic joints, and is taken as rigid here; "
    "give model.with_springs() with x = (q, theta)"
)


@dataclass(frozen=True, eq=False)
class PreparedContacts(WithDoorRecords, Frozen):
    """Contacts of one arm, laid out once; taken wherever ``contacts`` is.

    Attributes:
        model: The arm.
        contacts: The contacts.
        block: What the kernels read.
        rows: Number of constrained coordinates, m.
        free: Number of coordinates that surfaces, lines and pegs leave free, f.
        given: Numbers that Python computes for each state: of functions, and of supports' masses.
        plain: Whether they are all zero where the masses' states are not given.
        depths: Contacts whose support has a mass.
        smooth: First contact without a law of friction, -1 where all have one.
    """

    model: GearedModel
    contacts: tuple[Contact, ...]
    block: Array
    rows: int
    free: int
    given: int
    plain: bool
    depths: tuple[int, ...]
    smooth: int
    form: Array = field(repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Leave the doors' records out: they hold addresses of this process."""
        return self.__dict__.copy()

    def place(self, k: int) -> str:
        """Name contact k in an error."""
        return f"contacts[{k}] ({type(self.contacts[k]).__name__})"


def prepare(
    model: GearedModel,
    contacts: Contact | Sequence[Contact] | PreparedContacts,
    *,
    stabilisation: float = 20.0,
) -> PreparedContacts:
    """Lay contacts out once, for many calls.

    Args:
        model: Geared model.
        contacts: One contact or several.
        stabilisation: Rate w [1/s] at which a rigid contact's drift decays: s'' = -w^2 s - 2 w s',
            the second where |s'| is below 1e-6 m/s.

    Raises:
        GearedDynamicsError: naming the contact that the arm cannot have.
    """
    require_model(model)
    if isinstance(contacts, PreparedContacts):
        if contacts.model is not model:
            raise ArrayError("contacts", "are prepared for another model", "prepare them again")
        return contacts
    several = (contacts,) if isinstance(contacts, KINDS) else contacts
    if not isinstance(several, Sequence) or isinstance(several, str) or not len(several):
        remedy = "give a contact such as contact.Surface, or a list of them"
        raise ArrayError("contacts", f"is {shown(contacts)}", remedy)
    if model.elasticity.count:
        warnings.warn(ELASTIC, GearedDynamicsWarning, stacklevel=3)
    rate = not_negative("stabilisation", stabilisation)
    blocks: list[Array] = []
    spins: list[Array] = []
    sizes, given, smooth = [], 0, -1
    for k, contact in enumerate(several):
        if not isinstance(contact, KINDS):
            remedy = "give Surface, Line, Peg, Constraint, LockedGear or Environment"
            raise ArrayError(f"contacts[{k}]", f"is a {type(contact).__name__}", remedy)
        block = packed_contact(model, contact, f"contacts[{k}]")
        block[at.START] = given
        given += given_size(model, contact)
        if isinstance(contact, LockedGear):
            block[at.SPIN] = at.HEADER_SIZE + len(several) * at.CONTACT_SIZE
            block[at.SPIN] += len(spins) * model.n
            spins.append(gear_row(model, contact, f"contacts[{k}]"))
        elif smooth < 0 and not isinstance(contact, Surface | Environment):
            smooth = k
        blocks.append(block)
        sizes.append(free_size(contact))
    head = np.zeros(at.HEADER_SIZE)
    motors, joints = motor_rows(model), joint_bodies(model)
    start = at.HEADER_SIZE + sum(map(len, blocks)) + sum(map(len, spins))
    rows = int(sum(block[at.COUNT] for block in blocks))
    head[at.CONTACTS], head[at.ROWS], head[at.FREE] = len(blocks), rows, sum(sizes)
    head[at.GIVEN], head[at.STABILISATION] = given, rate
    head[at.MOTORS], head[at.MOTORS_AT] = len(motors), start
    head[at.JOINTS], head[at.JOINTS_AT] = len(joints), start + motors.size
    return PreparedContacts(
        model,
        tuple(several),
        readonly(np.concatenate([head, *blocks, *spins, motors.ravel(), joints])),
        rows,
        sum(sizes),
        given,
        not any(computed(c) for c in several),
        tuple(k for k, c in enumerate(several) if isinstance(c, Environment) and c.mass > 0.0),
        smooth,
        packed(model),
    )


def computed(contact: Contact) -> bool:
    """Whether Python has to compute numbers of a contact at each state."""
    if isinstance(contact, Environment):
        return contact.nonlinear or contact.tool_stiffness is not None
    return isinstance(contact, Constraint)


def free_size(contact: Contact) -> int:
    """How many of the six coordinates a contact leaves free."""
    shape = contact.surface if isinstance(contact, Environment) else contact
    return 6 - len(shape.CONSTRAINED) if isinstance(shape, Geometric) else 0


def given_size(model: GearedModel, contact: Contact) -> int:
    """How many numbers Python computes of a contact at each state."""
    if isinstance(contact, Constraint):
        return contact.count * (at.OF_POSE_SIZE if contact.frame is not None else model.n + 3)
    if isinstance(contact, Environment):
        return 2 * contact.nonlinear + 3 * (contact.mass > 0.0)
    return 0


def packed_contact(model: GearedModel, contact: Contact, place: str) -> Array:
    """Lay one contact out, all but where its other numbers begin."""
    block = np.zeros(at.CONTACT_SIZE)
    block[at.BODY] = -1
    if isinstance(contact, Environment):
        pack_geometric(model, contact.surface, place, block)
        block[at.SUPPORT] = support_kind(contact)
        block[at.MASS] = contact.mass
        for place_of, law in ((at.STIFFNESS, contact.stiffness), (at.DAMPING, contact.damping)):
            block[place_of] = 0.0 if callable(law) else law
        block[at.OUTER] = contact.tool_stiffness or 0.0
        block[at.NONLINEAR] = contact.nonlinear
    elif isinstance(contact, Geometric):
        pack_geometric(model, contact, place, block)
    elif isinstance(contact, Constraint):
        block[at.KIND] = at.OF_JOINTS if contact.frame is None else at.OF_POSE
        block[at.COUNT], block[at.UNILATERAL] = contact.count, not contact.bilateral
        if contact.frame is not None:
            pack_frame(model, moving_frame(model, contact.frame, place), np.eye(3), block)
    else:
        block[at.KIND], block[at.COUNT] = at.LOCK, 1
    return block


def support_kind(contact: Environment) -> int:
    """Rigid on a mass, without mass, or with a coordinate of its own."""
    if contact.tool_stiffness is not None:
        return at.COORDINATE
    return at.MASSIVE if contact.mass > 0.0 else at.MASSLESS


def pack_geometric(model: GearedModel, contact: Geometric, place: str, block: Array) -> None:
    """Lay a surface, line or peg out."""
    axes = rotation_with_z(contact.e3)
    if contact.along is not None:
        along = np.asarray(contact.along, float)
        axes = np.column_stack([along, np.cross(contact.e3, along), contact.e3])
    frame = moving_frame(model, contact.frame, f"{place}.frame")
    pack_frame(model, frame, rotation_with_z(contact.tool_axis), block)
    block[at.KIND], block[at.AXES : at.AXES + 9] = at.GEOMETRIC, axes.ravel()
    for start, vector in (
        (at.POINT, contact.point),
        (at.VELOCITY, contact.velocity),
        (at.ACCELERATION, contact.acceleration),
        (at.OMEGA, contact.angular_velocity),
    ):
        block[start : start + 3] = vector
    block[at.COUNT] = len(contact.CONSTRAINED)
    block[at.PICK : at.PICK + len(contact.CONSTRAINED)] = contact.CONSTRAINED
    block[at.UNILATERAL] = -1.0 if contact.held else not contact.bilateral


def moving_frame(model: GearedModel, name: str, place: str) -> Frame:
    """Return the frame of a link that moves."""
    if name not in model.frames:
        raise UnknownNameError(place, "link", name, model.frames)
    frame = model.frames[name]
    if frame.wheel >= 0:
        remedy = "name the link that carries it"
        raise ArrayError(place, f"{name!r} is a wheel", remedy)
    if frame.body < 0:
        raise ArrayError(place, f"{name!r} does not move", "name a link behind a joint")
    return frame


def pack_frame(model: GearedModel, frame: Frame, tool: Array, block: Array) -> None:
    """Place a frame in its body's kernel frame."""
    turn = rotation_with_z(model.tree.axis[frame.body])
    block[at.BODY] = frame.body
    block[at.ROTATION : at.ROTATION + 9] = (turn.T @ frame.rotation @ tool).ravel()
    block[at.POSITION : at.POSITION + 3] = turn.T @ frame.position


def gear_row(model: GearedModel, contact: LockedGear, place: str) -> Array:
    """Row of Gamma of a motor's wheel."""
    if contact.motor not in model.motor_names:
        raise UnknownNameError(f"{place}.motor", "motor", contact.motor, model.motor_names)
    row = model.Gamma[model.motor_wheel[model.motor_names.index(contact.motor)]]
    if not row.any():
        remedy = "leave the lock out"
        raise ModelError(f"{place}.motor", f"{shown(contact.motor)} turns with no joint", remedy)
    return np.asarray(row)


def motor_rows(model: GearedModel) -> Array:
    """Rotors (m, MOTOR_ROW + n)."""
    wheels, chosen = model.wheels, model.motor_wheel
    rows = np.zeros((len(chosen), at.MOTOR_ROW + model.n))
    turns = np.concatenate([rotation_with_z(model.tree.axis), np.eye(3)[None]])
    rows[:, at.MOTOR_CARRIER] = wheels.carrier[chosen]
    axes = wheels.axis[chosen][:, None] @ turns[wheels.carrier[chosen]]
    rows[:, at.MOTOR_AXIS : at.MOTOR_AXIS + 3] = axes[:, 0]
    rows[:, at.MOTOR_INERTIA] = wheels.inertia[chosen]
    rows[:, at.MOTOR_ROW :] = wheels.spin[chosen]
    return rows


def joint_bodies(model: GearedModel) -> Array:
    """Body that each joint moves (n,); of coordinates that no link follows, none."""
    return model.own_bodies[model.own_bodies >= 0].astype(float)
