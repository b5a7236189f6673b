"""Standstill within the friction band: what the Kalman filter states of an arm that rests.

The elbow of ``observer_plant`` in both plants, own equations and MuJoCo, friction of the rotors
with its jump and stiction, quantised motors' encoders alone. The arm moves to a random posture (or
starts there), then its motors' torques are held at what gravity asks for plus a random part of
each rotor's level. Errors are counted in stated deviations.

- still: random postures, levels (0.01 to 0.1 N m), directions, torques; no external force.
- contact: an arm at rest is pushed by twice the level of a joint, with the motors' torque held or
  under position control; the alarm, and whether the push's end is seen.

Run: python benchmarks/observer_standstill.py still|contact [number] [first seed] [changes ...]
Changes: wrong (the filter's levels are 20 % too small), static (breakaway level 1.3 times as
large, which the filter has as ``stiction`` only), joints (friction of the joints as well), links,
torques (encoders and torque sensors on the links), doubt (``friction_error`` of 0.3), unaware (a
filter that takes friction at rest for known, as a control).
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from observer_figures import FINE, NOISE, SENSOR
from observer_plant import DT, SERVO, TURN, elbow

import geared_dynamics as gd
from geared_dynamics.observers.readings import at_rest
from geared_dynamics.simulation.equations_engine import EquationsMechanism
from geared_dynamics.simulation.mujoco_engine import MujocoMechanism

ob = gd.observers
STEP = 2.5e-4  # of the plants [s]
FLOOR, SHARE = 3.0, 0.2  # of the alarm [N m], part of the friction
SETTLED = 100  # instants before anything counts, as of the node's ``settling_time``
RESTED = 100  # instants for which no encoder has moved on where an arm stands
PUSHED, FREED = 300, 500  # instants at which a contact begins and ends
WITHIN = 100  # instants in which it must be found
RINGING = 150  # instants after its end in which the links still swing
Push = Callable[[float], np.ndarray]


class Case(NamedTuple):
    """An arm, and what happens to it.

    Attributes:
        levels: Of the rotors' friction (m,) [N m].
        engine: ``own`` or ``mujoco``.
        q: Posture (n,).
        way: To it, from ``q + way`` (n,); zeros: starts there.
        moving: How long that takes [s].
        inside: Friction's force at rest as a part of its level (n,).
        ramp: Time over which the motors' torque goes there [s].
        noise: Of the encoders beside their steps [rad].
        seconds: Of the whole.
        servo: Whether position control goes on.
        push: External force by time, if any.
        changes: See the module.
    """

    levels: np.ndarray
    engine: str
    q: np.ndarray
    way: np.ndarray
    moving: float
    inside: np.ndarray
    ramp: float
    noise: float
    seconds: float
    servo: bool = False
    push: Push | None = None
    changes: tuple[str, ...] = ()


class Seen(NamedTuple):
    """True motion and what the filter says of it (t, ...)."""

    q: np.ndarray
    v: np.ndarray
    push: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    raised: np.ndarray
    valid: np.ndarray
    consistent: np.ndarray
    phi: np.ndarray
    level: np.ndarray  # of the rotors' friction, on the joints (n,)

    @property
    def standing(self) -> np.ndarray:
        """Instants at which the arm has stood for a while (t,)."""
        window = np.lib.stride_tricks.sliding_window_view(self.phi, RESTED, axis=0)
        still = np.all(np.ptp(window, axis=2) < 3.5 * TURN, axis=1)
        return np.concatenate([np.zeros(SETTLED, bool), still[SETTLED - RESTED + 1 :]])

    @property
    def ratios(self) -> np.ndarray:
        """Errors of position, external torque, velocity by stated deviation (3, t, n)."""
        n = self.q.shape[1]
        parts = ((0, self.q), (4 * n, self.push), (2 * n, self.v))
        return np.array(
            [
                np.abs(self.mean[:, a : a + n] - true) / self.deviation[:, a : a + n]
                for a, true in parts
            ]
        )


def model_of(levels: np.ndarray, changes: tuple[str, ...] = ()) -> gd.GearedModel:
    """The elbow with these levels of its rotors' friction."""
    arm = elbow()
    for motor, level in zip(arm.drives["motors"].values(), levels, strict=True):
        motor["friction"] = {"viscous": 2e-5, "coulomb": float(level)}
        if "static" in changes:
            motor["friction"]["stribeck"] = {"static": 1.3 * float(level), "speed": 1.0}
    if "joints" in changes:
        for joint in arm.drives["joints"].values():
            joint["friction"] = {"viscous": 0.3, "coulomb": 1.0}
    return gd.load_model(arm.urdf, arm.drives)


