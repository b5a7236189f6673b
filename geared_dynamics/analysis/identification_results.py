"""Identified parameters back into the robot's files: URDF text and drivetrain data.

Only numbers change: the URDF keeps its text but for the ``<inertial>`` of the moving links,
the drivetrain keeps its entries but for inertias, viscous and Coulomb friction and offsets.
Its comments are no data and are lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from geared_dynamics.analysis.identification_equations import Equations
from geared_dynamics.analysis.least_squares import solve
from geared_dynamics.analysis.parameter_columns import base_columns, column_names, columns, prior
from geared_dynamics.analysis.physical import carried, pseudo_inertia
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.description.yaml_files import levels, new_entry
from geared_dynamics.dynamics.independence import independent, plain
from geared_dynamics.dynamics.packing import BODY_PARAMETERS, columns_of
from geared_dynamics.dynamics.regressor import in_words
from geared_dynamics.errors import ModelError, RecordingError
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import central_tensor, moved, parameters_of_record

# -- Identified parameters back into the robot's files: URDF text and drivetrain data -------------


NOTHING = 1e-9  # [SI] a parameter below it is 0 to a reader
SAME = 1e-9  # relative change that is not one
BORDER = -1e-9  # least eigenvalue of a link's pseudo-inertia by its trace that is rounding


class Change(NamedTuple):
    """A number that changed: its name, the file's value and the new one."""

    name: str
    before: float
    after: float


class Written(NamedTuple):
    """New files, and what changed.

    Attributes:
        urdf: The URDF's text.
        drivetrain: The drivetrain's data; empty if there was none.
        changes: Numbers that differ.
        unwritten: Parameters that have no place in these files.
        kept: Friction that is not identified and stays as the file says.
    """

    urdf: str
    drivetrain: dict[str, Any]
    changes: tuple[Change, ...]
    unwritten: tuple[str, ...]
    kept: tuple[str, ...]


def written(
    model: GearedModel, x: Array, urdf: str, drivetrain: Mapping[str, Any] | None
) -> Written:
    """Put parameters into the files that the model was read from.

    Args:
        model: The model as read, without a payload: that is in no file.
        x: All columns' parameters (p,), as ``physical_parameters`` gives them.
        urdf: Text of the URDF.
        drivetrain: Data of the drivetrain file.
    """
    names, before = column_names(model), prior(model)
    links, emptied = link_parameters(model, x)
    text = urdf
    for name, parameters in links.items():
        text = with_inertial(text, name, inertial(parameters))
    for name in emptied:
        text = with_inertial(text, name, "")
    values = dict(zip(names, x.tolist(), strict=True))
    data: dict[str, Any] = deepcopy(dict(drivetrain)) if drivetrain is not None else {"version": 1}
    unwritten = put_wheels(model, values, data)
    pairs = [Change(*row) for row in zip(names, before.tolist(), x.tolist(), strict=True)]
    more, kept, static = put_friction(model, values, data)
    return Written(
        text, data, tuple(filter(differs, [*pairs, *static])), (*unwritten, *more), tuple(kept)
    )


def differs(change: Change) -> bool:
    """Whether a number is another."""
    _, old, new = change
    return abs(new - old) > SAME * max(abs(new), abs(old))


def link_parameters(model: GearedModel, x: Array) -> tuple[dict[str, Array], list[str]]:
    """Ten parameters of each body's own link, and links that lose theirs.

    What is fixed to a link keeps its inertial, unless the link would then be no body.
    """
    columns = columns_of(model)
    parameters: dict[str, Array] = {}
    emptied: list[str] = []
    for b, name in enumerate(model.body_names):
        first = columns.bodies[b]
        whole = x[first : first + len(BODY_PARAMETERS)].copy()
        for r, body, none, slope in carried(model):
            if body == b and not model.wheels.included[r]:
                whole -= none + x[columns.wheels[r]] * slope
        fixed = {
            link.name: moved(
                parameters_of_record(link.inertia),
                model.frame(link.name).rotation,
                model.frame(link.name).position,
            )
            for link in model.records.robot.links
            if link.inertia and link.name != name and model.frame(link.name).body == b
        }
        rest = whole - sum(fixed.values(), np.zeros(len(whole)))
        P = pseudo_inertia(rest)
        if fixed and np.linalg.eigvalsh(P)[0] < BORDER * np.trace(pseudo_inertia(whole)):
            rest = whole
            emptied += list(fixed)
        parameters[name] = rest
    return parameters, emptied


