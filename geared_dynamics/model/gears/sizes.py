"""Whether pitch radii, teeth and kind of a gear pair fit the distance of its two axes.

External gears touch at r_a + r_b = d, internal ones at |r_a - r_b| = d, and the pulleys of a
belt or a chain need r_a + r_b < d. Profile shift moves the axes of spur gears by some percent of
their distance, so that the first WARNED of it is no doubt and anything up to REFUSED a warning.
Gear pairs whose sign is stated (bevels, worms, whole trains) have no such distance.
"""

from __future__ import annotations

from geared_dynamics.description.records import MeshRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model.gears.circuit import COLLINEAR, ONE_LINE, distance, line_of
from geared_dynamics.model.gears.skeleton import Bodies

WARNED, REFUSED = 0.05, 0.5  # of the distance of the axes
NESTED = 0.05  # of the ring, by which a flexspline or a disc on the ring's own axis is smaller

Doubt = tuple[str, str, str]


def size_doubts(mesh: MeshRecord, bodies: Bodies, source: str) -> list[Doubt]:
    """Return place, finding and remedy of sizes that hardly fit.

    Args:
        mesh: A gear pair, a belt or a chain, whose equation holds.
        bodies: Links and wheels.
        source: The drivetrain file, for errors.

    Raises:
        ModelError: If the two members cannot mesh like that at all.
    """
    if mesh.kind is None or mesh.sign is not None:
        return []
    place = f"{source}, {mesh.place}"
    one, other = (line_of(member, mesh.arm, bodies, place) for member in mesh.members)
    apart = distance(other.point, one)
    refuse_impossible(mesh, apart, place)
    if not mesh.radii or apart <= ONE_LINE:
        return []
    finding, off = misfit_of_radii(mesh, apart)
    if off < WARNED:
        return []
    remedy = "correct radii, kind or positions; write teeth where the radii are not pitch radii"
    if off >= REFUSED:
        raise ModelError(place, finding, remedy)
    shift = "" if mesh.wraps else "; profile shift explains a few percent"
    return [(place, f"{finding}{shift}", remedy)]


def refuse_impossible(mesh: MeshRecord, apart: float, place: str) -> None:
    """Raise for members that cannot lie beside or inside each other, whatever the distance."""
    if mesh.wraps:
        finding = pulleys_finding(mesh, apart)
        remedy = "give the wheels their positions, or correct the radii"
    elif mesh.kind == "external":
        finding = external_finding(mesh, apart)
        remedy = "give the wheels their positions, or write internal, or the sign that a train has"
    else:
        finding = ring_finding(mesh, apart)
        remedy = "correct sizes and positions, or write external, or the sign of a whole train"
    if finding:
        where = f" (axes {apart:.4g} m apart)" if apart > ONE_LINE else ""
        raise ModelError(place, finding + where, remedy)


def pulleys_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why no belt or chain can run on the two members; empty if one can."""
    a, b = mesh.members
    if apart <= ONE_LINE:
        return f"the axes of {a!r} and {b!r} are one line, on which no belt or chain runs"
    nested = mesh.radii and abs(mesh.sizes[0] - mesh.sizes[1]) >= apart
    return f"of the pulleys {a!r} and {b!r} one lies inside the other" if nested else ""


def external_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why the two members are not side by side; empty if they can be."""
    a, b = mesh.members
    if apart <= ONE_LINE:
        return f"the axes of {a!r} and {b!r} are one line, so that they cannot mesh externally"
    nested = mesh.radii and abs(mesh.sizes[0] - mesh.sizes[1]) >= apart
    return (
        f"of {a!r} and {b!r}, which mesh externally, one lies inside the other" if nested else ""
    )


def ring_finding(mesh: MeshRecord, apart: float) -> str:
    """Return why the smaller member is not inside the larger one; empty if it can be."""
    a, b = mesh.members
    small, large = sorted(mesh.sizes)
    ring, wheel = (a, b) if mesh.sizes[0] > mesh.sizes[1] else (b, a)
    if small == large and apart > COLLINEAR:
        return f"of {a!r} and {b!r}, of equal size, neither is a ring around the other"
    if mesh.radii and apart > large:
        return f"the axis of {wheel!r} is outside of the ring {ring!r} of radius {large:g} m"
    if mesh.radii and apart <= ONE_LINE and large - small > NESTED * large:
        return f"{wheel!r} ({small:g} m) on the axis of the ring {ring!r} ({large:g} m) misses it"
    return ""


def misfit_of_radii(mesh: MeshRecord, apart: float) -> tuple[str, float]:
    """What the pitch radii miss of the distance of the axes: in words, and relative to it."""
    a, b = mesh.sizes
    names = " and ".join(repr(member) for member in mesh.members)
    away = f"the axes of {names} are {apart:.4g} m apart"
    if mesh.wraps:
        off = (a + b - apart) / apart
        return f"{away}, and the pulleys' radii {a:g} + {b:g} m overlap by {100 * off:.3g} %", off
    needed, sum_of = a + b, f"{a:g} + {b:g}"
    if mesh.kind == "internal":
        needed, sum_of = abs(a - b), f"{max(a, b):g} - {min(a, b):g}"
    off = abs(needed - apart) / apart
    words = f"pitch radii {sum_of} = {needed:.4g} m differ by {100 * off:.3g} % of that"
    return f"{away}, and their {words}", float(off)
