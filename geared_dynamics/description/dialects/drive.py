"""What every dialect comes down to: rotors that follow joints."""

from __future__ import annotations

from dataclasses import dataclass, field

from geared_dynamics.description.records import RobotRecord

# Joints that have one coordinate; also those that mimic another.
SINGLE = ("revolute", "continuous", "prismatic")
_SHOWN = 4  # places that a line names before it counts


@dataclass(frozen=True)
class Drive:
    """A rotor that follows one or two joints.

    Attributes:
        name: Name of the actuator, or of the joint where none is named.
        coefficients: Joint -> rotor angle per joint position [1 or rad/m].
        place: The element in the file, such as ``transmission 't1'``.
        source: The file.
        dialect: Whose way of writing this is.
        inertia: About the rotor's axis [kg m^2]; None: not given.
        motor: Whether the rotor is a motor's.
        offsets: Joint -> position [rad or m] at which the motor's encoder reads zero.
    """

    name: str
    coefficients: tuple[tuple[str, float], ...]
    place: str
    source: str
    dialect: str
    inertia: float | None = None
    motor: bool = True
    offsets: tuple[tuple[str, float], ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that the rotor follows."""
        return tuple(joint for joint, _ in self.coefficients)


@dataclass(frozen=True)
class Context:
    """What the elements of a URDF are checked against, and what is said on the way.

    Attributes:
        source: The file, for errors.
        kinds: Joint -> its kind.
        links: Names of the links.
        notes: What is doubtful, because some reader reads it otherwise or not at all:
            text -> places.
        remarks: What is left out and need not worry anybody: text -> places.
    """

    source: str
    kinds: dict[str, str]
    links: frozenset[str]
    notes: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def of(robot: RobotRecord, source: str) -> Context:
        """Return the context for a file about this robot."""
        return Context(
            source,
            {joint.name: joint.kind for joint in robot.joints},
            frozenset(link.name for link in robot.links),
        )

    def note(self, place: str, text: str) -> None:
        """Keep a doubt about an element."""
        self.notes.setdefault(text, []).append(place)

    def remark(self, place: str, text: str) -> None:
        """Keep a plain fact about an element."""
        self.remarks.setdefault(text, []).append(place)


def lines(source: str, said: dict[str, list[str]]) -> tuple[str, ...]:
    """Return what was said of a file's elements, a line each: places, then text."""
    result = []
    for text, places in said.items():
        shown = list(dict.fromkeys(places))
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        result.append(f"{source}, {', '.join(shown[:_SHOWN])}{more}: {text}")
    return tuple(result)
