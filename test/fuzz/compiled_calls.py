"""Hostile calls of compiled models, of exact derivatives and of what makes them."""

from __future__ import annotations

import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import geared_dynamics as gd
from fuzz import Call

FUNCTIONS = (
    "inverse_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "forward_dynamics",
    "motor_commands", "inverse_dynamics_derivatives",
)  # fmt: skip


def fast(model: gd.GearedModel) -> gd.GearedModel:
    """The model with all its functions in machine code, for one state and many."""
    return gd.compiled(model, FUNCTIONS, batches=True)


def derivatives(model: gd.GearedModel, rng: np.random.Generator) -> dict[str, Call]:
    """Exact derivatives, into earlier results too, and batches of every function."""
    n = model.n
    q, v, a = rng.normal(size=(3, n))
    many = rng.normal(size=(3, 11, n))  # vectors of four or eight states, and a rest
    found = {}
    for f, last in (
        (gd.inverse_dynamics_derivatives, "a"),
        (gd.forward_dynamics_derivatives, "tau"),
    ):
        found[f.__name__] = Call(partial(rows_of, f, model), {"q": q, "v": v, last: a})
        into = {"q": q, "v": v, last: a, "out": None}
        found[f"{f.__name__} into"] = Call(partial(filled_rows, f, model), into)
    batch = dict(zip("qva", many, strict=True))
    found["inverse_dynamics of many"] = Call(
        partial(gd.inverse_dynamics, model), {**batch, "out": None}
    )
    found["forward_dynamics of many"] = Call(
        partial(gd.forward_dynamics, model),
        {"q": many[0], "v": many[1], "tau": many[2], "out": None},
    )
    found["mass_matrix of many"] = Call(
        partial(gd.mass_matrix, model), {"q": many[0], "out": None}
    )
    found["motor_commands of many"] = Call(partial(gd.motor_commands, model), batch)
    found["inverse_dynamics_derivatives of many"] = Call(
        partial(rows_of, gd.inverse_dynamics_derivatives, model), batch
    )
    return found


def rows_of(function: Any, model: gd.GearedModel, **given: Any) -> np.ndarray:
    """All numbers of the derivatives."""
    found: np.ndarray = function(model, **given).rows
    return found


def filled_rows(function: Any, model: gd.GearedModel, out: Any = None, **given: Any) -> Any:
    """Derivatives into memory that somebody chose."""
    if out is None:
        return rows_of(function, model, **given)
    earlier = function(model, **given)
    earlier.rows = out
    return function(model, **given, out=earlier).rows


def texts() -> dict[str, Call]:
    """Names and options of ``compiled`` and ``export_c``."""
    urdf = Path(__file__).resolve().parents[2] / "urdf"
    model = gd.load_model(urdf / "elbow.urdf", urdf / "elbow.drivetrain.yaml")

    def exported(**given: Any) -> int:
        with tempfile.TemporaryDirectory() as folder:
            return len(gd.export_c(model, Path(folder) / "c", **given))

    def made(**given: Any) -> int:
        return len(getattr(gd.compiled(model, **given), "entries", ()))

    def loaded(**given: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gd.inverse_dynamics(fast(model).with_payload(**given), *np.ones((3, model.n)))

    load = {"mass": 1.0, "com": np.array([0.1, 0.0, 0.1]), "inertia": 1e-3 * np.eye(3)}
    return {
        "compiled": Call(made, {"functions": "gravity_forces", "dense": False, "batches": False}),
        "export_c": Call(exported, {"functions": "gravity_forces", "precision": "float"}),
        "compiled with_payload": Call(loaded, load),
    }
