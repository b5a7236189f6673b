"""Stiffness of two drives of a KUKA KR300
=======================================

Recording, filter, payload and folder: see torque_of_a_kr300.py. Its joints 1 to 3 have a second
encoder on the link side. What it shows lags behind the motor's, so that the two differ by::

    q_motor - q_link = te / K + lag v + backlash sign(v) + offset

with te the torque that the spring passes to the link. K, lag and backlash are fitted by least
squares over runs A and B, with an offset per run, where the joint moves faster than 0.02 rad/s;
nothing else is fitted, and friction in the gear behind the motor is not known beforehand. There
are two ways to te::

    model      gd.elastic.inverse_dynamics: what moves the link, less the counterbalance
    measured   A (tau_m - J A a): the motor's torque less what turns its rotor

Standard deviations are a jackknife's: the fit is repeated without each tenth of a run in turn.
The residuals are far from white, and the formula for white ones gives a seventh of that.

The second contains the friction of motor and gear, whose viscous and Coulomb parts end up in the
columns of v and sign(v). Hence what the two ways find there differs by this friction, which
examples/torque_of_a_kr300.py finds in quite another way: from torques alone.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
import yaml
from matplotlib import pyplot as plt
from scipy import signal
from torque_of_a_kr300 import (
    CUTOFF,
    FOLDER,
    MOVING,
    ORDER,
    PAYLOAD,
    REACH,
    ROOT,
    STEP,
    made,
)

import geared_dynamics as gd

FIGURES = Path(__file__).parent / "figures"
BLOCKS = 10  # of a run, for the jackknife
LISTED = {2: 7518900.0, 3: 4099900.0}  # published with the recordings [N m/rad]


class Run(NamedTuple):
    """A filtered run (samples, 6), at the joints; the links' encoders (samples, 3)."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau_m: np.ndarray
    q_link: np.ndarray


class Fit(NamedTuple):
    """What the difference of the encoders of one joint says; samples are those that move."""

    stiffness: float  # [N m/rad]
    lag: float  # factor of v [s]
    backlash: float  # factor of sign(v) [rad]
    torque: np.ndarray  # te [N m]
    twist: np.ndarray  # difference of the encoders less lag, backlash and offset [rad]

    @property
    def rest(self) -> float:
        """Rms of what te / K leaves [rad]."""
        return float(np.std(self.twist - self.torque / self.stiffness))


def arm(stiffness: dict[int, float] = LISTED) -> gd.GearedModel:
    """Return the robot with elastic joints and the recordings' payload."""
    drives = yaml.safe_load((ROOT / "urdf" / "kr300.drivetrain.yaml").read_text("utf-8"))
    drives["joints"] = {f"joint_{k}": {"stiffness": value} for k, value in stiffness.items()}
    model = gd.load_model(ROOT / "urdf" / "kr300.urdf", drives)
    return model.with_payload(PAYLOAD, (0.0, 0.0, REACH), link="flange")


def recorded(run: str) -> Run:
    """Read one run and filter it."""
    table = np.genfromtxt(FOLDER / f"traj_{run}.csv", delimiter=",", names=True)
    smooth = signal.butter(ORDER, 2 * CUTOFF * STEP)
    motor, link, tau_m = (
        signal.filtfilt(*smooth, np.column_stack([table[f"{name}_{i}"] for i in axes]), axis=0)
        for name, axes in (
            ("q_motor_deg", range(1, 7)),
            ("q_link_deg", range(1, 4)),
            ("tau_motor_Nm", range(1, 7)),
        )
    )
    q = np.deg2rad(motor)
    v = np.gradient(q, STEP, axis=0)
    return Run(q, v, np.gradient(v, STEP, axis=0), tau_m, np.deg2rad(link))


def by_model(model: gd.GearedModel, run: Run) -> np.ndarray:
    """Torque that the joints need to move their links (samples, 6), from theta = q.

    With relaxed springs, all of it is still to be given; q and theta differ by a milliradian.
    """
    elastic = model.elasticity.joint
    state = gd.State(run.q, run.v, run.q[:, elastic], run.v[:, elastic])
    force, _ = gd.elastic.inverse_dynamics(model, state, run.a, run.a[:, elastic])
    return force - gd.balancer_forces(model, run.q)


def by_motors(model: gd.GearedModel, run: Run) -> np.ndarray:
    """Torque that leaves the motors (samples, 6): what does not turn the rotors themselves."""
    ratios = model.structure_matrix.diagonal()
    return ratios * (run.tau_m - model.J[model.motor_wheel] * ratios * run.a)


WAYS = {"model": by_model, "measured": by_motors}


