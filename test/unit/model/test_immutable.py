"""Nothing of a model can be changed: not its arrays, not its table, not what kernels read."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import readonly

URDF = Path(__file__).parents[3] / "urdf"
STATE = np.array([0.1, 0.2, 0.3])
COPIES: dict[str, Callable[[gd.GearedModel], gd.GearedModel]] = {
    "loaded": lambda model: model,
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),
    "copied": copy.deepcopy,
    "loaded with a payload": lambda model: model.with_payload(1.0),
}


def used(copied: str) -> gd.GearedModel:
    """A model with its derived forms made, all kernels' included."""
    model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
    model = COPIES[copied](model)
    gd.inverse_dynamics(model, STATE, STATE, STATE)
    gd.pose(model, STATE, "tip")
    gd.jacobian(model, STATE, "rotor_1")
    gd.motor_commands(model, STATE, STATE, STATE)
    gd.forward_dynamics(model, STATE, STATE, STATE)
    gd.balancer_forces(model, STATE)
    assert model.structure_matrix.any()
    assert model.reflected_inertia.any()
    return model


def arrays(value: object, path: str) -> dict[str, np.ndarray]:
    """All arrays below a value, the packed model's and other derived ones included."""
    if isinstance(value, np.ndarray):
        return {path: value}
    found: dict[str, np.ndarray] = {}
    if is_dataclass(value):
        items = list(value.__dict__.items())
    elif isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, (tuple, list)):
        items = list(enumerate(value))
    else:
        items = []
    for key, item in items:
        found |= arrays(item, f"{path}.{key}")
    return found


@pytest.mark.parametrize("copied", COPIES)
def test_arrays_are_read_only(copied: str) -> None:
    model = used(copied)
    found = arrays(model, "model")
    expected = {"model._forms.packed", "model.gravity", "model.tree.parameters"}
    expected |= {"model._forms.drives", "model._forms.frames.tip", "model.motor_map.inverse"}
    expected |= {"model.motors.envelopes.0", "model.tree.limits.lower", "model._forms.plan"}
    assert expected <= found.keys()
    for path, array in found.items():
        assert not array.flags.writeable, path


@pytest.mark.parametrize("copied", COPIES)
def test_table_of_frames_is_read_only(copied: str) -> None:
    model = used(copied)
    for table in (model.frame_table, model.frames, model._forms.frames):
        assert table is not None
        with pytest.raises(TypeError):
            table["tool"] = model.frame("tip")  # type: ignore[index]
    assert set(model.frames) >= {"tip", *model.body_names, *model.wheel_names}


@pytest.mark.parametrize("copied", COPIES)
def test_fields_cannot_be_set(copied: str) -> None:
    model = used(copied)
    for field in fields(model):
        with pytest.raises(AttributeError):
            setattr(model, field.name, None)


def test_elimination_plan_is_read_only() -> None:
    from geared_dynamics.dynamics.elimination_plan import elimination_plan

    assert not elimination_plan(used("loaded")).flags.writeable


def test_kernels_read_what_cannot_be_written() -> None:
    """A read-only model takes the quick way into the kernel, and gives the same numbers."""
    from geared_dynamics import kernels
    from geared_dynamics.dynamics.packing import packed

    model, result = used("loaded"), np.empty(3)
    form, other = packed(model), np.empty(3)
    assert kernels.inverse_dynamics(form, STATE, STATE, STATE, result) == 0
    assert kernels.inverse_dynamics(form.copy(), STATE, STATE, STATE, other) == 0
    np.testing.assert_array_equal(result, other)


def test_pose_cannot_be_changed_from_outside() -> None:
    """Neither the model's own nor that of one with a payload, which shares the frames."""
    model = used("loaded")
    before = gd.pose(model, STATE, "tip")
    with pytest.raises(ValueError, match="read-only"):
        model._forms.frames["tip"][10] = 99.0
    loaded = model.with_payload(1.0)
    assert loaded._forms.frames is model._forms.frames
    gd.pose(loaded, STATE, "base_link")
    assert "base_link" not in model._forms.frames
    np.testing.assert_array_equal(gd.pose(model, STATE, "tip"), before)


def test_what_is_derived_belongs_to_one_model() -> None:
    """A copy with other fields begins without forms; one with a payload keeps those of shape."""
    model = used("loaded")
    pattern = model._forms.packed
    assert pattern is not None
    for other in (
        dataclasses.replace(model, gravity=readonly([0.0, 0.0, 1.0])),
        model.with_coupling("none"),
        model.with_elasticity("uncoupled"),
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
    ):
        assert other._forms is not model._forms
        assert other._forms.packed is None
        assert "motor_map" not in other.__dict__
    up = dataclasses.replace(model, gravity=readonly([0.0, 0.0, 1.0]))
    falling = gd.gravity_forces(model, STATE)
    np.testing.assert_allclose(gd.gravity_forces(up, STATE), falling / -9.81, rtol=1e-12)
    loaded = model.with_payload(1.0)
    assert loaded._forms.packed is None
    for name in ("without_parameters", "plan", "drives", "balancers", "springs", "frames"):
        assert getattr(loaded._forms, name) is getattr(model._forms, name)
    gd.mass_matrix(loaded, STATE)
    assert model._forms.packed is pattern


def test_forms_are_no_argument_of_a_copy() -> None:
    with pytest.raises(ValueError, match="_forms"):
        dataclasses.replace(used("loaded"), _forms=None)
