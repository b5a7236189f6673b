"""A node's model: from its parameters or a topic, with its payload, rebuilt beside the loop."""

from __future__ import annotations

import dataclasses
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.checks import plain
from geared_dynamics.control import controller
from geared_dynamics.control.outputs import extent, holdable_mass, weights
from geared_dynamics.control.safety import default_policy
from geared_dynamics.description import xml_input, yaml_files
from geared_dynamics.errors import GearedDynamicsWarning, ModelError
from geared_dynamics.files import NamedBytes
from geared_dynamics.load import load_model
from geared_dynamics.model import GearedModel
from geared_dynamics.model.inertia import PayloadFrame
from geared_dynamics.runtime.common_parameters import ModelParameters, PayloadParameters
from geared_dynamics.runtime.parameters import ParameterError

# -- Where the model comes from: parameter, file or topic, and the drivetrain beside it -----------


WAITING = "publish it there, or set the parameter robot_description or urdf_path"


def needs_topic(parameters: ModelParameters) -> bool:
    """Whether the URDF has to come from the topic."""
    return not parameters.robot_description and not parameters.urdf_path


def load(parameters: ModelParameters, published: str | None) -> GearedModel:
    """Load the model that the parameters describe.

    Args:
        parameters: The parameters.
        published: What the topic brought last; None if nothing.

    Raises:
        GearedDynamicsError: what is wrong with the description.
    """
    source = urdf(parameters, published)
    lock = positions(parameters.locked_joints, parameters.locked_positions)
    with warnings.catch_warnings():  # the model's notes say the same, for the log
        warnings.simplefilter("ignore", GearedDynamicsWarning)
        return load_model(
            source,
            drivetrain(parameters.drivetrain.strip()),
            gravity=parameters.gravity,
            joints=parameters.joints or None,
            lock=lock or None,
        )


def drivetrain(given: str) -> str | bytes | None:
    """The drivetrain: text from the parameter, a regular file's content, or None."""
    if not given or yaml_files.is_text(given):
        return given or None
    limit = yaml_files.SIZE_LIMIT
    return NamedBytes.of_file(given, "drivetrain file", limit, regular=True)


def urdf(parameters: ModelParameters, published: str | None) -> str | bytes:
    """The URDF: text from the parameter, a regular file's content, or text from the topic."""
    text, path = parameters.robot_description, parameters.urdf_path
    if text and path:
        remedy = "leave one of the two empty"
        raise ParameterError("urdf_path", "both urdf_path and robot_description are set", remedy)
    if path:
        return NamedBytes.of_file(path, "URDF file", xml_input.SIZE_LIMIT, regular=True)
    place = "robot_description" if text else parameters.robot_description_topic
    found = text or published
    if found is None:
        raise ParameterError(place, "nothing has been published on this topic yet", WAITING)
    if not found.lstrip().startswith("<"):  # never a path: anybody may publish
        raise ParameterError(
            place, "the value is not XML", "pass the text of a URDF, or set urdf_path"
        )
    return found


