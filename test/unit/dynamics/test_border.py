"""Arrays at the border of the public functions: what is taken, what is refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import geared_dynamics as gd
from geared_dynamics.dynamics import arguments
from geared_dynamics.kernels import layout

URDF = Path(__file__).parents[3] / "urdf"
NAN = np.array([0.0, np.nan, 0.0])
STATE = np.array([0.3, -0.2, 0.7])


@pytest.fixture(scope="module")
def elbow() -> gd.GearedModel:
    return gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")


# Arguments q, v, a, out; words in the error.
REFUSED = {
    "length": (np.zeros(4), STATE, STATE, None, ["q", "(4,)", "(3,)"]),
    "number": (1.0, STATE, STATE, None, ["q", "()"]),
    "text": ("abc", STATE, STATE, None, ["q", "real numbers"]),
    "ragged": ([[1, 2, 3], [1]], STATE, STATE, None, ["q", "real numbers"]),
    "complex": (STATE * 1j, STATE, STATE, None, ["q", "real numbers"]),
    "NaN in v": (STATE, NAN, STATE, None, ["v[1]", "nan", "finite"]),
    "infinity in a": (STATE, STATE, [0, 0, np.inf], None, ["a[2]", "inf"]),
    "NaN in a batch": (np.zeros((2, 3)), np.stack([STATE, NAN]), STATE, None, ["v[1, 1]"]),
    "states": (np.zeros((2, 3)), np.zeros((5, 3)), STATE, None, ["broadcast", "(2, 3)", "(5, 3)"]),
    "out's shape": (STATE, STATE, STATE, np.empty(4), ["out", "(4,)", "(3,)"]),
    "out's type": (STATE, STATE, STATE, np.empty(3, np.float32), ["out", "float32"]),
    "out's order": (STATE, STATE, STATE, np.empty(6)[::2], ["out", "contiguous"]),
    "out is a list": (STATE, STATE, STATE, [0, 0, 0], ["out", "list"]),
    "overflow": (STATE, STATE * 1e300, STATE, None, ["v", "overflows"]),
}


@pytest.mark.parametrize(("q", "v", "a", "out", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(elbow: gd.GearedModel, q, v, a, out, words: list[str]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(gd.GearedDynamicsError) as caught:
        gd.inverse_dynamics(elbow, q, v, a, out=out)
    for word in words:
        assert word in str(caught.value)


def test_aliased_output_is_refused(elbow: gd.GearedModel) -> None:
    q = STATE.copy()
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with q"):
        gd.inverse_dynamics(elbow, q, STATE, STATE, out=q)
    memory = np.zeros(5)
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with v"):
        gd.inverse_dynamics(elbow, STATE, memory[:3], STATE, out=memory[2:])
    gd.inverse_dynamics(elbow, STATE, np.zeros(6)[:3], STATE, out=np.zeros(6)[3:])


def test_anything_like_an_array_is_taken(elbow: gd.GearedModel) -> None:
    expected = gd.inverse_dynamics(elbow, STATE, STATE, STATE)
    strided, frozen = np.zeros(6), STATE.copy()
    strided[::2] = STATE
    frozen.setflags(write=False)
    for q in (list(STATE), tuple(STATE), strided[::2], frozen, STATE[::-1].copy()[::-1]):
        np.testing.assert_array_equal(gd.inverse_dynamics(elbow, q, STATE, STATE), expected)
    whole = gd.inverse_dynamics(elbow, [1, 0, 2], np.array([1, 2, 3]), np.float32([1, 1, 1]))
    np.testing.assert_array_equal(
        whole, gd.inverse_dynamics(elbow, [1.0, 0, 2], [1.0, 2, 3], [1.0] * 3)
    )


def test_batches_broadcast(elbow: gd.GearedModel) -> None:
    q = np.random.default_rng(0).normal(size=(4, 1, 3))
    v = np.random.default_rng(1).normal(size=(5, 3))
    result = gd.inverse_dynamics(elbow, q, v, STATE)
    assert result.shape == (4, 5, 3)
    single = gd.inverse_dynamics(elbow, q[2, 0], v[3], STATE)
    np.testing.assert_array_equal(result[2, 3], single)
    assert gd.mass_matrix(elbow, np.zeros((0, 3))).shape == (0, 3, 3)


def test_out_takes_a_broadcast_load(elbow: gd.GearedModel) -> None:
    loads, out = np.ones((5, 3, 6)), np.empty((5, 3))
    result = gd.inverse_dynamics(elbow, STATE, STATE, STATE, loads, out=out)
    assert result is out
    np.testing.assert_array_equal(
        out[4], gd.inverse_dynamics(elbow, STATE, STATE, STATE, loads[0])
    )
    with pytest.raises(gd.GearedDynamicsError, match="f_ext"):
        gd.inverse_dynamics(elbow, STATE, STATE, STATE, np.ones((2, 6)))
    with pytest.raises(gd.GearedDynamicsError, match="f_ext"):
        gd.inverse_dynamics(elbow, np.zeros((2, 3)), STATE, STATE, np.ones((4, 3, 6)))


def test_every_function_refuses_nan(elbow: gd.GearedModel) -> None:
    for name in ("mass_matrix", "gravity_forces", "potential_energy"):
        with pytest.raises(gd.GearedDynamicsError, match=r"q\[1\]"):
            getattr(gd, name)(elbow, NAN)
    for name in ("coriolis_matrix", "bias_forces", "kinetic_energy", "kinetic_energy_terms"):
        with pytest.raises(gd.GearedDynamicsError, match=r"v\[1\]"):
            getattr(gd, name)(elbow, STATE, NAN)
    for name in ("forward_dynamics", "regressor"):
        with pytest.raises(gd.GearedDynamicsError, match=r"\[1\]"):
            getattr(gd, name)(elbow, STATE, STATE, NAN)
    with pytest.raises(gd.GearedDynamicsError, match="NaN"):
        gd.motor_torques(elbow, NAN)
    with pytest.raises(gd.GearedDynamicsError, match=r"v\[1\]"):
        gd.friction_forces(elbow, NAN)
    with pytest.raises(gd.GearedDynamicsError, match=r"q\[1\]"):
        gd.jacobian(elbow, NAN, "tip")


def test_unknown_frame_lists_the_known_ones(elbow: gd.GearedModel) -> None:
    with pytest.raises(gd.GearedDynamicsError, match=r"'rotor_9'.*did you mean 'rotor_.'.*link_1"):
        gd.pose(elbow, STATE, "rotor_9")


def test_unknown_coupling_is_refused(elbow: gd.GearedModel) -> None:
    with pytest.raises(gd.GearedDynamicsError, match="none, diagonal, complete"):
        elbow.with_coupling("full")  # type: ignore[arg-type]


def test_model_arrays_are_read_only_also_after_copying(elbow: gd.GearedModel) -> None:
    tau = gd.inverse_dynamics(elbow, STATE, STATE, STATE)
    for model in (elbow, copy.deepcopy(elbow), pickle.loads(pickle.dumps(elbow))):
        for array in (model.Gamma, model.J, model.structure_matrix, model.tree.parameters):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
        np.testing.assert_array_equal(gd.inverse_dynamics(model, STATE, STATE, STATE), tau)


def odd_arrays(values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The same numbers in memory, or with a dtype, that the kernels do not read."""
    fields = np.zeros(values.shape, [("q", "f8"), ("i", "i4")])
    fields["q"] = values
    return {
        "unaligned": np.frombuffer(b"0" + values.tobytes(), np.uint8)[1:]
        .view("f8")
        .reshape(values.shape),
        "big-endian": values.astype(">f8"),
        "field": fields["q"],
        "labelled": values.view(np.dtype("f8", metadata={"unit": "rad"})),
        "unpickled": pickle.loads(pickle.dumps(values)),
        "single": values.astype(np.float32),
    }


