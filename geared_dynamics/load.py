"""Models from files, texts and tables, and back to URDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from geared_dynamics.arrays import Array, ArrayLike
from geared_dynamics.dynamics import elastic
from geared_dynamics.dynamics.rigid import mass_matrix
from geared_dynamics.errors import DescriptionError, ModelError
from geared_dynamics.model import GearedModel, build_model, require_model
from geared_dynamics.model.build import EARTH
from geared_dynamics.model.drive_sources import one_drivetrain
from geared_dynamics.model.inertia import parameters_of_record, tensor_of

if TYPE_CHECKING:
    from geared_dynamics.description import DHRow, RodriguesRow


Drivetrain = str | bytes | Path | Mapping[str, Any] | None

POSTURES = 16  # at which the mass matrix is tested
# Smallest eigenvalue of the mass matrix scaled to a unit diagonal: a regular arm has
# 1e-4 or more; rounding leaves 1e-16.
REGULAR = 1e-12
OUTSIZED = 1e9  # a wheel's mass or inertia over that of all links
UNITS = "write masses, lengths, inertias and ratios in SI units"


def load_model(
    urdf: str | bytes | Path,
    drivetrain: Drivetrain = None,
    *,
    srdf: str | bytes | Path | None = None,
    gravity: ArrayLike = EARTH,
    joints: Sequence[str] | None = None,
    lock: Mapping[str, float] | None = None,
    strict: bool = False,
) -> GearedModel:
    """Load a geared arm.

    Args:
        urdf: Path of a URDF file, or its XML text; transmissions in it are read as well.
        drivetrain: Path of a drivetrain file, its YAML text, or the same as a dict. It
            wins over what the URDF says of the drives, entry by entry.
        srdf: Path of an SRDF file with Pinocchio's ``<rotor_params>``, or its text.
        gravity: Acceleration of free fall in the root link's frame (3,) [m/s^2].
        joints: Joints that stay movable; the others are frozen at zero or at ``lock``.
        lock: Positions at which to freeze joints [rad or m].
        strict: Refuse what would otherwise only be warned of.

    Returns:
        The model, immutable.

    Raises:
        GearedDynamicsError: naming file, key path, finding and remedy.
    """
    # Imported here: the parsers take longer to import than all the rest.
    from geared_dynamics.description import freeze, movable, read_drivetrain, read_robot

    whole, of_urdf = read_robot(urdf, srdf)
    of_file = read_drivetrain(drivetrain, alone=False)
    refuse_unless_bool(strict)
    robot = freeze(whole, joints, lock)
    frozen = frozenset(movable(whole)) - frozenset(movable(robot))
    drives, notes = one_drivetrain(whole, robot, of_file, of_urdf.drivetrain, frozen)
    notes = of_urdf.notes + of_urdf.remarks + notes
    notes = tuple(sorted(notes, key=lambda note: not note.remedy))
    built = build_model(robot, drives, gravity=gravity, strict=strict, frozen=frozen, notes=notes)
    return checked(built)


def from_dh(
    rows: Sequence[DHRow | Mapping[str, Any]],
    drivetrain: Drivetrain = None,
    *,
    convention: Literal["standard", "modified"] = "standard",
    carrier_frame: Literal["dh", "joint"] | None = None,
    name: str = "arm",
    gravity: ArrayLike = EARTH,
    strict: bool = False,
) -> GearedModel:
    """Make a serial arm from a Denavit-Hartenberg table.

    A row's com and tensor are in D-H frame i. In the standard convention that frame is
    ``link_i_dh``, at the far end of the link, and ``link_i`` is the frame at its joint,
    before a and alpha; in the modified one both are ``link_i``.

    Args:
        rows: A row per joint, base to tip: ``DHRow`` or a mapping of its fields.
        drivetrain: As in ``load_model``; links are ``base``, ``link_1``, ...
        convention: ``standard`` or ``modified``.
        carrier_frame: Frame of the axes and positions that the drivetrain gives on
            ``link_i``: ``dh``, as com and tensor, or ``joint``, the frame at the link's
            joint. None refuses what the two frames read differently.
        name: The robot's name.
        gravity: Acceleration of free fall in DH frame 0 (3,) [m/s^2].
        strict: Refuse what would otherwise only be warned of.
    """
    from geared_dynamics.description import in_carrier_frame, read_drivetrain, robot_from_dh

    refuse_unless_bool(strict)
    robot = robot_from_dh(rows, name=name, convention=convention)
    drives = in_carrier_frame(read_drivetrain(drivetrain), robot, carrier_frame)
    return checked(build_model(robot, drives, gravity=gravity, strict=strict))


def from_rodrigues(
    rows: Sequence[RodriguesRow | Mapping[str, Any]],
    drivetrain: Drivetrain = None,
    *,
    name: str = "arm",
    gravity: ArrayLike = EARTH,
    strict: bool = False,
) -> GearedModel:
    """Make a serial arm from axes and vectors (Vukobratovic 2002, eq. 20.2-20.8, 20.100-20.111).

    Args:
        rows: A row per link, base to tip: ``RodriguesRow`` or a mapping of its fields.
        drivetrain: As in ``load_model``; links are ``base``, ``link_1``, ..., whose frames
            are parallel to the paper's and have their origin in the joint S_j.
        name: The robot's name.
        gravity: Acceleration of free fall in the base frame (3,) [m/s^2].
        strict: Refuse what would otherwise only be warned of.
    """
    from geared_dynamics.description import read_drivetrain, robot_from_rodrigues

    refuse_unless_bool(strict)
    robot = robot_from_rodrigues(rows, name=name)
    drives = read_drivetrain(drivetrain)
    return checked(build_model(robot, drives, gravity=gravity, strict=strict))


def to_urdf(model: GearedModel) -> str:
    """Write the model's links and joints as URDF text.

    Wheels stay in the drivetrain file; frozen joints are fixed ones, payloads part of
    their links. A root without mass gets a nominal ball of 1 kg: it acts on no joint, and
    Gazebo drops a link without mass together with all that hangs on it.

    Args:
        model: Geared model.
    """
    require_model(model)
    from geared_dynamics.description import with_root_inertia, write_urdf

    return write_urdf(with_root_inertia(model.records.robot))


def refuse_unless_bool(strict: object) -> None:
    """Raise for a ``strict`` that is neither True nor False."""
    if not isinstance(strict, (bool, np.bool_)):
        raise DescriptionError("strict", f"is {strict!r}", "give True or False")


def checked(model: GearedModel) -> GearedModel:
    """Return the model if its mass matrices are positive definite at random postures."""
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (POSTURES, model.n))
    q[0] = 0.0
    place = f"{model.source}, mass matrix"
    matrices = mass_matrix(model, q)  # finite: no number of a model is above arrays.LARGEST
    remedy = "give mass and inertia to the links and wheels that it moves, or freeze the joint"
    refuse_singular(model, matrices, model.joint_names, place, remedy)
    if model.elasticity.count:
        names = model.with_springs().joint_names
        where = f"{place} with elastic joints, M_link"
        remedy = "add inertia on the link side of its spring, or remove its stiffness"
        refuse_singular(model, elastic.mass_matrix(model, q), names, where, remedy)
    return model


def refuse_singular(
    model: GearedModel, matrices: Array, names: tuple[str, ...], place: str, remedy: str
) -> None:
    """Raise unless the matrices (k, n, n) over these coordinates are positive definite."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    if np.any(diagonal <= 0.0):
        joint = names[int(np.argwhere(diagonal <= 0.0)[0, 1])]
        raise ModelError(
            place, f"is not positive definite: joint {joint!r} moves no inertia", remedy
        )
    smallest, along = weakest_direction(matrices, diagonal)
    if smallest < REGULAR:
        share = np.abs(along) > 0.1 * np.abs(along).max()
        some = ", ".join(name for name, big in zip(names, share, strict=True) if big)
        finding = f"is not positive definite along joints {some}"
        raise outsized(model, place) or ModelError(place, finding, remedy)


