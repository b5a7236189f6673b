"""Identification of published recordings, and of simulated truth: every figure in one place.

Run it as `python benchmarks/identification.py [tx40|kr300|ur10|panda|truth|all] [--runs N]`.
The recordings are no part of this package: ../shared/data, or GEARED_DYNAMICS_DATA.
"""

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

import geared_dynamics as gd
from geared_dynamics.analysis import identification_rows as rows_module
from geared_dynamics.analysis.identification import identify
from geared_dynamics.analysis.identification_equations import equations
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.least_squares import deviation, solve
from geared_dynamics.analysis.parameter_columns import base_columns, column_names, columns, prior
from geared_dynamics.recordings.motions import Meaning
from geared_dynamics.recordings.recording import open_recording, recording_from_arrays

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GEARED_DYNAMICS_DATA", ROOT.parent / "shared" / "data"))
# Published values of the TX40, joint side; Ia of joints 3 to 6.
TX40 = {
    "viscous": (8.05, 5.53, 1.97, 1.11, 1.86, 0.65),
    "coulomb": (7.14, 8.26, 6.34, 2.48, 3.03, 0.282),
    "Ia": (0.0988, 0.0313, 0.0468, 0.0105),
    "motor 6: viscous, coulomb, inertia": (0.616, 1.95, 0.00964),
}
TX40_LIMIT = (4.6, 4.6, 7.8, 7.4, 10.8, 9.0)
LOAD_TURNS = ["link_[1-5]*", "link_6.m*", "link_6.Ix*", "link_6.Iy*"]
NAMED = {"ur10": (12.8, 3.1, 5.5, 7.1, 7.6, 12.3), "panda": (33, 0.7, 1.6, 1.3, 9.4, 5.6, 15.5)}


def robot(name):
    """A robot of urdf/."""
    return gd.load_model(ROOT / "urdf" / f"{name}.urdf", ROOT / "urdf" / f"{name}.drivetrain.yaml")


def line(title, values, digits=1):
    """Print a row of figures."""
    print(f"figure: {title:44}", *(f"{value:9.{digits}f}" for value in values))


def tx40():
    """The published values of the TX40, by the filter that its source names."""
    model = robot("tx40")
    angles, torques = (
        np.loadtxt(DATA / "tx40" / name, delimiter=",", skiprows=1)
        for name in ("pos_read_data.csv", "curr_data.csv")
    )
    recording = recording_from_arrays(np.arange(len(angles)) / 5000.0, angles, torques)
    meaning = Meaning("motor_torque", "motor", zero=(0, -np.pi / 2, np.pi / 2, 0, 0, 0))
    found = identify(model, [recording], Settings(meaning, 100.0, 20.0, 0.01, holdout=0.0))
    line("TX40 residual %", 100 * found.residual[1] / found.rms)
    line("  no more than", TX40_LIMIT)
    for name, values in tx40_values(model, found.column_values).items():
        line(f"TX40 {name}", values, 4)
        line("  published", TX40[name], 4)
        line(
            "  difference %", [100 * (x / y - 1) for x, y in zip(values, TX40[name], strict=True)]
        )
    line("TX40 residual of physical parameters %", 100 * found.residual[2] / found.rms)


def tx40_values(model, values):
    """The published quantities from ours.

    Where a joint's armature in the source has a rotor that ours knows to ride on the link
    before, (N^2 - N) J is the armature that recordings show (absorption identity); the motor of
    joint 6 acts on joint 5 as well.
    """
    N = np.abs(model.Gamma).max(axis=1) * np.sign([1, 1, 1, -1, 1, 1])
    J = {k: values.get(f"rotor_{k}.J") for k in range(3, 7)}
    own = {k: (N[k - 1] ** 2 - N[k - 1]) * J[k] for k in J}
    motor = 32**2 * values["motor_6.viscous"], 32 * values["motor_6.coulomb"]
    viscous = np.array([values[f"joint_{k}.viscous"] for k in range(1, 7)])
    viscous[4:] += motor[0]
    return {
        "viscous": viscous,
        "coulomb": [values[f"joint_{k}.coulomb"] for k in range(1, 7)],
        "Ia": [own[3], own[4], own[5] + own[6], 32**2 * J[6] + values["joint_6.inertia"]],
        "motor 6: viscous, coulomb, inertia": [*motor, 32**2 * J[6]],
    }


