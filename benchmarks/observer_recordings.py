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
from typing import NamedTuple

import numpy as np
import yaml
from observer_plant import TURN
from scipy import optimize, signal

import geared_dynamics as gd

ob = gd.observers
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data"))
STEP, FIRST = 0.004, 150  # of the KR300's recordings [s]; instants until the filter has settled
RIGID = 1e-9  # 1 / K of an axis whose spring does not show [rad/(N m)]
PAYLOAD, REACH = 150.0, 0.1  # [kg], [m] in front of the flange
AXIS = """<robot name="one_axis"><link name="base"/><link name="load"><inertial><mass value="1"/>
<inertia ixx="19.5" iyy="19.5" izz="19.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="axis" type="continuous"><parent link="base"/><child link="load"/>
<axis xyz="0 0 1"/></joint></robot>"""
RATIO, SPRING, DAMPER, TORQUE = 210.0, 8.0, 0.01, 1.1616  # motor side; [N m/A]


def kr300(compliance: np.ndarray | None = None, share: np.ndarray | None = None) -> gd.GearedModel:
    """The robot with published stiffness and friction, all of it on the motors' side.

    Args:
        compliance: Other 1 / K of axes 1 to 3 (3,) [rad/(N m)].
        share: Part of the friction that acts on the link side, on the joint (3,).
    """
    values = published()
    u, share = np.array(values["u"]), np.r_[np.zeros(3) if share is None else share, np.zeros(3)]
    drives = yaml.safe_load((ROOT / "urdf" / "kr300.drivetrain.yaml").read_text("utf-8"))
    stiffness = values["c_rad_ff"][:3] if compliance is None else 1.0 / compliance
    drives["joints"] = {}
    for k, (a, b) in enumerate(zip(*friction(values), strict=True)):
        law = {"viscous": a * (1 - share[k]) / u[k] ** 2, "coulomb": b * (1 - share[k]) / u[k]}
        law = {key: float(value) for key, value in law.items()}
        drives["motors"][f"motor_{k + 1}"]["friction"] = law | {"smoothing": 1.0}
        if k < 3:
            own = {"viscous": float(a * share[k]), "coulomb": float(b * share[k])}
            joint = {"friction": own | {"smoothing": float(1.0 / u[k])}} if share[k] else {}
            drives["joints"][f"joint_{k + 1}"] = {"stiffness": float(stiffness[k])} | joint
    model = gd.load_model(ROOT / "urdf" / "kr300.urdf", drives)
    return model.with_payload(PAYLOAD, (0.0, 0.0, REACH), link="flange")


def published() -> dict:
    """Values that were stored with the recordings."""
    return json.loads((DATA / "kr300_weigand" / "para_from_mat.json").read_text("utf-8"))


def friction(values: dict) -> tuple[np.ndarray, np.ndarray]:
    """Viscous and Coulomb friction of the axes, joint side (6,) [N m s/rad], [N m]."""
    return np.array(values["f_vis"]), np.array(values["f_coul"]) + np.array(values["f_a"])


class Recorded(NamedTuple):
    """A run: motors' and links' encoders at the joints, torque (t, 6), (t, 3), (t, 6)."""

    motor: np.ndarray
    link: np.ndarray
    torque: np.ndarray


def recorded(run: str) -> Recorded:
    """Read a run."""
    name = DATA / "kr300_weigand" / f"traj_{run}.csv"
    table = np.genfromtxt(name, delimiter=",", names=True)
    motor, link, torque = (
        np.column_stack([table[f"{name}_{k}"] for k in range(1, count + 1)])
        for name, count in (("q_motor_deg", 6), ("q_link_deg", 3), ("tau_motor_Nm", 6))
    )
    return Recorded(np.deg2rad(motor), np.deg2rad(link), torque)


def observed(model: gd.GearedModel, run: Recorded) -> tuple[np.ndarray, np.ndarray, bool]:
    """Position of axes 1 to 3 and their springs' torque (t, 3), and validity."""
    observer = ob.kalman_observer(
        model,
        resolution=TURN,
        noise=1e-3,
        bandwidth=5.0,
        motor_torque_noise=0.2,
        rate=1 / STEP,
        hold=0.1,
        jump=2.0,
    )
    state, q, torque = None, [], []
    for angle, tau_m in zip(run.motor, run.torque, strict=True):
        posture = gd.State(angle, 0 * angle, angle[:3])
        reading = gd.Measurement(gd.elastic.motor_angles(model, posture), tau_m)
        if state is None:
            state = observer.start(reading)
        else:
            state = observer.step(state, reading, STEP)
        q.append(state.mean[:3])
        torque.append(observer.estimate(state).joint_torque[:3])
    return np.array(q), np.array(torque), state.health.valid