EVERY_FUNCTION: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": lambda m, x, **o: gd.inverse_dynamics(m, x, x, x, **o),
    "loaded": lambda m, x, **o: gd.inverse_dynamics(m, x, x, x, np.ones((3, 6)), **o),
    "forward_dynamics": lambda m, x, **o: gd.forward_dynamics(m, x, x, x, **o),
    "mass_matrix": gd.mass_matrix,
    "coriolis_matrix": lambda m, x, **o: gd.coriolis_matrix(m, x, x, **o),
    "gravity_forces": gd.gravity_forces,
    "bias_forces": lambda m, x, **o: gd.bias_forces(m, x, x, **o),
    "regressor": lambda m, x, **o: gd.regressor(m, x, x, x, **o),
    "pose": lambda m, x, **o: gd.pose(m, x, "tip", **o),
    "jacobian": lambda m, x, **o: gd.jacobian(m, x, "rotor_3", **o),
    "jacobian_drift": lambda m, x, **o: gd.jacobian_drift(m, x, x, "rotor_3", **o),
    "appended": lambda m, x, **o: gd.regressor(m, x, x, x, friction=True, offset=True, **o),
    "external_forces": lambda m, x, **o: gd.external_forces(m, x, np.ones((3, 6)), **o),
    "kinetic_energy": lambda m, x, **o: gd.kinetic_energy(m, x, x, **o),
    "potential_energy": gd.potential_energy,
    "balancer_forces": gd.balancer_forces,
    "balancer_force_rates": lambda m, x, **o: gd.balancer_force_rates(m, x, x, **o),
    "balancer_energy": gd.balancer_energy,
    "friction_forces": gd.friction_forces,
    "motor_torques": gd.motor_torques,
    "motor_angles": gd.motor_angles,
    "motor_speeds": gd.motor_speeds,
}