def kr300():
    """Rotor inertias of the KR300 from one run, validated on the other; the rest is known."""
    model = robot("kr300")
    options = {
        "columns": {
            "time": "t_s", "position": "q_motor_deg_{i}", "effort": "tau_motor_Nm_{i}",
        },
        "degrees": True,
    }  # fmt: skip
    runs = [
        open_recording(DATA / "kr300_weigand" / f"traj_{run}.csv", model.joint_names, **options)
        for run in "AB"
    ]
    settings = Settings(Meaning("motor_torque"), holdout=0.0)
    loaded = model.with_payload(150.0, (0.0, 0.0, 0.1), link="flange")
    found = identify(loaded, runs[:1], settings, validate=runs[1:], known=["link_*"])
    names = [f"{name}.J" for name in model.wheel_names]
    values, sigma = found.column_values, found.column_sigma
    told = [name for name in names if name in values]
    print("figure: KR300 rotors", *told)
    line("KR300 rotor inertia [1e-4 kg m^2]", [1e4 * values[name] for name in told], 2)
    line("  sigma", [1e4 * sigma[name] for name in told], 2)
    line("  published", [1e4 * model.J[names.index(name)] for name in told], 2)
    line("KR300 residual on A %", 100 * found.residual[1] / found.rms)
    for title, known in (("found", []), ("published", names)):
        for fitted, other in ((0, 1), (1, 0)):
            free = identify(loaded, [runs[fitted]], settings, physical=False, known=["link_*"])
            cutoff, keep = free.equations.bandwidth  # residuals of one band are compared
            taken = identify(
                loaded, [runs[fitted]], replace(settings, bandwidth=cutoff, keep=keep),
                validate=[runs[other]], known=["link_*", *known],
            )  # fmt: skip
            way = f"from {'AB'[fitted]} on {'AB'[other]}, rotors {title}"
            line(f"KR300 residual % {way}", 100 * taken.residual[3] / taken.held_rms)
    kr300_reasons(loaded, runs, settings)


def kr300_reasons(model, runs, settings):
    """Whether something else than rotors explains why axis 1 and the wrist come out higher."""
    own = [
        names.index(f"{wheel}.J") for names in [column_names(model)] for wheel in model.wheel_names
    ]
    ways = {
        "the motion below 2 Hz only": {"settings": replace(settings, keep=2.0)},
        "run B instead": {"recordings": runs[1:]},
        "the load's tensor free": {"known": ["link_[1-5]*", "link_6.m*"]},
        "the load's Izz free": {"known": LOAD_TURNS},
        "the load's Izz free, run B": {"known": LOAD_TURNS, "recordings": runs[1:]},
    }
    usual = {"recordings": runs[:1], "settings": settings, "known": ["link_*"]}
    for title, other in ways.items():
        found = identify(model, **(usual | other))
        values = [found.column_values[found.equations.names[k]] for k in own]
        line(f"KR300 rotor inertia: {title}", [1e4 * value for value in values], 2)
        if "Izz" in title:
            pair = found.column_values["link_6.Izz"], found.column_sigma["link_6.Izz"]
            line("  Izz of link 6 and load, sigma [kg m^2]", pair)
        if "tensor" in title:
            tensor = [found.column_values[f"link_6.I{key}"] for key in ("xx", "yy", "zz")]
            line("  Ixx, Iyy, Izz of link 6 and load [kg m^2]", tensor)
    kr300_wrist(model, runs, settings, own)
    found = equations(model, runs[:1], settings)
    for title in ("torque scale free", "friction of any odd shape"):
        values = [
            apart(model, found, own, j, title.startswith("friction")) for j in range(model.n)
        ]
        line(f"KR300 rotor inertia: {title}", [1e4 * x[0] for x in values], 2)
        if title.startswith("torque"):
            line(
                "  scale of the links' torque",
                [x[-1] if j != 5 else np.nan for j, x in enumerate(values)],
                3,
            )


