"""The numbers of a model as a struct of exported C that can be changed at run time.

In the struct are: gravity; of each link with all that is fixed to it the mass, the first moment
and the tensor; what the rotors add (elements of Gamma' J Gamma, and the spin that a link
carries for each coordinate); the constants of motors, friction, balancers and springs. Geometry
and ratios are part of the code. So is a number of a drive, a balancer or a spring that is zero,
and the sign of one that is not; a mass, moment or tensor may have any value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from geared_dynamics.arrays import Array, readonly
from geared_dynamics.dynamics.packing import packed
from geared_dynamics.errors import ArrayError
from geared_dynamics.kernels import balancer_layout as balancer
from geared_dynamics.kernels import drive_layout as drive
from geared_dynamics.kernels import elastic_layout as shaft
from geared_dynamics.kernels import layout as at
from geared_dynamics.model import GearedModel
from geared_dynamics.trace.c_text import Field, identifier
from geared_dynamics.trace.structure import (
    ABOVE,
    ANY,
    BELOW,
    CONSTANT,
    Form,
    Structure,
    body_starts,
    without_noise,
)

AXES = ("x", "y", "z")
BODY = (
    *((at.MASS, "mass", "kg"),),
    *((at.MOMENT + k, f"mc{x}", "kg m") for k, x in enumerate(AXES)),
    *(
        (at.INERTIA + k, f"i{x}", "kg m^2")
        for k, x in enumerate(("xx", "xy", "xz", "yy", "yz", "zz"))
    ),
)
MOTOR = (
    (drive.INERTIA, "inertia", "kg m^2"),
    (drive.RESISTANCE, "resistance", "ohm"),
    (drive.INDUCTANCE, "inductance", "H"),
    (drive.TORQUE_CONSTANT, "torque_constant", "N m/A"),
    (drive.BACK_EMF, "back_emf_constant", "V s/rad"),
    (drive.DRIVING, "loss_driving", "1/efficiency - 1"),
    (drive.BACKDRIVING, "loss_backdriving", "1 - efficiency"),
    (drive.SMOOTHING, "loss_smoothing", "rad/s"),
    *(
        (drive.LIMITS + k, f"limit_{name}", unit)
        for k, (name, unit) in enumerate(
            (("voltage", "V"), ("current", "A"), ("torque", "N m"), ("speed", "rad/s"))
        )
    ),
)
FRICTION = (
    (drive.VISCOUS, "viscous", "N m s/rad or N s/m"),
    (drive.COULOMB, "coulomb_forward", "N m or N"),
    (drive.COULOMB + 1, "coulomb_backward", "N m or N"),
    (drive.EXCESS, "static_excess_forward", "N m or N"),
    (drive.EXCESS + 1, "static_excess_backward", "N m or N"),
    (drive.STRIBECK_SPEED, "stribeck_speed", "rad/s or m/s"),
    (drive.LOAD, "load_factor", "1"),
    (drive.OFFSET, "offset", "N m or N"),
    (drive.ROUNDING, "smoothing", "rad/s or m/s"),
)
LINE = (
    (balancer.LENGTH, "length", "m"),
    (balancer.STIFFNESS, "stiffness", "N/m"),
    (balancer.PRELOAD, "preload", "N"),
    (balancer.AREA, "area", "m^2"),
    (balancer.PRESSURE, "pressure", "Pa"),
    (balancer.VOLUME, "volume", "m^3"),
)
SHAFT = (
    (shaft.STIFFNESS, "stiffness", "N m/rad or N/m"),
    (shaft.DAMPING, "damping", "N m s/rad or N s/m"),
    (shaft.REST, "rest", "rad or m"),
)


class StructField(NamedTuple):
    """A number of the struct.

    Attributes:
        place: Where it stands in its packed array.
        name: Of the field.
        unit: For the header.
        free: Whether any value will do; else its sign is part of the code, and a zero.
    """

    place: int
    name: str
    unit: str
    free: bool


class Parameters(NamedTuple):
    """What a function reads of the struct.

    Attributes:
        structure: What is part of its code.
        names: Of its parameters, in the order of the structure's table.
    """

    structure: Structure
    names: tuple[str, ...]


def parameters_of(
    model: GearedModel, name: str, forms: dict[str, Form], fields: dict[str, Field]
) -> Parameters:
    """Take a function's numbers into the struct; add them to the fields there are.

    Args:
        model: Geared model.
        name: Of the function.
        forms: Packed arrays that it needs.
        fields: Of the struct; those of this function are added.
    """
    if "flat" in forms:
        finding = "works with numbers that are derived from the springs' constants"
        remedy = "export it with parameters='constants'"
        raise ArrayError(f"export_c: {name}", finding, remedy)
    elastic = "shafts" in forms
    arm = model.with_springs() if elastic else model
    arrays, kinds, names = [], [], []
    for key, form in forms.items():
        values = without_noise(packed(arm)) if key == "model" else form.numbers
        said = np.full(len(values), CONSTANT, np.int8)
        found = sorted(named(key, arm, model, values, "x_" if elastic else ""))
        for parameter in distinct(found):
            value = float(values[parameter.place])
            if parameter.free:
                said[parameter.place] = ANY
            elif value == 0.0 or not np.isfinite(value):
                continue
            else:
                said[parameter.place] = ABOVE if value > 0.0 else BELOW
            fields[parameter.name] = Field(value, parameter.unit)
            names.append(parameter.name)
        arrays.append(readonly(np.where(said == CONSTANT, values, 0.0)))
        kinds.append(said)
    return Parameters(Structure(tuple(forms), tuple(arrays), tuple(kinds)), tuple(names))


def turns(model: GearedModel) -> list[Array]:
    """Of each link the axes in which its numbers are given, as columns in its frame."""
    form = packed(model)
    return [form[b + at.TURN : b + at.TURN + 9].reshape(3, 3) for b in body_starts(form)]


def distinct(found: list[StructField]) -> Iterator[StructField]:
    """The same parameters; a name that there is already gets a number."""
    taken: set[str] = set()
    for parameter in found:
        name, k = parameter.name, 1
        while name in taken:
            k += 1
            name = f"{parameter.name}_{k}"
        taken.add(name)
        yield parameter._replace(name=name)


def named(
    key: str, arm: GearedModel, model: GearedModel, values: Array, prefix: str
) -> Iterator[StructField]:
    """Parameters of a packed array; ``prefix`` is of what the arm with springs has otherwise."""
    if key in ("model", "columns"):
        yield from (
            StructField(at.GRAVITY + k, f"gravity_{x}", "m/s^2", True) for k, x in enumerate(AXES)
        )
    if key == "model":
        yield from of_bodies(arm, values, prefix)
    elif key == "drives":
        yield from of_drives(model, values)
    elif key == "springs":
        yield from of_balancers(values)
    elif key == "shafts":
        starts = range(
            int(values[shaft.SPRINGS]), int(values[shaft.SPRINGS_END]), shaft.SPRING_SIZE
        )
        for k, b in enumerate(starts):
            for place, name, unit in SHAFT:
                yield StructField(b + place, f"spring_{k}_{name}", unit, False)


def of_bodies(arm: GearedModel, values: Array, prefix: str) -> Iterator[StructField]:
    """Masses, moments and tensors, and what the rotors add."""
    for body, b in zip(arm.body_names, body_starts(values), strict=True):
        for place, name, unit in BODY:
            yield StructField(b + place, f"{identifier(body)}_{name}", unit, True)
    joints = [identifier(name) for name in arm.joint_names]
    start, end = int(values[at.REFLECTED]), int(values[at.REFLECTED_END])
    for e in range(start, end, at.REFLECTED_SIZE):
        pair = f"{joints[int(values[e])]}_{joints[int(values[e + 1])]}"
        yield StructField(e + 2, f"{prefix}reflected_{pair}", "kg m^2 or kg", True)
    for body, b in zip(arm.body_names, body_starts(values), strict=True):
        carried = range(
            int(values[b + at.CARRIED]), int(values[b + at.CARRIED_END]), at.CARRIED_SIZE
        )
        yield from of_carrier(identifier(body), carried, joints, values, prefix)


def of_carrier(
    carrier: str, entries: range, joints: list[str], values: Array, prefix: str
) -> Iterator[StructField]:
    """Spin that a link carries."""
    for e in entries:
        joint = joints[int(values[e])]
        for k, x in enumerate(AXES):
            name = f"{prefix}spin_{carrier}_{joint}_{x}"
            yield StructField(e + 1 + k, name, "kg m^2", True)


def of_drives(model: GearedModel, values: Array) -> Iterator[StructField]:
    """Constants of motors and friction."""
    size = int(values[drive.MOTOR_SIZE])
    for r in range(int(values[drive.COUNT])):
        b, motor = int(values[drive.MOTORS]) + r * size, identifier(model.motor_names[r])
        for place, name, unit in MOTOR:
            yield StructField(b + place, f"motor_{motor}_{name}", unit, False)
        law = int(values[b + drive.LAW])
        if law > 0:
            for place, name, unit in FRICTION:
                yield StructField(law + place, f"motor_{motor}_friction_{name}", unit, False)
    laws = range(int(values[drive.JOINT_LAWS]), int(values[drive.JOINT_LAWS_END]), drive.LAW_SIZE)
    for k, law in enumerate(laws):
        joint = identifier(model.joint_names[int(values[law + drive.INDEX])])
        for place, name, unit in FRICTION:
            yield StructField(law + place, f"joint_{joint}_friction_{k}_{name}", unit, False)


def of_balancers(values: Array) -> Iterator[StructField]:
    """Constants of the springs between links and on joints."""
    start = balancer.HEADER_SIZE
    for k in range(int(values[balancer.LINES])):
        for place, name, unit in LINE:
            yield StructField(start + place, f"balancer_{k}_{name}", unit, False)
        start += balancer.LINE_SIZE
    for k in range(int(values[balancer.SPRINGS])):
        yield StructField(start + balancer.RATE, f"joint_spring_{k}_rate", "N m/rad or N/m", False)
        yield StructField(start + balancer.FORCE, f"joint_spring_{k}_force", "N m or N", False)
        start += balancer.SPRING_SIZE
