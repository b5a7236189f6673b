"""Motors and lossy gears of the Modelica Standard Library, against its reference results.

Other people's simulations, with a solver's tolerance of 1e-6, and not measurements.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.arrays import Array
from geared_dynamics.description.drive_records import FrictionRecord
from motor_data import with_motors
from naive.measure import holds

scipy_integrate = pytest.importorskip("scipy.integrate")
scipy_linalg = pytest.importorskip("scipy.linalg")
scipy_interpolate = pytest.importorskip("scipy.interpolate")

NONE = FrictionRecord()
TIGHT = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-12}


def reference(folder: Path, name: str) -> dict[str, Array]:
    """Columns of a result; where events give a time twice, the later one."""
    path = folder / "msl_reference" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"no reference data: {path.name} is not in the shared data")
    with path.open(encoding="utf-8") as file:
        names = [word.strip('"') for word in file.readline().strip().split(",")]
        rows = np.loadtxt(file, delimiter=",")
    rows = rows[np.append(np.diff(rows[:, 0]) > 0, True)]
    return dict(zip(names, rows.T, strict=True))


def shaft(rotor: float, load: float, ratio: float) -> gd.GearedModel:
    """A rotor geared to a load on one axis."""
    robot = (
        '<robot name="shaft"><link name="base"/><link name="load"><inertial><mass value="1"/>'
        f'<inertia ixx="{load!r}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="joint" type="continuous"><parent link="base"/><child link="load"/>'
        '<axis xyz="1 0 0"/></joint></robot>'
    )
    wheel = {"carrier": "base", "axis": [1, 0, 0], "mass": 1.0, "inertia": {"axial": rotor}}
    drives = {
        "version": 1,
        "wheels": {"rotor": wheel},
        "spins": [{"wheel": "rotor", "joint": "joint", "ratio": ratio}],
        "motors": {"motor": {"wheel": "rotor"}},
    }
    return gd.load_model(robot, drives)


# A DC motor starts on a ramp of voltage and is loaded once it runs.
K_START = 95.0 / (1425.0 * np.pi / 30.0)  # 95 V at 1425 rev/min
RAMP, LOADED, LOAD = (0.2, 1.0), 1.5, 63.66


def dc_start(constant: float, times: Array) -> tuple[Array, Array]:
    """Current and speed of DCPM_Start at some times."""
    model = with_motors(
        shaft(0.15, 0.15, 1.0),
        resistance=0.05,
        inductance=0.0015,
        torque_constant=constant,
        rotor=NONE,
    )

    def rate(t: float, x: Array) -> Array:
        voltage = 100.0 * np.clip((t - RAMP[0]) / (RAMP[1] - RAMP[0]), 0.0, 1.0)
        outside = -LOAD if t > LOADED else 0.0
        found = gd.driven_rates(model, x[:1], x[1:2], x[2:], [voltage], external=[outside])
        return np.concatenate([x[1:2], found.a, found.current])

    x, columns = np.zeros(3), []
    for start, end in pairwise((0.0, *RAMP, LOADED, 2.0)):
        inside = times[(times > start) & (times <= end)]
        # The load comes on after ``start``: a whisker later the force has no corner left.
        done = scipy_integrate.solve_ivp(
            rate, (np.nextafter(start, 2.0), end), x, t_eval=np.union1d(inside, [end]), **TIGHT
        )
        columns.append(done.y[:, np.isin(done.t, inside)])
        x = done.y[:, -1]
    found = np.hstack(columns)
    return found[2], found[1]


def test_dc_motor_start(shared_data: Path) -> None:
    """DCPM_Start: 1e-4 A of 112 A, 1e-5 rad/s of 149 rad/s."""
    data = {key: values[1::40] for key, values in reference(shared_data, "DCPM_Start").items()}
    current, speed = dc_start(K_START, data["time"])
    amperes = float(np.abs(current - data["dcpm.la.i"]).max())
    radians = float(np.abs(speed - data["loadInertia.w"]).max())
    assert holds("Modelica DCPM_Start, current [A]", amperes, 1.5e-4)
    assert holds("Modelica DCPM_Start, speed [rad/s]", radians, 1.5e-5)
    wrong, _ = dc_start(1.01 * K_START, data["time"])
    assert np.abs(wrong - data["dcpm.la.i"]).max() > 0.1


def dc_start_exactly(times: Array) -> tuple[Array, Array]:
    """Current and speed of DCPM_Start by matrix exponentials: the equations are linear."""
    R, L, J, k = 0.05, 0.0015, 0.3, K_START
    found, x = np.zeros((len(times), 2)), np.zeros(2)
    for start, end in pairwise((0.0, *RAMP, LOADED, 2.0)):
        matrix = np.zeros((4, 4))  # of current, speed, voltage and 1
        matrix[:2, :2] = [[-R / L, -k / L], [k / J, 0.0]]
        matrix[0, 2] = 1.0 / L
        matrix[1, 3] = -LOAD / J if start >= LOADED else 0.0
        matrix[2, 3] = 100.0 / (RAMP[1] - RAMP[0]) if start == RAMP[0] else 0.0
        begin = np.array([*x, 0.0 if start <= RAMP[0] else 100.0, 1.0])
        for row in np.flatnonzero((times > start) & (times <= end)):
            found[row] = (scipy_linalg.expm(matrix * (times[row] - start)) @ begin)[:2]
        x = (scipy_linalg.expm(matrix * (end - start)) @ begin)[:2]
    return found[:, 0], found[:, 1]


def test_the_difference_is_the_references_own(shared_data: Path) -> None:
    """The exact solution is as far from the reference as ours, and ours is on it."""
    data = {key: values[1::40] for key, values in reference(shared_data, "DCPM_Start").items()}
    exact, _ = dc_start_exactly(data["time"])
    ours, _ = dc_start(K_START, data["time"])
    theirs = float(np.abs(exact - data["dcpm.la.i"]).max())
    mine = float(np.abs(exact - ours).max())
    print(f"figure: Modelica DCPM_Start, exact: reference {theirs:.2e} off, ours {mine:.1e}")
    assert 1e-4 < theirs < 1.5e-4
    assert mine < 1e-6


# A gear with half its power lost either way: rolling backward, stuck, forward, stuck, backward.
def lossy_gear(efficiency: float = 0.5) -> gd.GearedModel:
    """J1 = 1 geared 2:1 to J2 = 1.5."""
    return with_motors(shaft(1.0, 1.5, 2.0), efficiency=(efficiency, efficiency), rotor=NONE)


def lossy_acceleration(model: gd.GearedModel, t: float, v: float) -> float:
    """Acceleration of J2 under the sine on J1 and the ramp on J2."""
    torque, outside = 10.0 * np.sin(2.0 * np.pi * t), -10.0 + 2.5 * t
    found = gd.motion_from_torque(model, [0.0], [v], [torque], external=[outside], mode="exact")
    return float(found[0])


def lossy_run(model: gd.GearedModel, times: Array) -> tuple[Array, Array]:
    """Position and speed of J2 at some times, from event to event."""
    q, v = np.zeros(len(times)), np.zeros(len(times))
    t, angle, end = 0.0, 0.0, float(times[-1])

    def moving(t: float, x: Array) -> list[float]:
        return [float(x[1]), lossy_acceleration(model, t, float(x[1]))]

    def stops(_: float, x: Array) -> float:
        return float(x[1])

    stops.terminal = True  # type: ignore[attr-defined]
    while t < end:
        a = lossy_acceleration(model, t, 0.0)
        if abs(a) < 1e-9:  # stuck until it breaks loose
            loose = breaking_loose(model, t, end)
            q[(times > t) & (times <= loose)] = angle
            t = loose
            continue
        stops.direction = -np.sign(a)  # type: ignore[attr-defined]
        inside = times[(times > t) & (times <= end)]
        done = scipy_integrate.solve_ivp(
            moving, (t, end), [angle, 0.0], t_eval=inside, events=stops, max_step=0.01, **TIGHT
        )
        reached = np.isin(times, done.t)
        q[reached], v[reached] = done.y
        if not done.t_events[0].size:
            break
        t, angle = float(done.t_events[0][0]), float(done.y_events[0][0][0])
    return q, v


def breaking_loose(model: gd.GearedModel, t: float, end: float) -> float:
    """First time after t at which J2 accelerates from rest, by bisection; ``end`` if none."""
    grid = np.linspace(t, end, 200)
    late = next((x for x in grid[1:] if abs(lossy_acceleration(model, x, 0.0)) > 1e-9), None)
    if late is None:
        return end
    low, high = float(late) - float(grid[1] - grid[0]), float(late)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if abs(lossy_acceleration(model, middle, 0.0)) > 1e-9:
            high = middle
        else:
            low = middle
    return high


def rolling(data: dict[str, Array], mode: str, margin: int = 4) -> Array:
    """Where a mode is the same in the neighbouring samples and not 0."""
    m = data[mode]
    same = np.ones(len(m), dtype=bool)
    for shift in range(-margin, margin + 1):
        same &= np.roll(m, shift) == m
    same[: margin + 2] = same[-margin - 2 :] = False
    return same & (m != 0.0)


def test_lossy_gear_rolling(shared_data: Path) -> None:
    """LossyGearDemo1: accelerations from the reference's speeds, by a spline."""
    data = reference(shared_data, "LossyGearDemo1")
    t, w, model = data["time"], data["Inertia2.w"], lossy_gear()
    worst = 0.0
    where = rolling(data, "gear.mode", 12)  # a spline is worse near its ends
    for part in np.split(np.arange(len(t)), np.flatnonzero(np.diff(data["gear.mode"])) + 1):
        if len(part) < 20 or data["gear.mode"][part[0]] == 0.0:
            continue
        slope = scipy_interpolate.CubicSpline(t[part], w[part])(t[part], 1)
        inner = where[part]
        found = [
            lossy_acceleration(model, time, speed)
            for time, speed in zip(t[part][inner], w[part][inner], strict=True)
        ]
        worst = max(worst, float(np.abs(slope[inner] - found).max()))
    assert holds("Modelica LossyGearDemo1, rolling [rad/s^2]", worst, 4.5e-6)


