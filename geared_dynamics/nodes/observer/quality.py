"""How good an estimate is, as numbers: the topic ``~/quality``."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.nodes.observer.settings import Prepared
from geared_dynamics.nodes.observer.values import Output
from geared_dynamics.observers import KalmanGains, KalmanState
from geared_dynamics.observers.estimates import most

NONE = float("nan")


def labels(given: Prepared) -> list[tuple[str, int]]:
    """Names of the parts of ``~/quality`` in their order, and how many numbers each has."""
    sizes = given.gains.sizes
    return [
        ("level", 1),
        ("faults", 1),
        ("nis_ratio", 1),
        ("nis_ratio_limit", 1),
        ("innovation", sizes.readings),
        ("innovation_deviation", sizes.readings),
        ("reading_faults", sizes.readings),
        ("link_position_deviation", sizes.n),
        ("link_velocity_deviation", sizes.n),
        ("external_torque_deviation", sizes.n),
        ("external_torque_friction", sizes.n),
    ]


def numbers(given: Prepared, output: Output) -> Array:
    """The numbers of all parts; NaN for what the observer does not know."""
    sizes, state, gains = given.gains.sizes, output.state, given.gains
    width, n, c = sizes.coordinates, sizes.n, sizes.readings
    head = np.array([float(output.level), float(output.faults), NONE, NONE])
    innovation, deviation, faults = np.full(c, NONE), np.full(c, NONE), np.full(c, NONE)
    spread = np.full((4, n), NONE)
    if state is not None:
        faults[: len(state.health.channels)] = state.health.channels
        innovation[: len(state.innovation)] = state.innovation
        head[2:] = state.ratio, most(state, gains)
    if isinstance(state, KalmanState) and isinstance(gains, KalmanGains):
        deviation = state.deviation
        every, last = state.deviations, slice(2 * width, 2 * width + n)
        parts = (every[:n], every[width : width + n], every[last], state.friction_deviations[last])
        spread = np.stack(parts)
    return np.concatenate([head, innovation, deviation, faults, spread.ravel()])