def fitted(runs: list[Run], torques: list[np.ndarray], joint: int) -> Fit:
    """Fit stiffness, lag, backlash and offsets of one joint, counted from 1."""
    columns, sides = [], []
    for k, (run, torque) in enumerate(zip(runs, torques, strict=True)):
        rate = run.v[:, joint - 1]
        moving = np.abs(rate) > MOVING
        offset = np.tile(np.eye(len(runs))[k], (len(rate), 1))
        whole = np.column_stack([torque[:, joint - 1], rate, np.sign(rate), offset])
        columns.append(whole[moving])
        sides.append((run.q[:, joint - 1] - run.q_link[:, joint - 1])[moving])
    X, y = np.concatenate(columns), np.concatenate(sides)
    found = np.linalg.lstsq(X, y, rcond=None)[0]
    compliance, lag, backlash = found[:3]
    return Fit(1 / compliance, lag, backlash, X[:, 0], y - X[:, 1:] @ found[1:])


def without(run: Run, block: int) -> np.ndarray:
    """Return which samples are not in a block of a run (samples,)."""
    return np.arange(len(run.q)) * BLOCKS // len(run.q) != block


def deviation(runs: list[Run], torques: list[np.ndarray], joint: int) -> float:
    """Return the standard deviation of the stiffness [N m/rad], by leaving out one block each."""
    found = []
    for k, run in enumerate(runs):
        for block in range(BLOCKS):
            kept = without(run, block)
            fewer, less = list(runs), list(torques)
            fewer[k], less[k] = Run(*(x[kept] for x in run)), torques[k][kept]
            found.append(fitted(fewer, less, joint).stiffness)
    return float(np.sqrt((len(found) - 1) * np.var(found)))


def both(model: gd.GearedModel, runs: list[Run], joint: int) -> dict[str, Fit]:
    """Fits of one joint with both torques."""
    return {name: fitted(runs, [way(model, r) for r in runs], joint) for name, way in WAYS.items()}


def friction(fits: dict[str, Fit]) -> tuple[float, float]:
    """Viscous [N m s/rad] and Coulomb [N m] motor-side friction, from both fits."""
    measured, K = fits["measured"], fits["measured"].stiffness
    return K * (fits["model"].lag - measured.lag), K * (fits["model"].backlash - measured.backlash)


def picture(fits: dict[int, dict[str, Fit]], folder: Path) -> Path:
    """Save twist over torque of each joint, by the model's torque and by the measured one."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), sharex="row", layout="constrained")
    for row, (joint, ways) in zip(axes, fits.items(), strict=True):
        for ax, (name, fit) in zip(row, ways.items(), strict=True):
            ends = np.array([fit.torque.min(), fit.torque.max()])
            ax.plot(fit.torque / 1e3, 1e3 * fit.twist, ".", color="grey", ms=1.5)
            label = f"fitted {fit.stiffness:.3g} N m/rad, rest {1e6 * fit.rest:.0f} µrad"
            ax.plot(ends / 1e3, 1e3 * ends / fit.stiffness, color="tab:blue", label=label)
            label = f"listed {LISTED[joint]:.3g} N m/rad"
            ax.plot(ends / 1e3, 1e3 * ends / LISTED[joint], "--", color="tab:orange", label=label)
            ax.set_title(f"axis {joint}, torque: {name}", fontsize="medium")
            ax.set_xlabel("torque through the spring [kN m]")
            ax.set_ylabel("twist [mrad]")
            ax.legend(fontsize="small", loc="upper left")
            ax.grid(alpha=0.3)
    figure.suptitle(
        "KUKA KR300 R2500 ultra: motor encoder less link encoder, without lag and offset"
    )
    path = folder / "stiffness_of_a_kr300.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main() -> None:
    """Print the stiffness of axes 2 and 3; save the picture."""
    if not FOLDER.is_dir():
        print(f"the recording is not there: {FOLDER}")
        return
    model, runs = arm(), [recorded(name) for name in "AB"]
    fits = {joint: both(model, runs, joint) for joint in LISTED}
    print(
        "axis  torque     K [N m/rad]             listed     off [%]  lag [ms]  "
        "sign [µrad]  rest [µrad]"
    )
    for joint, ways in fits.items():
        for name, fit in ways.items():
            torques = [WAYS[name](model, run) for run in runs]
            off = 100 * (fit.stiffness / LISTED[joint] - 1)
            off_by_chance = deviation(runs, torques, joint)
            print(
                f"{joint:4}  {name:<9}{fit.stiffness:13.3e} ± {off_by_chance:.1e}"
                f"{LISTED[joint]:11.3e}{off:+9.1f}"
                f"{1e3 * fit.lag:10.2f}{1e6 * fit.backlash:13.1f}{1e6 * fit.rest:13.1f}"
            )
        viscous, coulomb = friction(ways)
        print(f"      friction on the motor side: {viscous:.0f} N m s/rad, {coulomb:.0f} N m")
    folder = made(Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES)
    print("saved", picture(fits, folder))


if __name__ == "__main__":
    main()