def test_lossy_gear_sticks_and_rolls(shared_data: Path) -> None:
    """The whole run: when it sticks, when it breaks loose, where it is."""
    data = reference(shared_data, "LossyGearDemo1")
    t = data["time"][1:]
    q, v = lossy_run(lossy_gear(), t)
    off = [np.abs(q - data["Inertia2.phi"][1:]).max(), np.abs(v - data["Inertia2.w"][1:]).max()]
    assert holds("Modelica LossyGearDemo1, run [rad, rad/s]", float(max(off)), 1e-6)
    modes = np.where(np.abs(v) > 1e-9, np.sign(v), 0.0)
    calm = np.concatenate([[True], np.diff(data["gear.mode"][1:]) == 0]) & (np.abs(v) != 0)
    assert np.mean(modes[calm] == data["gear.mode"][1:][calm]) > 0.99
    wrong, _ = lossy_run(lossy_gear(0.505), t)
    assert np.abs(wrong - data["Inertia2.phi"][1:]).max() > 1e-4


# Axis 2 of the Manutec r3: motor, bearing friction at the motor, spring to the gear.
J_AXIS, K_AXIS, RATIO = 0.0013, 1.1616, 210.0
SPRING, DAMPER, COULOMB, VISCOUS = 8.0, 0.01, 0.5, 0.1 / 130.0


