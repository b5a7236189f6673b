"""Hard pushes and wrong encoders: which readings are left out, and how far off the link is.

The elbow with springs of 9e3, 7e3 and 3e3 N m/rad, damping 2, friction, 17-bit motors' encoders
with noise of 0.3 of a step; the plant is the model, so all that differs is the push.

- pushes: 20 to 400 N m on one joint for 0.15 s, ramped over 0 to 20 ms, from rest and in motion,
  and walls of 5e3 to 1e5 N/m that the tip runs into. Asked: no JUMP, no STUCK, nothing invalid.
- faults: one encoder of these runs is wrong from some instant on: offset by 3.5 mrad to a radian,
  or by a turn; stuck; gone. Asked: all found but those that a healthy arm shows, too
  (``observer_worlds``).
- stamps: the same pushes with stamps that are 10 us uneven, with three gaps of 1 to 20 samples,
  with one sample in twenty sent twice (which is STUCK where the rotor has moved on).
- slow: pushes and faults at 250 Hz.

Run: python benchmarks/observer_pushes.py [pushes] [faults] [stamps] [slow] [seed=1] (all if none)
"""

import sys
from typing import NamedTuple

import numpy as np
from observer_push_arm import AT, FORCES, LONG, WALLS, Run, elbow, runs
from observer_worlds import LEAD, healthy_world, hides, window

import geared_dynamics as gd

ob = gd.observers
Fault = ob.Fault
TURN = 2 * np.pi / 2**17  # resolution of the encoders [rad]
NOISE = 0.3 * TURN
BANDS = (5.0, 10.0, 20.0, 30.0, 60.0)  # [Hz]
FIRST = 50  # instants before anything counts
BEYOND = 10.0  # stated deviations that are far
FOUND = 0.02  # [s] in which a fault that shows is to be found


class Seen(NamedTuple):
    """What an observer said of each instant.

    Attributes:
        faults: Of each reading (T, c).
        valid: Whether the estimate was (T,).
        flagged: Whether it was flagged as behind or inconsistent, or bridged (T,).
        off: Of the links, the farthest (T,) [rad].
        deviations: The same in stated deviations (T,); NaN of the nonlinear observer.
    """

    faults: np.ndarray
    valid: np.ndarray
    flagged: np.ndarray
    off: np.ndarray
    deviations: np.ndarray


def noisy(run: Run, random: np.random.Generator) -> np.ndarray:
    """What the encoders show (T, m)."""
    return TURN * np.round((run.phi + NOISE * random.normal(size=run.phi.shape)) / TURN)


def observed(
    model: gd.GearedModel, kind: str, band: float, run: Run, shown: np.ndarray, times=None
) -> Seen:  # type: ignore[no-untyped-def]
    """A run through an observer, with what its encoders show and its stamps."""
    make = {
        "kalman": ob.kalman_observer,
        "nonlinear": ob.nonlinear_observer,
        "redundant": ob.redundant_observer,
    }[kind]
    observer = make(model, resolution=TURN, noise=NOISE, bandwidth=band, rate=run.rate)
    times = np.arange(len(shown)) / run.rate if times is None else times
    state, rows, last, begun = None, [], 0.0, 0
    for k, when in enumerate(times):
        if when != when:  # no sample
            rows.append(rows[-1])
            continue
        y = gd.Measurement(shown[k], run.tau_m[begun : k + 1].mean(axis=0))
        begun = k + 1
        state = observer.start(y) if state is None else observer.step(state, y, when - last)
        last, health = when, state.health
        off = np.abs(state.mean[:3] - run.q[k])
        stated = np.nan
        if kind == "kalman":
            root = state.root.reshape(len(state.mean), -1)[:, :3]
            stated = np.max(off / np.sqrt(np.einsum("ij,ij->j", root, root)))
        # The commit before had no such flag.
        behind = getattr(health, "behind", False)
        settling = health.age <= observer.gains.limits.settle
        flagged = behind or not state.consistent or bool(health.faults) or settling
        rows.append((health.channels[:3], health.valid, flagged, off.max(), stated))
    return Seen(*(np.array(column) for column in zip(*rows, strict=True)))


def pushes(seed: int) -> None:
    """Print what pushes and walls do."""
    model, random, every = elbow(), np.random.default_rng(seed + 1000), runs(seed)
    shown = [noisy(run, random) for run in every]
    for kind, bands in (("kalman", BANDS), ("nonlinear", BANDS)):
        for band in bands:
            seen = [
                observed(model, kind, band, run, y) for run, y in zip(every, shown, strict=True)
            ]
            report(f"{kind}, {band:g} Hz", seen)


