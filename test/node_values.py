"""Parameters of nodes with some values of the test's own; ``__`` in a name stands for a dot."""

from __future__ import annotations

from typing import Any, TypeVar

import geared_dynamics as gd
from geared_dynamics.runtime.feedforward_parameters import FeedforwardParameters
from geared_dynamics.runtime.parameters import NodeParameters, schema_of

P = TypeVar("P", bound=NodeParameters)


def parameters(kind: type[P], model: gd.GearedModel | None = None, **changes: Any) -> P:
    """Parameters of a node for a model's joints and motors."""
    names = ((), ()) if model is None else (model.joint_names, model.motor_names)
    given = {name.replace("__", "."): value for name, value in changes.items()}
    schema = schema_of(kind, *names)
    assert not given.keys() - schema.keys()
    return kind.of({name: schema[name].checked(given[name]) for name in given}, *names)


def feedforward(model: gd.GearedModel | None = None, **changes: Any) -> FeedforwardParameters:
    """Those of the feedforward node."""
    return parameters(FeedforwardParameters, model, **changes)