class Own(EquationsMechanism):
    """Our own plant with forces on the joints."""

    def __init__(self, model: gd.GearedModel) -> None:
        """Take the joints' forces as motors on the joints."""
        super().__init__(model, STEP)
        self._motors = self._B.shape[1]
        self._B = np.hstack([self._B, np.eye(len(self._B), model.n)])
        self._free = np.zeros(self._B.shape[1])

    @property
    def angle(self) -> np.ndarray:
        """Of the rotors (m,)."""
        return super().angle[: self._motors]

    def go(self, tau_m: np.ndarray, push: np.ndarray) -> None:
        """Move on by a step."""
        self.advance(np.concatenate([tau_m, push]), self._free)


class Bodies(MujocoMechanism):
    """MuJoCo's plant with forces on the joints."""

    def __init__(self, model: gd.GearedModel) -> None:
        """Build it."""
        super().__init__(model, STEP)
        self._push, self._free = np.zeros(model.n), np.zeros(len(model.motor_names))

    def _apply(self) -> None:
        super()._apply()
        self.data.qfrc_applied[self._v] += self._push

    def go(self, tau_m: np.ndarray, push: np.ndarray) -> None:
        """Move on by a step."""
        self._push = push
        self.advance(tau_m, self._free)


def standstill(seed: int, changes: tuple[str, ...] = ()) -> Case:
    """A random standstill; one in four starts there."""
    random = np.random.default_rng(seed)
    moving = random.uniform(0.25, 0.6) if seed % 4 else 0.0
    way = random.uniform(0.05, 0.5, 3) * random.choice([-1, 1], 3) * (moving > 0.0)
    return Case(
        levels=random.uniform(0.01, 0.1, 3),
        engine="own" if seed % 2 else "mujoco",
        q=random.uniform(-1.2, 1.2, 3),
        way=way,
        moving=moving,
        inside=random.uniform(-0.95, 0.95, 3),
        ramp=float(random.choice([1e-9, 0.005, 0.05, 0.2])),
        noise=NOISE * (seed % 3 == 0),
        seconds=moving + 0.9,
        changes=changes,
    )


def touched(seed: int, changes: tuple[str, ...] = ()) -> tuple[Case, int]:
    """A push of twice the level on one joint of an arm at rest, and which joint."""
    case, random = standstill(4 * seed, changes), np.random.default_rng(10_000 + seed)
    joint, sign, rise = seed % 3, random.choice([-1, 1]), random.choice([1e-9, 0.005, 0.02])
    levels = random.uniform(0.03, 0.1, 3)
    size = 2.0 * sign * (1.3 if "static" in changes else 1.0) * on_joints(levels)

    def push(t: float) -> np.ndarray:
        part = min(max((t - PUSHED * DT) / rise, 0.0), 1.0) * (t < FREED * DT)
        return part * size * (np.arange(3) == joint)

    engine = "own" if random.random() < 0.5 else "mujoco"
    servo = bool(seed % 4 < 2)
    given = {"levels": levels, "engine": engine, "seconds": 0.8, "servo": servo, "push": push}
    return case._replace(inside=random.uniform(-0.9, 0.9, 3), **given), joint


def on_joints(levels: np.ndarray) -> np.ndarray:
    """Levels of the rotors' friction on the joints (n,)."""
    return levels * np.array([120.0, 100.0, 80.0])


