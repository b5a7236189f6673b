"""A harmonic-drive arm that moves some joints and holds the others, and loops that miss states."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.observers import Fault
from geared_dynamics.runtime.observer_estimates import ObserverOutput, Sensed
from geared_dynamics.runtime.observer_loop import ObserverLoop
from geared_dynamics.runtime.observer_settings import ObserverParameters, observer_setup
from node_values import parameters

FILES = Path(__file__).resolve().parents[1] / "urdf"
DT, COUNTS = 1e-3, 131072
STIFF, DAMPED = 900.0, 60.0  # of the motors' position control [1/s^2, 1/s]
POSTURE = np.array([0.2, 0.6, 0.5, -0.3, 0.4, 0.1])
BEGIN, MOVES = 0.2, 0.6  # [s]


class Recording(NamedTuple):
    """What motors' encoders show (t, m), their torques over the steps after, the links (t, n)."""

    shown: np.ndarray
    torque: np.ndarray
    q: np.ndarray


@functools.cache
def arm() -> gd.GearedModel:
    """The arm of ``launch/elastic.launch.py``."""
    return gd.load_model(FILES / "wave6.urdf", FILES / "wave6.drivetrain.yaml")


@functools.cache
def recording(away: tuple[float, ...], seconds: float = 1.2, load: float = 0.0) -> Recording:
    """From rest to rest, by so much each joint, then held; with a load at the tip [kg].

    The rotors stick in their friction; the torques are those of the rigid arm's motion, load
    included, and of position control with the encoders.
    """
    model = arm().with_payload(load, (0.05, 0.02, 0.1))
    n, A = model.n, gd.elastic.structure_matrix(model)[model.n :]
    settings = gd.simulation.PlantSettings(encoder_counts=COUNTS)
    plant = gd.simulation.Plant(
        model, command="motor_torque", engine="equations", settings=settings
    )
    twist = gd.gravity_forces(model, POSTURE) / model.elasticity.stiffness
    plant.reset(gd.State(POSTURE, np.zeros(n), POSTURE + twist, np.zeros(n)))
    rows, before = [], np.array(plant.read().motor_angle)
    for k in range(round(seconds / DT)):
        s = min(max((k * DT - BEGIN) / MOVES, 0.0), 1.0)
        part = s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
        speed = (140 * s**3 - 420 * s**4 + 420 * s**5 - 140 * s**6) / MOVES
        rate = (420 * s**2 - 1680 * s**3 + 2100 * s**4 - 840 * s**5) / MOVES**2
        q, v, a = (
            POSTURE + np.multiply(away, part),
            np.multiply(away, speed),
            np.multiply(away, rate),
        )
        tau = gd.inverse_dynamics(model, q, v, a)
        shown = np.array(plant.read().motor_angle)
        theta, vtheta = (np.linalg.solve(A.T, x) for x in (shown, (shown - before) / DT))
        off = STIFF * (q + tau / model.elasticity.stiffness - theta) + DAMPED * (v - vtheta)
        torque = np.linalg.solve(A, tau + np.diag(gd.mass_matrix(model, q)) * off)
        rows.append((shown, torque, np.array(plant.state.q)))
        plant.step(torque, DT)
        before = shown
    return Recording(*(np.array(column) for column in zip(*rows, strict=True)))


def taken_up(load: float, rise: float, *, locked: bool, seconds: float = 0.5) -> Recording:
    """A load at the tip [kg] taken up at rest, from ``BEGIN`` on in ``rise`` [s].

    The feedforward balances what is taken up. Rotors that are locked (brakes, gears that drive one
    way only) show the same throughout; others wind their springs up a little.
    """
    model, com = arm(), (0.05, 0.02, 0.1)
    n, A = model.n, gd.elastic.structure_matrix(model)[model.n :]
    stiffness, inertia = model.elasticity.stiffness, np.diag(gd.mass_matrix(model, POSTURE))
    empty = gd.gravity_forces(model, POSTURE)
    loaded = gd.gravity_forces(model.with_payload(load, com), POSTURE)
    settings = gd.simulation.PlantSettings(encoder_counts=COUNTS)
    plant = gd.simulation.Plant(
        model, command="motor_torque", engine="equations", settings=settings
    )
    plant.reset(gd.State(POSTURE, np.zeros(n), POSTURE + empty / stiffness, np.zeros(n)))
    rows, before, share = [], np.array(plant.read().motor_angle), 0.0
    for k in range(round(seconds / DT)):
        part = float(np.clip((k * DT - BEGIN) / max(rise, 1e-9), 0.0, 1.0))
        weight, shown = empty + part * (loaded - empty), np.array(plant.read().motor_angle)
        if locked:
            rows.append((before, np.linalg.solve(A, weight), POSTURE))
            continue
        if part != share:
            plant.attach_payload(part * load, com)
        share = part
        theta, vtheta = (np.linalg.solve(A.T, x) for x in (shown, (shown - before) / DT))
        off = STIFF * (POSTURE + weight / stiffness - theta) - DAMPED * vtheta
        torque = np.linalg.solve(A, weight + inertia * off)
        rows.append((shown, torque, np.array(plant.state.q)))
        plant.step(torque, DT)
        before = shown
    return Recording(*(np.array(column) for column in zip(*rows, strict=True)))


def loop_of(observer: str, bandwidth: float) -> ObserverLoop:
    """The observer node's loop with the parameters of ``config/observer/simulated.yaml``."""
    values = parameters(
        ObserverParameters, arm(), observer=observer, bandwidth=bandwidth, feedback="motor",
        update_rate=1.0 / DT, encoder_resolution=4.8e-5, encoder_noise=0.0,
        torque_kind="motor_torque", max_extrapolation=0.2, restart="auto",
    )  # fmt: skip
    return ObserverLoop(observer_setup(values, arm()))


def missed(seed: int, count: int, quiet: int) -> list[tuple[int, int]]:
    """Instants that arrive, and those of the torques that arrive with them; all from ``quiet`` on.

    With single gaps, many short ones or rows of long ones, pauses after which the observer has
    to start again, torques that are late by a random time, and a beginning in motion.
    """
    random = np.random.default_rng(seed)
    k = int(random.choice([0, 150, 300, 500, 600]))
    load, late = random.choice([1.2, 2, 3, 5, 10, 20, 40]), random.choice([0, 3, 30])
    longest = 60.0 if random.random() < 0.3 else load
    found = []
    while k < count:
        found.append((k, max(0, k - int(random.integers(0, late + 1)))))
        if k < quiet and random.random() < 1.0 / load:
            k += int(random.exponential(longest)) + 1
        elif k < quiet and random.random() < 1.0 / 300.0:
            k += int(random.uniform(50, 400))
        else:
            k += 1
    return found


def heard(
    loop: ObserverLoop, run: Recording, instants: list[tuple[int, int]]
) -> list[ObserverOutput]:
    """What a loop says of the instants that arrive."""
    return [loop.cycle(k * DT, Sensed(k * DT, run.shown[k], run.torque[j])) for k, j in instants]


def stuck(outputs: list[ObserverOutput]) -> list[str]:
    """What was said of stuck encoders."""
    return [x.why for x in outputs if Fault.STUCK in x.faults or "stuck" in x.why]
