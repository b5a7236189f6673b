"""Arguments of the wrong type or size, for every public loader, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd

BOX = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
URDF = (
    f'<robot name="arm"><link name="base"/><link name="one">{BOX}</link>'
    f'<link name="two">{BOX}</link>'
    '<joint name="j1" type="continuous"><parent link="base"/><child link="one"/></joint>'
    '<joint name="j2" type="continuous"><parent link="one"/><child link="two"/></joint></robot>'
)
BODY = {"mass": 1.0, "tensor": np.eye(3)}
DH = {"a": 0.4, "alpha": 0.0, "com": (-0.2, 0.0, 0.0), **BODY}
RODRIGUES = {
    "axis": (0, 0, 1),
    "axis_below": (0, 0, 1),
    "to_centre": (0.2, 0, 0),
    "from_centre": (-0.2, 0, 0),
    **BODY,
}
Loader = Callable[..., gd.GearedModel]
LOADERS: dict[str, Loader] = {
    "load_model": lambda **given: gd.load_model(**{"urdf": URDF, **given}),
    "from_dh": lambda **given: gd.from_dh(**{"rows": [DH], **given}),
    "from_rodrigues": lambda **given: gd.from_rodrigues(**{"rows": [RODRIGUES], **given}),
}
HUGE = 10**400  # too large for a float
WRONG: dict[str, list[Any]] = {
    "urdf": [5, None, ["arm.urdf"], {}, np.zeros(3), object()],
    "rows": [5, None, True, "row", np.array(5.0), [5], [None], {}, [{"x": 1}], object()],
    "drivetrain": [5, True, ["file.yaml"], {1: 2}, {"version": object()}, np.zeros(3)],
    "srdf": [5, True, ["file.srdf"], {}, np.zeros(3)],
    "gravity": [
        *[5, None, "down", [0, 0], [0, 0, HUGE], [0, 0, np.nan], [0, 0, 1e200], {}, [[1]]],
        *[["0", "0", "-9.81"], [0, 0, "-9.81"], [b"0", 0, 0]],
        *[np.ma.array([0, 0, -9.81], mask=[0, 0, 1]), [0, 0, -9.81j]],
    ],
    "joints": [5, True, "j1", b"j1", [5], [None], [["j1"]], np.array(5.0), object()],
    "lock": [
        *[5, True, "", "j1", [], ["j1"], np.zeros(3), object()],
        *[{5: 1}, {"j1": "x"}, {"j1": None}, {"j1": HUGE}, {"j1": 1e200}, {"j1": [1]}],
        *[{"j1": "0.5"}, {"j1": b"1"}, {"j1": np.array("1")}, {"j1": np.str_("1")}],
    ],
    "convention": [5, None, "dh", ["standard"], np.zeros(3)],
    "carrier_frame": [5, True, "standard", ["dh"], np.zeros(3)],
    "name": [5, None, ["arm"], np.zeros(3), "", " ", "a\0b", "a\nb", " arm", "${x}", "\ud800"],
    "strict": [5, None, "yes", [True], np.zeros(3)],
}
ARGUMENTS = {
    "load_model": ["urdf", "drivetrain", "srdf", "gravity", "joints", "lock", "strict"],
    "from_dh": [
        *["rows", "drivetrain", "convention", "carrier_frame", "name", "gravity", "strict"]
    ],
    "from_rodrigues": ["rows", "drivetrain", "name", "gravity", "strict"],
}
CASES = [
    pytest.param(loader, argument, value, id=f"{loader}-{argument}-{k}")
    for loader, arguments in ARGUMENTS.items()
    for argument in arguments
    for k, value in enumerate(WRONG[argument])
]


def refuse(call: Callable[[], object], *words: str) -> None:
    """Check that a call is refused with a complete error, without a warning of NumPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(gd.GearedDynamicsError) as caught:
            call()
    error = caught.value
    assert error.place
    assert error.finding
    assert error.remedy
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(("loader", "argument", "value"), CASES)
def test_argument_is_refused(loader: str, argument: str, value: Any) -> None:
    refuse(partial(LOADERS[loader], **{argument: value}), argument)


@pytest.mark.parametrize("loader", LOADERS)
def test_good_arguments_are_not_refused(loader: str) -> None:
    model = LOADERS[loader](gravity=np.zeros(3), strict=np.bool_(True), drivetrain=None)
    assert model.notes == ()