def axis_motor(coulomb: float = COULOMB) -> gd.GearedModel:
    """The motor alone; its shaft is the joint, without inertia of its own."""
    friction = FrictionRecord(viscous=VISCOUS, coulomb=coulomb)
    model = shaft(J_AXIS, 0.0, 1.0)
    return with_motors(model, torque_constant=K_AXIS, rotor=friction)


def axis_torques(data: dict[str, Array], model: gd.GearedModel) -> Array:
    """What is missing in J w' = k i - friction + spring where the motor turns [N m]."""
    stretch, rate = data["axis.gear.spring.phi_rel"], data["axis.gear.spring.w_rel"]
    speed = RATIO * data["axis.initializeFlange.w_flange"] - rate
    spring = SPRING * stretch + DAMPER * rate
    torque = K_AXIS * data["axis.motor.La.i"]
    change = scipy_interpolate.CubicSpline(data["time"], speed)(data["time"], 1)
    turning = rolling(data, "axis.gear.bearingFriction.mode") & (data["time"] > 0.02)
    v, T, outside = (x[turning, None] for x in (speed, torque, spring))
    a = gd.motion_from_torque(model, 0.0 * v, v, T, external=outside, mode="exact")
    return np.asarray(J_AXIS * (change[turning] - a[:, 0]))


def test_motor_of_an_axis(shared_data: Path) -> None:
    """OneAxis: the motor's torque balance; the spline's error counts, at corners of the path."""
    data = reference(shared_data, "OneAxis")
    missing = np.abs(axis_torques(data, axis_motor()))
    typical, most = np.quantile(missing, [0.5, 0.95])
    assert holds("Modelica OneAxis, motor, median [N m]", float(typical), 3e-6)
    assert holds("Modelica OneAxis, motor, 95 % [N m]", float(most), 3e-6)
    wrong = np.abs(axis_torques(data, axis_motor(1.01 * COULOMB)))
    assert np.quantile(wrong, 0.5) > 1e-3