def recorded(case: Case) -> dict[str, np.ndarray]:
    """True motion, encoders and torques of a case (t, ...)."""
    model, random = model_of(case.levels, case.changes), np.random.default_rng(1)
    arm = (Own if case.engine == "own" else Bodies)(model)
    A, n = gd.elastic.structure_matrix(model)[model.n :], model.n
    start = at_rest(model, A.T @ (case.q + case.way))
    arm.place(start, np.zeros(2 * n))
    inertia = 2.5 * np.array([w["inertia"]["axial"] for w in elbow().drives["wheels"].values()])
    begin, end = A.T @ start[n:], A.T @ (case.q if case.moving else start[n:])
    at = case.moving + 0.25 if case.moving else 0.0
    inside = np.linalg.solve(A, case.inside * on_joints(case.levels))
    bias = inside * (case.servo and not case.moving)
    rows: list[np.ndarray] = []
    tau_m, before, held, last = np.zeros(n), None, None, np.zeros(n)
    for k in range(round(case.seconds / DT)):
        t = k * DT
        push = np.zeros(n) if case.push is None else case.push(t)
        shown = TURN * np.round((arm.angle + case.noise * random.normal(size=n)) / TURN)
        spring = gd.elastic.joint_torque(
            model, gd.State(arm.x[:n], arm.rate[:n], arm.x[n:], arm.rate[n:])
        )
        rows.append(np.concatenate([arm.x[:n], arm.rate[:n], shown, tau_m, push, spring]))
        speed, before = (0.0 * shown if before is None else (shown - before) / DT), shown
        if t < at or case.servo:
            s = min(t / case.moving, 1.0) if case.moving else 1.0
            goal = begin + (end - begin) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
            pace = (end - begin) * 30.0 * (s * (1.0 - s)) ** 2 / max(case.moving, DT)
            weight = gd.gravity_forces(model, np.linalg.solve(A.T, shown))
            servo = SERVO**2 * (goal - shown) + 1.4 * SERVO * (pace - speed)
            tau_m = np.linalg.solve(A, weight) + bias + inertia * servo
            last = tau_m
        else:
            if held is None:
                held = np.linalg.solve(A, gd.gravity_forces(model, arm.x[:n])) + inside
            part = min((t - at) / case.ramp, 1.0) if case.moving else 1.0
            tau_m = held * part + (1.0 - part) * last
        for _ in range(round(DT / STEP)):
            arm.go(tau_m, push)
    every = np.array(rows)
    names = ("q", "v", "phi", "tau_m", "push", "spring")
    return dict(zip(names, np.split(every, len(names), axis=1), strict=True))


def followed(case: Case) -> Seen:
    """What filter and alarm say along a case."""
    wrong = 1.0 / 1.2 if "wrong" in case.changes else 1.0
    changes = tuple(name for name in case.changes if name != "static")
    model, row = model_of(wrong * case.levels, changes), recorded(case)
    links, torques = "links" in case.changes, "torques" in case.changes
    observer = ob.kalman_observer(
        model,
        resolution=TURN,
        noise=NOISE,
        link_noise=FINE / 12**0.5 if links else None,
        joint_torque_noise=SENSOR if torques else None,
        **aware(case),
    )
    state, raised, found = None, ob.alarm_start(model), []
    sensed = row["spring"] + SENSOR * np.random.default_rng(2).normal(size=row["q"].shape)
    for k, phi in enumerate(row["phi"]):
        link = FINE * np.round(row["q"][k] / FINE) if links else None
        y = gd.Measurement(phi, row["tau_m"][k], link, sensed[k] if torques else None)
        state = observer.start(y) if state is None else observer.step(state, y, DT)
        v, vtheta, force = np.split(state.mean[6:15], 3)
        known = {"floor": FLOOR, "share": SHARE, "friction": state.friction_deviations[12:15]}
        raised = ob.alarm_step(model, raised, force, v, vtheta, DT, **known)
        flags = (raised.raised, state.health.valid, state.consistent)
        found.append((state.mean, state.deviations, *flags))
    parts = [np.array(part) for part in zip(*found, strict=True)]
    return Seen(row["q"], row["v"], row["push"], *parts, row["phi"], on_joints(case.levels))