def kr300_wrist(model, runs, settings, own):
    """Rotors with inertia common to two wrist axes, as shafts through the arm would have it."""
    for name, fitted, other in (("A", *runs), ("B", *runs[::-1])):
        Y, tau, used, _, bandwidth = common_system(model, fitted, settings, own)
        solution = solve(Y, tau, used)
        sigma = np.sqrt(solution.covariance.diagonal())
        line(f"KR300 inertia common to axes 45, 46, 56, run {name}", solution.x[-3:])
        line("  sigma [kg m^2]", sigma[-3:])
        band = replace(settings, bandwidth=bandwidth[0], keep=bandwidth[1])
        Y, tau, used, measured, _ = common_system(model, other, band, own)
        left = deviation(tau - Y @ solution.x, used) / deviation(measured, used)
        line("  residual % on the other run, in the band of the fit", 100 * left)


def common_system(model, run, settings, own):
    """Columns with the common inertias, torques they are to explain, and measured ones."""
    x0, found = prior(model), equations(model, [run], settings)
    friction = [
        k
        for k, name in enumerate(found.names)
        if name.startswith("joint") and not name.endswith("inertia")
    ]
    rest = [k for k in range(len(x0)) if found.names[k].startswith("link")]
    a = np.stack([found.Y[:, j, k] / model.Gamma[j, j] ** 2 for j, k in enumerate(own)], axis=1)
    common = np.zeros((*found.tau.shape, 3))
    for k, (i, j) in enumerate(((3, 4), (3, 5), (4, 5))):
        common[:, i, k], common[:, j, k] = a[:, j], a[:, i]
    Y = np.concatenate([found.Y[..., own + friction], common], axis=-1)
    return Y, found.tau - found.Y[..., rest] @ x0[rest], found.used, found.tau, found.bandwidth


def apart(model, found, own, j, odd):
    """One axis by itself: its rotor's inertia, friction, and odd powers or the links' scale."""
    Y, used, x0 = found.Y[:, j], found.used[:, j], prior(model)
    friction = [
        found.names.index(f"{model.joint_names[j]}.{k}") for k in ("viscous", "coulomb", "offset")
    ]
    links = [k for k, name in enumerate(found.names) if name.startswith("link")]
    others = [k for k in own if k != own[j]]
    v, rigid = Y[:, friction[0]], Y[:, links] @ x0[links]
    rest = found.tau[:, j] - Y[:, others] @ x0[others] - (rigid if odd else 0.0)
    more = [abs(v) * v, v**3, np.tanh(v / 0.05)] if odd else [rigid]
    table = np.stack([Y[:, own[j]], *Y[:, friction].T, *more], axis=1)[used]
    scale = np.linalg.norm(table, axis=0) + 1e-300
    return np.linalg.lstsq(table / scale, rest[used], rcond=1e-12)[0] / scale


def bag(name, urdf, rename):
    """A bag of a published excitation run."""
    model = gd.load_model(
        urdf, joints=[f"panda_joint{k}" for k in range(1, 8)] if rename else None
    )
    names = (
        {joint: joint.replace("panda", "fer") for joint in model.joint_names} if rename else None
    )
    path = DATA / "rosbag2_ur10_panda" / f"{name}_exciting_trajectory.db3"
    recording = open_recording(path, model.joint_names, rename=names)
    found = identify(model, [recording], Settings(velocity="recorded", holdout=0.0))
    line(f"{name} residual %", 100 * found.residual[1] / found.rms)
    line("  named by its source", NAMED[name])
    line(f"{name} residual of physical parameters %", 100 * found.residual[2] / found.rms)
    print(f"figure: {name} bandwidths {found.equations.bandwidth}", *found.notes)
    bag_reasons(name, model, recording, found.equations.bandwidth)


def bag_reasons(name, model, recording, bandwidth):
    """How far the residuals depend on the band, and on which of the thinned samples are kept."""
    parts = [recording.reader.read(piece) for piece in range(recording.reader.pieces)]
    stamp, q, v, tau = (np.concatenate([part[k] for part in parts]) for k in range(4))
    settings = Settings(velocity="recorded", holdout=0.0)
    phases = []
    for start in range(5):
        later = recording_from_arrays(1e-9 * stamp[start:], q[start:], tau[start:], v[start:])
        fixed = replace(settings, bandwidth=bandwidth[0], keep=bandwidth[1])
        found = identify(model, [later], fixed, physical=False)
        phases.append(100 * found.residual[1] / found.rms)
    line(f"{name} residual %, least of 5 first samples", np.min(phases, axis=0), 2)
    line("  largest", np.max(phases, axis=0), 2)
    for keep in (1.2, 1.5, 3.0, 5.0):
        found = identify(model, [recording], replace(settings, keep=keep), physical=False)
        line(f"{name} residual %, --keep {keep:g}", 100 * found.residual[1] / found.rms, 2)

    fixed = replace(settings, bandwidth=bandwidth[0], keep=bandwidth[1])
    for j in range(model.n):
        residual = with_angle(model, recording, fixed, j)
        line(f"{name} residual %, joint {j + 1} with sin q, cos q, q", 100 * residual, 2)