def positions(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Where the locked joints are."""
    if values and len(values) != len(names):
        finding = f"has {len(values)} numbers, locked_joints {len(names)} names"
        raise ParameterError("locked_positions", finding, "give one for each, or none")
    return dict(zip(names, values or [0.0] * len(names), strict=True))


# -- Loads that the arm cannot hold, refused by the parameter's name ------------------------------


def refuse_too_heavy(
    model: GearedModel, load: PayloadParameters, tensor: Array, link: str
) -> None:
    """Refuse a payload that the command limits do not hold, or of impossible inertia.

    The largest mass is that whose weight the limits hold where its centre of mass is. With a
    ``payload.max_mass`` that is larger than this for a load at the link's origin, the limits
    count as larger in proportion. Neither the distance of the centre of mass nor the radius of
    gyration may exceed ``extent``.

    Args:
        model: Without the payload.
        load: The payload.
        tensor: The payload's inertia about its centre of mass (3, 3) [kg m^2].
        link: In whose frame the payload is given.

    Raises:
        ParameterError: naming the parameter that is too large.
    """
    com, mass, own = load.center_of_mass, load.mass, load.max_mass
    most = holdable_mass(model, com, link)
    why = "that the command limits can hold there"
    if not math.isnan(own):
        usual = holdable_mass(model, link=link)
        if own > usual > 0.0:
            most *= own / usual
        if own < most:
            most, why = own, "of payload.max_mass"
    if mass > most:
        finding = f"is {mass:g} kg, above the {most:.3g} kg {why}"
        remedy = "check mass and centre of mass; if the robot can carry more, start the node "
        remedy += "with a larger payload.max_mass"
        raise ParameterError("payload.mass", finding, remedy)
    widest, away = extent(model), float(np.linalg.norm(com))
    if away > widest:
        finding = f"is {away:g} m away from the link, beyond the {widest:.3g} m of arm and tool"
        raise ParameterError("payload.center_of_mass", finding, "give it in metres")
    if np.abs(tensor).max() > mass * widest**2:
        finding = f"is larger than that of {mass:g} kg at a distance of {widest:.3g} m"
        raise ParameterError("payload.inertia", finding, "give it in kg m^2")


def warm_up(model: GearedModel, load: PayloadParameters) -> None:
    """Compute weights before the arm moves, where it is known which link carries a payload.

    Raises:
        ParameterError: for a ``payload.max_mass`` that is none.
    """
    if load.max_mass < 0.0:
        remedy = "give a mass [kg], or NaN for what the command limits hold"
        raise ParameterError("payload.max_mass", f"is {load.max_mass:g}", remedy)
    ends = [load.link] if load.link else [*model.tips]
    if len(ends) == 1:
        weights(model, ends[0])


# -- A model with its payload ---------------------------------------------------------------------


AXES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def payload_tensor(load: PayloadParameters) -> Array:
    """Tensor (3, 3) of the payload about its centre of mass.

    Raises:
        ParameterError: If a list has the wrong length.
    """
    for name, wanted in (("center_of_mass", 3), ("inertia", 6)):
        found = getattr(load, name)
        if len(found) != wanted:
            finding = f"has {len(found)} numbers"
            raise ParameterError(f"payload.{name}", finding, f"give {wanted}")
    tensor = np.zeros((3, 3))
    for (row, column), value in zip(AXES, load.inertia, strict=True):
        tensor[row, column] = tensor[column, row] = value
    return tensor


def payload_place(model: GearedModel, load: PayloadParameters) -> PayloadFrame:
    """The frame of the payload: that of ``payload.link``, or of the only tip.

    Raises:
        GearedDynamicsError: If there is no such link, or several tips and none is named.
    """
    return model.payload_frame(load.link or None, "payload.link")


def payload_words(model: GearedModel | None, load: PayloadParameters) -> str:
    """What is carried, and where."""
    if model is None or load.mass == 0.0:
        return "none"
    com, frame = plain(load.center_of_mass), payload_place(model, load)
    return f"{load.mass:g} kg, centre of mass {com} m in the frame of {frame}"


def loaded(model: GearedModel, parameters: ModelParameters) -> GearedModel:
    """The model with the payload."""
    load, tensor = parameters.payload, payload_tensor(parameters.payload)
    if load.mass == 0.0:
        if tensor.any():
            remedy = "give payload.mass as well, in the same step"
            raise ParameterError("payload.inertia", "is that of a load without mass", remedy)
        return model
    frame = payload_place(model, load)
    refuse_too_heavy(model, load, tensor, frame.link)
    return model.with_payload(load.mass, load.center_of_mass, tensor, link=frame.link)


# -- A model built beside the loop, for a description that changes while the arm is held ----------


T = TypeVar("T")


class Builder(Generic[T]):
    """Runs one function at a time in a thread; its result is asked for, never pushed."""

    def __init__(self) -> None:
        """Begin idle."""
        self._thread: threading.Thread | None = None
        self._result: T | None = None
        self._error: Exception | None = None
        self._next: Callable[[], T] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is built, or built and not yet taken."""
        return self._thread is not None

    def start(self, build: Callable[[], T]) -> None:
        """Build; if something is being built, afterwards."""
        if self._thread is not None:
            self._next = build
            return
        self._thread = threading.Thread(target=self._run, args=(build,), daemon=True)
        self._thread.start()

    def _run(self, build: Callable[[], T]) -> None:
        try:
            self._result = build()
        except Exception as error:  # reported by ``taken``
            self._error = error

    def taken(self) -> T | None:
        """The result, once; None while there is none.

        Raises:
            Exception: what the function raised.
        """
        if self._thread is None or self._thread.is_alive():
            return None
        result, error, following = self._result, self._error, self._next
        self._thread = self._result = self._error = self._next = None
        if following is not None:  # what was built is out of date
            self.start(following)
            return None
        if error is not None:
            raise error
        return result


class Rebuilt(NamedTuple):
    """What became of a new description.

    Attributes:
        text: The description.
        model: Its model.
        changes: What differs by more than 1 % from the model of the node's configuration.
    """

    text: str | None
    model: GearedModel
    changes: list[str]


def rebuilt(
    parameters: ModelParameters,
    text: str | None,
    old: GearedModel | None,
    finished: Callable[[GearedModel], GearedModel] = lambda model: model,
) -> Rebuilt:
    """The model of a new description, ``finished`` as cycles use it, with its kernels run once.

    Raises:
        GearedDynamicsError: if it is wrong, or of other joints or motors.
    """
    model = finished(load(parameters, text))
    controller(model)
    for kind in ("joint_names", "motor_names"):
        before, now = getattr(old, kind, None), getattr(model, kind)
        if before is not None and before != now:
            finding = f"has other {kind.replace('_names', 's')}: {', '.join(now)}"
            remedy = "deactivate the node, clean it up and configure it again"
            raise ModelError("robot description", finding, remedy)
    return Rebuilt(text, model, [] if old is None else changes(old, model))


# -- What a new description changes of an arm that is driven: bodies, gears, limits ---------------


PART = 0.01  # of a number, by which it may differ
SHORT = 1e-3  # [m]: lengths below it count as this long, for they may be rounding
TINY = 1e-12
VECTORS = ("rotation", "position", "axis", "points")  # compared by their largest component
BODIES = {"mass": slice(0, 1), "centre of mass": slice(1, 4), "inertia": slice(4, 10)}
PARTS = ("tree", "wheels", "motors", "joint_friction", "balancers", "elasticity")
# Looked at as limits and as parameters of the bodies, which contain the wheels.
ELSEWHERE = ("parameters", "limits", "mass", "transverse", "included", "links", "alone")
NAMES = {"spin": "gear ratios", "parent": "order of the links"}
TURN = 6.3  # [rad]: position limits are compared with it where a joint has only one
MOST = 3  # changes that are named


def changes(before: GearedModel, now: GearedModel) -> list[str]:
    """Return what differs by more than 1 %, a few words each; empty where nothing does.

    Args:
        before: The model in use.
        now: Another of the same joints and motors.
    """
    found = [*body_changes(before, now), *limit_changes(before, now)]
    for part in PARTS:
        old, new = getattr(before, part), getattr(now, part)
        found += [f"{part.replace('_', ' ')}: {name}" for name in record_changes(old, new)]
    if differs(before.gravity, now.gravity, np.abs(before.gravity).max(initial=0.0)).any():
        found.append("gravity")
    return found


def summary(found: list[str]) -> str:
    """The first few changes and how many more there are."""
    rest = len(found) - MOST
    return ", ".join(found[:MOST]) + (f", and {rest} more" if rest > 0 else "")


def body_changes(before: GearedModel, now: GearedModel) -> Iterator[str]:
    """Bodies whose mass, mass times centre of mass or inertia differ."""
    if before.tree.names != now.tree.names:
        yield "the links"
        return
    for name, old, new in zip(
        before.tree.names, before.tree.parameters, now.tree.parameters, strict=True
    ):
        floors = {"mass": TINY, "centre of mass": SHORT * old[0], "inertia": SHORT**2 * old[0]}
        for what, columns in BODIES.items():
            scale = max(np.abs(old[columns]).max(), floors[what])
            if differs(old[columns], new[columns], scale).any():
                yield f"{what} of {name}{numbers_of(old[columns], new[columns])}"


def limit_changes(before: GearedModel, now: GearedModel) -> Iterator[str]:
    """Joints whose limits differ, as the safety step takes them from the description."""
    old, new = default_policy(before), default_policy(now)
    lower, upper = np.array(old.lower), np.array(old.upper)
    span = np.where(np.isfinite(upper) & np.isfinite(lower), upper - lower, TURN)
    for what in ("lower", "upper", "velocity", "command"):
        first, second = np.array(getattr(old, what)), np.array(getattr(new, what))
        scale = span if what in ("lower", "upper") else np.abs(first)
        words = {"lower": "lower limit", "upper": "upper limit", "velocity": "velocity limit"}
        for k in np.flatnonzero(differs(first, second, scale)):
            name = before.joint_names[k]
            change = numbers_of(first[k : k + 1], second[k : k + 1])
            yield f"{words.get(what, 'effort limit')} of {name}{change}"


def record_changes(before: Any, now: Any) -> Iterator[str]:
    """Names of a record's fields that differ, but for those of ``ELSEWHERE``."""
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(now, field.name)
        if field.name not in ELSEWHERE and not alike(field.name, old, new):
            yield NAMES.get(field.name, field.name.replace("_", " "))


def alike(name: str, before: Any, now: Any) -> bool:
    """Whether two values of a field are the same but for 1 %."""
    if dataclasses.is_dataclass(before):
        return type(before) is type(now) and not any(record_changes(before, now))
    if isinstance(before, tuple) and any(isinstance(one, np.ndarray) for one in before):
        pairs = zip(before, now, strict=False)
        return len(before) == len(now) and all(alike(name, one, two) for one, two in pairs)
    if not isinstance(before, np.ndarray) or before.dtype.kind != "f":
        return bool(np.array_equal(before, now))
    if before.shape != now.shape:
        return False
    scale = np.abs(before)
    if name in VECTORS and before.size:
        scale = np.maximum(scale.max(axis=-1, keepdims=True), SHORT)
    return not differs(before, now, scale).any()


def differs(before: Array, now: Array, scale: Any) -> Any:
    """Which numbers differ by more than 1 % of a scale; NaN and infinity only from others."""
    with np.errstate(invalid="ignore"):
        same = np.abs(now - before) <= PART * np.minimum(np.maximum(scale, TINY), 1e300)
    return ~(same | (before == now) | (np.isnan(before) & np.isnan(now)))


def numbers_of(before: Array, now: Array) -> str:
    """A single number's change in figures, else nothing."""
    return f" ({before[0]:g}, now {now[0]:g})" if before.size == 1 else ""
