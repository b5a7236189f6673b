"""An arm that slides along a wall, driven by the feedforward node's loop; without ROS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import geared_dynamics as gd
from geared_dynamics.runtime.feedforward_loop import FeedforwardLoop
from geared_dynamics.runtime.feedforward_settings import feedforward_setup
from geared_dynamics.trajectory import JointTrajectory, Point
from node_values import feedforward
from plant_arms import example

SPEED, HELD = 0.05, 20.0  # [m/s], [N]
BEGIN = np.array([0.3, -0.6, 1.9, 0.2, 0.8, 0.1])
TILT = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
ALONG = np.cross(TILT, [1.0, 0.0, 0.0]) / np.linalg.norm(np.cross(TILT, [1.0, 0.0, 0.0]))
DT = 1e-3
PRESSING: dict[str, Any] = {
    "mode": "computed_torque",
    "output": "motor_torque",
    "bandwidth": 30.0,
    "update_rate": 1000,
    "contact_force__max_force": 40.0,
    "contact_force__friction": 0.2,
}


class Slide(NamedTuple):
    """What came of a run, at each cycle.

    Attributes:
        time: (k,) [s].
        force: Of the wall along its normal (k,) [N].
        place: Of the tool from its start: off the wall, along the line, across (k, 3) [m].
        modes: Of the safety step.
    """

    time: np.ndarray
    force: np.ndarray
    place: np.ndarray
    modes: list[Any]


def arm() -> gd.GearedModel:
    """The demo's arm."""
    return example("brisk6")


def tip(model: gd.GearedModel) -> str:
    """The only tip."""
    return str(model.tips[0])


def line(
    model: gd.GearedModel, begin: np.ndarray, way: np.ndarray, length: float, rest: float = 0.5
) -> JointTrajectory:
    """A straight line of the tool at SPEED after a rest, from rest to rest within 0.2 s each."""
    frame, slow = tip(model), 0.2
    total = length / SPEED + slow
    times = np.linspace(0.0, total, max(round(total / 0.02), 8))
    moved = np.interp(times, *profile(total, slow))
    q, points, still = begin.copy(), [], np.zeros(model.n)
    home = gd.pose(model, begin, frame)
    rows = []
    for s in moved:
        for _ in range(8):
            here = gd.pose(model, q, frame)
            turn = home[:3, :3] @ here[:3, :3].T
            off = np.concatenate(
                [home[:3, 3] + s * way - here[:3, 3],
                 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0],
                                 turn[1, 0] - turn[0, 1]])]
            )  # fmt: skip
            J = gd.jacobian(model, q, frame)
            J, off = (J, off) if model.n >= 6 else (J[:3], off[:3])
            q = q + np.linalg.lstsq(J, off, rcond=1e-6)[0]
        rows.append(q.copy())
    v = np.gradient(np.array(rows), times, axis=0)
    v[0] = v[-1] = 0.0
    points = [
        Point(rest + t, row, rate, None) for t, row, rate in zip(times, rows, v, strict=True)
    ]
    points.insert(0, Point(rest / 2, begin, still, None))
    return JointTrajectory(model.joint_names, points)


def profile(total: float, slow: float) -> tuple[np.ndarray, np.ndarray]:
    """Time and way of a motion at SPEED that begins and ends smoothly within ``slow``."""
    t = np.linspace(0.0, total, 4001)
    u = np.clip(np.minimum(t, total - t) / slow, 0.0, 1.0)
    speed = SPEED * u**3 * (10 - 15 * u + 6 * u * u)
    s = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))])
    return t, s


def walled_plant(
    model: gd.GearedModel,
    begin: np.ndarray,
    normal: np.ndarray,
    *,
    off: float = 0.0,
    engine: Any = "mujoco",
    command: str = "motor_torque",
    friction: bool = True,
    **wall: Any,
) -> gd.simulation.Plant:
    """A plant whose tool begins at a wall, ``off`` above it: a wall that is lower than planned."""
    place = gd.pose(model, begin, tip(model))[:3, 3]
    surface = gd.contact.Surface(tip(model), place - off * normal, normal)
    own = {"stiffness": 1e5, "damping": 500.0, "friction": 0.2} | wall
    settings = gd.simulation.PlantSettings(
        wall=gd.simulation.Wall(surface, **own), friction=friction
    )
    plant = gd.simulation.Plant(model, command=command, engine=engine, settings=settings)  # type: ignore[arg-type]
    plant.reset(begin)
    return plant


def slide(
    plant: gd.simulation.Plant,
    begin: np.ndarray,
    normal: np.ndarray,
    way: np.ndarray,
    seconds: float,
    *,
    wanted: Any = None,
    at: Any = None,
    length: float = 0.1,
    known: gd.GearedModel | None = None,
    rest: float = 1.0,
    loop: FeedforwardLoop | None = None,
    **given: Any,
) -> tuple[Slide, FeedforwardLoop]:
    """Drive the plant; ``wanted(t)`` is the force along the normal, None for no message.

    ``at(t, loop, plant)`` may change something in each cycle.
    """
    model = plant.model
    wanted = (lambda t: HELD if t > 0.3 else 0.0) if wanted is None else wanted
    known = model if known is None else known
    if loop is None:
        loop = FeedforwardLoop(feedforward_setup(feedforward(known, **PRESSING | given), known))
    home, across = gd.pose(model, begin, tip(model))[:3, 3], np.cross(normal, way)
    axes = np.array([normal, way, across])
    times, forces, places, modes = [], [], [], []
    for k in range(round(seconds / DT)):
        t, seen = k * DT, plant.read().joint_state(model)
        if k == 2:
            loop.accept(line(known, begin, way, length, rest), t, t)
        if k > 4 and (push := wanted(t)) is not None and loop.following:
            loop.contact.take(loop.setup.contact, push * normal, np.zeros(3), model.root, t)
        command = loop.cycle(t, t, seen.q.copy(), seen.v.copy())
        if at is not None:
            at(t, loop, plant)
        plant.step(np.zeros(len(model.motor_names)) if command is None else command, DT)
        times.append(t)
        forces.append(float(normal @ plant.touch))
        places.append(axes @ (gd.pose(model, plant.state.q, tip(model))[:3, 3] - home))
        modes.append(None if loop.decision is None else loop.decision.mode)
    return Slide(np.array(times), np.array(forces), np.array(places), modes), loop