@pytest.mark.parametrize("function", EVERY_FUNCTION.values(), ids=EVERY_FUNCTION)
@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "batch"])
def test_odd_memory_is_read_right(
    elbow: gd.GearedModel, function: Callable[..., Any], batch: tuple[int, ...]
) -> None:
    """In any order of first use, for numba remembers the types it has seen."""
    state = np.broadcast_to(STATE.astype(np.float32).astype("f8"), (*batch, 3)).copy()
    expected = function(elbow, state)
    odd = odd_arrays(state)
    for kind in (*odd, *reversed(odd)):
        np.testing.assert_array_equal(function(elbow, odd[kind]), expected, err_msg=kind)


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_odd_outputs(elbow: gd.GearedModel, name: str) -> None:
    """An output is filled where it lies, or refused, never by way of a copy."""
    function = EVERY_FUNCTION[name]
    states = STATE if function(elbow, STATE).shape else np.stack([STATE, STATE[::-1]])
    expected = function(elbow, states)
    for kind, out in odd_arrays(np.zeros(expected.shape)).items():
        if kind in ("labelled", "unpickled"):
            assert function(elbow, states, out=out) is out
            np.testing.assert_array_equal(out, expected)
        else:
            with pytest.raises(gd.GearedDynamicsError, match="out: is a"):
                function(elbow, states, out=out)
    plain = np.empty(expected.shape)
    assert function(elbow, states, out=plain) is plain
    np.testing.assert_array_equal(plain, expected)
    for wrong in (plain.ravel()[:-1], np.empty((2, *expected.shape)), plain.T[::-1]):
        with pytest.raises(gd.GearedDynamicsError, match="out"):
            function(elbow, states, out=wrong)
    for wrong in ([], [[1.0], [1.0, 2.0]], "out", np.ma.array(plain, mask=plain >= -np.inf)):
        with pytest.raises(gd.GearedDynamicsError, match="out: is a"):
            function(elbow, states, out=wrong)


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_output_in_the_input_is_refused(elbow: gd.GearedModel, name: str) -> None:
    function = EVERY_FUNCTION[name]
    size = function(elbow, STATE).size
    memory = np.tile(STATE, max(1, size))
    out = memory[:size].reshape(function(elbow, STATE).shape)
    with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with"):
        function(elbow, memory[:3], out=out)


def test_output_in_the_wrenches_is_refused(elbow: gd.GearedModel) -> None:
    """Also where the kernel would see a copy of them."""
    whole = np.ones((3, 6))
    for loads in (whole, np.ones((3, 12))[:, ::2]):
        out = (loads if loads.base is None else loads.base).reshape(-1)[:3]
        for function in ("external_forces", "inverse_dynamics", "forward_dynamics"):
            states = (STATE,) if function == "external_forces" else (STATE, STATE, STATE)
            with pytest.raises(gd.GearedDynamicsError, match="out: shares memory with f_ext"):
                getattr(gd, function)(elbow, *states, loads, out=out)


def test_energies_of_one_state_take_a_scalar_output(elbow: gd.GearedModel) -> None:
    for function, states in (
        (gd.kinetic_energy, (STATE, STATE)),
        (gd.potential_energy, (STATE,)),
        (gd.balancer_energy, (STATE,)),
    ):
        out = np.empty(())
        assert function(elbow, *states, out=out) is out
        assert out == function(elbow, *states)


def test_shares_of_the_energy_look_into_the_output(elbow: gd.GearedModel) -> None:
    states, out = np.stack([STATE, STATE[::-1]]), np.empty((2, 4))
    terms = gd.kinetic_energy_terms(elbow, states, states, out=out)
    for k, (term, plain) in enumerate(
        zip(terms, gd.kinetic_energy_terms(elbow, states, states), strict=True)
    ):
        assert np.shares_memory(term, out[:, k])
        np.testing.assert_array_equal(out[:, k], plain)
    with pytest.raises(gd.GearedDynamicsError, match=r"out: has shape \(2, 6\)"):
        gd.kinetic_energy_terms(elbow, states, states, out=np.empty((2, 6)))


def test_unaligned_output_is_refused(elbow: gd.GearedModel) -> None:
    out = np.zeros(25, np.uint8)[1:].view("f8")
    with pytest.raises(gd.GearedDynamicsError, match=r"out.*not aligned"):
        gd.inverse_dynamics(elbow, STATE, STATE, STATE, out=out)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_named_with_its_place(value: float) -> None:
    """The first one in the order of memory."""
    array = np.zeros((2, 3))
    array[1, 0] = array[1, 2] = value
    with pytest.raises(gd.GearedDynamicsError) as caught:
        arguments.check_finite("q", array)
    assert str(caught.value) == f"q[1, 0]: is {value}; give finite numbers"
    arguments.check_finite("q", np.zeros((0, 3)))


def test_shapes_that_only_the_kernel_objects_to() -> None:
    """The last resort: every status of a kernel is an error, whatever the inputs look like."""
    arrays = {"q": np.zeros(3), "v": np.zeros(2)}
    for status in (layout.WRONG_SHAPE, layout.NOT_FINITE, layout.OVERLAP):
        with pytest.raises(
            gd.GearedDynamicsError, match=r"do not fit the model: q \(3,\), v \(2,\)"
        ):
            arguments.refuse(status, arrays, np.zeros(3))