def inertial(parameters: Array) -> str:
    """Write ten parameters as an ``<inertial>`` element."""
    mass = float(parameters[0])
    com = parameters[1:4] / mass if mass > 0.0 else np.zeros(3)
    tensor = central_tensor(parameters)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = tensor[np.triu_indices(3)]
    moments = " ".join(f'{key}="{float(v)!r}"' for key, v in zip(keys, values, strict=True))
    place = " ".join(repr(float(value)) for value in com)
    return (
        f'<inertial>\n      <origin xyz="{place}" rpy="0 0 0"/>\n'
        f'      <mass value="{mass!r}"/>\n      <inertia {moments}/>\n    </inertial>'
    )


def with_inertial(urdf: str, link: str, element: str) -> str:
    """Replace a link's ``<inertial>``, or add one; the rest of the text stays."""
    # Comments are blanked, so that nothing in them is taken for an element.
    shadow = re.sub(r"<!--.*?-->", lambda found: " " * len(found.group()), urdf, flags=re.DOTALL)
    quoted = re.escape(link)
    start = re.search(rf"<link\b[^>]*?\bname\s*=\s*([\"']){quoted}\1[^>]*?(/?)>", shadow)
    if start is None:
        remedy = "give the URDF that the model was read from"
        raise ModelError("write URDF", f"has no link {link!r}", remedy)
    if start.group(2):
        head = urdf[: start.end()].rstrip("/> ")
        return f"{head}>\n    {element}\n  </link>{urdf[start.end() :]}" if element else urdf
    end = shadow.index("</link>", start.end())
    old = re.compile(r"<inertial\b.*?</inertial>|<inertial\b[^>]*/>", re.DOTALL).search(
        shadow, start.end(), end
    )
    if old is None:
        return f"{urdf[: start.end()]}\n    {element}{urdf[start.end() :]}" if element else urdf
    return urdf[: old.start()] + element + urdf[old.end() :]


def stated(name: str, value: float) -> list[str]:
    """A parameter with its value; nothing where that is 0 to a reader."""
    return [f"{name} = {value:.6g}"] if abs(value) >= NOTHING else []


def put_wheels(model: GearedModel, values: dict[str, float], data: dict[str, Any]) -> list[str]:
    """Put wheels' inertias into a drivetrain's data; return what has no place there."""
    unwritten = []
    wheels: dict[str, Any] = data.get("wheels", {})
    given = model.wheels
    for name, axial, transverse in zip(given.names, given.inertia, given.transverse, strict=True):
        value = values[f"{name}.J"]
        if name not in wheels:
            unwritten += stated(f"{name}.J", value)
            continue
        ratio = float(transverse / axial) if axial > 0.0 else 0.5
        wheels[name]["inertia"] = {"axial": value, "transverse": max(ratio, 0.5) * value}
    return unwritten


def put_friction(
    model: GearedModel, values: dict[str, float], data: dict[str, Any]
) -> tuple[list[str], list[str], list[Change]]:
    """Put friction into a drivetrain's data.

    Returns:
        What has no place there, what is kept, and breakaway levels that moved with Coulomb's.
    """
    unwritten, kept, static = [], [], []
    joints, motors = data.setdefault("joints", {}), data.get("motors", {})
    places: list[tuple[str, dict[str, Any]]] = []
    for joint in model.joint_names:
        places.append((joint, joints.setdefault(joint, {})))
        unwritten += stated(f"{joint}.inertia", values.get(f"{joint}.inertia", 0.0))
    for motor in model.motor_names:
        law = {f"{motor}.{key}": values[f"{motor}.{key}"] for key in ("viscous", "coulomb")}
        if motor in motors:
            places.append((motor, motors[motor]))
        else:
            unwritten += [text for pair in law.items() for text in stated(*pair)]
    for name, place in places:
        new = new_entry(
            place.get("friction", {}), values[f"{name}.viscous"], values[f"{name}.coulomb"],
            values.get(f"{name}.offset"),
        )  # fmt: skip
        place["friction"] = new.friction
        kept += [f"{name}.friction.{key}" for key in new.kept]
        static += [] if new.static is None else [Change(f"{name}.static", *new.static)]
    return unwritten, kept, [*static, *put_mimics(model, joints)]


