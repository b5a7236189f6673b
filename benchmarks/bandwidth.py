"""The automatic band of identification against a grid of bands, on recordings of known truth.

Run it as

    python benchmarks/bandwidth.py [tuned|fresh|all] [--only WORD] [--shift N] [--longer N]
        [--others N]

For each recording it prints the band found, and the held-out residual in it over the least of all
bands of a grid of factor 1.2 in which every joint can be validated and the motion has room: as the
command prints it, each in its own band (geometric mean of the joints, and RMS of their
percentages), and with all parameters judged in one fixed band; then the true error of the torque
on another motion, over the least of the grid. A residual below 0.1 % of the torque counts as 0.1 %
(``EXACT`` of the search, which calls no band unsure for less); true errors count as they are.
``tuned`` were looked at while the search was made,
``fresh`` not. The least of many residuals is in part chance, as a fifth of a recording is all that
is held out; ``--longer 5`` fits as much and holds out twenty times that, which leaves none.
``--others 2`` judges the same fits by two more recordings of the same arm, each in five parts: the
ratio to the least of the grid for each part, and for all parts together. What the command calls
unsure about the band ends the line.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from noisy_recordings import Case, motion_of, recorded

import geared_dynamics as gd
from geared_dynamics.analysis.band import EXACT
from geared_dynamics.analysis.identification import FEWEST, identify
from geared_dynamics.analysis.identification_equations import equations
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.least_squares import deviation
from geared_dynamics.analysis.parameter_columns import base_columns, columns
from geared_dynamics.errors import RecordingError

FITTED = 0.8  # of a recording; the rest is held out
FIXED = 5.0  # [Hz] in which all parameters are judged
APART, PARTS = 500_000, 5  # seeds of other recordings, parts of each
LOWEST = 0.5  # [Hz] of the grid: no motion has its harmonics below
CUT = {"repeated": 0.05, "intervals": (2.0, 5.0)}
ODD = {"unmodelled": 0.3}
TUNED = {
    "1 kHz, repeated, gaps": Case("elbow", noise=2e-5, torque_noise=0.03, **CUT, **ODD),
    "200 Hz, coarse": Case(
        "brisk6", seed=1, seconds=60, rate=200, counts=4096, torque_noise=0.05, **ODD
    ),
    "1 kHz, repeated, gaps, torque": Case(
        "ur5", seed=2, noise=1e-5, torque_noise=0.1, **CUT, **ODD
    ),
    "picking, repeated, gaps": Case(
        "puma560", "pick", 3, 60, noise=1e-5, torque_noise=0.05, **CUT, **ODD
    ),
    "slow, fine encoder": Case(
        "manutec_r3", "slow", 4, 60, 250, 65536, torque_noise=0.05, acceleration=1.0, **ODD
    ),
    "noisy velocity, quantised": Case(
        "panda",
        "fourier",
        5,
        30,
        500,
        noise=1e-5,
        velocity="noisy",
        torque_noise=0.05,
        quantum=0.02,
    ),
    "driver's filter": Case(
        "kr300", "periodic", 6, 40, 250, 20000, lowpass=20.0, torque_noise=0.02
    ),
    "fast picking": Case("tx40", "pick", 7, counts=2**17, torque_noise=0.03, acceleration=20.0),
    "noise in place of motion": Case("elbow", seed=8, noise=3e-4, torque_noise=0.05, **CUT),
    "125 Hz, coarse, quantised": Case(
        "ur3", seed=9, seconds=60, rate=125, counts=2048, torque_noise=0.1, quantum=0.05, **ODD
    ),
    "positions repeated": Case(
        "xarm7", seed=10, noise=5e-6, of="position", torque_noise=0.05, **CUT
    ),
    "nothing but motion": Case("ur10", seed=11, seconds=30, rate=500, noise=1e-7),
    "picking, 1000 counts": Case("elbow", "pick", 12, 60, 200, 1000, torque_noise=0.02),
    "another arm, gaps": Case("virtual_link_arm", seed=13, noise=2e-5, torque_noise=0.05, **CUT),
}
FRESH = {
    "1 kHz, repeated, gaps": Case("brisk6", seed=51, noise=3e-5, torque_noise=0.05, **CUT, **ODD),
    "200 Hz, coarse": Case("elbow", seed=52, rate=200, counts=2048, torque_noise=0.04, **ODD),
    "repeated stamps, gaps": Case(
        "puma560", seed=53, noise=2e-5, of="stamp", torque_noise=0.08, **CUT
    ),
    "slow, 200 Hz, coarse": Case(
        "ur10", "slow", 54, 60, 200, 8192, torque_noise=0.05, acceleration=1.5, **ODD
    ),
    "picking, 500 Hz, gaps": Case(
        "ur5", "pick", 55, 60, 500, noise=2e-5, torque_noise=0.05, intervals=(3.0, 6.0), **ODD
    ),
    "recorded velocity": Case(
        "ur3", "fourier", 56, 40, 250, 30000, velocity="noisy", recorded=True, torque_noise=0.05
    ),
    "differences as velocity": Case(
        "panda", "fourier", 57, 40, 1000, 2**16, velocity="difference", torque_noise=0.05, **CUT
    ),
    "driver's filter, quantised": Case(
        "manutec_r3", "periodic", 58, 40, 500, 50000, lowpass=40.0, quantum=0.05, torque_noise=0.02
    ),
    "noisy torque": Case("xarm7", seed=59, rate=500, noise=1e-5, torque_noise=0.3, **ODD),
    "noise in place of motion": Case("z1", seed=60, noise=2e-4, torque_noise=0.05, **CUT),
    "many repeated": Case("tx40", seed=61, noise=1e-5, repeated=0.15, torque_noise=0.05, **ODD),
    "heavy, slow, 100 Hz": Case(
        "kr300", "slow", 62, 60, 100, 4096, torque_noise=0.05, acceleration=0.8, **ODD
    ),
    "fast picking, gaps": Case(
        "brisk6", "pick", 63, 60, noise=5e-6, torque_noise=0.05, acceleration=15.0, **CUT
    ),
    "little friction, fine": Case(
        "virtual_link_arm", seed=64, rate=500, counts=2**18, torque_noise=0.01
    ),
}


def settings_of(case, longer, bandwidth=None):
    """How the recording becomes equations."""
    velocity = "recorded" if case.recorded else "position"
    return Settings(bandwidth=bandwidth, velocity=velocity, holdout=1.0 - FITTED / longer)


def percent(found):
    """Held-out residual of each joint in percent, as it is printed (n,)."""
    return 100.0 * found.residual[3] / np.where(found.held_rms > 0.0, found.held_rms, np.nan)


def mean(values):
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


class Judge:
    """Residuals of parameters in one band common to all, and their true errors."""

    def __init__(self, case, model, recording, x, longer):
        """Equations in the fixed band, and another motion."""
        fixed = min(FIXED, 0.08 * case.rate)
        self.fixed = equations(model, [recording], settings_of(case, longer, 5.0 * fixed))
        self.used = self.fixed.used & self.fixed.held[:, None]
        base = base_columns(model)
        self.selection, self.x = list(base.selection), base.combinations @ x
        other = replace(case, seed=case.seed + 1000, rate=50.0)
        motion = motion_of(model, other, np.random.default_rng(other.seed))[1:]
        self.Y = columns(model, *motion)[..., self.selection]

    def __call__(self, found):
        """Residual in the fixed band, and true error, of each joint over its torque."""
        left = self.fixed.tau - self.fixed.Y[..., self.selection] @ found.x
        common = deviation(left, self.used) / deviation(self.fixed.tau, self.used)
        off = self.Y @ (found.x - self.x)
        return common, off.std(axis=0) / (self.Y @ self.x).std(axis=0)


def judged(case, longer=1, others=0):
    """The band found, the best of the grid, errors over the least; those of other recordings."""
    model, recording, x = recorded(replace(case, seconds=longer * case.seconds))
    more = [recorded(replace(case, seed=case.seed + APART * (k + 1)), x)[1] for k in range(others)]
    judge, rows, parts = Judge(case, model, recording, x, longer), [], []
    found = identify(model, [recording], settings_of(case, longer), physical=False)
    for band in LOWEST * 1.2 ** np.arange(60):
        if band > 0.08 * case.rate:
            break
        try:
            one = identify(
                model, [recording], settings_of(case, longer, 5.0 * band), physical=False
            )
        except RecordingError:
            continue  # too few equations: no band to compare with
        if not np.isnan(percent(one)).any():
            rows.append((band, *summary(one, judge)))
            parts.append(elsewhere(one, more, case))
            if rows[-1][1] > 5.0 * min(row[1] for row in rows):
                break
    least = np.min([row[1:] for row in rows], axis=0)
    best = rows[int(np.argmin([row[1] for row in rows]))][0]
    own = np.array(summary(found, judge))
    ratio = np.append(compared(own[:-1], least[:-1]), own[-1] / least[-1])
    return found, best, ratio, over_least(elsewhere(found, more, case), np.array(parts))


def compared(share, least):
    """Residuals, shares of the torque, over the least of them; none is better than ``EXACT``."""
    return np.maximum(share, EXACT) / np.maximum(least, EXACT)


def elsewhere(found, recordings, case):
    """Squares of residual and torque in five parts of each recording (2, parts, n); NaN: few."""
    cutoff, keep = found.equations.bandwidth
    settings = replace(settings_of(case, 1, cutoff), keep=keep, holdout=0.0)
    squares = []
    for recording in recordings:
        try:
            rows = equations(found.model, [recording], settings)
        except RecordingError:  # too few in so low a band
            squares += [np.full((2, found.model.n), np.nan)] * PARTS
            continue
        left = rows.tau - rows.Y[..., list(found.base.selection)] @ found.x
        for part in np.array_split(np.arange(len(left)), PARTS):
            used = rows.used[part]
            both = np.array([left[part], rows.tau[part]]) ** 2
            enough = used.sum(axis=0) >= FEWEST
            squares.append(np.where(enough, (both * used).sum(axis=1), np.nan))
    return np.array(squares).reshape(-1, 2, found.model.n).swapaxes(0, 1)


def over_least(own, grid):
    """Residual of each part, and of all together, over the least of the grid; () without any."""
    if not own.size:
        return ()
    each = [
        np.exp(0.5 * np.log(x[..., 0, :, :] / x[..., 1, :, :]).mean(axis=-1)) for x in (own, grid)
    ]
    sums = [np.nansum(x, axis=-2) for x in (own, grid)]
    whole = [np.exp(0.5 * np.log(x[..., 0, :] / x[..., 1, :]).mean(axis=-1)) for x in sums]
    least = np.nanmin(each[1], axis=0), np.nanmin(whole[1])
    return (*compared(each[0], least[0]), compared(whole[0], least[1]))


def summary(found, judge):
    """Errors of all joints in one, over the torque: own band (mean, RMS), fixed band, true."""
    own = percent(found) / 100.0
    common, true = judge(found)
    return mean(own), float(np.sqrt(np.mean(own**2))), mean(common), mean(true)


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["tuned", "fresh", "all"], default="all")
    parser.add_argument("--only", default="", help="recordings whose name has this word")
    parser.add_argument("--shift", type=int, default=0, help="what is added to all seeds")
    parser.add_argument(
        "--longer", type=int, default=1, help="times: as much is fitted, all the rest held out"
    )
    parser.add_argument("--others", type=int, default=0, help="recordings that judge as well")
    args = parser.parse_args()
    warnings.simplefilter("ignore", gd.GearedDynamicsWarning)
    sets = {"tuned": TUNED, "fresh": FRESH}
    print(
        f"figure: {'':47} found   best |    own    RMS  fixed   true | largest residual, quality"
    )
    ratios = []
    for name in sets if args.what == "all" else [args.what]:
        for title, case in sets[name].items():
            if args.only not in f"{case.arm} {title}":
                continue
            case = replace(case, seed=case.seed + args.shift)
            found, best, ratio, more = judged(case, args.longer, args.others)
            ratios.append(ratio)
            print(
                f"figure: {name:5} {case.arm:17}{title:24.24} {found.equations.bandwidth[1]:6.2f} "
                f"{best:6.2f} | " + " ".join(f"{value:6.2f}" for value in ratio),
                f"| {np.nanmax(percent(found)):5.1f} % {found.quality.split(':')[0]}",
                *(note for note in found.equations.notes if note.startswith("unsure")),
                flush=True,
            )
            if more:
                print(
                    f"figure:       other parts {np.nanmin(more[:-1]):.2f} to "
                    f"{np.nanmax(more[:-1]):.2f}, all together {more[-1]:.2f}",
                    flush=True,
                )
    worst, above = np.max(ratios, axis=0), np.sum(np.array(ratios) > 1.2, axis=0)
    print(f"figure: worst of {len(ratios)}", " ".join(f"{value:.2f}" for value in worst))
    print(f"figure: above 1.2, of {len(ratios)}", " ".join(f"{value}" for value in above))


if __name__ == "__main__":
    main()
