"""Motors that repeat each other are refused at load; redundancy, passive joints, odd units not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.description import freeze
from geared_dynamics.description.drive_records import DrivetrainRecord, MotorRecord, SpinRecord
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel, build_model
from geared_dynamics.model.motor_map import MotorMap, motor_map, rank, structural_rank
from random_gears import body_wheel, serial_robot

URDF = Path(__file__).parents[3] / "urdf"

Z = (0.0, 0.0, 1.0)
LARGE, SMALL = 1e9, 1e-9


def arm(*rows: tuple[float, ...], frozen: tuple[str, ...] = ()) -> GearedModel:
    """An arm with a motor for each row of ratios to its joints, of which some are frozen."""
    robot = serial_robot(*(("revolute", Z, (0.3 * (k > 0), 0, 0)) for k in range(len(rows[0]))))
    spins = [
        SpinRecord(f"w{k}", tuple((f"joint_{j + 1}", c) for j, c in enumerate(row)), f"spins[{k}]")
        for k, row in enumerate(rows)
    ]
    names = [spin.wheel for spin in spins]
    wheels = tuple(body_wheel(name, "base") for name in names)
    motors = tuple(MotorRecord(f"m{name}", name) for name in names)
    drives = DrivetrainRecord("file.yaml", wheels, tuple(spins), motors=motors)
    movable = [joint.name for joint in robot.joints if joint.name not in frozen]
    return build_model(freeze(robot, movable, None), drives, frozen=frozenset(frozen))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, 1), (1, 1)], ["'w0', 'w1'", "'joint_1', 'joint_2'", "rank 1, not 2"]),
        ([(100, -50), (-40, 20)], ["'w0', 'w1'", "rank 1, not 2"]),
        ([(1 / 3, 1 / 7), (7, 3)], ["rank 1, not 2"]),
        ([(LARGE, 1), (1, SMALL)], ["rank 1, not 2"]),
        # Only the two are named, beside a motor that is in order.
        ([(1, 1, 0), (0, 0, 5), (2, 2, 0)], ["wheels 'w0', 'w2'", "joints 'joint_1', 'joint_2'"]),
        ([(1, 1, 0), (0, 1, 1), (1, 2, 1)], ["'w0', 'w1', 'w2'", "rank 2, not 3"]),
        # The third joint is passive, and no excuse.
        ([(1, 1, 0), (1, 1, 0)], ["'w0', 'w1'", "joints 'joint_1', 'joint_2' make"]),
    ],
)
def test_refused(rows: list[tuple[float, ...]], words: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        arm(*rows)
    message = str(caught.value)
    assert message.startswith("file.yaml, motors: ")
    assert "correct the ratios" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(30, 0), (-40, 0), (0, 10)], 2),  # two motors on one joint
        ([(30, 0), (30, 0)], 1),  # likewise, the other joint passive
        ([(1, 1), (1, 1), (1, -1)], 2),  # three motors on two joints
        ([(1, 1, 1)], 1),  # one motor on a hand
        ([(1, 0, 0), (2, 0, 0), (0, 1, 3)], 2),  # redundant here, underactuated there
        ([(LARGE, 0), (0, SMALL)], 2),
        ([(LARGE, SMALL), (SMALL, LARGE)], 2),
        ([(LARGE, 1), (LARGE, -1)], 2),
        ([(1, 0, 0), (LARGE, 1, 0), (LARGE**2, LARGE, 1)], 3),
        ([(1e300, 0), (0, 1e-300)], 2),
        ([(1, 1), (1, 1 + 1e-6)], 2),
    ],
)
def test_accepted(rows: list[tuple[float, ...]], expected: int) -> None:
    A = np.array(rows, float).T
    assert rank(A) == structural_rank(A) == expected
    if np.abs(A).max() < 1e100:
        arm(*rows)


def test_motors_that_differ_in_a_frozen_joint() -> None:
    """Held still, it makes them the same for a while; those that are the same stay refused."""
    finger = (1, 1, 0), (1, 1, 1)
    assert rank(arm(*finger).structure_matrix) == 2
    assert rank(arm(*finger, frozen=("joint_3",)).structure_matrix) == 1
    with pytest.raises(ModelError, match="rank 1, not 2"):
        arm((1, 1, 2), (1, 1, 2), frozen=("joint_3",))
    # Two motors on joint 1 and a joint held still: redundant, whatever they do to that.
    arm((1, 1, 0), (2, 2, 0), frozen=("joint_2",))


@pytest.mark.parametrize("n", [2, 7, 20])
def test_rank_in_any_units(n: int) -> None:
    """Random matrices with rows and columns in units up to 18 orders apart."""
    random = np.random.default_rng(n)
    for _ in range(20):
        A = random.normal(size=(n, n))
        A *= np.multiply.outer(*10.0 ** random.uniform(-9, 9, (2, n)))
        assert rank(A) == n
        A[:, 0] = A[:, 1:] @ random.normal(size=n - 1)
        assert rank(A) == n - 1


def test_nothing_has_no_rank() -> None:
    assert rank(np.zeros((3, 0))) == structural_rank(np.zeros((3, 0))) == 0
    assert rank(np.zeros((2, 2))) == structural_rank(np.zeros((2, 2))) == 0


def test_rank_is_the_sum_over_parts_that_share_nothing() -> None:
    """Whole numbers, rows and columns shuffled: NumPy's singular values are exact enough."""
    random = np.random.default_rng(5)
    for _ in range(200):
        A, corner = np.zeros((9, 8)), [0, 0]
        while corner[0] < 9 and corner[1] < 8:
            rows, columns = random.integers(1, 4, 2)
            block = random.integers(-2, 3, (rows, columns)).astype(float)
            here = A[corner[0] :, corner[1] :][:rows, :columns]
            here[:] = block[: len(here), : here.shape[1]]
            corner[0] += rows
            corner[1] += columns
        A = A[random.permutation(9)][:, random.permutation(8)]
        assert rank(A) == np.linalg.matrix_rank(A)