def report(title: str, seen: list[Seen]) -> None:
    """Print a line on some runs: readings left out; the link where nothing says it is off."""
    faults = np.array([np.bitwise_or.reduce(one.faults[FIRST:].ravel()) for one in seen])
    jumps, stuck = (int(np.sum(faults & int(f) != 0)) for f in (Fault.JUMP, Fault.STUCK))
    invalid = sum(not one.valid.all() for one in seen)
    open_ = [one.valid[FIRST:] & ~one.flagged[FIRST:] for one in seen]
    off = [one.off[FIRST:][free] for one, free in zip(seen, open_, strict=True)]
    far = [one.deviations[FIRST:][free] > BEYOND for one, free in zip(seen, open_, strict=True)]
    worst = max((x.max() for x in off if x.size), default=0.0)
    valid = max(one.off[FIRST:][one.valid[FIRST:]].max(initial=0.0) for one in seen)
    print(
        f"  {title:18} {len(seen)} runs: {jumps} with a jump, {stuck} stuck, {invalid} invalid; "
        f"link off by up to {1e3 * valid:.1f} mrad, {1e3 * worst:.2f} where nothing says so, "
        f"{max(int(x.sum()) for x in far)} instants beyond {BEYOND:g} deviations",
        flush=True,
    )


class Wrong(NamedTuple):
    """A wrong encoder: of which run and motor, from which instant, what, by how much [rad]."""

    run: Run
    motor: int
    at: int
    what: str
    size: float
    when: str


def drawn(every: list[Run], random: np.random.Generator, least: float) -> Wrong:
    """A random one."""
    when = str(random.choice(["rest", "motion", "push"]))
    half = (len(every) - 3 * len(WALLS)) // 2
    choice = every[:half] if when == "rest" else every[half:] if when == "motion" else every
    run = choice[random.integers(len(choice))]
    first, last = (AT, AT + LONG) if when == "push" else (0.1, AT)
    at = int(random.uniform(first, last) * run.rate)
    what = str(random.choice(["offset", "offset", "turn", "stuck", "gone"]))
    sign = random.choice([-1.0, 1.0])
    size = {"offset": np.exp(random.uniform(np.log(least), 0.0)), "turn": 2 * np.pi}
    return Wrong(run, int(random.integers(3)), at, what, sign * size.get(what, 0.0), when)


def spoilt(shown: np.ndarray, wrong: Wrong) -> np.ndarray:
    """What the encoders show with one of them wrong."""
    bad, at, j = shown.copy(), wrong.at, wrong.motor
    if wrong.what == "gone":
        bad[at:, j] = np.nan
    elif wrong.what == "stuck":
        bad[at:, j] = bad[at, j]
    else:
        bad[at:, j] += wrong.size
    return bad


MEANS = {"offset": Fault.JUMP, "turn": Fault.JUMP, "stuck": Fault.STUCK, "gone": Fault.MISSING}


def faults(seed: int, count: int = 200, rate: float = 1000.0, least: float = 3.5e-3) -> None:
    """Print which wrong encoders are found."""
    model, random, every = elbow(), np.random.default_rng(seed + 2000), runs(seed + 1, rate)
    late: dict[str, list[int]] = {}
    rubs = model.motors.friction.coulomb.max(axis=1)
    missed, hidden, unseen = [], [], 0
    for _ in range(count):
        wrong = drawn(every, random, least)
        kalman = random.random() < 0.7
        band = float(random.choice(BANDS if kalman else BANDS[-2:]))
        shown = spoilt(noisy(wrong.run, random), wrong)
        seen = observed(model, "kalman" if kalman else "nonlinear", band, wrong.run, shown)
        after = slice(wrong.at, None)
        hit = seen.faults[after, wrong.motor] & int(MEANS[wrong.what]) != 0
        gone = ~seen.valid[after]
        moved = np.abs(wrong.run.phi[after, wrong.motor] - wrong.run.phi[wrong.at, wrong.motor])
        begin, text = 0, ""
        if wrong.what == "stuck":  # it shows once the rotor has moved
            torque = np.ptp(wrong.run.tau_m[after, wrong.motor]) / rubs[wrong.motor]
            text = f", torque changes by {torque:.1f} times its friction"
            begin = int(np.argmax(moved > 0.02)) if moved.max() > 0.02 else len(moved)
        if begin + FOUND * rate >= len(moved):
            unseen += 1
            continue
        first = int(np.argmax(hit)) if hit.any() else len(hit)
        text = (
            f"{wrong.what} {1e3 * wrong.size:.1f} mrad, {wrong.when}, {wrong.run.name}, "
            f"motor {wrong.motor + 1}, {'kalman' if kalman else 'nonlinear'} {band:g} Hz{text}"
        )
        if first > begin + FOUND * rate or (gone.any() and np.argmax(gone) < first):
            text += f": {first} of {len(hit)}"
            world = explained(model, wrong, begin) if wrong.what == "stuck" else ""
            (hidden if world else missed).append(text + world)
        elif wrong.what != "stuck" and not (hit | gone)[first:].all():
            missed.append(text + ": used again")
        else:
            late.setdefault(wrong.what, []).append(first - begin)
    found = sum(len(x) for x in late.values())
    print(
        f"  {found} of {count - unseen} found; {len(hidden)} not observable; "
        f"{unseen} stuck ones did not move",
        flush=True,
    )
    for what, instants in late.items():
        share = np.bincount(np.maximum(instants, 0))
        print(f"    {what:7} after instants {dict(enumerate(share.tolist()))}")
    for text in missed:
        print(f"    missed: {text}")
    for text in hidden:
        print(f"    not observable: {text}")