def link_encoders() -> None:
    """Print how well the links' encoders are predicted."""
    model, springs, runs = kr300(), [], {run: recorded(run) for run in "AB"}
    print("KR300, published values, nothing tuned [µrad]")
    print("       axis  motor - link  observer - link  factor   lag [ms]")
    found = {name: observed(model, run) for name, run in runs.items()}
    for name, run in runs.items():
        q, torque, valid = found[name]
        v = np.gradient(run.motor[:, :3], STEP, axis=0)
        for j in range(3):
            before, _ = without_lag(run.motor[:, j] - run.link[:, j], v[:, j])
            after, lag = without_lag(q[:, j] - run.link[:, j], v[:, j])
            print(
                f"run {name}  {j + 1}  {1e6 * before:10.1f} {1e6 * after:15.1f} "
                f"{before / after:19.2f} {1e3 * lag:10.2f}   valid {valid}"
            )
            twist = run.motor[:, j] - run.link[:, j]
            columns = run.motor[:, j], v[:, j], torque[:, j]
            springs.append((name, j, twist[FIRST:], np.column_stack(columns)[FIRST:]))
    what_springs_explain(springs, model.elasticity.stiffness)
    print("\nThe same with the encoder's eccentricity, one for both runs, taken off both as well,")
    print("first with published values, then with 1 / K [1e-9 rad/(N m)] and the share of the")
    print("friction on the link side as found from the other run alone [µrad]")
    for axis in range(3):
        judged("AB", runs, {name: q for name, (q, *_) in found.items()}, axis, "published")
    for own, other in ("AB", "BA"):
        identified(runs, own, other, found[own][1])


def judged(names: str, runs: dict[str, Recorded], q: dict, j: int, what: str) -> None:
    """Print an axis' prediction in some runs, eccentricity of its encoder taken off."""
    before = eccentric(runs, {name: run.motor for name, run in runs.items()}, j)
    after = eccentric(runs, q, j)
    line = ", ".join(
        f"run {name} {1e6 * before[name]:5.1f} {1e6 * after[name]:5.1f} "
        f"factor {before[name] / after[name]:.2f}"
        for name in names
    )
    print(f"axis {j + 1}  {line}   {what}")


def eccentric(runs: dict[str, Recorded], q: dict, j: int) -> dict[str, float]:
    """Rms of q - link in each run, less what a lag, offsets and one eccentricity explain."""
    known = {name: encoder(run, j) for name, run in runs.items()}
    apart = {name: (q[name][:, j] - run.link[:, j])[FIRST:] for name, run in runs.items()}
    place = np.repeat(np.eye(len(runs)), [len(y) for y in apart.values()], axis=0)
    columns = np.column_stack([np.vstack(list(known.values()))[:, [0, 2, 3]], place])
    y = np.concatenate(list(apart.values()))
    rest = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return {name: rms(rest[place[:, k] == 1.0]) for k, name in enumerate(runs)}


def encoder(run: Recorded, j: int) -> np.ndarray:
    """What a link's encoder does by itself: lag, offset, an error that repeats once a turn."""
    q = run.motor[:, j]
    columns = np.gradient(q, STEP), np.ones(len(q)), np.cos(q), np.sin(q)
    return np.column_stack(columns)[FIRST:]


def identified(runs: dict[str, Recorded], own: str, other: str, torque: np.ndarray) -> None:
    """Print stiffness and side of the friction found from one run, judged on the other."""
    values, run, found = published(), runs[own], []
    viscous, coulomb = friction(values)
    for j in range(3):
        v = np.gradient(run.motor[:, j], STEP)
        loss = viscous[j] * v + coulomb[j] * np.tanh(v * values["u"][j])
        columns = np.column_stack([torque[:, j], loss])[FIRST:]
        twist = (run.motor[:, j] - run.link[:, j])[FIRST:]
        found.append(springs_and_side(twist, columns, encoder(run, j)))
    compliance, share = np.array(found).T
    model = kr300(compliance, share)
    q = {name: observed(model, run)[0] for name, run in runs.items()}
    for j in range(3):
        what = f"from run {own}: 1 / K {1e9 * compliance[j]:.0f}, share {share[j]:.2f}"
        judged(other, runs, q, j, what)


def springs_and_side(
    twist: np.ndarray, columns: np.ndarray, known: np.ndarray
) -> tuple[float, float]:
    """1 / K and the friction's share on the link side, both as physics allows.

    twist = a torque + b (torque + loss) with a, b >= 0: 1 / K = a + b, share = b / (a + b).
    """
    columns = columns @ np.array([[1.0, 1.0], [0.0, 1.0]])
    fit = np.linalg.lstsq(known, np.column_stack([twist, columns]), rcond=None)[0]
    y, *own = (np.column_stack([twist, columns]) - known @ fit).T
    a, b = optimize.nnls(1e-6 * np.column_stack(own), y)[0] * 1e-6
    whole = max(a + b, RIGID)
    return whole, b / whole


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
    observer = ob.kalman_observer(model, resolution=TURN, noise=TURN)
    state, means = None, []
    for angle, tau_m in zip(phi, torque, strict=True):
        reading = gd.Measurement([angle], [tau_m])
        if state is None:
            state = observer.start(reading)
        else:
            state = observer.step(state, reading, 1e-3)
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
