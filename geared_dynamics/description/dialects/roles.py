"""Ends of a transmission put in the order of their roles.

ros2_control asks for roles and does not look at them: it gives the reductions in
the order of the file to the joints and actuators in the order of the alphabet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from geared_dynamics.description.dialects.drive import Context
from geared_dynamics.description.dialects.maps import COUNT, End, coefficients
from geared_dynamics.errors import DescriptionError, UnknownNameError


def by_role(ends: Sequence[End], word: str, place: str, context: Context) -> tuple[End, ...]:
    """Return the ends in the order of the roles ``joint1``, ``joint2`` or ``actuator1`` ...

    Raises:
        UnknownNameError: If a role is none of these.
        DescriptionError: If two ends have the same role.
    """
    if len(ends) == 1:
        _check_single(ends[0], word, place, context)
        return tuple(ends)
    roles = [f"{word}{number + 1}" for number in range(len(ends))]
    ordered: dict[str, End] = {}
    for end in ends:
        where = f"{context.source}, {place}/{word} {end.name!r}/role"
        if end.role not in roles:
            raise UnknownNameError(where, "role", end.role, roles)
        if end.role in ordered:
            raise DescriptionError(
                where,
                f"{end.name!r} and {ordered[end.role].name!r} have the same role {end.role!r}",
                f"give them {' and '.join(map(repr, roles))}",
            )
        ordered[end.role] = end
    return tuple(ordered[role] for role in roles)


def _check_single(end: End, word: str, place: str, context: Context) -> None:
    """Refuse the role of an end that has no other beside it, unless it is 1 or a number.

    ``joint2`` of a SimpleTransmission is noted and not refused: ros2_control's own
    example 8 numbers its roles through. The form of ROS 1 needs no role here.
    """
    only = f"{word}1"
    if end.role in ("", only):
        return
    where = f"{place}/{word} {end.name!r}/role"
    if not re.fullmatch(f"{word}[0-9]+", end.role):
        raise UnknownNameError(f"{context.source}, {where}", "role", end.role, [only])
    context.note(
        where, f"{end.role!r} is taken as {only!r}, which is all that a SimpleTransmission has"
    )


def note_order(
    kind: str, joints: Sequence[End], actuators: Sequence[End], place: str, context: Context
) -> None:
    """Note where roles disagree with the order that ros2_control goes by instead.

    Args:
        kind: Kind of the transmission.
        joints: The joints' ends in file order.
        actuators: The actuators' ends in file order.
        place: The transmission.
        context: Takes the note.
    """
    if COUNT[kind] == 1:
        return
    ours_joints = by_role(joints, "joint", place, context)
    ours_actuators = by_role(actuators, "actuator", place, context)
    in_order = (tuple(joints), tuple(actuators)) == (ours_joints, ours_actuators)
    ours = _as_read(kind, ours_joints, ours_actuators)
    theirs = _as_read(kind, _alphabetic(joints), _alphabetic(actuators))
    if in_order and ours == theirs:
        return
    order = "file" if not in_order else "alphabet"
    result = "gets the same" if ours == theirs else "gets another transmission"
    context.note(
        place,
        f"the roles disagree with the order of the {order}; joints and actuators are taken by"
        f" role. ros2_control looks at the order only and {result}",
    )


def _alphabetic(ends: Sequence[End]) -> tuple[End, ...]:
    names = sorted(end.name for end in ends)
    return tuple(replace(end, name=name) for end, name in zip(ends, names, strict=True))


def _as_read(kind: str, joints: Sequence[End], actuators: Sequence[End]) -> object:
    """Return what a transmission does, independent of any order."""
    rows = coefficients(kind, joints, actuators)
    return (
        {end.name: dict(row) for end, row in zip(actuators, rows, strict=True)},
        {end.name: end.offset for end in joints},
    )