def explained(model: gd.GearedModel, wrong: Wrong, begin: int) -> str:
    """How a healthy arm shows the same until the fault is to be found; empty if none does."""
    rate = wrong.run.rate
    part = window(wrong.run, wrong.at - round(LEAD * rate), wrong.at + begin + round(FOUND * rate))
    world = healthy_world(model, part, wrong.motor)
    if not hides(world, TURN):
        return ""
    return (
        f"; so does a healthy arm with a rotor held by {world.friction:.2f} of its friction, "
        f"pushed by {100 * world.force:.1f} % of the force more or less: readings differ by "
        f"{world.readings / TURN:.2f} steps, links by {1e3 * world.link:.2f} mrad"
    )


def main() -> None:
    """Print what is asked for."""
    words = sys.argv[1:]
    seed = next((int(word[5:]) for word in words if word.startswith("seed=")), 1)
    wanted = [word for word in words if "=" not in word] or ["pushes", "faults", "stamps", "slow"]
    for word in wanted:
        print(word, flush=True)
        {"pushes": pushes, "faults": faults, "stamps": stamps, "slow": slow}[word](seed)


def stamps(seed: int) -> None:
    """Print what uneven stamps, lost and repeated samples do to the pushes."""
    model, random, every = elbow(), np.random.default_rng(seed + 3000), runs(seed)
    for title, make in (("10 us uneven", uneven), ("samples lost", lost), ("repeated", repeated)):
        for kind, band in (("kalman", 5.0), ("kalman", 30.0), ("nonlinear", 30.0)):
            seen = []
            for run in every[::2]:
                y, times = make(run, random)
                seen.append(observed(model, kind, band, run, y, times))
            report(f"{title}, {kind} {band:g}", seen)


def uneven(run: Run, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Stamps that are up to 10 us off the instants of the readings."""
    times = np.arange(len(run.phi)) / run.rate
    return noisy(run, random), times + random.uniform(-1e-5, 1e-5, len(times))


def lost(run: Run, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three gaps of 1 to 20 samples: of all readings, or of one motor's."""
    y, times = noisy(run, random), np.arange(len(run.phi)) / run.rate
    for at in random.integers(FIRST + 20, len(y) - 25, 3):
        count = random.integers(1, 21)
        if random.random() < 0.5:
            times[at : at + count] = np.nan
        else:
            y[at : at + count, random.integers(3)] = np.nan
    return y, times


def repeated(run: Run, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One sample in twenty is the one before once more."""
    y = noisy(run, random)
    for k in np.flatnonzero(random.random(len(y)) < 0.05):
        y[k] = y[max(k - 1, 0)]
    return y, np.arange(len(y)) / run.rate


def slow(seed: int) -> None:
    """Print what can be distinguished at 250 Hz."""
    model, random, every = elbow(), np.random.default_rng(seed + 4000), runs(seed, 250.0)
    for force in FORCES:
        some = [run for run in every if run.name.startswith(f"{force:.0f} N m")]
        seen = [observed(model, "kalman", 30.0, run, noisy(run, random)) for run in some]
        report(f"{force:.0f} N m, 30 Hz", seen)
    for least in (0.01, 0.03, 0.1):
        print(f"  offsets of {least} rad and more")
        faults(seed, 60, 250.0, least)


if __name__ == "__main__":
    main()
