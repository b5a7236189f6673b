"""The arm taken apart: links without their wheels, and the wheels, as ten parameters each.

A locked wheel is part of its carrier in ``model.tree``; which part of the two together is
wheel and which is link matters for its axial inertia only. A wheel of which the files give
no mass therefore takes a small one out of its carrier, exactly; a wheel on the root any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.description.records import WheelRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.gears import ResolvedDrivetrain
from geared_dynamics.model.inertia import TRIANGLE_SLACK, central_tensor, doubt, parameters_of

SHARE = 1e-3  # of its carrier's mass, for a wheel without one
ON_ROOT = 1.0  # [kg], where the mass does not enter
PICTURE = 1.0, 1e-3  # mass [kg] and moments [kg m^2] of what is only to be looked at


@dataclass(frozen=True)
class WheelBody:
    """A wheel as a body.

    Attributes:
        name: The wheel's name.
        holder: Name of the wheel that carries it, empty on a link.
        carrier: Body of the link (-1: root).
        position: Centre of mass in the link body's frame (3,) [m].
        axis: Its axis there, a unit vector (3,).
        mass: [kg], above zero.
        axial, transverse: Moments of inertia [kg m^2].
        turn: 1, or -1 where its axis is opposite to its holder's.
        invented: Whether no file gives its mass.
    """

    name: str
    holder: str
    carrier: int
    position: Array
    axis: Array
    mass: float
    axial: float
    transverse: float
    turn: float
    invented: bool

    @property
    def parameters(self) -> Array:
        """Ten parameters (10,) in the link body's frame, locked."""
        along = np.outer(self.axis, self.axis)
        tensor = self.transverse * (np.eye(3) - along) + self.axial * along
        return parameters_of(self.mass, self.position, tensor)


def riders_of(model: GearedModel) -> dict[str, str]:
    """Wheels that other wheels carry, with these."""
    drive = model.drivetrain
    return dict(drive.riders) if isinstance(drive, ResolvedDrivetrain) else {}


def wheel_bodies(model: GearedModel, *, drawn: bool = False) -> tuple[WheelBody, ...]:
    """The wheels in the model's order, each by itself: orbiting ones are not lumped.

    Args:
        model: Geared model.
        drawn: Only to be looked at: what has no inertia gets some.
    """
    drive, wheels, riders = model.drivetrain, model.wheels, riders_of(model)
    given = drive.apart if isinstance(drive, ResolvedDrivetrain) else ()
    alone = {wheel.name: wheel for wheel in given}
    index = {name: r for r, name in enumerate(wheels.names)}
    result = []
    for r, lumped in enumerate(drive.wheels):
        own = replace(alone.get(lumped.name, lumped), carrier=lumped.carrier)
        frame = model.frame(own.carrier)
        carrier, holder = int(wheels.carrier[r]), riders.get(own.name, "")
        axis = frame.rotation @ np.array(own.axis)
        turn = float(np.sign(axis @ wheels.axis[index[holder]])) if holder else 1.0
        mass = own.mass or (
            ON_ROOT if carrier < 0 else SHARE * float(model.tree.parameters[carrier, 0])
        )
        axial = own.axial
        if drawn:
            mass, axial = mass or PICTURE[0], axial or PICTURE[1]
        require_inertia(model, own, axial, mass)
        result.append(
            WheelBody(
                own.name,
                holder,
                carrier,
                frame.position + frame.rotation @ np.array(own.position),
                axis,
                mass,
                axial,
                max(own.transverse, 0.5 * axial),
                turn,
                own.mass == 0.0,
            )
        )
    return tuple(result)


def require_inertia(model: GearedModel, wheel: WheelRecord, axial: float, mass: float) -> None:
    """Refuse a wheel that MuJoCo cannot have as a body."""
    place = f"{model.drivetrain.source}, wheels.{wheel.name}"
    if axial <= 0.0:
        finding = "has no axial inertia, and MuJoCo needs one above zero for a body that spins"
        raise ModelError(place, finding, "give inertia.axial, or use the engine 'equations'")
    if mass <= 0.0:
        finding = f"has no mass, and its carrier {wheel.carrier!r} has none to give"
        raise ModelError(place, finding, "give it a mass, or use the engine 'equations'")


def link_bodies(
    model: GearedModel, wheels: tuple[WheelBody, ...], *, drawn: bool = False
) -> Array:
    """Ten parameters (nb, 10) of the moving links without their wheels.

    Args:
        model: Geared model.
        wheels: Its wheels.
        drawn: Only to be looked at: all are alike.

    Raises:
        ModelError: naming a link that is left without mass, or is no physical body.
    """
    if drawn:
        mass, moment = PICTURE
        alike = parameters_of(mass, np.zeros(3), moment * np.eye(3))
        return np.tile(alike, (len(model.tree.names), 1))
    rest = model.tree.parameters.copy()
    size = np.abs(rest)
    for wheel in wheels:
        if wheel.carrier >= 0:
            rest[wheel.carrier] -= wheel.parameters
            np.maximum(size[wheel.carrier], np.abs(wheel.parameters), out=size[wheel.carrier])
    for b, name in enumerate(model.tree.names):
        rest[b][np.abs(rest[b]) <= TRIANGLE_SLACK * size[b]] = 0.0
        refuse_unphysical(model, name, rest[b], [w for w in wheels if w.carrier == b])
    return rest


def refuse_unphysical(model: GearedModel, name: str, rest: Array, wheels: list[WheelBody]) -> None:
    """Refuse a link that MuJoCo cannot have as a moving body."""
    place = f"{model.robot.source}, link {name!r}"
    where = f", without its wheels {', '.join(repr(w.name) for w in wheels)}," if wheels else ""
    remedy = "give it mass and inertia, or use the engine 'equations'"
    if rest[0] <= 0.0:
        finding = f"as a body of its own{where} has no mass ({rest[0]:.3g} kg): MuJoCo needs one"
        raise ModelError(place, finding, remedy)
    moments = np.linalg.eigvalsh(central_tensor(rest))
    if moments[0] <= TRIANGLE_SLACK * moments[2] or moments[2] <= 0.0:
        listed = ", ".join(f"{moment:.3g}" for moment in moments)
        finding = (
            f"as a body of its own{where} has the principal moments {listed} kg m^2: "
            "MuJoCo needs all of them above zero"
        )
        raise ModelError(place, finding, remedy)
    words = doubt(rest)
    if words:
        raise ModelError(place, f"as a body of its own{where} {words}", remedy)