def test_long_arms_of_coupled_motors_have_a_matching() -> None:
    """Motor k turns with joints k - 1 and k: to give each its own, all may have to move."""
    n = 2500
    coupled = np.eye(n) + np.eye(n, k=1)
    assert structural_rank(coupled) == structural_rank(coupled[:, ::-1]) == n
    coupled[:, -1] = 0.0
    assert structural_rank(coupled) == n - 1
    last = np.eye(n, k=1)  # no motor has joint n but the first one, which comes last
    last[:, 0] = 1.0
    assert structural_rank(last) == structural_rank(last[:, ::-1]) == n


# -- The motor map --------------------------------------------------------------------------------


def random_map(n: int, m: int, seed: int, units: float = 1.0) -> tuple[np.ndarray, MotorMap]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, m)) * rng.uniform(1.0, units, (n, 1))
    return A, motor_map(A, rng.normal(size=m))


@pytest.mark.parametrize(("n", "m"), [(3, 3), (2, 5), (4, 2), (3, 0), (1, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_inverse_is_moore_and_penrose_s(n: int, m: int, seed: int) -> None:
    A, found = random_map(n, m, seed)
    np.testing.assert_allclose(found.inverse, np.linalg.pinv(A), rtol=1e-10, atol=1e-13)
    assert found.rank == min(n, m)
    assert found.complete == (m >= n)


def test_coordinates_that_no_motor_moves() -> None:
    """They get no share, and where two motors move one coordinate alone, both share it."""
    A = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1e-5]])
    found = motor_map(A, np.zeros(3))
    assert (found.rank, found.complete) == (2, False)
    expected = [[3 / 25, 0, 0], [4 / 25, 0, 0], [0, 0, -1e5]]
    np.testing.assert_allclose(found.inverse, expected, rtol=1e-14)


def test_motors_that_repeat_each_other_and_are_too_few() -> None:
    A = np.outer([1.0, 2.0, 0.0], [2.0, 3.0])
    found = motor_map(A, np.zeros(2))
    assert found.rank == 1
    np.testing.assert_allclose(found.inverse, np.linalg.pinv(A), rtol=1e-12, atol=1e-15)


def test_units_of_very_different_size_lose_nothing() -> None:
    """NumPy's pseudo-inverse takes the row of a joint in nanometres for zero."""
    A = np.array([[1.0, 0.5], [1e-17, -3e-17]])
    found = motor_map(A, np.zeros(2))
    assert found.complete
    np.testing.assert_allclose(A @ found.inverse, np.eye(2), rtol=1e-12, atol=1e-28)
    assert np.abs(A @ np.linalg.pinv(A) - np.eye(2)).max() > 0.5  # negative control


def test_angles_and_coordinates_there_and_back() -> None:
    model = gd.load_model(URDF / "brisk6.urdf", URDF / "brisk6.drivetrain.yaml")
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (5, model.n))
    shown = gd.motor_angles(model, q)
    np.testing.assert_allclose(model.motor_map.coordinates(shown), q, atol=1e-12)


def test_the_map_of_an_arm_with_springs_has_its_shafts() -> None:
    model = gd.load_model(URDF / "wave6.urdf", URDF / "wave6.drivetrain.yaml")
    motors = model.elastic_motor_map
    np.testing.assert_array_equal(motors.A, gd.elastic.structure_matrix(model))
    np.testing.assert_allclose(motors.inverse, np.linalg.pinv(motors.A), rtol=1e-12, atol=1e-15)
    wide = model.with_springs().motor_map
    np.testing.assert_array_equal(wide.A, motors.A)