def put_mimics(model: GearedModel, joints: dict[str, Any]) -> list[Change]:
    """Take the friction of mimic joints out: what is identified of their leaders contains it.

    Args:
        model: The model.
        joints: Entries of a drivetrain file; an entry's friction replaces that of the URDF.

    Returns:
        The numbers that changed.
    """
    changes = []
    for joint in model.records.robot.joints:
        if joint.mimic is None:
            continue
        old = joints.get(joint.name, {}).get("friction")
        if old is None:
            record = joint.friction
            old = {} if record is None else {"viscous": record.viscous, "coulomb": record.coulomb}
        numbers = {key: levels(old.get(key, 0.0))[0] for key in ("viscous", "coulomb", "offset")}
        if not any((*numbers.values(), *levels(old.get("coulomb", 0.0)))):
            continue
        joints.setdefault(joint.name, {})["friction"] = new_entry(old, 0.0, 0.0, 0.0).friction
        changes += [Change(f"{joint.name}.{key}", value, 0.0) for key, value in numbers.items()]
    return changes


# -- A load from recordings with and without it: ten parameters of a body fixed to a link ---------


STATES = 64  # random ones, to see which parameters of a load act


class IdentifiedPayload(NamedTuple):
    """What motion tells of a load: combinations of its ten parameters in the link's frame.

    Attributes:
        names: The combinations in words (b,).
        values: Their values (b,).
        sigma: Their standard deviations (b,).
        combinations: Of the ten parameters (b, 10).
    """

    names: tuple[str, ...]
    values: Array
    sigma: Array
    combinations: Array


def payload(
    model: GearedModel, equations: Equations, loaded: BoolArray, link: str | None = None
) -> IdentifiedPayload:
    """Identify a load together with the arm.

    Args:
        model: The arm without the load.
        equations: Equations of recordings with and without it.
        loaded: Samples with the load (k,).
        link: The link that holds it, in whose frame it is found; any that moves, frames of
            fixed joints included. None: the only tip.

    Raises:
        GearedDynamicsError: If there is no such link, or several tips and none is given.
        RecordingError: If one of the two kinds of recordings is missing.
    """
    frame = model.payload_frame(link, "payload: link")
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        remedy = (
            "give recordings with and without it; otherwise payload and tip cannot be separated"
        )
        raise RecordingError("payload", finding, remedy)
    selection = list(base_columns(model).selection)
    first = columns_of(model).bodies[frame.body]
    own = slice(first, first + len(BODY_PARAMETERS))
    turn = np.stack([frame.in_body(unit) for unit in np.eye(len(BODY_PARAMETERS))], axis=1)
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (STATES, model.n))
    v, a = 3.0 * random.normal(size=(2, STATES, model.n))
    acting = (columns(model, q, v, a)[..., own] @ turn).reshape(-1, len(BODY_PARAMETERS))
    kept, combinations, *_ = independent(plain(acting))
    words = tuple(in_words(row, BODY_PARAMETERS) for row in combinations)
    load = (equations.Y[..., own] @ turn)[..., list(kept)] * loaded[:, None, None]
    Y = np.concatenate([equations.Y[..., selection], load], axis=-1)
    solution = solve(Y, equations.tau, equations.used)
    sigma = np.sqrt(np.maximum(solution.covariance.diagonal(), 0.0))
    b = len(selection)
    return IdentifiedPayload(words, solution.x[b:], sigma[b:], combinations)