def aware(case: Case) -> dict[str, Any]:
    """What the filter has to know of friction beside the model."""
    if "unaware" in case.changes:
        return {"stiction": 0.0}
    given: dict[str, Any] = {"friction_error": 0.3 * ("doubt" in case.changes)}
    if "static" in case.changes:
        given["stiction"] = 1.3 * case.levels
    return given


def still(number: int, first: int, changes: tuple[str, ...]) -> None:
    """Print how many estimates are within their stated deviations, standing and on the way."""
    stiffness = np.array([9e3, 7e3, 3e3])
    rest, every, sizes, flags = [], [], [], np.zeros((2, 3), int)
    for seed in range(first, first + number):
        seen = followed(standstill(seed, changes))
        standing = seen.standing
        level = seen.level * (1.3 if "static" in changes else 1.0)
        parts = seen.deviation[:, 12:15] / level, seen.deviation[:, :3] * stiffness / level
        sizes.append(np.array(parts)[:, standing])
        rest.append(seen.ratios[:, standing].reshape(3, -1))
        every.append(seen.ratios[:, SETTLED:].reshape(3, -1))
        wrong = seen.raised.any(axis=1), ~seen.valid, ~seen.consistent
        flags[0] += [one[standing].any() for one in wrong]
        flags[1] += [one[SETTLED:].any() for one in wrong]
    a, b, size = (np.concatenate(parts, axis=1) for parts in (rest, every, sizes))
    for name, at_rest_, whole in zip(("position", "torque", "velocity"), a, b, strict=True):
        print(
            f"{name:9} at rest {100 * np.mean(at_rest_ <= 3):6.2f} % within 3 stated deviations, "
            f"at most {at_rest_.max():5.2f}; all instants {100 * np.mean(whole <= 3):6.2f} %, "
            f"{whole.max():5.2f}"
        )
    print(
        f"stated deviation at rest at most {size[0].max():.2f} levels of torque, "
        f"{size[1].max():.2f} levels over the stiffness"
    )
    for name, (alarm, lost, doubt) in zip(("at rest", "in all"), flags, strict=True):
        print(
            f"{number} runs, {name}: {alarm} with an alarm, {lost} invalid, {doubt} inconsistent"
        )


def contact(number: int, first: int, changes: tuple[str, ...]) -> None:
    """Print how soon contacts of twice the level are found."""
    late, early, after, invalid = [], 0, 0, 0
    for seed in range(first, first + number):
        case, joint = touched(seed, changes)
        seen = followed(case)
        hit = np.flatnonzero(seen.raised[PUSHED:FREED, joint])
        late.append(int(hit[0]) if hit.size else FREED)
        early += bool(seen.raised[SETTLED:PUSHED].any())
        after += bool(seen.raised[FREED + RINGING :].any())
        invalid += not seen.valid.all()
    found = np.array(late)
    print(
        f"{np.sum(found <= WITHIN)} of {number} contacts found within 0.1 s, in the median after "
        f"{np.median(found):.0f} ms, {found.max()} at most; alarm before {early}, still or again "
        f"{RINGING} ms after the end {after}; not valid {invalid}"
    )


def main(arguments: list[str]) -> None:
    """Print what is named, or both."""
    every: dict[str, Any] = {"still": still, "contact": contact}
    what = arguments[:1] if arguments[:1] and arguments[0] in every else list(every)
    numbers = [int(text) for text in arguments if text.isdigit()]
    changes = tuple(text for text in arguments if text.isalpha() and text not in every)
    for name in what:
        every[name](*(numbers + [40, 0][len(numbers) :]), changes)


if __name__ == "__main__":
    main(sys.argv[1:])
