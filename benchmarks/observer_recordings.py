"""The Kalman filter on recordings: link encoders of a KUKA KR300, and a Modelica reference.

The data are no part of this package; they belong in ../shared/data, or GEARED_DYNAMICS_DATA names
their folder (kr300_weigand: J. Weigand, Robot_Identification; msl_reference: Modelica).

KR300, 250 Hz: from the motors' encoders and torques alone, the links' encoders of axes 1 to 3 are
predicted, with stiffness, payload and friction as published with the recordings; nothing is tuned
to the links' encoders. These lag by some 3 ms and have offsets, so that q_motor - q_link and
q_observer - q_link are both freed of what a lag times the velocity and an offset explain. A second
table asks what of q_motor - q_link goes with the spring's torque at all, and with which stiffness
it would fit best, if the encoder may also have an error that repeats with its own turn
(eccentricity: cosine and sine of q; once and twice).

OneAxis: motor angle with 17 bits and noise, current; position and velocity of the link are the
reference's.

Run: python benchmarks/observer_recordings.py
"""

import json
import os
from pathlib import Path

import numpy as np
import yaml
from observer_plant import TURN
from scipy import signal

import geared_dynamics as gd

ob = gd.observers
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data"))
STEP, FIRST = 0.004, 150  # of the KR300's recordings [s]; instants until the filter has settled
PAYLOAD, REACH = 150.0, 0.1  # [kg], [m] in front of the flange
AXIS = """<robot name="one_axis"><link name="base"/><link name="load"><inertial><mass value="1"/>
<inertia ixx="19.5" iyy="19.5" izz="19.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="axis" type="continuous"><parent link="base"/><child link="load"/>
<axis xyz="0 0 1"/></joint></robot>"""
RATIO, SPRING, DAMPER, TORQUE = 210.0, 8.0, 0.01, 1.1616  # motor side; [N m/A]


def kr300() -> gd.GearedModel:
    """The robot with published stiffness and friction, motor side."""
    values = json.loads((DATA / "kr300_weigand" / "para_from_mat.json").read_text("utf-8"))
    u = np.array(values["u"])
    drives = yaml.safe_load((ROOT / "urdf" / "kr300.drivetrain.yaml").read_text("utf-8"))
    drives["joints"] = {
        f"joint_{k}": {"stiffness": K} for k, K in enumerate(values["c_rad_ff"][:3], start=1)
    }
    viscous = np.array(values["f_vis"]) / u**2
    coulomb = (np.array(values["f_coul"]) + np.array(values["f_a"])) / u
    for k, (a, b) in enumerate(zip(viscous, coulomb, strict=True), start=1):
        law = {"viscous": float(a), "coulomb": float(b), "smoothing": 1.0}
        drives["motors"][f"motor_{k}"]["friction"] = law
    model = gd.load_model(ROOT / "urdf" / "kr300.urdf", drives)
    return model.with_payload(PAYLOAD, (0.0, 0.0, REACH), link="flange")


def link_encoders() -> None:
    """Print how well the links' encoders are predicted."""
    model = kr300()
    gains = ob.kalman_gains(
        model,
        resolution=TURN,
        noise=1e-3,
        bandwidth=5.0,
        motor_torque_noise=0.2,
        rate=1 / STEP,
        hold=0.1,
        jump=2.0,
    )
    print("KR300  axis  motor - link  observer - link [µrad]  factor   lag [ms]")
    springs = []
    for run in "AB":
        table = np.genfromtxt(
            DATA / "kr300_weigand" / f"traj_{run}.csv", delimiter=",", names=True
        )
        motor, link, torque = (
            np.column_stack([table[f"{name}_{k}"] for k in range(1, count + 1)])
            for name, count in (("q_motor_deg", 6), ("q_link_deg", 3), ("tau_motor_Nm", 6))
        )
        motor, link = np.deg2rad(motor), np.deg2rad(link)
        state, q, torque_of = None, [], []
        for angle, tau_m in zip(motor, torque, strict=True):
            phi = gd.elastic.motor_angles(model, angle, angle[:3])
            reading = ob.Measurement(phi, tau_m)
            if state is None:
                state = ob.kalman_start(model, gains, reading)
            else:
                state = ob.kalman_step(model, gains, state, reading, STEP)
            q.append(state.mean[:3])
            torque_of.append(gd.observers.estimate(model, state).joint_torque[:3])
        v = np.gradient(motor[:, :3], STEP, axis=0)
        for j in range(3):
            before, _ = without_lag(motor[:, j] - link[:, j], v[:, j])
            after, lag = without_lag(np.array(q)[:, j] - link[:, j], v[:, j])
            print(
                f"run {run}  {j + 1}  {1e6 * before:10.1f} {1e6 * after:15.1f} "
                f"{before / after:19.2f} {1e3 * lag:10.2f}   valid {state.health.valid}"
            )
            twist = motor[:, j] - link[:, j]
            columns = motor[:, j], v[:, j], np.array(torque_of)[:, j]
            springs.append((run, j, twist[FIRST:], np.column_stack(columns)[FIRST:]))
    what_springs_explain(springs, model.elasticity.stiffness)