def with_angle(model, recording, settings, joint):
    """Residuals where a joint has a torque that depends on its own angle as well."""

    def more(model, q, v, a):
        own = np.zeros((*q.shape, 3))
        own[:, joint] = np.stack([np.sin(q[:, joint]), np.cos(q[:, joint]), q[:, joint]], axis=-1)
        return np.concatenate([columns(model, q, v, a), own], axis=-1)

    with patch.object(rows_module, "columns", more):
        found = equations(model, [recording], settings)
    width = found.Y.shape[-1]
    Y = found.Y[..., [*base_columns(model).selection, *range(width - 3, width)]]
    left = deviation(found.tau - Y @ solve(Y, found.tau, found.used).x, found.used)
    return left / deviation(found.tau, found.used)


def truth(runs):
    """Share of noisy runs in which the true parameters are within 3 sigma."""
    model = robot("elbow")
    base, names, x = base_columns(model), column_names(model), prior(model)
    for k in range(3):
        for key, value in (("viscous", 4.0 + k), ("coulomb", 3.0 - 0.5 * k), ("offset", 0.3)):
            x[names.index(f"joint_{k + 1}.{key}")] = value
    expected = base.combinations @ x
    t, motion = exciting()
    tau = columns(model, *motion) @ x
    inside = []
    for run in range(runs):
        random = np.random.default_rng(run)
        q = motion[0] + random.normal(0.0, 1e-5, motion[0].shape)
        recording = recording_from_arrays(t, q, tau + random.normal(0.0, 1.0, tau.shape))
        found = identify(model, [recording], Settings(holdout=0.0), physical=False)
        inside.append(np.abs(found.x - expected) <= 3.0 * found.sigma)
    share = np.mean(inside, axis=0)
    print(
        f"figure: {runs} noisy runs, {len(expected)} parameters: within 3 sigma in "
        f"{100 * np.mean(inside):.1f} % of all, in {100 * share.min():.1f} % of the runs for the "
        f"worst parameter ({base.names[int(share.argmin())]})"
    )


def exciting(seconds=30.0, rate=500.0):
    """Times, and an exciting motion of three joints."""
    t, random = np.arange(int(seconds * rate)) / rate, np.random.default_rng(5)
    w = 0.2 * np.pi * np.arange(1, 7)[:, None, None]
    A, B = random.normal(size=(2, 6, 1, 3)) * 0.5 / np.arange(1, 7)[:, None, None]
    s, c = np.sin(w * t[:, None]), np.cos(w * t[:, None])
    q, v = (A * s + B * c).sum(0), (w * (A * c - B * s)).sum(0)
    return t, (q, v, -(w**2 * (A * s + B * c)).sum(0))


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser()
    chosen = ["tx40", "kr300", "ur10", "panda", "truth"]
    parser.add_argument("what", nargs="*", metavar="|".join(chosen))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--ur10", type=Path, help="URDF of the UR10; example-robot-data's if not given"
    )
    parser.add_argument("--panda", type=Path, help="URDF of the Panda, from the same place")
    args = parser.parse_args()
    args.what = args.what or chosen
    warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
    if "tx40" in args.what:
        tx40()
    if "kr300" in args.what:
        kr300()
    if "ur10" in args.what:
        bag("ur10", args.ur10 or installed("ur_description/urdf/ur10_robot.urdf"), False)
    if "panda" in args.what:
        bag("panda", args.panda or installed("panda_description/urdf/panda.urdf"), True)
    if "truth" in args.what:
        truth(args.runs)


def installed(name):
    """A URDF of the package example-robot-data, wherever its files are."""
    import sysconfig

    place = Path(sysconfig.get_paths()["purelib"])
    found = [*place.glob(f"cmeel.prefix/share/example-robot-data/robots/{name}")]
    if not found:
        raise SystemExit(f"{name} is not there: install example-robot-data, or name the URDF")
    return found[0]


if __name__ == "__main__":
    main()