def outsized(model: GearedModel, place: str) -> ModelError | None:
    """Return the error about a wheel beside which all links together are rounding."""
    robot, drivetrain = model.records
    own = np.sum([parameters_of_record(link.inertia) for link in robot.links], axis=0)
    links = (own[0], float(np.trace(tensor_of(own))))
    for wheel in drivetrain.wheels:
        pairs = zip((wheel.mass, wheel.axial), links, ("mass", "inertia.axial"), strict=True)
        for value, whole, key in pairs:
            if value > OUTSIZED * whole > 0.0:
                finding = f"{value:g} is more than {OUTSIZED:g} times that of all links together"
                where = f"{drivetrain.source}, wheels.{wheel.name}.{key}"
                return ModelError(where, f"{finding}, and the {place} is singular", UNITS)
    return None


def weakest_direction(matrices: Array, diagonal: Array) -> tuple[float, Array]:
    """Smallest eigenvalue over the postures, and its direction, of the scaled matrices.

    One, and no direction, where all are above REGULAR: Cholesky's factors, which show
    that, cost a small part of the eigenvalues of an arm with many joints.
    """
    weakest = 1.0, np.zeros(diagonal.shape[-1])
    for matrix, scale in zip(matrices, 1.0 / np.sqrt(diagonal), strict=True):
        scaled = matrix * scale[:, None] * scale
        try:
            np.linalg.cholesky(scaled - REGULAR * np.eye(len(scaled)))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(scaled)
            weakest = min(weakest, (float(values[0]), vectors[:, 0]), key=lambda pair: pair[0])
    return weakest
