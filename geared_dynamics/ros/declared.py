"""The schema on a node: declared with descriptors, wrong values reported, changes validated."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from geared_dynamics.errors import GearedDynamicsError
from geared_dynamics.runtime.parameters import (
    Kind,
    NodeParameters,
    Parameter,
    ParameterError,
    Value,
    converted_to,
    interval,
    nearest,
    schema_of,
    unknown,
)

TYPES: dict[Kind, Any] = {
    "bool": RosParameter.Type.BOOL,
    "int": RosParameter.Type.INTEGER,
    "double": RosParameter.Type.DOUBLE,
    "string": RosParameter.Type.STRING,
    "strings": RosParameter.Type.STRING_ARRAY,
    "doubles": RosParameter.Type.DOUBLE_ARRAY,
    "ints": RosParameter.Type.INTEGER_ARRAY,
}
# Declared by rclpy itself, or for it.
OTHERS = ("use_sim_time", "start_type_description_service", "qos_overrides.")
P = TypeVar("P", bound=NodeParameters)
Apply = Callable[[], None]


class Declared(Generic[P]):
    """A node's parameters: values that are always good, and what was wrong with those given.

    Attributes:
        now: The parameters with their values, for the joints and motors declared last.
        start: The same with those that the node was started with, or defaults.
        wrong: Names given a value at the start that was refused, with the reason. They have
            their default; the node does not run before they are corrected.
    """

    def __init__(self, node: Node, kind: type[P]) -> None:
        """Declare what there is one of.

        Args:
            node: Created with ``automatically_declare_parameters_from_overrides=True``, which
                is how given values can be read before their types are checked.
            kind: The dataclass of all parameters.
        """
        self._node, self._kind = node, kind
        self._values: dict[str, Value] = {}
        self._begun: dict[str, Value] = {}
        self.now = self.start = kind.of({})
        self.wrong: dict[str, str] = {}
        self._entries: dict[str, Parameter] = {}
        self._given = given_values(node)
        self._pending: tuple[dict[str, Value], P, Apply] | None = None
        self._validate: Callable[[P], Apply] = lambda parameters: lambda: None
        self._busy = True
        self.declare([], [])
        if hasattr(node, "add_pre_set_parameters_callback"):
            node.add_pre_set_parameters_callback(self._convert)
        node.add_on_set_parameters_callback(self._check)
        if hasattr(node, "add_post_set_parameters_callback"):
            node.add_post_set_parameters_callback(self._apply)

    def on_change(self, validate: Callable[[P], Apply]) -> None:
        """Set what validates new parameters: it returns what then applies them."""
        self._validate = validate

    def refuse_wrong(self) -> None:
        """Raise where a parameter was given a value that it cannot have."""
        if self.wrong:
            remedy = "correct them and configure again; read-only ones need a restart of the node"
            raise ParameterError("parameters", "; ".join(self.wrong.values()), remedy)

    def declare(self, joints: Sequence[str], motors: Sequence[str]) -> None:
        """Declare those of these joints and motors that are not declared yet."""
        self._busy, names = True, (tuple(joints), tuple(motors))
        try:
            for name, entry in schema_of(self._kind, *names).items():  # type: ignore[arg-type]
                if name not in self._entries:
                    self._declare(entry)
        finally:
            self._busy = False
        self.now = self._kind.of(self._values, *names)
        self.start = self._kind.of(self._begun, *names)

    def warn_of_unknown(self) -> None:
        """Log a line about each given parameter that there is none of."""
        for line in unknown(self._given, self._entries):
            self._node.get_logger().warning(line)

    def _declare(self, entry: Parameter) -> None:
        value = entry.default
        if entry.former in self._given:
            text = f"parameter {entry.former!r} is now called {entry.name!r}; rename it"
            self._node.get_logger().warning(text)
            self._given.setdefault(entry.name, self._given.pop(entry.former))
        if entry.name in self._given:
            given = self._given[entry.name]
            try:
                value = entry.checked([] if given is None else given)
            except ParameterError as error:
                self.wrong[entry.name] = str(error)
                self._node.get_logger().error(f"parameter {error}")
        self._entries[entry.name] = entry
        self._values[entry.name] = self._begun[entry.name] = value
        declared = RosParameter(entry.name, TYPES[entry.kind], value).value
        self._node.declare_parameter(entry.name, declared, descriptor(entry), ignore_override=True)

    # -- changes -----------------------------------------------------------------------------

    def _convert(self, parameters: list[Any]) -> list[Any]:
        """Whole numbers given for numbers; a log line about what rclpy is going to refuse."""
        found = []
        if not self._busy:
            self._tell_of_undeclared([parameter.name for parameter in parameters])
        for parameter in parameters:
            entry = self._entries.get(parameter.name)
            if entry is not None and not self._busy:
                self._tell_of_wrong(entry, parameter.value)
            value = None if entry is None else converted_to(entry.kind, parameter.value)
            if entry is not None and value is not None and value is not parameter.value:
                parameter = RosParameter(parameter.name, TYPES[entry.kind], value)
            found.append(parameter)
        return found

    def _tell_of_undeclared(self, names: Sequence[str]) -> None:
        """Rclpy refuses them, and its answer does not name them."""
        for name in names:
            if not self._node.has_parameter(name):
                hint = nearest(name, sorted(self._entries))
                text = f"parameters not changed: {name!r} is unknown to this node; {hint}"
                self._node.get_logger().error(text)

    def _tell_of_wrong(self, entry: Parameter, value: Any) -> None:
        try:
            entry.checked(value)
        except ParameterError as error:
            self._node.get_logger().error(f"parameters not changed: {error}")

    def _check(self, parameters: list[Any]) -> Any:
        """Refuse with a reason, or prepare what applies all of them at once."""
        if self._busy:
            return SetParametersResult(successful=True)
        values = dict(self._values)
        changed = [p for p in parameters if p.name in self._entries]
        if not changed:
            return SetParametersResult(successful=True)
        names = {parameter.name for parameter in changed}
        try:
            for parameter in changed:
                values[parameter.name] = self._entries[parameter.name].checked(parameter.value)
        except ParameterError as error:  # reported before
            return SetParametersResult(successful=False, reason=str(error))
        try:
            self._refuse_late(names)
            for name in names:
                self._entries[name].refuse_weaker(values[name], self._begun[name])
            given = self._kind.of(values, self.now.joint_names, self.now.motor_names)
            apply = self._validate(given)
        except GearedDynamicsError as error:
            self._node.get_logger().error(f"parameters not changed: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        except Exception as error:  # nothing is changed yet: a defect here stops no arm
            self._node.get_logger().error(f"parameters not changed:\n{traceback.format_exc()}")
            return SetParametersResult(successful=False, reason=f"unexpected exception: {error}")
        self._pending = values, given, apply
        for name in names:
            self.wrong.pop(name, None)
        if not hasattr(self._node, "add_post_set_parameters_callback"):
            self._apply(parameters)
        return SetParametersResult(successful=True)

    def _refuse_late(self, names: Iterable[str]) -> None:
        for name in names:
            lock = self._entries[name].lock
            if lock and self._values.get(lock):
                remedy = f"restart the node with another value, or with {lock}: false"
                raise ParameterError(name, f"is locked by {lock}", remedy)
            if self._entries[name].when == "configure" and self.configured:
                remedy = "deactivate the node and clean it up before, or restart it"
                raise ParameterError(name, "is read when the node is configured", remedy)

    def _apply(self, parameters: list[Any]) -> None:
        """All have been set."""
        if self._pending is not None:
            self._values, self.now, apply = self._pending
            self._pending = None
            apply()

    configured = False  # whether the node has read what is read then


def given_values(node: Node) -> dict[str, Any]:
    """Values from the command line and files, taken off the node again."""
    given = {}
    for name, parameter in node.get_parameters_by_prefix("").items():
        if not name.startswith(OTHERS):
            given[name] = parameter.value
            node.undeclare_parameter(name)
    return given


def descriptor(entry: Parameter) -> Any:
    """What ``ros2 param describe`` shows."""
    made = ParameterDescriptor(description=entry.text, read_only=entry.when == "start")
    # rclpy takes an empty list for one of bytes, and would refuse every other one after it.
    made.dynamic_typing = entry.default == []
    limited = (entry.low, entry.high) != (-math.inf, math.inf)
    if limited and entry.kind == "int":
        made.integer_range = [IntegerRange(from_value=int(entry.low), to_value=int(entry.high))]
    elif limited and entry.kind == "double":
        made.floating_point_range = [FloatingPointRange(from_value=entry.low, to_value=entry.high)]
    if entry.choices:
        made.additional_constraints = "one of: " + ", ".join(entry.choices)
    elif limited:
        made.additional_constraints = interval(entry.low, entry.high)
    if entry.reserved:
        words = filter(None, [made.additional_constraints, entry.reserved])
        made.additional_constraints = "; ".join(words)
    return made