def test_joints_may_come_from_anywhere() -> None:
    assert gd.load_model(URDF, joints=(name for name in ["j2"])).joint_names == ("j2",)
    assert gd.load_model(URDF, joints={"j1": 0.0}, lock={}).joint_names == ("j1",)


FIELDS: dict[str, list[Any]] = {
    "link": [5, ["one"], np.zeros(3), "", "  ", "a\x07", "one ", "$(arg x)", "\uffff"],
    "joint": [5, ["j1"], np.zeros(3), "", "a\tb"],
    "kind": [5, ["revolute"], np.array(["revolute", "fixed"])],
    "limit": [5, (0, 1), {}],
    "friction": [5, (0.1, 0.2), {}],
    "mass": [None, "x", "1", b"1", [1], HUGE, 1e200],
    "tensor": ["x", [1], HUGE, np.eye(3) * 1e200],
}
LENGTHS = {
    "from_dh": {"a": [None, "x", HUGE, 1e308], "com": [5, (1e200, 0, 0)]},
    "from_rodrigues": {
        key: [None, [1], HUGE, (1e200, 0, 0)]
        for key in ("axis", "axis_below", "to_centre", "from_centre")
    },
}


@pytest.mark.parametrize(
    ("loader", "key", "value"),
    [
        pytest.param(loader, key, value, id=f"{loader}-{key}-{k}")
        for loader, lengths in LENGTHS.items()
        for key, values in {**FIELDS, **lengths}.items()
        for k, value in enumerate(values)
    ],
)
def test_field_of_a_row_is_refused(loader: str, key: str, value: Any) -> None:
    row = {"from_dh": DH, "from_rodrigues": RODRIGUES}[loader]
    refuse(partial(LOADERS[loader], rows=[{**row, key: value}]), f"rows[0].{key}")


LOPSIDED = np.diag([1.0, 1.0, 1.0]) + 1e-8 * np.eye(3, k=1)
PAYLOADS: list[tuple[Any, ...]] = [
    *[(HUGE,), (1e200,), ("x",), (1.0, (1e200, 0, 0)), (1.0, (0, 0, HUGE))],
    *[("3",), (b"3",), (np.array("3"),), (1.0, ("0", 0, 0)), (1.0, (0, 0, 0), np.eye(3) * 1j)],
    *[(1.0, (0, 0, 0), LOPSIDED), (1.0, np.ma.array(np.zeros(3), mask=[1, 0, 0]))],
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: f"{payload!r:.20}")
def test_payload_is_refused(payload: tuple[Any, ...]) -> None:
    refuse(lambda: gd.load_model(URDF).with_payload(*payload), "with_payload")


def test_name_of_another_type_is_refused() -> None:
    model = gd.load_model(URDF)
    refuse(lambda: model.with_payload(1.0, link=np.zeros(3)), "link")  # type: ignore[arg-type]
    refuse(lambda: model.with_coupling(np.zeros(3)), "coupling")  # type: ignore[arg-type]
    refuse(lambda: model.frame(np.zeros(3)), "link or wheel")  # type: ignore[arg-type]


def test_numbers_of_all_kinds_are_read() -> None:
    """What is refused is text, not what Python and NumPy call a number."""
    for value in (1, np.float32(1.0), np.array(1.0), Fraction(1), Decimal(1), True):
        model = gd.load_model(URDF, lock={"j1": value}, gravity=(0, 0, value))  # type: ignore[dict-item]
        assert model.gravity[2] == 1.0
        assert model.with_payload(value).tree.parameters[0, 0] == 2.0  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_turned_payload_is_not_refused(seed: int) -> None:
    """R I R' is symmetric but for rounding; what is kept is symmetric to the last digit."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    tensor = turn @ np.diag([0.1, 0.2, 0.25]) @ turn.T
    assert not np.array_equal(tensor, tensor.T) or seed
    model = gd.load_model(URDF)
    loaded = model.with_payload(1.0, (0.1, 0.2, 0.3), tensor)
    turned = model.with_payload(1.0, (0.1, 0.2, 0.3), tensor.T)
    np.testing.assert_array_equal(loaded.tree.parameters, turned.tree.parameters)


def test_names_that_are_taken_come_back_from_the_urdf() -> None:
    rows = [{**DH, "link": "Glied 1 <ä>", "joint": 'a"b&c'}]
    model = gd.from_dh(rows, name="Arm — №1")
    again = gd.load_model(gd.to_urdf(model))
    assert (again.name, again.joint_names) == (model.name, model.joint_names)
    assert again.body_names == model.body_names