def what_springs_explain(springs: list[tuple], stiffness: np.ndarray) -> None:
    """Print how much of the twist the springs' torque explains, and at which 1 / K."""
    print("\n1 / K that fits best [1e-9 rad/(N m)], and the twist that the torque explains [%],")
    print("with the encoder's error zero   once a turn   once and twice   listed 1 / K")
    for j in range(3):
        for run in ("A", "B", "AB"):
            chosen = [(y, x) for name, axis, y, x in springs if axis == j and name in run]
            found = [compliance(chosen, harmonics) for harmonics in (0, 1, 2)]
            line = "   ".join(f"{1e9 * a:7.0f} {100 * part:4.0f} %" for a, part in found)
            print(f"run {run:2}  axis {j + 1}  {line}   {1e9 / stiffness[j]:7.0f}")


def compliance(chosen: list[tuple], harmonics: int) -> tuple[float, float]:
    """Best 1 / K over some runs, each with its own offset, and the share it explains."""
    twist = np.concatenate([y for y, _ in chosen])
    q, v, torque = np.concatenate([x for _, x in chosen]).T
    run = np.repeat(np.eye(len(chosen)), [len(y) for y, _ in chosen], axis=0)
    turns = [f(k * q) for k in range(1, harmonics + 1) for f in (np.cos, np.sin)]
    others = np.column_stack([v, run, *turns])
    rest, own = (y - others @ np.linalg.lstsq(others, y, rcond=None)[0] for y in (twist, torque))
    best = float(own @ rest / (own @ own))
    return best, float(best * (own @ rest) / (rest @ rest))


def without_lag(difference: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Rms of what lag * v + offset leaves, and the lag [s]."""
    columns = np.column_stack([v, np.ones(len(v))])[FIRST:]
    found = np.linalg.lstsq(columns, difference[FIRST:], rcond=None)[0]
    return float(np.std(difference[FIRST:] - columns @ found)), float(found[0])


def one_axis() -> None:
    """Print position and velocity of the reference's load."""
    drives = {
        "version": 1,
        "wheels": {
            "rotor": {
                "carrier": "base",
                "axis": [0, 0, 1],
                "mass": 0.1,
                "inertia": {"axial": 0.0013},
            }
        },
        "spins": [{"wheel": "rotor", "joint": "axis", "ratio": RATIO}],
        "motors": {
            "motor": {
                "wheel": "rotor",
                "friction": {"viscous": 0.1 / 130, "coulomb": 0.5, "smoothing": 1.0},
            }
        },
        "joints": {"axis": {"stiffness": SPRING * RATIO**2, "damping": DAMPER * RATIO**2}},
    }
    model = gd.load_model(AXIS, drives, gravity=(0, 0, 0))
    table = np.genfromtxt(DATA / "msl_reference" / "OneAxis.csv", delimiter=",", names=True)
    when, first = np.unique(table["time"], return_index=True)
    times = np.arange(0.0, when[-1], 1e-3)
    q, v, twist, current = (
        np.interp(times, when, table[name][first])
        for name in (
            "axisinitializeFlangephi_flange",
            "axisinitializeFlangew_flange",
            "axisgearspringphi_rel",
            "axismotorLai",
        )
    )
    noise = TURN * np.random.default_rng(0).normal(size=len(q))
    phi = TURN * np.round((RATIO * q - twist + noise) / TURN)
    torque = TORQUE * np.r_[current[0], 0.5 * (current[1:] + current[:-1])]
    gains = ob.kalman_gains(model, resolution=TURN, noise=TURN)
    state, means = None, []
    for angle, tau_m in zip(phi, torque, strict=True):
        reading = ob.Measurement([angle], [tau_m])
        if state is None:
            state = ob.kalman_start(model, gains, reading)
        else:
            state = ob.kalman_step(model, gains, state, reading, 1e-3)
        means.append(state.mean)
    found = np.array(means)
    steps = np.r_[0.0, np.diff(phi / RATIO)] / 1e-3
    best = min(
        rms(signal.lfilter(*signal.butter(order, 2e-3 * cutoff), steps) - v)
        for cutoff in np.geomspace(2.0, 490.0, 80)
        for order in (1, 2)
    )
    position, velocity = rms(found[:, 0] - q), rms(found[:, 2] - v)
    base = rms(phi / RATIO - q)
    print(
        f"\nOneAxis  position {1e6 * base:.0f} -> {1e6 * position:.0f} µrad, "
        f"factor {base / position:.2f}"
    )
    print(
        f"         velocity {1e3 * best:.2f} -> {1e3 * velocity:.2f} mrad/s, "
        f"factor {best / velocity:.2f}"
    )


def rms(error: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(error**2)))


if __name__ == "__main__":
    for folder, show in (("kr300_weigand", link_encoders), ("msl_reference", one_axis)):
        if (DATA / folder).is_dir():
            show()
        else:
            print(f"the recordings are not there: {DATA / folder}")
